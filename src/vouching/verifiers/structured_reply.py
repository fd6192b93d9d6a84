"""From what a language model wrote to a record: find the one JSON object, mend it if need be, check every field.

Strict in what a record must hold, since a verdict leans on it; lenient only in spelling ("not_attributable", "Match").
Every fault is said in words, for a second question. Left out: guessing. A reply with two different records, a key
twice or a label outside the vocabulary has no meaning that a parser could choose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar, cast, get_args

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from vouching.types import ERROR_TYPES, ErrorType, Judgment, Label, Status

LONGEST_REPAIRED = 20_000
"""Characters of a reply that is mended; what is longer is no record with a slip but something else."""
LONGEST_READ = 2_000_000
"""Characters of a reply that is looked through for an object."""
_MOST_STARTS = 200
"""Braces from which an object is tried."""
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)
_NOTHING = ("", "none", "null", "n/a", "na", "-")
R = TypeVar("R", "Reply", "LabelReply")


class ReplyError(ValueError):
    """A reply that is no record; the message says why, as the end of "it cannot be used: ..."."""


def _one_of(words: tuple[str, ...]) -> Any:
    """A validator that forgives case, blanks, hyphens and a full stop where a word of a vocabulary is wanted."""
    known = {_folded(word): word for word in words}

    def spell(value: object) -> object:
        return known.get(_folded(value), value) if isinstance(value, str) else value

    return BeforeValidator(spell)


def _folded(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", word.strip(" \t\r\n.!\"'*`")).lower()


def _absent(value: object) -> object:
    """None where a model wrote that there is nothing."""
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


_Label = Annotated[Label, _one_of(get_args(Label))]
_Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
_Optional = Annotated[str | None, BeforeValidator(_absent)]
_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ReplyEntry:
    """One entry of the alignment, as written."""

    claim_span: _Text
    """Words of the claim."""
    source_span: str | None
    """Words of a source; NOT_FOUND, null or nothing if there are none."""
    status: Annotated[Status, _one_of(get_args(Status))]
    """How they compare."""


@dataclass(frozen=True, slots=True)
class ReplyStep:
    """One step of the chain, as written."""

    claim_part: _Text
    """What is looked at."""
    source_evidence: str | None
    """Words of a source; NOT_FOUND, null or nothing if there are none."""
    judgment: Annotated[Judgment, _one_of(get_args(Judgment))]
    """What follows."""
    explanation: str
    """Why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """SEVA's record v = (A, C, y, gamma, e, s) as a model wrote it, and the claim with its fix applied."""

    evidence_alignment: Annotated[list[ReplyEntry], Field(min_length=1)]
    """A: parts of the claim beside the source."""
    reasoning_chain: Annotated[list[ReplyStep], Field(min_length=1)]
    """C: the argument."""
    label: _Label
    """y."""
    confidence: _Share
    """gamma: how sure the model says it is of its label, in [0, 1]."""
    error_type: Annotated[ErrorType | None, BeforeValidator(_absent), _one_of(ERROR_TYPES)] = None
    """e: None for an Attributable claim."""
    fix_suggestion: _Optional = None
    """s: None for an Attributable claim."""
    revised_claim: _Optional = None
    """The claim as it should read; beyond SEVA's record, and never demanded."""


@dataclass(frozen=True, slots=True)
class LabelReply:
    """What the binary baseline asks for."""

    label: _Label
    """Attributable or not."""
    confidence: _Share
    """How sure the model says it is of it, in [0, 1]."""


def parse_reply(text: str, kind: type[R], mend: bool = True) -> R:
    """The record in a reply. Prose, code fences and thoughts around it do no harm.

    Args:
        text: the reply, of any length.
        kind: the record that was asked for.
        mend: whether a slip (a comma too many, quotes forgotten) may be mended; not in a reply that was cut off.

    Raises:
        ReplyError: there is no record in it, or more than one, or a field is missing or wrong.

    >>> parse_reply('Sure! {"label": "not_attributable", "confidence": 0.9}', LabelReply)
    LabelReply(label='Not Attributable', confidence=0.9)
    >>> parse_reply('{"label": "Perhaps", "confidence": 0.9}', LabelReply)
    Traceback (most recent call last):
    ...
    vouching.verifiers.structured_reply.ReplyError: label: Input should be 'Attributable' or 'Not Attributable', got ...
    """
    if not text.strip():
        raise ReplyError("it is empty, wanted a JSON object")
    if len(text) > LONGEST_READ:
        raise ReplyError(f"it has {len(text):,} characters, wanted a JSON object")
    found = _record(_THOUGHT.sub("", text), mend)
    try:
        record: R = _adapter(kind).validate_python(found)
        json.dumps(asdict(record), ensure_ascii=False).encode()
    except ValidationError as error:
        raise ReplyError(_told(error)) from None
    except UnicodeEncodeError:
        raise ReplyError("it holds half a character (a lone surrogate)") from None
    return record


@cache
def reply_schema(kind: type[Reply] | type[LabelReply] = Reply) -> dict[str, Any]:
    """The JSON Schema of a record, every key required and no others, as servers that enforce schemas want it.

    >>> reply_schema(LabelReply)["required"]
    ['label', 'confidence']
    """
    schema = _adapter(kind).json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        part["required"] = [*part["properties"]]
        part["additionalProperties"] = False
        for field in part["properties"].values():
            field.pop("default", None)
    return schema


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _record(text: str, mend: bool) -> dict[str, Any]:
    """The one object of a text that has a label."""
    found: list[dict[str, Any]] = []
    for value in _objects(text):
        if "label" in value and value not in found:
            found.append(value)
    if mend and not found and len(text) <= LONGEST_REPAIRED and "{" in text:
        found = [value for value in _mended(text) if "label" in value]
    if not found:
        raise ReplyError('it holds no JSON object with the key "label"')
    if len(found) > 1:
        raise ReplyError(f"it holds {len(found)} different JSON objects with a label, wanted one")
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a text that lie in no other object, as far as they are whole."""
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ReplyError:
            raise
        except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError
            pass
        else:
            yield value
        start = text.find("{", end)


def _mended(text: str) -> list[dict[str, Any]]:
    """The objects that json-repair makes of the text from its first brace to its last.

    It closes what was left open, and so makes a whole number of a cut one; an object that breaks off is not mended.
    """
    from json_repair import repair_json

    stretch = text[text.index("{") : text.rfind("}") + 1]
    if stretch.count("{") != stretch.count("}"):
        return []
    try:
        value: Any = repair_json(stretch, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return []
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", member) for member in values if isinstance(member, dict)]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ReplyError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return fields


def _no_number(word: str) -> NoReturn:
    raise ReplyError(f"it holds {word}, which is no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)


def _told(error: ValidationError) -> str:
    """The first faults of a record in words: where, what was wanted, what was got."""
    faults = error.errors(include_url=False)
    parts: list[str] = []
    for fault in faults[:3]:
        where = ".".join(str(part) for part in fault["loc"]) or "the record"
        got = "" if fault["type"] == "missing" else f", got {_short(fault['input'])}"
        parts.append(f"{where}: {fault['msg']}{got}")
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    return "; ".join(parts) + more


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."
