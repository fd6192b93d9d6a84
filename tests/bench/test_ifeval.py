"""IFEval's prompts, responses to them, and the four levels."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.bench.catalog import DATA_SETS
from vouching.bench.ifeval import FILE, levels
from vouching.bench.rows import Fault
from vouching.cli.app import app
from vouching.errors import InputError

COMMA, QUOTES = "punctuation:no_comma", "startend:quotation"
ROWS: list[dict[str, Any]] = [
    {"key": 1, "prompt": "No commas.", "instruction_id_list": [COMMA], "kwargs": [{}]},
    {"key": 2, "prompt": "No commas, quoted.", "instruction_id_list": [COMMA, QUOTES], "kwargs": [{}, {}]},
]
RESPONSES = [
    {"prompt": "No commas.", "response": "Well, here:\nDone."},  # loosely only
    {"prompt": "No commas, quoted.", "response": "Done."},  # one of two
]


def data(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A data folder with these prompts."""
    return written(folder / FILE, rows).parent.parent


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def bench(folder: Path, *arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "100", "VOUCH_DATA": str(folder)}).invoke(app, ["bench", *map(str, arguments)])


def test_the_four_levels_count_prompts_and_requirements() -> None:
    rows = [
        {"strict": [False], "loose": [True]},
        {"strict": [True, False], "loose": [True, False]},
        {"strict": [True, True], "loose": [True, True]},
    ]
    # Prompts: strictly only the third of three, loosely the first as well. Requirements: 3 and 4 of 5.
    found = {name: figure["estimate"] for name, figure in levels(rows, 0).items()}
    assert found == {
        "prompt strict": 0.3333,
        "prompt loose": 0.6667,
        "instruction strict": 0.6,
        "instruction loose": 0.8,
    }


def test_perfect_responses_score_1_and_spoiled_ones_less() -> None:
    rows = [{"strict": [n % 10 > 0], "loose": [True]} for n in range(40)]
    found = levels(rows, 200)
    assert found["prompt loose"]["estimate"] == 1.0
    assert found["prompt strict"]["estimate"] == 0.9  # four of forty are spoiled
    assert found["prompt strict"]["low"] < 0.9 < found["prompt strict"]["high"]


def test_run_writes_rows_and_figures_and_prints_them(tmp_path: Path) -> None:
    folder, responses = data(tmp_path / "data", ROWS), written(tmp_path / "said.jsonl", RESPONSES)
    result = bench(folder, "run", "ifeval", "--responses", responses, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert re.search(r"prompt strict +0\.000", result.stdout)
    results = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))["sets"]["ifeval"]
    assert (results["prompts"], results["answered"]) == (2, 2)
    assert results["levels"]["instruction loose"]["estimate"] == 0.6667  # two of three
    assert results["rules"][COMMA] == {"required": 2, "strict": 1, "loose": 2}
    lines = [json.loads(line) for line in (tmp_path / "out/rows/ifeval.jsonl").read_text("utf-8").splitlines()]
    assert [(line["id"], line["strict"], line["loose"]) for line in lines] == [
        ("1", [False], [True]),
        ("2", [True, False], [True, False]),
    ]


def test_prompts_without_a_response_are_left_out_and_named(tmp_path: Path) -> None:
    folder, responses = data(tmp_path / "data", ROWS), written(tmp_path / "said.jsonl", RESPONSES[:1])
    result = bench(folder, "run", "ifeval", "--responses", responses, "--out", tmp_path / "out")
    assert result.exit_code == 3
    assert "prompts without a response: 1 of 2" in result.stderr


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "has no row"),
        ([{"prompt": "No commas."}], 'the row has no "response"; its keys are prompt'),
        ([{"prompt": "Other.", "response": "Done."}], "not one of the 2 prompts of ifeval"),
        ([RESPONSES[0], RESPONSES[0]], "already has a response"),
    ],
)
def test_responses_that_cannot_be_used_are_refused(tmp_path: Path, rows: list[dict[str, Any]], problem: str) -> None:
    folder, responses = data(tmp_path / "data", ROWS), written(tmp_path / "said.jsonl", rows)
    result = bench(folder, "run", "ifeval", "--responses", responses, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert problem in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_damaged_set_gives_no_figures(tmp_path: Path) -> None:
    folder = data(tmp_path / "data", [*ROWS, {**ROWS[0], "prompt": "x", "kwargs": []}])
    responses = written(tmp_path / "said.jsonl", RESPONSES)
    result = bench(folder, "run", "ifeval", "--responses", responses, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "line 3" in result.stderr
    assert "repair ifeval/input_data.jsonl" in result.stderr


def test_it_is_run_alone_and_with_responses(tmp_path: Path) -> None:
    folder = data(tmp_path / "data", ROWS)
    assert "pass --responses FILE" in bench(folder, "run", "ifeval", "--out", tmp_path / "out").stderr
    both = bench(folder, "run", "ifeval", "wice", "--responses", "x.jsonl", "--out", tmp_path / "out")
    assert "run them separately" in both.stderr


def test_validate_and_list_know_it(tmp_path: Path) -> None:
    sound = bench(data(tmp_path / "sound", ROWS), "validate", "ifeval")
    assert (sound.exit_code, sound.stdout) == (0, "ifeval, test: valid\n")
    broken = [*ROWS, ROWS[0], {**ROWS[0], "prompt": "x", "kwargs": [{"num_words": 3}]}, {**ROWS[0], "kwargs": []}]
    folder = data(tmp_path / "broken", broken)
    faulty = bench(folder, "validate", "ifeval")
    assert faulty.exit_code == 3
    assert "row 1: another row has the same prompt" in faulty.stdout
    assert "line 4: punctuation:no_comma: unknown argument 'num_words'" in faulty.stdout
    assert [isinstance(one, Fault) for one in DATA_SETS["ifeval"].rows(folder, "test")] == [False] * 3 + [True] * 2
    assert ": 4 faults\n" in faulty.stdout  # the id of the first row, too, occurs twice
    assert "ifeval: 541 prompts" in bench(folder, "list").stdout


def test_without_the_prompts_it_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="to get it, download input_data"):
        [*DATA_SETS["ifeval"].rows(tmp_path, "test")]
