"""Responses that a language model writes for a set, and that the set's task scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recipes.bench.generate import Request, Writer, requests_of, write_responses
from recipes.bench.run import app
from recipes.bench.sets import ANSWERS, SOLVED
from tests.bench.test_ifeval import ROWS, bench, data
from vouching.bench.catalog import DATA_SETS
from vouching.errors import InputError, ModelRefusedError, ModelUnavailableError
from vouching.models import ScriptedModel
from vouching.models.base import Completion
from vouching.types import Usage


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def math_folder(folder: Path) -> Path:
    path = folder / "math_500" / "test.jsonl"
    path.parent.mkdir(parents=True)
    rows = [
        {
            "problem": f"What is {n} + {n}?",
            "solution": "",
            "answer": str(2 * n),
            "subject": "Algebra",
            "level": 1,
            "unique_id": f"test/{n}.json",
        }
        for n in (1, 2)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder


def test_ifevals_prompts_are_asked_as_they_are_and_its_task_scores_the_file(tmp_path: Path) -> None:
    folder = data(tmp_path / "data", ROWS)
    requests = requests_of(DATA_SETS["ifeval"], folder)
    assert [one.prompt for one in requests] == [row["prompt"] for row in ROWS]
    model = ScriptedModel({"quoted": '"Fine."', ".": "Fine."})
    done, report = write_responses(requests, tmp_path / "responses.jsonl", Writer(model))
    assert done
    assert report == [f"2 responses in {tmp_path / 'responses.jsonl'}"]
    result = bench(folder, "run", "ifeval", "--responses", tmp_path / "responses.jsonl", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    figures = json.loads((tmp_path / "run/results.json").read_text())["sets"]["ifeval"]
    assert figures["levels"]["prompt strict"]["estimate"] == 1.0  # no commas, and quoted where asked


def test_several_responses_of_a_problem_share_its_id_and_have_seeds_of_their_own(tmp_path: Path) -> None:
    requests = requests_of(SOLVED["math_500"], math_folder(tmp_path))
    assert requests[0].prompt.endswith("put your final answer within \\boxed{}.")
    model = ScriptedModel(lambda messages, sampling: f"\\boxed{{{sampling.seed}}}")
    write_responses(requests, tmp_path / "out.jsonl", Writer(model, generations=2, temperature=0.6, seed=7))
    made = lines(tmp_path / "out.jsonl")
    assert [(one["id"], one["response"]) for one in made] == [
        ("test/1.json", "\\boxed{7}"),
        ("test/1.json", "\\boxed{8}"),
        ("test/2.json", "\\boxed{7}"),
        ("test/2.json", "\\boxed{8}"),
    ]


def test_an_interrupted_file_is_resumed_and_asks_only_what_is_missing(tmp_path: Path) -> None:
    requests = [Request(str(n), f"Say {n}.", {"id": str(n)}) for n in range(6)]
    broken = ScriptedModel(lambda messages, _: ModelUnavailableError("down") if "4" in messages[-1].content else "ok")
    done, _ = write_responses(requests, tmp_path / "out.jsonl", Writer(broken))
    assert not done
    sound = ScriptedModel({".": "ok"})
    done, _ = write_responses(requests, tmp_path / "out.jsonl", Writer(sound), resume=True)
    assert done
    assert len(sound.asked) < len(requests)
    assert [one["id"] for one in lines(tmp_path / "out.jsonl")] == [one.id for one in requests]


def test_a_response_that_was_cut_off_is_kept_and_counted_and_thoughts_are_not_part_of_it(tmp_path: Path) -> None:
    cut = Completion("<think>Two and two.</think>It is", "length", Usage())
    done, report = write_responses(
        [Request("1", "2+2?", {"id": "1"})], tmp_path / "out.jsonl", Writer(ScriptedModel([cut]))
    )
    assert done
    assert report[1] == "1 were cut off at 4,096 tokens"
    [line] = lines(tmp_path / "out.jsonl")
    assert (line["response"], line["finish_reason"]) == ("It is", "length")


def test_sets_that_are_answered_and_judged_in_one_run_point_there(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "bench/data/facts_grounding", tmp_path / "facts_grounding")
    with pytest.raises(InputError, match=r"use  run\.py answers facts_requests --model NAME"):
        requests_of(ANSWERS["facts_requests"], tmp_path)


def test_the_command_needs_a_temperature_for_several_responses(tmp_path: Path) -> None:
    folder = data(tmp_path / "data", ROWS)
    model, output = "http://127.0.0.1:1/v1#m", str(tmp_path / "out.jsonl")
    result = CliRunner(env={"VOUCH_DATA": str(folder)}).invoke(
        app, ["generate", "ifeval", "--model", model, "--generations", "2", "--output", output]
    )
    assert result.exit_code == 2
    assert "requires --temperature above 0" in " ".join(result.output.split())


def test_a_request_that_the_model_refuses_is_set_aside_with_the_reason(tmp_path: Path) -> None:
    model = ScriptedModel({"bomb": ModelRefusedError("content filter"), ".": "ok"})
    requests = [Request("1", "A bomb.", {"id": "1"}), Request("2", "A bridge.", {"id": "2"})]
    done, report = write_responses(requests, tmp_path / "out.jsonl", Writer(model))
    assert report[-1] == f"1 requests failed; see {tmp_path / 'out.rejected.jsonl'}"
    assert [one["id"] for one in lines(tmp_path / "out.jsonl")] == ["2"]
    assert "content filter" in lines(tmp_path / "out.rejected.jsonl")[0]["problem"]
    assert not done
