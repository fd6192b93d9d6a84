"""Cloze questions without a language model: each number of a response becomes a gap in its sentence.

Hours that belong together ("from 5 pm to 9 pm") are one gap. A sentence that refers to the previous one ("It has ...")
is asked with it.

Not supported: gaps for names, and questions in words, which no checker here needs.
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
"""Marks the answer in a question."""
HIDDEN = "…"
"""Replaces other words of a question that would give its answer away."""
_REFERS_BACK = re.compile(
    r"\W*(?:it|its|they|their|this|these|that|those|he|his|she|her|both|each|there|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_MAX_CONTEXT = 300


@dataclass(frozen=True, slots=True)
class EmbeddedProposer:
    """Asks about every number of a response.

    >>> import asyncio
    >>> [proposal] = asyncio.run(EmbeddedProposer().propose(["It opened in 1973 with 2 towers."], "numbers", 3))
    >>> [(pair.question.text, pair.answer) for pair in proposal.pairs]
    [('It opened in ____ with 2 towers.', '1973'), ('It opened in 1973 with ____ towers.', '2')]
    """

    async def propose(self, responses: Sequence[str], scope: Scope, least: int) -> list[Proposal]:
        """A question for each number, and with the scope "facts" for each date; ``least`` is ignored."""
        return [Proposal(tuple(cloze_pairs(response, scope))) for response in responses]

    async def aclose(self) -> None:
        """Nothing to release."""


def cloze_pairs(response: str, scope: Scope = "facts") -> list[Pair]:
    """A gap for each number of a text, and with the scope "facts" for each date, in order."""
    values, asked = find_values(response), {value.start for value in values_of(response, scope)}
    pairs: list[Pair] = []
    before = ""
    for start, end in sentence_spans(response):
        inside = [value for value in values if start <= value.start < end]
        for answer, wanted in stated(response, inside):
            if answer.start not in asked:
                continue
            text = _with_gap(response, start, max(end, answer.end), answer, inside)
            if before and _REFERS_BACK.match(response, start, end):
                text = f"{_hiding(before[-_MAX_CONTEXT:], answer.text)} {text}"
            pairs.append(Pair(Question(text, wanted), answer.text, answer))
        before = " ".join(response[start:end].split())
    return pairs


def _with_gap(text: str, start: int, end: int, answer: Span, values: Sequence[Value]) -> str:
    """The sentence with a gap for the answer and without other values that would give it away."""
    others = [value for value in values if value.end <= answer.start or value.start >= answer.end]
    gaps = [(answer.start, answer.end, GAP)]
    gaps += [(value.start, value.end, HIDDEN) for value in others if leaks(value.text, answer.text)]
    for every in (False, True):
        if every:  # several values together give it away
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
    """A text without its values, if it contains the answer."""
    if leaks(text, answer):
        for value in reversed(find_values(text)):
            text = text[: value.start] + HIDDEN + text[value.end :]
    return text
