"""Removing texts by policy: which rows, and the record of it that stays in each chain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, cast

from sqlalchemy import Connection, Select, delete, select

from vouching.errors import ConfigError
from vouching.ledger.filters import as_time, conditions
from vouching.ledger.tables import CONTENTS, ROWS
from vouching.types.ledger import Filters

Place = tuple[int, str, int]
"""Id, chain and place of a row."""
Span = tuple[int, int]
"""First and last place of consecutive rows."""
_AT_ONCE = 500
"""Ids in one statement: below the limit of every version of SQLite."""


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Rows whose texts are to be removed; a condition that is None does not restrict, but one must be given.

    >>> RetentionRule()
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: a retention rule must restrict: give ids, older_than_days, stream, kind or caller
    """

    older_than_days: float | None = None
    """Appended more than this many days ago."""
    stream: str | None = None
    """The chain."""
    kind: str | None = None
    """What the row records."""
    caller: str | None = None
    """Who asked."""
    ids: tuple[int, ...] = ()
    """These rows."""

    def __post_init__(self) -> None:
        if not self.ids and {self.older_than_days, self.stream, self.kind, self.caller} == {None}:
            raise ConfigError("a retention rule must restrict: give ids, older_than_days, stream, kind or caller")
        if self.older_than_days is not None and self.older_than_days < 0:
            raise ConfigError(f"older_than_days must be at least 0, got {self.older_than_days}")


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Rules that are applied together, for example every night, and why."""

    reason: str
    """Stays on record with each erasure."""
    rules: dict[str, RetentionRule]
    """Rules by name."""


def erase(
    connection: Connection, rule: RetentionRule, add: Callable[[Connection, str, Mapping[str, Any]], None] | None
) -> int:
    """Delete the contents of the rows that a rule names, and have ``add`` append a record of it to each chain.

    Returns the number of rows; without ``add`` nothing changes. Erasures themselves stay.
    """
    named = set(_named(connection, rule))
    about = {place for part in _parts(named) for place in _places(connection, _kept().where(ROWS.c.about.in_(part)))}
    found = sorted(named | about, key=lambda place: (place[1], place[2]))
    if add is None:
        return len(found)
    for part in _parts(found):
        connection.execute(delete(CONTENTS).where(CONTENTS.c.id.in_(part)))
    for stream, places in groupby(found, key=lambda place: place[1]):
        add(connection, stream, {"kind": "erasure", "erased": spans(seq for _, _, seq in places)})
    return len(found)


def _named(connection: Connection, rule: RetentionRule) -> list[Place]:
    """The rows that the rule names and that still have their contents."""
    asked = _kept().where(*conditions(Filters(rule.stream, rule.kind, rule.caller)))
    if rule.older_than_days is not None:
        asked = asked.where(ROWS.c.at < as_time(datetime.now(UTC) - timedelta(days=rule.older_than_days)))
    if not rule.ids:
        return _places(connection, asked)
    parts = [rule.ids[at : at + _AT_ONCE] for at in range(0, len(rule.ids), _AT_ONCE)]
    return [place for part in parts for place in _places(connection, asked.where(ROWS.c.id.in_(part)))]


def _kept() -> Select[tuple[int, str, int]]:
    """All rows with contents, but erasures."""
    places = select(ROWS.c.id, ROWS.c.stream, ROWS.c.seq).join(CONTENTS, CONTENTS.c.id == ROWS.c.id)
    return cast("Select[tuple[int, str, int]]", places.where(ROWS.c.kind != "erase"))


def _places(connection: Connection, asked: Select[tuple[int, str, int]]) -> list[Place]:
    return [(row.id, row.stream, row.seq) for row in connection.execute(asked)]


def _parts(places: Iterable[Place]) -> list[list[int]]:
    """The ids in parts that fit into one statement."""
    ids = sorted(id for id, _, _ in places)
    return [ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE)]


def spans(places: Iterable[int]) -> list[Span]:
    """Places as spans.

    >>> spans([1, 2, 3, 7])
    [(1, 3), (7, 7)]
    """
    found: list[Span] = []
    for place in sorted(places):
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found


def covers(erased: list[Span], place: int) -> bool:
    """Whether a place is in one of the spans, which are sorted.

    >>> covers([(1, 3), (7, 7)], 2), covers([(1, 3), (7, 7)], 5)
    (True, False)
    """
    at = bisect_right(erased, (place, float("inf"))) - 1
    return at >= 0 and erased[at][0] <= place <= erased[at][1]
