"""Accepted failures: claims that a person has looked at and lets pass, in a file that is reviewed like code.

The gate for documents calls it a baseline, the pytest plugin a snapshot. An entry names a place (a file or a test) and
the claim as it is written; a claim that changes is judged anew. Only a verdict can be accepted: a judge's failure
cannot.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from vouching.errors import InputError
from vouching.text.json_values import parse_json
from vouching.types import Finding
from vouching.types.visible import shown_json

VERSION = 1


@dataclass(frozen=True, slots=True, order=True)
class Accepted:
    """A claim that may fail."""

    place: str
    """The file, with forward slashes, or the test."""
    claim: str
    """The claim as it is written."""
    outcome: str = ""
    """Why it failed when it was accepted; for people."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is looked up by: the place, and the claim without differences in spaces."""
        return self.place, " ".join(self.claim.split())


def accepted(place: str, finding: Finding) -> Accepted:
    """The entry for a finding."""
    words = getattr(finding, "problem", "") or finding.label
    return Accepted(Path(place).as_posix() if "::" not in place else place, finding.subject, words)


def read_accepted(path: str | Path) -> list[Accepted]:
    """The entries of a file; none if it does not exist. Raises InputError for another kind of file."""
    file = Path(path)
    if not file.exists():
        return []
    try:
        value: Any = parse_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the accepted failures in {path}: {error}") from None
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    listed = fields.get("accepted")
    if not isinstance(listed, list) or fields.get("version") != VERSION:
        raise InputError(f'{path} must be a JSON object with "version": {VERSION} and a list "accepted"')
    return [_entry(one, path) for one in cast("list[object]", listed)]


def _entry(value: object, path: str | Path) -> Accepted:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    given = {key: fields.get(key, "") for key in ("place", "claim", "outcome")}
    if not given["place"] or not given["claim"] or not all(isinstance(text, str) for text in given.values()):
        raise InputError(
            f'an entry of {path} must have the texts "place" and "claim", got {shown_json(cast("object", value))}'
        )
    return Accepted(**given)


def write_accepted(path: str | Path, entries: Iterable[Accepted]) -> None:
    """Write entries in order, once each. Raises InputError if that fails."""
    record = {
        "version": VERSION,
        "accepted": [asdict(one) for one in sorted({one.key: one for one in entries}.values())],
    }
    try:
        Path(path).write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"the accepted failures cannot be written to {path}: {error.strerror or error}") from None
