"""The passages that the embedded checker reads: sentences and record fields of the documents, with their values.

A field has its name, the other short fields of its record and, like a sentence, the title of its document. A long text
inside a record is read sentence by sentence. Sentences that address the verdict are not evidence. Opening hours of a
record are read day by day.

Not supported: values that have to be computed, except the length of a list of records; holidays; and opening hours in
prose, which are read like any other values.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from vouching.judging.values import HOURS, find_values, stated
from vouching.methods.blinded.compare import beside
from vouching.methods.blinded.fields import YEAR, Field, find_fields, name_words, unescaped
from vouching.reading.evidence import evidence_text
from vouching.text.sentences import sentence_spans
from vouching.text.words import Word, find_words
from vouching.types import Checked, Source, Span

_MAX_FIELD = 80
"""Characters of a field from which it is read as text."""
_SHORT_FIELD = 60
"""Characters up to which a field describes its record."""
_MIN_NAMING = 3
"""Letters and digits from which a short field may identify its record; "5" does not."""
_OPENING_HOURS = re.compile(r"(\d{1,2}):(\d{1,2})\s*-\s*(\d{1,2}):(\d{1,2})")
_STILL = frozenset(("date", "ordinal", "time_of_day", HOURS))
"""Kinds of values without a direction."""
_TITLE, _BEFORE, _OUTER, _BESIDE, _NAMED = 0.7, 0.4, 0.6, 0.5, 0.2
"""Weight of a word in the title, in the previous sentence, in an outer name, in another field, or in the name of the
text around a sentence."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a passage."""

    text: str
    wanted: str
    """Its kind, as in :class:`Question`."""
    place: Span
    first: int
    """Index of its first word in the passage."""
    last: int
    """Index after its last word."""


@dataclass(slots=True)
class Passage:
    """A sentence or a field of a document."""

    words: list[Word]
    found: list[Found]
    stems: dict[str, float]
    """Weight of each stem: 1 for its own words and its name, less for its surroundings."""
    name: list[str] = field(default_factory=list[str])
    """Stems of a field's innermost name; empty for a sentence."""
    path: tuple[str, ...] = ()
    """Lower-case names of a field from the outside in; fields with one path belong to records of one list."""
    title: str = ""
    """Title of its document."""
    record: tuple[frozenset[str], ...] = ()
    """Stems of each short value of a field's record that can identify it: names, years, larger numbers."""
    text: str = ""
    source: Source | None = None
    start: int = 0
    """Offset in the document."""
    own: frozenset[str] = field(init=False)
    """Stems of its content words."""
    at: dict[str, list[int]] = field(init=False)
    """Indices of each stem among the words."""

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
    for source in sources:
        text = evidence_text(source)
        title = {word.stem: _TITLE for word in find_words(source.title) if word.is_content}
        fields = find_fields(text)
        if fields:
            passages += _record_passages(source, text, fields, title)
        if not fields or fields[0].record > 1_000:  # a Markdown table may be part of a text
            passages += _sentences(source, text, 0, title, fields)
    return passages


def index_passages(passages: Sequence[Passage]) -> dict[str, list[int]]:
    """Numbers of the passages that contain values, by the stems of their words."""
    index: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for one in passage.stems if passage.found else ():
            index.setdefault(one, []).append(number)
    return index


def _sentences(
    source: Source, text: str, base: int, around: dict[str, float], fields: Sequence[Field] = ()
) -> Iterator[Passage]:
    """The sentences of a part of a source that begins at ``base``, without those inside a table."""
    starts, ends = sorted(one.start for one in fields), sorted(one.end for one in fields)
    before: set[str] = set()
    for first, last in sentence_spans(text):
        if bisect_left(starts, last) > bisect_right(ends, first):  # more cells begin before its end than end before it
            continue
        words = find_words(text, first, last)
        own = {word.stem for word in words}
        if own:
            stems = {**around, **dict.fromkeys(before - around.keys(), _BEFORE), **dict.fromkeys(own, 1.0)}
            shown, start = text[first:last], base + first
            found = _values(source, shown, start, words, first)
            yield Passage(words, found, stems, title=source.title or "", text=shown, source=source, start=start)
            before = {word.stem for word in words if word.is_content}


def _values(source: Source, text: str, base: int, words: Sequence[Word], offset: int = 0) -> list[Found]:
    """The values of a part of a source at ``base``; offsets of its words are larger by ``offset``."""
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
        beside, naming = _short_words(text, members), _naming(text, members)
        if not number:  # the outermost record describes the document
            outer = dict.fromkeys(beside, _OUTER * 0.5)
        known = {**title, **outer, **dict.fromkeys(beside, _BESIDE)}
        for one in members:
            names = tuple(name_words(name) for name in one.name)
            label = {word.stem: _OUTER for name in (*names[:-1], *one.under) for word in find_words(name)}
            own = [word.stem for word in find_words(names[-1])] if names else []
            stems = {**known, **label, **dict.fromkeys(own, 1.0)}
            if one.end - one.start > _MAX_FIELD:
                around = {**stems, **dict.fromkeys((*label, *own), _NAMED)}
                yield from _sentences(source, unescaped(text[one.start : one.end]), one.start, around)
            else:
                yield replace(_field(source, one, stems, own, names), record=naming)
    yield from _lengths(source, records)


def _field(source: Source, one: Field, stems: dict[str, float], own: list[str], names: tuple[str, ...]) -> Passage:
    inside = unescaped(source.text[one.start : one.end])
    words = find_words(inside)
    place = Span(source.text[one.start : one.end], one.start, one.end, source.id)
    hours = _OPENING_HOURS.fullmatch(inside.strip())
    if hours:
        opens, closes = (f"{int(h):02d}:{int(m):02d}" for h, m in (hours.group(1, 2), hours.group(3, 4)))
        found = [Found(f"{opens}-{closes}", HOURS, place, 0, 0)]
        if opens == closes:  # closed, or open around the clock
            found.append(Found("24 hours", "time", place, 0, 0))
        own = [*own, *(word.stem for name in names[-2:-1] for word in find_words(name))]
    else:
        found = _values(source, inside, one.start, words)
    stems = {**stems, **{word.stem: 1.0 for word in words}}
    return Passage(words, found, stems, own, names, text=inside, source=source, start=one.start)


def direction_of(found: Found, passage: Passage) -> Span | None:
    """The direction of a value of a passage; None if there is none."""
    if found.wanted in _STILL or passage.source is None:
        return None
    return beside(passage.source, found.place.start, found.place.end, passage.text, passage.start)


def _lengths(source: Source, records: dict[int, list[Field]]) -> Iterator[Passage]:
    """The number of records in each list, as a field with the list's name."""
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
    """Stems of the short texts of a record; of its numbers, only a year in the first field."""
    short = [text[one.start : one.end] for one in fields if one.end - one.start <= _SHORT_FIELD]
    words = (word for value in short for word in find_words(unescaped(value)))
    year = text[fields[0].start : fields[0].end].strip()
    label = {year} if YEAR.fullmatch(year) else set[str]()
    return label | {word.stem for word in words if word.is_content and not word.lower[0].isdigit()}


def _naming(text: str, fields: Sequence[Field]) -> tuple[frozenset[str], ...]:
    """Stems of each short value of a record that may identify it."""
    short = (unescaped(text[one.start : one.end]) for one in fields if one.end - one.start <= _SHORT_FIELD)
    values = (value for value in short if sum(map(str.isalnum, value)) >= _MIN_NAMING)
    return tuple(filter(None, (_content(find_words(value)) for value in (*values, *fields[0].under))))


def _content(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in words if word.is_content)


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The days of a week, in order."""
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b\.?"
_DAYS = re.compile(rf"\b{_DAY}(?:(?:\s*(?:,|and|&|to|through|thru|until|-|–|—|/)\s*)+(?:on )?{_DAY})*", re.IGNORECASE)
_NAMED_DAYS = {
    "weekdays": DAYS[:5],
    "weekday": DAYS[:5],
    "weekends": DAYS[5:],
    "weekend": DAYS[5:],
    "daily": DAYS,
    "every day": DAYS,
    "all week": DAYS,
    "seven days": DAYS,
    "7 days": DAYS,
    "during the week": DAYS[:5],
}
_GROUPS = re.compile(rf"{_DAYS.pattern}|\b(?:{'|'.join(_NAMED_DAYS)})\b", re.IGNORECASE)
_TO = re.compile(r"\s*(?:to|through|thru|until|-|–|—)\s*", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}(?::\d\d)?\s*(?:[ap]\.?m\b|-)|\d{1,2}:\d\d", re.IGNORECASE)
_UNKNOWN = "00:00-00:00"
"""Hours in records for days that are closed or open around the clock."""
_CUE = re.compile(
    r"\b(?:open|clos(?:e|es|ed|ing)\b|(?<!happy )hours|operat|serv|until|till|business day)\w*", re.IGNORECASE
)
_CLOSING = re.compile(r"\b(?:clos\w*|until|till|to|ends?)\W*(?:(?:at|by|around|about)\s+)?\Z", re.IGNORECASE)
_VERB = re.compile(r"\b(?:(open\w*|starts?|from)|(clos\w*|ends?|until|till|late as))\b", re.IGNORECASE)
"""Begins or ends opening hours, also for times that follow with "and"."""
_SPAN = re.compile(
    r"\b(?:rang(?:e|es|ing)|var(?:y|ies|ying)|most days|typical\w*|general\w*|usual\w*|most\w*)\b", re.IGNORECASE
)
"""The hours are those of most days, or from the earliest to the latest, not of every day."""
_NOT_OPENING = re.compile(r"\bhappy hour|\bappointment", re.IGNORECASE)
"""Events with hours of their own."""
_WHOLE_WEEK = re.compile(r"(?:every day|daily|all week|seven days|7 days)\Z", re.IGNORECASE)
_PER_WEEK = re.compile(r"\W*(?:a|per|each|every|of the) week\b", re.IGNORECASE)


def days_of(words: str) -> tuple[str, ...]:
    """The days that a phrase names."""
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
    """Whether a question may be about opening hours: "It closes at ____." may, "We met at ____." may not."""
    if wanted not in (HOURS, "time_of_day") or _NOT_OPENING.search(question):
        return False
    return wanted == HOURS or _CUE.search(question) is not None or names_days(question)


def names_days(question: str) -> bool:
    """Whether a question names days of the week."""
    return _GROUPS.search(question) is not None


def read_hours(question: str, wanted: str, gap: str, passages: Sequence[Passage]) -> Checked | None:
    """The hours of the days that a question names; None if no record has hours by day.

    Days with the same hours share an answer. If the named days differ, the answer lists them day by day; if no day is
    named, or the question is about a range, the hours of any day will do.
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
    """The number of open days in a week, if the question asks for it and a record has hours by day.

    Closed days and days open around the clock are written alike, so either count will do.
    """
    by_day = _by_day(passages)
    if not by_day or not _PER_WEEK.match(question, question.find(gap) + len(gap)) or not _CUE.search(question):
        return None
    known = [found for found in by_day.values() if found.text != _UNKNOWN]
    counts = {f"{count} days": (known or [*by_day.values()])[0].place for count in {len(known), len(by_day)}}
    return Checked(tuple(counts), tuple(counts.values()), any_of=True)


def _by_day(passages: Sequence[Passage]) -> dict[str, Found]:
    """A record's hours by day."""
    days = (one for one in passages if one.path and one.path[-1] in DAYS)
    return {one.path[-1]: found for one in days for found in one.found if found.wanted == HOURS}


def _is_closing(before: str) -> bool:
    """Whether the words before a time make it a closing time, as in "closes at 9 pm on weekdays and"."""
    verbs = [*_VERB.finditer(before)]
    return _CLOSING.search(before) is not None or bool(verbs and verbs[-1][2])


def _sentence(question: str, gap: str) -> str:
    """The sentence with the gap, without the one before it."""
    at = question.find(gap)
    return next((question[start:end] for start, end in sentence_spans(question) if start <= at < end), question)


def _days_asked(question: str, gap: str) -> tuple[str, ...]:
    """The days of the gap: those before it where the sentence puts days first, else those after it.

    In "5-9 pm on Mondays and ____ for the rest of the week" it has none of the named days.
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
