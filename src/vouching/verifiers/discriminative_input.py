"""What the discriminative scorer reads: question, answer and evidence in one form, for training and for use alike.

Every part is one line, so that nothing in an answer or a source can pass for another part; sentences of sources that
address the verdict are left out, and so is the verdict of a compressing model. Question and answer come first: where
the whole is too long, evidence is cut. Departures from DiVA: the paper shows no form, this one is Vouch's own. Left
out: token types; the separator of encoders tells the parts apart.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from vouching.search.history import one_line
from vouching.text.injection import addresses_verdict
from vouching.types import Compression

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


def encode(tokenizer: Any, read: ScorerInput, most: int = MAX_TOKENS) -> Encoded:
    """Token ids of an input, cut to ``most`` from the end of the evidence, or of the answer if that alone is too long.

    Args:
        tokenizer: of transformers.
        read: the input.
        most: tokens at most, special ones included.
    """
    pair = (read.asked, read.evidence) if read.evidence else (read.asked,)
    whole = tokenizer(*pair)["input_ids"]
    if len(whole) <= most:
        return Encoded(tuple(whole), 0)
    fits = read.evidence and len(tokenizer(read.asked, "")["input_ids"]) < most
    strategy = "only_second" if fits else "longest_first"
    cut = tokenizer(*pair, truncation=strategy, max_length=most)["input_ids"]
    return Encoded(tuple(cut), len(whole) - len(cut))


def input_digest(shown: Shown, most: int = MAX_TOKENS, question: bool = True) -> str:
    """SHA-256 of the form of the input: what a calibration belongs to, beside the model.

    >>> input_digest("facts") == input_digest("compressed")
    False
    """
    evidence = compressed_text(Compression(("fact", "fact"), "why", "model"))
    form = scorer_input("question" if question else "", "answer", evidence).text
    return hashlib.sha256(repr((form, shown, most)).encode()).hexdigest()
