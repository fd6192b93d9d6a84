"""The world of probes: what the start has not seen, equal numbers of probes, sets, disjoint rows, the oracle."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.world_probes import (
    ARMS,
    DEV,
    WEAK,
    WORLD,
    config_of,
    expected_probes,
    outcome_of,
    refuse_uneven,
    row_as,
    wording_of,
    write_rows,
)
from recipes.worlds.claims import CLAIMS
from vouching.errors import InputError
from vouching.evolve.loop import Round
from vouching.evolve.probe import ProbePlan, make_probes
from vouching.evolve.records import Judged, Probe
from vouching.evolve.rows import keys_of, read_rows
from vouching.train.sft import read_chats
from vouching.types.spans import ERROR_TYPES, ErrorType


def test_every_arm_has_the_same_probes_and_replayed_rows_and_another_source() -> None:
    configs = {
        arm: config_of(Path("folder"), ["model=start", "max_steps=150", "seed=1", *settings])
        for arm, settings in ARMS.items()
    }
    assert {arm: config.source for arm, config in configs.items()} == {arm: arm for arm in ARMS}
    for config in configs.values():
        assert (config.probes_by_round, config.replay, config.seed) == ((150, 300, 600), 150, 1)
        assert (config.structured.model, config.train, config.dev) == (
            "start",
            ("folder/train.jsonl",),
            ("folder/dev.jsonl",),
        )
        assert config.structured.run_of("full").lora.rank == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probes")
    write_rows(path, 60)
    return path


def probes_of_arm(folder: Path, arm: str, weights: dict[ErrorType, float]) -> tuple[Probe, ...]:
    """The probes of an arm's first round, of 30."""
    config = config_of(folder, ["model=start", "max_steps=30", "seed=0", *ARMS[arm]])
    plan = ProbePlan(30, config.source, config.safe_share, config.sets, seed=1)
    return make_probes(read_rows(folder / "train.jsonl"), weights, plan, read_rows(folder / "dev.jsonl")).kept


def test_arms_have_equally_many_probes_of_other_types_or_sets(folder: Path) -> None:
    # Of 30 probes 5 are safe, and of the rest a sixth is of scope, which no strategy makes here: 25.75 are expected.
    weights: dict[ErrorType, float] = dict.fromkeys(ERROR_TYPES, 1 / 12)
    weights["temporal_shift"], weights["scope_inflation"] = 1 / 2, 1 / 6
    found = {arm: probes_of_arm(folder, arm, weights) for arm in ARMS}
    config = config_of(folder, ["model=start", "max_steps=30", "seed=0"])
    assert expected_probes(config, 1) == 26
    assert all(abs(len(probes) - 26) <= 1 for probes in found.values())
    sets = {arm: Counter(probe.data_set for probe in probes) for arm, probes in found.items()}
    assert set(sets["weakness"]) == set(sets["random"]) == {"early"}
    # Fabrications are made of early years alone; all other types come from both sets in turns.
    assert min(sets["mixed"]["early"], sets["mixed"]["late"]) >= 9
    years = {arm: sum(probe.error_type == "temporal_shift" for probe in probes) for arm, probes in found.items()}
    assert years["weakness"] == years["mixed"] >= 2 * years["random"] > 0


def test_every_kind_of_fact_is_claimed_in_both_sets_and_all_three_parts_have_both(folder: Path) -> None:
    rows = WORLD.rows(200, seed=2, part="held-out")
    assert len({(row["kind"], wording_of(row["claim"])) for row in rows}) == 2 * len({row["kind"] for row in rows})
    for name in ("train", "dev"):
        assert {row.data_set for row in read_rows(folder / f"{name}.jsonl") if row.attributable} == {"early", "late"}


def test_rounds_with_too_few_probes_to_compare_arms_are_refused() -> None:
    config = config_of(Path("folder"), ["model=start", "max_steps=150", "seed=1"])
    # 600 without a sixth of 510 are 515; 2 % of 600 are 12.
    rounds = [Round(number, number - 1, True, probes, 150, 0.0) for number, probes in enumerate((0, 129, 257, 503))]
    refuse_uneven(config, rounds)
    rounds[3] = Round(3, 2, True, 502, 150, 0.0)
    with pytest.raises(InputError, match="round 3 was trained on 502 probes, but arms are compared at 515"):
        refuse_uneven(config, rounds)


def test_the_start_has_never_seen_a_wrong_owner_or_year(folder: Path) -> None:
    chats = read_chats([f"{folder}/right.jsonl", f"{folder}/imperfect.jsonl"])
    assert len(chats) > 30
    said = [json.loads(chat.completion) for chat in chats]
    types = {one["error_type"] for one in said if one["label"] == "Not Attributable"}
    assert types
    assert not types & {"entity_substitution", "temporal_shift"}


def test_rows_that_guide_the_rounds_share_nothing_with_those_that_probes_are_made_from(folder: Path) -> None:
    train, dev = (read_rows(folder / f"{name}.jsonl") for name in ("train", "dev"))
    assert len(train) > 30
    assert keys_of(train).isdisjoint(keys_of(dev))
    assert all(row.attributable for row in train)
    wrong = [row.error_type for row in dev if not row.attributable]
    assert len(wrong) == len(dev) / 2
    assert all(0 < wrong.count(kind) <= DEV for kind in {*wrong})


def test_the_oracle_counts_weak_errors_and_others_and_an_unread_answer_as_wrong() -> None:
    for row in WORLD.rows(40, 0):
        wrong = row["gold"] == "Not Attributable"
        weak = wrong and row["kind"] in WEAK
        right = outcome_of(row, Judged(row_as(row), 0.0 if wrong else 1.0, row["gold"], row["error_type"]))
        assert right["oracle/right"] == right["oracle/weak" if weak else "oracle/strong"] == 1.0
        assert right.get("oracle/type") == (1.0 if wrong else None)
        unread = outcome_of(row, Judged(row_as(row), unverified="unparsable"))
        assert unread["oracle/right"] == unread["oracle/readable"] == 0.0


def test_every_claim_names_a_measure_of_the_oracle() -> None:
    rows = WORLD.rows(60, 0)
    measures = {name for row in rows for name in outcome_of(row, Judged(row_as(row), 1.0, "Attributable"))}
    assert {claim.measure for claim in CLAIMS["probes"]} <= measures
