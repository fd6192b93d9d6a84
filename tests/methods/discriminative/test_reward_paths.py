"""One way from a ranking to the rewards of its answers: the function, the command and TRL's adapter give the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import get_args

import pytest
from typer.testing import CliRunner

from vouching.cli.app import app
from vouching.integrations.trl import trl_ranking_reward
from vouching.methods import METHODS
from vouching.methods.discriminative.open import open_scorer
from vouching.methods.discriminative.rank import ScoringRanker
from vouching.methods.discriminative.reward import By, ranking_rewards
from vouching.types import Ranking, Reward, Source
from vouching.types.serial import to_python

SOURCE = "The Sarn bridge opened in 1973. It has three towers and is 6 km long."
YEARS, TOWERS, LENGTHS = ("1973", "1937", "1974"), ("three", "two", "3"), ("6 km", "9 km", "6 miles")


def answers(random: Random) -> list[str]:
    """Three to a question, of which some are equal and some half right."""
    made = (
        f"It opened in {random.choice(YEARS)}.",
        f"It has {random.choice(TOWERS)} towers.",
        f"It is {random.choice(LENGTHS)} long and opened in {random.choice(YEARS)}.",
        "Nobody knows.",
    )
    return [random.choice(made) for _ in range(3)]


class Told:
    """A ranker that says again what it said before."""

    mode = "embedded"
    calibrator = None

    def __init__(self, rankings: dict[str, Ranking]) -> None:
        self.rankings = rankings

    async def rank(self, question: str, answers: Sequence[str], sources: Sequence[Source] = ()) -> Ranking:
        return self.rankings[question]

    async def aclose(self) -> None:
        """Nothing to let go of."""


RANKER = ScoringRanker(open_scorer("embedded:rules"))
GIVEN = {f"What of the bridge, {number}?": answers(Random(number)) for number in range(100)}
RANKINGS = {question: asyncio.run(RANKER.rank(question, said, [Source(SOURCE)])) for question, said in GIVEN.items()}


@pytest.mark.parametrize("by", [by for by in get_args(By) if by != "probability"])
def test_ranking_command_and_trl_agree_on_300_answers(by: By, tmp_path: Path) -> None:
    rewards = {question: ranking_rewards(one, by) for question, one in RANKINGS.items()}
    totals = [one.total for each in rewards.values() for one in each if isinstance(one, Reward)]
    assert len(totals) == 300
    assert len(set(totals)) > 3

    reward = trl_ranking_reward(Told(RANKINGS), by)
    questions = [question for question, said in GIVEN.items() for _ in said]
    assert reward(completions=[one for said in GIVEN.values() for one in said], question=questions) == totals

    reward_of_row = METHODS["discriminative"].load("reward_row")
    rows = [to_python(one) for one in RANKINGS.values()]
    assert [total for row in rows for total in reward_of_row(row, by)["totals"]] == totals

    if by == "place":  # what the command rewards by
        (tmp_path / "ranked.jsonl").write_text(
            "".join(f"{json.dumps({'id': f'r{n}', **row})}\n" for n, row in enumerate(rows)), "utf-8"
        )
        files = ["--input", str(tmp_path / "ranked.jsonl"), "--output", str(tmp_path / "rewards.jsonl")]
        done = CliRunner().invoke(app, ["reward", "discriminative", *files])
        assert done.exit_code == 0, done.output
        lines = (tmp_path / "rewards.jsonl").read_text("utf-8").splitlines()
        assert [total for line in lines for total in json.loads(line)["totals"]] == totals
