"""The trial of the games finds what it reads: rows of every game, and a model where the tiny recipes look for it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[2] / "recipes"


def test_what_the_trial_writes_is_what_the_tiny_recipes_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the extra train (torch) is not installed")
    from recipes.rank.rows import read_pairs
    from recipes.rank.settings import RankConfig
    from tests.train.trial import write_trial
    from vouching.methods.assurance.config import AssuranceRunConfig
    from vouching.methods.assurance.task import read_work
    from vouching.methods.blinded.config import BlindedRunConfig, read_questions
    from vouching.methods.checklist.config import ChecklistRunConfig, read_gold, read_tasks
    from vouching.settings import read_settings

    monkeypatch.chdir(tmp_path)
    write_trial(Path("runs/tiny"), steps=1)
    checklist = read_settings(ChecklistRunConfig, RECIPES / "checklist/tiny.toml")
    assert len(read_tasks(checklist.rows)) == 6  # six words
    assert len(read_gold(checklist.checklist.gold)) == 12  # right and wrong for each
    assurance = read_settings(AssuranceRunConfig, RECIPES / "assurance/tiny.toml")
    assert len(read_work(assurance.rows)) == 8
    blinded = read_settings(BlindedRunConfig, RECIPES / "blinded/tiny.toml")
    assert len(read_questions(blinded.rows)) == 16
    rank = read_settings(RankConfig, RECIPES / "rank/tiny.toml")
    assert len(read_pairs([Path(path) for path in rank.pairs])) == 120  # three of each of 40 questions
    for config in (checklist, assurance, blinded, rank):
        assert (Path(config.model) / "model.safetensors").is_file()


def test_every_role_is_taught() -> None:
    pytest.importorskip("trl", reason="the extra train is not installed")
    from tests.train.trial import examples

    said = [reply for _, reply in examples(random.Random(0))]
    # a response and a judgment; a draft, a review, a revision, a choice; an answer, a question, a check
    assert len(said) == 9
    assert said[1] in ("yes", "no")
    assert said[-1].startswith("1. Evidence")
