"""Records as nested Parquet columns, whose schema is made from the published JSON Schemas of the records.

The columns of one table are those of all its records, so that one table holds verdicts, unverified claims and
reports; what a record does not have is null. A value without a type of Parquet (a list of mixed values) is
JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any

from vouching.errors import needed
from vouching.types.serial import json_schema

RECORDS = ("verdict", "unverified", "report")
"""The records that a command of rows writes."""
_NOT_HERE = "UnitResult"
"""A finding that only ``vouch challenge`` writes, which has no rows."""
_PLAIN = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool_"}
_Schema = dict[str, Any]


@cache
def record_schema() -> Any:
    """The Arrow schema of the lines of ``vouch check``, ``audit`` and ``follow``: the id, then the fields of records.

    >>> [field.name for field in record_schema()][:4]
    ['id', 'claim', 'label', 'score']
    >>> str(record_schema().field("claim").type.field("span").type.field("start").type)
    'int64'
    """
    arrow = needed("pyarrow", "data", "writing Parquet")
    merged: _Schema = {"type": "object", "properties": {}}
    for name in RECORDS:
        whole = json_schema(name)
        merged = _both(merged, _resolved(whole, whole.get("$defs", {})))
    fields = {"id": {"type": "string"}, **merged["properties"]}
    return arrow.schema([arrow.field(name, _type(arrow, schema)) for name, schema in fields.items()])


def parquet_bytes(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Lines of records as a Parquet file."""
    arrow, parquet = (needed(name, "data", "writing Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    table = arrow.Table.from_pylist(fitted(lines), schema=record_schema())
    made = BytesIO()
    parquet.write_table(table, made, compression="zstd")
    return made.getvalue()


def fitted(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Records as the schema has them: values without a type of their own become JSON text."""
    arrow = needed("pyarrow", "data", "writing Parquet")
    return [{field.name: _fit(arrow, line.get(field.name), field.type) for field in record_schema()} for line in lines]


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
        return arrow.list_(_type(arrow, schema["items"]))
    return getattr(arrow, _PLAIN.get(str(kind), "string"))()
