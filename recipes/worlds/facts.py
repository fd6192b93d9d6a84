"""A world of facts: sources that state facts about places, and claims that are true or changed in one known place.

A source lists facts about a place, and about others as distractors; a claim says one of them in other words. Half of
the claims are wrong: another number, year or owner, a denied feature, or a fact that the source does not state. Known
are the label, the changed words, the error type and the fix, so every part of SEVA's record (section 2.2) can be
judged. The oracle reads records on its own and shares no code with the reward. Places of the held-out part never occur
in the training part. Not supported: claims with two errors, evidence in two sentences, scope.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from vouching.errors import ConfigError
from vouching.models.base import Message
from vouching.types import ErrorType

Part: TypeAlias = Literal["train", "held-out"]
"""Which places: two of three are for training."""
NOT_FOUND = "NOT_FOUND"
PIECES = (
    "source: ",
    " claim: ",
    " record: ",
    '{"evidence_alignment": [{"claim_span": "',
    '", "source_span": "',
    '", "status": "',
    '"}], "reasoning_chain": [{"claim_part": "',
    '", "source_evidence": "',
    '", "judgment": "',
    '", "explanation": "',
    '"}], "label": "',
    '", "confidence": ',
    ', "error_type": ',
    ', "fix_suggestion": ',
)
"""Fixed parts of a prompt and a record: one token each in a small policy's tokenizer, so that a record is short."""
_FIRST = ("Or", "Bel", "Tam", "Kir", "Nol", "Sul", "Var", "Mer", "Dal", "Fen", "Gor", "Hux")
_LAST = ("ham", "mont", "stad", "wick", "dorf", "port", "ley", "holm", "gate", "burn", "ness", "ford")
SYLLABLES = (*_FIRST, *_LAST)
"""The parts of every place's name. As one token each, they cut names of both parts of the world alike; a tokenizer that
learns whole names from training texts leaves the others in pieces, which a small policy does not copy."""
_OWNERS = ("Duke Rask", "Lady Orme", "Count Pell", "Baron Thul", "Queen Isa", "Sir Wend")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of fact: how sources and claims say it, and what a wrong one is called."""

    sources: tuple[str, str]
    claims: tuple[str, str]
    phrases: tuple[str, ...]
    """The words that state the value; they occur in the sentence unchanged."""
    error: ErrorType


_KINDS: Mapping[str, _Kind] = {
    "count": _Kind(
        ("{place} has {phrase}.", "In {place} there are {phrase}."),
        ("{place} counts {phrase}.", "There are {phrase} in {place}."),
        tuple(f"{number} ships" for number in range(2, 10)),
        "numerical_exaggeration",
    ),
    "year": _Kind(
        ("{place} was founded {phrase}.", "The first stone of {place} was laid {phrase}."),
        ("{place} was built {phrase}.", "The founding of {place} was {phrase}."),
        tuple(f"in {year}" for year in range(1400, 1800, 50)),
        "temporal_shift",
    ),
    "owner": _Kind(
        ("{place} belongs to {phrase}.", "{place} is in the hands of {phrase}."),
        ("{place} is owned by {phrase}.", "The owner of {place} is {phrase}."),
        _OWNERS,
        "entity_substitution",
    ),
    "feature": _Kind(
        ("{place} has {phrase}.", "One finds {phrase} in {place}."),
        ("There is {phrase} in {place}.", "In {place} stands {phrase}."),
        tuple(f"a {thing}" for thing in ("mill", "tower", "bridge", "chapel", "market", "well")),
        "negation_flip",
    ),
}


@dataclass(frozen=True, slots=True)
class FactsWorld:
    """How hard the world is. Raises ConfigError for a number out of range."""

    facts: int = 2
    """Facts that a source states about the place, from 1 to 4."""
    others: int = 0
    """Other places in a source, with as many facts each."""
    wrong: float = 0.5
    """Share of wrong claims."""
    fabricated: float = 0.2
    """Share of the wrong claims whose fact the source does not state; 0 with four facts."""

    def __post_init__(self) -> None:
        if not 1 <= self.facts <= len(_KINDS):
            raise ConfigError(f"facts must be from 1 to {len(_KINDS)}, got {self.facts}")
        if not 0 <= self.others <= 10:
            raise ConfigError(f"others must be from 0 to 10, got {self.others}")
        for name in ("wrong", "fabricated"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be in [0, 1], got {getattr(self, name)}")

    def rows(self, count: int, seed: int, part: Part = "train") -> list[dict[str, Any]]:
        """Rows for ``vouch train structured``, with what the oracle knows; the same seed gives the same rows.

        Beside ``prompt``, ``claim``, ``source``, ``gold``, ``error_type``, ``original`` and ``spans``, as
        ``vouch data perturb`` writes them, a row has ``phrase``, the words of the claim that decide, and ``evidence``,
        those of the source, or None.

        >>> row = FactsWorld(facts=1).rows(1, seed=2)[0]
        >>> row["source"], row["claim"], row["gold"]
        ('In Huxdorf there are 3 ships.', 'Huxdorf counts 3 ships.', 'Attributable')
        """
        draw = random.Random(f"{seed} {part}")
        return [self._row(f"{part}-{seed}-{number}", draw, places(part)) for number in range(count)]

    def _row(self, name: str, draw: random.Random, names: Sequence[str]) -> dict[str, Any]:
        place, *others = draw.sample(names, 1 + self.others)
        stated = {kind: draw.choice(_KINDS[kind].phrases) for kind in draw.sample([*_KINDS], self.facts)}
        sentences = [*_sentences(place, stated, draw)]
        for other in others:
            sentences += _sentences(other, {kind: draw.choice(_KINDS[kind].phrases) for kind in stated}, draw)
        draw.shuffle(sentences)
        is_wrong = draw.random() < self.wrong
        unstated = [kind for kind in _KINDS if kind not in stated]
        is_new = is_wrong and bool(unstated) and draw.random() < self.fabricated
        kind = draw.choice(unstated if is_new else [*stated])
        evidence = None if is_new else stated[kind]
        phrase, error = _claimed(kind, evidence, is_wrong, draw)
        template = draw.choice(_KINDS[kind].claims)
        claim = template.format(place=place, phrase=phrase)
        start = claim.index(phrase)
        row = {
            "id": name,
            "claim": claim,
            "source": " ".join(sentences),
            "error_type": error,
            "gold": "Not Attributable" if is_wrong else "Attributable",
            "kind": kind,
            "phrase": phrase,
            "evidence": evidence,
            "original": template.format(place=place, phrase=evidence) if is_wrong and evidence else "",
            "spans": [{"text": phrase, "start": start, "end": start + len(phrase)}] if is_wrong else [],
        }
        asked = f"source: {row['source']} claim: {claim} record: "
        return {**row, "prompt": [{"role": "user", "content": asked}]}


@cache
def places(part: Part) -> tuple[str, ...]:
    """The names of places of one part; a name belongs to one part only."""
    names = [first + last for first in _FIRST for last in _LAST]
    return tuple(name for name in names if (hashlib.sha256(name.encode()).digest()[0] % 3 == 0) == (part == "held-out"))


def record_of(row: Mapping[str, Any], attributable: bool, confidence: float) -> str:
    """A complete record of a row with this label, as JSON; it is right in every part if the label is.

    >>> row = FactsWorld(facts=1).rows(1, seed=2)[0]
    >>> oracle(record_of(row, attributable=True, confidence=0.9), row)["oracle/aligned"]
    1.0
    """
    phrase, evidence = row["phrase"], row["evidence"]
    found = evidence or NOT_FOUND
    status = "match" if attributable else "mismatch" if evidence else "not_found"
    fix = f"Write {evidence}." if evidence else f"Leave out {phrase}."
    record = {
        "evidence_alignment": [{"claim_span": phrase, "source_span": found, "status": status}],
        "reasoning_chain": [
            {
                "claim_part": phrase,
                "source_evidence": found,
                "judgment": "supported" if attributable else "not_supported",
                "explanation": f"The source says {evidence}." if evidence else f"The source does not say {phrase}.",
            }
        ],
        "label": "Attributable" if attributable else "Not Attributable",
        "confidence": confidence,
        "error_type": None if attributable else (_KINDS[row["kind"]].error if evidence else "fabrication"),
        "fix_suggestion": None if attributable else fix,
    }
    return json.dumps(record)


def chats(rows: Sequence[Mapping[str, Any]], seed: int, wrong: float, broken: float) -> Iterator[dict[str, Any]]:
    """Chats for ``vouch train sft`` that teach an imperfect level: the share of wrong labels, and of broken records.

    A wrong label has a record that argues for it; a broken record is cut off. The stated confidence, from .6 to .9,
    tells nothing. Raises ConfigError for a share out of range.
    """
    for name, share in (("wrong", wrong), ("broken", broken)):
        if not 0 <= share <= 1:
            raise ConfigError(f"{name} must be in [0, 1], got {share}")
    draw = random.Random(seed)
    for row in rows:
        is_right = draw.random() >= wrong
        said = record_of(row, (row["gold"] == "Attributable") == is_right, draw.choice((0.6, 0.7, 0.8, 0.9)))
        if draw.random() < broken:
            said = said[: draw.randrange(len(said) // 4, len(said) - 1)]
        yield {"messages": [*row["prompt"], {"role": "assistant", "content": said}]}


def chat(asked: Sequence[Message], said: str) -> dict[str, Any]:
    """A row of ``vouch train sft``: what is asked, and the reply that is taught."""
    return {"messages": [*(one.json for one in asked), {"role": "assistant", "content": said}]}


def oracle(reply: str, row: Mapping[str, Any]) -> dict[str, float]:
    """What is right in a reply, each 0 or 1; a reply that is not one JSON object with a label is not readable.

    ``oracle/readable``; ``oracle/label``: the label, where a reply that is not readable counts as Not Attributable, as
    in SEVA's evaluation; in what follows it has nothing right. ``oracle/aligned``: every entry of the alignment names
    the words that decide in claim and source, with the right status; ``oracle/type`` and ``oracle/fix``: the error
    type, and the words that would be right, both absent for a true claim. ``oracle/false_alarm``, of true claims only:
    whether that label is Not Attributable. ``oracle/brier``: squared distance of the stated confidence from whether the
    label is right; .25 where none is stated.
    """
    record = _object(reply)
    wrong = row["gold"] == "Not Attributable"
    found = dict.fromkeys(MEASURES, 0.0) | {"oracle/brier": 0.25, "oracle/label": float(wrong)}
    if not wrong:
        found["oracle/false_alarm"] = 1.0
    if record is None:
        return found
    right = record["label"] == row["gold"]
    fix = record.get("fix_suggestion")
    sought = row["evidence"] or row["phrase"]
    found |= {
        "oracle/readable": 1.0,
        "oracle/label": float(right),
        "oracle/aligned": float(_is_aligned(record.get("evidence_alignment"), row)),
        "oracle/type": float(record.get("error_type") == row["error_type"]),
        "oracle/fix": float(isinstance(fix, str) and sought in fix if wrong else fix is None),
    }
    if not wrong:
        found["oracle/false_alarm"] = float(not right)
    stated = record.get("confidence")
    if isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= 1:
        found["oracle/brier"] = (float(stated) - float(right)) ** 2
    return found


MEASURES = ("oracle/readable", "oracle/label", "oracle/aligned", "oracle/type", "oracle/fix")
"""What can be right in a reply."""


def _sentences(place: str, stated: Mapping[str, str], draw: random.Random) -> Iterator[str]:
    for kind, phrase in stated.items():
        yield draw.choice(_KINDS[kind].sources).format(place=place, phrase=phrase)


def _claimed(kind: str, evidence: str | None, is_wrong: bool, draw: random.Random) -> tuple[str, ErrorType | None]:
    """The words of a claim that decide, and the type of its error."""
    if evidence is None:
        return draw.choice(_KINDS[kind].phrases), "fabrication"
    if not is_wrong:
        return evidence, None
    if kind == "feature":
        return f"no {evidence.removeprefix('a ')}", "negation_flip"
    return draw.choice([one for one in _KINDS[kind].phrases if one != evidence]), _KINDS[kind].error


def _object(reply: str) -> dict[str, Any] | None:
    try:
        record: Any = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    fields = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
    return fields if fields.get("label") in ("Attributable", "Not Attributable") else None


def _is_aligned(entries: object, row: Mapping[str, Any]) -> bool:
    status = "match" if row["gold"] == "Attributable" else "mismatch" if row["evidence"] else "not_found"
    right = {"claim_span": row["phrase"], "source_span": row["evidence"] or NOT_FOUND, "status": status}
    listed = cast("list[Any]", entries) if isinstance(entries, list) else []
    return bool(listed) and all(entry == right for entry in listed)
