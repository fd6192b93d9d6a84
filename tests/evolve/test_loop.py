"""Rounds: budgets, what guides them, what the gate does, and a kill at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evolve.boats import boat, failed, wrong
from tests.evolve.scholar import start
from vouching.errors import InputError
from vouching.evolve.config import EvolveConfig
from vouching.evolve.loop import config_of, evolve, fingerprint, folder_of, read_judged, rounds_of
from vouching.evolve.probe import typed_rows
from vouching.evolve.records import Judged, Probe, Row, read_records, write_records

SCHOLAR = Path(__file__).with_name("scholar.py")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> EvolveConfig:
    """90 boats to learn from; 40 ferries, and 12 errors of each type in such, to be guided by."""
    folder = tmp_path_factory.mktemp("rows")
    held = [boat(number, "ferries") for number in range(100, 140)]
    write_records(folder / "train.jsonl", [boat(number) for number in range(90)])
    write_records(folder / "dev.jsonl", [*held, *typed_rows(held, 12)])
    return EvolveConfig(
        train=(str(folder / "train.jsonl"),),
        dev=(str(folder / "dev.jsonl"),),
        rounds=2,
        probes=60,
        replay=20,
        resamples=200,
    )


@pytest.fixture(scope="module")
def whole(config: EvolveConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evolution that nothing cut short."""
    out = tmp_path_factory.mktemp("whole") / "out"
    evolve(config, out, start)
    return out


def probes_of(out: Path, number: int) -> list[Probe]:
    return read_records(folder_of(out, number) / "probes.jsonl", Probe)


@pytest.mark.parametrize("source", ["weakness", "random", "mixed"])
def test_every_source_of_probes_gets_the_same_budget(config: EvolveConfig, tmp_path: Path, source: str) -> None:
    rounds = evolve(replace(config, source=source), tmp_path / "a", start)
    assert [(one.probes, one.replay) for one in rounds] == [(0, 0), (60, 20), (60, 20)]
    for number in (1, 2):
        assert sum(probe.label == "Attributable" for probe in probes_of(tmp_path / "a", number)) == 9  # .15 of 60
        assert len(read_records(folder_of(tmp_path / "a", number) / "replay.jsonl", Row)) == 20
    assert config_of(tmp_path / "a") == replace(config, source=source)


def test_a_round_has_the_numbers_that_are_set_for_it(config: EvolveConfig, tmp_path: Path) -> None:
    # As in the paper's budgets (App. L): nothing is replayed before the third round.
    settings = replace(config, rounds=3, probes_by_round=(12, 12, 18), replay_by_round=(0, 0, 6))
    rounds = evolve(settings, tmp_path / "a", start)
    assert [one.probes + one.replay for one in rounds] == [0, 12, 12, 24]


def test_a_second_verifier_may_have_to_agree_on_the_type(config: EvolveConfig, tmp_path: Path) -> None:
    def always_temporal(rows: Sequence[Row]) -> list[Judged]:
        return [Judged(row, 0.1, "Not Attributable", "temporal_shift") for row in rows]

    settings = replace(config, rounds=1, safe_share=0.0, cross_check="embedded:rules", check_types=True)
    evolve(settings, tmp_path / "a", start, check=always_temporal)
    assert {probe.error_type for probe in probes_of(tmp_path / "a", 1)} == {"temporal_shift"}
    evolve(replace(settings, check_types=False), tmp_path / "b", start, check=always_temporal)
    assert {probe.error_type for probe in probes_of(tmp_path / "b", 1)} > {"temporal_shift"}


def test_the_next_round_is_trained_on_what_was_not_found(config: EvolveConfig, tmp_path: Path) -> None:
    """Of 60 probes 51 have errors: 8 or 9 of each of six types, fewer than the ten that the scholar needs, so that it
    stays as it was and the weights stay even. Of 78 probes 66 have errors, 11 of each type: then all are found.
    """
    evolve(replace(config, rounds=1), tmp_path / "few", start)
    assert not any(one.label == "Not Attributable" for one in read_judged(tmp_path / "few", 1))
    evolve(replace(config, rounds=1, probes=78), tmp_path / "many", start)
    assert {*Counter(probe.error_type for probe in probes_of(tmp_path / "many", 1)).values()} == {11, 12}
    assert all(one.right for one in read_judged(tmp_path / "many", 1))


def test_later_rounds_do_not_start_from_a_refused_one(config: EvolveConfig, tmp_path: Path) -> None:
    """78 probes teach all types and 60 none. A scholar that knows all and goes on with 60 forgets everything: the gate
    refuses that each time, and every round starts from round 1.
    """
    out, settings = tmp_path / "a", replace(config, rounds=3, gate="harm", watched=("typed",))
    evolve(replace(settings, probes=78, rounds=1), out, start)
    note = json.loads((out / "run.json").read_text(encoding="utf-8"))
    note["settings"] |= {"probes": 60, "rounds": 3}
    (out / "run.json").write_text(json.dumps(note), encoding="utf-8")
    rounds = evolve(settings, out, start, resume=True)
    assert [one.stays for one in rounds] == [True, True, False, False]
    assert [one.base for one in rounds] == [None, 0, 1, 1]
    assert [probe.id for probe in probes_of(out, 2)] != [probe.id for probe in probes_of(out, 3)]
    found = fingerprint(out, 200)
    assert found.stays == (True, True, False, False)
    assert found.line("typed").levels == (0.0, 1.0, 0.0, 0.0)
    assert found.saturated_after is None  # 0 and 1 in every resample leave no interval


@pytest.mark.parametrize(("stage", "number"), [("verify", 0), ("before", 1), ("after", 1), ("verify", 2)])
def test_a_killed_and_resumed_evolution_ends_like_one_that_was_not(
    config: EvolveConfig, whole: Path, tmp_path: Path, stage: str, number: int
) -> None:
    toml, cut = tmp_path / "evolve.toml", tmp_path / "cut"
    names = ("train", "dev", "rounds", "probes", "replay", "resamples")
    lines = [f"{name} = {json.dumps(getattr(config, name))}" for name in names]
    toml.write_text("\n".join(lines), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCHOLAR.parents[2]), *sys.path])}
    command = [sys.executable, str(SCHOLAR), str(toml), str(cut), stage, str(number)]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    evolve(config, cut, start, resume=True)
    assert fingerprint(cut, 200) == fingerprint(whole, 200)
    files = [path.relative_to(whole) for path in whole.rglob("*") if path.is_file()]
    assert len(files) >= 18
    for name in files:
        if name.name not in ("run.json", "round.json"):  # which say when, and how long it took
            assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


def test_a_finished_evolution_is_not_done_again(config: EvolveConfig, whole: Path) -> None:
    with pytest.raises(InputError, match="--resume"):
        evolve(config, whole, start)
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*.json*") if path.name != "known.json"}
    assert evolve(config, whole, start, resume=True) == rounds_of(whole)
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_other_settings_are_refused(config: EvolveConfig, whole: Path) -> None:
    with pytest.raises(InputError, match="source"):
        evolve(replace(config, source="random"), whole, start, resume=True)


def test_dev_rows_are_never_trained_on(config: EvolveConfig, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="share a claim, a source or a document"):
        evolve(replace(config, train=config.dev), tmp_path / "a", start)


def test_dev_rows_are_not_replayed_either(config: EvolveConfig, tmp_path: Path) -> None:
    files = (*config.train, *config.dev)  # the ferries guide, and are among what is learned from
    with pytest.raises(InputError, match="share a claim, a source or a document"):
        evolve(replace(config, train=files, sets=("boats",)), tmp_path / "a", start)
    assert not (tmp_path / "a").exists()  # before anything was trained


def test_all_rows_together_can_be_watched_in_a_single_set(config: EvolveConfig, tmp_path: Path) -> None:
    write_records(tmp_path / "dev.jsonl", [boat(number, "ferries") for number in range(100, 120)])
    settings = replace(config, dev=(str(tmp_path / "dev.jsonl"),), rounds=1, gate="harm", watched=("all",))
    assert [one.stays for one in evolve(settings, tmp_path / "a", start)] == [True, True]


def test_an_unknown_set_cannot_be_watched(config: EvolveConfig, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown set 'feries' in watched"):
        evolve(replace(config, gate="harm", watched=("feries",)), tmp_path / "a", start)
    assert not (tmp_path / "a").exists()


def test_rows_are_needed(config: EvolveConfig, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got 0 rows in train"):
        evolve(replace(config, train=()), tmp_path / "a", start)
    with pytest.raises(InputError, match="no finished round"):
        rounds_of(tmp_path)


class Mute:
    """A scholar that answers nothing once it was refined."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        return failed(rows)

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> Mute:
        return Mute(out)


class MuteSoon(Mute):
    """What it is before."""

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        return wrong(rows)


def test_a_round_that_answers_nothing_is_refused_by_the_gate_and_ends_an_evolution_without_one(
    config: EvolveConfig, tmp_path: Path
) -> None:
    gated = evolve(replace(config, gate="harm"), tmp_path / "gated", lambda folder, _: MuteSoon(folder))
    assert [(one.base, one.stays) for one in gated] == [(None, True), (0, False), (0, False)]
    with pytest.raises(InputError, match="round 1 answered no dev row"):
        evolve(config, tmp_path / "open", lambda folder, _: MuteSoon(folder))
