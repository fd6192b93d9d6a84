"""What a verifier that is trained beside its generator learns from: labelled items, of a file and of the run itself.

Gold examples stay; replayed ones are the newest so many, since the generator that they are of moves on. Which example a
step takes depends on its number, its row and the seed alone, and not on how many processes share the step. The paper
draws from the union of both and says neither how large they are nor in which shares; here a share of the draws is
gold's, or gold would drown: a step of the paper's size adds thousands of examples.

What may not be trained on are texts that overlap with those of an evaluation: half of the runs of eight words of the
shorter occur in the other, whatever their case and punctuation; a text of fewer words must be the same. Not supported:
drawing labels evenly, and overlap by paraphrase or translation.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vouching.errors import ConfigError
from vouching.text.words import lower_words


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item of a checklist, a response, and whether the response passes: (x, y, c, l)."""

    x: str
    """The instruction."""
    y: str
    """The response."""
    c: str
    """The question."""
    l: bool  # noqa: E741  (the paper's letter, and that of the files)
    """The answer."""


class Replay:
    """Gold examples and the newest replayed ones.

    Args:
        gold: examples that stay.
        capacity: replayed examples that are kept; 0 for none.
        gold_share: share of the draws that are gold's, in [0, 1].
        seed: of the draws.

    Raises:
        ConfigError: no gold example, or a number out of range.

    >>> replay = Replay([Labelled("x", "y", "c", True)], capacity=1, gold_share=0.0)
    >>> replay.draw(step=0, place=0)[1]  # nothing is replayed yet
    'gold'
    >>> replay.add([Labelled("x", "y1", "c", True), Labelled("x", "y2", "c", False)])
    >>> replay.draw(step=0, place=0)
    (Labelled(x='x', y='y2', c='c', l=False), 'replay')
    """

    def __init__(self, gold: Sequence[Labelled], capacity: int, gold_share: float = 0.5, seed: int = 0) -> None:
        if not gold:
            raise ConfigError(
                "the verifier has no gold example: without one it would learn from its own answers alone. Give some in "
                "checklist.gold (vouch data gold), or set checklist.lambda_v=0"
            )
        if capacity < 0 or not 0 <= gold_share <= 1:
            raise ConfigError(f"wanted a capacity of at least 0 and a share in [0, 1], got {capacity} and {gold_share}")
        self._gold, self._share, self._seed = tuple(gold), gold_share, seed
        self._replayed: deque[Labelled] = deque(maxlen=capacity)

    def __len__(self) -> int:
        return len(self._replayed)

    def add(self, examples: Iterable[Labelled]) -> None:
        """Keep examples, the newest for longest."""
        self._replayed.extend(examples)

    def draw(self, step: int, place: int) -> tuple[Labelled, str]:
        """An example for a row of a step, and where it is from: "gold" or "replay"."""
        dice = np.random.default_rng([self._seed, step, place])
        golden = dice.random() < self._share or not self._replayed
        source: Sequence[Labelled] = self._gold if golden else self._replayed
        return source[int(dice.integers(len(source)))], "gold" if golden else "replay"

    def state_dict(self) -> list[dict[str, Any]]:
        """The replayed examples, as JSON has them."""
        return [asdict(one) for one in self._replayed]

    def load_state_dict(self, state: Iterable[Mapping[str, Any]]) -> None:
        """Go on from :meth:`state_dict`."""
        self._replayed = deque((Labelled(**one) for one in state), maxlen=self._replayed.maxlen)


_RUN = 8
_SHARE = 0.5


class KnownTexts:
    """Texts that others are compared with.

    >>> known = KnownTexts(["Write a poem about the long road to the sea, and use no commas."])
    >>> known.find("Please write a poem about the long road to the sea, with commas.")
    'Write a poem about the long road to the sea, and use no commas.'
    >>> known.find("Write a poem.") is None
    True
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        """The texts, each once."""
        self._runs = [_runs(text) for text in self.texts]
        self._where: dict[tuple[str, ...], list[int]] = {}
        for number, runs in enumerate(self._runs):
            for run in runs:
                self._where.setdefault(run, []).append(number)

    def find(self, text: str) -> str | None:
        """The text that overlaps most with this one; None if none does."""
        runs = _runs(text)
        shared = Counter(number for run in runs for number in self._where.get(run, ()))
        shares = {number: count / min(len(runs), len(self._runs[number])) for number, count in shared.items()}
        best = max(shares, key=lambda number: shares[number], default=None)
        return self.texts[best] if best is not None and shares[best] >= _SHARE else None


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of eight words; of a shorter text, all of it."""
    words = lower_words(text)
    if not words:
        return frozenset()
    return frozenset(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))
