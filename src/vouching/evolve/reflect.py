"""Reflect: a verifier's strengths and weaknesses, as accuracies with intervals, weakness weights, and rules.

SEVA, section 2.5 and Algorithm 2, lines 4 to 6. The paper has one accuracy per error type and does not say where the
type of a row comes from. Here it is the gold type if rows have one. A type without such rows uses the type that the
verifier predicted, and its accuracy is the share of these rows that are Not Attributable: false alarms count against
it, overlooked errors cannot. ``basis`` says which it is. Not supported: the types of untyped errors that the verifier
overlooked, which are only counted; errors of several types.

Rules are made from failures without a language model: errors that were overlooked, claims that were refused without
reason, types that were confused. Each kind that is frequent enough gives a sentence with its most frequent words. These
come from data and go into a prompt, so only short plain spans are quoted. Not supported: rules worded by a language
model, which would have to be shown the failures in full, including injections in their sources.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from vouching import metrics
from vouching.bench.intervals import intervals
from vouching.errors import InputError
from vouching.evolve.records import Accuracy, Basis, Judged, Reflection, TypeAccuracy
from vouching.text.injection import addresses_verdict
from vouching.types.spans import ERROR_TYPES, ErrorType

MINIMUM = 3
"""Failures that a kind of failure needs to make a rule."""
SMALLEST_SHARE = 0.1
"""Share of the rows of its kind that it needs as well."""
MAX_RULES = 8
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
"""How to find each type. Part of prompts."""
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
"""How to avoid false alarms of each type. Part of prompts."""
_PLAIN = re.compile(r"[\w%$€£°][\w %$€£°.,'’/-]{0,38}")
_MAX_WORDS = 4
_MAX_EXAMPLES = 3


class _Failure(NamedTuple):
    rule: str
    rows: int


def rules_from(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Rules from a verifier's failures, the most frequent first: at most eight, and none if it hardly ever fails.

    A kind of failure counts if it has at least three rows and a tenth of the rows that could fail like that.

    >>> from vouching.evolve.records import Row
    >>> row = Row("1", "It opened in 1937.", "It opened in 1973.", "Not Attributable", error_type="temporal_shift")
    >>> for rule in rules_from([Judged(row, 0.9, "Attributable")] * 3):
    ...     print(rule)
    Compare every date, length of time and order of events of the claim with the source. Overlooked: 3 of 3.
    """
    answered = [one for one in judged if one.unverified is None]
    failures = sorted([*_overlooked(answered), *_refused(answered), *_mistaken(answered)], key=lambda one: -one.rows)
    return tuple(one.rule for one in failures[:MAX_RULES])


def _overlooked(judged: Iterable[Judged]) -> Iterator[_Failure]:
    for kind, rows in _by_type(judged).items():
        missed = [one for one in rows if one.label == "Attributable"]
        if _counts(missed, rows):
            shown = _examples(missed)
            yield _Failure(f"{_CHECK[kind]} Overlooked: {len(missed)} of {len(rows)}{shown}.", len(missed))


def _refused(judged: Iterable[Judged]) -> Iterator[_Failure]:
    right = [one for one in judged if one.row.attributable]
    alarms: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in right:
        if one.label == "Not Attributable":
            alarms[one.error_type or "no type"].append(one)
    for answer, rows in alarms.items():
        if _counts(rows, right):
            shown = f"{len(rows)} of {len(right)} claims that the source supports"
            yield _Failure(f"{_CAUTION[answer]} Refused as {answer.replace('_', ' ')}: {shown}.", len(rows))


def _mistaken(judged: Iterable[Judged]) -> Iterator[_Failure]:
    for kind, rows in _by_type(judged).items():
        found = [one for one in rows if one.label == "Not Attributable"]
        for answer, count in Counter(one.error_type or "no type" for one in found).items():
            if answer != kind and _counts(range(count), found):
                other = "to name no type" if answer == "no type" else f"to call it {answer}"
                shown = _examples([one for one in found if (one.error_type or "no type") == answer])
                wrong = f"{other} was wrong in {count} of {len(found)}{shown}"
                yield _Failure(f"Call it {kind} where that is the error; {wrong}.", count)


def _by_type(judged: Iterable[Judged]) -> dict[ErrorType, list[Judged]]:
    found: dict[ErrorType, list[Judged]] = {kind: [] for kind in ERROR_TYPES}
    for one in judged:
        if one.row.error_type is not None:
            found[one.row.error_type].append(one)
    return found


def _counts(failed: Sequence[object], of: Sequence[object]) -> bool:
    return len(failed) >= max(MINIMUM, SMALLEST_SHARE * len(of))


def _examples(judged: Iterable[Judged]) -> str:
    """The most frequent error spans of these rows, quoted; empty if none may be."""
    words = Counter(span.text.strip() for one in judged for span in one.row.spans if quotable(span.text.strip()))
    quoted = [f"“{text}”" for text, _ in words.most_common(_MAX_EXAMPLES)]
    return f", as in {', '.join(quoted)}" if quoted else ""


def quotable(text: str) -> bool:
    """Whether a span of data may be quoted in a prompt: at most four plain words, without an address."""
    plain = _PLAIN.fullmatch(text) is not None and len(text.split()) <= _MAX_WORDS
    return plain and addresses_verdict(text) is None


PRIOR_ROWS = 20.0
"""Rows of average accuracy that smoothing adds to every type."""
RESAMPLES = 2_000
"""Of the intervals of a reflection."""


def reflect(judged: Sequence[Judged], *, resamples: int = RESAMPLES) -> Reflection:
    """A verifier's strengths and weaknesses by its answers to data that may guide training, never to a test set.

    Rows that it failed on are counted and are in no accuracy. Intervals resample rows that share a claim, a source or a
    document together; ``resamples`` 0 omits them. Raises InputError if there is no answer at all.
    """
    if not any(one.unverified is None for one in judged):
        raise InputError(f"none of the {len(judged)} rows was answered: a reflection requires at least one answer")
    groups = metrics.document_numbers(one.row.keys for one in judged).tolist()
    places = _places_by_type(judged)
    found: dict[ErrorType, Accuracy] = {
        kind: _accuracy(judged, groups, at, resamples) for kind, (_, at) in places.items()
    }
    raw, smoothed = _weights(found), _weights(found, PRIOR_ROWS)
    by_set: defaultdict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(judged):
        by_set[one.row.data_set].append(place)
    return Reflection(
        types=tuple(TypeAccuracy(t, places[t][0], found[t], raw[t], smoothed[t]) for t in ERROR_TYPES),
        sets={name: _accuracy(judged, groups, at, resamples) for name, at in sorted(by_set.items())},
        confusion=_confusion(judged),
        rules=rules_from(judged),
        notes=tuple(_notes(judged, {kind: basis for kind, (basis, _) in places.items()}, found)),
    )


def budgets(weights: Mapping[ErrorType, float], total: int) -> dict[ErrorType, int]:
    """Probes of each type: the ceiling of w_t times the total, then one less of the largest until they fit.

    Departure: Algorithm 2, line 9, stops at the ceilings, up to five probes too many; arms of an experiment are only
    comparable if their numbers are equal.

    >>> budgets({"negation_flip": 0.5, "fabrication": 0.25, "temporal_shift": 0.25}, 10)  # 5, 3 and 3 are one too many
    {'negation_flip': 4, 'fabrication': 3, 'temporal_shift': 3}
    """
    counts: dict[ErrorType, int] = {kind: math.ceil(weight * total - 1e-9) for kind, weight in weights.items()}
    while sum(counts.values()) > total:
        largest = max(counts, key=lambda kind: counts[kind])
        counts[largest] -= 1
    return counts


def _places_by_type(judged: Sequence[Judged]) -> dict[ErrorType, tuple[Basis, list[int]]]:
    """The rows of each type, and where their type comes from."""
    known: defaultdict[str | None, list[int]] = defaultdict(list)
    predicted: defaultdict[str | None, list[int]] = defaultdict(list)
    for place, one in enumerate(judged):
        if one.row.error_type is not None:
            known[one.row.error_type].append(place)
        else:
            predicted[one.error_type].append(place)
    found: dict[ErrorType, tuple[Basis, list[int]]] = {}
    for kind in ERROR_TYPES:
        basis: Basis = "known" if known[kind] else "predicted" if predicted[kind] else "none"
        found[kind] = (basis, known[kind] or predicted[kind])
    return found


def _accuracy(judged: Sequence[Judged], groups: Sequence[int], places: Sequence[int], resamples: int) -> Accuracy:
    answered = [place for place in places if judged[place].unverified is None]
    right = [bool(judged[place].right) for place in answered]
    if not answered:
        none = {"estimate": None, "low": None, "high": None, "why_not": "no row was answered"}
        return Accuracy(0, 0, len(places), none)
    numbers = metrics.document_numbers((groups[place],) for place in answered)
    figures = intervals({"accuracy": partial(metrics.mean, [float(one) for one in right])}, numbers, resamples)
    return Accuracy(len(answered), sum(right), len(places) - len(answered), figures["accuracy"])


def _weights(found: Mapping[ErrorType, Accuracy], prior: float = 0.0) -> dict[ErrorType, float]:
    """Weakness weights (Algorithm 2), with ``prior`` rows of the accuracy over all types added to each."""
    rows, right = sum(one.rows for one in found.values()), sum(one.right for one in found.values())
    overall = right / rows if rows else 0.0
    missed: dict[ErrorType, float] = {
        kind: 1 - (one.right + prior * overall) / (one.rows + prior) for kind, one in found.items() if one.rows + prior
    }
    mean = sum(missed.values()) / len(missed) if missed else 0.0
    every: dict[ErrorType, float] = {kind: missed.get(kind, mean) for kind in found}
    total = sum(every.values())
    return {kind: share / total if total > 0 else 1 / len(every) for kind, share in every.items()}


def _confusion(judged: Iterable[Judged]) -> dict[str, dict[str, int]]:
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in judged:
        gold = "Attributable" if one.row.attributable else one.row.error_type or "untyped"
        table[gold][_answer(one)] += 1
    order = [*ERROR_TYPES, "untyped", "Attributable"]
    return {gold: dict(table[gold].most_common()) for gold in order if gold in table}


def _answer(one: Judged) -> str:
    """An error type, "no type" for Not Attributable without one, "Attributable", or "unverified"."""
    if one.unverified is not None:
        return "unverified"
    return "Attributable" if one.label == "Attributable" else one.error_type or "no type"


def _notes(
    judged: Sequence[Judged], basis: Mapping[ErrorType, Basis], found: Mapping[ErrorType, Accuracy]
) -> Iterable[str]:
    predicted = [kind for kind in ERROR_TYPES if basis[kind] == "predicted"]
    if predicted:
        yield f"{', '.join(predicted)}: no row has this gold type, so the rows to which the verifier gave it are used"
    missing = [kind for kind in ERROR_TYPES if not found[kind].rows]
    if missing:
        yield f"{', '.join(missing)}: no answered row has this type, so it gets the mean weight"
    overlooked = sum(
        not one.row.attributable and one.row.error_type is None and one.label == "Attributable" for one in judged
    )
    if overlooked:
        yield f"{overlooked:,} errors of unknown type were called Attributable; they count towards sets, but not types"
    failed = sum(one.unverified is not None for one in judged)
    if failed:
        yield f"{failed:,} of {len(judged):,} rows were not verified and do not count towards any accuracy"


def reflection_lines(found: Reflection) -> Iterator[str]:
    """A reflection as lines for a terminal."""
    yield f"{'error type':24}{'basis':11}{'rows':>6}{'correct':>8}  {'95 % interval':18}{'weight':>7}{'smoothed':>10}"
    for one in found.types:
        yield (
            f"{one.error_type:24}{one.basis:11}{one.found.rows:>6,}{_percent(one.found):>8}  {_interval(one.found):18}"
            f"{one.weight:>7.3f}{one.smoothed:>10.3f}"
        )
    yield ""
    yield f"{'set':35}{'rows':>6}{'correct':>8}  {'95 % interval':18}{'not verified':>12}"
    for name, one in found.sets.items():
        yield f"{name:35}{one.rows:>6,}{_percent(one):>8}  {_interval(one):18}{one.unverified:>12,}"
    for title, lines in (("Rules", found.rules), ("Notes", found.notes)):
        if lines:
            yield ""
            yield title
            yield from (f"- {line}" for line in lines)


def _percent(one: Accuracy) -> str:
    estimate = one.accuracy["estimate"]
    return "-" if estimate is None else f"{100 * estimate:.1f} %"


def _interval(one: Accuracy) -> str:
    low, high = one.accuracy["low"], one.accuracy["high"]
    return "none" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f} %"
