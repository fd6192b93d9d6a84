"""Tasks, proposals and training rows from files, checked before any model is called.

    task: trip                       its name
    description: Check a claim.      optional
    data: {items: [...]}             the input records
    tables: {limits: {Oslo: 75}}     optional: lookup tables for expressions
    rules:
      - {id: R1, text: The total is the sum of the items., value: sum(i.amount for i in data.items)}
      - {id: R2, text: A reason is given., check: value != "-"}
    units:                           in the order in which they are decided
      - {id: total, type: amount, rules: [R1], description: optional, form: optional}
      - {id: reason, type: text, rules: [R2], depends_on: [total]}

A proposal is ``{"values": {"total": "$1,234.50", "reason": {"value": "Fair", "rationale": "optional"}}}``. Training
rows, tasks with their right values, come from files of rows and from folders as ``recipes/taxes`` writes them:

    {"id": "trip", "task": {"task": "trip", "data": ..., "units": [...]}, "gold": {"total": 42.5}}     a row
    DIR/tasks/NAME.json, DIR/proposals/NAME.json                                                       a folder

Not supported: units that may stay empty; use a choice with such a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from vouching.errors import InputError
from vouching.methods.assurance.expression import ExpressionError, parse
from vouching.methods.assurance.values import LONGEST_JSON, path_of, read_data, read_value
from vouching.rows.read import read_as, with_unique_ids
from vouching.text.encoding import decode_text
from vouching.types import Proposal, Rule, Task, TaskUnit, Value, ValueType
from vouching.types.visible import hint, shown_json, shown_keys

_WHOLE = ConfigDict(extra="forbid")
_Word = Annotated[str, BeforeValidator(lambda given: str(given) if type(given) is int else given)]
"""A name or an expression; YAML reads ``id: 9`` as a number."""


@dataclass(frozen=True, slots=True, config=_WHOLE)
class _Rule:
    id: _Word
    text: str
    value: _Word | None = None
    check: _Word | None = None


@dataclass(frozen=True, slots=True, config=_WHOLE)
class _Unit:
    id: _Word
    type: ValueType
    description: str = ""
    rules: list[_Word] = field(default_factory=list[str])
    depends_on: list[_Word] = field(default_factory=list[str])
    choices: list[_Word] = field(default_factory=list[str])
    form: _Word = ""


@dataclass(frozen=True, slots=True, config=_WHOLE)
class _File:
    task: _Word
    data: dict[str, Any]
    units: list[_Unit]
    rules: list[_Rule] = field(default_factory=list[_Rule])
    description: str = ""
    tables: dict[str, Any] = field(default_factory=dict[str, Any])


def read_task(path: str | Path) -> Task:
    """The task in a JSON or YAML file. Raises InputError, which names the file and the field."""
    return as_task(read_file(path), str(path))


def read_proposal(path: str | Path, task: Task) -> dict[str, Proposal]:
    """The proposal in a JSON or YAML file, by unit id. Raises InputError, which names the file and the field."""
    return as_proposal(read_file(path), task, str(path))


def read_file(path: str | Path) -> Any:
    """The content of a JSON or YAML file. Raises InputError if it cannot be read or is too large."""
    try:
        size = Path(path).stat().st_size
        # UTF-8 has at most four bytes per character.
        raw = Path(path).read_bytes() if size <= 4 * LONGEST_JSON and Path(path).is_file() else b""
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not raw:
        what = "is empty" if not size else "is not a regular file"
        what = f"has {size:,} bytes, more than the limit of {4 * LONGEST_JSON:,}" if size > 4 * LONGEST_JSON else what
        raise InputError(f"{path} {what}: expected a JSON or YAML file")
    ending = Path(path).suffix.lower()
    if ending == ".xml":
        raise InputError(f"{path}: XML is not supported, expected JSON or YAML")
    text, _ = decode_text(raw, str(path))
    return read_data(text, str(path), yaml={".yaml": True, ".yml": True, ".json": False}.get(ending))


def as_task(found: Any, name: str = "the task") -> Task:
    """A task from plain data. Raises InputError, which names the field, for a task that is not valid.

    >>> task = as_task({"task": "t", "data": {"a": 1}, "rules": [{"id": "R", "text": "As a.", "value": "data.a"}],
    ...                 "units": [{"id": "x", "type": "number", "rules": ["R"]}]})
    >>> task.units[0].rules, task.rules["R"].value
    (('R',), 'data.a')
    >>> as_task({"task": "t", "data": {}, "units": [{"id": "x", "type": "number", "rules": ["Q"]}]})
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: the task: units[0].rules[0]: there is no rule 'Q'; the task has no rules
    """
    file = _validated(found, name)
    try:
        rules = _rules(file.rules)
        units = _units(file.units)
        task = Task(file.task, file.data, rules, units, file.description, file.tables)
        _check_order(units)
        for number, unit in enumerate(units):
            _check_rules(unit, number, task)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return task


def as_proposal(found: Any, task: Task, name: str = "the proposal") -> dict[str, Proposal]:
    """A proposal from plain data. Raises InputError unless it has one valid value for every unit of the task."""
    if not isinstance(found, dict) or not isinstance(cast("dict[str, Any]", found).get("values"), dict):
        raise InputError(f'{name}: expected an object with "values": {{unit: value}}')
    fields = cast("dict[str, Any]", found)
    unknown = sorted(fields.keys() - {"values", "task"})
    if unknown:
        raise InputError(f"{name}: unknown field {shown_json(unknown[0])}; the fields are values and task")
    if fields.get("task", task.id) != task.id:
        raise InputError(f'{name}: "task" is {shown_json(fields["task"])}, but the id of the task is {task.id!r}')
    values = cast("dict[str, Any]", fields["values"])
    ids = [unit.id for unit in task.units]
    for key in values:
        if key not in ids:
            raise InputError(
                f"{name}: {path_of('values', key)}: the task has no unit {shown_json(key)}{_near(key, ids)}"
            )
    missing = [unit for unit in ids if unit not in values]
    if missing:
        raise InputError(
            f"{name}: {path_of('values', missing[0])} is missing ({len(missing)} of {len(ids)} units have no value)"
        )
    return {unit.id: _proposed(values[unit.id], unit, name) for unit in task.units}


def read_row(row: Mapping[str, Any]) -> tuple[Task, dict[str, Value]]:
    """The task of a training row and the right value of each unit. Raises InputError if either is missing."""
    name = f"row {row.get('id', '?')!r}"
    for key in ("task", "gold"):
        if not isinstance(row.get(key), Mapping):
            raise InputError(
                f'{name} has no object "{key}"; expected "task" (the content of a task) and "gold": {{unit: value}}'
            )
    task = as_task(dict(row["task"]), f"{name}: task")
    right = as_proposal({"values": dict(row["gold"])}, task, f"{name}: gold")
    return task, {unit: one.value for unit, one in right.items()}


def _proposed(given: Any, unit: TaskUnit, name: str) -> Proposal:
    rationale, steps = "", ["values", unit.id]
    if isinstance(given, dict):
        fields = cast("dict[str, Any]", given)
        steps.append("value")
        if not {"value"} <= fields.keys() <= {"value", "rationale"}:
            raise InputError(
                f'{name}: {path_of("values", unit.id)} must have the key "value" and may have "rationale"; '
                f"{shown_keys(fields)}"
            )
        given, rationale = fields["value"], fields.get("rationale", "")
        if not isinstance(rationale, str):
            raise InputError(f"{name}: {path_of('values', unit.id, 'rationale')} must be a string")
    return Proposal(unit.id, read_value(given, unit, f"{name}: {path_of(*steps)}"), rationale)


@cache
def _adapter() -> TypeAdapter[_File]:
    return TypeAdapter(_File)


def _validated(found: Any, name: str) -> _File:
    try:
        return _adapter().validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = path_of(*first["loc"]) or "the top level"
        if first["type"] == "unexpected_keyword_argument":
            known = {1: _File, 3: _Rule if first["loc"][0] == "rules" else _Unit}.get(len(first["loc"]), _File)
            names = list(cast("Any", known).__dataclass_fields__)
            near = _near(str(first["loc"][-1]), names) or f"; the fields are {', '.join(names)}"
            raise InputError(f"{name}: {place}: unknown field{near}") from None
        raise InputError(f"{name}: {place} {_complaint(first['type'], first['input'], first['msg'])}") from None


def _complaint(kind: str, got: Any, message: str) -> str:
    if kind == "missing":
        return "is missing"
    texts = {"list_type": "a list", "dict_type": "an object", "dataclass_type": "an object", "string_type": "a string"}
    expected = texts.get(kind) or message.removeprefix("Input should be ").replace("'", "")
    shown = "an object" if isinstance(got, dict) else "a list" if isinstance(got, list) else shown_json(got)
    return f"is {shown}, expected {expected}"


def _rules(given: Sequence[_Rule]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for number, rule in enumerate(given):
        if rule.id in rules or not rule.id.strip():
            raise InputError(f"{path_of('rules', number, 'id')} is {rule.id!r}, expected a unique id")
        if rule.value is not None and rule.check is not None:
            raise InputError(
                f'{path_of("rules", number)} has both "value" and "check", expected one of them: split the rule in two'
            )
        for key, text in (("value", rule.value), ("check", rule.check)):
            if text is None:
                continue
            place = path_of("rules", number, key)
            try:
                asks = parse(text).asks_value
            except ExpressionError as error:
                raise InputError(f"{place}: {error}") from None
            if asks != (key == "check"):
                expected = (
                    "must refer to value (the proposal)" if key == "check" else "must not refer to value (the proposal)"
                )
                raise InputError(f"{place}: {text[:60]!r} {expected}")
        rules[rule.id] = Rule(rule.id, rule.text, rule.value, rule.check)
    return rules


def _units(given: Sequence[_Unit]) -> tuple[TaskUnit, ...]:
    if not given:
        raise InputError('"units" is empty, expected at least one unit')
    taken: set[str] = set()
    units: list[TaskUnit] = []
    for number, unit in enumerate(given):
        if unit.id in taken or not unit.id.strip():
            raise InputError(f"{path_of('units', number, 'id')} is {unit.id!r}, expected a unique id")
        if (unit.type == "choice") != bool(unit.choices):
            verb = "requires" if unit.type == "choice" else "does not support"
            raise InputError(f"{path_of('units', number, 'choices')}: the type {unit.type} {verb} choices")
        taken.add(unit.id)
        units.append(
            TaskUnit(
                unit.id,
                unit.type,
                unit.description,
                tuple(unit.rules),
                tuple(unit.depends_on),
                tuple(unit.choices),
                unit.form,
            )
        )
    return tuple(units)


def _check_order(units: Sequence[TaskUnit]) -> None:
    """Check that every dependency is an earlier unit, and name cycles."""
    places = {unit.id: number for number, unit in enumerate(units)}
    for number, unit in enumerate(units):
        for at, needed in enumerate(unit.depends_on):
            place = path_of("units", number, "depends_on", at)
            if needed not in places:
                raise InputError(f"{place}: there is no unit {needed!r}{_near(needed, [*places])}")
            if places[needed] >= number:
                cycle = _cycle(needed, unit.id, units, places)
                if cycle:
                    raise InputError(f"{place}: the dependencies form a cycle: {' -> '.join(cycle)}")
                raise InputError(
                    f"{place} is {needed!r}, a later unit: move units[{places[needed]}] before units[{number}]"
                )


def _cycle(start: str, goal: str, units: Sequence[TaskUnit], places: Mapping[str, int]) -> list[str]:
    """The path from ``start`` along dependencies to ``goal`` and back; empty if there is none."""
    came: dict[str, str] = {start: goal}
    queue = [start]
    for here in queue:
        if here == goal:
            way = [goal]
            while len(way) == 1 or way[-1] != goal:
                way.append(came[way[-1]])
            return way[::-1]
        for needed in units[places[here]].depends_on:
            if needed in places and needed not in came:
                came[needed] = here
                queue.append(needed)
    return []


def _check_rules(unit: TaskUnit, number: int, task: Task) -> None:
    exact = 0
    for at, name in enumerate(unit.rules):
        place = path_of("units", number, "rules", at)
        if name not in task.rules:
            known = f"; the rules are {', '.join(task.rules)[:200]}" if task.rules else "; the task has no rules"
            near = _near(name, [*task.rules]) or known
            raise InputError(f"{place}: there is no rule {name!r}{near}")
        rule = task.rules[name]
        exact += rule.value is not None
        for text in filter(None, (rule.value, rule.check)):
            unmet = sorted(parse(text).units - {*unit.depends_on})
            if unmet:
                raise InputError(f'{place}: rule {name} reads the unit {unmet[0]!r}: add it to "depends_on"')
    if exact > 1:
        raise InputError(f"{path_of('units', number, 'rules')}: {exact} rules compute a value, expected at most one")


def _near(word: str, known: Sequence[str]) -> str:
    return hint(get_close_matches(word, known, n=1))


def read_work(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Training rows from files of rows and from folders of tasks with right proposals; ids must be unique."""
    rows: list[dict[str, Any]] = []
    for path in paths:
        if not Path(path).suffix and not Path(path).exists():
            command = f"python recipes/taxes/make.py --out {path}"
            raise InputError(f"{path} does not exist: create it with  {command}")
        rows += _of_folder(Path(path)) if Path(path).is_dir() else read_as(path, _task_row)
    if paths and not rows:
        raise InputError(f'there are no rows in {", ".join(paths)}: expected rows with "task" and "gold"')
    return with_unique_ids(rows)


def units_of(rows: Sequence[dict[str, Any]]) -> int:
    """Units of the longest task; 0 without rows."""
    return max((len(row["task"]["units"]) for row in rows), default=0)


def _task_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    read_row(fields)
    return {"id": name, "task": fields["task"], "gold": fields["gold"]}


def _of_folder(folder: Path) -> list[dict[str, Any]]:
    mistakes = folder / "mistakes.jsonl"
    if mistakes.is_file() and mistakes.stat().st_size:
        raise InputError(
            f"the proposals in {folder} contain mistakes: regenerate them without mistakes, using recipes/taxes/make.py"
        )
    if not (folder / "tasks").is_dir():
        raise InputError(
            f"{folder} does not contain tasks/ and proposals/: pass a folder written by recipes/taxes/make.py, or "
            "files of rows"
        )
    rows: list[dict[str, Any]] = []
    for path in sorted((folder / "tasks").glob("*.json")):
        right = cast("dict[str, Any] | None", read_file(folder / "proposals" / path.name))
        gold = right.get("values") if isinstance(right, dict) else None
        row: dict[str, Any] = {"id": path.stem, "task": read_file(path), "gold": gold}
        try:
            read_row(row)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        rows.append(row)
    return rows
