"""The protocols in which models judge: both orders and consistent accuracy; two phases and several judges."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recipes.bench.judges import JudgeOptions, JudgeRow, JudgesTask, facts_figures, judge_row, pair_figures
from recipes.bench.run import app
from recipes.bench.sets import JUDGED
from tests.bench.samples import write_rows
from tests.cli.chat_server import chat_server
from vouching.bench.rows import Fault
from vouching.cli.streams import Exit
from vouching.errors import ConfigError, InputError, ModelRefusedError, ModelUnavailableError
from vouching.models import Sampling, ScriptedModel

PAIR = JudgeRow("p", "When?", "It opened in 1973.", ("In 1973.", "In 1937."), "faithfulness_qa")
ALONE = JudgeRow("r", "When?", "It opened in 1973.", ("In 1973.",))
FIRST, SECOND, LEVEL = ("Answer 1 > Answer 2", "Answer 2 > Answer 1", "Answer 1 = Answer 2")


def verdict(words: str) -> str:
    return f"One is better. <verdict>{words}</verdict>"


def judged(row: JudgeRow, *judges: ScriptedModel, votes: int = 1) -> dict[str, Any]:
    return asyncio.run(judge_row(row, judges, Sampling(n=votes)))


@pytest.mark.parametrize(
    ("forward", "backward", "consistent", "accuracy"),
    [
        (FIRST, SECOND, 1.0, 1.0),  # the better response, wherever it stands
        (FIRST, FIRST, 0.0, 0.5),  # the first, whatever it says
        (SECOND, FIRST, 0.0, 0.0),
        (FIRST, LEVEL, 0.0, 0.5),
        (FIRST, "I like both", 0.0, 0.5),
    ],
)
def test_a_judge_is_right_only_if_both_orders_are(
    forward: str, backward: str, consistent: float, accuracy: float
) -> None:
    line = judged(PAIR, ScriptedModel([verdict(forward), verdict(backward)], name="j"))
    found = pair_figures([line], "j", resamples=0)
    assert found["consistent_accuracy"]["estimate"] == consistent
    assert found["accuracy"]["estimate"] == accuracy


def test_the_better_response_stands_first_and_then_second() -> None:
    judge = ScriptedModel([verdict(FIRST)] * 2)
    judged(PAIR, judge)
    shown = [asked.last for asked in judge.asked]
    assert [text.index("In 1973.") < text.index("In 1937.") for text in shown] == [True, False]


def test_eight_votes_decide_each_order_and_a_tie_is_wrong() -> None:
    votes = [verdict(FIRST)] * 5 + [verdict(SECOND)] * 3 + [verdict(SECOND)] * 4 + [verdict(FIRST)] * 4
    line = judged(PAIR, ScriptedModel(votes, name="j"), votes=8)
    assert (line["forward"], line["backward"]) == ({"j": True}, {"j": False})


def test_a_response_is_disqualified_only_if_every_judge_finds_the_request_missed() -> None:
    strict, lax = (ScriptedModel(said, name=name) for name, said in (("a", ["no", "yes"]), ("b", ["yes", "no"])))
    line = judged(ALONE, strict, lax)
    assert line["eligible"] == {"a": False, "b": True}
    found = facts_figures([line], ["a", "b"], resamples=0)
    # Not disqualified; grounded by one of two judges.
    assert (found["disqualified"], found["factuality"]["estimate"]) == (0, 0.5)
    both = facts_figures([{**line, "eligible": {"a": False, "b": False}}], ["a", "b"], resamples=0)
    assert (both["disqualified"], both["unadjusted"]["estimate"], both["factuality"]["estimate"]) == (1, 0.5, 0.0)


@pytest.mark.parametrize("said", [["yes", "mostly"], ["mostly", "yes"], [ModelRefusedError("too long")]])
def test_a_judge_that_fails_says_nothing_of_the_response(said: list[Any]) -> None:
    lost = judged(ALONE, ScriptedModel(said, name="a"))
    supported = judged(ALONE, ScriptedModel(["yes", "yes"], name="a"))
    found = facts_figures([supported, lost], ["a"], resamples=0)
    # One of one that could be told, neither one of two nor disqualified.
    assert (found["factuality"]["estimate"], found["disqualified"], found["undecided"]) == (1.0, 0, 1)
    assert found["judges"] == {"a": {"factuality": 1.0, "unadjusted": 1.0}}
    alone = facts_figures([{**lost, "eligible": {}, "grounded": {}}], ["a"], resamples=0)
    assert (alone["factuality"]["estimate"], alone["undecided"]) == (None, 1)


def test_a_refusal_is_a_failed_row_and_a_judge_out_of_reach_stops() -> None:
    line = judged(PAIR, ScriptedModel([ModelRefusedError("too long")], name="j"))
    assert (line["failed"], line["forward"]) == ("too long", None)
    assert pair_figures([line], "j", resamples=0)["consistent_accuracy"]["estimate"] == 0.0
    with pytest.raises(ModelUnavailableError):
        judged(PAIR, ScriptedModel([ModelUnavailableError("busy")]))


def test_the_published_layouts_are_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra data (pyarrow) is not installed")
    from pyarrow import parquet

    folder = tmp_path / "contextual_judge_bench"
    folder.mkdir()
    row = {"question": "When?", "context": "In 1973.", "positive_response": "1973", "negative_response": "1937"}
    parquet.write_table(pa.Table.from_pylist([row, {**row, "context": " "}]), folder / "refusal_ans-0-of-1.parquet")
    good, bad = JUDGED["contextual_judge_bench"].rows(tmp_path, "test")
    assert isinstance(good, JudgeRow)
    assert (good.part, good.responses) == ("refusal_ans", ("1973", "1937"))
    assert isinstance(bad, Fault)
    assert '"context" must not be empty' in bad.problem


def test_judges_are_named_once_and_are_language_models() -> None:
    with pytest.raises(InputError, match="expected one or more different judges, got none"):
        JudgesTask(JudgeOptions(()), list)
    with pytest.raises(InputError, match="different judges, got a, a"):
        JudgesTask(JudgeOptions(("a", "a")), list)
    with pytest.raises(ConfigError):
        JudgesTask(JudgeOptions(("a",), votes=0), list)


def test_two_judges_over_a_real_socket(tmp_path: Path) -> None:
    data = tmp_path / "data"
    responses = [{"id": 1, "response": "In 1973."}, {"id": 9, "response": "x"}]
    write_rows(data / "facts_grounding" / "responses.jsonl", responses)
    with (data / "facts_grounding" / "examples.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["user_request", "context_document"], ["When?", "It opened in 1973."]])
    with chat_server(lambda asked: "yes") as one, chat_server(lambda a: "no" if "bear out" in a else "yes") as two:
        judges = ["--judge", one, "--judge", two]
        arguments = ["judge", "facts_grounding", *judges, "--out", str(tmp_path / "out")]
        result = CliRunner(env={"VOUCH_DATA": str(data)}).invoke(app, arguments)
    # The second row names no example: it is not counted, and the exit status says that something is missing.
    assert result.exit_code == Exit.INCOMPLETE, result.stderr
    found = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))["sets"]["facts_grounding"]
    assert [value["factuality"] for value in found["responses"]["judges"].values()] == [1.0, 0.0]
    assert found["responses"]["factuality"]["estimate"] == 0.5
    assert "grounded and not disqualified" in result.stdout
    assert (tmp_path / "out" / "report.html").exists()
