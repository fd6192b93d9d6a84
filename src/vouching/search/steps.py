"""Multi-step search without a language model: queries are expanded with names from the passages found so far.

The first query is the question itself. Each further query is the most promising name: one in an answer that no passage
supports, or one that a passage has close to a word of the question ("directed by Ada Byron", for a question about a
director). A passage found this way gets a share of the name's weight if it is about the name, or has it together with
words that no passage covered yet. The best passages of all queries are kept. A name from a local document is never sent
to the web: only indexes are searched for it. The constants were chosen on training questions;
``benchmarks/search_steps.py`` measures on others.

Not supported: pronouns and descriptions (only names as written), names in scripts without capitals, and knowing which
step of the question a query answers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from vouching.search.base import SearchEngine, check_engines, search_engines
from vouching.text.entities import find_entities
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words
from vouching.types import Claim, Passage, SearchEnd, SearchTurn, Source, Span, Trajectory, Unverified, Verdict

FAR = 0.6
"""Share of a passage's weight for any name in it; the rest depends on the distance to a word of the question."""
REACH = 12
"""Maximal distance of a name and a word of the question, in content words."""
_BRACKET = re.compile(r"\s*\([^)]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its content words."""

    text: str
    words: tuple[tuple[str, str], ...]
    """As written and as stems."""

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the words."""
        return frozenset(stem for _, stem in self.words)

    def beyond(self, known: frozenset[str]) -> tuple[str, ...]:
        """The words, as written, whose stems are not in ``known``."""
        return tuple(word for word, stem in self.words if stem not in known)


@dataclass(frozen=True, slots=True)
class Page:
    """A passage with its stems."""

    passage: Passage
    words: frozenset[str]
    """Stems of the content words of title and text."""
    about: frozenset[str]
    """Stems of the title without a final part in brackets."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A name to expand the search with."""

    name: str
    stems: frozenset[str]
    """Stems of its content words; names with the same stems are one."""
    weight: float
    open: tuple[str, ...]
    """Words that are added to the query."""
    why: str
    origin: str = ""
    """The engine whose passage has the name; empty for a name from the question or an answer."""

    @property
    def query(self) -> str:
        """The name and the additional words."""
        return " ".join((self.name, *self.open))


def read_question(text: str) -> Question:
    """The content words of a question."""
    found = {word.stem: text[word.start : word.end] for word in reversed(find_words(text)) if word.is_content}
    return Question(text, tuple((word, stem) for stem, word in reversed(found.items())))


def read_page(passage: Passage) -> Page:
    """A passage with its stems."""
    about = stems(_BRACKET.sub("", passage.title))
    return Page(passage, stems(passage.title) | stems(passage.span.text), about)


def stems(text: str) -> frozenset[str]:
    """Stems of the content words."""
    return frozenset(word.stem for word in find_words(text) if word.is_content)


def expansions_from(page: Page, weight: float, question: Question) -> Iterator[Expansion]:
    """Names in a passage of the given weight that are neither in the question nor in the passage's title.

    Names close to words of the question, except those in the title, get more weight.

    >>> from vouching.types import Span
    >>> text = "Nosferatu is a silent film directed by Ada Byron and shot in Oslo."
    >>> page = read_page(Passage(Span(text, 0, len(text)), 1.0, title="Nosferatu"))
    >>> for expansion in expansions_from(page, 1.0, read_question("Where was the director of Nosferatu born?")):
    ...     print(expansion.query, expansion.weight)
    Ada Byron born 1.0
    Oslo born 0.7
    """
    text = page.passage.span.text
    sentences = sentence_spans(text)
    known, sought = question.stems, question.stems - page.about
    for entity in find_entities(text, [start for start, _ in sentences]):
        name = stems(entity.text)
        if not name or name <= known or name <= page.about:
            continue
        start, end = next((span for span in sentences if span[0] <= entity.start < span[1]), (0, len(text)))
        near, word = max(
            _nearness(text, start, entity.start, sought, before=True),
            _nearness(text, entity.end, end, sought, before=False),
        )
        where = f"near {word!r}" if word else "but not near any word of the question"
        title = f" of {page.passage.title!r}" if page.passage.title else ""
        why = f"{entity.text!r} occurs in a passage{title}, {where}."
        weighed = weight * (FAR + (1 - FAR) * near)
        yield Expansion(entity.text, name, weighed, question.beyond(page.words), why, page.passage.origin)


def _nearness(text: str, start: int, end: int, sought: frozenset[str], before: bool) -> tuple[float, str]:
    """1 for a sought word next to a name, 1/2 with one content word between, and so on; and the word as written."""
    words = [word for word in find_words(text, start, max(start, end)) if word.is_content]
    for between, word in enumerate((words[::-1] if before else words)[:REACH]):
        if word.stem in sought:
            return 1 / (1 + between), text[word.start : word.end]
    return 0.0, ""


Verify: TypeAlias = Callable[[Sequence[Claim], Sequence[Source]], Awaitable[Sequence[Verdict | Unverified]]]
"""Judges claims against sources, as ``ClaimVerifier.verify``."""

RANK_DECAY = 0.3
"""Weight of a passage of the first query: 1 / (1 + 0.3 rank), ranks from 0."""
NAMED = 0.6
"""Added if the question contains the title of its document."""
ABOUT, RELATED, CONTAINS = 0.9, 0.3, 0.6
"""Share of a name's weight for a passage: its title is the name; its title contains the name's words, or the reverse;
its text contains the name, times the share of the additional words that it contains."""
UNSUPPORTED = 1.0
"""Weight of a name in an answer that no passage supports."""
QUERIES = 5
"""Default number of queries."""
READ = 5
"""Number of best passages whose names are collected before each query."""


class StepSearch:
    """Expands the query with one name after the other, and keeps the best passages of all queries.

    Args:
        engines: at least one; each query goes to all of them.
        verify: judges the answers against the passages kept so far: the search ends when each is supported or
            contradicted, and continues with the parts that are not supported. None uses words alone and all queries.
        queries: maximal number of queries.
        limit: number of passages to keep; the turns of the trajectory show only these, best first.
        wide: number of passages to take from each engine per query.

    Raises ConfigError without an engine, or for a number below 1.
    """

    def __init__(
        self,
        engines: Sequence[SearchEngine],
        verify: Verify | None = None,
        *,
        queries: int = QUERIES,
        limit: int = 5,
        wide: int = 10,
    ) -> None:
        check_engines(engines, queries=queries, limit=limit, wide=wide)
        self.engines = tuple(engines)
        self._verify = verify
        self._queries, self._limit, self._wide = queries, limit, wide

    async def search(self, question: str, answers: Sequence[str] = ()) -> Trajectory:
        """Search for a question and its answers.

        The first query does not contain several answers, so that none of them biases the search.
        """
        state = _State(read_question(question), tuple(answers))
        alone = answers[0] if len(answers) == 1 else ""
        first = Expansion(f"{question} {alone}".strip(), frozenset(), 1.0, (), "The original question.")
        ended = await self._walk(state, first)
        return Trajectory(question, tuple(answers), state.kept(self._limit), ended, "deterministic")

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """Search for a claim; see ``Finder``."""
        return await (self.search(question, (claim,)) if question else self.search(claim))

    async def aclose(self) -> None:
        """Close every engine."""
        await asyncio.gather(*(engine.aclose() for engine in self.engines))

    async def _walk(self, state: _State, first: Expansion) -> SearchEnd:
        for rank, page in enumerate(await self._ask(state, first)):
            named = NAMED if page.about and page.about <= state.question.stems else 0.0
            state.value(page, 1 / (1 + RANK_DECAY * rank) + named)
        if state.all_failed:
            return "failed"
        while True:
            unsupported = await self._unsupported(state)
            if unsupported is None:
                return "decided"
            if len(state.turns) == self._queries:
                return "turns"
            expansion = state.next_expansion(unsupported)
            if expansion is None:
                return "exhausted"
            for page in await self._ask(state, expansion):
                state.value(page, expansion.weight * _share(page, expansion))

    async def _ask(self, state: _State, expansion: Expansion) -> list[Page]:
        """The passages of a query, best first; the query is the name alone if the words were asked before."""
        query = expansion.name if stems(expansion.query) in state.asked else expansion.query
        own = [engine for engine in self.engines if engine.kind == "local"]
        stays = expansion.origin in {engine.name for engine in own}
        result = await search_engines(own if stays else self.engines, query, self._wide)
        state.asked |= {expansion.stems, stems(query)}
        state.turns.append(SearchTurn(expansion.why, "local" if stays else "all", query, result))
        return [state.pages.setdefault(passage.span, read_page(passage)) for passage in result.passages]

    async def _unsupported(self, state: _State) -> list[str] | None:
        """Names in the answers that no passage kept so far supports; None if every answer is decided."""
        texts = [claim.text for claim in state.claims]
        if self._verify is not None:
            passages = [state.pages[span].passage for span in state.best(self._limit)]
            sources = [Source(p.span.text, f"passage-{n}", p.title, p.url) for n, p in enumerate(passages, 1)]
            outcomes = await self._verify(state.claims, sources)
            verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
            if len(verdicts) == len(outcomes) and all(map(_is_decided, verdicts)):
                return None
            entries = [entry for verdict in verdicts for entry in verdict.evidence_alignment]
            texts = [entry.claim_span.text for entry in entries if entry.status == "not_found"]
        return [entity.text for text in texts for entity in find_entities(text)]


@dataclass(slots=True)
class _State:
    """The state of a search."""

    question: Question
    answers: tuple[str, ...]
    turns: list[SearchTurn] = field(default_factory=list[SearchTurn])
    pages: dict[Span, Page] = field(default_factory=dict[Span, Page])
    worth: dict[Span, float] = field(default_factory=dict[Span, float])
    expansions: dict[frozenset[str], Expansion] = field(default_factory=dict[frozenset[str], Expansion])
    read: set[Span] = field(default_factory=set[Span])
    asked: set[frozenset[str]] = field(default_factory=set[frozenset[str]])
    """Stems of the names and of the whole queries so far."""

    @property
    def claims(self) -> list[Claim]:
        """The answers with the question as context; or the question, if there are no answers."""
        context = self.question.text if self.answers else ""
        texts = self.answers or (self.question.text,)
        return [Claim(text, f"answer-{number}", context=context) for number, text in enumerate(texts, 1)]

    @property
    def all_failed(self) -> bool:
        """Whether no engine answered."""
        return all(turn.result.failed for turn in self.turns if turn.result)

    def best(self, limit: int) -> list[Span]:
        """The passages with the highest weights, best first."""
        return sorted(self.worth, key=lambda span: -self.worth[span])[:limit]

    def value(self, page: Page, worth: float) -> None:
        """Give a passage a weight; the highest one counts, and passages without weight are not kept."""
        span = page.passage.span
        if worth > self.worth.get(span, 0.0):
            self.worth[span] = worth

    def next_expansion(self, unsupported: Sequence[str]) -> Expansion | None:
        """The most promising name that was not asked for yet; the first of tied ones."""
        for span in self.best(READ):
            if span not in self.read:
                self.read.add(span)
                for expansion in expansions_from(self.pages[span], self.worth[span], self.question):
                    known = self.expansions.get(expansion.stems, expansion)
                    self.expansions[expansion.stems] = max(known, expansion, key=_weight)
        found = [*self._named(unsupported), *self.expansions.values()]
        return max((one for one in found if one.stems not in self.asked), key=_weight, default=None)

    def _named(self, unsupported: Sequence[str]) -> Iterator[Expansion]:
        known = frozenset[str]().union(*(page.words for page in self.pages.values()))
        for text in unsupported:
            if (name := stems(text)) and not name <= known:
                why = f"No passage found so far supports {text!r}."
                yield Expansion(text, name, UNSUPPORTED, self.question.beyond(name), why)

    def kept(self, limit: int) -> tuple[SearchTurn, ...]:
        """The turns, each with those of its passages that were kept; their scores are their weights."""
        kept = self.best(limit)

        def shown(turn: SearchTurn) -> SearchTurn:
            assert turn.result is not None
            found = {passage.span: passage for passage in turn.result.passages}
            passages = [replace(found[span], score=self.worth[span]) for span in kept if span in found]
            return replace(turn, result=replace(turn.result, passages=tuple(passages)))

        return tuple(map(shown, self.turns))


def _weight(expansion: Expansion) -> float:
    return expansion.weight


def _is_decided(verdict: Verdict) -> bool:
    return verdict.attributable or verdict.relation == "contradicted"


def _share(page: Page, expansion: Expansion) -> float:
    """Share of a name's weight that a passage gets, in [0, 0.9]."""
    if page.about == expansion.stems:
        return ABOUT
    related = RELATED if page.about and (page.about <= expansion.stems or expansion.stems <= page.about) else 0.0
    if not expansion.stems <= page.words or not expansion.open:
        return related
    wanted = frozenset[str]().union(*map(stems, expansion.open))
    return max(related, CONTAINS * len(wanted & page.words) / len(wanted))
