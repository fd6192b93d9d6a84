"""Agreement of a ranking of a few answers with the gold ranking, and overlap of an answer with the right one.

Each function gives one value per ranking or answer; :func:`vouching.metrics.mean` averages them and takes the weights.
Exact match and F1 over words are those of question answering since SQuAD. Not supported: long rankings (all pairs are
compared at once) and languages without blanks between words.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray, quotient


def kendall_tau_b(gold: ArrayLike, scores: ArrayLike) -> FloatArray:
    """Kendall's tau-b (Kendall 1945) of (..., n) scores: concordant minus discordant pairs, corrected for ties.

    sum sgn(dx) sgn(dy) / sqrt(sum sgn(dx)^2 sum sgn(dy)^2) over all pairs, in [-1, 1]; nan where all answers of a
    ranking are tied in ``gold`` or in ``scores``. Higher is better; only the order counts.

    >>> round(float(kendall_tau_b([3, 2, 1], [0.9, 0.1, 0.5])), 3)  # (2 - 1) of 3 pairs
    0.333
    """
    x, y = _rankings(gold, scores)
    sign_x, sign_y = (np.sign(values[..., :, None] - values[..., None, :]) for values in (x, y))
    untied = (sign_x**2).sum(axis=(-2, -1)) * (sign_y**2).sum(axis=(-2, -1))
    return quotient((sign_x * sign_y).sum(axis=(-2, -1)), np.sqrt(untied))


def precision_at_1(gold: ArrayLike, scores: ArrayLike) -> FloatArray:
    """Whether the answer ranked first is a best one; for answers tied for first, the share that is."""
    worth, score = _rankings(gold, scores)
    best = worth == worth.max(axis=-1, keepdims=True)
    first = score == score.max(axis=-1, keepdims=True)
    return (best & first).sum(axis=-1) / first.sum(axis=-1)


def _rankings(gold: ArrayLike, scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if x.shape != y.shape or x.ndim == 0 or not x.shape[-1]:
        raise InputError(f"gold and scores must have one value per answer, got shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("gold and scores must be finite, got nan or infinity: count failed rankings separately")
    return x, y


_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def token_f1(answer: str, references: Sequence[str]) -> float:
    """F1 of the words of an answer with those of the closest reference (Rajpurkar et al. 2016), in [0, 1].

    Words are lower case, without marks and articles, and repeated words count. Two texts without words are equal.

    >>> token_f1("The bridge opened in 1973.", ["1937", "in 1973"])  # 2 of 4 words, 2 of 2: 2 * .5 * 1 / 1.5
    0.6666666666666666
    """
    if not references:
        raise InputError("token F1 requires at least one reference, got none")
    words = _words(answer)
    return max(_f1(words, _words(reference)) for reference in references)


def exact_match(answer: str, references: Sequence[str]) -> float:
    """1 if an answer has the words of a reference, in order (Rajpurkar et al. 2016); else 0."""
    if not references:
        raise InputError("exact match requires at least one reference, got none")
    return float(normalised(answer) in map(normalised, references))


def normalised(text: str) -> str:
    """The words of an answer for comparison: lower case, without marks and articles, single blanks."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_MARKS)).split())


def _words(text: str) -> Counter[str]:
    return Counter(normalised(text).split())


def _f1(words: Counter[str], others: Counter[str]) -> float:
    if not words or not others:
        return float(words == others)
    return 2 * (words & others).total() / (words.total() + others.total())
