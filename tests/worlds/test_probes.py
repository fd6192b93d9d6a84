"""The world of probes: what the start has not seen, equal budgets, disjoint rows, and what the oracle counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.world_probes import ARMS, DEV, WEAK, WORLD, config_of, outcome_of, row_as, write_rows
from vouching.evolve.records import Judged
from vouching.evolve.rows import keys_of, read_rows
from vouching.train.sft import read_chats


def test_every_arm_has_the_same_probes_and_replayed_rows_and_another_source() -> None:
    configs = {
        arm: config_of(Path("folder"), ["model=start", "max_steps=150", "seed=1", *settings])
        for arm, settings in ARMS.items()
    }
    assert {arm: config.source for arm, config in configs.items()} == {arm: arm for arm in ARMS}
    for config in configs.values():
        assert (config.probes_by_round, config.replay, config.seed) == ((150, 300, 600), 150, 1)
        assert (config.structured.model, config.train, config.dev) == (
            "start", ("folder/train.jsonl",), ("folder/dev.jsonl",)
        )  # fmt: skip
        assert config.structured.run_of("full").lora.rank == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probes")
    write_rows(path, 60)
    return path


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
