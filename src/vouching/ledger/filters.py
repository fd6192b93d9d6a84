"""Filters as conditions of a query, and times as the ledger writes them."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, false

from vouching.errors import InputError
from vouching.ledger.tables import ROWS
from vouching.types.ledger import Filters


def conditions(filters: Filters | None) -> list[ColumnElement[bool]]:
    """The conditions that a row must meet. Raises InputError for a time that cannot be read."""
    given = {field.name: getattr(filters, field.name) for field in fields(Filters)} if filters else {}
    found: list[ColumnElement[bool]] = []
    for name, value in given.items():
        if value is None:
            continue
        if name == "since":
            found.append(ROWS.c.at >= as_time(value))
        elif name == "until":
            found.append(ROWS.c.at < as_time(value))
        elif isinstance(value, int) and abs(value) >= 2**63:  # no row has a number that the database lacks
            found.append(false())
        elif name == "max_confidence":
            found.append(ROWS.c.confidence <= value)
        else:
            found.append(ROWS.c[name] == value)
    return found


def as_time(given: str | datetime) -> str:
    """A time as the rows have it: UTC, of a fixed length, so that its order is that of the text.

    >>> as_time("2026-05-04"), as_time("2026-05-04T09:30:00+02:00")
    ('2026-05-04T00:00:00.000000+00:00', '2026-05-04T07:30:00.000000+00:00')
    """
    try:
        time = given if isinstance(given, datetime) else datetime.fromisoformat(given)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputError(f"expected a time such as 2026-05-04 or 2026-05-04T09:30:00+00:00, got {given!r}") from None
    return time.isoformat(timespec="microseconds")
