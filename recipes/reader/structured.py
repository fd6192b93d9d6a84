"""Structured answers as claims to train on: each field as the reader reads it, right and with a wrong value.

A line of ``structured/answers.jsonl.gz`` has a ``source``, a right ``answer`` (JSON, YAML, table, list, HTML, CSV) and
``changes``, each of which makes one field wrong. The answer is split and its fields are phrased by the code that checks
answers, so that training sees what checking will ask.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vouching.claims.decomposition import decompose
from vouching.embedded.compared import compare
from vouching.embedded.soft_reading import reword
from vouching.reading.asked import Asked
from vouching.reading.evidence import index_sources
from vouching.types import Source

LABELS = {"contradicted": 1, "not_found": 2}


def claims_of(answer: str) -> list[str]:
    """The claims of an answer, as it is split for checking."""
    return [claim.text for claim in decompose(answer).claims]


def structured_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of ``packs.py``, one per field of each answer; a wrong field is of one pair with the right one."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            index = index_sources([Source(line["source"])])
            for claim, y, pair in _fields(line):
                yield {
                    "asked": Asked(reword(compare(claim, index)).text),
                    "source": line["source"],
                    "y": y,
                    "marks": None if y else [],
                    "group": line["id"],
                    "pair": pair,
                }


def _fields(line: dict[str, Any]) -> Iterator[tuple[str, int, str | None]]:
    """Claim, y and pair of each field: the right ones, then those that a change makes wrong."""
    answer, right = line["answer"], claims_of(line["answer"])
    for at, claim in enumerate(right):
        yield claim, 0, f"{line['id']}.{at}"
    for change in line["changes"]:
        claims = claims_of(answer.replace(change["right"], change["wrong"], 1))
        for at, claim in enumerate(claims):
            if claim not in right:
                yield claim, LABELS[change["relation"]], f"{line['id']}.{at}" if len(claims) == len(right) else None
