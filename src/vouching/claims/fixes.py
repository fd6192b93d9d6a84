"""Fixes that are safe to apply: of a claim that failed, and a sentence in the form of the claim.

Whatever a judge proposes, a claim that passed has no fix; a fix keeps the capital of its sentence, a finite verb, and
the form of its number: digits for digits, a word for a word. One that does not read as a sentence is dropped. Not
supported: number words above twelve, which stay as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from vouching.judging.verifier import Outcome
from vouching.text.clauses import finite_verb
from vouching.text.numerals import find_numerals, parse_number
from vouching.types import Verdict, VerdictWarning

_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()


_NAMED = re.compile(
    r"\s*(?:change|replace|remove|delete|correct)\s+(?P<words>.+?)(?:\s+(?:to|with|by)\s.*|[.:]?\s*)$", re.I
)
_QUOTES = " \"'“”‘’`."


def with_safe_fixes(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes, with the fixes that are safe to apply; one that names words not in the claim gets a warning."""
    return [_safe(one) if isinstance(one, Verdict) and one.fix_suggestion is not None else one for one in outcomes]


def _safe(verdict: Verdict) -> Verdict:
    claim, suggestion, proposed = verdict.claim.text, verdict.fix_suggestion or "", verdict.revised_claim
    if verdict.attributable:
        return replace(verdict, revised_claim=None, fix_suggestion=None)
    if proposed is None:
        named = _NAMED.match(suggestion)
        words = named["words"].strip(_QUOTES) if named else ""
        if words.lower() in claim.lower():
            return verdict
        note = f'The fix of the judge names words that are not in the claim, "{words}": it was dropped.'
        return replace(verdict, fix_suggestion=None, warnings=(*verdict.warnings, VerdictWarning("ungrounded", note)))
    revised = tidied(claim, proposed)
    if revised is None:
        return replace(verdict, revised_claim=None, fix_suggestion=None)
    for old, new in zip(proposed.split(), revised.split(), strict=False):
        suggestion = suggestion.replace(old.strip(_QUOTES), new.strip(_QUOTES)) if old != new else suggestion
    return replace(verdict, revised_claim=revised, fix_suggestion=suggestion)


def tidied(claim: str, revised: str) -> str | None:
    """A revised claim in the form of the claim; None for one that changes nothing, or is no sentence.

    >>> tidied("You can carry 6 days.", "You can carry Five days."), tidied("It has two wards.", "It two wards.")
    ('You can carry 5 days.', None)
    """
    if not any(character.isalnum() for character in revised) or (finite_verb(claim) and not finite_verb(revised)):
        return None
    before, after = find_numerals(claim), find_numerals(revised)
    if len(before) == len(after):
        for old, new in reversed([*zip(before, after, strict=True)]):
            was, shown = claim[old.start : old.end], revised[new.start : new.end]
            if was.lower() != shown.lower():
                revised = revised[: new.start] + _as_written(was, shown) + revised[new.end :]
    if claim[:1].isupper() and revised[:1].islower():
        revised = revised[:1].upper() + revised[1:]
    return None if revised == claim else revised


def _as_written(was: str, shown: str) -> str:
    """A number in the form of the one that it replaces: "Five" for "6" is "5", and "3" for "five" is "three"."""
    value = parse_number(shown)
    if value is None or not value.is_integer() or was[:1].isdigit() == shown[:1].isdigit():
        return shown
    if was[:1].isdigit():
        return f"{value:,.0f}" if value >= 10_000 else f"{value:.0f}"
    return _WORDS[int(value)] if was.isalpha() and 0 <= value < len(_WORDS) else shown
