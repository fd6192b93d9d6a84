"""MARCH's agent loop and score for verl: played on servers that answer by a script, and found as verl finds them."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recipes.blinded import verl_agent
from recipes.blinded.verl_agent import ServerSampler, play_row
from vouching.errors import InputError, MissingExtraError
from vouching.integrations.verl import blinded_score
from vouching.methods.blinded.game import BlindedGame

ROW = {"question": "How long is the bridge?", "sources": ["The bridge is 6 km long."]}


class Servers:
    """A loop's tokenizer and servers: tokens are characters, what is said depends on what is asked."""

    def __init__(self, length: str, limit: int = 200) -> None:
        self.length, self.asked = length, list[dict[str, Any]]()
        self.rollout_config = SimpleNamespace(response_length=limit)
        self.tokenizer = SimpleNamespace(decode=lambda ids, skip_special_tokens: "".join(map(chr, ids)))
        self.server_manager = self

    async def ct_build_initial_tokens(self, messages: list[dict[str, str]]) -> list[int]:
        return [ord(letter) for message in messages for letter in message["content"]]

    async def generate(self, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Any:
        text = "".join(map(chr, prompt_ids))
        self.asked.append({"id": request_id, **sampling_params})
        said = f"Response: It is {self.length} long."
        if "questions>>>" in text:
            said = '1. Evidence: "6 km" [Answer: 6 km]'
        elif "answer>>>" in text:
            said = f"- Question: How long is the bridge? [Answer: {self.length}]"
        return SimpleNamespace(token_ids=[ord(letter) for letter in said], log_probs=[-0.5] * len(said))


@pytest.mark.parametrize(("length", "reward"), [("6 km", 0.0), ("5 km", -1.0)])
@pytest.mark.parametrize("learner", ["solver", "checker"])
def test_a_row_gives_the_trajectory_of_its_learner_with_the_terminal_reward(
    length: str, reward: float, learner: str
) -> None:
    servers = Servers(length)
    sampler = ServerSampler(servers, {"temperature": 0.6})
    one = asyncio.run(play_row(BlindedGame(), sampler, {**ROW, "learner": learner}))
    assert (one.role, one.reward.total if one.reward else None) == (learner, reward)
    assert one.text.startswith("Response" if learner == "solver" else "1. Evidence")
    assert one.sampling_logprobs == (-0.5,) * len(one.completion_ids)
    # A solver, a proposer, three checkers, each a request of its own.
    assert len({call["id"] for call in servers.asked}) == 5
    assert {call["temperature"] for call in servers.asked} == {0.6}


def test_a_checker_that_nobody_asked_leaves_the_row_to_the_solver() -> None:
    one = asyncio.run(play_row(BlindedGame(), ServerSampler(Servers("very"), {}), {**ROW, "learner": "checker"}))
    assert one.role == "solver"


def test_what_is_too_long_is_cut_and_says_so() -> None:
    one = asyncio.run(play_row(BlindedGame(), ServerSampler(Servers("6 km", limit=12), {}), ROW))
    assert (len(one.completion_ids), one.finish_reason) == (12, "length")


def test_an_unknown_learner_and_a_row_without_documents_are_named() -> None:
    with pytest.raises(InputError, match="unknown learner 'proposer' in extra_info; expected one of solver, checker"):
        asyncio.run(play_row(BlindedGame(), ServerSampler(Servers("6 km"), {}), {**ROW, "learner": "proposer"}))
    with pytest.raises(InputError, match='the row has no "sources"'):
        asyncio.run(blinded_score("", "It is.", None, {"question": "How long?"}))


def test_a_response_is_scored_by_the_embedded_auditor() -> None:
    right = asyncio.run(blinded_score("", "Response: It is 6 km long.\nAnswer: 6 km", None, ROW))
    assert (right["score"], right["acc"], right["questions"]) == (0.0, 1.0, 1.0)
    wrong = asyncio.run(blinded_score("", "It is 5 km long.", None, ROW, scale="0/1"))
    assert (wrong["score"], wrong["acc"]) == (0.0, 0.0)
    assert asyncio.run(blinded_score("", "", None, ROW))["score"] == -1.0
    assert right.keys() == wrong.keys()  # verl stacks them into one table


def test_without_verl_the_loop_says_what_to_install() -> None:
    if find_spec("verl") is not None:
        pytest.skip("verl is installed")
    with pytest.raises(MissingExtraError, match="the agent loop of the blinded game needs the module 'verl'"):
        _ = verl_agent.BlindedAgentLoop


def test_verl_finds_the_loop_by_the_path_that_the_recipe_gives() -> None:
    base = pytest.importorskip("verl.experimental.agent_loop.agent_loop", reason="verl is not installed")
    recipe = (Path(__file__).parents[2] / "recipes/blinded/verl.yaml").read_text(encoding="utf-8")
    assert "_target_: verl_agent.BlindedAgentLoop" in recipe
    assert issubclass(verl_agent.BlindedAgentLoop, base.AgentLoopBase)
