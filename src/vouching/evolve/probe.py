"""Probe: what a verifier is to learn from next, made from Attributable rows, as many of each type as its weights say.

SEVA, Algorithm 2, lines 8 to 10, and the settings of its authors' script. Three sources, alike in all but one thing, so
that an experiment can tell what the weights do: "weakness" takes types by weight and rows as they come; "random" takes
types evenly; "mixed" takes types by weight and rows evenly from all sets. All give as many probes, of which a share is
safe: Attributable, half of it rewritten, half as it was. Departures: counts are cut to the budget; what the second
verifier drops is drawn again, so that arms stay equal.

A cross-check has a price that the paper does not name: a second verifier drops what it is itself too weak for, and so
the hardest probes first. Left out: near-duplicates among probes of different rows, beyond equal claims.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

from vouching.errors import ConfigError, InputError
from vouching.evolve.records import TYPED, CrossCheck, Judged, Probe, Row
from vouching.evolve.reflect import budgets
from vouching.evolve.rows import keys_of, refuse_shared
from vouching.perturb import ERROR_TYPE_OF, CorpusPool, Perturbation, Strategy, Tally, perturb
from vouching.perturb.run import in_turns
from vouching.types.spans import ERROR_TYPES, ErrorType

ProbeSource: TypeAlias = Literal["weakness", "random", "mixed"]
Kind: TypeAlias = ErrorType | Literal["safe"]
Check: TypeAlias = Callable[[Sequence[Row]], Sequence[Judged]]
"""A second verifier's answers to rows, in order."""
SHORTEST_CLAIM, SHORTEST_SOURCE = 20, 50
"""Characters (the authors' script)."""
UNCHANGED = "unchanged"
_POOLED_ROWS = 2_000
_MAX_TRIED = 4
"""Candidates per probe wanted, beyond which a second verifier that agrees with none is given up."""
_KEPT: tuple[CrossCheck, ...] = ("agreed", "unchecked")


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """How many probes, and where from.

    Raises:
        ConfigError: a number out of range.
    """

    budget: int
    """Probes in all, safe ones among them."""
    source: ProbeSource = "weakness"
    """What guides the choice; see above."""
    safe_share: float = 0.15
    """Share that stays Attributable, in [0, 1)."""
    sets: tuple[str, ...] = ()
    """Sets that rows may come from; empty for all."""
    check_types: bool = False
    """Whether the second verifier has to name the same type too."""
    seed: int = 0
    """Of all chance."""

    def __post_init__(self) -> None:
        if self.budget < 1 or not 0 <= self.safe_share < 1:
            raise ConfigError(
                f"wanted a budget of at least 1 and a safe_share in [0, 1), got {self.budget} and {self.safe_share}"
            )

    def counts(self, weights: Mapping[ErrorType, float]) -> dict[Kind, int]:
        """Probes by type, and "safe".

        >>> ProbePlan(100, "random").counts({})  # 85 errors of six types: 15 of each are 5 too many
        {'safe': 15, 'numerical_exaggeration': 14, 'temporal_shift': 14, 'negation_flip': 14, \
'entity_substitution': 14, 'scope_inflation': 14, 'fabrication': 15}
        """
        safe = math.ceil(self.safe_share * self.budget - 1e-9)
        even: dict[ErrorType, float] = dict.fromkeys(ERROR_TYPES, 1 / len(ERROR_TYPES))
        by_type = budgets(even if self.source == "random" else weights, self.budget - safe)
        counts: dict[Kind, int] = {"safe": safe}
        return counts | by_type


@dataclass(frozen=True, slots=True)
class KindReport:
    """What became of the probes of one type."""

    wanted: int
    """Its share of the budget."""
    kept: int
    """Probes that are learned from; fewer than wanted where the rows gave no more."""
    dropped: Mapping[CrossCheck, int]
    """Probes that the second verifier dropped, by reason."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What became of a round's probes."""

    kinds: Mapping[Kind, KindReport]
    """By error type, and "safe"."""
    strategies: Mapping[str, Mapping[str, int]]
    """By strategy: "drafted", "filtered" (dropped by the filters of ``vouching.perturb``), "checked", "dropped" (by the
    second verifier) and "kept"."""
    parents: int
    """Rows that probes could be made from."""

    @property
    def drop_rate(self) -> float | None:
        """Share of the checked probes that the second verifier dropped; None if it was not asked."""
        dropped = sum(sum(kind.dropped.values()) for kind in self.kinds.values())
        checked = sum(counts["checked"] for counts in self.strategies.values())
        return dropped / checked if checked else None


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a round."""

    kept: tuple[Probe, ...]
    """What to learn from, shuffled."""
    dropped: tuple[Probe, ...]
    """What the second verifier did not agree to."""
    report: ProbeReport
    """Counts."""


def make_probes(
    rows: Sequence[Row],
    weights: Mapping[ErrorType, float],
    plan: ProbePlan,
    held: Iterable[Row],
    *,
    check: Check | None = None,
) -> Probes:
    """Make the probes of a round.

    Args:
        rows: training rows; the Attributable ones of at least 20 characters of claim and 50 of source are used.
        weights: weakness weights by type, as ``Reflection.weights`` gives them.
        plan: budget and source.
        held: rows that are held out or tested on.
        check: a second verifier; without it nothing is cross-checked.

    Raises:
        InputError: a training row shares a claim, a source or a document with one of ``held``, or none can be used.

    >>> source = "The bridge opened in 1973 and cost $5 million. It links the town of Weston with the islands."
    >>> rows = [Row("1", "The bridge opened in 1973.", source, "Attributable", "bridges")]
    >>> made = make_probes(rows, {"temporal_shift": 1.0}, ProbePlan(1, safe_share=0), held=[])
    >>> [(probe.claim, probe.strategy, probe.parent) for probe in made.kept]
    [('The bridge opened in 1971.', 'date_shift', '1')]
    """
    taken = keys_of(held)
    refuse_shared(rows, taken)
    parents = _parents(rows, plan)
    work = _Work(parents, plan, taken)
    kept: list[Probe] = []
    dropped: list[Probe] = []
    kinds: dict[Kind, KindReport] = {}
    for kind, wanted in plan.counts(weights).items():
        good, bad = _filled(work.candidates(None if kind == "safe" else kind), wanted, check, plan.check_types)
        kept += good
        dropped += bad
        kinds[kind] = KindReport(wanted, len(good), Counter(probe.check for probe in bad))
    random.Random(f"{plan.seed} order").shuffle(kept)
    report = ProbeReport(kinds, _by_strategy(work.tally, kept, dropped), len(parents))
    return Probes(tuple(kept), tuple(dropped), report)


def _parents(rows: Iterable[Row], plan: ProbePlan) -> list[Row]:
    """The rows that probes may be made from, shuffled."""
    allowed = [row for row in rows if not plan.sets or row.data_set in plan.sets]
    usable = [
        row
        for row in allowed
        if row.attributable and len(row.claim) >= SHORTEST_CLAIM and len(row.source) >= SHORTEST_SOURCE
    ]
    if not usable:
        raise InputError(
            f"none of {len(allowed):,} training rows can be used: wanted Attributable ones with a claim of at least "
            f"{SHORTEST_CLAIM} characters and a source of at least {SHORTEST_SOURCE}"
        )
    random.Random(f"{plan.seed} parents").shuffle(usable)
    return usable


class _Work:
    """Rows being made into probes: what was made so far, and the names and facts of the rows."""

    def __init__(self, parents: Sequence[Row], plan: ProbePlan, taken: set[str]) -> None:
        self.parents = parents
        self.tally = Tally()
        self._plan, self._taken = plan, taken
        self._pool = CorpusPool(
            (text for row in parents[:_POOLED_ROWS] for text in (row.claim, row.source)), seed=plan.seed
        )
        self._given = Counter[str]()
        self._claims = {_plain(row.claim) for row in parents}

    def candidates(self, kind: ErrorType | None) -> Iterator[Probe]:
        """Probes of a type, or safe ones, one of each row."""
        groups: defaultdict[str, list[Row]] = defaultdict(list)
        for row in self._shuffled(kind):
            groups[row.data_set if self._plan.source == "mixed" else ""].append(row)
        changed = in_turns([self._changed(kind, several) for several in groups.values()])
        if kind is not None:
            return changed
        return in_turns([changed, in_turns([_unchanged(several) for several in groups.values()])])

    def is_new(self, claim: str) -> bool:
        """Whether nothing says this yet, of the rows, of the probes and of what is held out; it is noted."""
        told = _plain(claim)
        new = told not in self._claims and self._taken.isdisjoint(Row("", claim, "", "Attributable").keys)
        self._claims.add(told)
        return new

    def _shuffled(self, kind: ErrorType | None) -> list[Row]:
        """The rows in an order of this type's own, so that types are not made of the same ones."""
        order = [*self.parents]
        random.Random(f"{self._plan.seed} {kind}").shuffle(order)
        return order

    def _changed(self, kind: ErrorType | None, rows: Iterable[Row]) -> Iterator[Probe]:
        """One perturbation of each row that gives one, by the strategy that gave least so far."""
        strategies: list[Strategy] = [strategy for strategy, made in ERROR_TYPE_OF.items() if made == kind]
        for row in rows:
            rarest_first = sorted(strategies, key=self._given.__getitem__)
            rng = random.Random(f"{self._plan.seed} {kind} {row.id}")
            made = perturb(row.claim, row.source, rarest_first, pool=self._pool, rng=rng, tally=self.tally)
            for one in made:
                if self.is_new(one.claim):
                    self._given[one.strategy] += 1
                    yield probe_of(row, one, self._given[one.strategy])
                    break


def probe_of(row: Row, made: Perturbation, number: int) -> Probe:
    """A perturbation of a row as a probe; ``number`` goes into its name."""
    return Probe(
        id=f"{row.id}/{made.strategy}-{number}",
        claim=made.claim,
        source=row.source,
        label=made.label,
        error_type=made.error_type,
        strategy=made.strategy,
        original=row.claim,
        spans=made.spans,
        group=row.group or row.id,
        parent=row.id,
        data_set=row.data_set,
    )


def _unchanged(rows: Iterable[Row]) -> Iterator[Probe]:
    for row in rows:
        yield Probe(
            f"{row.id}/{UNCHANGED}", row.claim, row.source, "Attributable", None, UNCHANGED, row.claim, (),
            row.group or row.id, row.id, row.data_set,
        )  # fmt: skip


def _filled(
    candidates: Iterator[Probe], wanted: int, check: Check | None, by_type: bool
) -> tuple[list[Probe], list[Probe]]:
    """Candidates until there are as many as wanted that pass the cross-check; and those that do not pass."""
    kept: list[Probe] = []
    dropped: list[Probe] = []
    while len(kept) < wanted and len(kept) + len(dropped) < _MAX_TRIED * wanted:
        batch = [*islice(candidates, wanted - len(kept))]
        if not batch:
            break
        for probe in cross_checked(batch, check, by_type):
            (kept if probe.check in _KEPT else dropped).append(probe)
    return kept, dropped


def cross_checked(probes: Sequence[Probe], check: Check | None, by_type: bool = False) -> list[Probe]:
    """The probes with what a second verifier said of each; a failure of it is no agreement.

    Rows as they were are not asked about: their label is of the data, not of a strategy.

    >>> probe = Probe("1", "It opened in 1937.", "It opened in 1973.", "Not Attributable", "temporal_shift",
    ...     "date_shift", "It opened in 1973.", (), "g", "0")
    >>> cross_checked([probe], lambda rows: [Judged(row, unverified="backend: busy") for row in rows])[0].check
    'unverified'
    """
    asked = [place for place, probe in enumerate(probes) if probe.strategy != UNCHANGED]
    if check is None or not asked:
        return [*probes]
    answers = dict(zip(asked, check([probes[place].row for place in asked]), strict=True))
    return [
        replace(probe, check=_said(probe, answers[place], by_type)) if place in answers else probe
        for place, probe in enumerate(probes)
    ]


def _said(probe: Probe, answer: Judged, by_type: bool) -> CrossCheck:
    if answer.unverified is not None:
        return "unverified"
    if answer.label != probe.label:
        return "label"
    return "type" if by_type and answer.error_type != probe.error_type else "agreed"


def typed_rows(held: Sequence[Row], each: int, seed: int = 0) -> list[Row]:
    """Rows of known type to reflect on, made of rows that are held out: as many of each type, if there are so many.

    They are of a set of their own and stay in the group of what they were made from. Gold types follow from strategies,
    and nobody looked at each; docs/evolve.md says how many of them are right.

    Raises:
        InputError: none of the rows can be used.

    >>> source = "The bridge opened in 1973 and cost $5 million. It links the town of Weston with the islands."
    >>> rows = typed_rows([Row("1", "The bridge opened in 1973.", source, "Attributable", "bridges", "g")], 1)
    >>> rows[0].error_type, rows[0].data_set, rows[0].group
    ('negation_flip', 'typed', 'bridges/g')
    """
    made = make_probes(held, {}, ProbePlan(each * len(ERROR_TYPES), "random", safe_share=0.0, seed=seed), held=[])
    return [replace(probe.row, data_set=TYPED, group=f"{probe.data_set}/{probe.group}") for probe in made.kept]


def _by_strategy(tally: Tally, kept: Iterable[Probe], dropped: Iterable[Probe]) -> dict[str, dict[str, int]]:
    kept_of, dropped_of = Counter(probe.strategy for probe in kept), Counter(probe.strategy for probe in dropped)
    checked = Counter(probe.strategy for probe in (*kept, *dropped) if probe.check != "unchecked")
    names = [*ERROR_TYPE_OF, UNCHANGED]
    filtered = Counter[str]()
    for (strategy, _), count in tally.dropped.items():
        filtered[strategy] += count
    return {
        name: {
            "drafted": Counter[str](tally.drafted)[name],
            "filtered": filtered[name],
            "checked": checked[name],
            "dropped": dropped_of[name],
            "kept": kept_of[name],
        }
        for name in names
        if kept_of[name] or dropped_of[name] or name in tally.drafted
    }


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
