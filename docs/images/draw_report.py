"""Draw the picture of a report in docs/report.md: a real run, as a browser shows it.

    python docs/images/draw_report.py

It needs Chromium or Chrome. The answer and its sources are the first of examples/answers.jsonl.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import vouching
from vouching.report.page import Entry, write_report
from vouching.types import Source

HERE = Path(__file__).resolve().parent
ANSWERS = HERE.parents[1] / "examples" / "answers.jsonl"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = "1280,1140"


def draw(picture: Path) -> None:
    """Check the answer, write its report and photograph it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser found, wanted one of {', '.join(BROWSERS)}: install one")
    row = json.loads(ANSWERS.read_text(encoding="utf-8").splitlines()[0])
    report = vouching.check_response(row["response"], [Source(**source) for source in row["sources"]], row["question"])
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        write_report(page, [Entry(report)], title="An answer about Amy Johnson")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}"]
        shot = subprocess.run([browser, *flags, f"--screenshot={picture}", page.as_uri()], capture_output=True)
    if shot.returncode or not picture.is_file():
        sys.exit(f"the browser drew nothing: {shot.stderr.decode(errors='replace')[-500:]}")


if __name__ == "__main__":
    draw(HERE / "report.png")
