"""Scorers that say what they are told to say, and searches that find what they are told to find."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from vouching.methods.discriminative.input import Shown, input_digest
from vouching.methods.discriminative.rank import Ranker
from vouching.methods.discriminative.scorer import Candidate, Reads, Scored, ScoreOutcome
from vouching.types import (
    Asked,
    Compression,
    Passage,
    Ranking,
    Scale,
    SearchResult,
    SearchTurn,
    Source,
    Span,
    Trajectory,
    Unverified,
    Usage,
)

QUESTION = "When did the bridge open?"
BRIDGE = "The bridge opened to traffic in 1973. It has two towers."


class TableScorer:
    """Takes each answer's number from a table; an answer that is not in it cannot be scored."""

    name = "table"

    def __init__(self, table: dict[str, float], scale: Scale = "logit", reads: Reads = "text") -> None:
        self.table, self.scale, self.reads = table, scale, reads
        self.shown: Shown | None = None
        self.read: list[Candidate] = []
        """Every candidate so far."""
        self.closed = False

    def digest(self, shown: Shown, question: bool = True) -> str:
        return input_digest(shown, question=question)

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        self.read += candidates
        return [
            Scored(self.table[one.answer], usage=Usage(calls=1))
            if one.answer in self.table
            else Unverified(one.claim, "undecided", "not in the table")
            for one in candidates
        ]

    async def aclose(self) -> None:
        self.closed = True


async def first_sentence(trajectory: Trajectory, answer: str) -> Compression:
    """The first sentence of every passage."""
    facts = tuple(passage.span.text.partition(". ")[0] for passage in trajectory.passages)
    return Compression(facts, f"About {answer}", "deterministic")


def found(*texts: str, error: str | None = None) -> Any:
    """A search that finds these texts, and whose second engine fails with ``error``."""

    async def find(question: str, answers: Sequence[str]) -> Trajectory:
        passages = tuple(Passage(Span(t, 0, len(t), f"doc-{n}"), 1.0, origin="index:x") for n, t in enumerate(texts, 1))
        asked = (Asked("index:x", len(texts)), *([Asked("web:y", 0, error)] if error else []))
        turn = SearchTurn("Look.", "all", question, SearchResult(question, passages, asked))
        return Trajectory(question, tuple(answers), (turn,), "exhausted", "single")

    return find


def ranked(ranker: Ranker, answers: Sequence[str], *sources: str, question: str = QUESTION) -> Ranking:
    """The ranking of answers by given texts."""
    given = [Source(text, f"source-{number}") for number, text in enumerate(sources, 1)]
    return asyncio.run(ranker.rank(question, answers, given))
