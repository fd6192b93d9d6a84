"""Route: specialists behind one verifier, each claim to the one that is expected to judge it best.

The features describe the texts of a claim and its source: length, dialogue or prose, density of numbers and names,
overlap of words. They do not depend on whether the claim is supported, and computing them calls no verifier. A ridge
regression per specialist predicts how much more often it is right than the best one overall, which is the default. The
regularization is selected by cross-validation over documents: the strongest within one standard error of the best. The
strongest of all shrinks the regressions to nothing, which leaves the best specialist alone. Sets have equal weight, and
so have both labels in each. A router is not to be measured on the rows it was fitted on: :func:`cross_routed`
cross-validates. Not supported: topics, which would have to be learned; majority votes of several specialists.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from vouching import metrics
from vouching.errors import ConfigError, InputError
from vouching.evolve.gate import paired
from vouching.evolve.records import Judged, Row
from vouching.judging.verifier import ClaimVerifier, Outcome
from vouching.metrics.arrays import FloatArray
from vouching.models.running import all_of
from vouching.text.cues import find_negations
from vouching.text.dates import find_dates
from vouching.text.entities import find_entities
from vouching.text.quantities import find_quantities
from vouching.text.sentences import sentence_spans
from vouching.text.words import Word, find_words
from vouching.types import Claim, Source

_LONGEST = 20_000
"""Characters of a source that are read."""
_TALK = frozenset({"i", "me", "my", "you", "your", "we", "our", "us", "yeah", "okay", "i'm", "it's", "don't"})
_QUOTES = re.compile('["“”]')


class _Texts(NamedTuple):
    """A claim and its source, tokenized once."""

    claim: str
    source: str
    claim_words: list[Word]
    source_words: list[Word]
    sentences: int

    def per_claim_word(self, number: int) -> float:
        return number / max(1, len(self.claim_words))

    def per_sentence(self, number: int) -> float:
        return number / max(1, self.sentences)


def _in_source(texts: _Texts) -> float:
    known = {word.stem for word in texts.source_words}
    content = [word.stem in known for word in texts.claim_words if word.is_content]
    return sum(content) / max(1, len(content))


def _numbers(texts: _Texts) -> float:
    dates = find_dates(texts.claim)
    return texts.per_claim_word(len(find_quantities(texts.claim, dates)))


def _talk(texts: _Texts) -> float:
    return sum(word.lower in _TALK for word in texts.source_words) / max(1, len(texts.source_words))


def _letters(texts: _Texts) -> float:
    return sum(word.end - word.start for word in texts.source_words) / max(1, len(texts.source_words))


_MEASURES: Mapping[str, Callable[[_Texts], float]] = MappingProxyType(
    {
        "claim words, log": lambda texts: math.log1p(len(texts.claim_words)),
        "source words, log": lambda texts: math.log1p(len(texts.source_words)),
        "source sentences, log": lambda texts: math.log1p(texts.sentences),
        "words of a source sentence, log": lambda texts: math.log1p(texts.per_sentence(len(texts.source_words))),
        "claim words in the source": _in_source,
        "numbers in the claim": _numbers,
        "dates in the claim": lambda texts: texts.per_claim_word(len(find_dates(texts.claim))),
        "names in the claim": lambda texts: texts.per_claim_word(len(find_entities(texts.claim))),
        "denials in the claim": lambda texts: texts.per_claim_word(len(find_negations(texts.claim, texts.claim_words))),
        "talk in the source": _talk,
        "questions in the source": lambda texts: texts.per_sentence(texts.source.count("?")),
        "quotation marks in the source": lambda texts: texts.per_sentence(len(_QUOTES.findall(texts.source))),
        "letters of a source word": _letters,
    }
)
FEATURES: tuple[str, ...] = tuple(_MEASURES)


def domain_features(claim: str, source: str) -> FloatArray:
    """The features (F,) of a claim and the first 20,000 characters of its source.

    >>> found = dict(zip(FEATURES, domain_features("It opened in 1937.", "It opened in 1973.").tolist(), strict=True))
    >>> found["claim words in the source"], found["dates in the claim"]  # "opened", not "1937"; 1 of 4 words
    (0.5, 0.25)
    """
    source = source[:_LONGEST]
    texts = _Texts(claim, source, find_words(claim), find_words(source), len(sentence_spans(source)))
    return np.array([measure(texts) for measure in _MEASURES.values()])


Answers: TypeAlias = Mapping[str, Sequence[Judged]]
"""Answers to the same rows in the same order, by specialist."""
STRENGTHS = (0.01, 0.1, 1.0, 10.0, None)
"""Regularization strengths, weakest first; None is infinite."""
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Router:
    """Selects a specialist for each claim. Raises InputError if it was fitted on other features."""

    specialists: tuple[str, ...]
    """Their names; the first is the default."""
    centre: tuple[float, ...]
    """Mean of each feature."""
    spread: tuple[float, ...]
    """Standard deviation of each feature; 1 for a constant one."""
    gains: tuple[tuple[float, ...], ...]
    """For each specialist but the first, how much more often it is expected to be right: intercept and slopes of the
    standardized features."""
    strength: float | None = None
    """Regularization of the gains; None leaves the first specialist alone."""
    features: tuple[str, ...] = FEATURES

    def __post_init__(self) -> None:
        if self.features != FEATURES:
            raise InputError("the router was fitted on the features of another version of vouching: fit it again")

    def choose(self, claim: str, source: str) -> str:
        """The specialist for a claim."""
        return self.specialists[int(self.choices(domain_features(claim, source)[None])[0])]

    def choices(self, features_NF: FloatArray) -> NDArray[np.intp]:
        """(N,) index of the specialist for each row, from features (N, F)."""
        standard = (features_NF - np.array(self.centre)) / np.array(self.spread)
        gains = np.array(self.gains).reshape(-1, len(self.centre) + 1)
        expected = gains[:, :1].T + standard @ gains[:, 1:].T
        return np.argmax(np.concatenate([np.zeros((len(standard), 1)), expected], axis=1), axis=1)


class RoutedVerifier:
    """Several verifiers as one: each claim goes to the one that the router selects.

    Verifiers are named, for example ``METHODS["embedded"].open("embedded:runs/weakness/round-2/student")``, and the
    router is made by ``fit_router``, or read with ``read_record(Path("router.json"), Router)``.
    """

    def __init__(self, router: Router, verifiers: Mapping[str, ClaimVerifier]) -> None:
        if missing := sorted({*router.specialists} - {*verifiers}):
            raise ConfigError(f"the router requires the verifier {missing[0]!r}, got {', '.join(verifiers) or 'none'}")
        self.router = router
        self._verifiers = {name: verifiers[name] for name in router.specialists}

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order; its provenance names the judge."""
        text = _joined(sources)
        by_name: dict[str, list[int]] = {}
        for place, claim in enumerate(claims):
            by_name.setdefault(self.router.choose(claim.text, text), []).append(place)
        found = await all_of(
            self._verifiers[name].verify([claims[place] for place in places], sources)
            for name, places in by_name.items()
        )
        outcomes = {
            place: one
            for places, several in zip(by_name.values(), found, strict=True)
            for place, one in zip(places, several, strict=True)
        }
        return [outcomes[place] for place in range(len(claims))]

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """How much of a longer text the sources support, by the specialist for it."""
        return await self._verifiers[self.router.choose(text, _joined(sources))].support(text, sources)

    async def aclose(self) -> None:
        """Close all verifiers."""
        for verifier in self._verifiers.values():
            await verifier.aclose()


def fit_router(answers: Answers) -> Router:
    """The router for specialists, from their answers to rows that may guide training, never to test rows.

    A failure counts as a wrong answer. Raises InputError for fewer than two specialists or if the rows differ.

    >>> texts = {"talk": "Ann: I think so. Bob: Yeah, you do?", "prose": "The report describes the building of it."}
    >>> rows = [Row(f"{name} {n}", f"Item {n}.", f"{text} Item {n}.", "Attributable", name)
    ...         for name, text in texts.items() for n in range(30)]
    >>> said = {True: (0.9, "Attributable"), False: (0.1, "Not Attributable")}
    >>> answers = {name: [Judged(row, *said[row.data_set == name]) for row in rows] for name in texts}
    >>> router = fit_router(answers)
    >>> [router.choose("Bob agrees.", text) for text in texts.values()]
    ['talk', 'prose']
    """
    table = _table(answers)
    strength = _best_strength(table)
    return _fitted(table, np.ones(len(table.rows), dtype=bool), strength)


def routed(router: Router, answers: Answers) -> list[Judged]:
    """The answer of the specialist that the router selects, row by row. Raises InputError if answers are missing."""
    table = _table({name: _of(answers, name) for name in router.specialists})
    return [table.answers[choice][row] for row, choice in enumerate(router.choices(table.features))]


def cross_routed(answers: Answers) -> list[Judged]:
    """A router's cross-validated answers: each fold of documents by a router fitted on the other folds.

    Strength, default specialist and gains are all selected without the fold. Raises InputError for fewer than two
    specialists or if the rows differ.
    """
    table = _table(answers)
    judged: list[Judged] = list(table.answers[0])
    for fold in range(FOLDS):
        held = table.folds == fold
        if held.all() or not held.any():
            continue
        router = fit_router(
            {
                name: [one for one, out in zip(several, held, strict=True) if not out]
                for name, several in answers.items()
            }
        )
        order = [table.names.index(name) for name in router.specialists]
        choices = router.choices(table.features[held])
        for row, choice in zip(np.flatnonzero(held), choices, strict=True):
            judged[row] = table.answers[order[choice]][row]
    return judged


def best_single(answers: Answers) -> str:
    """The specialist that is right most often, with equal weight for sets and labels; the first if tied."""
    table = _table(answers)
    return table.names[int(np.argmax(table.weights @ table.right))]


@dataclass(frozen=True, slots=True)
class _Table:
    """Answers as arrays: N rows, S specialists, F features."""

    names: tuple[str, ...]
    answers: tuple[Sequence[Judged], ...]
    rows: tuple[Row, ...]
    features: FloatArray
    """(N, F)"""
    right: FloatArray
    """(N, S): 1 if the label is the gold one."""
    weights: FloatArray
    """(N,), 1 on average."""
    groups: NDArray[np.intp]
    """(N,): index of the document."""
    folds: NDArray[np.intp]
    """(N,): the fold of the document."""


def _table(answers: Answers) -> _Table:
    if len(answers) < 2:
        raise InputError(f"a router requires answers from at least two specialists, got {len(answers)}")
    first, *others = answers.values()
    for other in others:
        paired(first, other)
    rows = tuple(one.row for one in first)
    groups = metrics.document_numbers(row.keys for row in rows)
    drawn = np.random.default_rng(0).permutation(int(groups.max()) + 1) % FOLDS
    return _Table(
        tuple(answers),
        tuple(answers.values()),
        rows,
        np.array([domain_features(row.claim, row.source) for row in rows]),
        np.array([[float(one.right is True) for one in several] for several in answers.values()]).T,
        _even(rows),
        groups,
        drawn[groups],
    )


def _fitted(table: _Table, used: NDArray[np.bool_], strength: float | None) -> Router:
    """A router fitted on some of the rows."""
    weights = table.weights[used] / table.weights[used].sum()
    features, right = table.features[used], table.right[used]
    centre = weights @ features
    spread = np.sqrt(weights @ (features - centre) ** 2)
    spread[spread < 1e-9] = 1.0
    standard = (features - centre) / spread
    best = int(np.argmax(weights @ right))
    order = [best, *(number for number in range(len(table.names)) if number != best)]
    gains: list[tuple[float, ...]] = []
    for number in order[1:]:
        gain = right[:, number] - right[:, best]
        mean = float(weights @ gain)
        slopes = [0.0] * len(centre)
        if strength is not None:
            square = standard.T @ (weights[:, None] * standard) + strength * np.eye(len(centre))
            slopes = cast("FloatArray", np.linalg.solve(square, standard.T @ (weights * (gain - mean)))).tolist()
        gains.append((mean if strength is not None else 0.0, *slopes))
    names = tuple(table.names[number] for number in order)
    return Router(names, tuple(centre.tolist()), tuple(spread.tolist()), tuple(gains), strength)


def _best_strength(table: _Table) -> float | None:
    """The strongest regularization within one standard error of the best, cross-validated over documents."""
    right: dict[float | None, FloatArray] = {strength: np.zeros(len(table.rows)) for strength in STRENGTHS}
    for fold in range(FOLDS):
        held = table.folds == fold
        if held.all() or not held.any():
            return None
        for strength in STRENGTHS:
            router = _fitted(table, ~held, strength)
            order = np.array([table.names.index(name) for name in router.specialists])
            right[strength][held] = table.right[held, order[router.choices(table.features[held])]]
    best = max(reversed(STRENGTHS), key=lambda strength: round(float(table.weights @ right[strength]), 9))
    for strength in reversed(STRENGTHS):
        lost = np.bincount(table.groups, table.weights * (right[best] - right[strength]))
        if lost.sum() <= np.sqrt((lost**2).sum()):  # documents are the sampling unit
            return strength
    return best


def _even(rows: Sequence[Row]) -> FloatArray:
    """Weights with which sets count equally, and so do the labels in each; 1 on average."""
    cells = Counter((row.data_set, row.label) for row in rows)
    labels = Counter(name for name, _ in cells)
    each = [1 / (labels[row.data_set] * cells[row.data_set, row.label]) for row in rows]
    return np.array(each) * len(rows) / len(labels)


def _joined(sources: Sequence[Source]) -> str:
    return "\n\n".join(source.text for source in sources)


def _of(answers: Answers, name: str) -> Sequence[Judged]:
    if name not in answers:
        raise InputError(f"the router requires answers from {name!r}, got answers from {', '.join(answers)}")
    return answers[name]
