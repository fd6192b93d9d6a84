"""From what a language model wrote to a record: find the one JSON object, repair it if need be, check every field.

Strict in what a record must hold, since a verdict leans on it; lenient only in spelling ("not_attributable", "Match").
Every fault is said in words, for a second question. A record that stands in the claim or a source is theirs, not the
model's: where one of them holds something like it, the reply must be nothing but an object, and another one. A policy's
reply that is graded is read by :func:`read_object` alone, strictly. Left out: guessing. A reply with two different
records, a key twice or a label outside the vocabulary has no meaning that a parser could choose.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar, cast, get_args

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from vouching.judging.ask import ReplyError
from vouching.types import ERROR_TYPES, ErrorType, Judgment, Label, Status

LONGEST_REPAIRED = 20_000
"""Characters of a reply that is mended; what is longer is no record with a slip but something else."""
LONGEST_READ = 2_000_000
"""Characters of a reply that is looked through for an object."""
MAX_PARTS = 100
"""Entries of an alignment, and steps of a chain; each is looked for in the sources, which takes its time."""
_MAX_STARTS = 1_000
"""Braces from which an object is tried."""
_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_LABEL_KEY = re.compile(r"""["'“”]label["'“”]\s*:""")
_FENCE_LINE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_HALF = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_NOTHING = ("", "none", "null", "n/a", "na", "-")
R = TypeVar("R", "Reply", "LabelReply")


def _one_of(words: tuple[str, ...]) -> Any:
    """A validator that forgives case, blanks, hyphens and a full stop where a word of a vocabulary is wanted."""
    known = {_folded(word): word for word in words}

    def spell(value: object) -> object:
        return known.get(_folded(value), value) if isinstance(value, str) and value not in words else value

    return BeforeValidator(spell)


def _folded(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", word.strip(" \t\r\n.!\"'*`")).lower()


def _absent(value: object) -> object:
    """None where a model wrote that there is nothing."""
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


def _few(parts: list[Any]) -> list[Any]:
    if len(parts) > MAX_PARTS:
        raise PydanticCustomError("too_many", f"wanted at most {MAX_PARTS} of them, got {len(parts):,}")  # pyright: ignore[reportArgumentType]
    return parts


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

    evidence_alignment: Annotated[list[ReplyEntry], Field(min_length=1), AfterValidator(_few)]
    """A: parts of the claim beside the source."""
    reasoning_chain: Annotated[list[ReplyStep], Field(min_length=1), AfterValidator(_few)]
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


def parse_reply(text: str, kind: type[R], mend: bool = True, shown: Sequence[str] = ()) -> R:
    """The record in a reply, every field checked.

    Args:
        text: the reply, of any length.
        kind: the record that was asked for.
        mend: see :func:`read_object`.
        shown: likewise.

    Raises:
        ReplyError: there is no record in it, or more than one, or a field is missing or wrong.

    >>> parse_reply('Sure! {"label": "not_attributable", "confidence": 0.9}', LabelReply)
    LabelReply(label='Not Attributable', confidence=0.9)
    >>> parse_reply('{"label": "Perhaps", "confidence": 0.9}', LabelReply)
    Traceback (most recent call last):
    ...
    vouching.judging.ask.ReplyError: label: Input should be 'Attributable' or 'Not Attributable', got ...
    """
    try:
        record: R = _adapter(kind).validate_python(read_object(text, mend=mend, shown=shown))
    except ValidationError as error:
        raise ReplyError(_told(error)) from None
    except RecursionError:
        raise ReplyError("its objects lie too deep in each other") from None
    if _HALF.search(text):
        _must_be_text(record)
    return record


def read_object(text: str, *, strict: bool = False, mend: bool = True, shown: Sequence[str] = ()) -> dict[str, Any]:
    r"""The fields of the JSON object in a reply, for the verifier and, strictly, for the reward.

    Args:
        text: the reply.
        strict: for a reply that is graded: one JSON parse from the first ``{`` to the last ``}``, without lines that
            only fence code, and nothing is repaired (SEVA, Algorithm 1); of a key that occurs twice the last value
            counts, whole numbers are floats. Else, for a reply that is used: prose, code fences and thoughts around the
            object do no harm, and it must be the only one with a label and have each key once.
        mend: whether a slip (a comma too many, quotes forgotten) may be repaired; not in a reply that was cut off.
        shown: the texts that the model was shown in which something like a record stands. If there is one, the reply
            must be the object alone, whole, and not a copy out of these texts.

    Raises:
        ReplyError: there is no such object. NaN and infinity are no JSON.

    >>> reply = 'So:\n```json\n{"label": "yes",}\n```'
    >>> read_object(reply)
    {'label': 'yes'}
    >>> read_object(reply, strict=True)
    Traceback (most recent call last):
    ...
    vouching.judging.ask.ReplyError: it holds no JSON object that can be read as it is
    """
    if strict:
        return _as_written(text)
    if not text.strip():
        raise ReplyError("it is empty, wanted a JSON object")
    if len(text) > LONGEST_READ:
        raise ReplyError(f"it has {len(text):,} characters, wanted a JSON object")
    return _record(text, mend, shown)


@cache
def reply_schema(kind: type[Reply] | type[LabelReply] = Reply) -> dict[str, Any]:
    """The JSON Schema of a record, every key required and no others, as servers that enforce schemas want it.

    >>> reply_schema(LabelReply)["required"]
    ['label', 'confidence']
    """
    schema: dict[str, Any] = _bare(_adapter(kind).json_schema())
    for part in (schema, *schema.get("$defs", {}).values()):
        part["required"] = [*part["properties"]]
        part["additionalProperties"] = False
        for field in part["properties"].values():
            field.pop("default", None)
    return schema


def _bare(schema: Any) -> Any:
    """A schema without titles and descriptions: the prompt describes the record."""
    if isinstance(schema, list):
        return [_bare(member) for member in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    return {key: _bare(value) for key, value in fields.items() if key not in ("title", "description")}


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@dataclass(frozen=True, slots=True)
class _Object:
    """A JSON object of a text that lies in no other one."""

    fields: dict[str, Any]
    start: int
    end: int
    fault: ReplyError | None = None
    """What is wrong with it: a key twice, NaN."""


def _as_written(text: str) -> dict[str, Any]:
    start, end = text.find("{"), text.rfind("}")
    stretch = text[start : end + 1] if start >= 0 else ""
    try:
        # As an int, a whole number of 5,000 digits is an error in Python, though none in JSON.
        record: Any = json.loads(_FENCE_LINE.sub("", stretch), parse_int=float, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ReplyError("it holds no JSON object that can be read as it is") from None
    return record  # what begins with { is an object, if it is read at all


def _record(text: str, mend: bool, shown: Sequence[str]) -> dict[str, Any]:
    """The one object of a text that has a label."""
    objects = [*_objects(text)]
    # The end of a thought is no end inside an object, where it is a quotation.
    ends = [found.end() for found in _THOUGHT_END.finditer(text)]
    begin = max((end for end in ends if not any(one.start < end < one.end for one in objects)), default=0)
    objects = [one for one in objects if one.start >= begin]
    fault = next((one.fault for one in objects if one.fault), None)
    if fault:
        raise fault
    records = [one for one in objects if "label" in one.fields]
    different = [one for at, one in enumerate(records) if all(one.fields != other.fields for other in records[:at])]
    if len(different) > 1:
        raise ReplyError(f"it holds {len(different)} different JSON objects with a label, wanted one")
    if records and _LABEL_KEY.search(_without(text, begin, objects)):
        raise ReplyError("it holds a second JSON object with a label, which breaks off, wanted one")
    if shown:
        return _alone(text, begin, records, shown)
    if records:
        return records[0].fields
    mended = _mended(text[begin:]) if mend and len(text) <= LONGEST_REPAIRED and "{" in text[begin:] else None
    if mended is None:
        raise ReplyError('it holds no JSON object with the key "label"')
    return mended


def _alone(text: str, begin: int, records: Sequence[_Object], shown: Sequence[str]) -> dict[str, Any]:
    """The fields of a record that is all of a reply, a fence aside, and stands in none of the texts."""
    if len(records) != 1:
        raise ReplyError('it is not one JSON object with the key "label", which it must be where a text shows another')
    [one] = records
    before, after = text[begin : one.start], text[one.end :]
    if not (re.fullmatch(r"\s*(?:```\w*)?\s*", before) and re.fullmatch(r"\s*(?:```)?\s*", after)):
        raise ReplyError("something stands beside the JSON object, which must be alone where a text shows another")
    said = _squeezed(text[one.start : one.end])
    if any(said in _squeezed(other) for other in shown):
        raise ReplyError("its JSON object is copied from the claim or a source")
    return one.fields


def _squeezed(text: str) -> str:
    """Letters and digits alone: a copy with other blanks or quotation marks is a copy."""
    return "".join(filter(str.isalnum, text)).casefold()


def _without(text: str, begin: int, objects: Sequence[_Object]) -> str:
    """What stands beside the objects."""
    parts: list[str] = []
    for one in objects:
        parts.append(text[begin : one.start])
        begin = one.end
    return "\n".join([*parts, text[begin:]])


def _objects(text: str) -> Iterator[_Object]:
    """The JSON objects of a text that lie in no other object, as far as they are whole."""
    start = text.find("{")
    for _ in range(_MAX_STARTS):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ReplyError as fault:
            yield _Object({}, start, end, fault)
        except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError
            pass
        else:
            yield _Object(value, start, end)
        start = text.find("{", end)


def _mended(text: str) -> dict[str, Any] | None:
    """The one object that json-repair makes of the text from its first brace to its last, if it has a label.

    It closes what was left open, and so makes a whole number of a cut one; an object that breaks off is not mended. Nor
    is one with a key twice, of which it would take the last.
    """
    from json_repair import repair_json

    stretch = text[text.index("{") : text.rfind("}") + 1]
    if stretch.count("{") != stretch.count("}"):
        return None
    try:
        value: Any = repair_json(stretch, return_objects=True, skip_json_loads=True)
        keys = Counter(_keys(value))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "label" not in value:
        return None
    for key, count in keys.items():
        if len(re.findall(rf"""(?<!\w){re.escape(key)}["'“”]?\s*:""", stretch)) != count:
            return None
    return cast("dict[str, Any]", value)


def _keys(value: Any) -> Iterator[str]:
    """The keys of all objects in a value."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        yield from fields
        members = [*fields.values()]
    else:
        members = cast("list[Any]", value) if isinstance(value, list) else []
    for member in members:
        yield from _keys(member)


def _must_be_text(record: Reply | LabelReply) -> None:
    try:
        json.dumps(asdict(record), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ReplyError("it holds half a character (a lone surrogate)") from None


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
