from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vouching
from vouching.claims import decompose
from vouching.claims.citations import citations_in, cited_by
from vouching.types import Report, Source

SOURCES = [
    Source("The bridge opened in 1973. It is red.", "bridge.txt"),
    Source("The tower was built in 1937 by Ann Lee.", "docs/tower.md", title="The tower"),
]


def checked(response: str) -> Report:
    return vouching.Checker("embedded:rules").check_response(response, SOURCES)


def notes(response: str) -> list[list[str]]:
    kinds = ("citation", "misattributed")
    return [[w.kind for w in finding.warnings if w.kind in kinds] for finding in checked(response).findings]


@pytest.mark.parametrize(
    ("citation", "names"),
    [
        ("[1]", ("1",)),
        ("[1, 3]", ("1", "3")),
        ("[2–4]", ("2", "3", "4")),
        ("【1】", ("1",)),
        ("【2†tower】", ("2",)),
        ("(source: tower.md)", ("tower.md",)),
        ("[Source 2]", ("2",)),
        ("(sources: a.txt; b.txt)", ("a.txt", "b.txt")),
        ("[tower.md]", ("tower.md",)),
        ("[Okafor, 2011]", ("Okafor, 2011",)),
        ("(Okafor et al., 2011; Ruiz 2004)", ("Okafor et al., 2011", "Ruiz 2004")),
    ],
)
def test_a_citation_names_its_sources(citation: str, names: tuple[str, ...]) -> None:
    [found] = citations_in(f"It opened in 1973 {citation}.")
    assert (found.text, found.names) == (citation, names)


@pytest.mark.parametrize("text", ["`a[1]`", "[a link](x.md)", "[^1]", "in (1973)", "[sic]", "[1973]"])
def test_other_brackets_are_no_citations(text: str) -> None:
    assert citations_in(f"It opened {text}.") == []


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("It rose [1]. It fell [2].", [["[1]"], ["[2]"]]),
        ("It rose. [1] It fell.", [["[1]"], []]),
        ("It rose.[1] It fell.[2]", [["[1]"], ["[2]"]]),
        ("It rose [1][2].", [["[1]", "[2]"]]),
        ("Ann was born in 1912 [1] and moved to Rome [2].", [["[1]"], ["[2]"]]),
        ("Ann was born in 1912 and moved to Rome [1].", [["[1]"], ["[1]"]]),
    ],
)
def test_a_citation_belongs_to_the_claims_before_it_in_its_sentence(response: str, expected: list[list[str]]) -> None:
    found = cited_by(response, decompose(response).claims)
    assert [[citation.text for citation in citations] for citations in found] == expected


@pytest.mark.parametrize("citation", ["(Okafor et al., 2011)", "[Ruiz 2004]", "(Lind, 1999; Ruiz, 2004)"])
def test_a_citation_of_the_literature_changes_no_verdict_and_warns_of_nothing(citation: str) -> None:
    plain, cited = checked("The bridge opened in 1973."), checked(f"The bridge opened in 1973 {citation}.")
    assert [finding.label for finding in cited.findings] == [finding.label for finding in plain.findings]
    assert not cited.findings[0].warnings
    wrong = checked(f"The bridge opened in 1974 {citation}.").findings[0]
    assert (wrong.label, wrong.warnings) == ("Not Attributable", ())


@pytest.mark.parametrize(
    ("citation", "kinds"), [("(Okafor & Lind, 2011)", ["misattributed"]), ("[Ruiz, 2004]", []), ("(Ruiz, 2005)", [])]
)
def test_a_citation_by_author_and_year_names_the_source_that_has_both(citation: str, kinds: list[str]) -> None:
    sources = [
        Source("The weir was built in 1951.", "ruiz_2004.pdf"),
        Source("The eel is a fish.", "b", title="Okafor and Lind (2011): Eels"),
    ]
    report = vouching.Checker("embedded:rules").check_response(f"The weir was built in 1951 {citation}.", sources)
    assert [warning.kind for warning in report.findings[0].warnings] == kinds


def test_the_entry_of_a_list_of_references_is_no_citation() -> None:
    response = "It rose.\n\n[1] Report of 2020 tells more."
    assert not any(cited_by(response, decompose(response).claims))


def test_a_claim_that_the_cited_source_supports_has_no_warning() -> None:
    assert notes("The bridge opened in 1973 [1]. The tower was built in 1937 (source: tower.md).") == [[], []]


@pytest.mark.parametrize("citation", ["[1]", "(source: bridge.txt)", "[bridge.txt]"])
def test_a_claim_that_only_another_source_supports_is_misattributed(citation: str) -> None:
    report = checked(f"The tower was built in 1937 {citation}.")
    [finding] = report.findings
    [warning] = finding.warnings
    assert (finding.passed, warning.kind) == (True, "misattributed")
    assert warning.span is not None
    assert warning.span.source_id == "docs/tower.md"
    assert report.review_first == ((1, "it cites another source"),)


def test_one_of_several_cited_sources_is_enough() -> None:
    assert notes("The tower was built in 1937 [1, 2].") == [[]]


def test_a_claim_that_no_source_supports_is_not_attributable_and_not_misattributed() -> None:
    report = checked("The tower was built in 1950 [1].")
    assert [finding.passed for finding in report.findings] == [False]
    assert notes("The tower was built in 1950 [1].") == [[]]


@pytest.mark.parametrize(
    ("citation", "message"),
    [
        ("[7]", "[7] names no source: there are 2 sources."),
        ("(source: roads.txt)", "(source: roads.txt) names no source: no source is called 'roads.txt'."),
    ],
)
def test_a_citation_of_an_unknown_source_is_named(citation: str, message: str) -> None:
    [finding] = checked(f"The bridge opened in 1973 {citation}.").findings
    assert [(warning.kind, warning.message) for warning in finding.warnings] == [("citation", message)]


def test_a_citation_changes_no_score() -> None:
    scores = [
        checked(f"The bridge opened in 1973{mark}.").findings[0] for mark in ("", " [1]", " (source: bridge.txt)")
    ]
    assert len({finding.score for finding in scores if finding.kind == "verdict"}) == 1


@given(st.text(alphabet="It rose.[1, 2]\n(source:a)`【】 ", max_size=60))
def test_every_citation_is_where_it_says(response: str) -> None:
    for citation in citations_in(response):
        assert response.startswith(citation.text, citation.start)
    assert len(cited_by(response, decompose(response).claims)) == len(decompose(response).claims)
