"""Recordings: the same completions again, with nothing to connect to."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.models.fault_server import FaultServer, says
from vouching.errors import ConfigError, InputError
from vouching.models import Completion, Message, Model, Sampling, ScriptedModel
from vouching.models.http import HttpModel
from vouching.models.record import Recording, Replay

ASK = (Message("user", "Is it?"),)
CALLS = (Sampling(), Sampling(temperature=1.0), Sampling(temperature=1.0), Sampling(n=2, seed=1))


async def answers(model: Model) -> list[list[Completion]]:
    said = [await model.generate(ASK, sampling) for sampling in CALLS]
    await model.aclose()
    return said


def test_a_replay_gives_the_same_completions_with_no_server(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    async def record() -> tuple[list[list[Completion]], str]:
        async with FaultServer([says("a"), says("b\u2028"), says("c", finish="length"), says("d", "e")]) as server:
            model = Recording(HttpModel(server.url, "m"), path)
            return await answers(model), model.name

    said, name = asyncio.run(record())
    replay = Replay(path)
    assert asyncio.run(answers(replay)) == said
    assert replay.name == name
    assert [[one.text for one in call] for call in said] == [["a"], ["b\u2028"], ["c"], ["d", "e"]]


def test_a_call_that_was_not_recorded_or_is_used_up_is_a_wrong_setting(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    asyncio.run(Recording(ScriptedModel(["Yes."]), path).generate(ASK, Sampling()))
    replay = Replay(path)
    with pytest.raises(ConfigError, match=r"no answer left for the call that ends with 'Is it\?'"):
        asyncio.run(replay.generate(ASK, Sampling(seed=1)))
    asyncio.run(replay.generate(ASK, Sampling()))
    with pytest.raises(ConfigError, match="no answer left"):
        asyncio.run(replay.generate(ASK, Sampling()))


def test_a_recording_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for text in ("first", "second"):
        asyncio.run(Recording(ScriptedModel([text]), path).generate(ASK, Sampling()))
    replay = Replay(path)
    said = [asyncio.run(replay.generate(ASK, Sampling()))[0].text for _ in range(2)]
    assert said == ["first", "second"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}\n", "line 1 is not a recorded call"),
        ("[1]\n", "line 1 is not a recorded call"),
        ('{"model": "m", "key": "k", "compl', "line 1 is not a recorded call"),
        ('{"model": "m", "key": "k", "completions": [{"text": "a"}]}\n', "line 1 contains no completions"),
        ("", "exactly one model, got no calls"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_its_line(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        Replay(path)


def test_a_file_of_two_models_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for name in ("one", "other"):
        asyncio.run(Recording(ScriptedModel(["Yes."], name), path).generate(ASK, Sampling()))
    with pytest.raises(InputError, match=r"calls to exactly one model, got one, other"):
        Replay(path)


def test_files_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        Recording(ScriptedModel([]), tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        Replay(tmp_path / "none.jsonl")


def test_a_recording_that_was_closed_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    model = Recording(ScriptedModel(["Yes.", "No."]), path)
    for _ in range(2):
        asyncio.run(model.generate(ASK, Sampling()))
        asyncio.run(model.aclose())
    replay = Replay(path)
    assert [asyncio.run(replay.generate(ASK, Sampling()))[0].text for _ in range(2)] == ["Yes.", "No."]
