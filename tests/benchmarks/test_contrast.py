"""The contrast corpus is sound, and its benchmark counts what it says it counts."""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/data/contrast"
sys.path.insert(0, str(ROOT / "benchmarks"))

import contrast  # noqa: E402

import vouching  # noqa: E402

PARTS = ("dev", "test")


def rows(part: str, name: str = "claims") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / part / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("part", PARTS)
def test_a_claim_names_its_words_and_those_of_its_document(part: str) -> None:
    texts = {path.stem: path.read_text("utf-8") for path in (CORPUS / part / "documents").iterdir()}
    for row in rows(part):
        assert row["decisive"] in row["claim"], row["id"]
        assert row["evidence"] in texts[row["document"]], row["id"]
        assert (row["label"] == "Attributable") == (row["error_type"] is None), row["id"]


@pytest.mark.parametrize("part", PARTS)
def test_a_group_has_both_labels_and_a_part_half_of_each(part: str) -> None:
    groups: dict[str, set[str]] = defaultdict(set)
    for row in rows(part):
        groups[row["group"]].add(row["label"])
    assert all(len(labels) == 2 for labels in groups.values())
    supported = sum(row["label"] == "Attributable" for row in rows(part))
    assert 0.45 < supported / len(rows(part)) < 0.55


def test_the_parts_share_no_document_and_no_name_of_a_claim() -> None:
    dev, test = rows("dev"), rows("test")
    assert not {row["document"] for row in dev} & {row["document"] for row in test}
    assert len({row["id"] for row in dev + test}) == len(dev) + len(test) == 2935


@pytest.mark.parametrize("part", PARTS)
def test_every_sentence_of_a_long_answer_is_in_it(part: str) -> None:
    for row in rows(part, "answers"):
        assert all(sentence["text"] in row["answer"] for sentence in row["sentences"]), row["id"]


def judged(label: str, attributable: bool | None, group: str = "g") -> contrast.Judged:
    row = {"label": label, "group": group, "document": "d", "claim": "It opened in 1937.", "fix": "It opened in 1973."}
    return contrast.Judged(row, attributable, 0.5, None, None)


def test_a_skipped_claim_is_wrong_whatever_its_label() -> None:
    found = contrast.accuracies([judged("Attributable", None), judged("Not Attributable", None)])
    assert (found["balanced_accuracy"], found["skipped"]) == (0.0, 2)


def test_balanced_accuracy_is_the_mean_of_both_shares() -> None:
    # Of three supported claims two are right, of one other none: (2/3 + 0) / 2 = 1/3.
    found = contrast.accuracies(
        [judged("Attributable", right) for right in (True, True, False)] + [judged("Not Attributable", True)]
    )
    assert found["balanced_accuracy"] == pytest.approx(1 / 3)


def test_a_verifier_that_ignores_the_claim_splits_no_group() -> None:
    same = [judged(label, True, group) for group in "ab" for label in ("Attributable", "Not Attributable")]
    assert contrast.pairs_split(same) == 0.0


def test_a_fix_counts_as_written_only_where_the_corpus_has_it() -> None:
    wrong = judged("Not Attributable", False)
    as_written = contrast.Judged(wrong.row, False, 0.2, None, "It opened in 1973")
    other = contrast.Judged(wrong.row, False, 0.2, None, "It opened.")
    assert contrast.fixes([as_written, other]) == {"offered": 2, "for_supported_claims": 0, "as_written": 1}


def test_the_claims_for_training_are_sound_and_not_in_the_corpus() -> None:
    folder = ROOT / "recipes/encoder/contrast"
    with gzip.open(folder / "claims.jsonl.gz", "rt", encoding="utf-8") as lines:
        learned = [json.loads(line) for line in lines]
    texts = {path.stem: path.read_text("utf-8") for path in (folder / "documents").iterdir()}
    measured = [row for part in PARTS for row in rows(part)]
    assert not texts.keys() & {row["document"] for row in measured}
    assert not {row["claim"] for row in learned if len(row["claim"]) > 25} & {row["claim"] for row in measured}
    assert all(row["evidence"] in texts[row["document"]] and row["decisive"] in row["claim"] for row in learned)
    assert len(learned) == 14_162


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ["contrast_{}", "contrast_before_{}"])
def test_a_kept_result_is_of_the_part_that_its_name_says(part: str, name: str) -> None:
    kept = json.loads((ROOT / f"benchmarks/results/{name.format(part)}.json").read_text("utf-8"))
    assert kept["command"] == f"python benchmarks/contrast.py --part {part}"
    for model in kept["models"].values():
        assert model["by_construction"]["all"]["claims"] == len(rows(part))


def test_no_right_claim_gets_a_fix() -> None:
    checker, documents = vouching.Checker("embedded:rules"), contrast.documents_of("dev")
    right = [row for row in contrast.rows_of("dev", "claims") if row["label"] == "Attributable"]
    chosen = right[:: len(right) // 200][:200]
    assert len(chosen) == 200
    judged = [contrast.judge(checker, row, documents[row["document"]]) for row in chosen]
    assert [(one.row["claim"], one.fix) for one in judged if one.fix] == []
