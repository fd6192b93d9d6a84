"""The report of a run on a narrow screen, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.samples import claim_rows, data_folder
from tests.bench.test_run import run
from tests.report.test_page_in_browser import BROWSER, loaded, seen_by, without_policy

MEASURE = """<script>addEventListener("load", () => {
  const drawing = document.querySelector(".first .chart");
  document.body.dataset.seen = [drawing.getScreenCTM().a > 0.85, document.documentElement.scrollWidth <= innerWidth];
});</script>"""
"""Whether the letters of the forest plot keep 85 % of their size, and whether the page itself does not scroll aside."""


@pytest.mark.skipif(BROWSER is None, reason="no browser found")
def test_on_a_phone_the_letters_of_the_overview_can_be_read_and_only_its_panel_scrolls(tmp_path: Path) -> None:
    run(data_folder(tmp_path / "data", wice=claim_rows(30), seva_fever=claim_rows(12)), tmp_path / "out", "all")
    page = tmp_path / "driven.html"
    report = tmp_path / "out" / "report.html"
    page.write_text(without_policy(report).replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    assert seen_by(loaded(page, size="380,800")) == "true,true"
