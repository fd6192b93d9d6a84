"""Rewards over HTTP in the forms of three trainers: the numbers are those of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2

from tests.serve.served import policy, served
from vouching import Client
from vouching.errors import ConfigError, InputError
from vouching.integrations.trl import trl_reward

REPLIES = ['{"label": "yes"}', "no idea", '{"label": "no"}']
GOLD = ["Attributable", "Attributable", "Not Attributable"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(policy()) as (address, _):
        yield address


@pytest.fixture(scope="module")
def here() -> list[float | None]:
    """The rewards of the adapter for TRL, which needs no server."""
    return trl_reward("structured")(prompts=["p"] * 3, completions=REPLIES, gold=GOLD)


def test_a_reward_function_for_trl_gets_the_numbers_of_the_adapter(url: str, here: list[float | None]) -> None:
    def remote(prompts: list[str], completions: list[str], gold: list[str], **_: Any) -> list[float | None]:
        rows = [{"response": reply, "gold": label} for reply, label in zip(completions, gold, strict=True)]
        with Client(url) as client:
            return [line.get("total") for line in client.reward("structured", rows)]

    assert remote(prompts=["p"] * 3, completions=REPLIES, gold=GOLD) == here


@pytest.mark.parametrize("labels", [GOLD, [{"gold": label} for label in GOLD], [json.dumps({"gold": g}) for g in GOLD]])
def test_openrlhf_sends_whole_texts_and_reads_rewards_scores_and_logs(
    url: str, here: list[float | None], labels: list[Any]
) -> None:
    prompts = ["Judge. "] * 3
    queries = [prompt + reply for prompt, reply in zip(prompts, REPLIES, strict=True)]
    sent = {"query": queries, "prompts": prompts, "labels": labels}
    answer = httpx2.post(f"{url}/v1/reward/structured", json=sent).json()
    assert answer["rewards"] == answer["scores"] == here
    assert all(len(values) == 3 for values in answer["extra_logs"].values())
    assert answer["extra_logs"]


def test_verl_sends_the_arguments_of_compute_score_and_reads_one_reward(url: str, here: list[float | None]) -> None:
    for reply, label, expected in zip(REPLIES, GOLD, here, strict=True):
        sent = {"data_source": "d", "solution_str": reply, "ground_truth": label, "extra_info": {"index": 3}}
        assert httpx2.post(f"{url}/v1/reward/structured", json=sent).json()["reward"] == expected


def test_a_row_that_cannot_be_scored_has_no_reward_and_a_reason(url: str) -> None:
    with Client(url) as client:
        good, bad = client.reward("structured", [{"response": "x", "gold": "Attributable"}, {"gold": "Attributable"}])
    assert good["total"] == 0.0
    assert bad["total"] is None
    assert bad["problem"]


def test_a_trainer_without_a_place_for_a_missing_reward_gets_an_error(url: str) -> None:
    answer = httpx2.post(f"{url}/v1/reward/structured", json={"query": ["a"], "prompts": [""], "labels": ["maybe"]})
    assert answer.status_code == 422
    assert "reply 1 has no reward" in answer.json()["detail"]
    short = httpx2.post(f"{url}/v1/reward/structured", json={"query": ["a", "b"], "labels": ["Attributable"]})
    assert "labels has 1 entries, but query has 2" in short.json()["detail"]


def test_a_label_that_is_nested_too_deeply_is_refused(url: str) -> None:
    sent = {"query": ["a"], "labels": ['{"gold":' * 60_000]}
    answer = httpx2.post(f"{url}/v1/reward/structured", json=sent)
    assert answer.status_code == 422
    assert "nested more than 50 levels" in answer.json()["detail"]


def test_an_unknown_method_or_setting_is_named(url: str) -> None:
    with Client(url) as client:
        with pytest.raises(InputError, match="unknown reward method"):
            client.reward("nothing", [{"response": "a"}])
        with pytest.raises(ConfigError, match="did you mean 'variant'"):
            client.reward("structured", [{"response": "a"}], varient="grounded")
