"""Which of two sources that disagree decides, where the user has said so: the newest, or the first that is listed.

The date of a source is the latest one on the lines of its first 1,000 characters that begin with a label such as "Last
updated:", "Date:", "Published", "Effective from" or "Version of", front matter included; failing that, the one in its
title, id or URL ("policy-2024-05-01.md"). A month or a year alone counts as its first day. Not supported: dates in the
text itself, and the dates of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from vouching.embedded.conflicts import Conflict
from vouching.errors import ConfigError
from vouching.judging.verifier import ThresholdConfig
from vouching.text.dates import find_dates
from vouching.types import Source, VerdictWarning

Preference: TypeAlias = Literal["newest", "listed"]
"""newest: the source with the later date; one without a date comes last. listed: the one that is given first."""
_HEAD = 1_000
_LABEL = re.compile(
    r"^[\W_]*(?:(?:last|date) )?(?:updated?|modified|revised|reviewed|changed|date|published|issued|effective"
    r"|(?:in force|valid)|version|edition|as of|status)\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_DATE = tuple[int, int, int]
_NO_DATE = (0, 0, 0)

_IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)-(0[1-9]|1[0-2])(?:-([0-2]\d|3[01]))?(?![\d-])")
"""A date in the name of a file."""


@dataclass(frozen=True, slots=True)
class EmbeddedConfig(ThresholdConfig):
    """The settings of the embedded verifier. Raises ConfigError for values that do not fit."""

    prefer: Preference | None = None
    """Which source decides where two disagree; None for neither."""

    def __post_init__(self) -> None:
        super(EmbeddedConfig, self).__post_init__()
        if self.prefer not in (None, *get_args(Preference)):
            raise ConfigError(f"prefer must be None or one of {', '.join(get_args(Preference))}, got {self.prefer!r}")


def date_of(source: Source) -> tuple[int, int, int]:
    r"""Year, month and day of a source, as it says itself; zeros if it does not.

    >>> date_of(Source("# Prices\nLast updated: 1 May 2024\n\nA ticket cost 3 euros in 2025."))
    (2024, 5, 1)
    >>> date_of(Source("A ticket costs 3 euros.", id="prices-2023-04.md")), date_of(Source("It opened in 1937."))
    ((2023, 4, 1), (0, 0, 0))
    """
    labelled = [found[0] for found in _LABEL.finditer(source.text[:_HEAD])]
    names = [re.sub(r"[_/]", " ", name) for name in (source.title, source.id, source.url)]
    said = max(map(_latest, labelled), default=_NO_DATE)
    return max(map(_latest, names)) if said == _NO_DATE else said


def outranked(
    conflict: Conflict | None, sources: Sequence[Source], preference: Preference | None
) -> tuple[int, VerdictWarning] | None:
    """Position of the source that must give way to another, and a note on why; None if the preference does not tell."""
    if conflict is None or preference is None or conflict.sources[0] == conflict.sources[1]:
        return None
    one, other = conflict.sources
    dates = [date_of(sources[position]) for position in (one, other)]
    if preference == "newest" and dates[0] == dates[1]:
        return None
    loser = max(one, other) if preference == "listed" else other if dates[0] > dates[1] else one
    chosen = sources[one + other - loser]
    why = "it is listed first" if preference == "listed" else f"it is newer ({_written(chosen)})"
    message = f"The sources disagree: {conflict.words}. {chosen.id} decided, because {why}."
    return loser, VerdictWarning("conflict", message, conflict.supporting if loser == one else conflict.against)


def _written(source: Source) -> str:
    return "-".join(f"{part:02}" for part in date_of(source))


def _latest(text: str) -> _DATE:
    dates = [(d.year, d.month or 1, d.day or 1) for d in find_dates(text) if d.kind == "date" and d.year is not None]
    dates += [(int(d[1]), int(d[2]), int(d[3] or 1)) for d in _IN_NAME.finditer(text)]
    return max(dates, default=_NO_DATE)
