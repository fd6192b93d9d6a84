"""Shortens a trajectory for one answer: the relevant facts, without a verdict (DiVA, step 2).

A language model writes facts and reasoning. Its own verdict is removed wherever it occurs and stored separately, so
that no scorer of the answer can read it. Replies need not keep to the format exactly: marks around headings, another
order, and lists in place of semicolons are read too. Without a model, the sentences of the passages that cover most of
the question and the answer are taken. If a model fails, an error is raised; there is no fallback.

Departures from the paper: the prompt is Vouch's own, and the texts in it are placed between delimiters, unless
``wording="paper"`` asks with prompt D.2 as printed. Not supported:
replies in JSON; removing judgements in the words of the reasoning ("so this answer is wrong"), which the paper keeps as
well; checking a model's facts against the passages, which the aligner of a verifier does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vouching.errors import ConfigError, ModelAnswerError
from vouching.judging.delimiters import delimited
from vouching.judging.windows import window_limit
from vouching.models.base import Message, Model, Sampling, spoken
from vouching.prompts import Wording, load_prompt
from vouching.search.history import history_text, one_line, screened
from vouching.search.steps import stems
from vouching.search.vectors import SentenceEncoder
from vouching.text.injection import addresses_verdict
from vouching.text.sentences import sentence_spans
from vouching.types import Compression, Passage, Source, Trajectory

Verdict: TypeAlias = Literal["Correct", "Incorrect", "Intermediate"]

_MARKS = r"(?:[^\S\n]|[#>*_`~\"'\[\]()•\-–—.\d])*"
_ENDS = r"[*_`\"'\s]*(?:[:：=]|[-–—](?=\s)|$)[*_`]*"
_HEADING = re.compile(
    rf"^{_MARKS}(?:(?P<facts>(?i:(?:(?:useful|key|relevant)\s+)?facts?))|(?P<reasoning>(?i:reasoning|explanation|analysis))"
    rf"|(?P<verdict>(?i:(?:(?:final|my|overall)[\s_-]+)?(?:verdict|conclusion|judge?ment|assessment)))){_ENDS}"
    # In the middle of a line, only as the prompt writes them.
    r"|(?<=[\s.;])[*_`]*(?:(?P<facts_>Useful Facts)|(?P<reasoning_>Reasoning)|(?P<verdict_>Final Verdict))"
    r"[*_`]*:[*_`]*",
    re.MULTILINE,
)
_ANNOUNCED = re.compile(
    r"(?<![^\W_])verdict\b[*_`\"'\s]*(?:[:：=]|[-–—]\s|(?:is|remains|would\s+be|should\s+be)\b)", re.IGNORECASE
)
_MENTIONED = re.compile(r"(?<![^\W_])verdict\b", re.IGNORECASE)
_ALONE = re.compile(
    r"(?:[^:：=→,{]{0,60}[:：=→,{])?[\W_]*"
    r"(?:(?:not|part(?:ial)?ly|mostly|(?:not\s+)?(?:entirely|fully|completely))\s+)?(?:(?:in)?correct|intermediate)[\W_]*",
    re.IGNORECASE,
)
"""Only a word of the verdict, perhaps after a heading: "Correct.", "Overall: Incorrect"."""
_PARTLY = re.compile(
    r"\b(?:intermediate|part(?:ial)?ly|mixed|not\s+(?:entirely|fully|completely|quite|wholly))\b", re.IGNORECASE
)
_WRONG = re.compile(r"\b(?:incorrect|wrong|false|not\s+correct)\b", re.IGNORECASE)
_RIGHT = re.compile(r"\bcorrect\b", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*•–—>\s]|\(?\d{1,2}[.)](?=\s))+")
_NOTHING = re.compile(r"(?:none|n/?a|nothing|no(?: useful| relevant)? facts?)(?: found| were found)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """The parts of a model's reply."""

    facts: tuple[str, ...]
    reasoning: str
    """In one line, without a verdict."""
    verdict: Verdict | None
    """None if it has none, or more than one."""


def read_reply(text: str) -> Reply | None:
    r"""The parts of a reply; None if it has neither facts nor reasoning.

    >>> read_reply("**Final Verdict:** Incorrect\n**Useful Facts:** [It opened in 1937]\n**Reasoning:** Another year.")
    Reply(facts=('It opened in 1937',), reasoning='Another year.', verdict='Incorrect')
    >>> read_reply("It is correct.") is None
    True
    """
    text = spoken(text)
    headings = [*_HEADING.finditer(text)]
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    parts: dict[str, list[str]] = {"facts": [], "reasoning": [], "verdict": []}
    for heading, end in zip(headings, ends, strict=bool(headings)):
        parts[(heading.lastgroup or "").rstrip("_")].append(text[heading.end() : end])
    if not parts["facts"] and not parts["reasoning"]:
        return None
    facts, verdicts = _without_verdict(parts["facts"])
    reasoning, more = _without_verdict(parts["reasoning"])
    return Reply(
        facts=tuple(fact for line in facts for fact in _facts(line)),
        reasoning=" ".join(" ".join(reasoning).split()).strip("*_` "),
        verdict=_verdict([*parts["verdict"], *verdicts, *more]),
    )


def _without_verdict(parts: list[str]) -> tuple[list[str], list[str]]:
    """Lines without the sentences that give a verdict, and these sentences."""
    lines: list[str] = []
    verdicts: list[str] = []
    awaited = False
    for line in "\n".join(parts).splitlines():
        kept: list[str] = []
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            names = any(pattern.search(sentence) for pattern in (_PARTLY, _WRONG, _RIGHT))
            announced = _ANNOUNCED.search(sentence) is not None
            alone = _ALONE.fullmatch(sentence) is not None
            if awaited or announced or alone or (names and _MENTIONED.search(sentence)):
                verdicts.append(sentence)
                awaited = announced and not names  # "My verdict is:", and the word comes next.
            else:
                kept.append(sentence)
        lines.append(" ".join(kept))
    return lines, verdicts


def _facts(line: str) -> list[str]:
    pieces = (_BULLET.sub("", piece.strip()).strip(" \t\"'`*_,[]") for piece in re.split("[;；]", line))
    return [
        piece
        for piece in pieces
        if re.search(r"\w", piece) and not _NOTHING.fullmatch(piece.rstrip(".")) and not _ALONE.fullmatch(piece)
    ]


def _verdict(texts: list[str]) -> Verdict | None:
    """The verdict on which the texts agree."""
    found: set[Verdict] = set()
    for text in texts:
        wrong = _WRONG.search(text) is not None
        if _PARTLY.search(text):
            found.add("Intermediate")
        elif _RIGHT.search(_WRONG.sub("", text)):
            found.add("Correct")
        if wrong:
            found.add("Incorrect")
    return found.pop() if len(found) == 1 else None


Measure: TypeAlias = Callable[[str], int]
"""Length of a text: ``len`` for characters, a tokenizer's count for tokens."""

SEEN = 0.5
"""Factor for a word that an earlier sentence covers."""
OPENING = 1.35
"""Factor for the first sentence of a passage, which usually introduces its subject."""
LINKED = 1.0
"""Added if an earlier sentence names the document of a sentence; as much as one rare word."""
SIMILAR = 1.0
"""Weight of the similarity; the words of a sentence that has all of them weigh 1."""


MAX_TOKENS = 1024
"""Token limit of a language model's reply in a search."""


class ModelCompressor:
    r"""Compresses with a language model.

    Args:
        model: used at temperature 0.
        max_tokens: maximal tokens of its reply.
        limit: maximal characters of the search in the prompt, or what fits into the context of the model; the rest is
            omitted and counted as ``unread``.
        wording: our prompt, or the paper's.
    """

    def __init__(
        self, model: Model, max_tokens: int = MAX_TOKENS, limit: int = 24_000, wording: Wording = "ours"
    ) -> None:
        self.model = model
        self._wording: Wording = wording
        self._sampling = Sampling(max_tokens=max_tokens)
        self._limit = limit

    async def compress(self, trajectory: Trajectory, answer: str) -> Compression:
        """Shorten a trajectory for one of its answers.

        Raises ModelError if the model failed, or its reply has neither facts nor reasoning or was cut off.
        """
        whole, empty = history_text(trajectory), self._messages("", trajectory.question, answer)
        limit = await window_limit(self.model, self._limit, [Source(whole)], empty, self._sampling.max_tokens)
        shown = history_text(trajectory, limit)
        messages = self._messages(shown or "Nothing was found.", trajectory.question, answer)
        [reply] = await self.model.generate(messages, self._sampling)
        if reply.finish_reason != "stop":
            raise ModelAnswerError(
                f"{self.model.name} did not finish the compression ({reply.finish_reason}): raise max_tokens "
                f"(vouch rank --max-tokens), currently {self._sampling.max_tokens}"
            )
        parts = read_reply(reply.text)
        if parts is None:
            raise ModelAnswerError(f"{self.model.name} wrote neither facts nor reasoning: {reply.text[:200]!r}")
        unread = len(whole) - len(shown)
        return Compression(parts.facts, parts.reasoning, "model", parts.verdict, reply.usage, unread)

    def _messages(self, record: str, question: str, answer: str) -> list[Message]:
        if self._wording == "paper":
            prompt = load_prompt("vouching.search", "paper_compress")
            return [Message("user", prompt.fill(search_history=record, question=question, answer=answer).strip())]
        named = {"record of the search": record, "question": question, "answer": answer}
        system = load_prompt("vouching.search", "compress_system").text.strip()
        return [Message("system", system), Message("user", delimited(named))]

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


class SentenceCompressor:
    """Compresses by selecting sentences; deterministic and without a model.

    A sentence is scored by the words of question and answer that it or its title has; rare words weigh more, and words
    that are already covered count half. The best sentence is taken repeatedly until no other fits.

    Args:
        budget: maximal total length of the facts, at least 1.
        measure: measures length.
        encoder: adds its similarity, if positive, to the score of the words; None scores by words alone.
    """

    def __init__(self, budget: int = 1_200, measure: Measure = len, encoder: SentenceEncoder | None = None) -> None:
        if budget < 1:
            raise ConfigError(f"budget must be at least 1, got {budget}")
        self._budget, self._measure, self._encoder = budget, measure, encoder

    async def compress(self, trajectory: Trajectory, answer: str) -> Compression:
        """As :meth:`take`, with the interface of ``ModelCompressor``."""
        return self.take(trajectory, answer)

    async def aclose(self) -> None:
        """Nothing to close."""

    def take(self, trajectory: Trajectory, answer: str) -> Compression:
        """The most relevant sentences for one answer, best first, each after the title of its document."""
        asked = f"{trajectory.question} {answer}"
        sentences = _sentences(trajectory.passages)
        if not sentences:
            return Compression((), "", "deterministic")
        order = _Order(sentences, stems(asked), self._similarities(asked, sentences))
        facts: list[str] = []
        left = self._budget
        while (sentence := order.best()) is not None:
            needed = self._measure(sentence.text)
            if needed <= left:
                left -= needed
                facts.append(sentence.text)
                order.take(sentence)
        return Compression(tuple(facts), "", "deterministic")

    def _similarities(self, asked: str, sentences: Sequence[_Sentence]) -> list[float]:
        if self._encoder is None:
            return [0.0] * len(sentences)
        vectors = self._encoder.vectors([asked, *(sentence.text for sentence in sentences)])
        return [float(value) for value in vectors[1:] @ vectors[0]]


@dataclass(frozen=True, slots=True, eq=False)
class _Sentence:
    text: str
    """With the title before it."""
    title: frozenset[str]
    words: frozenset[str]
    """Without those of the title."""
    opening: bool

    @property
    def all_words(self) -> frozenset[str]:
        return self.title | self.words


class _Order:
    """The sentences that are left, ranked given those that were taken."""

    def __init__(self, sentences: Sequence[_Sentence], sought: frozenset[str], near: Sequence[float]) -> None:
        self._left = dict(zip(sentences, near, strict=True))
        occurs = Counter(word for sentence in sentences for word in sentence.all_words)
        self._worth = {word: math.log(1 + len(sentences) / occurs[word]) for word in sought if occurs[word]}
        self._limit = math.fsum(self._worth.values()) or 1.0
        self._covered: set[str] = set()
        self._mentioned: set[str] = set()
        self._titles: set[frozenset[str]] = set()

    def best(self) -> _Sentence | None:
        """Remove and return the best sentence; None if no sentence has a positive score."""
        gained = {sentence: self._gain(sentence) for sentence in self._left}
        found = max(gained, key=gained.__getitem__, default=None)
        if found is None or gained[found] <= 0:
            return None
        del self._left[found]
        return found

    def take(self, sentence: _Sentence) -> None:
        """Mark its words as covered."""
        self._covered |= sentence.all_words
        self._mentioned |= sentence.words
        self._titles.add(sentence.title)

    def _gain(self, sentence: _Sentence) -> float:
        has = self._worth.keys() & sentence.all_words
        # Exactly, so that the order of a set, which differs by process, decides no tie.
        words = math.fsum(self._worth[word] * (SEEN if word in self._covered else 1.0) for word in has)
        linked = sentence.title and sentence.title <= self._mentioned and sentence.title not in self._titles
        near = SIMILAR * self._limit * max(0.0, self._left[sentence])
        return (words + (LINKED if linked else 0.0) + near) * (OPENING if sentence.opening else 1.0)


def _sentences(passages: Sequence[Passage]) -> list[_Sentence]:
    """Every sentence once, without those that address the verdict."""
    found: dict[str, _Sentence] = {}
    for passage in passages:
        title = "" if addresses_verdict(passage.title) else one_line(passage.title)
        text = screened(passage.span.text)
        for number, (start, end) in enumerate(sentence_spans(text)):
            words = stems(text[start:end])
            full = ": ".join(filter(None, (title, one_line(text[start:end]))))
            if words:
                found.setdefault(full, _Sentence(full, stems(title), words, number == 0))
    return [*found.values()]
