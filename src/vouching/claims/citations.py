"""Citations in an answer: which sources a claim names, and whether these are the ones that support it.

A citation belongs to the claims of its sentence that no earlier citation covers; one that opens a sentence belongs to
the sentence before. "[2]" is the second source of the call, unless a source has the id "2", and a file that was cut
into sections is one source; "(source: policy.md)" and "[policy.md#fees]" name a source by id, title or file name.
"(Miller et al., 2019)" is a source that has author and year in its id, title or address; if there is none, it cites the
literature, which is not checked. Not supported: footnotes, citations of sources that a search found.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal

from vouching.claims.api_answers import Answer, GivenCitation
from vouching.judging.verifier import Outcome
from vouching.text.framing import AUTHOR_YEAR, citation_matches, without_citations
from vouching.text.locate import locate
from vouching.text.numerals import find_numerals
from vouching.text.sentences import sentence_spans
from vouching.types import CitationOutcome, CitationResult, Claim, Source, Span, Verdict, VerdictWarning, total_usage

Verify = Callable[[Sequence[Claim], Sequence[Source]], Awaitable[list[Outcome]]]
"""Judges claims against sources."""

_NUMBERS = re.compile(r"(\d{1,3})(?:\s*[–-]\s*(\d{1,3}))?")
_OPENING = re.compile(
    r"[\[(【]\s*(?:(?:sources?|docs?|documents?|passages?|refs?|references?)\s*[:#]?\s*)?", re.IGNORECASE
)
_WORK = re.compile(r"(?P<author>[A-Z][^\W\d_]+).*?(?P<year>\d{4}[a-z]?)")
_MAX_RANGE = 20
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference to sources in an answer."""

    text: str
    start: int
    names: tuple[str, ...]
    """Numbers or names of sources."""


def citations_in(response: str) -> list[Citation]:
    """The citations of an answer, in order.

    >>> [citation.names for citation in citations_in("It rose [1, 3]. It fell (source: a.txt).")]
    [('1', '3'), ('a.txt',)]
    """
    return [
        Citation(found.group(), found.start(), tuple(_names(found.group())))
        for found in citation_matches(response)
        if not found.group().startswith(("[^", "(["))
    ]


def cited_by(response: str, claims: Sequence[Claim]) -> list[list[Citation]]:
    """The citations that belong to each claim."""
    found: list[list[Citation]] = [[] for _ in claims]
    sentences = sentence_spans(response)
    placed = [(claim.span.start, number) for number, claim in enumerate(claims) if claim.span is not None]
    for citation in citations_in(response):
        home = bisect_right(sentences, citation.start, key=itemgetter(0)) - 1
        first = sentences[home][0]
        opens = not without_citations(response[first : citation.start]).strip()
        if opens:
            before = response[sentences[home - 1][1] : first] if home else "\n"
            if "\n" in before:
                continue  # the entry of a list of references
            first = sentences[home - 1][0]
        of_sentence = slice(bisect_left(placed, (first, 0)), bisect_left(placed, (citation.start, 0)))
        for _, number in placed[of_sentence]:
            citations = found[number]
            if not citations or citations[-1].start + len(citations[-1].text) >= citation.start - 1:
                citations.append(citation)
    return found


async def with_citations(
    answer: Answer, outcomes: Sequence[Outcome], sources: Sequence[Source], verify: Verify
) -> tuple[list[Outcome], tuple[CitationResult, ...]]:
    """The outcomes with a warning where a cited source does not exist, or is not the one that supports the claim.

    A claim that is Attributable by evidence of other sources is judged once more, against the cited ones alone. The
    second part of the result has an entry for each citation that an API returned.
    """
    if not sources:
        return [*outcomes], ()
    by_claim = cited_by(answer.text, [outcome.claim for outcome in outcomes])
    checked = await asyncio.gather(
        *(_checked(outcome, citations, sources, verify) for outcome, citations in zip(outcomes, by_claim, strict=True))
    )
    return await _check_given(answer, checked, sources, verify)


async def _check_given(
    answer: Answer, outcomes: Sequence[Outcome], sources: Sequence[Source], verify: Verify
) -> tuple[list[Outcome], tuple[CitationResult, ...]]:
    """The outcomes with warnings about the citations that an API returned, and the result for each citation."""
    judged = [*outcomes]
    placed = [[*_cited_claims(answer, number, outcomes)] for number in range(len(answer.citations))]
    results = await asyncio.gather(
        *(
            _result(answer, given, claims, outcomes, sources, verify)
            for given, claims in zip(answer.citations, placed, strict=True)
        )
    )
    for result, claims in zip(results, placed, strict=True):
        kind = _WARNED.get(result.outcome)
        for at in {number for number, _ in claims} if kind else ():
            warnings = (*judged[at].warnings, VerdictWarning(kind or "citation", f"{result.words}."))
            judged[at] = replace(judged[at], warnings=warnings)
    return judged, tuple(results)


_WARNED: dict[CitationOutcome, Literal["citation", "misattributed"]] = {
    "other_source": "misattributed",
    "not_in_source": "citation",
    "unknown_source": "citation",
}
_WORST: tuple[CitationOutcome, ...] = ("unverified", "no_source", "other_source", "supports")


def _cited_claims(answer: Answer, number: int, outcomes: Sequence[Outcome]) -> Iterator[tuple[int, Claim]]:
    """What a citation is for: claims with their numbers, or the half of a claim that its block has.

    A citation that is only a mark, or a place, is for the claims of its sentence after the citation before it.
    """
    given = answer.citations[number]
    start, end, marks = given.start, given.end, answer.text[given.start : given.end].strip()
    if not marks or marks[0] in _BRACKETS:
        earlier = max((one.end for one in answer.citations[:number] if one.end < given.start), default=0)
        before = [span for span in sentence_spans(answer.text) if span[0] < max(1, given.start)]
        start = max(before[-1][0] if before else 0, earlier)
    for at, outcome in enumerate(outcomes):
        span = outcome.claim.span
        if span is None or not span.start < end or not start < span.end:
            continue
        piece = answer.text[max(start, span.start) : min(end, span.end)].strip()
        if marks and marks[0] not in _BRACKETS and len(piece) < _MOST_OF * len(span.text) and len(piece.split()) > 2:
            yield at, Claim(piece, f"{outcome.claim.id}-part", context=outcome.claim.text)
        elif any(character.isalnum() for character in piece):
            yield at, outcome.claim


_BRACKETS = "([【"
_MOST_OF = 0.8
"""Share of a claim that a block has from which it is the claim."""


async def _result(
    answer: Answer,
    given: GivenCitation,
    claims: Sequence[tuple[int, Claim]],
    outcomes: Sequence[Outcome],
    sources: Sequence[Source],
    verify: Verify,
) -> CitationResult:
    cited = _given_sources(given, sources)
    texts = [answer.text[given.start : given.end].strip()]
    texts += [claim.span.text if claim.span else claim.text for _, claim in claims]
    words = texts[0] if texts[0] and texts[0][0] not in _BRACKETS else " ".join(texts[1:])
    name = cited[0].id if cited else next(iter(given.names), f"document {given.number}")

    def result(outcome: CitationOutcome) -> CitationResult:
        return CitationResult(given.kind, Span(words, given.start, given.end), name, outcome, given.cited_text)

    if not cited:
        return result("unknown_source")
    if given.cited_text and not any(_quotes(given.cited_text, source.text) for source in cited):
        return result("not_in_source")
    found: list[CitationOutcome] = []
    for at, claim in claims:
        whole = outcomes[at] if claim == outcomes[at].claim else (await verify([claim], sources))[0]
        [alone] = [whole] if len(cited) == len(sources) else await verify([claim], cited)
        found.append(_compared(alone, whole))
    return result(min(found, key=_WORST.index) if found else "unverified")


def _quotes(quote: str, text: str) -> bool:
    """Whether a text has a quote, but for its spelling; another number is another quote."""
    found = locate(quote, text)
    if found is None or found.how != "fuzzy":
        return found is not None
    numbers = ([one.value for one in find_numerals(words)] for words in (quote, text[found.start : found.end]))
    return next(numbers) == next(numbers)


def _compared(alone: Outcome, whole: Outcome) -> CitationOutcome:
    """The outcome of a claim against the cited source alone and against all.

    A source that supports a claim does so beside others too, unless they disagree with it.
    """
    if None in (alone.attributable, whole.attributable):
        return "supports" if alone.attributable else "unverified"
    if alone.attributable:
        return "supports" if whole.attributable or whole.relation == "conflicting" else "no_source"
    return "other_source" if whole.attributable else "no_source"


def _given_sources(given: GivenCitation, sources: Sequence[Source]) -> list[Source]:
    """The sources that a citation of an API names: by address, file or title, else by their number."""
    for name in given.names:
        address = _TRACKED.sub("", name)
        for form in dict.fromkeys((name, address, address.rstrip("/"), f"{address}/")):
            if found := sources_named(form, sources):
                return found
    return [] if given.number is None else _numbered(given.number + 1, sources)


_TRACKED = re.compile(r"[?&]utm_[^#&]*")
"""What an API adds to the addresses that it cites."""


async def _checked(
    outcome: Outcome, citations: Sequence[Citation], sources: Sequence[Source], verify: Verify
) -> Outcome:
    named = [(citation, name, sources_named(name, sources)) for citation in citations for name in citation.names]
    warnings = [
        VerdictWarning("citation", f"{citation.text} names no source: {_known(name, sources)}.")
        for citation, name, found in named
        if not found and not AUTHOR_YEAR.fullmatch(citation.text)  # the literature is no part of the call
    ]
    cited = list(dict.fromkeys(source for _, _, found in named for source in found))
    if isinstance(outcome, Verdict) and outcome.attributable and cited and len(cited) < len(sources):
        evidence = [entry.source_span for entry in outcome.evidence_alignment if entry.source_span is not None]
        ids = {source.id for source in cited}
        if not evidence or any(span.source_id not in ids for span in evidence):
            [again] = await verify([outcome.claim], cited)
            outcome = replace(outcome, usage=total_usage([outcome, again]))
            if isinstance(again, Verdict) and not again.attributable:
                other = next((span for span in evidence if span.source_id not in ids), None)
                place = f": {other.source_id}, character {other.start}" if other else ""
                shown = " ".join(dict.fromkeys(citation.text for citation in citations))
                message = f"{shown} does not support the claim; another source does{place}."
                warnings.append(VerdictWarning("misattributed", message, other))
    return replace(outcome, warnings=(*outcome.warnings, *warnings)) if warnings else outcome


def _known(name: str, sources: Sequence[Source]) -> str:
    if name.isdigit():
        number = len({_file(source) for source in sources})
        return f"there {'is 1 source' if number == 1 else f'are {number} sources'}"
    return f"no source is called {name[:_SHOWN]!r}"


def _names(citation: str) -> Iterator[str]:
    opening = _OPENING.match(citation)
    inside = citation[opening.end() if opening else 1 : -1]
    inside = re.sub(r"[†:].*", "", inside) if citation.startswith("【") else inside
    if AUTHOR_YEAR.fullmatch(citation):
        yield from (work.strip() for work in inside.split(";"))
        return
    for part in re.split(r"[,;]", inside):
        part = part.strip(" .\"'`#")
        numbers = _NUMBERS.fullmatch(part)
        if numbers and numbers.group(2):
            first, last = int(numbers.group(1)), int(numbers.group(2))
            yield from map(str, range(first, min(last, first + _MAX_RANGE) + 1))
        elif part:
            yield part


def sources_named(name: str, sources: Sequence[Source]) -> list[Source]:
    """The sources with this id, title, file name or number, or of this author and year; empty if there is none.

    A file that was cut into sections or pages is one source: its number and its name stand for all of them.

    >>> parts = [Source("A", "a.md"), Source("B", "a.md#Ports"), Source("C", "b.md")]
    >>> [[one.id for one in sources_named(name, parts)] for name in ("1", "2", "a.md#ports")]
    [['a.md', 'a.md#Ports'], ['b.md'], ['a.md#Ports']]
    """
    wanted = _key(name)
    for names in (_own_names, _file_names):
        if found := [source for source in sources if wanted in names(source)]:
            whole = {source.id for source in found}
            return [source for source in sources if source in found or _file(source) in whole]
    if work := _WORK.search(name):
        parts = (rf"(?<![^\W\d_]){re.escape(work['author'].lower())}(?![^\W\d_])", rf"(?<!\d){work['year']}(?!\d)")
        for source in sources:
            if all(re.search(part, f"{source.id} {source.title} {source.url}".lower()) for part in parts):
                return [source]
    return _numbered(int(name), sources) if name.isdigit() else []


def _numbered(number: int, sources: Sequence[Source]) -> list[Source]:
    """The parts of the n-th file, from 1; empty if there are fewer."""
    files = list(dict.fromkeys(map(_file, sources)))
    return [source for source in sources if _file(source) == files[number - 1]] if 0 < number <= len(files) else []


def _own_names(source: Source) -> set[str]:
    path = _key(source.id)
    return {path, path.rsplit("/", 1)[-1], _key(source.url)} - {""}


def _file_names(source: Source) -> set[str]:
    file = _key(_file(source)).rsplit("/", 1)[-1]
    return {_key(_file(source)), file, file.rsplit(".", 1)[0], _key(source.title)} - {""}


def _file(source: Source) -> str:
    """The id of a source without its section or page, if it is one of a file: "a.md" for "a.md#Ports"."""
    file, _, part = source.id.partition("#")
    return file if part and re.search(r"[./]", file) else source.id


def _key(name: str) -> str:
    """A name without case, with a section as in a link: "a.md#wireless-setup"."""
    file, mark, part = name.strip().lower().partition("#")
    return file + mark + re.sub(r"[^\w=]+", "-", part).strip("-")
