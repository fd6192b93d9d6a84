"""OpenRLHF's own client of a remote reward (``--remote_rm_url``) asks the HTTP API of ``vouch serve``.

The client is ``SingleTurnAgentExecutor`` of openrlhf/utils/agent.py (github.com/OpenRLHF/OpenRLHF): it decodes prompt
and reply together, with special tokens, and posts ``query``, ``prompts`` and ``labels``. Only the sampling of a reply,
which needs vLLM, is replaced.
"""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from tests.integrations.bare_package import module_of
from tests.serve.served import policy, served
from vouching.integrations.trl import trl_reward

PROMPT = "<|im_start|>user\nDoes the source support the claim?<|im_end|>\n<|im_start|>assistant\n"


class Tokenizer:
    """A token per character."""

    def __call__(self, text: str, **_: Any) -> dict[str, Any]:
        return {"input_ids": [SimpleNamespace(tolist=lambda: [ord(character) for character in text])]}

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return "".join(map(chr, tokens))


def rewarded(url: str, reply: str, label: Any) -> dict[str, Any]:
    """What OpenRLHF learns about a reply."""

    async def generate(*_: Any, **__: Any) -> Any:
        said = SimpleNamespace(token_ids=[ord(c) for c in reply], finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[said])

    agent = module_of("openrlhf.utils.agent", "openrlhf", "openrlhf.utils")
    executor = agent.SingleTurnAgentExecutor(f"{url}/v1/reward/structured")
    sampling = SimpleNamespace(max_tokens=500, logprobs=None)
    engine = SimpleNamespace(generate=generate)
    return asyncio.run(executor.execute(PROMPT, label, sampling, 2000, Tokenizer(), engine))


@pytest.mark.parametrize("label", ["Attributable", json.dumps({"gold": "Attributable"})])
@pytest.mark.parametrize("reply", ['{"label": "yes"}', "no idea", '{"label": "yes"}<|im_end|>'])
def test_openrlhf_learns_the_reward_and_its_parts(reply: str, label: str) -> None:
    [here] = trl_reward("structured")(completions=[reply.removesuffix("<|im_end|>")], gold=["Attributable"])
    with served(policy()) as (url, _):
        learnt = rewarded(url, reply, label)
    assert learnt["reward"] == learnt["scores"] == [here]
    assert learnt["extra_logs"]["label"] == [float("yes" in reply)]


def test_a_reply_that_cannot_be_scored_has_no_reward_in_openrlhf(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        """OpenRLHF tries five times, a second apart."""

    agent = module_of("openrlhf.utils.agent", "openrlhf", "openrlhf.utils")
    monkeypatch.setattr(agent, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": at_once}))
    with served(policy()) as (url, _):
        learnt = rewarded(url, '{"label": "yes"}', "maybe")
    assert (learnt["reward"], learnt["scores"], learnt["extra_logs"]) == (None, None, {})
