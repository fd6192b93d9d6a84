"""Records to JSON and back, and their published JSON Schema, by pydantic (imported on first use)."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from vouching.errors import InputError
from vouching.types.assurance import Assurance, UnitResult
from vouching.types.report import Finding, Report, ReviewedVerdict
from vouching.types.retrieval import ContextReport
from vouching.types.search import Ranking
from vouching.types.verdict import Unverified, Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

AnyRecord: TypeAlias = Verdict | Unverified | Report | Ranking | Assurance | ReviewedVerdict | ContextReport
Record = TypeVar("Record", Verdict, Unverified, Report, Ranking, Assurance, ReviewedVerdict, ContextReport)
SCHEMAS: dict[str, type[Any]] = {
    "verdict": Verdict,
    "unverified": Unverified,
    "report": Report,
    "ranking": Ranking,
    "assurance": Assurance,
    "reviewed": ReviewedVerdict,
    "context": ContextReport,
}
"""Records that have a published schema, by name."""


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def to_json(record: AnyRecord, indent: int | None = None) -> str:
    """A record as JSON text, on one line unless ``indent`` is given."""
    with _serializing(record):
        return _adapter(type(record)).dump_json(record, indent=indent).decode()


def to_line(record: AnyRecord, **more: Any) -> str:
    """The record of a row as one line of JSON that starts with the row's id and ends with ``more`` fields.

    >>> from vouching.types import Claim
    >>> to_line(Unverified(Claim("It rained.", "a"), "refused", "No."))[:28]
    '{"id":"a","claim":{"text":"I'
    """
    from pydantic_core import to_json

    with _serializing(record):
        fields = to_python(record)
        name = fields.pop("id", None) if "claim" not in fields else fields["claim"]["id"]
        return to_json({"id": name, **fields, **more}, inf_nan_mode="null").decode()


@contextmanager
def _serializing(record: AnyRecord) -> Generator[None]:
    """Raise InputError where a record cannot be written."""
    from pydantic_core import PydanticSerializationError

    try:
        yield
    except PydanticSerializationError as error:
        raise InputError(
            f"the {record.kind} cannot be written as JSON: expected text without lone surrogates ({error})"
        ) from None


def to_python(record: AnyRecord) -> dict[str, Any]:
    """A record as plain dicts, lists, strings and numbers."""
    return cast("dict[str, Any]", _adapter(type(record)).dump_python(record, mode="json"))


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding of a report as plain dicts, lists, strings and numbers."""
    return cast("dict[str, Any]", _adapter(type(finding)).dump_python(finding, mode="json"))


def finding_from(fields: dict[str, Any]) -> UnitResult | Unverified:
    """A finding about a unit, from plain data. Raises InputError for any other record.

    >>> finding_from(finding_json(UnitResult("a", "1", False, None, "1"))).submitted
    '1'
    """
    from pydantic import ValidationError

    try:
        kind = UnitResult if fields.get("kind") == "unit" else Unverified
        return cast("UnitResult | Unverified", _adapter(kind).validate_python(fields))
    except ValidationError as error:
        raise InputError(f"expected a finding about a unit: {error.errors()[0]['msg']}") from None


def from_json(kind: type[Record], text: str | bytes) -> Record:
    """Read a record. Raises InputError if the text is not such a record.

    >>> from vouching.types import Verdict
    >>> from_json(Verdict, "{}")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: expected a Verdict; missing or wrong fields: 6; the first is "claim": Field required
    """
    from pydantic import ValidationError

    try:
        return cast("Record", _adapter(kind).validate_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole record"
        raise InputError(
            f"expected a {kind.__name__}; missing or wrong fields: {error.error_count()}; the first is "
            f'"{where}": {first["msg"]}'
        ) from None


def defined(value: Any) -> Any:
    """Replace nan and infinities, which JSON does not have, with null."""
    if isinstance(value, dict):
        return {key: defined(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [defined(member) for member in cast("list[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _describe(schema: dict[str, Any], record: type[Any]) -> None:
    """Add the docstrings of a record and of its fields to its schema, in place."""
    [body] = [
        node.body
        for node in ast.parse(inspect.getsource(sys.modules[record.__module__])).body
        if isinstance(node, ast.ClassDef) and node.name == record.__name__
    ]
    schema["description"] = inspect.cleandoc(record.__doc__ or "").partition("\n\n")[0]
    for field, docstring in pairwise(body):
        match field, docstring:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                schema["properties"][name]["description"] = " ".join(text.split())
            case _:
                pass


def json_schema(name: str = "verdict") -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a record, one of ``SCHEMAS``.

    >>> json_schema("verdict")["title"]
    'Verdict'
    >>> json_schema("verdict")["properties"]["usage"]["description"]
    'What it cost.'
    """
    if name not in SCHEMAS:
        raise InputError(f"unknown schema {name!r}; expected one of {', '.join(SCHEMAS)}")
    schema = _adapter(SCHEMAS[name]).json_schema(mode="serialization")
    _describe(schema, SCHEMAS[name])
    for title, definition in schema.get("$defs", {}).items():
        _describe(definition, getattr(sys.modules[__package__ or ""], title))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
