"""Milliseconds of the interactions of the review and history pages with 2,000 verdicts, in a real browser.

    python benchmarks/review.py [--verdicts 2000] [--output benchmarks/results/review.json]

Each time is from the key press until the next verdict, or the new list, is drawn. The server and the browser run on
this machine. Fails if a median is 100 ms or more.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.report.records import SOURCE, supported, wrong_year  # noqa: E402
from tests.serve.browsing import QUIET, opened  # noqa: E402
from tests.serve.served import policy, served  # noqa: E402
from tests.serve.test_pages_in_browser import DECIDE  # noqa: E402
from vouching.types import Claim  # noqa: E402
from vouching.types.ledger import Entry  # noqa: E402
from vouching.types.serial import to_python  # noqa: E402

LIMIT = 100.0
SEARCH = """async (words) => {
  const field = document.getElementById("text");
  const before = document.querySelector("#found").firstElementChild;
  field.value = words;
  const start = performance.now();
  document.getElementById("search").requestSubmit();
  while (document.querySelector("#found").firstElementChild === before) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


def entries(number: int) -> list[Entry]:
    """Verdicts, half of them Not Attributable."""
    found: list[Entry] = []
    for n in range(number):
        claim = Claim(f"The bridge opened in {1000 + n}.")
        one = wrong_year() if n % 2 else supported(claim)
        verdict = to_python(replace(one, confidence=0.5 + n / (3 * number)))
        inputs = {"claim": claim.text, "sources": [{"id": "bridge.txt", "text": SOURCE * 20}]}
        found.append(Entry("serve", "check", inputs, verdict, f"caller {n % 5}"))
    return found


def timed(number: int, once: Callable[[int], float]) -> dict[str, float]:
    """Median and 95th percentile of ``number`` times, after two that do not count."""
    times = [once(n) for n in range(number + 2)][2:]
    return {"median": round(median(times), 1), "p95": round(quantiles(times, n=20)[-1], 1)}


def measure(verdicts: int) -> dict[str, Any]:
    """The times of each interaction."""
    browser_path = shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(policy(ledger=f"{folder}/verdicts.db")) as (url, service),
        sync_playwright() as library,
    ):
        assert service.recorder is not None
        service.recorder.ledger.append(entries(verdicts))
        browser = library.chromium.launch(executable_path=browser_path, args=QUIET)
        page = opened(browser, url, "/review", "Ada")
        page.wait_for_selector(".deciding")
        decide = timed(40, lambda _: page.evaluate(DECIDE))
        page.goto(f"{url}/history")
        search = timed(40, lambda n: page.evaluate(SEARCH, f"opened in {1000 + n}"))
        page.goto(f"{url}/history")
        every = timed(20, lambda n: page.evaluate(SEARCH, "bridge" if n % 2 else "opened"))
        browser.close()
    return {"decide and next": decide, "search, one found": search, "search, 100 drawn": every}


def main() -> None:
    """Measure, print and check the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=2_000)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    times = measure(given.verdicts)
    found = {
        "date": datetime.date.today().isoformat(),
        "verdicts": given.verdicts,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "milliseconds": times,
    }
    print(json.dumps(found, indent=1))
    if given.output:
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    slow = [name for name, of in times.items() if of["median"] >= LIMIT]
    if slow:
        raise SystemExit(f"slower than {LIMIT:g} ms at the median: {', '.join(slow)}")


if __name__ == "__main__":
    main()
