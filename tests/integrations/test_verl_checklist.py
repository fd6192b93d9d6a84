"""Soft-RLVR's reward for verl and verifiers, with a judge behind a real socket."""

from __future__ import annotations

import asyncio
import importlib
from types import SimpleNamespace

import pytest

from tests.cli.chat_server import chat_server
from tests.integrations.bare_package import module_of
from vouching.errors import BackendError, ConfigError, InputError
from vouching.integrations.verifiers import checklist
from vouching.integrations.verl import checklist_score

ROW = {"prompt": "Name a bridge in Japan.", "checklist": ["Is a bridge named?", "Is it long?"]}


def judge(prompt: str) -> str:
    """Yes to the first question, no to the second."""
    return "yes" if "Is a bridge named?" in prompt else "no"


def test_the_score_comes_with_every_part() -> None:
    # Half of the items pass: R = .5 * 1/2. Called as verl's NaiveRewardManager calls, from a loop of its own each time.
    with chat_server(judge) as name:
        for _ in range(2):
            scored = asyncio.run(
                checklist_score(data_source="a", solution_str="Akashi", ground_truth="", extra_info=ROW, judge=name)
            )
            assert scored == {"score": 0.25, "acc": 0.0, "s": 0.5, "strict": 0.0, "yes": 0.5, "unclear": 0.0}


def test_thoughts_are_not_judged() -> None:
    with chat_server(lambda prompt: "no" if "hm" in prompt else "yes") as name:
        scored = asyncio.run(checklist_score("a", "<think>hm</think>Akashi", "", ROW, judge=name))
    assert scored["score"] == 1.0


def test_a_judge_that_fails_raises() -> None:
    with chat_server(lambda prompt: 500) as name, pytest.raises(BackendError):
        asyncio.run(checklist_score("a", "Akashi", "", ROW, judge=name))
    with chat_server(lambda prompt: "who knows") as name, pytest.raises(BackendError, match="unparsable"):
        asyncio.run(checklist_score("a", "Akashi", "", ROW, judge=name))


def test_a_row_without_an_instruction_is_named() -> None:
    with pytest.raises(InputError, match='has no value for "instruction", "prompt" or "messages"'):
        asyncio.run(checklist_score("a", "Akashi", "", {}, judge="http://localhost:1/v1#judge"))


def test_a_missing_judge_and_a_missing_checklist_are_named() -> None:
    # Without a list the judge would make one of its own for each reply, and replies would not be compared by the same.
    with pytest.raises(ConfigError, match=r"requires a judge: pass one, for example \+reward\.custom_reward_function"):
        asyncio.run(checklist_score("a", "Akashi", "", ROW))
    with pytest.raises(InputError, match="has no checklist"):
        asyncio.run(checklist_score("a", "Akashi", "", {"prompt": "Name."}, judge="http://localhost:1/v1#judge"))
    with chat_server(lambda prompt: "yes") as name:
        scored = asyncio.run(checklist_score("a", "Akashi", "", {"prompt": "Name."}, judge=name, holistic=True))
    assert scored["score"] == 1.0


def test_verifiers_gets_the_same_with_the_parts_as_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics: dict[str, float] = {}
    trace = SimpleNamespace(last_reply="Akashi", record_metrics=metrics.update)
    with chat_server(judge) as name:
        monkeypatch.setenv("VOUCH_MODEL", name)
        assert asyncio.run(checklist(task=SimpleNamespace(**ROW), trace=trace)) == 0.25
    assert metrics["checklist/s"] == 0.5
    monkeypatch.delenv("VOUCH_MODEL")
    with pytest.raises(ConfigError, match="set VOUCH_MODEL"):
        asyncio.run(checklist(task=SimpleNamespace(**ROW), trace=trace))


def test_a_real_task_is_scored_by_the_plugged_function(monkeypatch: pytest.MonkeyPatch) -> None:
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")

    class Data(vf.TaskData):
        checklist: list[str]

    class Respond(vf.Task[Data]):
        pass

    config = vf.TaskConfig(rewards={"soft": {"fn": "vouching.integrations.verifiers:checklist"}})
    task = Respond(Data(**ROW), config)
    trace = vf.Trace.model_construct(rewards={}, metrics={}, nodes=[], root_reply="Akashi")
    with chat_server(judge) as name:
        monkeypatch.setenv("VOUCH_MODEL", name)
        asyncio.run(task.score(trace))
    assert trace.rewards["soft"].score == 0.25


def test_verl_finds_it_by_the_path_that_the_docstring_shows() -> None:
    loader = module_of("verl.utils.import_utils", "verl", "verl.utils", DataProto=object)
    found = loader.load_extern_object(module_path="pkg://vouching.integrations.verl", object_name="checklist_score")
    assert found is importlib.import_module("vouching.integrations.verl").checklist_score
