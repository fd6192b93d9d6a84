"""A search in several steps without a language model: what one passage names leads to the next.

The question is asked as it stands. Then, query by query, the name that promises most: one in the answers that nothing
found supports, or one that a found passage has close to a word of the question ("directed by Ada Byron", for a question
about a director). What such a lead finds is worth a share of what the lead is worth, if it is about the name or has it
beside the words that are still open. The best passages of all queries are kept. A name from a document of one's own is
not sent to the web: only indexes are asked for it. The numbers below were chosen on training questions;
``benchmarks/search_steps.py`` measures on others.

Not supported: pronouns and descriptions (a lead is a name as it is written), names in scripts without capitals, and
knowing which step of the question a query answers.
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
"""Share of a passage's weight that any name in it gets; the rest depends on how near a word of the question stands."""
REACH = 12
"""Content words on either side of a name within which a word of the question is near."""
_BRACKET = re.compile(r"\s*\([^)]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Question:
    """The words that are searched for."""

    text: str
    """As asked."""
    words: tuple[tuple[str, str], ...]
    """Its content words, as written and as stems, in order."""

    @property
    def stems(self) -> frozenset[str]:
        """The stems alone."""
        return frozenset(stem for _, stem in self.words)

    def beyond(self, known: frozenset[str]) -> tuple[str, ...]:
        """The words, as written, whose stems are not known yet.

        >>> read_question("Who directed the film Nosferatu?").beyond(frozenset(["nosferatu"]))
        ('directed', 'film')
        """
        return tuple(word for word, stem in self.words if stem not in known)


@dataclass(frozen=True, slots=True)
class Page:
    """A passage, read."""

    passage: Passage
    """As found."""
    words: frozenset[str]
    """Stems of the content words of title and text."""
    about: frozenset[str]
    """Stems of the title without what stands in brackets at its end."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A name to search for."""

    name: str
    """As written."""
    stems: frozenset[str]
    """Stems of its content words; leads with the same are one."""
    weight: float
    """How much it promises; higher first."""
    open: tuple[str, ...]
    """Words that go with it into the query."""
    why: str
    """In a sentence."""
    origin: str = ""
    """The engine whose passage has the name; empty for a name from what is asked."""

    @property
    def query(self) -> str:
        """What to ask for."""
        return " ".join((self.name, *self.open))


def read_question(text: str) -> Question:
    """The content words of a question.

    >>> read_question("Who directed it?").words
    (('directed', 'direct'),)
    """
    found = {word.stem: text[word.start : word.end] for word in reversed(find_words(text)) if word.is_content}
    return Question(text, tuple((word, stem) for stem, word in reversed(found.items())))


def read_page(passage: Passage) -> Page:
    """A passage with its stems.

    >>> from vouching.types import Span
    >>> sorted(read_page(Passage(Span("A silent film.", 0, 14), 1.0, title="Nosferatu (1922)")).about)
    ['nosferatu']
    """
    about = stems(_BRACKET.sub("", passage.title))
    return Page(passage, stems(passage.title) | stems(passage.span.text), about)


def stems(text: str) -> frozenset[str]:
    """Stems of the content words.

    >>> sorted(stems("the director of it"))
    ['direct']
    """
    return frozenset(word.stem for word in find_words(text) if word.is_content)


def leads_from(page: Page, weight: float, question: Question) -> Iterator[Lead]:
    """Names in a passage that neither the question nor the passage's title has.

    Args:
        page: the passage.
        weight: what the passage itself is worth.
        question: its words draw weight to the names close to them, those of the title aside.

    >>> from vouching.types import Span
    >>> text = "Nosferatu is a silent film directed by Ada Byron and shot in Oslo."
    >>> page = read_page(Passage(Span(text, 0, len(text)), 1.0, title="Nosferatu"))
    >>> for lead in leads_from(page, 1.0, read_question("Where was the director of Nosferatu born?")):
    ...     print(lead.query, lead.weight)
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
        where = f"close to {word!r}" if word else "where the words of the question are not near"
        title = f" of {page.passage.title!r}" if page.passage.title else ""
        yield Lead(
            entity.text,
            name,
            weight * (FAR + (1 - FAR) * near),
            question.beyond(page.words),
            f"{entity.text!r} stands in a passage{title}, {where}.",
            page.passage.origin,
        )


def _nearness(text: str, start: int, end: int, sought: frozenset[str], before: bool) -> tuple[float, str]:
    """1 for a sought word next to a name, 1/2 with one content word between, and so on; with the word, as written."""
    words = [word for word in find_words(text, start, max(start, end)) if word.is_content]
    for between, word in enumerate((words[::-1] if before else words)[:REACH]):
        if word.stem in sought:
            return 1 / (1 + between), text[word.start : word.end]
    return 0.0, ""


Verify: TypeAlias = Callable[[Sequence[Claim], Sequence[Source]], Awaitable[Sequence[Verdict | Unverified]]]
"""Judges claims against sources, as ``ClaimVerifier.verify`` does; verifiers come after search, so it is passed in."""

RANK_DECAY = 0.3
"""How fast a passage of the first query counts less with its rank: 1 / (1 + 0.3 rank), ranks from 0."""
NAMED = 0.6
"""What it gains if the question has the title of its document."""
ABOUT, RELATED, TELLS = 0.9, 0.3, 0.6
"""Share of a lead that a passage is worth: its title is the name; its title has the name's words among others, or the
reverse; its text has the name, times the share of the open words that it has too."""
UNSUPPORTED = 1.0
"""Worth of a name in an answer that no passage found supports."""
QUERIES = 5
"""How many queries, if nobody says."""
READ = 5
"""How many of the best passages are read for names before each query."""


class StepSearch:
    """Searches by names, one query after the other, and keeps the best passages of all.

    Args:
        engines: whom to ask, all of them each time; at least one.
        verify: judges the answers against what is kept so far: the search ends when it finds each of them supported or
            contradicted, and goes on with what it finds no support for. None goes by words alone and uses all queries.
        queries: how many at most.
        limit: how many passages to keep; the turns of the trajectory show these alone, best first.
        wide: how many passages to take from each engine for each query.

    Raises:
        ConfigError: no engine, or a number below 1.

    >>> from vouching.types import Passage
    >>> texts = {"Nosferatu": "A film directed by Friedrich Murnau.", "Friedrich Murnau": "He was born in Bielefeld."}
    >>> class Shelf:
    ...     name, kind = "index:shelf", "local"
    ...     async def search(self, query, limit):
    ...         title = "Friedrich Murnau" if "Murnau" in query else "Nosferatu"
    ...         return [Passage(Span(texts[title], 0, len(texts[title]), title), 1.0, title)]
    ...     async def aclose(self): ...
    >>> found = asyncio.run(StepSearch([Shelf()], queries=2).search("Where was the director of Nosferatu born?"))
    >>> [turn.query for turn in found.turns]
    ['Where was the director of Nosferatu born?', 'Friedrich Murnau born']
    >>> [passage.title for passage in found.passages], found.ended
    (['Nosferatu', 'Friedrich Murnau'], 'turns')
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
        """Whom it asks."""
        self._verify = verify
        self._queries, self._limit, self._wide = queries, limit, wide

    async def search(self, question: str, answers: Sequence[str] = ()) -> Trajectory:
        """What was found for a question and its answers.

        Several answers are left out of the first query, so that none of them decides what is found.
        """
        way = _Way(read_question(question), tuple(answers))
        alone = answers[0] if len(answers) == 1 else ""
        first = Lead(f"{question} {alone}".strip(), frozenset(), 1.0, (), "The question as it stands.")
        ended = await self._walk(way, first)
        return Trajectory(question, tuple(answers), way.kept(self._limit), ended, "deterministic")

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """What was found for a claim; see ``Finder``."""
        return await (self.search(question, (claim,)) if question else self.search(claim))

    async def aclose(self) -> None:
        """Close every engine."""
        await asyncio.gather(*(engine.aclose() for engine in self.engines))

    async def _walk(self, way: _Way, first: Lead) -> SearchEnd:
        for rank, page in enumerate(await self._ask(way, first)):
            named = NAMED if page.about and page.about <= way.question.stems else 0.0
            way.value(page, 1 / (1 + RANK_DECAY * rank) + named)
        if way.all_failed:
            return "failed"
        while True:
            unsupported = await self._unsupported(way)
            if unsupported is None:
                return "decided"
            if len(way.turns) == self._queries:
                return "turns"
            lead = way.next_lead(unsupported)
            if lead is None:
                return "exhausted"
            for page in await self._ask(way, lead):
                way.value(page, lead.weight * _share(page, lead))

    async def _ask(self, way: _Way, lead: Lead) -> list[Page]:
        """The passages that a query brings, best first; the name alone is asked for where the words were asked for."""
        query = lead.name if stems(lead.query) in way.asked else lead.query
        own = [engine for engine in self.engines if engine.kind == "local"]
        stays = lead.origin in {engine.name for engine in own}
        result = await search_engines(own if stays else self.engines, query, self._wide)
        way.asked |= {lead.stems, stems(query)}
        way.turns.append(SearchTurn(lead.why, "local" if stays else "all", query, result))
        return [way.pages.setdefault(passage.span, read_page(passage)) for passage in result.passages]

    async def _unsupported(self, way: _Way) -> list[str] | None:
        """Names in the answers that no passage kept so far supports; None if nothing is left to find out."""
        texts = [claim.text for claim in way.claims]
        if self._verify is not None:
            passages = [way.pages[span].passage for span in way.best(self._limit)]
            sources = [Source(p.span.text, f"passage-{n}", p.title, p.url) for n, p in enumerate(passages, 1)]
            outcomes = await self._verify(way.claims, sources)
            verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
            if len(verdicts) == len(outcomes) and all(map(_is_decided, verdicts)):
                return None
            entries = [entry for verdict in verdicts for entry in verdict.evidence_alignment]
            texts = [entry.claim_span.text for entry in entries if entry.status == "not_found"]
        return [entity.text for text in texts for entity in find_entities(text)]


@dataclass(slots=True)
class _Way:
    """What is known so far on the way to an answer."""

    question: Question
    answers: tuple[str, ...]
    turns: list[SearchTurn] = field(default_factory=list[SearchTurn])
    pages: dict[Span, Page] = field(default_factory=dict[Span, Page])
    worth: dict[Span, float] = field(default_factory=dict[Span, float])
    leads: dict[frozenset[str], Lead] = field(default_factory=dict[frozenset[str], Lead])
    read: set[Span] = field(default_factory=set[Span])
    asked: set[frozenset[str]] = field(default_factory=set[frozenset[str]])
    """Stems of the names and of the whole queries so far."""

    @property
    def claims(self) -> list[Claim]:
        """The answers, each leaning on the question; or what is asked, if it stands alone."""
        context = self.question.text if self.answers else ""
        texts = self.answers or (self.question.text,)
        return [Claim(text, f"answer-{number}", context=context) for number, text in enumerate(texts, 1)]

    @property
    def all_failed(self) -> bool:
        """Whether no engine has answered."""
        return all(turn.result.failed for turn in self.turns if turn.result)

    def best(self, limit: int) -> list[Span]:
        """The passages that are worth most, best first."""
        return sorted(self.worth, key=lambda span: -self.worth[span])[:limit]

    def value(self, page: Page, worth: float) -> None:
        """Say what a passage is worth; the most that was ever said counts, and nothing is not kept."""
        span = page.passage.span
        if worth > self.worth.get(span, 0.0):
            self.worth[span] = worth

    def next_lead(self, unsupported: Sequence[str]) -> Lead | None:
        """The lead that promises most and was not followed yet; of equal ones the first."""
        for span in self.best(READ):
            if span not in self.read:
                self.read.add(span)
                for lead in leads_from(self.pages[span], self.worth[span], self.question):
                    self.leads[lead.stems] = max(self.leads.get(lead.stems, lead), lead, key=lambda lead: lead.weight)
        found = [*self._named(unsupported), *self.leads.values()]
        return max((lead for lead in found if lead.stems not in self.asked), key=lambda lead: lead.weight, default=None)

    def _named(self, unsupported: Sequence[str]) -> Iterator[Lead]:
        known = frozenset[str]().union(*(page.words for page in self.pages.values()))
        for text in unsupported:
            if (name := stems(text)) and not name <= known:
                yield Lead(text, name, UNSUPPORTED, self.question.beyond(name), f"Nothing found supports {text!r}.")

    def kept(self, limit: int) -> tuple[SearchTurn, ...]:
        """The turns, each with those of its passages that were kept; their score is what they are worth."""
        kept = self.best(limit)

        def shown(turn: SearchTurn) -> SearchTurn:
            assert turn.result is not None
            found = {passage.span: passage for passage in turn.result.passages}
            passages = [replace(found[span], score=self.worth[span]) for span in kept if span in found]
            return replace(turn, result=replace(turn.result, passages=tuple(passages)))

        return tuple(map(shown, self.turns))


def _is_decided(verdict: Verdict) -> bool:
    return verdict.attributable or verdict.relation == "contradicted"


def _share(page: Page, lead: Lead) -> float:
    """How much of a lead's weight a passage is worth, in [0, 0.9]."""
    if page.about == lead.stems:
        return ABOUT
    related = RELATED if page.about and (page.about <= lead.stems or lead.stems <= page.about) else 0.0
    if not lead.stems <= page.words or not lead.open:
        return related
    wanted = frozenset[str]().union(*map(stems, lead.open))
    return max(related, TELLS * len(wanted & page.words) / len(wanted))
