"""``vouch challenge``: a task from its first unit to its last, and the record from which an interrupted fill resumes.

The record has a line for each unit as it is decided. Its first line identifies the task and the settings; a run with
others refuses the file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
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
from vouching.text.json_values import parse_json
from vouching.types import Assurance, Proposal, Task, TaskUnit, UnitResult, Value, total_usage
from vouching.types.serial import finding_from, finding_json


async def challenged(
    task: Task,
    proposal: Mapping[str, Proposal] | None,
    names: tuple[str | None, str | None],
    config: AssuranceConfig,
    gold: Mapping[str, Proposal] | None = None,
    output: Path | None = None,
    resume: bool = False,
) -> Assurance:
    """Verify the values of a task, or generate them if ``proposal`` is None.

    Args:
        task: the work.
        proposal: the values.
        names: of the model that generates, and judges unless the second does; both None if rules are enough.
        config: how they are sampled.
        gold: the right values, only to count cases.
        output: where the steps of a fill are recorded.
        resume: whether to continue such a file.
    """
    model, judge = names
    generating = Metered(open_model(model)) if model else None
    judging = Metered(open_model(judge)) if judge else generating
    verifier = AssuranceVerifier(ModelVerifier(judging, config) if judging else None)
    metered = [one for one in (generating, judging if judging is not generating else None) if one is not None]
    steps: dict[str, Step] = {}
    with ExitStack() as open_files:
        file = None
        if output is not None:
            sampling = {key: getattr(config, key) for key in ("candidates", "seed", "max_tokens")}
            settings = {"model": model, "verifier": judge, **sampling, "prompts": prompt_digest()}
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
                raise ConfigError("generating values requires a language model: choose one")
            else:
                record = await fill(task, ModelGenerator(generating, config), verifier, done=dict(steps), on_step=keep)
        finally:
            for one in metered:
                await one.aclose()
    return replace(record, cases=case_counts(task, steps, gold) if gold else {}, usage=total_usage(metered))


def settings_line(task: Task, settings: Mapping[str, Any]) -> str:
    """The first line of a record: a digest of the task, and the settings."""
    content = [task.data, task.tables, [asdict(rule) for rule in task.rules.values()], [asdict(u) for u in task.units]]
    digest = hashlib.sha256(json.dumps([task.description, content]).encode()).hexdigest()
    return json.dumps({"kind": "steps", "task": task.id, "digest": digest, **settings})


def open_steps(path: Path, first: str, task: Task, resume: bool) -> tuple[IO[str], dict[str, Step]]:
    """The file to write steps to, and the steps that it has already.

    Raises InputError if it exists and is not to be resumed, belongs to other work, or cannot be read or written.
    """
    if path.suffix != ".jsonl":
        raise InputError(f"--output must be a file that ends in .jsonl, got {path}")
    try:
        # A truncated character can only be in the truncated last line.
        text = path.read_bytes().decode(errors="replace") if path.exists() else ""
    except OSError as error:
        raise InputError(f"--output {path} cannot be read: {error}") from None
    if text and not resume:
        raise InputError(f"--output {path} already exists: resume it with --resume, or choose another file")
    # A last line without a newline was interrupted and is dropped.
    whole = text[: text.rfind("\n") + 1]
    lines = whole.splitlines()
    if lines and lines[0] != first:
        raise InputError(f"--output {path} was written for another task or with other settings: choose another file")
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
    """A step as a line of the record."""
    values = {key: _exact(getattr(step, key)) for key in ("submitted", "proposal", "revision")}
    return json.dumps({"unit": unit.id, **values, "finding": finding_json(step.finding)}, ensure_ascii=False)


def _step(line: str, number: int, path: Path, task: Task) -> tuple[str, Step]:
    try:
        fields = cast("dict[str, Any]", parse_json(line))
        unit = task.unit(fields["unit"])
        submitted, proposal, revision = (_value(fields[key], unit) for key in ("submitted", "proposal", "revision"))
        return unit.id, Step(finding_from(fields["finding"]), submitted, proposal, revision=revision)
    except (ValueError, KeyError, TypeError, InvalidOperation) as error:
        raise InputError(f"--output {path}, line {number} is not a step of this task: {error}") from None


def _exact(value: Value | None) -> bool | int | float | str | None:
    """A value as JSON; a number that no float represents (a third, cents beyond 15 digits) as its digits."""
    shown = value_json(value)
    return f"{value:f}" if isinstance(value, Decimal) and as_decimal(shown) != value else shown


def _value(raw: Any, unit: TaskUnit) -> Value | None:
    if isinstance(raw, str) and unit.type in ("amount", "number", "integer"):
        raw = Decimal(raw)
    return None if raw is None else read_value(raw, unit, unit.id)


def case_counts(task: Task, steps: Mapping[str, Step], gold: Mapping[str, Proposal]) -> dict[str, int]:
    """Units by case of the paper; units that could not be judged are not counted.

    A case without an answer, as when a finished proposal is verified, counts as "2 or 3" (right proposal) or "5 or 6".
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
