"""Lines as nested Parquet columns; those of records are made from the published JSON Schemas of the records.

The columns of one table are those of all its records, so that one table holds verdicts, unverified claims and
reports; what a record does not have is null. A value without a type of Parquet (a list of mixed values) is
JSON text. ``vouch rows columns`` prints the columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any, Literal, TypeAlias

from vouching.errors import needed
from vouching.types.serial import json_schema

Table: TypeAlias = Literal["records", "rankings", "rules", "rewards"]
"""Lines with the same columns."""
OTHER = "other"
"""The column with the fields that have none of their own, as a JSON object."""
_NOT_HERE = "UnitResult"
"""A finding that only ``vouch challenge`` writes, which has no rows."""
_PLAIN = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool_"}
_Schema = dict[str, Any]


def record_schema() -> Any:
    """The Arrow schema of the lines of ``vouch check``, ``audit`` and ``follow``: the id, then the fields of records.

    >>> [field.name for field in record_schema()][:4]
    ['id', 'claim', 'label', 'score']
    >>> str(record_schema().field("claim").type.field("span").type.field("start").type)
    'int64'
    """
    return table_schema("records")


@cache
def table_schema(table: Table) -> Any:
    """The Arrow schema of the lines of a command: records, rankings (``vouch rank``), rules (``follow``) or rewards.

    >>> table_schema("rewards").names
    ['id', 'group', 'total', 'parts', 'problem', 'other']
    """
    arrow = needed("pyarrow", "data", "writing Parquet")
    fields = {"id": {"type": "string"}, **_TABLES[table]()}
    return arrow.schema([arrow.field(name, _type(arrow, schema)) for name, schema in fields.items()])


def parquet_bytes(lines: Iterable[Mapping[str, Any]], table: Table = "records") -> bytes:
    """Lines as a Parquet file."""
    arrow, parquet = (needed(name, "data", "writing Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    made = BytesIO()
    rows = arrow.Table.from_pylist(fitted(lines, table), schema=table_schema(table))
    parquet.write_table(rows, made, compression="zstd")
    return made.getvalue()


def fitted(lines: Iterable[Mapping[str, Any]], table: Table = "records") -> list[dict[str, Any]]:
    """Lines as the schema has them: values without a type of their own become JSON text."""
    arrow, schema = needed("pyarrow", "data", "writing Parquet"), table_schema(table)
    names = {*schema.names}
    whole = [line if OTHER not in names else {**line, OTHER: _rest(line, names)} for line in lines]
    return [{field.name: _fit(arrow, line.get(field.name), field.type) for field in schema} for line in whole]


def _rest(line: Mapping[str, Any], names: set[str]) -> dict[str, Any] | None:
    """The fields of a line without a column; None if there are none."""
    return {name: value for name, value in line.items() if name not in names} or None


def _records(*names: str) -> Mapping[str, _Schema]:
    """The fields of all of these records."""
    merged: _Schema = {"type": "object", "properties": {}}
    for name in names:
        whole = json_schema(name)
        merged = _both(merged, _resolved(whole, whole.get("$defs", {})))
    return merged["properties"]


_TEXT, _OUTCOMES = {"type": "string"}, {"type": "array", "items": {"type": "boolean"}}
_TABLES: Mapping[Table, Callable[[], Mapping[str, _Schema]]] = {
    "records": lambda: _records("verdict", "unverified", "report"),
    "rankings": lambda: _records("ranking", "unverified"),
    "rules": lambda: {
        "instruction_id_list": {"type": "array", "items": _TEXT},
        "kwargs": {},
        "strict": _OUTCOMES,
        "loose": _OUTCOMES,
        "detected": {"type": "boolean"},
        "problem": _TEXT,
        OTHER: {},
    },
    "rewards": lambda: {"group": _TEXT, "total": {"type": "number"}, "parts": {}, "problem": _TEXT, OTHER: {}},
}
"""The columns after the id, by table; {} is JSON text."""


def _fit(arrow: Any, value: Any, kind: Any) -> Any:
    if value is None:
        return None
    if arrow.types.is_struct(kind):
        return {field.name: _fit(arrow, value.get(field.name), field.type) for field in kind}
    if arrow.types.is_list(kind):
        return [_fit(arrow, one, kind.value_type) for one in value]
    if arrow.types.is_string(kind) and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return value


def _resolved(schema: _Schema, definitions: Mapping[str, _Schema]) -> _Schema:
    """A schema without references and choices: a choice has the fields of all its objects."""
    if "$ref" in schema:
        return _resolved(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    choices: Sequence[_Schema] = [one for one in schema.get("anyOf", ()) if _is_wanted(one)]
    if choices:
        merged = _resolved(choices[0], definitions)
        for other in choices[1:]:
            merged = _both(merged, _resolved(other, definitions))
        return merged
    if schema.get("type") == "object" and "properties" in schema:
        members = {name: _resolved(one, definitions) for name, one in schema["properties"].items()}
        return {"type": "object", "properties": members}
    if schema.get("type") == "array" and "items" in schema and "prefixItems" not in schema:
        return {"type": "array", "items": _resolved(schema["items"], definitions)}
    return {"type": schema.get("type")}


def _is_wanted(schema: _Schema) -> bool:
    return schema.get("type") != "null" and not schema.get("$ref", "").endswith(f"/{_NOT_HERE}")


def _both(one: _Schema, other: _Schema) -> _Schema:
    """What holds the values of two schemas; {} (JSON text) if they have nothing in common."""
    if one == other:
        return one
    kinds = (one.get("type"), other.get("type"))
    if kinds == ("object", "object") and "properties" in one and "properties" in other:
        members = dict(one["properties"])
        for name, schema in other["properties"].items():
            members[name] = _both(members[name], schema) if name in members else schema
        return {"type": "object", "properties": members}
    if kinds == ("array", "array") and "items" in one and "items" in other:
        return {"type": "array", "items": _both(one["items"], other["items"])}
    return {"type": "number"} if set(kinds) == {"integer", "number"} else {}


def _type(arrow: Any, schema: _Schema) -> Any:
    kind = schema.get("type")
    if kind == "object" and schema.get("properties"):
        return arrow.struct([arrow.field(name, _type(arrow, one)) for name, one in schema["properties"].items()])
    if kind == "array" and "items" in schema:
        return arrow.list_(arrow.field("element", _type(arrow, schema["items"])))  # as Parquet names it
    return getattr(arrow, _PLAIN.get(str(kind), "string"))()
