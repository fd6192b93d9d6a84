"""A language model behind ``structured`` as the student of self-evolution (SEVA, Algorithm 2 and App. L).

    FOLDER/student.json    weights, rules in the prompt, settings, what became of the probes
    FOLDER/examples.jsonl   the chats that a round taught
    FOLDER/run/            the supervised run, see ``train.sft``; run/model are the weights

The start is any model that writes records: one trained by imitation (``vouch train sft``) or by rewards (``vouch train
structured``), whole or with adapters. Round 1 puts rules into the system prompt and trains nothing, then come LoRA and
two rounds of full training, as in the paper; the prompt keeps its rules, as Algorithm 2 has it. Adapters go on being
trained by LoRA and are merged before full training. Left out: training by rewards inside the loop, which is Round 0.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from vouching.errors import ConfigError
from vouching.evolve.records import Judged, Probe, Row, judged_as, read_record, write_record
from vouching.evolve.structured_examples import Taught, write_examples
from vouching.methods.structured.prompt import StructuredPrompt, structured_prompt
from vouching.methods.structured.teacher import Teacher
from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.methods.training import LoraSettings
from vouching.models.open import open_model
from vouching.models.running import all_of, run
from vouching.prompts import load_prompt
from vouching.settings import read_settings
from vouching.train.policy import ADAPTER, adapter_base
from vouching.train.sft import SftConfig
from vouching.types import Claim, Source
from vouching.types.visible import visible_line

Stage: TypeAlias = Literal["rules", "lora", "full"]
"""What a round does: rules into the prompt, adapters, all weights."""
STUDENT = "student.json"
MAX_RULES = 12
"""Rules that a prompt takes; the first are of the most frequent failures."""
_LONGEST_RULE = 400
_PLACES = ('rows=["examples.jsonl"]', "model=start", "binary=[]", "dev=[]")
"""What stands for rows and model until a round has its own."""
_MERGED = "start"
"""Folder of what full training starts from, until it has ended."""
_AT_ONCE = 256
"""Rows that are asked about at the same time."""


@dataclass(frozen=True, slots=True)
class StructuredSettings:
    """How a language model is refined. Paths are relative to the working directory.

    >>> StructuredSettings().stage(2), StructuredSettings().stage(7)
    ('lora', 'full')
    """

    model: str = ""
    """Folder of the start: a model or adapters, of ``vouch train sft`` or ``vouch train structured``."""
    lora: str = ""
    """TOML file of ``vouch train sft`` with adapters, for LoRA rounds; its rows, model and dev are not used."""
    full: str = ""
    """The same without adapters, for rounds that train all weights."""
    stages: tuple[Stage, ...] = ("rules", "lora", "full", "full")
    """What round 1, 2, ... does; the last goes for all that follow."""
    teacher: str = ""
    """Name of a stronger model that writes the records; empty to have rules write them, see ``structured_examples``."""
    max_tokens: int = 1024
    """Length of a reply when it verifies."""
    engine: Literal["local", "vllm"] = "local"
    """What it runs on when it verifies."""

    def __post_init__(self) -> None:
        if not self.stages:
            raise ConfigError('stages is empty: name what rounds do, as in ["rules", "lora", "full"]')

    def stage(self, round: int) -> Stage:
        """What a round does, from 1."""
        return self.stages[min(round, len(self.stages)) - 1]

    def run_of(self, stage: Stage) -> SftConfig:
        """The settings of a round that trains; rows and model are to be put in. Raises ConfigError for unfit ones."""
        path = self.lora if stage == "lora" else self.full
        if not path:
            raise ConfigError(f"a round does {stage}: name a TOML file of vouch train sft as structured.{stage}")
        found = read_settings(SftConfig, Path(path), _PLACES)
        if bool(found.lora.rank) != (stage == "lora"):
            wanted = "above 0" if stage == "lora" else "0"
            raise ConfigError(
                f"{path} has lora.rank {found.lora.rank}: for a round that does {stage} it has to be {wanted}"
            )
        return found


@dataclass(frozen=True, slots=True)
class Pupil:
    """What a student is: all that ``student.json`` holds."""

    model: str
    """Folder of its weights or adapters."""
    settings: StructuredSettings
    """How it is refined."""
    rules: tuple[str, ...] = ()
    """What its system prompt says beyond the shipped one."""
    round: int = 0
    """The round that it came out of; 0 for the start."""
    taught: Taught | None = None
    """What became of the rows of that round; None where nothing was trained."""


class StructuredStudent:
    """A language model with its prompt, in a folder.

    Args:
        folder: where it lies.
        pupil: what it is.
        report: takes lines of progress of its training; None writes them to standard error.
    """

    def __init__(self, folder: Path, pupil: Pupil, report: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.pupil = pupil
        self._report = report

    @property
    def model_name(self) -> str:
        """Its model, as ``vouch check --model`` takes it; the rules of its prompt do not go along there."""
        folder = Path(self.pupil.model)
        adapted = (folder / ADAPTER).is_file()
        return f"{self.pupil.settings.engine}:" + (f"{adapter_base(folder)}#{folder}" if adapted else str(folder))

    def verifier(self) -> StructuredVerifier:
        """The verifier: its model, opened, with its prompt; a revised claim is not judged again.

        Raises:
            ConfigError: the model cannot be loaded.
            MissingExtraError: what it runs on is not installed.
        """
        config = StructuredConfig(max_tokens=self.pupil.settings.max_tokens, recheck=False)
        return StructuredVerifier(open_model(self.model_name), config, prompt=prompt_with(self.pupil.rules))

    def verify(self, rows: Sequence[Row]) -> list[Judged]:
        """One answer per row, in order. Raises as :meth:`verifier`."""
        return run(_verify(self.verifier(), rows))

    def refine(
        self, round: int, probes: Sequence[Probe], replay: Sequence[Row], rules: Sequence[str], out: Path
    ) -> StructuredStudent:
        """The student of the next round; one that was killed on the way goes on and ends like one that was not.

        Raises:
            InputError: nothing can be taught of the probes and rows, or ``out`` cannot be used.
            ConfigError: the model or a setting cannot be used.
            MissingExtraError: the extra "train" is not installed.
        """
        if (out / STUDENT).is_file():
            return open_student(out, self._report)
        out = out.resolve()  # a run that goes on elsewhere has to find its files under the same names
        stage = self.pupil.settings.stage(round)
        if stage == "rules":
            pupil = replace(self.pupil, rules=tuple(rules[:MAX_RULES]), round=round, taught=None)
        else:
            taught = self._examples(probes, replay, out)
            pupil = replace(self.pupil, model=str(self._train(stage, out)), round=round, taught=taught)
        write_record(out / STUDENT, pupil)
        shutil.rmtree(out / _MERGED, ignore_errors=True)
        return StructuredStudent(out, pupil, self._report)

    def _examples(self, probes: Sequence[Probe], replay: Sequence[Row], out: Path) -> Taught:
        """Write the lessons, once: a teacher may write others the next time."""
        done = out / "examples.json"
        if not done.is_file():
            name = self.pupil.settings.teacher
            teacher = Teacher(open_model(name), ("label", "error_type", "fix", "grounded")) if name else None
            sound = [probe for probe in probes if probe.check in {"agreed", "unchecked"}]
            prompt = prompt_with(self.pupil.rules)
            write_record(done, write_examples(out / "examples.jsonl", prompt, sound, replay, teacher))
        return read_record(done, Taught)

    def _train(self, stage: Stage, out: Path) -> Path:
        """Train on the lessons of a round. Returns the folder of the weights."""
        from vouching.train.export import merge_adapters
        from vouching.train.sft import train_sft

        config, start = self.pupil.settings.run_of(stage), Path(self.pupil.model)
        if (start / ADAPTER).is_file():
            if stage == "lora":
                config = replace(config, lora=LoraSettings())  # those that are there go on
            else:
                start = out / _MERGED
                if not start.is_dir():
                    fresh = out / f"{_MERGED}.new"
                    shutil.rmtree(fresh, ignore_errors=True)
                    merge_adapters(Path(self.pupil.model), fresh)
                    fresh.replace(start)
        config = replace(config, model=str(start), rows=(str(out / "examples.jsonl"),), binary=(), dev=())
        return train_sft(config, out / "run", (out / "run").exists(), self._report)


def start_student(
    settings: StructuredSettings, folder: Path, report: Callable[[str], None] | None = None
) -> StructuredStudent:
    """The student of round 0, written to its folder; the one that is there if it is the same.

    Args:
        settings: where it starts, and how it is refined.
        folder: where it shall lie.
        report: takes lines of progress of its training; None writes them to standard error.

    Raises:
        ConfigError: there is no model, a round's settings cannot be used, or ``folder`` holds another student.
    """
    if not settings.model or not any((Path(settings.model) / name).is_file() for name in ("config.json", ADAPTER)):
        raise ConfigError(f"structured.model is {settings.model!r}, wanted the folder DIR/model of a training run")
    for stage in settings.stages:
        if stage != "rules":
            settings.run_of(stage)
    pupil = Pupil(str(Path(settings.model).resolve()), settings)
    if (folder / STUDENT).is_file() and open_student(folder).pupil != pupil:
        raise ConfigError(f"{folder} holds another student: name another folder, or start from the same")
    write_record(folder / STUDENT, pupil)
    return StructuredStudent(folder, pupil, report)


def open_student(folder: Path, report: Callable[[str], None] | None = None) -> StructuredStudent:
    """The student in a folder. Raises InputError if there is none."""
    return StructuredStudent(folder, read_record(folder / STUDENT, Pupil), report)


def prompt_with(rules: Sequence[str]) -> StructuredPrompt:
    """The shipped prompt with rules after its constant part, each on one line and not longer than 400 characters.

    >>> prompt_with(()) == structured_prompt()
    True
    >>> prompt_with(["Compare every year."]).system.splitlines()[-1]
    '- Compare every year.'
    """
    prompt = structured_prompt()
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
