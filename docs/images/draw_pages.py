"""Draw the pictures of pages in docs/report.md: real runs, as a browser shows them.

    python docs/images/draw_pages.py

It needs Chromium or Chrome, and the extra "serve". The answer and the claims are those of examples/; the dashboard has
the verdicts of the rules on a fifth of the development part of the contrast corpus, and a reviewer who decides by its
labels.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright

import vouching
from vouching.ledger import open_ledger
from vouching.report import Entry, write_report
from vouching.review import Decision, ReviewQueue
from vouching.types import Source

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = ROOT / "tests/data/contrast/dev"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 1280
CALLERS = ("support-bot", "handbook")
"""Every other document is checked for the second one."""


def main() -> None:
    """Draw every picture."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit(f"no browser found, expected one of {', '.join(BROWSERS)}: install one")
    with tempfile.TemporaryDirectory() as made, sync_playwright() as library:
        folder, browser = Path(made), library.chromium.launch(executable_path=found, args=["--no-sandbox"])
        answer(folder / "report.html")
        photograph(browser, (folder / "report.html").as_uri(), "report.png", 1140)
        claims(folder / "rows.html")
        photograph(browser, (folder / "rows.html").as_uri(), "rows.png", 980)
        reviewed(folder / "verdicts.db")
        with served(folder / "verdicts.db") as address:
            page = opened(browser, f"{address}/dashboard", 1100, sign_in=address)
            page.screenshot(path=HERE / "dashboard.png")
            panel(page, "Reliability: scores beside reviews").screenshot(path=HERE / "reliability.png")
        browser.close()


def answer(page: Path) -> None:
    """The report on the first answer of examples/answers.jsonl, beside its sources."""
    row = json.loads((ROOT / "examples/answers.jsonl").read_text(encoding="utf-8").splitlines()[0])
    report = vouching.check_response(row["response"], [Source(**source) for source in row["sources"]], row["question"])
    write_report(page, [Entry(report)], title="An answer about Amy Johnson")


def claims(page: Path) -> None:
    """The report on a file of rows, as ``vouch check --input ROWS --report PAGE`` writes it."""
    lines = (ROOT / "examples/claims.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    sources = [Source(row["source"], row.get("id")) for row in rows]
    entries = [Entry(vouching.check(row["claim"], source), source) for row, source in zip(rows, sources, strict=True)]
    write_report(page, entries, title="24 claims of examples/claims.jsonl")


def reviewed(target: Path) -> None:
    """A ledger with the verdicts on the corpus, all of them reviewed by its labels."""
    gold: dict[int, Any] = {}
    for number, caller in enumerate(CALLERS):
        with open_ledger(str(target), caller=caller) as ledger:
            checker = vouching.Checker("embedded:rules", ledger=ledger)
            for row, source in corpus(number):
                verdict = checker.check(row["claim"], [source])
                gold[len(gold) + 1] = row["label"] if isinstance(verdict, vouching.Verdict) else None
    with open_ledger(str(target)) as ledger:
        queue = ReviewQueue(ledger)
        while (item := queue.take("Ada", "sampled")) is not None:
            queue.decide("Ada", item.id, Decision(gold[item.id.row]))


def corpus(part: int) -> Iterator[tuple[Mapping[str, Any], Source]]:
    """Every fifth claim about every other document, with its document; not those that are part of an answer."""
    documents = sorted((CORPUS / "documents").iterdir())[part::2]
    sources = {path.stem: Source(path.read_text(encoding="utf-8"), path.name) for path in documents}
    for line in (CORPUS / "claims.jsonl").read_text(encoding="utf-8").splitlines()[::5]:
        row = json.loads(line)
        if row["document"] in sources and "before" not in row and "question" not in row:
            yield row, sources[row["document"]]


@contextmanager
def served(ledger: Path) -> Iterator[str]:
    """The address of ``vouch serve`` on a free port."""
    command = [sys.executable, "-m", "vouching", "serve", "--ledger", str(ledger), "--address", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as server:
        assert server.stderr is not None
        said = next((found[0] for line in server.stderr if (found := re.search(r"http://[\d.:]+", line))), None)
        try:
            if said is None:
                sys.exit("the server did not start")
            yield said
        finally:
            server.terminate()


def photograph(browser: Browser, address: str, name: str, height: int) -> None:
    """The picture of what a page shows at first."""
    opened(browser, address, height).screenshot(path=HERE / name)


def opened(browser: Browser, address: str, height: int, sign_in: str = "") -> Page:
    """A page in a light window; its reader is signed in at an address if one is given."""
    context = browser.new_context(viewport={"width": WIDTH, "height": height}, color_scheme="light")
    context.set_default_timeout(300_000)
    if sign_in:
        context.request.post(f"{sign_in}/v1/session", data={"name": "Ada"}, headers={"origin": sign_in})
    page = context.new_page()
    page.goto(address)
    return page


def panel(page: Page, heading: str) -> Locator:
    """The part of a page with this name."""
    return page.locator(f'section[aria-label="{heading}"]')


if __name__ == "__main__":
    main()
