"""What the embedded checker reads: sentences and record fields of the documents, with the values that stand in them.

A field knows its name, the other short fields of its record, and, like a sentence, the title of its document. A long
text inside a record is read sentence by sentence. Sentences that address the verdict are no evidence. Left out: values
that have to be computed, but for the length of a list of records.

Opening hours of a record, day by day, and the days that a question speaks of.

Left out: holidays, and hours in prose, which are read as any other values.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from vouching.judging.values import HOURS, find_values, stated
from vouching.methods.blinded.compare import beside
from vouching.methods.blinded.fields import YEAR, Field, find_fields, name_words, unescaped
from vouching.methods.embedded.evidence import index_sources
from vouching.text.sentences import sentence_spans
from vouching.text.words import Word, find_words
from vouching.types import Checked, Source, Span

_LONGEST_FIELD = 80
"""Characters of a field from which it is read as text."""
_SHORT_FIELD = 60
"""Characters up to which a field tells what its record is about."""
_MIN_TELLING = 3
"""Letters and digits from which a short field may tell its record from others; "5" tells none."""
_OPENING_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})\s*-\s*(\d{1,2}):(\d{1,2})")
_STILL = frozenset(("date", "ordinal", "time_of_day", HOURS))
"""Kinds of values that go neither up nor down."""
_TITLE, _BEFORE, _OUTER, _BESIDE, _NAMED = 0.7, 0.4, 0.6, 0.5, 0.2
"""What a word counts that stands in the title, in the sentence before, in an outer name, in another field, or in the
name of the text around a sentence."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a passage."""

    text: str
    """The value as an answer."""
    wanted: str
    """What sort of value it is: the kinds of questions."""
    place: Span
    """Where in the sources it stands."""
    first: int
    """How many words of the passage stand before it."""
    last: int
    """Of how many words before its end."""


@dataclass(slots=True)
class Passage:
    """A sentence or a field of a document."""

    words: list[Word]
    """Its words; none for a field, which has a name."""
    found: list[Found]
    """Its values."""
    stems: dict[str, float]
    """What each stem counts: 1 for its own words and its name, less for what is around it."""
    name: list[str] = field(default_factory=list[str])
    """Stems of a field's innermost name; empty for a sentence."""
    path: tuple[str, ...] = ()
    """Names of a field from the outside in, in lower case; fields of one path stand in records of one list."""
    title: str = ""
    """Title of its document."""
    record: tuple[frozenset[str], ...] = ()
    """Stems of each short value of a field's record that can tell it from others: names, years, larger numbers."""
    text: str = ""
    """What it says."""
    source: Source | None = None
    """Its document."""
    start: int = 0
    """Where in the document it begins."""
    own: frozenset[str] = field(init=False)
    """Stems of its content words."""
    at: dict[str, list[int]] = field(init=False)
    """Where each stem stands among the words."""

    def __post_init__(self) -> None:
        self.own = _content(self.words)
        self.at = {}
        for number, word in enumerate(self.words):
            self.at.setdefault(word.stem, []).append(number)


def read_passages(sources: Sequence[Source]) -> list[Passage]:
    """Every sentence and field of the sources.

    >>> passages = read_passages([Source('{"hours": {"Monday": "17:0-21:0"}}')])
    >>> [(passage.path, [found.text for found in passage.found]) for passage in passages]
    [(('hours', 'monday'), ['17:00-21:00'])]
    """
    passages: list[Passage] = []
    for source, text in zip(sources, index_sources(sources).texts, strict=True):
        title = {word.stem: _TITLE for word in find_words(source.title) if word.is_content}
        fields = find_fields(text)
        if fields:
            passages += _record_passages(source, text, fields, title)
        if not fields or fields[0].record > 1_000:  # a Markdown table may stand in a text
            passages += _sentences(source, text, 0, title, fields)
    return passages


def index_passages(passages: Sequence[Passage]) -> dict[str, list[int]]:
    """Numbers of the passages with something to find in them, by the stems of their words."""
    index: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for one in passage.stems if passage.found else ():
            index.setdefault(one, []).append(number)
    return index


def _sentences(
    source: Source, text: str, base: int, around: dict[str, float], fields: Sequence[Field] = ()
) -> Iterator[Passage]:
    """The sentences of a stretch of a source that begins at ``base``; those in a table are left to its cells."""
    starts, ends = sorted(one.start for one in fields), sorted(one.end for one in fields)
    before: set[str] = set()
    for first, last in sentence_spans(text):
        if bisect_left(starts, last) > bisect_right(ends, first):  # more cells begin before its end than end before it
            continue
        words = find_words(text, first, last)
        own = {word.stem for word in words}
        if own:
            stems = {**around, **dict.fromkeys(before - around.keys(), _BEFORE), **dict.fromkeys(own, 1.0)}
            said, start = text[first:last], base + first
            found = _values(source, said, start, words, first)
            yield Passage(words, found, stems, title=source.title or "", text=said, source=source, start=start)
            before = {word.stem for word in words if word.is_content}


def _values(source: Source, text: str, base: int, words: Sequence[Word], offset: int = 0) -> list[Found]:
    """The values of a stretch at ``base`` of a source; its words have their offsets from ``-offset`` on."""
    found: list[Found] = []
    starts, ends = [word.start for word in words], [word.end for word in words]
    for span, wanted in stated(text, find_values(text)):
        first, last = base + span.start, base + span.end
        place = Span(source.text[first:last], first, last, source.id)
        before, within = bisect_right(ends, span.start + offset), bisect_left(starts, span.end + offset)
        found.append(Found(span.text, wanted, place, before, within))
    return found


def _record_passages(source: Source, text: str, fields: Sequence[Field], title: dict[str, float]) -> Iterator[Passage]:
    """The fields of a document, record by record."""
    outer: dict[str, float] = {}
    records: dict[int, list[Field]] = {}
    for one in fields:
        records.setdefault(one.record, []).append(one)
    for number, members in enumerate(records.values()):
        beside, told = _short_words(text, members), _telling(text, members)
        if not number:  # the outermost record says what the document is about
            outer = dict.fromkeys(beside, _OUTER * 0.5)
        known = {**title, **outer, **dict.fromkeys(beside, _BESIDE)}
        for one in members:
            names = tuple(name_words(name) for name in one.name)
            label = {word.stem: _OUTER for name in (*names[:-1], *one.under) for word in find_words(name)}
            own = [word.stem for word in find_words(names[-1])] if names else []
            stems = {**known, **label, **dict.fromkeys(own, 1.0)}
            if one.end - one.start > _LONGEST_FIELD:
                around = {**stems, **dict.fromkeys((*label, *own), _NAMED)}
                yield from _sentences(source, unescaped(text[one.start : one.end]), one.start, around)
            else:
                yield replace(_field(source, one, stems, own, names), record=told)
    yield from _lengths(source, records)


def _field(source: Source, one: Field, stems: dict[str, float], own: list[str], names: tuple[str, ...]) -> Passage:
    inside = unescaped(source.text[one.start : one.end])
    words = find_words(inside)
    place = Span(source.text[one.start : one.end], one.start, one.end, source.id)
    hours = _OPENING_HOURS.fullmatch(inside.strip())
    if hours:
        opens, closes = (f"{int(h):02d}:{int(m):02d}" for h, m in (hours.group(1, 2), hours.group(3, 4)))
        found = [Found(f"{opens}-{closes}", HOURS, place, 0, 0)]
        if opens == closes:  # closed, or without an end
            found.append(Found("24 hours", "time", place, 0, 0))
        own = [*own, *(word.stem for name in names[-2:-1] for word in find_words(name))]
    else:
        found = _values(source, inside, one.start, words)
    stems = {**stems, **{word.stem: 1.0 for word in words}}
    return Passage(words, found, stems, own, names, text=inside, source=source, start=one.start)


def direction_of(found: Found, passage: Passage) -> Span | None:
    """Which way a value of a passage went; None where it has no direction, or none is told."""
    if found.wanted in _STILL or passage.source is None:
        return None
    return beside(passage.source, found.place.start, found.place.end, passage.text, passage.start)


def _lengths(source: Source, records: dict[int, list[Field]]) -> Iterator[Passage]:
    """How many records each list has, as a field with the list's name."""
    lists: dict[tuple[str, ...], list[Field]] = {}
    for members in records.values():
        lists.setdefault(members[0].name[:-1], []).append(members[0])
    for path, firsts in lists.items():
        if path and len(firsts) > 1:
            own, at = [word.stem for word in find_words(name_words(path[-1]))], firsts[0]
            place = Span(source.text[at.start : at.end], at.start, at.end, source.id)
            found = [Found(str(len(firsts)), "count", place, 0, 0)]
            yield Passage([], found, dict.fromkeys(own, 1.0), own, (*map(name_words, path), "length"))


def _short_words(text: str, fields: Sequence[Field]) -> set[str]:
    """Stems of the short texts of a record; of numbers, the year that a row begins with."""
    short = [text[one.start : one.end] for one in fields if one.end - one.start <= _SHORT_FIELD]
    words = (word for value in short for word in find_words(unescaped(value)))
    year = text[fields[0].start : fields[0].end].strip()
    label = {year} if YEAR.fullmatch(year) else set[str]()
    return label | {word.stem for word in words if word.is_content and not word.lower[0].isdigit()}


def _telling(text: str, fields: Sequence[Field]) -> tuple[frozenset[str], ...]:
    """Stems of each short value of a record that may be what the record is called by."""
    short = (unescaped(text[one.start : one.end]) for one in fields if one.end - one.start <= _SHORT_FIELD)
    values = (value for value in short if sum(map(str.isalnum, value)) >= _MIN_TELLING)
    return tuple(filter(None, (_content(find_words(value)) for value in (*values, *fields[0].under))))


def _content(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in words if word.is_content)


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The days of a week, in order."""
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b\.?"
_DAYS = re.compile(rf"\b{_DAY}(?:(?:\s*(?:,|and|&|to|through|thru|until|-|–|—|/)\s*)+(?:on )?{_DAY})*", re.IGNORECASE)
_NAMED_DAYS = {
    "weekdays": DAYS[:5], "weekday": DAYS[:5], "weekends": DAYS[5:], "weekend": DAYS[5:], "daily": DAYS,
    "every day": DAYS, "all week": DAYS, "seven days": DAYS, "7 days": DAYS, "during the week": DAYS[:5],
}  # fmt: skip
_GROUPS = re.compile(rf"{_DAYS.pattern}|\b(?:{'|'.join(_NAMED_DAYS)})\b", re.IGNORECASE)
_TO = re.compile(r"\s*(?:to|through|thru|until|-|–|—)\s*", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}(?::\d\d)?\s*(?:[ap]\.?m\b|-)|\d{1,2}:\d\d", re.IGNORECASE)
_UNKNOWN = "00:00-00:00"
"""What records say of days that are closed, and of days without an end."""
_CUE = re.compile(
    r"\b(?:open|clos(?:e|es|ed|ing)\b|(?<!happy )hours|operat|serv|until|till|business day)\w*", re.IGNORECASE
)
_CLOSING = re.compile(r"\b(?:clos\w*|until|till|to|ends?)\W*(?:(?:at|by|around|about)\s+)?\Z", re.IGNORECASE)
_VERB = re.compile(r"\b(?:(open\w*|starts?|from)|(clos\w*|ends?|until|till|late as))\b", re.IGNORECASE)
"""What is said of a beginning, or of an end, and of the times that follow by "and"."""
_SPAN = re.compile(
    r"\b(?:rang(?:e|es|ing)|var(?:y|ies|ying)|most days|typical\w*|general\w*|usual\w*|most\w*)\b", re.IGNORECASE
)
"""What does not say the hours of every day, but of most, or from the earliest to the latest."""
_NOT_OPENING = re.compile(r"\bhappy hour|\bappointment", re.IGNORECASE)
"""What has hours of its own."""
_WHOLE_WEEK = re.compile(r"(?:every day|daily|all week|seven days|7 days)\Z", re.IGNORECASE)
_PER_WEEK = re.compile(r"\W*(?:a|per|each|every|of the) week\b", re.IGNORECASE)


def days_of(words: str) -> tuple[str, ...]:
    """The days that a few words name.

    >>> days_of("Monday, Thursday to Saturday")
    ('monday', 'thursday', 'friday', 'saturday')
    """
    if words.lower() in _NAMED_DAYS:
        return _NAMED_DAYS[words.lower()]
    named = [*re.finditer(_DAY, words, re.IGNORECASE)]
    days: list[str] = []
    for number, one in enumerate(named):
        day = next(index for index, name in enumerate(DAYS) if name.startswith(one.group()[:3].lower()))
        if number and _TO.fullmatch(words, named[number - 1].end(), one.start()):
            first = DAYS.index(days[-1])
            days += [DAYS[(first + step) % 7] for step in range(1, (day - first) % 7)]
        days.append(DAYS[day])
    return tuple(dict.fromkeys(days))


def asks_for_hours(question: str, wanted: str) -> bool:
    """Whether a question may be about opening hours.

    >>> asks_for_hours("It closes at ____.", "time_of_day"), asks_for_hours("We met at ____.", "time_of_day")
    (True, False)
    """
    if wanted not in (HOURS, "time_of_day") or _NOT_OPENING.search(question):
        return False
    return wanted == HOURS or _CUE.search(question) is not None or names_days(question)


def names_days(question: str) -> bool:
    """Whether a question names days of the week.

    >>> names_days("It is open on Mondays until ____.")
    True
    """
    return _GROUPS.search(question) is not None


def read_hours(question: str, wanted: str, gap: str, passages: Sequence[Passage]) -> Checked | None:
    """The hours of the days that a question names, from the record; None if no record tells the hours of a day.

    Days with the same hours have one answer. Where those of a question that names its days differ, the answer says
    so, day by day; where it names none, or speaks of a range, the hours of any day will do.
    """
    by_day = _by_day(passages)
    if not by_day:
        return None
    question = _sentence(question, gap)
    named = _days_asked(question, gap)
    closing = _is_closing(question.partition(gap)[0])
    answers: dict[str, list[str]] = {}
    places: dict[str, Span] = {}
    for day in named or DAYS:
        if day in by_day and by_day[day].text != _UNKNOWN:
            text = by_day[day].text if wanted == HOURS else by_day[day].text.split("-")[closing]
            answers.setdefault(text, []).append(day.capitalize())
            places.setdefault(text, by_day[day].place)
    if not answers:
        return Checked()
    if _SPAN.search(question) and wanted == HOURS:
        opens, closes = zip(*(text.split("-") for text in answers), strict=True)
        places.setdefault(f"{min(opens)}-{max(closes)}", next(iter(places.values())))
        return Checked(tuple(places), tuple(places.values()), any_of=True)
    if named and len(answers) > 1:
        shown = ", ".join(f"{text} ({', '.join(days)})" for text, days in answers.items())
        return Checked((shown,), (next(iter(places.values())),))
    return Checked(tuple(answers), tuple(places.values()), any_of=True)


def read_days(question: str, gap: str, passages: Sequence[Passage]) -> Checked | None:
    """On how many days of a week it is open, if the question asks that and the record tells the hours.

    A day that is closed and one without an end are written alike: either count will do.
    """
    by_day = _by_day(passages)
    if not by_day or not _PER_WEEK.match(question, question.find(gap) + len(gap)) or not _CUE.search(question):
        return None
    told = [found for found in by_day.values() if found.text != _UNKNOWN]
    counts = {f"{count} days": (told or [*by_day.values()])[0].place for count in {len(told), len(by_day)}}
    return Checked(tuple(counts), tuple(counts.values()), any_of=True)


def _by_day(passages: Sequence[Passage]) -> dict[str, Found]:
    """The hours that a record tells, by day."""
    days = (one for one in passages if one.path and one.path[-1] in DAYS)
    return {one.path[-1]: found for one in days for found in one.found if found.wanted == HOURS}


def _is_closing(before: str) -> bool:
    """Whether what stands before a time makes it that of closing: "closes at 9 pm on weekdays and" does."""
    verbs = [*_VERB.finditer(before)]
    return _CLOSING.search(before) is not None or bool(verbs and verbs[-1][2])


def _sentence(question: str, gap: str) -> str:
    """The sentence with the gap, without the one that it leans on."""
    at = question.find(gap)
    return next((question[start:end] for start, end in sentence_spans(question) if start <= at < end), question)


def _days_asked(question: str, gap: str) -> tuple[str, ...]:
    """The days that the gap belongs to: those before it where the sentence puts days first, else those after it.

    In "5-9 pm on Mondays and ____ for the rest of the week" it belongs to none that is named.
    """
    before, _, after = question.partition(gap)
    first, time = _GROUPS.search(question), _TIME.search(question)
    days_first = first is not None and (time is None or first.start() < min(time.start(), len(before)))
    groups = [[*_GROUPS.finditer(before)][-1:], [*_GROUPS.finditer(after)][:1]]
    if (
        groups[0]
        and groups[1]
        and _WHOLE_WEEK.match(groups[0][0].group())
        and after[: groups[1][0].start()].strip() == "on"
    ):
        days_first = False  # "open every day, ____ on Fridays"
    [group] = (groups[0] or groups[1] if days_first else groups[1]) or [None]
    return days_of(group.group().strip(" .")) if group else ()
