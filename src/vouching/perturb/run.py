"""From claims with their sources to perturbations: draft, apply, filter, count.

``vouch data perturb`` reads files and rows. Not supported: choosing strategies by the errors of a model.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from vouching.errors import ConfigError
from vouching.perturb import details, names, notation, scope, structure, values, wording
from vouching.perturb.filters import Filter, fluent, near_duplicate, on_type, visible
from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import STRATEGIES, Draft, Edit, Perturbation, Strategy, apply_edits
from vouching.perturb.scene import Scene
from vouching.types import Example

Made = TypeVar("Made")
Propose: TypeAlias = Callable[[Scene, CorpusPool, random.Random], Iterator[Draft]]

PROPOSERS: Mapping[Strategy, Propose] = MappingProxyType(
    {
        "number_change": values.number_change,
        "unit_change": values.unit_change,
        "bound_change": values.bound_change,
        "date_shift": values.date_shift,
        "order_flip": values.order_flip,
        "negation_added": wording.negation_added,
        "negation_removed": wording.negation_removed,
        "opposite": wording.opposite,
        "entity_swap": names.entity_swap,
        "entity_graft": names.entity_graft,
        "role_swap": names.role_swap,
        "qualifier_strengthened": scope.qualifier_strengthened,
        "hedge_dropped": scope.hedge_dropped,
        "intensifier_added": scope.intensifier_added,
        "exclusivity_added": scope.exclusivity_added,
        "fact_graft": details.fact_graft,
        "presupposition": details.presupposition,
        "detail_added": details.detail_added,
        "number_format": notation.number_format,
        "number_rounded": notation.number_rounded,
        "unit_converted": notation.unit_converted,
        "date_format": notation.date_format,
        "synonym": wording.synonym,
        "qualifier_weakened": scope.qualifier_weakened,
        "time_moved": structure.time_moved,
        "voice_changed": structure.voice_changed,
        "sentences_joined": structure.sentences_joined,
        "sentence_split": structure.sentence_split,
        "detail_dropped": structure.detail_dropped,
    }
)
"""The function that proposes the drafts of each strategy."""
_LOOK_AHEAD = 1_000
_LONGEST_CLAIM = 2_000
_MAX_DRAFTS = 20


@dataclass(slots=True)
class Tally:
    """Counts of drafts and of their fates."""

    drafted: Counter[Strategy] = field(default_factory=Counter[Strategy])
    dropped: Counter[tuple[Strategy, Filter]] = field(default_factory=Counter[tuple[Strategy, Filter]])
    """Drafts that a filter dropped."""
    kept: Counter[Strategy] = field(default_factory=Counter[Strategy])

    def drop_rate(self, strategy: Strategy) -> float:
        """Share of a strategy's drafts that were dropped; 0 without drafts."""
        return sum(n for (s, _), n in self.dropped.items() if s == strategy) / max(1, self.drafted[strategy])


def perturb(
    claim: str,
    source: str,
    strategies: Collection[Strategy] = STRATEGIES,
    *,
    pool: CorpusPool | None = None,
    rng: random.Random | None = None,
    tally: Tally | None = None,
) -> list[Perturbation]:
    """Every perturbation of a claim that passes the filters (SEVA, App. F, Table 19; see docs/perturb.md).

    Args:
        claim: a statement that the source supports; one longer than 2,000 characters gives nothing.
        source: the text that supports it.
        strategies: which strategies, in this order.
        pool: names and facts of a corpus; without it ``entity_swap`` and ``fact_graft`` give nothing, and
            ``detail_added`` and ``presupposition`` only additions without names.
        rng: seeded with 0 by default, so that equal calls give equal results.
        tally: counts drafts and drops.

    >>> source = "The bridge opened in 1973 and cost $5 million."
    >>> [made.claim for made in perturb("The bridge cost $5 million.", source, ["unit_change", "number_format"])]
    ['The bridge cost €5 million.', 'The bridge cost $5 billion.', 'The bridge cost $5,000,000.']
    """
    check_strategies(strategies)
    work = _Work(Scene(claim, source), pool or CorpusPool(), rng or random.Random(0), tally or Tally())
    return [made for strategy in strategies for made in work.done_by(strategy)]


def check_strategies(strategies: Iterable[str]) -> None:
    """Raise ConfigError if one is unknown."""
    unknown = [name for name in strategies if name not in PROPOSERS]
    if unknown:
        raise ConfigError(f"unknown strategy {unknown[0]!r}; expected one of {', '.join(STRATEGIES)}")


class _Work:
    """One claim with its perturbations so far, for the filter of near-duplicates."""

    def __init__(self, scene: Scene, pool: CorpusPool, rng: random.Random, tally: Tally) -> None:
        self._scene, self._pool, self._rng, self._tally = scene, pool, rng, tally
        self._made: list[tuple[Perturbation, tuple[Edit, ...]]] = []

    def done_by(self, strategy: Strategy) -> Iterator[Perturbation]:
        """The perturbations by one strategy that pass the filters, counted."""
        claim = self._scene.claim.text
        if len(claim) > _LONGEST_CLAIM or not claim.strip():
            return
        for draft in islice(PROPOSERS[strategy](self._scene, self._pool, self._rng), _MAX_DRAFTS):
            self._tally.drafted[strategy] += 1
            text, spans = apply_edits(claim, draft.edits)
            made = Perturbation(text, claim, self._scene.source.text, spans, strategy)
            fault = self._fault(draft, made)
            if fault is not None:
                self._tally.dropped[strategy, fault] += 1
                continue
            self._tally.kept[strategy] += 1
            self._made.append((made, draft.edits))
            yield made

    def _fault(self, draft: Draft, made: Perturbation) -> Filter | None:
        if not visible(made.original, made.claim):
            return "visible"
        if not fluent(made.original, made.claim):
            return "fluent"
        if not on_type(self._scene, made.strategy, draft, made.claim):
            return "on_type"
        return "near_duplicate" if near_duplicate(made, draft.edits, self._made) else None


def perturb_rows(
    examples: Iterable[Example],
    strategies: Collection[Strategy] = STRATEGIES,
    *,
    per_row: int = 4,
    seed: int = 0,
    tally: Tally | None = None,
) -> Iterator[Perturbation]:
    """Perturbations of many examples, in order, as a stream.

    Only Attributable examples are changed; several sources are joined by a blank line. The strategies with the fewest
    results so far are tried first, so that rare ones are not crowded out. Names and facts come from the examples up to
    1,000 places ahead. The same examples and seed give the same result.

    >>> from vouching.types import Source
    >>> row = Example("r1", "It opened in 1973.", (Source("The bridge opened in 1973."),), "Attributable")
    >>> [(made.id, made.claim) for made in perturb_rows([row], ["date_shift"])]
    [('r1/date_shift-1', 'It opened in 1976.')]
    """
    check_strategies(strategies)
    each = _of_examples(examples, [*dict.fromkeys(strategies)], per_row, seed, tally or Tally())
    return (made for _, of_one in each for made in of_one)


def perturb_each(
    examples: Iterable[Example],
    strategies: Collection[Strategy] = STRATEGIES,
    *,
    per_row: int = 4,
    seed: int = 0,
    tally: Tally | None = None,
) -> Iterator[tuple[Example, list[Perturbation]]]:
    """Every example, in order, with what :func:`perturb_rows` makes of it, which may be nothing."""
    check_strategies(strategies)
    each = _of_examples(examples, [*dict.fromkeys(strategies)], per_row, seed, tally or Tally())
    return ((example, [*of_one]) for example, of_one in each)


def _of_examples(
    examples: Iterable[Example], strategies: Sequence[Strategy], per_row: int, seed: int, tally: Tally
) -> Iterator[tuple[Example, Iterator[Perturbation]]]:
    """Each example with its perturbations, which are to be taken before the next example."""
    pool = CorpusPool(seed=seed)
    given = Counter[Strategy]()
    waiting: deque[Example] = deque()
    coming = iter(examples)
    while True:
        for example in islice(coming, _LOOK_AHEAD - len(waiting)):
            waiting.append(example)
            for text in (example.claim, *(source.text for source in example.sources)):
                pool.add(text)
        if not waiting:
            return
        example = waiting.popleft()
        yield example, _of_one(example, strategies, pool, (per_row, seed), (given, tally))


def _of_one(
    example: Example,
    strategies: Sequence[Strategy],
    pool: CorpusPool,
    most: tuple[int, int],
    counts: tuple[Counter[Strategy], Tally],
) -> Iterator[Perturbation]:
    """At most ``most[0]`` perturbations of an example, drawn with the seed ``most[1]``; counted."""
    if example.label != "Attributable":
        return
    (per_row, seed), (given, tally) = most, counts
    source = "\n\n".join(source.text for source in example.sources)
    work = _Work(Scene(example.claim, source), pool, random.Random(f"{seed} {example.id}"), tally)
    rarest_first = sorted(strategies, key=given.__getitem__)
    for made in islice(in_turns([work.done_by(strategy) for strategy in rarest_first]), per_row):
        given[made.strategy] += 1
        name = f"{example.id}/{made.strategy}-{given[made.strategy]}"
        yield replace(made, id=name, group=example.group or example.id)


def in_turns(sources: Sequence[Iterator[Made]]) -> Iterator[Made]:
    """Take one item of each iterator in turn until all are exhausted: "abc" and "xy" give "axbyc"."""
    left = deque(sources)
    while left:
        source = left.popleft()
        made = next(source, None)
        if made is not None:
            yield made
            left.append(source)
