"""Opening hours of a record, day by day, and the days that a question speaks of.

Left out: holidays, and hours in prose, which are read as any other values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vouching.text.sentences import sentence_spans
from vouching.types import Checked, Span
from vouching.verifiers.blinded_passages import Found, Passage
from vouching.verifiers.blinded_values import HOURS

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The days of a week, in order."""
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?\b\.?"
_DAYS = re.compile(rf"\b{_DAY}(?:(?:\s*(?:,|and|&|to|through|thru|until|-|–|—|/)\s*)+(?:on )?{_DAY})*", re.IGNORECASE)
_NAMED = {
    "weekdays": DAYS[:5], "weekday": DAYS[:5], "weekends": DAYS[5:], "weekend": DAYS[5:], "daily": DAYS,
    "every day": DAYS, "all week": DAYS, "seven days": DAYS, "7 days": DAYS, "during the week": DAYS[:5],
}  # fmt: skip
_GROUPS = re.compile(rf"{_DAYS.pattern}|\b(?:{'|'.join(_NAMED)})\b", re.IGNORECASE)
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
    if words.lower() in _NAMED:
        return _NAMED[words.lower()]
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
