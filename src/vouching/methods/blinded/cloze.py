"""Questions without a language model: every number of a response becomes a gap in the sentence that states it.

Hours that belong together ("from 5 pm to 9 pm") are one gap. A sentence that leans on the one before ("It has ...") is
asked with it. Left out: gaps for names, and a question in words, which no checker here needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vouching.judging.matching import leaks
from vouching.judging.values import Value, find_values, stated
from vouching.methods.blinded.roles import Proposal, Scope, values_of
from vouching.text.sentences import sentence_spans
from vouching.types import Pair, Question, Span

GAP = "____"
"""Stands in a question where its answer stood."""
HIDDEN = "…"
"""Stands in a question where something else would give its answer away."""
_LEANS = re.compile(
    r"\W*(?:it|its|they|their|this|these|that|those|he|his|she|her|both|each|there|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_LONGEST_CONTEXT = 300


@dataclass(frozen=True, slots=True)
class EmbeddedProposer:
    """Asks about every number of a response.

    >>> import asyncio
    >>> [proposal] = asyncio.run(EmbeddedProposer().propose(["It opened in 1973 with 2 towers."], "numbers", 3))
    >>> [(pair.question.text, pair.answer) for pair in proposal.pairs]
    [('It opened in ____ with 2 towers.', '1973'), ('It opened in 1973 with ____ towers.', '2')]
    """

    async def propose(self, responses: Sequence[str], scope: Scope, least: int) -> list[Proposal]:
        """A question for each number, and under the scope "facts" for each date, whatever ``least`` says."""
        return [Proposal(tuple(cloze_pairs(response, scope))) for response in responses]

    async def aclose(self) -> None:
        """There is nothing to let go of."""


def cloze_pairs(response: str, scope: Scope = "facts") -> list[Pair]:
    """A gap for each number of a text, and under the scope "facts" for each date, in order.

    >>> [pair.question.wanted for pair in cloze_pairs("Open 5-9 pm. It seats 40.")]
    ['hours', 'count']
    """
    values, asked = find_values(response), {value.start for value in values_of(response, scope)}
    pairs: list[Pair] = []
    before = ""
    for start, end in sentence_spans(response):
        inside = [value for value in values if start <= value.start < end]
        for answer, wanted in stated(response, inside):
            if answer.start not in asked:
                continue
            text = _with_gap(response, start, max(end, answer.end), answer, inside)
            if before and _LEANS.match(response, start, end):
                text = f"{_hiding(before[-_LONGEST_CONTEXT:], answer.text)} {text}"
            pairs.append(Pair(Question(text, wanted), answer.text, answer))
        before = " ".join(response[start:end].split())
    return pairs


def _with_gap(text: str, start: int, end: int, answer: Span, values: Sequence[Value]) -> str:
    """The sentence with a gap for the answer, and without other words that would give it away."""
    others = [value for value in values if value.end <= answer.start or value.start >= answer.end]
    gaps = [(answer.start, answer.end, GAP)]
    gaps += [(value.start, value.end, HIDDEN) for value in others if leaks(value.text, answer.text)]
    for every in (False, True):
        if every:  # what gives it away is said in several values
            gaps = [gaps[0], *((value.start, value.end, HIDDEN) for value in others)]
        shown, at = "", start
        for first, last, sign in sorted(gaps):
            shown += text[at:first] + sign
            at = last
        shown = " ".join((shown + text[at:end]).split())
        if not leaks(shown, answer.text):
            break
    return shown


def _hiding(text: str, answer: str) -> str:
    """A text without its values, if it holds the answer."""
    if leaks(text, answer):
        for value in reversed(find_values(text)):
            text = text[: value.start] + HIDDEN + text[value.end :]
    return text
