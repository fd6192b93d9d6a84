"""The FActScore protocol (Min et al., EMNLP 2023) with any model: the supported share of an answer's atomic facts.

    score = share of facts that are supported * (1 if facts > 10 else exp(1 - 10 / facts))

An answer without facts abstains and has no score; if one fact could not be verified, the answer has none either.
Departures: facts are extracted in one reply for the whole answer, with the question, and without examples; each is
judged by a verifier of Vouch, on the evidence found for the question instead of five passages of its own. Not
supported: the estimators by retrieval and nonparametric probability.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from vouching.judging.ask import Replies, ReplyError, Unread, ask, unrepeated
from vouching.judging.delimiters import delimited
from vouching.judging.schemas import json_list, list_of, record, short_text, token_limit
from vouching.judging.verifier import ClaimVerifier
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.rank import usage_since
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Reads, Scored, ScoreOutcome
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.models.running import all_of
from vouching.prompts import load_prompt
from vouching.text.sentences import sentence_spans
from vouching.types import Claim, Costing, Scale, Unverified, Usage, Verdict, total_usage

PREFIX = "factscore:"
GAMMA = 10
"""Number of facts up to which an answer is penalised for brevity."""
_FACT, _FACTS = 240, 30
"""Characters of a fact, and facts, where a server enforces the schema."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The atomic facts of an answer."""

    texts: tuple[str, ...]
    usage: Usage = field(default_factory=Usage)
    unread: Unread | None = None
    """Why there are none; None if there are."""


Split: TypeAlias = Callable[[str, str], Awaitable[Facts]]
"""From question and answer to atomic facts. Raises ModelError if the model is out of reach for now."""


class FactScore:
    """Scores an answer by the share of its facts that a verifier finds supported; ``name`` is that of the model."""

    scale: Scale = "share"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, split: Split, judge: ClaimVerifier, name: str) -> None:
        self.name = f"{PREFIX}{name}"
        self._split, self._judge = split, judge

    def digest(self, shown: Shown, question: bool = True) -> str:
        """SHA-256 of the prompt that asks for facts."""
        return hashlib.sha256(load_prompt(__package__ or "", "prompts/facts").text.encode()).hexdigest()

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The penalised share of each."""
        return await all_of(self._score(candidate) for candidate in candidates)

    async def aclose(self) -> None:
        """Close the verifier."""
        await self._judge.aclose()

    async def _score(self, candidate: Candidate) -> ScoreOutcome:
        started = time.perf_counter()
        spent: list[Costing] = []
        outcome = await self._share(candidate, spent)
        return replace(outcome, usage=usage_since(started, *spent))

    async def _share(self, candidate: Candidate, spent: list[Costing]) -> ScoreOutcome:
        """The penalised share; its cost is added to ``spent``."""
        if not candidate.sources:
            return Unverified(candidate.claim, "no_evidence", NO_EVIDENCE)
        facts = await self._split(candidate.question, candidate.answer)
        spent.append(facts)
        if facts.unread is not None:
            return facts.unread.unverified(candidate.claim)
        if not facts.texts:
            return Unverified(candidate.claim, "undecided", "the answer states no facts, so it has no score")
        claims = [Claim(fact, id=f"fact-{number}") for number, fact in enumerate(facts.texts, 1)]
        outcomes = await self._judge.verify(claims, candidate.sources)
        spent += outcomes
        for outcome in outcomes:
            if isinstance(outcome, Unverified):
                message = f"the fact {outcome.claim.text!r} could not be verified: {outcome.message}"
                return Unverified(candidate.claim, outcome.reason, message, reply=outcome.reply)
        supported = sum(isinstance(outcome, Verdict) and outcome.attributable for outcome in outcomes)
        return Scored(fact_score(supported, len(claims)))


def fact_score(supported: int, facts: int, gamma: int = GAMMA) -> float:
    """Share of facts that are supported, in [0, 1], with a penalty for up to ``gamma`` facts.

    >>> fact_score(9, 12), round(fact_score(5, 5), 4)  # 9 / 12; exp(1 - 10 / 5)
    (0.75, 0.3679)
    """
    penalty = 1.0 if facts > gamma else math.exp(1 - gamma / facts)
    return supported / facts * penalty


async def split_sentences(question: str, answer: str) -> Facts:
    """The sentences of an answer, for a split without a language model."""
    return Facts(tuple(answer[start:end] for start, end in sentence_spans(answer)))


def split_by_model(model: Model, max_tokens: int | None = None) -> Split:
    r"""A split that asks a language model."""
    schema = record(facts=list_of(short_text(_FACT), _FACTS))
    sampling = Sampling(token_limit(max_tokens, schema), json_schema=schema)
    system = load_prompt(__package__ or "", "prompts/facts").text.strip()

    def read(replies: Replies) -> tuple[str, ...]:
        if replies[-1].finish_reason == "length":
            limit = f"now {sampling.max_tokens}"
            raise ReplyError(f"the list of facts was cut off: raise max_tokens (--max-tokens, {limit})")
        return tuple(unrepeated(read_facts(replies[-1].text)))

    async def split(question: str, answer: str) -> Facts:
        texts = {"question": question, "answer": answer} if question else {"answer": answer}
        messages = Message("system", system), Message("user", delimited(texts))
        spent: list[Completion] = []
        [found] = await ask(model, messages, sampling, read, spent=spent)
        return Facts((), total_usage(spent), found) if isinstance(found, Unread) else Facts(found, total_usage(spent))

    return split


def read_facts(reply: str) -> list[str]:
    r"""The facts that a reply lists, one per line after a dash; none for NONE. Raises ReplyError for anything else.

    >>> read_facts("- It opened in 1973.\n* It is in Lyon."), read_facts("NONE")
    (['It opened in 1973.', 'It is in Lyon.'], [])
    """
    listed = json_list(reply, "facts")
    text = spoken(reply) if listed is None else "\n".join(f"- {one.get('facts')}" for one in listed) or "NONE"
    lines = [line.strip() for line in text.splitlines()]
    facts = [line[1:].strip() for line in lines if line[:1] in ("-", "*", "•")]
    facts = [fact for fact in facts if any(c.isalnum() for c in fact)]
    if not facts and text.strip().strip(".").upper() != "NONE":
        raise ReplyError(f"the reply lists no facts, expected lines that begin with a dash: {reply[:80]!r}")
    return facts
