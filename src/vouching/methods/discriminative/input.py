"""Evidence for the answers to one question: given sources and a search, joined, and what each reader makes of them.

All answers share one trajectory, as in DiVA; only its compression is an answer's own. Left out: searching for every
answer apart, which would favour the answers that are easy to search for.

What the discriminative scorer reads: question, answer and evidence in one form, for training and for use alike.

Every part is one line, so that nothing in an answer or a source can pass for another part; sentences of sources that
address the verdict are left out, and so is the verdict of a compressing model. Question and answer come first: where
the whole is too long, evidence is cut. Departures from DiVA: the paper shows no form, this one is Vouch's own. Left
out: token types; the separator of encoders tells the parts apart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from vouching.inputs import as_sources
from vouching.search.evidence import told
from vouching.search.history import history_text, one_line
from vouching.text.injection import addresses_verdict
from vouching.types import (
    Claim,
    Compression,
    Passage,
    SearchResult,
    SearchTurn,
    Source,
    Span,
    Trajectory,
    VerdictWarning,
)

Shown: TypeAlias = Literal["compressed", "facts", "full", "none"]
"""What a scorer is shown of a search: facts and reasoning (DiVA), facts alone, the whole history, or nothing."""
MAX_TOKENS = 1024
"""Length of an input (DiVA, Table 8)."""


@dataclass(frozen=True, slots=True)
class ScorerInput:
    """One input of the scorer."""

    asked: str
    """Question and answer, a line each."""
    evidence: str = ""
    """What was found, in lines; empty if nothing is shown."""

    @property
    def text(self) -> str:
        """All of it as one text."""
        return self.asked + self.evidence


@dataclass(frozen=True, slots=True)
class Encoded:
    """An input as token ids."""

    ids: tuple[int, ...]
    """With the special tokens of the tokenizer."""
    lost: int
    """Tokens that were cut off; 0 if the input is whole."""


def scorer_input(question: str, answer: str, evidence: str = "") -> ScorerInput:
    r"""The input for an answer.

    Args:
        question: empty where there is none, as for a claim that stands alone.
        answer: what is scored.
        evidence: from :func:`compressed_text` or :func:`~vouching.search.history.history_text`; empty for none.

    >>> scorer_input("When did it\nopen?", "In 1973.", "Useful facts: It opened in 1973.").text
    'Question: When did it open?\nAnswer: In 1973.\nUseful facts: It opened in 1973.'
    """
    asked = f"Question: {one_line(question)}\n" if question.strip() else ""
    return ScorerInput(f"{asked}Answer: {one_line(answer)}\n", evidence)


def compressed_text(compression: Compression, reasoning: bool = True) -> str:
    r"""Evidence as it was compressed for one answer; its verdict is never in it.

    >>> found = Compression(("It opened in 1973.", "It is in Lyon."), "The year agrees.", "model", "Correct")
    >>> compressed_text(found)
    'Useful facts: It opened in 1973.; It is in Lyon.\nReasoning: The year agrees.'
    >>> compressed_text(found, reasoning=False)
    'Useful facts: It opened in 1973.; It is in Lyon.'
    """
    facts = [fact for fact in map(one_line, compression.facts) if fact and not addresses_verdict(fact)]
    lines = [f"Useful facts: {'; '.join(facts)}"] if facts else []
    if reasoning and compression.reasoning.strip():
        lines.append(f"Reasoning: {one_line(compression.reasoning)}")
    return "\n".join(lines)


def encode(tokenizer: Any, read: ScorerInput, limit: int = MAX_TOKENS) -> Encoded:
    """Token ids of an input, cut to ``limit`` from the end of the evidence, or of the answer if that alone is too long.

    Args:
        tokenizer: of transformers.
        read: the input.
        limit: tokens at most, special ones included.
    """
    pair = (read.asked, read.evidence) if read.evidence else (read.asked,)
    whole = tokenizer(*pair)["input_ids"]
    if len(whole) <= limit:
        return Encoded(tuple(whole), 0)
    fits = read.evidence and len(tokenizer(read.asked, "")["input_ids"]) < limit
    strategy = "only_second" if fits else "longest_first"
    cut = tokenizer(*pair, truncation=strategy, max_length=limit)["input_ids"]
    return Encoded(tuple(cut), len(whole) - len(cut))


def input_digest(shown: Shown, limit: int = MAX_TOKENS, question: bool = True) -> str:
    """SHA-256 of the form of the input: what a calibration belongs to, beside the model.

    >>> input_digest("facts") == input_digest("compressed")
    False
    """
    evidence = compressed_text(Compression(("fact", "fact"), "why", "model"))
    form = scorer_input("question" if question else "", "answer", evidence).text
    return hashlib.sha256(repr((form, shown, limit)).encode()).hexdigest()


Find: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Trajectory]]
"""Searches for a question and its answers; a failed search is a trajectory that says so."""
Compress: TypeAlias = Callable[[Trajectory, str], Awaitable[Compression]]
"""Makes a trajectory short for one answer. Raises ModelError where a model fails."""
GIVEN = "given"
"""The searcher of a trajectory, and the origin of its passages, that holds given sources alone."""


def given(question: str, answers: Sequence[str], sources: Sequence[Source]) -> Trajectory:
    """Given sources as a search that found them.

    >>> trajectory = given("When?", ["In 1973."], [Source("It opened in 1973.", title="Bridge")])
    >>> [(passage.title, passage.span.source_id, passage.origin) for passage in trajectory.passages]
    [('Bridge', 'source-1', 'given')]
    """
    passages = tuple(
        Passage(Span(s.text, 0, len(s.text), s.id), 1.0, title=s.title, url=s.url, origin=GIVEN) for s in sources
    )
    turn = SearchTurn("", "local", "", SearchResult("", passages, ()))
    return Trajectory(question, tuple(answers), (turn,), "exhausted", GIVEN)


async def gather(question: str, answers: Sequence[str], sources: Sequence[Source], find: Find | None) -> Trajectory:
    """The given sources, if any, and what a search finds beside them."""
    known = given(question, answers, sources) if sources else None
    if find is None:
        return known or Trajectory(question, tuple(answers), (), "exhausted", GIVEN)
    found = await find(question, answers)
    return found if known is None else replace(found, turns=(*known.turns, *found.turns))


def sources_of(trajectory: Trajectory | None) -> tuple[Source, ...]:
    """What a search found, as sources; none where nothing was searched."""
    return as_sources(trajectory.passages) if trajectory and trajectory.passages else ()


def evidence_text(shown: Shown, trajectory: Trajectory | None, compression: Compression | None) -> str:
    """What a scorer is shown of a search; see ``Shown``."""
    if shown == "full" and trajectory is not None:
        return history_text(trajectory)
    if shown in ("compressed", "facts") and compression is not None:
        return compressed_text(compression, reasoning=shown == "compressed")
    return ""


def search_warnings(trajectory: Trajectory) -> Iterator[VerdictWarning]:
    """What failed, each failure once, and a search that found nothing.

    >>> from vouching.types import Asked
    >>> asked = (Asked("web:a", 2), Asked("web:b", 0, "b answered 503"))
    >>> turns = [SearchTurn("", "all", query, SearchResult(query, (), asked)) for query in ("bridge", "tower")]
    >>> [warning.message for warning in search_warnings(Trajectory("When?", (), tuple(turns), "turns", "steps"))]
    ['web:b failed in 2 of 2 queries (b answered 503).', 'The search found nothing.']
    """
    results = [turn.result for turn in trajectory.turns if turn.result]
    queries = Counter(asked.engine for result in results for asked in result.asked)
    failures = Counter((asked.engine, asked.error) for result in results for asked in result.asked if asked.error)
    for (engine, error), count in failures.items():
        wanted = queries[engine]
        often = f" in {count} of {wanted} queries" if wanted > 1 else ""
        yield VerdictWarning("engine", f"{engine} failed{often} ({error}).")
    for turn in trajectory.turns:
        if turn.error is not None:
            yield VerdictWarning("engine", told(turn))
    if not trajectory.passages and search_failed(trajectory) is None:
        found = "The search found nothing." if queries else "Nothing was searched for."
        yield VerdictWarning("engine", found)


def search_failed(trajectory: Trajectory) -> str | None:
    """Why there is nothing to hold an answer against, where every engine failed; None where one answered.

    >>> from vouching.types import Asked
    >>> asked = (Asked("web:b", 0, "b answered 503"),)
    >>> turn = SearchTurn("", "all", "bridge", SearchResult("bridge", (), asked))
    >>> search_failed(Trajectory("When?", (), (turn,), "failed", "steps"))
    'The search for evidence failed. b answered 503'
    """
    if trajectory.ended != "failed" or trajectory.passages:
        return None
    return f"The search for evidence failed. {next(iter(trajectory.errors), 'Try again later.')}"


def statement(question: str, answer: str, number: int = 1) -> Claim:
    """Question and answer as one statement to hold against the evidence; its id is "answer-N".

    >>> statement("When did the bridge open?", "In 1973.", 2)
    Claim(text='When did the bridge open: In 1973.', id='answer-2', span=None, context='')
    """
    asked = " ".join(question.split()).rstrip("?？ ")
    return Claim(f"{asked}: {answer.strip()}" if asked else answer.strip(), id=f"answer-{number}")
