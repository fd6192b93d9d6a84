"""The corpus of the reader: its form, its labels, and how it is checked."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "recipes/reader/corpus"

DOCUMENT = """kind: notice
title: Pool
=====
The pool is open from 9 to 17. Children under 6 swim with an adult.
=====
[threshold]
+ A child of six may swim alone.
- A child of «five» may swim alone.

[answer] When does it close?
+ At five in the afternoon.
? At noon «on Sundays».
"""


def script() -> ModuleType:
    """recipes/reader/corpus.py as a module."""
    spec = importlib.util.spec_from_file_location("reader_corpus", ROOT / "recipes/reader/corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a file of the corpus."""
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_a_document_is_read_with_its_groups_labels_and_decisive_words(tmp_path: Path) -> None:
    (tmp_path / "001-pool.txt").write_text(DOCUMENT, "utf-8")
    [document] = script().read_folder(tmp_path)
    assert [(c.mark, c.text, c.decisive, c.given) for c in document.claims] == [
        ("+", "A child of six may swim alone.", "", ""),
        ("-", "A child of five may swim alone.", "five", ""),
        ("+", "At five in the afternoon.", "", "When does it close?"),
        ("?", "At noon on Sundays.", "on Sundays", "When does it close?"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("- A child of five may swim alone.", "cannot read"),
        ("[riddle]", "no construction"),
        ("[answer]", "lacks the text"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "001-pool.txt"
    path.write_text(f"{DOCUMENT}{line}\n", "utf-8")
    with pytest.raises(ValueError, match=reason):
        script().read(path)


def test_word_overlap_and_single_words_that_tell_the_label_are_found(tmp_path: Path) -> None:
    for number in range(10):
        claims = f"+ Opened {number}.\n- «Never» opened {number}.\n"
        text = f"kind: x\ntitle: y\n=====\nOpened {number}.\n=====\n[plain]\n{claims}"
        (tmp_path / f"{number:03}-x.txt").write_text(text, "utf-8")
    tells = script().tells(list(script().read_folder(tmp_path)))
    assert tells["the claim alone"] == 1.0  # "never" is in every wrong claim and in no other
    assert tells["word overlap"] == 1.0  # 2 of 2 words against 2 of 3


def test_the_second_reader_agrees_with_nearly_every_label() -> None:
    relation = {row["id"]: row["relation"] for row in rows("claims")}
    same: dict[str, list[bool]] = defaultdict(list)
    for row in rows("second_reader"):
        same[row["id"][0]].append((relation[row["id"]] == "supported") == (row["relation"] == "supported"))
    assert sorted(same) == list("abcdefghijklmn")
    assert min(sum(part) / len(part) for part in same.values()) > 0.95


def test_every_claim_has_its_document_and_wrong_ones_their_decisive_words() -> None:
    documents = {row["id"] for row in rows("documents")}
    claims = rows("claims")
    assert len({row["id"] for row in claims}) == len(claims)
    assert {row["document"] for row in claims} == documents
    for row in claims:
        assert (row["decisive"] is None) == (row["label"] == "Attributable")
        assert row["decisive"] is None or row["decisive"] in row["claim"]
    counts = Counter(row["label"] for row in claims)
    assert 0.45 < counts["Attributable"] / len(claims) < 0.55
