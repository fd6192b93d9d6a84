"""Cases and proposals as JSON in App. F's layout: written, and read from the replies of language models.

A verifier's reply is a case unless its verdict on the unit is "correct". One that cannot be read is neither: the reader
raises, and the verifier makes it Unverified. Two keys are added to App. F's: ``rules`` and ``correction``. Not
supported: findings on other units in the same reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast

from vouching.errors import InputError
from vouching.judging.ask import ReplyError
from vouching.judging.repairing import repaired_json
from vouching.judging.schemas import BOOLEAN, NULL, NUMBER, Schema, any_of, list_of, one_of, record, short_text
from vouching.methods.assurance.values import as_decimal, read_value, value_json
from vouching.models.base import Completion, spoken
from vouching.text.json_values import NestedTooDeeplyError, parse_json
from vouching.types import EvidencePointer, Proposal, Rollout, SafetyCase, TaskUnit, ValueType

R = TypeVar("R")
_LONGEST = 200_000
_LIMIT = 50
_LONGEST_TEXT = 4_000


_TEXT: Schema = short_text(400)
_NAME = 120
"""Characters of a name, path or value, where a server enforces the schema."""
_ENTRIES = 6
_STATED = any_of(NUMBER, BOOLEAN, short_text(_NAME), NULL)
_VALUES: Mapping[ValueType, Schema] = {
    "amount": NUMBER,
    "number": NUMBER,
    "integer": NUMBER,
    "boolean": BOOLEAN,
    "text": _TEXT,
    "choice": _TEXT,
}


def line_schema(unit: TaskUnit) -> Schema:
    """The JSON Schema of a generator's reply."""
    name = short_text(_NAME)
    return record(form=name, line=one_of(unit.id), description=name, amount=_value(unit), rationale=_TEXT)


def case_schema(unit: TaskUnit) -> Schema:
    """The JSON Schema of a verifier's reply."""
    name = short_text(_NAME)
    finding = record(
        form=name,
        line=one_of(unit.id),
        claim=_TEXT,
        verdict=one_of("correct", "wrong"),
        confidence=NUMBER,
        arguments=list_of(_TEXT, _ENTRIES),
        evidence=list_of(record(type=name, location=name, value=_STATED), _ENTRIES),
        rules=list_of(name, _ENTRIES),
        correction=any_of(_value(unit), NULL),
    )
    return record(
        claim_id=name,
        overall_verdict=one_of("accept", "reject"),
        overall_confidence=NUMBER,
        line_findings=list_of(finding, 1, 1),
    )


def choice_schema() -> Schema:
    """The JSON Schema of an approver's reply."""
    return record(decision=one_of("KEEP", "REVISE"), reason=_TEXT)


def _value(unit: TaskUnit) -> Schema:
    return one_of(*unit.choices) if unit.choices else _VALUES[unit.type]


def case_json(case: SafetyCase, unit: TaskUnit) -> dict[str, Any]:
    """A case in App. F's layout."""
    finding: dict[str, Any] = {
        "form": unit.form,
        "line": case.unit_id,
        "claim": case.claim,
        "verdict": case.verdict,
        "confidence": case.confidence,
        "arguments": [case.argument],
        "evidence": [{"type": one.type, "location": one.location, "value": one.value} for one in case.evidence],
        "rules": [*case.rules],
        "correction": value_json(case.correction),
    }
    return {
        "claim_id": "linewise-claim",
        "overall_verdict": "reject",
        "overall_confidence": case.confidence,
        "line_findings": [finding],
    }


def read_case(reply: str, unit: TaskUnit) -> SafetyCase | None:
    """The case in a reply; None if the verdict on the unit is "correct". Raises ReplyError if it has neither."""
    finding = _finding(_object(reply), unit)
    verdict = finding.get("verdict")
    if not isinstance(verdict, str) or not verdict.strip():
        raise ReplyError('the finding has no "verdict"; expected "correct" or "wrong"')
    line = finding.get("line", unit.id)
    about = _is_about(line, unit)
    if verdict.strip().strip(".").lower() == "correct":
        if not about:
            raise ReplyError(f'the verdict "correct" is about {str(line)[:40]!r}, expected {unit.id!r}')
        return None
    arguments = finding.get("arguments", finding.get("argument", []))
    given = cast("list[Any]", arguments) if isinstance(arguments, list) else [arguments]
    confidence = as_decimal(finding.get("confidence"))
    return SafetyCase(
        unit.id if about else _text(line),
        _text(finding.get("claim")),
        "\n".join(_text(one) for one in given[:_LIMIT] if isinstance(one, str)),
        tuple(_evidence(one) for one in _list(finding.get("evidence"))[:_LIMIT]),
        tuple(_text(one) for one in _list(finding.get("rules"))[:_LIMIT]),
        _correction(finding.get("correction"), unit),
        float(confidence) if confidence is not None and 0 <= confidence <= 1 else None,
        verdict.strip()[:60],
    )


def read_line(reply: str, unit: TaskUnit) -> Proposal:
    """The proposal in a generator's reply: an object with ``value`` (or ``amount``) and perhaps ``rationale``.

    Raises ReplyError if there is none, it is about another unit, or its value does not fit the unit.

    >>> read_line('Here: {"line": "9", "amount": "$1,234.50", "rationale": "Wages."}', TaskUnit("9", "amount")).value
    Decimal('1234.50')
    """
    found = _object(reply)
    line = found.get("line", unit.id)
    if not _is_about(line, unit):
        raise ReplyError(f"the reply is about {str(line)[:40]!r}, expected {unit.id!r}")
    raw = found.get("value", found.get("amount"))
    try:
        return Proposal(unit.id, read_value(raw, unit, "the value"), _text(found.get("rationale")))
    except InputError as error:
        raise ReplyError(str(error)) from None


def line_json(proposal: Proposal, unit: TaskUnit) -> dict[str, Any]:
    """A proposal as the paper's generator writes it: form, line, description, amount, rationale."""
    return {
        "form": unit.form,
        "line": unit.id,
        "description": unit.description,
        "amount": value_json(proposal.value),
        "rationale": proposal.rationale,
    }


def read_choice(reply: str) -> tuple[bool, str]:
    """The approver's answer: whether to revise, and why. Raises ReplyError if it is neither KEEP nor REVISE."""
    word = spoken(reply).strip().strip(".*`\"' \n").upper()
    if word in ("KEEP", "REVISE"):
        return word == "REVISE", ""
    found = _object(reply)
    decision = _text(found.get("decision")).strip().upper()
    if decision not in ("KEEP", "REVISE"):
        raise ReplyError(f"the decision must be KEEP or REVISE, got {decision[:40]!r}")
    return decision == "REVISE", _text(found.get("reason"))


def whole_text(reply: Completion | Rollout) -> str:
    """The text of a reply. Raises ReplyError if it was cut off."""
    if reply.finish_reason == "length":
        raise ReplyError("the reply was cut off: raise max_tokens (--max-tokens)")
    return reply.text


def read_reply(reply: Completion | Rollout, reader: Callable[[str], R]) -> tuple[R | None, str]:
    """The content of a reply, or what is wrong with it."""
    try:
        return reader(whole_text(reply)), ""
    except ReplyError as error:
        return None, str(error)


def challenge_text(action: Literal["SAC", "NS"], unit: TaskUnit) -> str:
    """A verifier's reply that takes an action and nothing else."""
    claim, verdict = ("The value is right.", "correct") if action == "NS" else ("The value is not right.", "wrong")
    made = case_json(SafetyCase(unit.id, claim, "", verdict=verdict), unit)
    made["overall_verdict"] = "accept" if action == "NS" else "reject"
    for found in (made, made["line_findings"][0]):
        for name in ("overall_confidence", "confidence", "arguments", "evidence", "rules", "correction"):
            found.pop(name, None)
    return json.dumps(made, ensure_ascii=False)


def choice_text(action: Literal["KEEP", "REVISE"]) -> str:
    """An approver's reply that takes an action and nothing else."""
    return json.dumps({"decision": action, "reason": ""})


def teacher_forced_text(action: Literal["SAC", "NS", "KEEP", "REVISE"], unit: TaskUnit) -> str:
    """A reply that takes an action and nothing else, in the layout of the prompts of ``vouch challenge``."""
    return choice_text(action) if action in ("KEEP", "REVISE") else challenge_text(action, unit)


def _object(reply: str) -> dict[str, Any]:
    """The JSON object of a reply, from its first brace to its last; small errors are repaired."""
    whole = _without_surrogates(spoken(reply))
    start, end = whole.find("{"), whole.rfind("}")
    if start < 0 or end < start or len(whole) > _LONGEST:
        raise ReplyError("the reply contains no JSON object")
    text = whole[start : end + 1]
    try:
        found: Any = parse_json(text)
    except NestedTooDeeplyError:
        raise ReplyError("the JSON objects are nested too deeply") from None
    except ValueError:
        found = repaired_json(text)
    if not isinstance(found, dict):
        raise ReplyError("the reply contains no valid JSON object")
    try:
        text = json.dumps(found, ensure_ascii=False)
    except RecursionError:
        raise ReplyError("the JSON objects are nested too deeply") from None
    clean = _without_surrogates(text)
    return cast("dict[str, Any]", found) if clean == text else parse_json(clean)


def _without_surrogates(text: str) -> str:
    r"""The text with a question mark for each lone surrogate (``\ud800`` in JSON), which no file can hold."""
    return text.encode(errors="replace").decode()


def _is_about(line: Any, unit: TaskUnit) -> bool:
    """Whether a line is the unit's; "Line 9" is 9."""
    word = str(line).strip()
    return unit.id in (word, re.sub(r"(?i)^line\s+", "", word))


def _finding(found: Mapping[str, Any], unit: TaskUnit) -> Mapping[str, Any]:
    """The finding about the unit."""
    if "line_findings" not in found:
        return found
    findings = [cast("dict[str, Any]", one) for one in _list(found["line_findings"]) if isinstance(one, dict)]
    about = [one for one in findings if _is_about(one.get("line", unit.id), unit)]
    if len(about) == 1 or (not about and len(findings) == 1):
        return (about or findings)[0]
    raise ReplyError(f"the reply has {len(about) or len(findings)} findings, expected exactly one, about {unit.id}")


def _evidence(given: Any) -> EvidencePointer:
    """A piece of evidence; one that is not an object has no location, and is flagged for that."""
    fields = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    return EvidencePointer(
        _text(fields.get("type")) or "input_field", _text(fields.get("location")), fields.get("value")
    )


def _correction(given: Any, unit: TaskUnit) -> Any:
    try:
        return None if given is None else read_value(given, unit, "correction")
    except InputError:
        return None


def _list(given: Any) -> list[Any]:
    return cast("list[Any]", given) if isinstance(given, list) else []


def _text(given: Any) -> str:
    return str(given)[:_LONGEST_TEXT] if isinstance(given, str | int) else ""
