"""Reflect: what a verifier is good and bad at, as accuracies with intervals, weakness weights, and rules.

SEVA, section 2.5 and Algorithm 2, lines 4 to 6. The paper has one accuracy per error type and does not say where the
type of a row comes from. Here it is the gold type where rows have one. For a type of which there is no such row it is
the type that the verifier itself named, and the accuracy is the share of these rows that are Not Attributable: what it
calls such an error without reason counts against it, what it overlooks cannot. The basis says which it is. Left out:
the types of errors that nobody typed and the verifier overlooked, which are only counted; errors of several types.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from vouching import metrics
from vouching.bench.intervals import intervals
from vouching.errors import InputError
from vouching.evolve.records import Accuracy, Basis, Judged, Reflection, TypeAccuracy
from vouching.evolve.rules import rules_from
from vouching.types.labels import ERROR_TYPES, ErrorType

PRIOR_ROWS = 20.0
"""Rows of average accuracy that smoothing adds to every type."""
RESAMPLES = 2_000
"""Of the intervals of a reflection, which guide and prove nothing."""


def reflect(judged: Sequence[Judged], *, resamples: int = RESAMPLES) -> Reflection:
    """What a verifier's answers say about it.

    Rows that it failed on are counted and are in no accuracy. Intervals draw rows that share a claim, a source or a
    document together.

    Args:
        judged: its answers, on data that may guide training: never on a test set.
        resamples: of the intervals; 0 leaves them out.

    Raises:
        InputError: there is no answer at all.

    >>> from vouching import check
    >>> from vouching.evolve.records import Row, judged_as
    >>> source = "The bridge opened in 1973 and cost $5 million."
    >>> said = {"It opened in 1937.": "temporal_shift", "It cost $6 million.": "numerical_exaggeration"}
    >>> rows = [Row(claim, claim, source, "Not Attributable", "bridges", None, kind) for claim, kind in said.items()]
    >>> found = reflect([judged_as(row, check(row.claim, row.source)) for row in rows])
    >>> found.sets["bridges"].right, found.types[1].found.rows, found.types[1].basis
    (2, 1, 'known')
    """
    if not any(one.unverified is None for one in judged):
        raise InputError(f"got {len(judged)} rows, none of them answered: a reflection needs answers")
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
    """How many probes of each type: the ceiling of w_t times the total, then one less of the largest until they fit.

    Algorithm 2, line 9, stops at the ceilings, which is up to five probes too many; arms of an experiment are only
    comparable with as many as they were given.

    >>> budgets({"negation_flip": 0.5, "fabrication": 0.25, "temporal_shift": 0.25}, 10)  # 5, 3 and 3 are one too many
    {'negation_flip': 4, 'fabrication': 3, 'temporal_shift': 3}
    """
    counts: dict[ErrorType, int] = {kind: math.ceil(weight * total - 1e-9) for kind, weight in weights.items()}
    while sum(counts.values()) > total:
        largest = max(counts, key=lambda kind: counts[kind])
        counts[largest] -= 1
    return counts


def _places_by_type(judged: Sequence[Judged]) -> dict[ErrorType, tuple[Basis, list[int]]]:
    """The rows that a type's accuracy is of, and what says that they are of it."""
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
    """Weakness weights, with ``prior`` rows of the accuracy over all types added to each (equation of Algorithm 2)."""
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
        table[gold][said_of(one)] += 1
    order = [*ERROR_TYPES, "untyped", "Attributable"]
    return {gold: dict(table[gold].most_common()) for gold in order if gold in table}


def said_of(one: Judged) -> str:
    """What the verifier said: an error type, "no type" for Not Attributable without one, "Attributable", "unverified".

    >>> from vouching.evolve.records import Row
    >>> said_of(Judged(Row("1", "It opened.", "The bridge opened.", "Attributable"), 0.2, "Not Attributable"))
    'no type'
    """
    if one.unverified is not None:
        return "unverified"
    return "Attributable" if one.label == "Attributable" else one.error_type or "no type"


def _notes(
    judged: Sequence[Judged], basis: Mapping[ErrorType, Basis], found: Mapping[ErrorType, Accuracy]
) -> Iterable[str]:
    predicted = [kind for kind in ERROR_TYPES if basis[kind] == "predicted"]
    if predicted:
        yield f"{', '.join(predicted)}: no row is known to be of such a type; taken are those that the verifier gave it"
    missing = [kind for kind in ERROR_TYPES if not found[kind].rows]
    if missing:
        yield f"{', '.join(missing)}: no answered row is of such a type; it gets the weight of a mean one"
    overlooked = sum(
        not one.row.attributable and one.row.error_type is None and said_of(one) == "Attributable" for one in judged
    )
    if overlooked:
        yield f"{overlooked:,} errors of unknown type were called Attributable; they are in the sets and in no type"
    failed = sum(one.unverified is not None for one in judged)
    if failed:
        yield f"{failed:,} of {len(judged):,} rows were not verified and are in no accuracy"
