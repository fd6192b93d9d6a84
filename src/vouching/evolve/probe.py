"""Probe: the training rows of a round, made from Attributable rows, with each type's share by its weakness weight.

SEVA, Algorithm 2, lines 8 to 10, and the settings of its authors' script. Three sources differ in one thing each, so
that an experiment can isolate the effect of the weights: "weakness" selects types by weight and rows at random;
"random" selects types evenly; "mixed" selects types by weight and rows evenly from all sets. All give equally many
probes, of which a share is safe: Attributable, half of it rewritten, half unchanged. Departures: counts are cut to the
budget; probes that the second verifier drops are replaced, so that arms have the same size.

A cross-check has a cost that the paper does not name: a second verifier drops what it is itself too weak for, and so
the hardest probes first. Not supported: detecting near-duplicates among probes of different rows, beyond equal claims.
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
"""Candidates per expected probe before giving up on a second verifier that rejects them."""
_KEPT: tuple[CrossCheck, ...] = ("agreed", "unchecked")


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """How many probes to make, and from what. Raises ConfigError for a number out of range."""

    budget: int
    """All probes, including safe ones."""
    source: ProbeSource = "weakness"
    """How types and rows are selected; see above."""
    safe_share: float = 0.15
    """Share that is still Attributable, in [0, 1)."""
    sets: tuple[str, ...] = ()
    """Sets that rows may come from; empty for all."""
    check_types: bool = False
    """Whether the second verifier must agree on the error type too."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.budget < 1 or not 0 <= self.safe_share < 1:
            raise ConfigError(
                f"budget must be at least 1 and safe_share at least 0 and below 1, got {self.budget} and "
                f"{self.safe_share}"
            )

    def counts(self, weights: Mapping[ErrorType, float]) -> dict[Kind, int]:
        """Probes by type, and "safe"."""
        safe = math.ceil(self.safe_share * self.budget - 1e-9)
        even: dict[ErrorType, float] = dict.fromkeys(ERROR_TYPES, 1 / len(ERROR_TYPES))
        by_type = budgets(even if self.source == "random" else weights, self.budget - safe)
        counts: dict[Kind, int] = {"safe": safe}
        return counts | by_type


@dataclass(frozen=True, slots=True)
class KindReport:
    """Counts of the probes of one type."""

    wanted: int
    """Its share of the budget."""
    kept: int
    """Fewer than requested if the rows gave no more."""
    dropped: Mapping[CrossCheck, int]
    """Probes that the second verifier dropped, by reason."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """Counts of a round's probes."""

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
    """The probes to train on, shuffled."""
    dropped: tuple[Probe, ...]
    """Those that the second verifier did not agree with."""
    report: ProbeReport


def make_probes(
    rows: Sequence[Row],
    weights: Mapping[ErrorType, float],
    plan: ProbePlan,
    held: Iterable[Row],
    *,
    check: Check | None = None,
) -> Probes:
    """Make the probes of a round from Attributable training rows with a claim of 20 characters and a source of 50.

    ``weights`` are those of ``Reflection.weights``, ``check`` is a second verifier. Raises InputError if ``rows`` and
    the dev or test rows ``held`` are not disjoint, or no row can be used.
    """
    taken = keys_of(held)
    refuse_shared(rows, taken)
    parents = _parents(rows, plan)
    maker = _ProbeMaker(parents, plan, taken)
    kept: list[Probe] = []
    dropped: list[Probe] = []
    kinds: dict[Kind, KindReport] = {}
    for kind, expected in plan.counts(weights).items():
        good, bad = _filled(maker.candidates(None if kind == "safe" else kind), expected, check, plan.check_types)
        kept += good
        dropped += bad
        kinds[kind] = KindReport(expected, len(good), Counter(probe.check for probe in bad))
    random.Random(f"{plan.seed} order").shuffle(kept)
    report = ProbeReport(kinds, _by_strategy(maker.tally, kept, dropped), len(parents))
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
            f"none of the {len(allowed):,} training rows can be used: expected Attributable rows with a claim of at "
            f"least {SHORTEST_CLAIM} characters and a source of at least {SHORTEST_SOURCE}"
        )
    random.Random(f"{plan.seed} parents").shuffle(usable)
    return usable


class _ProbeMaker:
    """Makes probes from rows, and remembers claims and strategies used so far."""

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
        """Probes of a type, or safe ones, one per row."""
        groups: defaultdict[str, list[Row]] = defaultdict(list)
        for row in self._shuffled(kind):
            groups[row.data_set if self._plan.source == "mixed" else ""].append(row)
        changed = in_turns([self._changed(kind, several) for several in groups.values()])
        if kind is not None:
            return changed
        return in_turns([changed, in_turns([_unchanged(several) for several in groups.values()])])

    def is_new(self, claim: str) -> bool:
        """Whether no row, probe or held-out row has this claim, which is recorded."""
        plain = _plain(claim)
        new = plain not in self._claims and self._taken.isdisjoint(Row("", claim, "", "Attributable").keys)
        self._claims.add(plain)
        return new

    def _shuffled(self, kind: ErrorType | None) -> list[Row]:
        """The rows in an order that depends on the type, so that types do not use the same rows."""
        order = [*self.parents]
        random.Random(f"{self._plan.seed} {kind}").shuffle(order)
        return order

    def _changed(self, kind: ErrorType | None, rows: Iterable[Row]) -> Iterator[Probe]:
        """At most one perturbation per row, by the strategy that was used least so far."""
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
    """A perturbation of a row as a probe; ``number`` is part of its id."""
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
            f"{row.id}/{UNCHANGED}",
            row.claim,
            row.source,
            "Attributable",
            None,
            UNCHANGED,
            row.claim,
            (),
            row.group or row.id,
            row.id,
            row.data_set,
        )


def _filled(
    candidates: Iterator[Probe], expected: int, check: Check | None, by_type: bool
) -> tuple[list[Probe], list[Probe]]:
    """Enough candidates that pass the cross-check, and those that do not pass."""
    kept: list[Probe] = []
    dropped: list[Probe] = []
    while len(kept) < expected and len(kept) + len(dropped) < _MAX_TRIED * expected:
        batch = [*islice(candidates, expected - len(kept))]
        if not batch:
            break
        for probe in cross_checked(batch, check, by_type):
            (kept if probe.check in _KEPT else dropped).append(probe)
    return kept, dropped


def cross_checked(probes: Sequence[Probe], check: Check | None, by_type: bool = False) -> list[Probe]:
    """The probes with a second verifier's answer to each; a failure does not count as agreement.

    Unchanged rows are not checked: their label comes from the data, not from a strategy.
    """
    asked = [place for place, probe in enumerate(probes) if probe.strategy != UNCHANGED]
    if check is None or not asked:
        return [*probes]
    answers = dict(zip(asked, check([probes[place].row for place in asked]), strict=True))
    return [
        replace(probe, check=_cross_check(probe, answers[place], by_type)) if place in answers else probe
        for place, probe in enumerate(probes)
    ]


def _cross_check(probe: Probe, answer: Judged, by_type: bool) -> CrossCheck:
    if answer.unverified is not None:
        return "unverified"
    if answer.label != probe.label:
        return "label"
    return "type" if by_type and answer.error_type != probe.error_type else "agreed"


def typed_rows(held: Sequence[Row], each: int, seed: int = 0) -> list[Row]:
    """Up to ``each`` perturbed rows of each error type, made from held-out rows, to reflect on.

    They form a set of their own and keep the group of their parents. Gold types follow from strategies; docs/figures.md
    says how many are right. Raises InputError if no row can be used.
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
