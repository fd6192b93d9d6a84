"""Probes: budgets, sources, safe rows, the cross-check, and what must never be made into one."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evolve.boats import boat, boats, failed, right, said, wrong
from vouching.errors import ConfigError, InputError
from vouching.evolve.probe import UNCHANGED, ProbePlan, Probes, ProbeSource, cross_checked, make_probes
from vouching.evolve.records import Judged, Probe, Row, read_records, write_records
from vouching.evolve.rows import disjoint_rows
from vouching.perturb import ERROR_TYPE_OF
from vouching.types.spans import ERROR_TYPES, ErrorType

ROWS = boats()
WEIGHTS: dict[ErrorType, float] = {
    "numerical_exaggeration": 0.1,
    "temporal_shift": 0.4,
    "negation_flip": 0.1,
    "entity_substitution": 0.2,
    "scope_inflation": 0.1,
    "fabrication": 0.1,
}


def made(source: ProbeSource = "weakness", budget: int = 60, **changes: object) -> Probes:
    return make_probes(ROWS, WEIGHTS, ProbePlan(budget, source, seed=3), held=[], **changes)  # pyright: ignore[reportArgumentType]


def types_of(probes: Probes) -> Counter[str]:
    return Counter(probe.error_type or "safe" for probe in probes.kept)


def test_weakness_gives_each_type_its_weight_and_random_the_same_to_all() -> None:
    # 9 of 60 are safe (15 %); of 51 errors, weights give 5.1, 20.4, 5.1, 10.2, 5.1 and 5.1: ceilings 6, 21, 6, 11, 6, 6
    # are 5 too many, all taken from the largest. A sixth of 51 is 8.5: 9 each are 3 too many.
    assert types_of(made("weakness")) == {
        "safe": 9,
        "numerical_exaggeration": 6,
        "temporal_shift": 16,
        "negation_flip": 6,
        "entity_substitution": 11,
        "scope_inflation": 6,
        "fabrication": 6,
    }
    assert sorted(types_of(made("random")).values()) == [8, 8, 8, 9, 9, 9, 9]


def test_all_sources_give_equally_many_probes() -> None:
    assert {source: len(made(source).kept) for source in ("weakness", "random", "mixed")} == dict.fromkeys(
        ("weakness", "random", "mixed"), 60
    )


def test_mixed_probes_come_evenly_from_all_sets_and_others_as_the_rows_do() -> None:
    # 60 rows of one set and 12 of the other. Each type takes turns between the sets.
    shares = {source: Counter(probe.data_set for probe in made(source).kept) for source in ("weakness", "mixed")}
    assert abs(shares["mixed"]["boats"] - shares["mixed"]["ferries"]) <= 8  # one for each of seven kinds, and shuffles
    assert shares["weakness"]["boats"] > 2 * shares["weakness"]["ferries"]


def test_half_of_the_safe_probes_are_rewritten_and_half_are_as_they_were() -> None:
    safe = [probe for probe in made(budget=80).kept if probe.label == "Attributable"]
    assert len(safe) == math.ceil(0.15 * 80)
    unchanged = [probe for probe in safe if probe.strategy == UNCHANGED]
    assert len(unchanged) == len(safe) // 2
    assert all(probe.claim == probe.original and not probe.spans for probe in unchanged)
    assert all(probe.claim != probe.original for probe in safe if probe.strategy != UNCHANGED)


def test_every_probe_says_what_was_changed_and_what_it_was_made_from() -> None:
    parents = {row.id: row for row in ROWS}
    for probe in made().kept:
        parent = parents[probe.parent]
        assert (probe.original, probe.source, probe.data_set) == (parent.claim, parent.source, parent.data_set)
        assert all(probe.claim[span.start : span.end] == span.text for span in probe.spans)
        if probe.strategy != UNCHANGED:
            assert probe.error_type == ERROR_TYPE_OF[probe.strategy]  # pyright: ignore[reportArgumentType]
        assert (probe.label == "Attributable") == (probe.error_type is None)


def test_equal_calls_make_equal_probes_and_another_seed_makes_others() -> None:
    assert made().kept == made().kept
    other = make_probes(ROWS, WEIGHTS, ProbePlan(60, seed=4), held=[])
    assert {probe.claim for probe in other.kept} != {probe.claim for probe in made().kept}


def test_no_two_changed_probes_have_the_same_claim() -> None:
    claims = [probe.claim.casefold() for probe in made(budget=120).kept if probe.strategy != UNCHANGED]
    assert len(claims) == len({*claims})
    # Five pages say the same, and two ways to deny it are known.
    pages = [replace(ROWS[0], id=str(n), source=f"{ROWS[0].source} Page {n}.", group=str(n)) for n in range(5)]
    denied = make_probes(pages, {"negation_flip": 1.0}, ProbePlan(5, safe_share=0.0), held=[])
    assert sorted(probe.strategy for probe in denied.kept) == ["negation_added", "opposite"]


@pytest.mark.parametrize("what", ["claim", "source", "group"])
def test_rows_that_share_anything_with_held_out_ones_are_refused(what: str) -> None:
    held = replace(boat(500), **{what: getattr(ROWS[7], what)})
    with pytest.raises(InputError, match=r"1 training rows share .* boats-7 of boats"):
        make_probes(ROWS, WEIGHTS, ProbePlan(10), held=[held])
    rest = disjoint_rows(ROWS, [held])
    assert len(rest) == len(ROWS) - 1
    make_probes(rest, WEIGHTS, ProbePlan(10), held=[held])


def test_no_probe_repeats_the_claim_of_a_held_out_row() -> None:
    plan = ProbePlan(60, safe_share=0.0)
    said_before = make_probes(ROWS, WEIGHTS, plan, held=[]).kept[0].claim
    held = Row("h", said_before, "Another page says nothing of the kind.", "Not Attributable", "held")
    again = make_probes(ROWS, WEIGHTS, plan, held=[held])
    assert len(again.kept) == 60
    assert said_before not in {probe.claim for probe in again.kept}


def test_short_and_unsupported_rows_are_not_parents() -> None:
    short = replace(ROWS[0], claim="It opened in 1901.")  # 18 characters
    bare = replace(ROWS[1], source="Ann Lee sold 210 boats in Oslo.")  # 31 characters
    false = replace(ROWS[2], label="Not Attributable")
    with pytest.raises(InputError, match="none of the 3 training rows can be used"):
        make_probes([short, bare, false], WEIGHTS, ProbePlan(5), held=[])
    assert make_probes([*ROWS[3:], short, bare, false], WEIGHTS, ProbePlan(5), held=[]).report.parents == len(ROWS) - 3


def test_only_named_sets_give_probes() -> None:
    plan = ProbePlan(12, sets=("ferries",))
    assert {probe.data_set for probe in make_probes(ROWS, WEIGHTS, plan, held=[]).kept} == {"ferries"}


def test_a_shortage_is_reported_and_not_filled_from_other_types() -> None:
    plan = ProbePlan(200, safe_share=0.0)
    found = make_probes(ROWS[:10], {"temporal_shift": 1.0}, plan, held=[])
    assert {kind: (one.wanted, one.kept) for kind, one in found.report.kinds.items()} == {
        "safe": (0, 0),
        "temporal_shift": (200, 10),
    }


def test_probes_that_the_second_verifier_drops_are_replaced_and_counted() -> None:
    answers = iter(range(10_000))

    def check(rows: Sequence[Row]) -> list[Judged]:
        """Every fourth answer is wrong."""
        return [(wrong if next(answers) % 4 == 0 else right)([row])[0] for row in rows]

    found = made(check=check)
    assert len(found.kept) == 60
    assert {probe.check for probe in found.dropped} == {"label"}
    assert all(probe.check == ("unchecked" if probe.strategy == UNCHANGED else "agreed") for probe in found.kept)
    assert found.report.drop_rate == pytest.approx(0.25, abs=0.02)
    assert sum(sum(one.dropped.values()) for one in found.report.kinds.values()) == len(found.dropped)


def test_a_failure_of_the_second_verifier_is_not_agreement() -> None:
    found = made(check=failed)
    assert {probe.strategy for probe in found.kept} == {UNCHANGED}
    assert {probe.check for probe in found.dropped} == {"unverified"}
    assert found.report.drop_rate == 1.0


def test_the_second_verifier_has_to_agree_on_the_type_only_if_asked_to() -> None:
    def check(rows: Sequence[Row]) -> list[Judged]:
        return [said(row, row.attributable, None if row.attributable else "fabrication") for row in rows]

    [late] = [probe for probe in made().kept if probe.error_type == "temporal_shift"][:1]
    assert cross_checked([late], check)[0].check == "agreed"
    assert cross_checked([late], check, by_type=True)[0].check == "type"


def test_counts_by_strategy_agree_with_the_probes() -> None:
    found = made()
    kept = Counter(probe.strategy for probe in found.kept)
    for strategy, counts in found.report.strategies.items():
        assert counts["kept"] == kept[strategy]
        assert counts["checked"] == counts["dropped"] == 0
        if strategy != UNCHANGED:
            assert counts["drafted"] >= counts["filtered"] + counts["kept"]


@pytest.mark.parametrize("changes", [{"budget": 0}, {"safe_share": 1.0}, {"safe_share": -0.1}])
def test_a_plan_out_of_range_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="budget must be at least 1"):
        ProbePlan(**{"budget": 10, **changes})  # pyright: ignore[reportArgumentType]


def test_a_file_of_probes_trains_the_encoder_and_is_read_back(tmp_path: Path) -> None:
    from recipes.encoder.rows import read_set

    path = tmp_path / "probes.jsonl"
    probes = made().kept
    write_records(path, probes)
    assert tuple(read_records(path, Probe)) == probes
    units = read_set(path, "probes", 1_000, seed=0)
    # An error comes as a pair with what it was made from; a safe row alone.
    assert Counter(len(unit) for unit in units) == {2: 51, 1: 9}
    learned = {unit[1].claim: ERROR_TYPES[unit[1].error_type] for unit in units if len(unit) == 2}
    assert learned == {probe.claim: probe.error_type for probe in probes if probe.error_type}


def test_a_damaged_file_of_probes_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "probes.jsonl"
    write_records(path, made().kept[:2])
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], json.dumps({**json.loads(lines[1]), "label": "maybe"})]), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2 is not a valid record \(label: Input should be"):
        read_records(path, Probe)


def test_rows_with_one_id_in_two_sets_get_their_own_answers() -> None:
    twice = [
        Probe(
            "1/written-fabrication",
            f"It {done} in 1973.",
            "It opened in 1973.",
            "Not Attributable",
            "fabrication",
            "written",
            "It opened in 1973.",
            (),
            "1",
            "1",
            name,
        )
        for name, done in (("a", "closed"), ("b", "opened"))
    ]
    checked = cross_checked(twice, lambda rows: [said(rows[0], False), said(rows[1], True)])
    assert [probe.check for probe in checked] == ["agreed", "label"]


def test_rows_without_probes_have_to_be_disjoint_too() -> None:
    with pytest.raises(InputError, match="share a claim, a source or a document"):
        make_probes(ROWS, WEIGHTS, ProbePlan(6, sets=("boats",)), held=[boat(100, "ferries")])
