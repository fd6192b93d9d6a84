"""The whole layer: the map of types, the filters, the counts, and properties that hold on any text."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.house.source_tree import ROOT
from tests.text.hostile import ANY_TEXT
from vouching import Checker, Source, Verdict
from vouching.errors import ConfigError
from vouching.perturb import (
    ERROR_TYPE_OF,
    STRATEGIES,
    CorpusPool,
    Perturbation,
    Tally,
    perturb,
    perturb_rows,
    to_json,
)
from vouching.perturb.filters import fluent, near_duplicate, visible
from vouching.perturb.records import Edit, apply_edits
from vouching.perturb.run import PROPOSERS
from vouching.perturb.wording import read_table
from vouching.types import ERROR_TYPES, Example, Span

EXAMPLES = [json.loads(line) for line in (ROOT / "examples/claims.jsonl").read_text(encoding="utf-8").splitlines()]
ROWS = [Example(row["id"], row["claim"], (Source(row["source"]),), row["gold"]) for row in EXAMPLES] + [
    Example("bridge", "The Tarn bridge opened in 1973.", (Source("The Tarn bridge opened in 1973."),), "Attributable"),
    Example("firm", "Ann Lee sold 1,200 boats.", (Source("In 1980, Ann Lee sold 1,200 boats."),), "Attributable"),
]
PLAIN = (
    "Ann Lee purchased 12 boats on 3 May 1937.",
    "Most banks closed after the war.",
    "Sales grew by 15% in 1980.",
    "The Tarn Prize was founded by Bob Roy in 1973.",
    "The trail is 5 km long.",
    "The bridge opened in 1973. It has two towers.",
    "Tom Fox was born in Lisbon in 1912 and moved to Paris in 1930.",
    "The album sold 1.2 million copies.",
    "The plant is often used as a dye.",
    "The drug significantly reduced costs in 2016.",
)
POOL = CorpusPool(row.claim for row in ROWS)
PIECES = st.lists(
    st.sampled_from(
        [
            "Ann Lee",
            "The bridge",
            "It",
            "Paris",
            "was",
            "opened",
            "sold",
            "did not",
            "may",
            "some",
            "most",
            "12",
            "5 km",
            "in 1973",
            "on 3 May 1937",
            "and",
            "founded by",
            "Bob Roy",
            "(old)",
            "increased",
            "more than",
            "1,200",
            "15%",
            ".",
            "a",
            "an",
            "popular",
            "often",
            "before",
            "half of the",
            ", a painter,",
        ]
    ),
    max_size=12,
).map(" ".join)
"""Claims of the pieces that strategies look at."""


# The map


def test_every_strategy_has_an_error_type_or_none_and_a_function() -> None:
    assert set(ERROR_TYPE_OF) == set(STRATEGIES) == set(PROPOSERS)
    assert len(STRATEGIES) == len(set(STRATEGIES))


def test_every_error_type_has_two_strategies_so_that_one_can_be_held_out() -> None:
    types = list(ERROR_TYPE_OF.values())
    assert {kind: types.count(kind) >= 2 for kind in ERROR_TYPES} == dict.fromkeys(ERROR_TYPES, True)


def test_the_label_follows_from_the_error_type() -> None:
    for strategy in STRATEGIES:
        made = Perturbation("b", "a", "a", (Span("b", 0, 1),), strategy)
        assert (made.label == "Attributable") == (ERROR_TYPE_OF[strategy] is None)


def test_the_guide_shows_the_table_of_the_code() -> None:
    guide = (ROOT / "docs/perturb.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `(\w+)` \| .* \| (?:`(\w+)`|none) \| [^|]* \|$", guide, re.MULTILINE)
    assert {name: kind or None for name, kind in shown} == dict(ERROR_TYPE_OF)


# Properties of any text


@settings(deadline=None, max_examples=150)
@given(claim=st.one_of(ANY_TEXT, PIECES), source=st.one_of(ANY_TEXT, PIECES))
def test_on_any_text_offsets_are_right_and_the_claim_differs(claim: str, source: str) -> None:
    for made in perturb(claim, source, pool=POOL):
        assert made.claim != claim
        assert made.original == claim
        assert made.spans
        for span in made.spans:
            assert made.claim[span.start : span.end] == span.text


@settings(deadline=None, max_examples=60)
@given(claim=PIECES, seed=st.integers(0, 3))
def test_equal_seeds_give_equal_results(claim: str, seed: int) -> None:
    first, second = (perturb(claim, claim, pool=POOL, rng=random.Random(seed)) for _ in range(2))
    assert first == second


@given(
    text=st.text("bcdE .,", max_size=40),  # no "a", which may be an article
    cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.text("xyZ1 ", max_size=6)), max_size=3),
)
def test_edits_change_their_places_and_nothing_else(text: str, cuts: list[tuple[int, int, str]]) -> None:
    edits: list[Edit] = []
    for start, length, replacement in sorted(cuts):
        if start + length <= len(text) and (not edits or edits[-1].end < start):
            edits.append(Edit(start, start + length, replacement))
    changed, spans = apply_edits(text, edits)
    assert [span.text.lower() for span in spans] == [edit.replacement.lower() for edit in edits]
    assert all(changed[span.start : span.end] == span.text for span in spans)
    kept, left = changed, text
    for span, edit in reversed(list(zip(spans, edits, strict=True))):
        kept, left = kept[: span.start] + kept[span.end :], left[: edit.start] + left[edit.end :]
    assert kept.lower() == left.lower()


# Filters


@pytest.mark.parametrize(
    ("original", "claim", "seen"),
    [
        ("The colour is grey.", "The color is gray.", False),
        ("It  opened.", "It opened.", False),
        ("It cost $5.", "It cost €5.", True),
        ("Ann beat Bob.", "Bob beat Ann.", True),
        ("It is 15%.", "It is 15 percent.", True),
    ],
)
def test_only_a_difference_that_a_reader_sees_is_visible(original: str, claim: str, seen: bool) -> None:
    assert visible(original, claim) is seen


@pytest.mark.parametrize(
    "claim",
    [
        "It is a owl.",
        "It is is an owl.",
        "It is an owl (old.",
        "It is an",
        "it is an owl.",
        "They is an owl.",
        "It  is an owl.",
    ],
)
def test_faults_of_form_are_found(claim: str) -> None:
    assert not fluent("It is an owl.", claim)


def test_a_fault_that_the_original_has_is_not_counted() -> None:
    assert fluent("it is a owl", "it is a eagle")


def test_a_length_beyond_two_and_a_half_times_is_not_fluent() -> None:
    assert fluent("It is red.", "It is red and old and big.")  # 7 words for 3
    assert not fluent("It is red.", "It is red and old and very big.")  # 8 words for 3 are 2.67


def test_near_duplicates_are_of_one_strategy_and_one_place() -> None:
    def of(claim: str, strategy: str) -> Perturbation:
        return Perturbation(claim, "It opened in 1973.", "", (), strategy)  # type: ignore[arg-type]

    first, edit = of("It opened in 1971.", "date_shift"), [Edit(13, 17, "1971")]
    assert near_duplicate(of("It opened in 1970.", "date_shift"), [Edit(13, 17, "1970")], [(first, edit)])
    assert not near_duplicate(of("It opened in 1970.", "number_change"), [Edit(13, 17, "1970")], [(first, edit)])
    assert not near_duplicate(of("It closed in 1973.", "date_shift"), [Edit(3, 9, "closed")], [(first, edit)])
    assert near_duplicate(of("It opened in 1971.", "number_change"), [Edit(0, 2, "It")], [(first, edit)])


# Rows


def test_only_attributable_rows_are_changed_and_ids_are_unique() -> None:
    made = list(perturb_rows(ROWS, per_row=5))
    wrong = {row.id for row in ROWS if row.label == "Not Attributable"}
    assert made
    assert not wrong & {perturbation.group for perturbation in made}
    assert len({perturbation.id for perturbation in made}) == len(made)


def test_rows_give_at_most_per_row_and_strategies_take_turns() -> None:
    made = list(perturb_rows(ROWS, per_row=2))
    counts = [len(list(group)) for _, group in itertools.groupby(made, key=lambda perturbation: perturbation.group)]
    assert max(counts) == 2
    first = list(perturb_rows(ROWS[-1:], per_row=6))
    assert len({perturbation.strategy for perturbation in first}) == len(first)


def test_rows_are_streamed() -> None:
    def endless() -> itertools.chain[Example]:
        return itertools.chain.from_iterable(itertools.repeat(ROWS))

    assert len(list(itertools.islice(perturb_rows(endless()), 40))) == 40


def test_equal_rows_and_seeds_give_equal_results_and_other_seeds_differ() -> None:
    runs = [[made.claim for made in perturb_rows(ROWS, seed=seed)] for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_drafts_are_kept_or_dropped_and_counted() -> None:
    tally = Tally()
    made = list(perturb_rows(ROWS, per_row=100, tally=tally))
    assert sum(tally.kept.values()) == len(made)
    assert sum(tally.drafted.values()) == len(made) + sum(tally.dropped.values())


def test_a_drop_is_counted_under_its_filter() -> None:
    tally = Tally()
    source = "It has 6 towers, 3 gates, 4 halls, 8 wells and 9 doors."  # whatever it becomes, the source has it
    assert perturb("It has 6 towers.", source, ["number_change"], tally=tally) == []
    assert dict(tally.dropped) == {("number_change", "on_type"): 1}
    assert tally.drop_rate("number_change") == 1.0


def test_an_unknown_strategy_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="unknown strategy 'x'; expected one of number_change"):
        perturb("a", "a", ["x"])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="unknown strategy"):
        perturb_rows([], ["x"])  # type: ignore[list-item]


def test_a_line_of_json_is_a_row_that_can_be_perturbed_again() -> None:
    made = next(iter(perturb_rows(ROWS[-2:-1], ["date_shift"])))
    line = json.loads(to_json(made))
    assert line["claim"][line["spans"][0]["start"] : line["spans"][0]["end"]] == line["spans"][0]["text"]
    assert (line["label"], line["error_type"], line["group"]) == ("Not Attributable", "temporal_shift", "bridge")
    assert {"claim", "source", "label"} <= line.keys()


def test_a_claim_of_thousands_of_characters_is_skipped() -> None:
    assert perturb("It opened in 1973. " * 200, "x") == []


# Shipped tables


def test_no_listed_word_replaces_itself() -> None:
    for table in (read_table("opposites.txt"), read_table("synonyms.txt")):
        assert all(left not in rights for left, rights in table.items())


def test_no_synonym_is_also_an_opposite() -> None:
    assert {(a, b) for a, rights in read_table("synonyms.txt").items() for b in rights} & {
        (a, b) for a, rights in read_table("opposites.txt").items() for b in rights
    } == set()


# Read by the embedded verifier


def test_the_embedded_verifier_accepts_rewrites_and_detects_most_visible_errors() -> None:
    """Of claims that it passes: the shipped examples, and plain claims that are their own source."""
    plain = [Example(f"p{n}", claim, (Source(claim),), "Attributable") for n, claim in enumerate(PLAIN)]
    checker = Checker("embedded:rules")
    seen = {"number_change", "date_shift", "entity_swap", "negation_added", "qualifier_strengthened"}
    right: dict[str, list[bool]] = {"Attributable": [], "Not Attributable": []}
    for made in perturb_rows([*ROWS, *plain], per_row=100):
        original, changed = checker.check([made.original, made.claim], made.source)
        assert isinstance(original, Verdict)
        assert isinstance(changed, Verdict)
        if original.attributable and (made.error_type is None or made.strategy in seen):
            right[made.label].append(changed.label == made.label)
    # Measured: 22 of 23 rewrites pass, 42 of 45 errors are refused; the bounds leave room for other rules.
    assert len(right["Attributable"]) >= 15
    assert len(right["Not Attributable"]) >= 30
    assert sum(right["Attributable"]) >= 0.9 * len(right["Attributable"])
    assert sum(right["Not Attributable"]) >= 0.8 * len(right["Not Attributable"])
