"""Structured answers as claims to train on: each field as the reader reads it, right and with a wrong value.

A line of ``structured/answers.jsonl.gz`` has a ``source``, a right ``answer`` (JSON, YAML, table, list, HTML) and
``changes``, each of which makes one field wrong. The answer is split and its fields are phrased by the code that checks
answers, so that training sees what checking will ask.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vouching import Checker
from vouching.embedded.compared import Compared
from vouching.embedded.scoring import load_score_model
from vouching.embedded.soft_reading import JoinedReading, SoftReader, reword
from vouching.embedded.verify import EmbeddedVerifier
from vouching.encoder.reading import SoftReading
from vouching.reading.asked import Asked
from vouching.types.spans import ERROR_TYPES

LABELS = {"contradicted": 1, "not_found": 2}


class Recorder(SoftReader):
    """Keeps the claims that it is given, in the words that the large encoder would read; finds nothing."""

    def __init__(self) -> None:
        self.model, self.name, self.claims = load_score_model("combined"), "embedded:recorder", list[str]()
        self._features = {term.name: term.mean for term in self.model.terms}

    def read_all(self, compared: Sequence[Compared]) -> list[SoftReading]:
        """A reading without any match per claim."""
        return [self.read(one) for one in compared]

    def read(self, compared: Compared) -> SoftReading:
        """Keep the claim; a reading without any match."""
        self.claims.append(reword(compared).text)
        relation = {"supported": 1.0, "contradicted": 0.0, "not_found": 0.0}
        types = dict.fromkeys(ERROR_TYPES, 1 / len(ERROR_TYPES))
        read = len(compared.claim.text)
        return JoinedReading(relation, types, (), 0.0, 1, 1, (), read, self._features, ())


def claims_of(answer: str, source: str) -> list[str]:
    """The claims of an answer as the large encoder reads them."""
    recorder = Recorder()
    Checker(EmbeddedVerifier(soft_reader=recorder)).check_response(answer, source)
    return recorder.claims


def structured_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of ``packs.py``, one per field of each answer; a wrong field is of one pair with the right one."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            yield from _fields(line)


def _fields(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    source, answer = line["source"], line["answer"]
    right = claims_of(answer, source)

    def row(claim: str, y: int, at: int, paired: bool = True) -> dict[str, Any]:
        pair = f"{line['id']}.{at}" if paired else None
        marks = None if y else []
        return {"asked": Asked(claim), "source": source, "y": y, "marks": marks, "group": line["id"], "pair": pair}

    for at, claim in enumerate(right):
        yield row(claim, 0, at)
    for change in line["changes"]:
        claims = claims_of(answer.replace(change["right"], change["wrong"], 1), source)
        for claim in (claim for claim in claims if claim not in right):
            yield row(claim, LABELS[change["relation"]], claims.index(claim), len(claims) == len(right))
