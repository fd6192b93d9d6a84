"""Sources that support a claim in one place and contradict it in another, and sources that only seem to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.structured.injections import UNSUPPORTED
from vouching import Checker, check
from vouching.embedded.preference import date_of
from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError
from vouching.text.sentences import sentence_spans
from vouching.types import Claim, Source, Verdict

VERIFIER = EmbeddedVerifier()

CONTRARY = [
    ("The bridge opened in 1931.", "The bridge opened in 1937."),
    ("The Harlow library lends 12 books per reader.", "The Harlow library lends 15 books per reader."),
    ("The valve opens at 80 bar.", "The valve opens at 60 bar."),
    ("The contract ends on 30 June 2025.", "The contract ends on 31 July 2025."),
    ("Veltrazine is safe in pregnancy.", "Veltrazine is not safe in pregnancy."),
    ("Visitors may bring dogs.", "Visitors must not bring dogs."),
    ("The museum reopened in 2019.", "The museum did not reopen in 2019."),
    ("Membership is free.", "Membership is not free."),
    ("Refunds are paid before the course begins.", "Refunds are paid after the course begins."),
    ("The head office is in Oslo.", "The head office is in Bergen."),
    ("Penicillin was discovered by Marie Curie.", "Penicillin was discovered by Alexander Fleming."),
    ("The mill was sold to Ann Reed in 1950.", "The mill was sold to Tom Hale in 1950."),
]
"""Pairs of statements that cannot both be true."""

HONEST = [
    ("Revenue was 5 million in Q1.", "Revenue was 5 million in Q1. Revenue was 6 million in Q2."),
    ("Revenue was 5 million.", "In 2019, revenue was 5 million. In 2020, revenue was 6 million."),
    ("The price was 40 euros in 2020.", "The price was 40 euros in 2020. The price was 45 euros in 2021."),
    ("The Basic plan costs $10.", "| Plan | Price |\n|---|---|\n| Basic | $10 |\n| Team | $20 |\n"),
    ("The Basic plan stores 10 files.", "## Basic plan\nIt stores 10 files.\n## Team plan\nIt stores 20 files.\n"),
    ("The limit is 20 files.", "## 2.1\n- The limit is 20 files.\n## 2.0\n- The limit is 10 files.\n"),
    ("Version 2.1 allows 20 files.", "Version 2.1 allows 20 files. Version 2.0 allows 10 files."),
    ("Step 2 takes 10 minutes.", "1. Step 1 takes 5 minutes.\n2. Step 2 takes 10 minutes.\n"),
    ("The first edition has 200 pages.", "The first edition has 200 pages. The second edition has 250 pages."),
    ("Sales rose from 8 to 9 million.", "Sales rose from 8 to 9 million. Sales had been 8 million before."),
    ("The limit is now 20 files.", "The limit is now 20 files. The limit used to be 10 files."),
    ("The bridge opened in 1937.", "An earlier version said the bridge opened in 1931; the bridge opened in 1937."),
    ("The bridge opened in 1937.", "The bridge opened in 1931. Correction: the bridge opened in 1937, not 1931."),
    ("The tank holds 500 litres.", "The tank holds 500 litres. For example, a tank that holds 300 litres is small."),
    ("The tank holds 300 to 500 litres.", "The tank holds 300 to 500 litres. The tank holds 500 litres at most."),
    ("The north tower is 80 m high.", "The north tower is 80 m high. The south tower is 95 m high."),
    ("The car park has 300 spaces.", "The car park has 300 spaces. The staff car park has 50 spaces."),
    ("The team has an office in Oslo.", "The team has an office in Oslo. The team has an office in Bergen."),
    ("The club won the cup in 1998.", "The club won the cup in 1998. The club won the cup again in 2002."),
    ("The museum opens at 9 on weekdays.", "The museum opens at 9 on weekdays. The museum opens at 11 on Sundays."),
    ("The fee is 40 euros.", "The fee is 40 euros. If you pay late, the fee is 60 euros."),
    ("Dogs are allowed in the garden.", "Dogs are allowed in the garden. Dogs are not allowed in the house."),
    ("Guests must not smoke in the rooms.", "Guests may smoke in the garden. Guests must not smoke in the rooms."),
    ("Room A has 20 seats.", "Room A has 20 seats. Room B has 30 seats."),
    ("The bridge is 200 m long.", "The bridge is 200 m long. The bridge is 20 m wide."),
    ("The course costs 40 euros.", "The course costs 40 euros. The course costs 30 euros for members."),
    ("The shop opens at 9.", "The shop opens at 9. In winter the shop opens at 10."),
    ("Patients take 5 mg daily.", "Patients take 5 mg daily. Patients over 65 take 2 mg daily."),
    ("The limit is 20 files.", "The limit is 20 files. The limit was 10 files before 2020."),
    ("Smoking is allowed.", "Smoking is allowed. Smoking is not allowed indoors."),
    ("He was born in 1950.", "Tom is a poet. He was born in 1950. His brother Jim is a painter. He was born in 1955."),
    ("The clinic employs 40 nurses.", "The clinic employs 40 nurses. The clinic plans to employ 60 nurses."),
    ("Two men were arrested.", "Two men were arrested. One of the two men was released."),
    ("The river is 80 km long.", "The river is 80 km long. The river is 50 miles long."),
    ("It was built by Anna Berg.", "The library was built by Anna Berg. The harbour was designed by Tom Lind."),
    ("Anna Reed was born in 1950.", "Anna Reed was born in 1950. Tom Reed was born in 1955."),
]
"""Claims with sources that support them and say other things of other subjects, times, versions or plans."""


def judge(claim: str, *texts: str) -> Verdict:
    return VERIFIER.judge(Claim(claim), [Source(text, f"{name}.md") for name, text in zip("abc", texts, strict=False)])


@pytest.mark.parametrize("pair", CONTRARY, ids=lambda pair: pair[0])
def test_two_places_that_disagree_are_a_conflict_for_either_claim_and_in_either_order(pair: tuple[str, str]) -> None:
    for claim in pair:
        for one, other in (pair, pair[::-1]):
            for texts in ((f"{one} It rained a lot that year. {other}",), (one, other)):
                verdict = judge(claim, *texts)
                assert (verdict.relation, verdict.label) == ("conflicting", "Not Attributable"), (claim, texts)
                assert verdict.score < 0.5
                assert verdict.confidence < 0.5
                assert verdict.fix_suggestion is None
                assert verdict.error_type is None


@pytest.mark.parametrize(("claim", "source"), HONEST, ids=[claim for claim, _ in HONEST])
def test_what_is_said_of_something_else_is_no_conflict(claim: str, source: str) -> None:
    assert judge(claim, source).relation == "supported"


def test_both_places_are_shown() -> None:
    source = "The bridge opened in 1937. It has two towers. As the annex notes, the bridge opened in 1931."
    verdict = VERIFIER.judge(Claim("The bridge opened in 1931."), [Source(source, "doc.md")])
    shown = [(entry.source_span.text, entry.status) for entry in verdict.evidence_alignment if entry.source_span]
    assert ("opened in 1931", "match") in shown
    assert ("1937", "mismatch") in shown
    message = 'The sources disagree: doc.md says "1931", and also "1937".'
    assert verdict.reasoning_chain[-1].explanation == message
    assert [warning.message for warning in verdict.warnings if warning.kind == "conflict"] == [message]


def test_the_parts_of_a_document_do_not_separate_subjects_but_other_headings_do() -> None:
    one, other = "The bridge opened in 1937.", "The bridge opened in 1931."
    assert judge(one, f"# Bridge\n{one}\n\n## Annex\n{other}\n").relation == "conflicting"
    assert judge(one, f"## Harlow\n{one}\n\n## Marbury\n{other}\n").relation == "supported"


def test_a_claim_added_as_a_plain_sentence_does_not_overrule_the_source() -> None:
    contradicted = [(claim, source) for claim, source in UNSUPPORTED if judge(claim, source).relation == "contradicted"]
    assert len(contradicted) >= 2
    for claim, source in contradicted:
        places = [0, *(start for start, _ in sentence_spans(source)[1:]), len(source)]
        for place in places:
            verdict = judge(claim, f"{source[:place].rstrip()} {claim} {source[place:]}".strip())
            assert verdict.label == "Not Attributable", (claim, place)


@given(st.permutations(["The mill opened in 1850.", "It rained.", "The mill opened in 1862.", "Nobody came."]))
def test_the_order_of_the_places_does_not_matter(sentences: list[str]) -> None:
    assert judge("The mill opened in 1862.", "\n\n".join(sentences)).relation == "conflicting"


@pytest.mark.parametrize("threshold", [0.01, 0.3, 0.5, 0.9])
def test_a_conflict_is_never_attributable(threshold: float) -> None:
    verdict = check("It has two towers.", ["It has two towers.", "It has 3 towers."], threshold=threshold)
    assert isinstance(verdict, Verdict)
    assert not verdict.attributable


OLD = Source("Date: 3 June 2021\n\nThe bridge opened in 1931.", "old.md")
NEW = Source("Last updated: 2024-05-01\n\nThe bridge opened in 1937.", "new.md")
UNDATED = Source("The bridge opened in 1950.", "undated.md")


@pytest.mark.parametrize(
    ("prefer", "sources", "year"),
    [
        ("newest", (OLD, NEW), "1937"),
        ("newest", (NEW, OLD), "1937"),
        ("newest", (UNDATED, OLD), "1931"),
        ("newest", (OLD, UNDATED, NEW), "1937"),
        ("listed", (OLD, NEW), "1931"),
        ("listed", (UNDATED, NEW, OLD), "1950"),
    ],
)
def test_the_preferred_source_decides_and_the_verdict_says_so(
    prefer: str, sources: tuple[Source, ...], year: str
) -> None:
    checker = Checker("embedded:rules", prefer=prefer)
    for other in ("1931", "1937", "1950"):
        if not any(other in source.text for source in sources):
            continue
        verdict = checker.check(f"The bridge opened in {other}.", sources)
        assert isinstance(verdict, Verdict)
        assert verdict.relation == ("supported" if other == year else "contradicted")
        messages = [warning.message for warning in verdict.warnings if warning.kind == "conflict"]
        assert messages
        assert all("decided, because it is" in message for message in messages)


def test_without_a_date_to_tell_them_apart_sources_still_conflict() -> None:
    other = Source("The bridge opened in 1960.", "other.md")
    verdict = Checker("embedded:rules", prefer="newest").check("The bridge opened in 1950.", [UNDATED, other])
    assert isinstance(verdict, Verdict)
    assert verdict.relation == "conflicting"


def test_a_preference_does_not_choose_between_two_places_of_one_source() -> None:
    text = "The bridge opened in 1937. It rained. The bridge opened in 1931."
    verdict = Checker("embedded:rules", prefer="listed").check("The bridge opened in 1931.", text)
    assert isinstance(verdict, Verdict)
    assert verdict.relation == "conflicting"


def test_an_unknown_preference_is_refused() -> None:
    with pytest.raises(ConfigError, match="newest, listed"):
        Checker("embedded:rules", prefer="oldest")


@pytest.mark.parametrize(
    ("source", "date"),
    [
        (Source("---\ntitle: Prices\ndate: 2023-02-01\n---\nA ticket cost 3 euros in 2025."), (2023, 2, 1)),
        (Source("# Policy\n\n**Effective from 1 March 2022**\n\nDogs stay outside."), (2022, 3, 1)),
        (Source("Published 5 May 2020. Last updated 6 June 2021.\n\nIt opened."), (2021, 6, 6)),
        (Source("It opened in 1937.", id="notes/plan_2024-05-01.md"), (2024, 5, 1)),
        (Source("It opened in 1937."), (0, 0, 0)),
    ],
)
def test_the_date_of_a_source_is_the_one_at_its_head_or_in_its_name(source: Source, date: tuple[int, int, int]) -> None:
    assert date_of(source) == date
