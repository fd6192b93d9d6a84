"""Whole runs of MARCH's game on a Qwen2 of two layers: the tiny recipe, log, best step, resuming, bad rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.train.blinded_runs import ROWS, write_model
from vouching.errors import InputError
from vouching.methods.blinded.config import BlindedRunConfig, read_questions
from vouching.settings import read_settings

RECIPE = Path(__file__).parents[2] / "recipes/blinded/tiny.toml"


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "source": "It is."}], r"rows.jsonl, line 1: the question of row 'a' must be a string, got null"),
        ([ROWS[0], {"question": "When?"}], r'rows.jsonl, line 2: .*has no "sources"'),
        ([ROWS[0], ROWS[0]], "two rows have the id 'q0'"),
        ([], r"no rows in .*: expected rows with question and sources"),
    ],
)
def test_rows_that_cannot_be_played_are_named_with_their_place(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_questions([write(tmp_path / "rows.jsonl", rows)])


torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")

from vouching.train.checkpoint import last_checkpoint  # noqa: E402
from vouching.train.fit import train_game  # noqa: E402  (needs torch)
from vouching.train.run_folder import read_records  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    made = tmp_path_factory.mktemp("march")
    write_model(made / "qwen", often=False)
    write(made / "rows.jsonl", ROWS)
    write(made / "dev.jsonl", [{**row, "id": f"dev-{row['id']}"} for row in ROWS[:2]])
    return made


def config_of(folder: Path, *more: str) -> BlindedRunConfig:
    return read_settings(
        BlindedRunConfig,
        RECIPE,
        [
            f'model="{folder}/qwen"',
            f'rows=["{folder}/rows.jsonl"]',
            f'dev=["{folder}/dev.jsonl"]',
            "device=cpu",
            "epochs=9",
            *more,
        ],
    )


def test_the_tiny_recipe_leaves_a_log_a_critic_and_a_model_and_goes_on_from_them(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    whole = tmp_path / "whole"
    model = train_game(config_of(folder), whole, report=said.append)
    assert not (model / "critic.pt").exists()  # three times the model, and of use only to a run that goes on
    assert "luspo" not in caplog.text + capfd.readouterr().err  # TRL's name of the loss, which nobody asked for
    assert (model / "model.safetensors").is_file()
    records = read_records(whole)
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    assert {"critic/loss", "reward/solver/total", "questions/asked", "oracle/supported", "kl"} <= records[0].keys()
    assert "dev/oracle/supported" in records[1]
    last = last_checkpoint(whole)
    assert last is not None
    assert (last / "critic.pt").is_file()
    # The same run, stopped after two steps and gone on with.
    (whole / "checkpoints/checkpoint-4").rename(tmp_path / "kept")
    train_game(config_of(folder), whole, resume=True, report=said.append)
    for name in ("model.safetensors", "critic.pt"):
        first, second = (place / name for place in (tmp_path / "kept", whole / "checkpoints/checkpoint-4"))
        if name == "critic.pt":
            one, two = (torch.load(path)["model"] for path in (first, second))
            assert all(torch.equal(one[key], two[key]) for key in one)
        else:
            assert first.read_bytes() == second.read_bytes()
