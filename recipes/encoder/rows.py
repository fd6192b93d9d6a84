"""Training rows of the encoder: labelled rows, pairs of rows, and the groups that are held out together.

Reads the project's own format (``id, claim, source, label``) and what some sets add: a fine label, unsupported tokens,
a corrected claim, the original of a perturbation. Not supported: questions, and rows without a label.
"""

from __future__ import annotations

import difflib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from vouching.bench.rows import Offsets, Record, label_of, list_of, offsets_of, text_of
from vouching.errors import InputError
from vouching.metrics.groups import document_numbers
from vouching.rows.read import read_as
from vouching.text.sentences import sentence_spans
from vouching.train.run_folder import digest_of_lines
from vouching.types.spans import ERROR_TYPES, ErrorType

SUPPORTED, CONTRADICTED, NOT_FOUND = (0,), (1,), (2,)
UNSUPPORTED = (1, 2)
"""Not Attributable, without saying whether the source contradicts the claim or does not mention it."""
FINE_LABELS: Mapping[str, tuple[int, ...]] = {
    "contradiction": CONTRADICTED,
    "refute": CONTRADICTED,
    "Refutes": CONTRADICTED,
    "neutral": NOT_FOUND,
    "irrelevant": NOT_FOUND,
    "Neutral": NOT_FOUND,
}
"""Relations that a fine label allows for a Not Attributable row; other labels allow both."""
_ERROR_OF_EDIT: Mapping[str, ErrorType] = {
    "Intrinsic Entity": "entity_substitution",
    "Extrinsic Entity": "entity_substitution",
}
"""BUMP's types that equal one of ours; predicates and circumstances may be several."""
_TELLING_SENTENCE = 40
_ONE_GROUP_AT_MOST = 0.25
"""Share of a set's held-out rows that one group may fill."""


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One labelled claim."""

    place: str
    """The set it is from, as "part/set"."""
    claim: str
    source: str
    relations: tuple[int, ...]
    """Relations that the label allows: 0 supported, 1 contradicted, 2 not found."""
    unsupported: Offsets | None = None
    """Unsupported spans of the claim; the rest is supported. None if not marked."""
    error_type: int = -1
    """Position in ``ERROR_TYPES``; -1 for unknown."""
    group: str | None = None
    """Document, where the set names one."""

    @property
    def attributable(self) -> bool:
        """Whether the label is Attributable."""
        return self.relations == SUPPORTED


Unit: TypeAlias = tuple[TrainingRow, ...]
"""Rows that are read together: one, or a supported claim and the same claim with an error or without its support."""


@dataclass(frozen=True, slots=True)
class Split:
    """Training and held-out units."""

    counts: Mapping[str, int]
    """Units by set, before the split."""
    train: Sequence[Unit]
    """To train on."""
    held: Sequence[Unit]
    """Whole groups held out."""

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of the units of each part, to check a split made again."""
        return {"train": digest_of(self.train), "held_out": digest_of(self.held)}


def digest_of(units: Sequence[Unit]) -> str:
    """SHA-256 of units as a set, in whatever order they come.

    >>> one, other = ((TrainingRow("nli/a", claim, "s", SUPPORTED),) for claim in ("c", "d"))
    >>> digest_of([one, other]) == digest_of([other, one]) != digest_of([one])
    True
    """
    return digest_of_lines(
        json.dumps([(row.place, row.claim, row.source, row.relations, row.error_type) for row in unit])
        for unit in units
    )


def read_sets(
    folders: Sequence[Path], shares: Mapping[str, float], limit: int, seed: int, rows: Mapping[str, int] | None = None
) -> dict[str, list[Unit]]:
    """The units of every ``*.jsonl.gz`` of the folders by "folder/set", shuffled.

    Args:
        folders: where to look.
        shares: sets with a share of 0 are skipped.
        limit: maximal number of units of a set.
        seed: of the shuffle.
        rows: limits of single sets, by name.

    Raises:
        InputError: a folder has no such file, ``shares`` or ``rows`` name an unknown set, or a row cannot be used.
    """
    sets: dict[str, list[Unit]] = {}
    names = set[str]()
    for folder in folders:
        paths = sorted(folder.glob("*.jsonl.gz"))
        if not paths:
            raise InputError(f"{folder} contains no *.jsonl.gz file: choose folders below VOUCH_DATA/attribution")
        for path in paths:
            name = path.name.removesuffix(".jsonl.gz")
            names.add(name)
            if shares.get(name, 1.0) > 0:
                place = f"{folder.name}/{name}"
                sets[place] = read_set(path, place, (rows or {}).get(name, limit), seed)
    if unknown := sorted({*shares, *(rows or {})} - names):
        raise InputError(
            f"unknown set {unknown[0]!r} in shares or rows; expected a set in {', '.join(map(str, folders))}"
        )
    return sets


def read_set(path: Path, place: str, limit: int, seed: int) -> list[Unit]:
    """The units of one file, shuffled, at most ``limit``. Raises InputError for a row that cannot be used."""
    units = [*read_as(str(path), lambda fields, _: unit_of(fields, place))]
    random.Random(f"{seed} {place}").shuffle(units)
    return units[:limit]


def unit_of(record: Record, place: str) -> Unit:
    """One record as a unit; a pair if it has the claim without its error too, or a source that supports the claim.

    >>> record = {"claim": "It opened in 1937.", "source": "It opened in 1973.", "label": "Not Attributable",
    ...     "correct_summary": "It opened in 1973."}
    >>> before, after = unit_of(record, "train/bump")
    >>> before.attributable, [after.claim[start:end] for start, end in after.unsupported]
    (True, ['1937.'])
    """
    claim, source = text_of(record, "claim"), text_of(record, "source")
    attributable = label_of(record, "label", {"Attributable": True, "Not Attributable": False})
    before = record.get("correct_summary") or record.get("original")
    source_before = record.get("original_source")
    group = record.get("group")
    group = None if group is None else str(group)
    if source_before and not attributable:
        relations = FINE_LABELS.get(str(record.get("fine_label")), UNSUPPORTED)
        return (
            TrainingRow(place, claim, str(source_before), SUPPORTED, group=group),
            TrainingRow(place, claim, source, relations, group=group),
        )
    if attributable or not before:
        marks = _marked_tokens(record, claim)
        relations = SUPPORTED if attributable else FINE_LABELS.get(str(record.get("fine_label")), UNSUPPORTED)
        return (TrainingRow(place, claim, source, relations, marks, _error(record), group),)
    spans = _spans(record) or changed_spans(str(before), claim)
    return (
        TrainingRow(place, str(before), source, SUPPORTED, (), group=group),
        TrainingRow(place, claim, source, UNSUPPORTED, spans or None, _error(record), group),
    )


def changed_spans(before: str, after: str) -> Offsets:
    """Spans of ``after`` whose words differ from those of ``before`` in the same place.

    >>> changed_spans("He saw a red fox", "He saw a blue fox")
    ((9, 13),)
    """
    old = re.findall(r"\S+", before)
    new = list(re.finditer(r"\S+", after))
    edits = difflib.SequenceMatcher(None, old, [word[0] for word in new], autojunk=False).get_opcodes()
    return tuple((new[b].start(), new[e - 1].end()) for kind, _, _, b, e in edits if kind != "equal" and b < e)


def hold_out(
    sets: Mapping[str, Sequence[Unit]], rows: int, seed: int, share: float = 0.1
) -> tuple[list[Unit], list[Unit]]:
    """Split units into training and held-out ones: ``rows`` of each set, at most this ``share`` of it.

    Units that share a source, a claim, a longer sentence of a source or a named document, directly or through others,
    in one set or across sets, stay together. A group that would fill much of a set's held-out rows stays in training.
    """
    units = [unit for several in sets.values() for unit in several]
    number_of = document_numbers(list(_keys(unit)) for unit in units)
    members: defaultdict[int, list[int]] = defaultdict(list)
    for i, number in enumerate(number_of.tolist()):
        members[number].append(i)
    wanted = Counter({place: min(rows, int(len(several) * share)) for place, several in sets.items()})
    whole = dict(wanted)
    held: set[int] = set()
    groups = list(members.values())
    random.Random(seed).shuffle(groups)
    for group in groups:
        counts = Counter(units[i][0].place for i in group)
        if all(n <= wanted[place] and n <= max(1, _ONE_GROUP_AT_MOST * whole[place]) for place, n in counts.items()):
            held.update(group)
            wanted -= counts
    return [u for i, u in enumerate(units) if i not in held], [units[i] for i in sorted(held)]


def without_shared(sets: Mapping[str, Sequence[Unit]], others: Mapping[str, Sequence[Unit]]) -> dict[str, list[Unit]]:
    """The sets without units that share a claim, a source, a longer sentence or a document with ``others``."""
    taken = {key for units in others.values() for unit in units for key in _keys(unit)}
    return {place: [unit for unit in units if taken.isdisjoint(_keys(unit))] for place, units in sets.items()}


def row_weights(units: Sequence[Unit], shares: Mapping[str, float]) -> list[float]:
    """The weight of each unit: the share of its set, balanced between the two labels of the set.

    A pair has both labels and its set's share. A rare label is weighted at most fourfold.

    >>> row = TrainingRow("nli/a", "c", "s", SUPPORTED)
    >>> other = TrainingRow("nli/a", "c", "s", NOT_FOUND)
    >>> row_weights([(row,), (other,), (other,), (row, other)], {"a": 0.5})
    [0.75, 0.375, 0.375, 0.5]
    """
    alone = Counter((unit[0].place, unit[0].attributable) for unit in units if len(unit) == 1)
    weights: list[float] = []
    for unit in units:
        place, label = unit[0].place, unit[0].attributable
        share = shares.get(place.partition("/")[2], 1.0)
        both = alone[place, True] + alone[place, False]
        weights.append(share if len(unit) > 1 else share * min(4.0, 0.5 * both / alone[place, label]))
    return weights


def _keys(unit: Unit) -> Iterator[Hashable]:
    """Keys that units of one group share."""
    for row in unit:
        yield "claim", _plain(row.claim)
        yield "source", _plain(row.source)
        if row.group is not None:
            yield "group", row.place, row.group
    for source in dict.fromkeys(row.source for row in unit):
        for start, end in sentence_spans(source):
            if end - start >= _TELLING_SENTENCE:
                yield "sentence", _plain(source[start:end])


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _marked_tokens(record: Record, claim: str) -> Offsets | None:
    """Spans of the claim whose tokens are marked as unsupported (WiCE); None without marks."""
    if "non_supported_spans" not in record:
        return None
    places = offsets_of(claim, list_of(record, "claim_tokens"))
    marks = list_of(record, "non_supported_spans")
    if len(marks) != len(places):
        raise InputError(
            f'"claim_tokens" and "non_supported_spans" must have the same length, got {len(places)} and {len(marks)}'
        )
    return tuple(place for place, unsupported in zip(places, marks, strict=True) if unsupported)


def _spans(record: Record) -> Offsets:
    """The changed spans that a perturbation names, without empty ones."""
    spans = cast("list[Record]", record.get("spans") or [])
    return tuple((int(span["start"]), int(span["end"])) for span in spans if span["end"] > span["start"])


def _error(record: Record) -> int:
    named = record.get("error_type") or _ERROR_OF_EDIT.get(
        str(record.get("bump_error_type", "")).removesuffix(" Error"), ""
    )
    return ERROR_TYPES.index(named) if named in ERROR_TYPES else -1
