"""Structured work challenged from its first unit to its last, and the record of a fill that a long run resumes.

The record has a line for each unit as it is decided. Its first line says what makes the others: the task and the
settings; a run with others refuses the file. Not here: the evidence as data; a line has the finding, which quotes it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import IO, Any, cast

from vouching.errors import ConfigError, InputError
from vouching.methods.assurance.model import (
    AssuranceConfig,
    AssuranceVerifier,
    ModelGenerator,
    ModelVerifier,
    prompt_digest,
)
from vouching.methods.assurance.reward import CASES, Transition
from vouching.methods.assurance.values import as_decimal, read_value, same_value, value_json
from vouching.methods.assurance.verify import Step, challenge, fill
from vouching.models.open import open_model
from vouching.models.wrappers import Metered
from vouching.types import Assurance, Proposal, Task, TaskUnit, UnitResult, Value, total_usage
from vouching.types.serial import finding_from, finding_json


@dataclass(frozen=True, slots=True)
class ChallengeConfig:
    """Who judges and who generates, and how a model is asked."""

    model: str | None = None
    """Name of the model that generates, and judges unless ``verifier`` does; None where rules are enough."""
    verifier: str | None = None
    """Name of the model that judges."""
    candidates: int = 5
    """Revisions after a case."""
    seed: int | None = None
    """Of the sampling."""
    max_tokens: int = 1024
    """Length of a reply."""


async def challenged(
    task: Task,
    proposal: Mapping[str, Proposal] | None,
    config: ChallengeConfig,
    gold: Mapping[str, Proposal] | None = None,
    output: Path | None = None,
    resume: bool = False,
) -> Assurance:
    """Verify the values of a task, or generate them where there are none; the right values only count cases.

    Args:
        task: the work.
        proposal: the values; None has them generated.
        config: by whom.
        gold: the right values.
        output: where the steps of a fill are kept.
        resume: whether to finish such a file.

    Raises:
        InputError: the output cannot be used, or a unit has no value.
        ConfigError: an unknown model, a setting out of range, or nobody to generate.
        ModelError: a model is out of reach.
    """
    asked = AssuranceConfig(candidates=config.candidates, max_tokens=config.max_tokens, seed=config.seed)
    generating = Metered(open_model(config.model)) if config.model else None
    judging = Metered(open_model(config.verifier)) if config.verifier else generating
    verifier = AssuranceVerifier(ModelVerifier(judging, asked) if judging else None)
    metered = [one for one in (generating, judging if judging is not generating else None) if one is not None]
    steps: dict[str, Step] = {}
    with ExitStack() as open_files:
        file = None
        if output is not None:
            settings = {**asdict(config), "prompts": prompt_digest()}
            file, done = open_steps(output, settings_line(task, settings), task, resume)
            open_files.enter_context(file)
            steps.update(done)

        def keep(unit: TaskUnit, step: Step) -> None:
            steps[unit.id] = step
            if file is not None:
                file.write(f"{step_line(unit, step)}\n")
                file.flush()

        try:
            if proposal is not None:
                record = await challenge(task, proposal, verifier, on_step=keep)
            elif generating is None:
                raise ConfigError("nobody is named to generate values: name a language model")
            else:
                record = await fill(task, ModelGenerator(generating, asked), verifier, done=dict(steps), on_step=keep)
        finally:
            for one in metered:
                await one.aclose()
    return replace(record, cases=case_counts(task, steps, gold) if gold else {}, usage=total_usage(metered))


def settings_line(task: Task, settings: Mapping[str, Any]) -> str:
    """The first line of a record: what makes the lines below it.

    >>> settings_line(Task("t", {}, {}, ()), {"model": "m"})[:33]
    '{"kind": "steps", "task": "t", "d'
    """
    content = [task.data, task.tables, [asdict(rule) for rule in task.rules.values()], [asdict(u) for u in task.units]]
    digest = hashlib.sha256(json.dumps([task.description, content]).encode()).hexdigest()
    return json.dumps({"kind": "steps", "task": task.id, "digest": digest, **settings})


def open_steps(path: Path, first: str, task: Task, resume: bool) -> tuple[IO[str], dict[str, Step]]:
    """The file to write steps to, and the steps that it has already.

    Args:
        path: ends in .jsonl.
        first: from :func:`settings_line`.
        task: gives the types of values.
        resume: whether the file may be there already.

    Raises:
        InputError: it is there and not to be resumed, belongs to other work, or cannot be read or written.
    """
    if path.suffix != ".jsonl":
        raise InputError(f"--output {path}: wanted a file that ends in .jsonl")
    try:
        # A character that was cut in two stands in a line that was.
        text = path.read_bytes().decode(errors="replace") if path.exists() else ""
    except OSError as error:
        raise InputError(f"--output {path} cannot be read: {error}") from None
    if text and not resume:
        raise InputError(f"--output {path} is there already: finish it with --resume, or name another file")
    # A line that was being written when the run ended is none.
    whole = text[: text.rfind("\n") + 1]
    lines = whole.splitlines()
    if lines and lines[0] != first:
        raise InputError(f"--output {path} belongs to another task or to other settings: name another file")
    steps = [_step(line, number, path, task) for number, line in enumerate(lines[1:], 2)]
    try:
        file = path.open("a", encoding="utf-8", newline="\n")
        file.truncate(len(whole.encode()))
        file.write("" if whole else f"{first}\n")
        file.flush()
    except OSError as error:
        raise InputError(f"--output {path} cannot be written: {error.strerror or error}") from None
    return file, dict(steps)


def step_line(unit: TaskUnit, step: Step) -> str:
    """A step as a line.

    >>> step_line(TaskUnit("a", "number"), Step(UnitResult("a", "", False, None, ""), None))[:40]
    '{"unit": "a", "submitted": null, "propos'
    """
    values = {key: _exact(getattr(step, key)) for key in ("submitted", "proposal", "revision")}
    return json.dumps({"unit": unit.id, **values, "finding": finding_json(step.finding)}, ensure_ascii=False)


def _step(line: str, number: int, path: Path, task: Task) -> tuple[str, Step]:
    try:
        fields = cast("dict[str, Any]", json.loads(line))
        unit = task.unit(fields["unit"])
        submitted, proposal, revision = (_value(fields[key], unit) for key in ("submitted", "proposal", "revision"))
        return unit.id, Step(finding_from(fields["finding"]), submitted, proposal, revision=revision)
    except (ValueError, KeyError, TypeError, InvalidOperation) as error:
        raise InputError(f"--output {path}, line {number} is no step of this task: {error}") from None


def _exact(value: Value | None) -> bool | int | float | str | None:
    """A value as JSON has it; a number that no float is (a third, the cents of a hundred billions) as its digits."""
    shown = value_json(value)
    return f"{value:f}" if isinstance(value, Decimal) and as_decimal(shown) != value else shown


def _value(raw: Any, unit: TaskUnit) -> Value | None:
    if isinstance(raw, str) and unit.type in ("amount", "number", "integer"):
        raw = Decimal(raw)
    return None if raw is None else read_value(raw, unit, unit.id)


def case_counts(task: Task, steps: Mapping[str, Step], gold: Mapping[str, Proposal]) -> dict[str, int]:
    """How many units are of which case, by the right values; units that nobody could judge are of none.

    Where nobody answered a case, as when a finished proposal is verified, it is "2 or 3" (the proposal is right) or
    "5 or 6".

    >>> from decimal import Decimal
    >>> task = Task("t", {}, {}, (TaskUnit("a", "number"),))
    >>> steps = {"a": Step(UnitResult("a", "1", False, None, "1"), Decimal(1), Decimal(1))}
    >>> case_counts(task, steps, {"a": Proposal("a", Decimal(2))})
    {'4': 1}
    """
    counts: Counter[str] = Counter()
    for unit in task.units:
        step = steps[unit.id]
        if not isinstance(step.finding, UnitResult):
            continue
        right = gold[unit.id].value
        s_x = step.proposal is not None and same_value(step.proposal, right)
        s_z = step.revision is not None and same_value(step.revision, right)
        if not step.finding.challenged:
            counts[Transition(s_x, "NS").case] += 1
        elif step.finding.decision is None:
            counts["2 or 3" if s_x else "5 or 6"] += 1
        else:
            revised = step.finding.decision == "revise"
            counts[Transition(s_x, "SAC", "REVISE" if revised else "KEEP", s_z).case] += 1
    return {name: counts[name] for name in (*CASES, "2 or 3", "5 or 6") if counts[name]}
