"""Draw the pictures of pages in docs/report.md: real runs, as a browser shows them.

    python docs/images/draw_pages.py

It needs Chromium or Chrome. The answer and the claims are those of examples/.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import vouching
from vouching.report import Entry, write_report
from vouching.types import Source

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 1280


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


def photograph(browser: Browser, address: str, name: str, height: int) -> None:
    """The picture of what a page shows at first."""
    opened(browser, address, height).screenshot(path=HERE / name)


def opened(browser: Browser, address: str, height: int) -> Page:
    """A page in a light window."""
    context = browser.new_context(viewport={"width": WIDTH, "height": height}, color_scheme="light")
    context.set_default_timeout(300_000)
    page = context.new_page()
    page.goto(address)
    return page


if __name__ == "__main__":
    main()
