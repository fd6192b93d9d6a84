"""A Qwen2 of two layers evolves: rules, LoRA, all weights; from a supervised or a rewarded start; killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import InputError
from vouching.evolve.records import Probe, Row, Student, write_records
from vouching.evolve.structured import (
    Schooling,
    StructuredStudent,
    open_student,
    prompt_with,
    start_student,
)
from vouching.evolve.structured_lessons import write_lessons
from vouching.train.run_config import LoraSettings, WatchSettings
from vouching.train.runlog import read_records
from vouching.train.sft_config import SftConfig

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
RULES = ("Compare every date of the claim with the source.",)
ROW = Row("r", "It opened in 1948.", "It opened in 1931.", "Not Attributable", "toy", error_type="temporal_shift")
GOLD = Row("g", "It opened in 1931.", "It opened in 1931.", "Attributable", "toy")


def probe(number: int, check: Any = "agreed") -> Probe:
    given, was = ROW, GOLD.claim
    return Probe(
        f"r/{number}", given.claim, given.source, given.label, given.error_type, "date_shift", was, (), "r", "r", "toy",
        check,
    )  # fmt: skip


PROBES = [probe(number) for number in range(16)]


def schooling(**changed: Any) -> Schooling:
    """Rounds of a few steps, one chat at a time."""
    lora = SftConfig(
        rows=("its own",), model="its own", batch_rows=1, accumulate=1, most_steps=4, learning_rate=1e-2,
        schedule="constant", warmup=0.0, device="cpu", lora=LoraSettings(rank=4, dropout=0.2),
        watch=WatchSettings(checkpoint_every=2),
    )  # fmt: skip
    full = replace(lora, lora=LoraSettings(), most_steps=60, watch=WatchSettings(checkpoint_every=1000))
    return Schooling(**{"lora": lora, "full": full, "max_tokens": 300, **changed})


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokenizer makes few tokens of the prompt."""
    folder = tmp_path_factory.mktemp("evolve")
    write_lessons(folder / "lessons.jsonl", prompt_with(RULES), PROBES[:2], [GOLD])
    chats = [json.loads(line) for line in (folder / "lessons.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [message["content"] for chat in chats for message in chat["messages"]]
    return write_tiny_qwen(folder / "qwen", texts, 2048, 2048)


@pytest.fixture(scope="module")
def rewarded(qwen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapters that one step of GRPO has made."""
    from tests.train.engine_runs import config, rows, vowel_game
    from vouching.fit import fit

    settings = config(qwen, most_steps=1, lora=LoraSettings(rank=4))
    return fit(vowel_game(), (rows(2), []), settings, tmp_path_factory.mktemp("grpo") / "run", best_by="reward")


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    [path] = [*folder.glob("*model.safetensors")]
    return load_file(path)


def chats_of(student: StructuredStudent) -> list[dict[str, Any]]:
    text = (student.folder / "lessons.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_four_rounds_from_a_rewarded_start_put_rules_in_the_prompt_then_train_adapters_and_all_weights(
    rewarded: Path, tmp_path: Path
) -> None:
    start: Student = start_student(str(rewarded), schooling(), tmp_path / "round-0")
    # A model with random weights writes no records, and is not taken to have said anything.
    assert [one.unverified is None for one in start.verify([ROW])] == [False]

    told = start.refine(1, PROBES, [GOLD], RULES, tmp_path / "round-1")
    assert isinstance(told, StructuredStudent)
    assert told.pupil == replace(open_student(tmp_path / "round-0").pupil, rules=RULES, round=1)
    assert not (tmp_path / "round-1/run").exists()

    # LoRA goes on with the adapters of the start, on the prompt with its rules and on no probe that was refused.
    refused = [probe(99, "label")]
    adapted = told.refine(2, [*PROBES, *refused], [GOLD], ("another rule",), tmp_path / "round-2")
    assert adapted.pupil.rules == RULES
    assert adapted.pupil.taught is not None
    assert adapted.pupil.taught.written == len(PROBES) + 1
    chats = chats_of(adapted)
    assert {chat["messages"][0]["content"] for chat in chats} == {prompt_with(RULES).system}
    before, after = weights(rewarded), weights(tmp_path / "round-2/run/model")
    assert before.keys() == after.keys()
    assert any((before[name] != after[name]).any() for name in before)

    # Adapters are merged into the whole that is trained next, and what was merged is not kept.
    whole = adapted.refine(3, PROBES, [], RULES, tmp_path / "round-3")
    assert not any("lora" in name for name in weights(tmp_path / "round-3/run/model"))
    assert not (tmp_path / "round-3/start").exists()
    last = whole.refine(4, PROBES, [], RULES, tmp_path / "round-4")
    losses = [record["loss"] for name in ("round-3", "round-4") for record in read_records(tmp_path / name / "run")]
    assert losses[-1] < 0.05 * losses[0]
    # It has learned the one record that there was to learn, and writes it: a verdict, with quotes that are there.
    [judged] = last.verify([ROW])
    assert (judged.label, judged.error_type) == ("Not Attributable", "temporal_shift")

    # What is done is not done again.
    written = (tmp_path / "round-4/student.json").stat().st_mtime_ns
    assert whole.refine(4, [], [], (), tmp_path / "round-4").pupil == last.pupil
    assert (tmp_path / "round-4/student.json").stat().st_mtime_ns == written


KILLED = """
import os, signal, sys
from pathlib import Path
from vouching.evolve.records import Probe, read_records
from vouching.evolve.structured import open_student
import vouching.train.watch as watch

watch.TELL_EVERY = 1
write = sys.stderr.write

class Stops:
    def write(self, text):
        write(text)
        if text.startswith("step 3 "):
            os.kill(os.getpid(), signal.SIGKILL)
    def flush(self):
        pass

sys.stderr = Stops()
folder = Path(sys.argv[1])
open_student(folder / "round-0").refine(2, read_records(folder / "probes.jsonl", Probe), [], (), folder / "cut")
"""


def test_a_round_that_was_killed_and_called_again_ends_like_one_that_was_not(qwen: Path, tmp_path: Path) -> None:
    start = start_student(str(qwen), schooling(), tmp_path / "round-0")
    write_records(tmp_path / "probes.jsonl", PROBES)
    whole = start.refine(2, PROBES, [], (), tmp_path / "whole")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # It died after the checkpoint of step 2, in the middle of the round: there is no student yet.
    with pytest.raises(InputError, match=r"student\.json"):
        open_student(tmp_path / "cut")
    resumed = start.refine(2, PROBES, [], (), tmp_path / "cut")
    assert chats_of(resumed) == chats_of(whole)
    first, second = (weights(Path(student.pupil.model)) for student in (whole, resumed))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    # Adapters answer on the model that they were made for.
    assert resumed.model_name == f"local:{qwen}#{tmp_path / 'cut/run/model'}"
