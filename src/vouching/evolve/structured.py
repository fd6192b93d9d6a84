"""A language model behind ``structured`` as the student of self-evolution (SEVA, Algorithm 2 and App. L).

    FOLDER/student.json    weights, rules of the prompt, settings, counts of training examples
    FOLDER/examples.jsonl  the training examples of the round, as chats
    FOLDER/run/            the supervised run, see ``train.sft``; run/model are the weights

The start is any model that writes records: one trained by imitation (``vouch train sft``) or by rewards (``vouch train
structured``), with full weights or adapters. Round 1 adds rules to the system prompt and trains nothing, then come LoRA
and two rounds of full training, as in the paper; the prompt keeps its rules, as in Algorithm 2. LoRA rounds continue
existing adapters; full training merges them first. Not supported: training by rewards inside the loop (Round 0).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from vouching.errors import ConfigError, TrainingError
from vouching.evolve.records import Judged, Probe, Row, judged_as, read_record, write_record
from vouching.evolve.structured_examples import ExampleCounts, write_examples
from vouching.methods.structured.prompt import StructuredPrompt, Wording, structured_prompt
from vouching.methods.structured.teacher import Teacher
from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.methods.training import LoraSettings
from vouching.models.open import open_model
from vouching.models.running import all_of, run
from vouching.prompts import load_prompt
from vouching.settings import read_settings, settings_text
from vouching.train.checkpoint import MODEL
from vouching.train.policy import ADAPTER, adapter_base
from vouching.train.sft import SftConfig
from vouching.types import Claim, Source
from vouching.types.visible import visible_line

Stage: TypeAlias = Literal["rules", "lora", "full"]
"""What a round does: add rules to the prompt, train adapters, or train all weights."""
STUDENT = "student.json"
MAX_RULES = 12
"""Rules of a prompt; the first are for the most frequent failures."""
_LONGEST_RULE = 400
_PLACES = ('rows=["examples.jsonl"]', "model=start", "binary=[]", "dev=[]")
"""Placeholders for rows and model until a round has its own."""
_MERGED = "start"
"""Folder of the merged weights that full training starts from, until it has ended."""
_AT_ONCE = 256
"""Rows that are judged concurrently."""


@dataclass(frozen=True, slots=True)
class StructuredSettings:
    """How a language model is refined. Paths are relative to the working directory."""

    model: str = ""
    """Folder of the start: a model or adapters, of ``vouch train sft`` or ``vouch train structured``."""
    lora: str = ""
    """TOML file of ``vouch train sft`` with adapters, for LoRA rounds; its rows, model and dev are not used."""
    full: str = ""
    """The same without adapters, for rounds that train all weights."""
    stages: tuple[Stage, ...] = ("rules", "lora", "full", "full")
    """Of rounds 1, 2, ...; the last one repeats."""
    teacher: str = ""
    """Name of a stronger model that writes the records; empty to have rules write them, see ``structured_examples``."""
    max_tokens: int = 1024
    """Of a reply in verification."""
    wording: Wording = "ours"
    """The prompt of verification and training: ours, ours in few tokens, or SEVA's as printed; that of the start."""
    engine: Literal["local", "vllm"] = "local"
    """Of verification."""
    launch: tuple[str, ...] = ()
    """Command that starts the training of a round on several GPUs, such as torchrun --nproc_per_node 8; empty to train
    in this process. The evolution itself runs in one process.
    """

    def __post_init__(self) -> None:
        if not self.stages:
            raise ConfigError('stages must not be empty: list the stage of each round, as in ["rules", "lora", "full"]')

    def stage(self, round: int) -> Stage:
        """The stage of a round, from 1."""
        return self.stages[min(round, len(self.stages)) - 1]

    def run_of(self, stage: Stage) -> SftConfig:
        """The settings of a training round, without rows and model. Raises ConfigError if they do not fit the stage."""
        path = self.lora if stage == "lora" else self.full
        if not path:
            raise ConfigError(
                f"the stage {stage} requires settings: set structured.{stage} to a TOML file of vouch train sft"
            )
        found = read_settings(SftConfig, Path(path), _PLACES)
        if bool(found.lora.rank) != (stage == "lora"):
            expected = "above 0" if stage == "lora" else "0"
            raise ConfigError(f"{path}: lora.rank must be {expected} for the stage {stage}, got {found.lora.rank}")
        return found


@dataclass(frozen=True, slots=True)
class StudentState:
    """The content of ``student.json``."""

    model: str
    """Folder of its weights or adapters."""
    settings: StructuredSettings
    rules: tuple[str, ...] = ()
    """Rules that its system prompt adds to the shipped one."""
    round: int = 0
    """The round that made it; 0 for the start."""
    taught: ExampleCounts | None = None
    """The training examples of that round; None if nothing was trained."""


class StructuredStudent:
    """A language model with its prompt, in a folder; ``report`` gets its training's progress, else standard error."""

    def __init__(self, folder: Path, state: StudentState, report: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.state = state
        self._report = report

    @property
    def model_name(self) -> str:
        """Its model, as ``vouch check --model`` takes it, without the rules of its prompt."""
        folder = Path(self.state.model)
        adapted = (folder / ADAPTER).is_file()
        return f"{self.state.settings.engine}:" + (f"{adapter_base(folder)}#{folder}" if adapted else str(folder))

    def verifier(self) -> StructuredVerifier:
        """Its model with its prompt; revised claims are not judged again. Raises ConfigError if it cannot be loaded."""
        config = StructuredConfig(max_tokens=self.state.settings.max_tokens, recheck=False)
        return StructuredVerifier(open_model(self.model_name), config, prompt=self._prompt())

    def _prompt(self) -> StructuredPrompt:
        return prompt_with(self.state.rules, self.state.settings.wording)

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order."""
        return run(_verify(self.verifier(), rows))

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> StructuredStudent:
        """The student of the next round; one that was killed resumes, and ends like one that was not.

        Raises InputError if no probe or row gives a training example, or ``out`` cannot be used.
        """
        if (out / STUDENT).is_file():
            return open_student(out, self._report)
        out = out.resolve()  # a run that resumes elsewhere has to find its files under the same names
        stage = self.state.settings.stage(round)
        if stage == "rules":
            state = replace(self.state, rules=tuple(rules[:MAX_RULES]), round=round, taught=None)
        else:
            taught = self._examples(probes, replay, out)
            state = replace(self.state, model=str(self._train(stage, out)), round=round, taught=taught)
        write_record(out / STUDENT, state)
        shutil.rmtree(out / _MERGED, ignore_errors=True)
        return StructuredStudent(out, state, self._report)

    def _examples(self, probes: Sequence[Probe], replay: Sequence[Row], out: Path) -> ExampleCounts:
        """Write the training examples, once: a teacher may write others the next time."""
        done = out / "examples.json"
        if not done.is_file():
            name = self.state.settings.teacher
            teacher = Teacher(open_model(name), ("label", "error_type", "fix", "grounded")) if name else None
            sound = [probe for probe in probes if probe.check in {"agreed", "unchecked"}]
            write_record(done, write_examples(out / "examples.jsonl", self._prompt(), sound, replay, teacher))
        return read_record(done, ExampleCounts)

    def _train(self, stage: Stage, out: Path) -> Path:
        """Train on the examples of a round. Returns the folder of the weights."""
        from vouching.train.export import merge_adapters
        from vouching.train.sft import train_sft

        config, start = self.state.settings.run_of(stage), Path(self.state.model)
        if (start / ADAPTER).is_file():
            if stage == "lora":
                config = replace(config, lora=LoraSettings())  # existing adapters are trained further
            else:
                start = out / _MERGED
                if not start.is_dir():
                    fresh = out / f"{_MERGED}.new"
                    shutil.rmtree(fresh, ignore_errors=True)
                    merge_adapters(Path(self.state.model), fresh)
                    fresh.replace(start)
        config = replace(config, model=str(start), rows=(str(out / "examples.jsonl"),), binary=(), dev=())
        if self.state.settings.launch:
            return _train_elsewhere(config, self.state.settings.launch, out)
        return train_sft(config, out / "run", (out / "run").exists(), self._report)


def _train_elsewhere(config: SftConfig, launch: Sequence[str], out: Path) -> Path:
    """Train by ``vouch train sft`` in processes that a command starts. Returns the folder of the weights.

    Raises:
        ConfigError: the command cannot be started.
        TrainingError: it failed; its messages are on standard error.
    """
    file = out / "run.toml"
    file.write_text(settings_text(config), encoding="utf-8")
    resume = ("--resume",) if (out / "run").exists() else ()
    module = ("-m", "vouching.cli.app", "train", "sft", str(file), "--out", str(out / "run"), *resume)
    try:
        ended = subprocess.run((*launch, *module), check=False).returncode
    except OSError as error:
        raise ConfigError(f"cannot start {launch[0]} ({error}): set structured.launch to another command") from None
    if ended:
        raise TrainingError(
            f"the training of a round ended with status {ended}: see the messages above, and run the same command again"
        )
    return out / "run" / MODEL


def start_student(
    settings: StructuredSettings, folder: Path, report: Callable[[str], None] | None = None
) -> StructuredStudent:
    """The student of round 0, written to its folder unless it is there already.

    Raises ConfigError if there is no model, a round's settings cannot be used, or ``folder`` has another student.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ConfigError(
            "the evolution of a language model runs in one process: start vouch evolve run without torchrun, and set "
            'structured.launch, for example to ["torchrun", "--nproc_per_node", "8"]'
        )
    if not settings.model or not any((Path(settings.model) / name).is_file() for name in ("config.json", ADAPTER)):
        raise ConfigError(
            f"structured.model must be the folder DIR/model of a training run, got {settings.model!r}; "
            "recipes/evolve/embedded.py evolves the embedded verifier"
        )
    for stage in settings.stages:
        if stage != "rules":
            settings.run_of(stage)
    state = StudentState(str(Path(settings.model).resolve()), settings)
    if (folder / STUDENT).is_file() and open_student(folder).state != state:
        raise ConfigError(f"{folder} contains another student: choose another folder, or start from the same model")
    write_record(folder / STUDENT, state)
    return StructuredStudent(folder, state, report)


def open_student(folder: Path, report: Callable[[str], None] | None = None) -> StructuredStudent:
    """The student in a folder. Raises InputError if there is none."""
    return StructuredStudent(folder, read_record(folder / STUDENT, StudentState), report)


def prompt_with(rules: Sequence[str], wording: Wording = "ours") -> StructuredPrompt:
    """The prompt in a wording, with rules after its constant part, each on one line of at most 400 characters."""
    prompt = structured_prompt(wording=wording)
    if not rules:
        return prompt
    listed = "\n".join(f"- {visible_line(rule)[:_LONGEST_RULE]}" for rule in rules)
    filled = load_prompt("vouching.evolve", "structured_rules").fill(system=prompt.system, rules=listed)
    return replace(prompt, system=filled.strip())


async def _verify(verifier: StructuredVerifier, rows: Sequence[Row]) -> list[Judged]:
    async def asked(row: Row) -> Judged:
        [outcome] = await verifier.verify([Claim(row.claim, row.id)], [Source(row.source)])
        return judged_as(row, outcome)

    judged: list[Judged] = []
    try:
        for first in range(0, len(rows), _AT_ONCE):
            judged += await all_of(asked(row) for row in rows[first : first + _AT_ONCE])
    finally:
        await verifier.aclose()
    return judged
