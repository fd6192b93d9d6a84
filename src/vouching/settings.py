"""Settings of a run: a dataclass read from a TOML file, which may extend another, with ``key=value`` overrides."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from difflib import get_close_matches
from functools import reduce
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from vouching.errors import ConfigError, InputError
from vouching.types.visible import hint, shorten, shown_json

Config = TypeVar("Config")
_MOST_LEVELS = 32
"""Tables and lists around a value of a settings file."""
_LONGEST_NAME = 200
"""Characters of an unknown name that a message repeats."""


def read_settings(kind: type[Config], path: Path | None, overrides: Sequence[str] = ()) -> Config:
    """The settings of a TOML file with ``key=value`` overrides; ``lora.rank=8`` sets one entry of a table.

    Without a file, the defaults with the overrides.

    A file with ``extends = "base.toml"``, a path relative to it, has the settings of that file where it has none of its
    own; tables are merged. An override that is not a TOML value is a text. Raises ConfigError if a file cannot be read,
    a key is unknown (the nearest is named), or a value is of the wrong type.

    >>> import tempfile
    >>> from vouching.train.sft import SftConfig
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> _ = path.write_text("epochs = 3", encoding="utf-8")
    >>> read_settings(SftConfig, path, ["epoch=2"])
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: unknown setting 'epoch'; did you mean 'epochs'?
    """
    record = {} if path is None else _read(path)
    for override in overrides:
        _set(record, override)
    _refuse_endless(record, "")
    try:
        return recorded_settings(kind, record)
    except ValidationError as error:
        first = error.errors()[0]
        name = reduce(_place, first["loc"], "")
        if isinstance(cause := first.get("ctx", {}).get("error"), ConfigError):
            raise ConfigError(_placed(str(cause), name, first["loc"], kind)) from None
        raise ConfigError(f"{name} {_refused(first['type'], first['msg'], shown_json(first['input']), name)}") from None


def _refuse_endless(value: Any, name: str, levels: int = _MOST_LEVELS) -> None:
    """Raise ConfigError for inf and nan, which TOML has: no setting is one, and no clock waits for one."""
    if levels == 0:
        raise ConfigError(f"{name[:80]} ... is nested too deeply: no setting has {_MOST_LEVELS} tables above it")
    if isinstance(value, float) and not isfinite(value):
        raise ConfigError(f"{name} must be a finite number, got {value}")
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            _refuse_endless(inner, _place(name, key), levels - 1)
    if isinstance(value, list):
        for number, inner in enumerate(cast("list[Any]", value)):
            _refuse_endless(inner, _place(name, number), levels - 1)


def _read(path: Path, before: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A file merged into those that it extends; ``before`` are the files that led to it."""
    try:
        record: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path} ({error.strerror}): expected a TOML file with settings") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    if path.resolve() in before:
        raise ConfigError(f"{path} extends itself, by {', '.join(str(one) for one in before)}: remove one extends")
    base = record.pop("extends", None)
    if base is None:
        return record
    if not isinstance(base, str):
        raise ConfigError(f'extends in {path} must be the path of a TOML file, such as "base.toml", got {base!r}')
    return _merged(_read(path.parent / base, (*before, path.resolve())), record)


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The entries of both; of two tables the merged one, else that of ``over``."""
    tables = {key for key, value in over.items() if isinstance(value, dict) and isinstance(base.get(key), dict)}
    return {**base, **over} | {key: _merged(base[key], over[key]) for key in tables}


def _place(place: str, part: str | int) -> str:
    """The name of an entry of a table, or of an item of a list."""
    return f"item {part + 1} of {place}" if isinstance(part, int) else f"{place}.{part}".removeprefix(".")


def _refused(type: str, message: str, got: str, name: str) -> str:
    """Why a value is refused, after the name of the setting."""
    if type == "missing":
        return "is missing"
    known = {
        "tuple_type": f'must be a list, such as ["one", "two"], got {got}',
        **dict.fromkeys(
            ("dataclass_type", "dict_type", "mapping_type"),
            f"must be a table, got {got}: set its entries with {name}.KEY=VALUE",
        ),
    }
    message = re.split(", unable|, got", message)[0].replace("Input should be", "must be")
    return known.get(type, f"{message}, got {got}")


def settings_text(settings: Any) -> str:
    r"""Settings as the text of a TOML file that :func:`read_settings` reads. None, which TOML lacks, is omitted.

    >>> from vouching.methods.training import PowerSettings
    >>> settings_text(PowerSettings())
    'pue = 1.4\nintensity = 0.41\n'
    """
    record: dict[str, Any] = asdict(settings)
    tables = {name: cast("dict[str, Any]", value) for name, value in record.items() if isinstance(value, dict)}
    lines = _toml_lines({name: value for name, value in record.items() if name not in tables})
    for name, table in tables.items():
        lines += ["", f"[{name}]", *_toml_lines(table)]
    return "\n".join(lines) + "\n"


def _toml_lines(values: dict[str, Any]) -> list[str]:
    """JSON's texts, numbers, lists and booleans are TOML's too."""
    return [f"{name} = {json.dumps(value)}" for name, value in values.items() if value is not None]


def recorded_settings(kind: type[Config], record: dict[str, Any]) -> Config:
    """Settings as a run or an export has recorded them. Raises ConfigError for a key that is not a setting.

    >>> from vouching.train.sft import SftConfig
    >>> recorded_settings(SftConfig, {"most_tokens": 9})
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: unknown setting 'most_tokens'; did you mean 'max_tokens'?
    """
    _refuse_unknown(kind, record, kind)
    return TypeAdapter(kind).validate_python(record)


def check_types(types: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise ConfigError for a setting of another type than ``types`` names.

    A text that is none of a few known ones is left to the settings' own check, which says what each of them means.

    >>> check_types({"tau": float}, {"tau": None})
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: tau must be a valid number, got null
    """
    for name, value in given.items():
        try:
            TypeAdapter(types[name]).validate_python(value, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            place = reduce(_place, first["loc"], name)
            if first["type"] != "literal_error" or not isinstance(value, str):
                got = shown_json(first["input"])
                raise ConfigError(f"{place} {_refused(first['type'], first['msg'], got, place)}") from None


def refuse_missing(settings: object, *names: str) -> None:
    """Raise InputError if a file listed in one of these settings does not exist."""
    for name in names:
        for path in cast("tuple[str, ...]", getattr(settings, name)):
            if not Path(path).exists():
                raise InputError(f"missing file {path}, listed in the setting {name}: list existing files of rows")


def _refuse_unknown(kind: Any, record: dict[str, Any], whole: Any, place: str = "") -> None:
    """Raise ConfigError for a key that is not a setting; ``whole`` is the class of all settings."""
    known = [place + f.name for f in fields(kind)]
    for key, value in record.items():
        inner_record = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if (name := place + key) not in known:
            meant = next(iter(inner_record)) if len(inner_record) == 1 else key
            near = [path for path in _paths(whole) if path.endswith(f".{meant}")]  # in a table that was not named
            near = near or get_close_matches(name, known, n=1)
            near_or_all = hint(near[:1], "expected one of " + ", ".join(known))
            raise ConfigError(f"unknown setting {shorten(name, _LONGEST_NAME)!r}{near_or_all}")
        inner = get_type_hints(kind)[key]
        if is_dataclass(inner) and isinstance(value, dict):
            _refuse_unknown(inner, inner_record, whole, f"{name}.")
        for entry, of_entry in inner_record.items() if is_dataclass(_entry_of(inner)) else ():
            if isinstance(of_entry, dict):
                _refuse_unknown(_entry_of(inner), cast("dict[str, Any]", of_entry), whole, f"{name}.{entry}.")


def _entry_of(kind: Any) -> Any:
    """The type of the entries of ``dict[str, ...]``, a table of tables; None for any other type."""
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _placed(message: str, table: str, parts: Sequence[str | int], kind: Any) -> str:
    """The message of a table's own check with the name of the table, which has these parts, added."""
    if not table or message.startswith(f"{table}."):
        return message
    for part in parts:
        kind = _entry_of(kind) or get_type_hints(kind)[str(part)]
    begins = message.split(" ", 1)[0] in [f.name for f in fields(kind)]
    return f"{table}{'.' if begins else ': '}{message}"


def _paths(kind: Any, place: str = "") -> list[str]:
    """The names of all settings, those in tables as TABLE.NAME."""
    named: list[str] = []
    for name, inner in ((f.name, get_type_hints(kind)[f.name]) for f in fields(kind)):
        named += _paths(inner, f"{name}.") if is_dataclass(inner) else [place + name]
    return named


def _set(record: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into the settings."""
    key, equals, text = override.partition("=")
    if not equals:
        raise ConfigError(f"a setting must have the form KEY=VALUE, such as epochs=2, got {override!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
    table, dot, name = key.partition(".")
    if not dot:
        record[key] = value
        return
    inner = record.setdefault(table, {})
    if not isinstance(inner, dict):
        raise ConfigError(f"the setting {table} is not a table: write {table}=VALUE instead of {table}.{name}=VALUE")
    cast("dict[str, Any]", inner)[name] = value
