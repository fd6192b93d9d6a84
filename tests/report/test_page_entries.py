"""What the HTML report takes as entries, what it calls itself, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.html_reading import Element, elements_of
from tests.report.records import SOURCE, report, span_in, supported, wrong_year
from vouching.errors import InputError
from vouching.inputs import SourcesLike, as_sources, each_of
from vouching.report.page import Entry, write_report
from vouching.types import Alignment, Claim, Report, Source, Unverified

BRIDGE = Source(SOURCE, "bridge.txt")


def page_of(folder: Path, entries: Any, **options: Any) -> str:
    """The page of what is passed for entries."""
    write_report(folder / "report.html", entries, **options)
    return (folder / "report.html").read_text(encoding="utf-8")


def named(page: str, tag: str, name: str = "") -> list[Element]:
    """Elements of a page by tag and class."""
    return [e for e in elements_of(page) if e.tag == tag and (not name or e.has(name))]


def test_a_record_may_stand_for_its_entry_and_one_entry_for_a_list(tmp_path: Path) -> None:
    for record in (wrong_year(), report()):
        forms = ([Entry(record)], iter([record]), Entry(record), record)
        assert len({page_of(tmp_path, entries) for entries in forms}) == 1


@pytest.mark.parametrize(
    "sources",
    [
        SOURCE,
        BRIDGE,
        (Source("Another."), BRIDGE),
        ["Another.", {"text": SOURCE}],
        # Two sources of one id: the check calls the second source-1-2.
        [Source("Another."), Source(SOURCE)],
    ],
)
def test_sources_are_taken_and_named_as_a_check_takes_them(tmp_path: Path, sources: SourcesLike) -> None:
    verdict, evidence = wrong_year(), span_in(SOURCE, "1973", as_sources(sources)[-1].id)
    alignment = Alignment(span_in(verdict.claim.text, "1937"), evidence, "mismatch")
    page = page_of(tmp_path, Entry(replace(verdict, evidence_alignment=(alignment,)), sources))
    # The evidence lies in the last source.
    places = [e.attributes["href"] for e in named(page, "a", "place")]
    assert places == [f"#text-{len(each_of(sources))}-{evidence.start}"]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([supported(), "text"], "entry 2 must be the result of a check .*, got str"),
        (3, "entry 1 must be the result of a check .*, got int"),
        (Entry([supported()]), "entry 1 must be the result of a check .*, got list"),  # type: ignore[arg-type]
        ([Entry(supported(), [BRIDGE, 7])], "entry 1: source 2 must be a string, a Source"),  # type: ignore[list-item]
    ],
)
def test_what_is_no_entry_is_refused_and_the_old_report_stays(tmp_path: Path, entries: Any, message: str) -> None:
    old = page_of(tmp_path, report())
    with pytest.raises(InputError, match=message):
        write_report(tmp_path / "report.html", entries)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == old


@pytest.mark.parametrize(
    ("entries", "title"),
    [
        ([supported(Claim("It has\ntwo towers."))], "It has two towers."),
        # At most 100 characters: 49 from each end around the sign of the cut.
        ([supported(Claim("x" * 60 + "y" * 60))], "x" * 49 + "…" + "y" * 49),
        ([Unverified(Claim(""), "input", "It is no JSON.")], "Report"),
        ([supported(), supported()], "Report"),
        ([report()], "Report"),
        ([], "Report"),
    ],
)
def test_the_words_of_a_single_claim_are_the_title_of_a_page_without_one(
    tmp_path: Path, entries: list[Any], title: str
) -> None:
    page = page_of(tmp_path, entries)
    # A chart has a title as well; the page's comes first.
    assert [named(page, "h1")[0].text, named(page, "title")[0].text] == [title, title]


def test_a_single_claim_stands_in_no_list(tmp_path: Path) -> None:
    def listed(page: str) -> int:
        return len(named(page, "li", "row"))

    alone = page_of(tmp_path, Entry(wrong_year(), BRIDGE))
    assert (listed(alone), len(named(alone, "article", "finding")), len(named(alone, "footer"))) == (0, 1, 0)
    # Of two claims of which one is shown, and of a response's only claim, the list says more than the finding.
    assert listed(page_of(tmp_path, [wrong_year(), supported()], limit=1)) == 1
    assert listed(page_of(tmp_path, Report("It has two towers.", (), (supported(),)))) == 1
