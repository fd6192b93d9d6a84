"""LiteLLM's own client of the Generic Guardrail API asks ``vouch proxy``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("litellm", reason="litellm is not installed")
pytest.importorskip(
    "litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api", reason="without its proxy", exc_type=ImportError
)

from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import generic_guardrail_api as hook

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT
from tests.serve.upstream import proxy_before

WRONG, RIGHT = "The bridge opened in 1937.", "The bridge opened in 1973."
NOWHERE = "http://127.0.0.1:9/v1"


def guarded(url: str, text: str, *tools: str, **settings: Any) -> Any:
    """The texts that LiteLLM passes on; ``tools`` are what the tools of the request returned."""
    guardrail = hook.GenericGuardrailAPI(
        api_base=url.removesuffix("/v1"), guardrail_name="vouch", event_hook="post_call", default_on=True, **settings
    )
    messages = [{"role": "tool", "content": said, "tool_call_id": "t"} for said in tools]
    messages.append({"role": "user", "content": "When?"})
    inputs = {"texts": [text], "structured_messages": messages}
    asked = guardrail.apply_guardrail(
        inputs=inputs, request_data={"messages": messages}, input_type="response", logging_obj=None
    )
    return asyncio.run(asked)["texts"]


def test_an_answer_passes_is_repaired_or_blocked() -> None:
    for action, said in (("annotate", WRONG), ("repair", RIGHT)):
        with proxy_before(NOWHERE, action=action) as url:
            assert guarded(url, WRONG, RIGHT) == [said]
            assert guarded(url, RIGHT, RIGHT) == [RIGHT]
    with proxy_before(NOWHERE, action="block") as url:
        with pytest.raises(Exception, match="Change 1937 to 1973") as raised:
            guarded(url, WRONG, RIGHT)
        assert guarded(url, RIGHT, RIGHT) == [RIGHT]
    assert "guardrail" in type(raised.value).__name__.lower()


def test_sources_may_be_parameters_of_the_guardrail_and_a_failed_judge_is_policy() -> None:
    with proxy_before(NOWHERE, action="repair") as url:
        more = {"additional_provider_specific_params": {"contexts": [{"doc_id": "a", "text": "It opened in 1974."}]}}
        assert guarded(url, "The bridge opened in 1974.", **more) == ["The bridge opened in 1974."]
    with chat_server(lambda prompt: "who knows") as name:
        with proxy_before(NOWHERE, model=name) as url:
            assert guarded(url, RIGHT, RIGHT) == [RIGHT]
        with (
            proxy_before(NOWHERE, model=name, unverified="block", action="block") as url,
            pytest.raises(Exception, match=r"(?i)unparsable|verif"),
        ):
            guarded(url, RIGHT, RIGHT)


def test_the_example_names_the_guardrail_as_litellm_does() -> None:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    text = (ROOT / "examples/integrations/litellm_config.yaml").read_text(encoding="utf-8")
    [guardrail] = yaml.safe_load(text)["guardrails"]
    assert guardrail["litellm_params"]["guardrail"] == hook.GUARDRAIL_NAME
