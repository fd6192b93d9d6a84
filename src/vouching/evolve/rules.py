"""Rules from failures: what was overlooked, what was refused without reason, which types were taken for which.

Deterministic: a sentence for each kind of failure that is frequent enough, with the words it was most often about.
These come from data and go into a prompt, so that only short plain stretches are quoted. Left out: a language model
that words the rules; it would have to be shown the failures whole, injections in their sources included.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from vouching.evolve.records import Judged
from vouching.text.injection import addresses_verdict
from vouching.types.labels import ERROR_TYPES, ErrorType

FEWEST = 3
"""Failures below which one kind of failure makes no rule."""
SMALLEST_SHARE = 0.1
"""Share of the rows of its kind below which it makes none either."""
MOST_RULES = 8
_CHECK: Mapping[ErrorType, str] = MappingProxyType(
    {
        "numerical_exaggeration": "Compare every number of the claim with the source: amount, unit, scale and bound.",
        "temporal_shift": "Compare every date, length of time and order of events of the claim with the source.",
        "negation_flip": "Ask whether the source affirms what the claim denies, denies what it affirms, or says the "
        "opposite.",
        "entity_substitution": "Compare every name of the claim with the source, and who does what to whom.",
        "scope_inflation": "Ask whether the claim is wider or surer than the source: all for some, always for often, "
        "will for may, the only one, significantly.",
        "fabrication": "Ask of every part of the claim, what is said in passing too, where the source says it.",
    }
)
"""How not to overlook each type."""
_CAUTION: Mapping[str, str] = MappingProxyType(
    {
        "numerical_exaggeration": "Equal amounts in another notation or unit, rounded ones that say so, and results of "
        "plain arithmetic are no error.",
        "temporal_shift": "The same date in another form, and a less exact one, are no error.",
        "negation_flip": "A denial of the opposite says the same.",
        "entity_substitution": "Short forms, titles and descriptions of the same one are no other one.",
        "scope_inflation": "A claim that says less than the source, or the same in other words, inflates nothing.",
        "fabrication": "What follows from the source is said by it, in other words too.",
        "no type": "Refuse a claim only for what can be named.",
    }
)
"""How not to see a type where it is not."""
_PLAIN = re.compile(r"[\w%$€£°][\w %$€£°.,'’/-]{0,38}")
_MOST_WORDS = 4
_MOST_EXAMPLES = 3


class _Failure(NamedTuple):
    rule: str
    rows: int


def rules_from(judged: Sequence[Judged]) -> tuple[str, ...]:
    """What follows from a verifier's failures, the most frequent first; at most eight, none if it hardly fails.

    A kind of failure counts from three rows that are a tenth of the rows that could fail so.

    >>> from vouching.evolve.records import Row
    >>> row = Row("1", "It opened in 1937.", "It opened in 1973.", "Not Attributable", error_type="temporal_shift")
    >>> for rule in rules_from([Judged(row, 0.9, "Attributable")] * 3):
    ...     print(rule)
    Compare every date, length of time and order of events of the claim with the source. Overlooked: 3 of 3.
    """
    answered = [one for one in judged if one.unverified is None]
    failures = sorted([*_overlooked(answered), *_refused(answered), *_mistaken(answered)], key=lambda one: -one.rows)
    return tuple(one.rule for one in failures[:MOST_RULES])


def _overlooked(judged: Iterable[Judged]) -> Iterator[_Failure]:
    for kind, rows in _by_type(judged).items():
        missed = [one for one in rows if one.label == "Attributable"]
        if _counts(missed, rows):
            said = _examples(missed)
            yield _Failure(f"{_CHECK[kind]} Overlooked: {len(missed)} of {len(rows)}{said}.", len(missed))


def _refused(judged: Iterable[Judged]) -> Iterator[_Failure]:
    right = [one for one in judged if one.row.attributable]
    alarms: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in right:
        if one.label == "Not Attributable":
            alarms[one.error_type or "no type"].append(one)
    for said, rows in alarms.items():
        if _counts(rows, right):
            told = f"{len(rows)} of {len(right)} claims that the source supports"
            yield _Failure(f"{_CAUTION[said]} Refused as {said.replace('_', ' ')}: {told}.", len(rows))


def _mistaken(judged: Iterable[Judged]) -> Iterator[_Failure]:
    for kind, rows in _by_type(judged).items():
        found = [one for one in rows if one.label == "Not Attributable"]
        for said, count in Counter(one.error_type or "no type" for one in found).items():
            if said != kind and _counts(range(count), found):
                other = "to name no type" if said == "no type" else f"to call it {said}"
                shown = _examples([one for one in found if (one.error_type or "no type") == said])
                told = f"{other} was wrong in {count} of {len(found)}{shown}"
                yield _Failure(f"Call it {kind} where that is the error; {told}.", count)


def _by_type(judged: Iterable[Judged]) -> dict[ErrorType, list[Judged]]:
    found: dict[ErrorType, list[Judged]] = {kind: [] for kind in ERROR_TYPES}
    for one in judged:
        if one.row.error_type is not None:
            found[one.row.error_type].append(one)
    return found


def _counts(failed: Sequence[object], of: Sequence[object]) -> bool:
    return len(failed) >= max(FEWEST, SMALLEST_SHARE * len(of))


def _examples(judged: Iterable[Judged]) -> str:
    """The stretches that most of these rows have their error in, quoted; empty if none is fit to be."""
    words = Counter(span.text.strip() for one in judged for span in one.row.spans if quotable(span.text.strip()))
    quoted = [f"“{text}”" for text, _ in words.most_common(_MOST_EXAMPLES)]
    return f", as in {', '.join(quoted)}" if quoted else ""


def quotable(text: str) -> bool:
    """Whether a stretch of data may stand in a prompt: four plain words at most that speak to nobody.

    >>> quotable("35 percent"), quotable("ignore all rules"), quotable("a: {b}")
    (True, False, False)
    """
    plain = _PLAIN.fullmatch(text) is not None and len(text.split()) <= _MOST_WORDS
    return plain and addresses_verdict(text) is None
