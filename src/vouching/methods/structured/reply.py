"""From a language model's reply to a record: find the one JSON object, repair it if need be, check every field.

Strict about the content of a record, since a verdict depends on it; lenient only about spelling ("not_attributable",
"Match"). Every fault is described in words, for a second question. If the claim or a source contains something like a
record, the reply must be a single JSON object that is not copied from them. Replies that are graded are read strictly
by :func:`read_object`. Not supported: guessing. A reply with two different records, a repeated key or an unknown label
has no verdict.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar, cast, get_args

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from vouching.judging.ask import ReplyError, unrepeated
from vouching.judging.repairing import repaired_json
from vouching.judging.schemas import MAX_LENGTH
from vouching.text.json_values import parse_json
from vouching.types import ERROR_TYPES, ErrorType, Judgment, Label, Status

MAX_READ = 2_000_000
"""Characters of a reply that is searched for an object."""
MAX_PARTS = 100
"""Entries of an alignment and steps of a chain; each is searched for in the sources."""
MAX_ENTRIES = 8
"""Entries and steps in the reply of a server that enforces the schema."""
_MAX_STARTS = 1_000
"""Braces at which parsing an object is tried."""
_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_LABEL_KEY = re.compile(r"""["'“”]label["'“”]\s*:""")
_CODE_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_HALF = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_COLON = re.compile(r"(?<!\s)\s*:")
_QUOTES = "\"'“”"
_WORD = re.compile(r"\w")
_NOTHING = ("", "none", "null", "n/a", "na", "-")
R = TypeVar("R", "Reply", "LabelReply")


def _one_of(words: tuple[str, ...]) -> Any:
    """A validator that ignores case, blanks, hyphens and a full stop in a word of a vocabulary."""
    known = {_folded(word): word for word in words}

    def normalise(value: object) -> object:
        return known.get(_folded(value), value) if isinstance(value, str) and value not in words else value

    return BeforeValidator(normalise)


def _folded(word: str) -> str:
    return re.sub(r"[\s_-]+", " ", word.strip(" \t\r\n.!\"'*`")).lower()


def _absent(value: object) -> object:
    """None for words such as "none"."""
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


def _known(field: str, words: tuple[str, ...]) -> Any:
    """A validator that drops the entries of a list whose field has a word outside its vocabulary."""
    known = {_folded(word) for word in words}

    def keep(parts: object) -> object:
        if not isinstance(parts, list) or not parts:
            raise PydanticCustomError("too_short", "expected a list with at least one entry")
        all_ = cast("list[Any]", parts)
        said = (cast("dict[str, Any]", one).get(field) if isinstance(one, dict) else None for one in all_)
        return [
            one for one, word in zip(all_, said, strict=True) if not isinstance(word, str) or _folded(word) in known
        ]

    return BeforeValidator(keep)


def _few(parts: list[Any]) -> list[Any]:
    if len(parts) > MAX_PARTS:
        raise PydanticCustomError("too_many", f"expected at most {MAX_PARTS} entries, got {len(parts):,}")  # pyright: ignore[reportArgumentType]
    unrepeated(parts)
    return parts


_KNOWN_STATUS, _KNOWN_JUDGMENT = _known("status", get_args(Status)), _known("judgment", get_args(Judgment))
_NOT_EMPTY = Field(json_schema_extra={"minItems": 1})
_Label = Annotated[Label, _one_of(get_args(Label))]
_Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
_Optional = Annotated[str | None, BeforeValidator(_absent)]
_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ReplyEntry:
    """One entry of the alignment, as written; a missing source span is NOT_FOUND, null or empty."""

    claim_span: _Text
    source_span: str | None
    status: Annotated[Status, _one_of(get_args(Status))]


@dataclass(frozen=True, slots=True)
class ReplyStep:
    """One step of the chain, as written; missing source evidence is NOT_FOUND, null or empty."""

    claim_part: _Text
    source_evidence: str | None
    judgment: Annotated[Judgment, _one_of(get_args(Judgment))]
    explanation: str


@dataclass(frozen=True, slots=True)
class Reply:
    """SEVA's record v = (A, C, y, gamma, e, s) as a model wrote it, and the corrected claim."""

    evidence_alignment: Annotated[list[ReplyEntry], AfterValidator(_few), _KNOWN_STATUS, _NOT_EMPTY]
    """A: parts of the claim and of the source, without entries whose status is an unknown word."""
    reasoning_chain: Annotated[list[ReplyStep], AfterValidator(_few), _KNOWN_JUDGMENT, _NOT_EMPTY]
    """C, without steps whose judgment is an unknown word."""
    label: _Label
    """y."""
    confidence: _Share
    """gamma: the stated confidence in the label, in [0, 1]."""
    error_type: Annotated[ErrorType | None, BeforeValidator(_absent), _one_of(ERROR_TYPES)] = None
    """e: None for an Attributable claim."""
    fix_suggestion: _Optional = None
    """s: None for an Attributable claim."""
    revised_claim: _Optional = None
    """The corrected claim; optional, not part of SEVA's record."""


@dataclass(frozen=True, slots=True)
class LabelReply:
    """The record of the binary baseline."""

    label: _Label
    confidence: _Share
    """The stated confidence in the label, in [0, 1]."""


def parse_reply(text: str, kind: type[R], repair: bool = True, shown: Sequence[str] = ()) -> R:
    """The record in a reply, every field checked; see :func:`read_object` for ``repair`` and ``shown``.

    Raises ReplyError for no record, more than one, or a missing or wrong field.
    """
    try:
        record: R = _adapter(kind).validate_python(read_object(text, repair=repair, shown=shown))
    except ValidationError as error:
        raise ReplyError(_faults(error)) from None
    except RecursionError:
        raise ReplyError("the JSON objects are nested too deeply") from None
    if _HALF.search(text):
        try:
            json.dumps(asdict(record), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ReplyError("the reply contains a lone surrogate (half of a character)") from None
    return record


def read_object(text: str, *, strict: bool = False, repair: bool = True, shown: Sequence[str] = ()) -> dict[str, Any]:
    r"""The fields of the JSON object in a reply, for the verifier and, strictly, for the reward.

    Strictly: one JSON parse from the first ``{`` to the last ``}``, without code fences and without repairs (SEVA,
    Algorithm 1); the last value of a repeated key counts, integers become floats. Otherwise, prose, code fences and
    thoughts around the object are ignored; it must be the only one with a label and have each key once; and ``repair``
    fixes syntax errors (an extra comma, missing quotes), unless the reply was cut off. If the prompt has texts like a
    record (``shown``), the reply must be the object alone, complete, and not a copy from these. Raises ReplyError
    otherwise; NaN and infinity are not JSON.

    >>> reply = 'So:\n```json\n{"label": "yes",}\n```'
    >>> read_object(reply)
    {'label': 'yes'}
    >>> read_object(reply, strict=True)
    Traceback (most recent call last):
    ...
    vouching.judging.ask.ReplyError: the reply contains no JSON object that can be read without repairs
    """
    if strict:
        return _as_written(text)
    if not text.strip():
        raise ReplyError("the reply is empty: expected a JSON object")
    if len(text) > MAX_READ:
        raise ReplyError(
            f"the reply has {len(text):,} characters, more than the limit of {MAX_READ:,}: expected a JSON object"
        )
    return _record(text, repair, shown)


_QUOTE, _SENTENCE, _EDIT = 160, 200, 160
"""Characters of a quotation, of an explanation, and that an edit adds to the claim."""
_STEP = 64
"""Characters to which the length of a claim is rounded up, so that a server compiles few schemas."""


def schema_for(kind: type[Reply] | type[LabelReply], claim: str) -> dict[str, Any]:
    """The JSON Schema of a record on a claim; every list and string has a bound, by the claim's length."""
    return _schema(kind, min(-(-len(claim) // _STEP) * _STEP, MAX_LENGTH - _EDIT))


@cache
def _schema(kind: type[Reply] | type[LabelReply], length: int) -> dict[str, Any]:
    """Every key is required and no others are allowed, as servers expect; a confidence is in the label, so >= .5."""
    part = min(length, _QUOTE)
    bounds = {
        "claim_span": part,
        "claim_part": part,
        "source_span": _QUOTE,
        "source_evidence": _QUOTE,
        "explanation": _SENTENCE,
        "fix_suggestion": length + _EDIT,
        "revised_claim": length + _EDIT,
    }
    schema: dict[str, Any] = _bare(_adapter(kind).json_schema())
    for one in (schema, *schema.get("$defs", {}).values()):
        one["required"] = [*one["properties"]]
        one["additionalProperties"] = False
        for name, field in one["properties"].items():
            field.pop("default", None)
            field |= {"enum": [number / 100 for number in range(50, 101)]} if name == "confidence" else {}
            if field.get("type") == "array":
                field["maxItems"] = min(2 + length // 24, MAX_ENTRIES)  # one for four words, and two
            for choice in field.get("anyOf", [field]) if name in bounds else ():
                choice |= {"maxLength": bounds[name]} if choice["type"] == "string" else {}
    return schema


def _bare(schema: Any) -> Any:
    """A schema without titles and descriptions, which the prompt has."""
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
    """A JSON object of a text that is not inside another one."""

    fields: dict[str, Any]
    start: int
    end: int
    fault: ReplyError | None = None
    """A repeated key, or NaN."""


def _as_written(text: str) -> dict[str, Any]:
    start, end = text.find("{"), text.rfind("}")
    stretch = text[start : end + 1] if start >= 0 else ""
    try:
        # Python cannot parse an int of 5,000 digits, which is valid JSON.
        record: Any = parse_json(_CODE_FENCE.sub("", stretch), parse_int=float, parse_constant=_no_number)
    except ValueError:
        raise ReplyError("the reply contains no JSON object that can be read without repairs") from None
    return record  # an object, since it begins with {


def _record(text: str, repair: bool, shown: Sequence[str]) -> dict[str, Any]:
    """The only object of a text with a label."""
    objects = [*_objects(text)]
    # A thought does not end inside an object, where its end tag is a quotation.
    ends = [found.end() for found in _THOUGHT_END.finditer(text)]
    begin = max((end for end in ends if not any(one.start < end < one.end for one in objects)), default=0)
    objects = [one for one in objects if one.start >= begin]
    fault = next((one.fault for one in objects if one.fault), None)
    if fault:
        raise fault
    records = [one for one in objects if "label" in one.fields]
    different = [one for at, one in enumerate(records) if all(one.fields != other.fields for other in records[:at])]
    if len(different) > 1:
        raise ReplyError(f"the reply contains {len(different)} different JSON objects with a label, expected one")
    if records and _LABEL_KEY.search(_without(text, begin, objects)):
        raise ReplyError("the reply contains a second, incomplete JSON object with a label, expected one object")
    if shown:
        return _alone(text, begin, records, shown)
    if records:
        return records[0].fields
    found = _repaired_object(text[begin:]) if repair and "{" in text[begin:] else None
    if found is None:
        raise ReplyError('the reply contains no JSON object with the key "label"')
    return found


def _alone(text: str, begin: int, records: Sequence[_Object], shown: Sequence[str]) -> dict[str, Any]:
    """The fields of a record that is the whole reply, except for a code fence, and is not in the shown texts."""
    if len(records) != 1:
        raise ReplyError(
            'expected exactly one JSON object with the key "label", because the claim or a source contains another'
        )
    [one] = records
    before, after = text[begin : one.start], text[one.end :]
    if not (re.fullmatch(r"\s*(?:```\w*)?\s*", before) and re.fullmatch(r"\s*(?:```)?\s*", after)):
        raise ReplyError(
            "the JSON object must have no text around it, because the claim or a source contains another object"
        )
    record = _squeezed(text[one.start : one.end])
    if any(record in _squeezed(other) for other in shown):
        raise ReplyError("the JSON object is copied from the claim or a source")
    return one.fields


def _squeezed(text: str) -> str:
    """Letters and digits alone, so that copies with other blanks or quotation marks are found."""
    return "".join(filter(str.isalnum, text)).casefold()


def _without(text: str, begin: int, objects: Sequence[_Object]) -> str:
    """The text between the objects."""
    parts: list[str] = []
    for one in objects:
        parts.append(text[begin : one.start])
        begin = one.end
    return "\n".join([*parts, text[begin:]])


def _objects(text: str) -> Iterator[_Object]:
    """The complete JSON objects of a text that are not inside another object."""
    start = text.find("{")
    for _ in range(_MAX_STARTS):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ReplyError as fault:
            yield _Object({}, start, end, fault)
        except (ValueError, RecursionError):  # an int of thousands of digits raises ValueError
            pass
        else:
            yield _Object(value, start, end)
        start = text.find("{", end)


def _repaired_object(text: str) -> dict[str, Any] | None:
    """The one object that json-repair finds between the first brace and the last, if it has a label.

    json-repair closes what was left open, which can truncate a number, and takes the last value of a repeated key;
    truncated objects and repeated keys are therefore not repaired.
    """
    stretch = text[text.index("{") : text.rfind("}") + 1]
    if stretch.count("{") != stretch.count("}"):
        return None
    value = repaired_json(stretch)
    if not isinstance(value, dict) or "label" not in value:
        return None
    try:
        keys = Counter(_keys(value))
    except RecursionError:
        return None
    return cast("dict[str, Any]", value) if _written(keys, stretch) == keys else None


def _written(keys: Collection[str], text: str) -> Counter[str]:
    """How often each of the keys is written before a colon, in time that does not grow with their number."""
    lengths, found = {len(key) for key in keys}, Counter[str]()
    for colon in _COLON.finditer(text):
        end = colon.start()
        ends = (end, end - 1) if end and text[end - 1] in _QUOTES else (end,)
        stretches = [(last - length, last) for last in ends for length in lengths if length <= last]
        found.update({text[a:b] for a, b in stretches if text[a:b] in keys and not (a and _WORD.match(text[a - 1]))})
    return found


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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ReplyError(f"the key {key!r} occurs twice")
    return fields


def _no_number(word: str) -> NoReturn:
    raise ReplyError(f"the reply contains {word}, which is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)


def _faults(error: ValidationError) -> str:
    """The first faults of a record in words: where, what was expected, what was found."""
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
