"""The days of the week that a sentence names: "Monday to Friday", "daily except Sundays", "at weekends".

Not supported: holidays, and days of single weeks ("the first Monday of a month").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = r"(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:days?)?\b"
_TO = r" ?(?:to|through|till|until|[-–—]) ?"
_ITEM = rf"(?:{_DAY}(?:{_TO}{_DAY})?|weekdays?|weekends?|[Ee]very day|[Ee]ach day|[Dd]aily|all week)"
_LIST = rf"{_ITEM}(?:(?:, and |, | and | or | & |/)(?:on |at )?{_ITEM})*"
_ONE_OF_SEVERAL = "".join(f"(?<!{word} )" for word in "first second third fourth last other next this".split())
_DAYS = re.compile(
    rf"{_ONE_OF_SEVERAL}\b(?P<days>{_LIST})"
    r"(?:(?: of the week)?,? (?:except|but|other than|apart from|excluding)(?: for)?(?: on)?"
    rf" (?P<without>{_LIST}))?"
)
_RANGE = re.compile(rf"(?P<first>{_DAY}){_TO}(?P<last>{_DAY})")
_SINGLE = re.compile(_DAY)
_ALL, _WORKING, _WEEKEND = frozenset(range(7)), frozenset(range(5)), frozenset((5, 6))


@dataclass(frozen=True, slots=True)
class Days:
    """Days of the week, and where they are named."""

    start: int
    end: int
    days: frozenset[int]
    """0 (Monday) to 6 (Sunday)."""


def find_days(text: str) -> list[Days]:
    """The sets of days that a sentence names, in order.

    >>> [sorted(found.days) for found in find_days("Open Tuesday to Friday, closed on Mondays and at weekends.")]
    [[1, 2, 3, 4], [0, 5, 6]]
    >>> [sorted(found.days) for found in find_days("Open daily except Sunday")]
    [[0, 1, 2, 3, 4, 5]]
    """
    found: list[Days] = []
    for match in _DAYS.finditer(text) if "day" in text or "week" in text or "daily" in text.lower() else ():
        days = _read(match["days"]) - _read(match["without"] or "")
        found.append(Days(match.start(), match.end(), days))
    return found


def _read(text: str) -> frozenset[int]:
    lower = text.lower()
    days: set[int] = set()
    if "every day" in lower or "each day" in lower or "daily" in lower or "all week" in lower:
        days |= _ALL
    if "weekday" in lower:
        days |= _WORKING
    if "weekend" in lower:
        days |= _WEEKEND
    for match in _RANGE.finditer(text):
        first, last = (_NAMES.index(match[name][:3]) for name in ("first", "last"))
        days |= {(first + step) % 7 for step in range((last - first) % 7 + 1)}
    return frozenset(days | {_NAMES.index(match[0][:3]) for match in _SINGLE.finditer(text)})
