"""Evidence for the answers to one question, and the form in which the discriminative scorer reads it.

All answers share one search, as in DiVA; only its compression is per answer. Question, answer and evidence have the
same form in training and in use. Every part is one line, so that nothing in an answer or a source can be mistaken for
another part; sentences of sources that address the verdict are omitted, and so is the verdict of a compressing model.
Question and answer come first: evidence is truncated if the whole is too long. Departures from DiVA: the paper shows no
form, this one is ours. Not supported: a search per answer, which would favour answers that are easy to search for;
token types.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from vouching.inputs import as_sources
from vouching.search.evidence import failed_search, turn_text
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
"""Maximum length of an input (DiVA, Table 8)."""


@dataclass(frozen=True, slots=True)
class ScorerInput:
    """One input of the scorer."""

    asked: str
    """Question and answer, a line each."""
    evidence: str = ""
    """Lines of evidence; may be empty."""

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
    """Number of truncated tokens."""


def scorer_input(question: str, answer: str, evidence: str = "") -> ScorerInput:
    r"""The input for an answer; ``question`` is empty for a claim on its own.

    >>> scorer_input("When did it\nopen?", "In 1973.", "Useful facts: It opened in 1973.").text
    'Question: When did it open?\nAnswer: In 1973.\nUseful facts: It opened in 1973.'
    """
    asked = f"Question: {one_line(question)}\n" if question.strip() else ""
    return ScorerInput(f"{asked}Answer: {one_line(answer)}\n", evidence)


def compressed_text(compression: Compression, reasoning: bool = True) -> str:
    """Evidence as compressed for one answer, without the verdict."""
    facts = [fact for fact in map(one_line, compression.facts) if fact and not addresses_verdict(fact)]
    lines = [f"Useful facts: {'; '.join(facts)}"] if facts else []
    if reasoning and compression.reasoning.strip():
        lines.append(f"Reasoning: {one_line(compression.reasoning)}")
    return "\n".join(lines)


def encode(tokenizer: Any, read: ScorerInput, limit: int = MAX_TOKENS) -> Encoded:
    """Token ids of an input; evidence is truncated first, from its end, to fit ``limit``."""
    pair = (read.asked, read.evidence) if read.evidence else (read.asked,)
    whole = tokenizer(*pair)["input_ids"]
    if len(whole) <= limit:
        return Encoded(tuple(whole), 0)
    fits = read.evidence and len(tokenizer(read.asked, "")["input_ids"]) < limit
    strategy = "only_second" if fits else "longest_first"
    cut = tokenizer(*pair, truncation=strategy, max_length=limit)["input_ids"]
    return Encoded(tuple(cut), len(whole) - len(cut))


def input_digest(shown: Shown, limit: int = MAX_TOKENS, question: bool = True) -> str:
    """SHA-256 of the form of the input, to which a calibration belongs besides the model."""
    evidence = compressed_text(Compression(("fact", "fact"), "why", "model"))
    form = scorer_input("question" if question else "", "answer", evidence).text
    return hashlib.sha256(repr((form, shown, limit)).encode()).hexdigest()


Find: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Trajectory]]
"""Searches for a question and its answers; a failed search is a trajectory with its error."""
Compress: TypeAlias = Callable[[Trajectory, str], Awaitable[Compression]]
"""Shortens a trajectory for one answer. Raises ModelError if a model fails."""
GIVEN = "given"
"""The searcher and the origin of passages of a trajectory that has only given sources."""


def given(question: str, answers: Sequence[str], sources: Sequence[Source]) -> Trajectory:
    """Given sources as a trajectory."""
    passages = tuple(
        Passage(Span(s.text, 0, len(s.text), s.id), 1.0, title=s.title, url=s.url, origin=GIVEN) for s in sources
    )
    turn = SearchTurn("", "local", "", SearchResult("", passages, ()))
    return Trajectory(question, tuple(answers), (turn,), "exhausted", GIVEN)


async def gather(question: str, answers: Sequence[str], sources: Sequence[Source], find: Find | None) -> Trajectory:
    """The given sources, if any, and the results of a search."""
    known = given(question, answers, sources) if sources else None
    if find is None:
        return known or Trajectory(question, tuple(answers), (), "exhausted", GIVEN)
    found = await find(question, answers)
    return found if known is None else replace(found, turns=(*known.turns, *found.turns))


def sources_of(trajectory: Trajectory | None) -> tuple[Source, ...]:
    """The results of a search as sources."""
    return as_sources(trajectory.passages) if trajectory and trajectory.passages else ()


def evidence_text(shown: Shown, trajectory: Trajectory | None, compression: Compression | None) -> str:
    """What a scorer is shown of a search; see ``Shown``."""
    if shown == "full" and trajectory is not None:
        return history_text(trajectory)
    if shown in ("compressed", "facts") and compression is not None:
        return compressed_text(compression, reasoning=shown == "compressed")
    return ""


def search_warnings(trajectory: Trajectory) -> Iterator[VerdictWarning]:
    """Each failure of an engine once, and a warning if a search found nothing."""
    results = [turn.result for turn in trajectory.turns if turn.result]
    queries = Counter(asked.engine for result in results for asked in result.asked)
    failures = Counter((asked.engine, asked.error) for result in results for asked in result.asked if asked.error)
    for (engine, error), count in failures.items():
        asked = queries[engine]
        often = f" in {count} of {asked} queries" if asked > 1 else ""
        yield VerdictWarning("engine", f"{engine} failed{often} ({error}).")
    for turn in trajectory.turns:
        if turn.error is not None:
            yield VerdictWarning("engine", turn_text(turn))
    if not trajectory.passages and search_failed(trajectory) is None:
        found = "The search found nothing." if queries else "Nothing was searched for."
        yield VerdictWarning("engine", found)


def search_failed(trajectory: Trajectory) -> str | None:
    """The error of a search in which every engine failed; None if one answered."""
    if trajectory.ended != "failed" or trajectory.passages:
        return None
    return failed_search(trajectory)


def statement(question: str, answer: str, number: int = 1) -> Claim:
    """Question and answer as one statement to check against the evidence; its id is "answer-N"."""
    asked = " ".join(question.split()).rstrip("?？ ")
    return Claim(f"{asked}: {answer.strip()}" if asked else answer.strip(), id=f"answer-{number}")
