"""Options that limit a language model: the time for a reply, its tokens, and those of the context."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.chat_server import chat_server
from tests.methods.scripts import RIGHT, SOURCE, reply
from tests.models.fault_server import FaultServer, of_json
from vouching.cli.app import app
from vouching.cli.streams import Exit

CLAIM = "The bridge opened in 1973."


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VOUCH_TIMEOUT", "VOUCH_CONTEXT", "VOUCH_MAX_TOKENS", "VOUCH_PROGRESS", "VOUCH_CACHE"):
        monkeypatch.setenv(name, "")


def test_a_model_that_takes_longer_than_the_timeout_is_told_with_the_option_that_helps() -> None:
    def answer(prompt: str) -> str:
        time.sleep(1)
        return reply(RIGHT)

    words = ["check", "The bridge opened to traffic in 1973.", "--source-text", SOURCE, "--model"]
    with chat_server(answer) as model:
        late = CliRunner().invoke(app, [*words, model, "--timeout", "0.2"])
        done = CliRunner().invoke(app, [*words, model, "--timeout", "60"])
    assert (late.exit_code, done.exit_code) == (Exit.INCOMPLETE, Exit.OK)
    assert "did not answer within 0.2" in late.stderr
    assert "--timeout" in late.stderr
    assert late.stderr.count("\n") == 1


def test_a_timeout_that_is_none_is_refused() -> None:
    words = ["check", CLAIM, "--source-text", "It opened in 1973.", "--model", "http://localhost:1/v1#m"]
    refused = CliRunner().invoke(app, [*words, "--timeout", "soon"])
    assert refused.exit_code == Exit.USAGE
    assert "the seconds of a whole reply, such as 900" in refused.stderr


def test_the_context_that_is_given_cuts_the_windows(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("The river is wide at this place. " * 300 + "The bridge opened in 1973.", encoding="utf-8")
    asked: list[int] = []

    def answer(prompt: str) -> str:
        asked.append(len(prompt))
        return reply(RIGHT)

    with chat_server(answer) as model:
        words = ["check", CLAIM, "--source", str(source), "--model", model, "--json", "--context"]
        assert json.loads(CliRunner().invoke(app, [*words, "20000"]).stdout)["label"] == "Attributable"
        assert len(asked) == 1
        assert json.loads(CliRunner().invoke(app, [*words, "3000"]).stdout)["label"] == "Attributable"
    assert len(asked) > 3
    assert max(asked[1:]) < 3_000 * 4
    assert os.environ["VOUCH_CONTEXT"] == "3000"


CUT = {"choices": [{"index": 0, "message": {"content": "It seems"}, "finish_reason": "length"}]}


@pytest.mark.parametrize("words", [["context", "When did it open?"], ["check", CLAIM]])
def test_every_command_limits_replies_and_says_how_to_allow_longer_ones(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tried(*limits: str) -> tuple[str, set[int]]:
        async def main() -> tuple[str, set[int]]:
            async with FaultServer(lambda request: of_json(CUT)) as server:
                asking = [*words, "--source-text", SOURCE, "--model", f"{server.url}#m", *limits]
                shown = await asyncio.to_thread(CliRunner().invoke, app, asking)
                return shown.output, {one.body["max_tokens"] for one in server.requests if one.body}

        return asyncio.run(main())

    shown, limits = tried()
    assert "--max-tokens" in shown
    assert limits == {1024}
    assert tried("--max-tokens", "50")[1] == {50}
    monkeypatch.setenv("VOUCH_MAX_TOKENS", "60")
    assert tried()[1] == {60}
    assert tried("--max-tokens=50")[1] == {50}


def test_a_command_that_waits_for_its_judge_says_so_again_and_again(tmp_path: Path) -> None:
    def answer(prompt: str) -> str:
        time.sleep(2)
        return reply(RIGHT)

    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"claim": CLAIM, "source": SOURCE}) + "\n", encoding="utf-8")
    with chat_server(answer) as model:
        alone = ["check", CLAIM, "--source-text", SOURCE, "--model", model, "--progress", "0.6"]
        batch = ["check", "--input", str(rows), "--output", str(tmp_path / "out.jsonl"), "--model", model]
        said = CliRunner().invoke(app, alone).stderr.splitlines()
        told = CliRunner().invoke(app, ["--progress", "0.6", *batch]).stderr.splitlines()
        quiet = CliRunner().invoke(app, [*alone[:-1], "60"]).stderr
    assert said[:2] == ["vouch: checking: no answer for 1 s", "vouch: checking: no answer for 1 s"]
    assert told[:2] == ["vouch: 0 rows, no further one for 1 s", "vouch: 0 rows, no further one for 1 s"]
    assert quiet == ""


def test_a_batch_that_waits_for_one_row_says_how_many_later_ones_are_answered(tmp_path: Path) -> None:
    free = threading.Event()

    def answer(prompt: str) -> str:
        if "row 1 " in prompt:
            free.wait(30)
        return reply(RIGHT)

    rows = tmp_path / "rows.jsonl"
    lines = [{"id": str(n), "claim": CLAIM, "source": f"This is row {n} of three. {SOURCE}"} for n in (1, 2, 3)]
    rows.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    threading.Timer(4, free.set).start()
    with chat_server(answer) as model:
        batch = ["check", "--input", str(rows), "--output", str(tmp_path / "out.jsonl"), "--model", model]
        told = CliRunner().invoke(app, ["--progress", "1", *batch]).stderr.splitlines()
    assert "vouch: 0 rows, no further one for 2 s; 2 later ones wait for it" in told
