"""One way from a reply to its reward: the game, the command and every adapter give the same number."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from tests.methods.structured.replies import CLAIM, ENTRY, RECORD, SOURCE, STEP
from vouching.cli.app import app
from vouching.integrations.trl import trl_reward
from vouching.integrations.verifiers import trace_reward
from vouching.integrations.verl import structured_score
from vouching.methods import METHODS
from vouching.methods.base import ScriptedSampler
from vouching.methods.structured.game import Score, StructuredGame, score_by
from vouching.methods.structured.reward_settings import RewardSettings
from vouching.methods.structured.reward_weights import Rules
from vouching.methods.structured.teacher import example_prompt
from vouching.methods.structured.verify import StructuredVerifier
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.types import Claim, Source

SAMPLES = 3


def record(random: Random) -> str:
    """A reply of any quality: whole or not, right or not, with quotes that are there or not."""
    spans = ["12 countries", "8 different nations", "NOT_FOUND", "nine towns", "", None, 12]
    entry = {**ENTRY, "claim_span": random.choice(spans), "source_span": random.choice(spans)}
    entry["status"] = random.choice(["match", "mismatch", "not_found", "Match"])
    step = {**STEP, "explanation": random.choice(["The source says 8.", "short", None])}
    written = {
        "evidence_alignment": random.choice([[entry], [entry, ENTRY], [], "none", [entry, "12"]]),
        "reasoning_chain": random.choice([[step], [step] * 3, [], None]),
        "label": random.choice(["Attributable", "not_attributable", "Supported", "Not Attributable.", "unclear", None]),
        "confidence": random.choice([0.8, 1, 0, "0.8", "high", True, None, -3]),
        "error_type": random.choice([RECORD["error_type"], "exaggeration", "", None, "none"]),
        "fix_suggestion": random.choice([RECORD["fix_suggestion"], "8", "", None]),
    }
    kept = json.dumps({key: value for key, value in written.items() if random.random() < 0.9})
    return random.choice([kept, kept, kept, f"```json\n{kept}\n```", f"Here it is: {kept} Done.", kept[:-1], "no JSON"])


GOLD = Random(20)
ROWS: list[dict[str, Any]] = [
    {
        "id": f"r{n}",
        "prompt": [{"role": "user", "content": f"{n}"}],
        "claim": CLAIM,
        "source": SOURCE,
        "gold": GOLD.choice(["Attributable", "Not Attributable"]),
    }
    for n in range(100)
]
REPLIES = [[record(random) for _ in range(SAMPLES)] for random in map(Random, range(len(ROWS)))]
SCORES: dict[Rules, Score] = {one: score_by(RewardSettings(one)) for one in get_args(Rules)}


def played(rules: Rules) -> list[tuple[dict[str, Any], str, float]]:
    """Every row with every reply to it, and what the game makes of it."""

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        return REPLIES[int(prompt[-1].content)][number]

    play = asyncio.run(StructuredGame(SAMPLES, SCORES[rules]).play(ScriptedSampler(line), ROWS))
    assert len(play.groups) == len(ROWS)
    assert not play.failures
    return [
        (row, said.text, said.reward.total)
        for row, group in zip(ROWS, play.groups, strict=True)
        for said in group.rollouts
        if said.reward is not None
    ]


@pytest.mark.parametrize("rules", SCORES)
def test_game_command_and_adapters_agree_on_300_replies(rules: Rules, tmp_path: Path) -> None:
    told = played(rules)
    totals = [total for _, _, total in told]
    assert len(totals) == 300
    assert len(set(totals)) > {"binary": 1, "binary-format": 4, "grounded": 40}.get(rules, 50)

    lines = [json.dumps({**row, "id": f"{at}", "response": reply}) for at, (row, reply, _) in enumerate(told)]
    (tmp_path / "played.jsonl").write_text("\n".join(lines), encoding="utf-8")
    files = ["--input", str(tmp_path / "played.jsonl"), "--output", str(tmp_path / "rewards.jsonl")]
    done = CliRunner().invoke(app, ["reward", "structured", *files, "--variant", rules])
    assert done.exit_code == 0, done.output
    written = [json.loads(line) for line in (tmp_path / "rewards.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["total"] for line in written] == totals

    reward_of_row = METHODS["structured"].load("reward_row")
    assert [reward_of_row({**row, "response": reply}, variant=rules)["total"] for row, reply, _ in told] == totals

    columns = {key: [row[key] for row, _, _ in told] for key in ("gold", "claim", "source")}
    assert trl_reward("structured", variant=rules)(completions=[reply for _, reply, _ in told], **columns) == totals

    def traced(row: dict[str, Any], reply: str) -> float:
        trace = SimpleNamespace(last_reply=reply, record_metrics=lambda parts: None)  # pyright: ignore[reportUnknownLambdaType]
        return asyncio.run(trace_reward("structured", variant=rules)(SimpleNamespace(**row), trace))

    assert [traced(row, reply) for row, reply, _ in told] == totals
    verl = [structured_score("", reply, row["gold"], row, variant=rules)["score"] for row, reply, _ in told]
    assert verl == totals


def test_a_row_that_lacks_what_the_rules_read_is_refused() -> None:
    reward_of_row = METHODS["structured"].load("reward_row")
    whole = {"response": "{}", "gold": "Attributable", "claim": CLAIM, "source": SOURCE}
    for lost in ("response", "gold", "claim", "source"):
        row = {key: value for key, value in whole.items() if key != lost}
        with pytest.raises(ValueError, match=f'has no "{lost}'):
            reward_of_row(row, variant="grounded")
    for name in ("response", "gold"):
        with pytest.raises(ValueError, match=f'"{name}" must be a string, got 7'):
            reward_of_row({**whole, name: 7})


def test_the_game_asks_what_the_verifier_asks() -> None:
    claim, sources = Claim(CLAIM), [Source(SOURCE)]
    verifier = StructuredVerifier(model := ScriptedModel([json.dumps(RECORD)]))
    asyncio.run(verifier.verify([claim], sources))
    row = {"id": "r", "prompt": example_prompt(claim, sources), "gold": "Not Attributable"}
    assert StructuredGame().opening(row) == model.asked[0].messages
