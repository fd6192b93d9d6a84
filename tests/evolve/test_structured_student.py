"""A Qwen2 of two layers evolves: rules, LoRA, all weights; from a supervised or a rewarded start; killed on the way."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train.forked import dying_at, in_child, told_always
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError, InputError, TrainingError
from vouching.evolve.config import EvolveConfig, start_of
from vouching.evolve.loop import evolve, folder_of, read_judged
from vouching.evolve.records import Judged, Probe, Row, Student, write_records
from vouching.evolve.reflect import rules_from
from vouching.evolve.structured import (
    StructuredSettings,
    StructuredStudent,
    open_student,
    prompt_with,
    start_student,
)
from vouching.evolve.structured_examples import ExampleCounts, write_examples
from vouching.methods.training import LoraSettings, Plan
from vouching.settings import read_settings
from vouching.train.sft import SftConfig

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

ROW = Row("r", "It opened in 1948.", "It opened in 1931.", "Not Attributable", "toy", error_type="temporal_shift")
GOLD = Row("g", "It opened in 1931.", "It opened in 1931.", "Attributable", "toy")
DEV = [replace(ROW, id=f"d{number}", label="Attributable", error_type=None) for number in range(3)]
RULES = rules_from([Judged(row, 0.1, "Not Attributable", "temporal_shift") for row in DEV])


def probe(number: int, check: Any = "agreed") -> Probe:
    given, was = ROW, GOLD.claim
    return Probe(
        f"r/{number}",
        given.claim,
        given.source,
        given.label,
        given.error_type,
        "date_shift",
        was,
        (),
        "r",
        "r",
        "toy",
        check,
    )


PROBES = [probe(number) for number in range(16)]
TOML = """
rows = ["its own"]
model = "its own"
batch_prompts = 1
max_steps = {steps}
learning_rate = {rate}
schedule = "constant"
warmup = 0.0
device = "cpu"
allow_dropped = 0.5

[lora]
rank = {rank}
dropout = 0.2

[watch]
checkpoint_every = {every}
"""


def settings(model: Path, folder: Path, steps: int = 4, rate: float = 1e-3, **changed: Any) -> StructuredSettings:
    """Rounds of few steps, one chat at a time."""
    every = 2 if steps < 10 else steps
    for name, rank in (("lora", 4), ("full", 0)):
        text = TOML.format(steps=steps, rank=rank, rate=rate, every=every)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    files = {name: str(folder / f"{name}.toml") for name in ("lora", "full")}
    return StructuredSettings(**{"model": str(model), **files, "max_tokens": 300, **changed})


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights, and beside it sixteen chats of one record, half of them under the rule."""
    folder = tmp_path_factory.mktemp("evolve")
    for name, rules in (("plain", ()), ("ruled", RULES)):
        write_examples(folder / f"{name}.jsonl", prompt_with(rules), PROBES[:8], [])
    lines = [line for name in ("plain", "ruled") for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    (folder / "sft.jsonl").write_text("\n".join(lines), encoding="utf-8")
    texts = [message["content"] for line in lines for message in json.loads(line)["messages"]]
    return write_tiny_qwen(folder / "qwen", texts, 2048, 2048)


@pytest.fixture(scope="module")
def supervised(qwen: Path) -> Path:
    """The same after supervised training on those."""
    from vouching.train.sft import train_sft

    settings(qwen, qwen.parent, 95, 5e-3)
    config = read_settings(
        SftConfig,
        qwen.parent / "full.toml",
        [f'rows=["{qwen.parent}/sft.jsonl"]', f'model="{qwen}"', "batch_prompts=2"],
    )
    return train_sft(config, qwen.parent / "sft")


@pytest.fixture(scope="module")
def rewarded(supervised: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapters that a step of GRPO has made on that."""
    from tests.train.engine_runs import config, rows, vowel_game
    from vouching.train.fit import train_game

    game = config(supervised, max_steps=1, lora=LoraSettings(rank=4))
    return train_game(
        game, tmp_path_factory.mktemp("grpo") / "run", plan=Plan(vowel_game(), rows(2), [], best_by="reward")
    )


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    [path] = [*folder.glob("*model.safetensors")]
    return load_file(path)


def chats_of(student: StructuredStudent) -> list[dict[str, Any]]:
    text = (student.folder / "examples.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_model_that_was_taught_a_record_gives_the_verdict_with_its_quotes(supervised: Path, tmp_path: Path) -> None:
    student: Student = start_student(settings(supervised, tmp_path), tmp_path / "round-0")
    [judged] = student.verify([ROW])
    assert (judged.label, judged.error_type) == ("Not Attributable", "temporal_shift")


def test_the_loop_takes_a_rewarded_model_through_rules_adapters_and_all_weights(rewarded: Path, tmp_path: Path) -> None:
    # It says of this what it was taught. Where gold says otherwise it fails, and three failures are a rule: the rule
    # that it has been taught to answer under.
    write_records(tmp_path / "dev.jsonl", DEV)
    closed = "The mill at the lake closed in 1964."
    mill = Row("m", closed, f"{closed} Nobody has used it since.", "Attributable", "toy")
    write_records(tmp_path / "train.jsonl", [mill])
    config = EvolveConfig(
        (str(tmp_path / "train.jsonl"),),
        (str(tmp_path / "dev.jsonl"),),
        probes=4,
        replay=1,
        resamples=100,
        structured=settings(rewarded, tmp_path, rate=1e-6),
    )
    rounds = evolve(config, tmp_path / "run", start_of(config))
    assert [(one.number, one.base) for one in rounds] == [(0, None), (1, 0), (2, 1), (3, 2), (4, 3)]
    for number in range(5):
        assert [one.label for one in read_judged(tmp_path / "run", number)] == ["Not Attributable"] * 3
    start, ruled, adapted, whole, last = (
        open_student(folder_of(tmp_path / "run", number) / "student") for number in range(5)
    )
    assert ruled.state == replace(start.state, rules=RULES, round=1)
    assert not (ruled.folder / "run").exists()
    # LoRA goes on with the adapters of the start, under that rule.
    before, after = weights(rewarded), weights(Path(adapted.state.model))
    assert before.keys() == after.keys()
    assert any((before[name] != after[name]).any() for name in before)
    assert adapted.state.taught is not None
    assert adapted.state.taught.written == rounds[2].probes + 1
    assert {chat["messages"][0]["content"] for chat in chats_of(adapted)} == {prompt_with(RULES).system}
    # Adapters are merged into the whole that is trained next, and what was merged is not kept.
    for student in (whole, last):
        assert not any("lora" in name for name in weights(Path(student.state.model)))
        assert not (student.folder / "start").exists()
    assert json.loads((last.folder / "run/run.json").read_text())["settings"]["model"] == whole.state.model
    # What is done is not done again.
    written = (last.folder / "student.json").stat().st_mtime_ns
    assert whole.refine(4, [], [], (), last.folder).state == last.state
    assert (last.folder / "student.json").stat().st_mtime_ns == written


def test_a_start_that_cannot_be_refined_is_refused_at_once(qwen: Path, tmp_path: Path) -> None:
    asked = settings(qwen, tmp_path)
    for wrong, message in (
        (replace(asked, model=str(tmp_path)), "must be the folder DIR/model"),
        (replace(asked, full=""), "set structured.full to a TOML file"),
        (replace(asked, lora=asked.full), "lora.rank must be above 0 for the stage lora, got 0"),
        (replace(asked, full=asked.lora), "lora.rank must be 0 for the stage full, got 4"),
    ):
        with pytest.raises(ConfigError, match=message):
            start_student(wrong, tmp_path / "round-0")
    assert not (tmp_path / "round-0").exists()
    start_student(asked, tmp_path / "round-0")
    with pytest.raises(ConfigError, match="contains another student"):
        start_student(replace(asked, max_tokens=7), tmp_path / "round-0")


def test_a_round_trained_in_two_processes_has_the_weights_of_one(
    qwen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    (tmp_path / "files").mkdir()
    plain = settings(qwen, tmp_path / "files", steps=2, stages=("full",))
    file = Path(plain.full)
    file.write_text(file.read_text(encoding="utf-8").replace("batch_prompts = 1", "batch_prompts = 4"))
    launched = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    made = {}
    for name, launch in (("one", ()), ("two", launched)):
        start = start_student(replace(plain, launch=launch), tmp_path / name / "round-0")
        made[name] = weights(Path(start.refine(1, PROBES[:8], [], (), tmp_path / name / "round-1").state.model))
    for name, value in made["one"].items():
        assert torch.allclose(value, made["two"][name], atol=1e-6), name
    start = start_student(replace(plain, launch=(sys.executable, "-c", "raise SystemExit(3)")), tmp_path / "no")
    with pytest.raises(TrainingError, match="ended with status"):
        start.refine(1, PROBES[:8], [], (), tmp_path / "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match=r"runs in one process: .* set structured.launch"):
        start_student(plain, tmp_path / "other")


def test_a_round_that_was_killed_and_called_again_ends_like_one_that_was_not(qwen: Path, tmp_path: Path) -> None:
    start = start_student(settings(qwen, tmp_path), tmp_path / "round-0")
    # No example is made from a probe that the second verifier refused.
    whole = start.refine(2, [*PROBES, probe(99, "label")], [], (), tmp_path / "whole")
    assert whole.state.taught == ExampleCounts(len(PROBES), {})
    dying = start_student(settings(qwen, tmp_path), tmp_path / "round-0", dying_at("step 3 "))
    killed = in_child(told_always(lambda: dying.refine(2, PROBES, [], (), tmp_path / "cut")))
    assert killed == -signal.SIGKILL
    # It died after the checkpoint of step 2, in the middle of the round: there is no student yet.
    with pytest.raises(InputError, match=r"student\.json"):
        open_student(tmp_path / "cut")
    resumed = start.refine(2, PROBES, [], (), tmp_path / "cut")
    assert chats_of(resumed) == chats_of(whole)
    first, second = (weights(Path(student.state.model)) for student in (whole, resumed))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    # Adapters answer on the model that they were made for.
    assert resumed.model_name == f"local:{qwen}#{tmp_path / 'cut/run/model'}"
