"""Check a response against the rules that its instruction asks for, strictly and loosely; also rows of them.

Not supported: partial scores for an item; requirements without a rule (a warning says that they were not checked).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from vouching.errors import ConfigError, InputError
from vouching.inputs import check_text
from vouching.models.base import Model
from vouching.rows import Line, Row, Seen, Work, fields_of
from vouching.rules.catalog import RULES, bind
from vouching.rules.find import find_rules
from vouching.rules.ruling import Ruling
from vouching.types import ChecklistItem, Claim, ItemResult, Report, Source, Unverified, VerdictWarning
from vouching.types.visible import shown_json, shown_keys

_NAMES = "instruction_id_list"


def rule_on(item: ChecklistItem, response: str) -> Ruling:
    """Check one item by its rule, strictly. A blank response passes nothing.

    Raises InputError for an item without a known rule, MissingExtraError if langdetect is needed and not installed.

    >>> item = bind("punctuation:no_comma")
    >>> rule_on(item, "Short and good.").passed, rule_on(item, "  ").passed
    (True, False)
    """
    if item.rule is None:
        raise InputError(f"the item {item.text!r} has no rule: choose a rule, or pass a language model to judge it")
    if item.rule not in RULES:
        raise InputError(f"the item {item.text!r} has the unknown rule {item.rule!r}; see docs/rules.md")
    if not response.strip():
        return Ruling(False, "It is blank.")
    return RULES[item.rule].check(response, **item.arguments)


def passes_loosely(item: ChecklistItem, response: str) -> bool:
    r"""Whether the response or one of its :func:`loose_variants` passes."""
    return any(rule_on(item, variant).passed for variant in dict.fromkeys(loose_variants(response)))


def loose_variants(response: str) -> tuple[str, ...]:
    r"""Eight variants: without its first line, its last, both; each also without asterisks."""
    lines = response.split("\n")
    cut = (response, *("\n".join(kept).strip() for kept in (lines[1:], lines[:-1], lines[1:-1])))
    return (*cut, *(text.replace("*", "") for text in cut))


def followed(items: Sequence[ChecklistItem], response: str) -> tuple[list[bool], list[bool]]:
    r"""Which items are fulfilled, strictly and loosely."""
    strict = [rule_on(item, response).passed for item in items]
    loose = [passed or passes_loosely(item, response) for item, passed in zip(items, strict, strict=True)]
    return strict, loose


def item_result(item: ChecklistItem, response: str) -> ItemResult:
    """The strict outcome as a finding; where only a variant passes, the reason says so.

    >>> print(item_result(bind("punctuation:no_comma"), "First, this."))
    ✗ Is the response free of commas? (rule punctuation:no_comma): It has 1 comma.
    """
    ruling = rule_on(item, response)
    loosely = not ruling.passed and passes_loosely(item, response)
    reason = f"{ruling.reason} It passes IFEval's loose check." if loosely else ruling.reason
    return ItemResult(item.text, (ruling.passed,), float(ruling.passed), ruling.passed, reason, ruling.span, item.rule)


def named_items(row: Mapping[str, Any]) -> tuple[ChecklistItem, ...]:
    """The items of a row in IFEval's form: ``instruction_id_list``, and ``kwargs`` for each of them.

    Raises InputError if they are not lists of the same length, or arguments do not fit their rule.
    """
    names, arguments = _list(row, "instruction_id_list"), _list(row, "kwargs")
    if len(names) != len(arguments):
        raise InputError(f'"kwargs" has {len(arguments)} entries, expected {len(names)}, one per rule')
    for name, given in zip(names, arguments, strict=True):
        if not isinstance(name, str):
            raise InputError(f'"instruction_id_list" must contain only names of rules, got {shown_json(name)}')
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f'{name}: its "kwargs" must be an object or null, got {shown_json(given)}')
    return tuple(map(bind, names, arguments))


def _list(row: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = row.get(key)
    if not isinstance(value, list):
        raise InputError(f'"{key}" must be a list, got {shown_json(value)}')
    return cast("list[Any]", value)


def rules_report(instruction: str, response: str, items: Sequence[ChecklistItem] | None = None) -> Report:
    """Check a response by rules alone: no language model, no network.

    Without ``items``, checks the rules found in the instruction and warns that it may ask for more. ``score`` is the
    share of items passed, None without items. Raises MissingExtraError if langdetect is needed and not installed.

    >>> print(rules_report("Name three fruits. Use no commas.", "Apples, pears and plums."))
    1 item: 0 passed, 1 failed
    <BLANKLINE>
    ✗ Is the response free of commas? (rule punctuation:no_comma): It has 1 comma.
    """
    warnings: tuple[VerdictWarning, ...] = ()
    if items is None:
        items = find_rules(instruction)
        some = "Only the rules found in the instruction were checked; it may ask for more."
        warnings = (VerdictWarning("unchecked", some if items else "No rule was found in the instruction."),)
    findings = tuple(item_result(item, response) for item in items)
    score = sum(one.score for one in findings) / len(findings) if findings else None
    return Report(
        response=response, sources=(), findings=findings, question=instruction, score=score, warnings=warnings
    )


@dataclass(frozen=True, slots=True)
class RulesConfig:
    """Rules have no settings."""


class RulesVerifier:
    """Verifies whole responses by the rules of their instruction, or by those of a checklist."""

    async def verify(
        self,
        question: str | None,
        response: str,
        sources: Sequence[Source] = (),
        items: Sequence[ChecklistItem] | None = None,
    ) -> Report:
        """The report of :func:`rules_report`. Raises ConfigError if there are sources."""
        if sources:
            raise ConfigError("sources cannot be used with rules: omit the sources, or pass a model")
        return rules_report(question or "", response, items)

    async def aclose(self) -> None:
        """Nothing to release."""


def open_rules(model: str | Model = "embedded", config: RulesConfig | None = None) -> RulesVerifier:
    """The verifier by rules; no model is used."""
    return RulesVerifier()


def rules_work() -> Work:
    """The function from a row to its line: the row with its outcomes, or with the problem.

    >>> row = Row(1, "line 1", {"id": "a", "prompt": "Use no commas.", "response": "So be it."})
    >>> line = json.loads(rules_work()(row))
    >>> line["instruction_id_list"], line["strict"], line["loose"], line["detected"]
    (['punctuation:no_comma'], [True], [True], True)
    """
    return _line


def _line(row: Row) -> str:
    fields = dict(row.fields or {})
    if str(fields.get("id")) != row.name:
        fields["id"] = row.name
    try:
        return json.dumps({**fields, **_outcome({**fields_of(row), **fields})}, ensure_ascii=False)
    except InputError as error:
        return json.dumps({**fields, "strict": None, "loose": None, "problem": f"{row.place}: {error}"})


def _outcome(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The outcomes of a row; without named rules, of those found in its prompt."""
    if fields.get("response") is None:
        raise InputError(f'the row has no value for "response"; {shown_keys(fields)}')
    response = check_text(fields["response"], "the response")
    named: dict[str, Any] = {}
    if fields.get(_NAMES) is not None:
        items = named_items(fields)
    elif (key := _prompt_key(fields)) is not None:
        items = find_rules(check_text(fields[key], f"the {key}"))
        named = {_NAMES: [item.rule for item in items], "kwargs": [dict(item.arguments) for item in items]}
        named["detected"] = True
    else:
        raise InputError(f'the row has no value for "{_NAMES}", "prompt" or "instruction"; {shown_keys(fields)}')
    strict, loose = followed(items, response)
    return {**named, "strict": strict, "loose": loose}


def _prompt_key(fields: Mapping[str, Any]) -> str | None:
    return next((key for key in ("prompt", "instruction") if fields.get(key) is not None), None)


def seen_rules(input_name: str, line: Line) -> Seen:
    """The counts of a line for a run over rows."""
    if line["strict"] is None:
        return Seen(str(line["id"]), problem=f"{input_name}, {line['problem']}")
    strict, loose = line["strict"], line["loose"]
    if not strict:
        return Seen(str(line["id"]), counts={"without rules": 1})
    counts = {
        "prompts": 1,
        "strict prompts": int(all(strict)),
        "loose prompts": int(all(loose)),
        "rules": len(strict),
        "strict": sum(strict),
        "loose": sum(loose),
        "broken": len(strict) - sum(strict),
    }
    return Seen(str(line["id"]), counts=counts)


def ruled_report(line: Line) -> Report | Unverified:
    """The report that a line stands for."""
    if line["strict"] is None:
        return Unverified(Claim("", id=str(line["id"])), "input", str(line["problem"]))
    prompt = line.get(_prompt_key(line) or "")
    report = rules_report(prompt if isinstance(prompt, str) else "", line["response"], named_items(line))
    return replace(report, question=report.question or None, id=str(line["id"]))
