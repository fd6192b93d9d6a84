"""The HTML report in a real browser: no foreign script runs, and what a reader does has its effect.

A page is loaded by a headless Chromium, which prints the page's elements when everything has run. To press keys, a
script is added to a copy of the page whose content security policy is taken out; the policy itself is tested without.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.html_reading import elements_of
from tests.report.records import RESPONSE, SOURCE, report, supported, wrong_year
from vouching.report.page import Entry, write_report
from vouching.types import Claim, Source, Unverified

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
WIDTHS = (380, 820, 1440)
"""Of frames: a window is never narrower than 500 pixels."""
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser found: none of {', '.join(NAMES)}")

ATTACK = (
    "</title></script><script>document.title='RAN'</script><img src=x onerror=\"document.title='RAN'\"><!-- '\" \u2028"
)


def loaded(path: Path, fragment: str = "", size: str = "1440,900") -> str:
    """The elements of a page after its scripts have run."""
    assert BROWSER
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", f"--window-size={size}"]
    command = [BROWSER, *flags, "--dump-dom", path.as_uri() + fragment]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def after(path: Path, script: str, fragment: str = "") -> dict[str, Any]:
    """What ``script`` puts into the object ``seen``, run on a copy of the page when it has loaded."""
    driver = f"""<script>addEventListener("load", () => {{
      const seen = {{}};
      const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {{key, bubbles: true}}));
      {script}
      document.body.dataset.seen = JSON.stringify(seen);
    }});</script>"""
    copy = path.with_name("driven.html")
    copy.write_text(without_policy(path).replace("</body>", f"{driver}</body>"), encoding="utf-8")
    return json.loads(seen_by(loaded(copy, fragment)))


def without_policy(path: Path) -> str:
    return re.sub(r"<meta http-equiv=[^>]*>", "", path.read_text(encoding="utf-8"), count=1)


def seen_by(dom: str) -> str:
    """What a script left at the body."""
    [body] = [e for e in elements_of(dom) if e.tag == "body"]
    return body.attributes["data-seen"]


@pytest.mark.parametrize("rows", [1, 201])
@pytest.mark.parametrize("policy", [True, False], ids=["with-policy", "escaping-alone"])
def test_no_script_of_a_claim_or_a_source_runs(tmp_path: Path, rows: int, policy: bool) -> None:
    path = tmp_path / "report.html"
    source = Source(f"{SOURCE} {ATTACK}", ATTACK, title=ATTACK, url=ATTACK)
    entry = Entry(Unverified(Claim(ATTACK, ATTACK), "backend", ATTACK), (source,))
    write_report(path, [entry] * rows, title=ATTACK)
    if not policy:
        path.write_text(without_policy(path), encoding="utf-8")
    elements = elements_of(loaded(path))
    [heading] = [e for e in elements if e.tag == "h1"]
    [title] = [e for e in elements if e.tag == "title"][:1]
    assert heading.text == title.text == ATTACK.replace("\u2028", "<U+2028>")
    # The first row is chosen, so what was kept for the script stands in the page now.
    assert any(e.tag == "article" and e.has("on") for e in elements)
    assert not any(e.tag == "img" for e in elements)


def test_the_policy_stops_a_script_that_is_not_the_pages_own(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, [Entry(wrong_year())], title="Unchanged")
    page = path.read_text(encoding="utf-8")
    path.write_text(page.replace("</body>", "<script>document.title='RAN'</script></body>"), encoding="utf-8")
    assert "<title>Unchanged</title>" in loaded(path)


def test_the_address_chooses_a_claim_and_lights_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, [Entry(report())])
    elements = elements_of(loaded(path, "#claim-1"))
    assert [e.attributes["id"] for e in elements if e.tag == "article" and e.has("on")] == ["claim-1", "text-2"]
    lit = [(e.text, e.attributes["data-lit"]) for e in elements if "data-lit" in e.attributes]
    assert lit == [("The bridge was opened", "match"), ("1973", "mismatch")]
    assert [e.attributes["href"] for e in elements if "aria-current" in e.attributes] == ["#claim-1", "#claim-1"]


def test_keys_choose_filter_and_return(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, [Entry(report())])
    script = """
      const current = () => document.querySelector(".row [aria-current]").hash;
      const shown = () => [...document.querySelectorAll(".row")].filter((row) => !row.hidden).length;
      seen.first = current();
      press("j"); press("j"); seen.down = current(); seen.address = location.hash;
      press("k"); seen.up = current();
      press("/"); seen.focus = document.activeElement.id;
      const field = document.activeElement;
      field.value = "BLUE"; field.dispatchEvent(new Event("input"));
      seen.found = shown(); seen.count = document.querySelector(".count").textContent;
      seen.chips = [...document.querySelectorAll(".chip")].map((chip) => chip.textContent);
      press("Enter"); seen.chosen = current();
      field.focus(); press("Escape"); seen.all = shown();
      [...document.querySelectorAll(".chip")].find((chip) => chip.textContent.startsWith("Not")).click();
      seen.bad = shown(); seen.after = document.querySelector(".count").textContent;
    """
    seen = after(path, script)
    # Nothing was chosen by the reader yet: the first claim that needs attention is claim 1.
    assert (seen["first"], seen["down"], seen["address"], seen["up"]) == (
        "#claim-1",
        "#claim-3",
        "#claim-3",
        "#claim-2",
    )
    assert (seen["focus"], seen["found"], seen["count"], seen["chosen"]) == ("words", 1, "1 of 4 claims", "#claim-3")
    # Counts follow the words: of the labels only Not Attributable is left, of the errors only fabrication.
    assert seen["chips"] == [
        "Attributable 0",
        "Not Attributable 1",
        "Unverified 0",
        "fabrication 1",
        "temporal shift 0",
    ]
    assert (seen["all"], seen["bad"], seen["after"]) == (4, 2, "2 of 4 claims")


def test_a_click_shows_the_claim_and_the_theme_button_turns_the_page_dark(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    entries = [Entry(supported(Claim(f"It has {n} towers.", f"row-{n}")), (Source(SOURCE, "s"),)) for n in range(250)]
    write_report(path, entries)
    script = """
      seen.before = document.querySelectorAll("article.finding").length;
      document.querySelector('.row a[href="#claim-200"]').click();
      seen.shown = document.querySelector("article.finding.on blockquote").textContent;
      seen.source = document.querySelector("article.text.on .prose").textContent;
      const light = getComputedStyle(document.body).backgroundColor;
      document.getElementById("theme").click();
      seen.changed = getComputedStyle(document.body).backgroundColor !== light;
      dispatchEvent(new Event("beforeprint"));
      seen.printed = document.querySelectorAll("article.finding").length;
    """
    seen = after(path, script)
    # Of 250 claims only the one in view is unfolded; for printing all are.
    assert seen == {
        "before": 1,
        "shown": "It has 199 towers.",
        "source": SOURCE,
        "changed": True,
        "printed": 250,
    }


def test_nothing_is_wider_than_the_window_at_any_width(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    source = Source("x" * 3000, "y" * 300)
    long_name = "University of Kansas at Lawrence " * 4
    verdict = wrong_year()
    parts = tuple(
        replace(part, source_span=replace(part.source_span, source_id=long_name))
        for part in verdict.evidence_alignment
        if part.source_span
    )
    named_long = Entry(replace(verdict, evidence_alignment=parts), (Source(SOURCE, long_name), source))
    write_report(path, [named_long, Entry(report())], title="z" * 300)
    tell = """<script>
      const root = document.documentElement;
      const card = document.querySelector("#claim-1").getBoundingClientRect();
      const places = [...document.querySelectorAll("#claim-1 .place")].map((place) => place.getBoundingClientRect());
      const wide = root.clientWidth < root.scrollWidth || places.some((place) => place.right > card.right);
      parent.postMessage([innerWidth, places.length && wide], "*");
    </script>"""
    (tmp_path / "framed.html").write_text(without_policy(path).replace("</body>", f"{tell}</body>"), encoding="utf-8")
    listen = """<script>
      const seen = [];
      addEventListener("message", (event) => {
        seen.push(event.data);
        document.body.dataset.seen = JSON.stringify(seen);
      });
    </script>"""
    frames = "".join(f'<iframe src="framed.html#claim-1" width="{width}" height="800"></iframe>' for width in WIDTHS)
    (tmp_path / "frames.html").write_text(f"<body>{listen}{frames}</body>", encoding="utf-8")
    seen = json.loads(seen_by(loaded(tmp_path / "frames.html")))
    assert sorted(seen) == [[width, False] for width in WIDTHS]


def test_the_response_reads_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, [Entry(report())])
    script = """
      const copy = document.querySelector(".response .prose").cloneNode(true);
      for (const extra of copy.querySelectorAll(".badge, .note")) extra.remove();
      seen.text = copy.textContent;
    """
    assert after(path, script)["text"] == RESPONSE


def test_a_single_claim_is_read_without_a_list_and_its_evidence_is_lit(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, Entry(wrong_year(), Source(SOURCE, "bridge.txt")))
    script = """
      const edges = (selector) => document.querySelector(selector).getBoundingClientRect();
      seen.lit = [...document.querySelectorAll("[data-lit]")].map((mark) => mark.textContent);
      seen.filled = [edges(".finding").left, edges(".text").right].map((x) => Math.round(x - edges("h1").left));
      seen.width = Math.round(edges("h1").width);
      seen.place = document.querySelector("a.place").textContent;
    """
    seen = after(path, script)
    assert (seen["lit"], seen["place"]) == (["The bridge was opened", "1973"], "bridge.txt:0-21")
    # The finding and its source together reach from edge to edge.
    assert seen["filled"] == [0, seen["width"]]
