"""What LiteLLM and promptfoo get from the proxy; tests/integrations asks it with both packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.upstream import proxy_before
from vouching.inputs import as_sources
from vouching.serve.proxy_hooks import LITELLM, KeptRequests
from vouching.serve.proxy_messages import Asked

WRONG, RIGHT = "The bridge opened in 1937.", "The bridge opened in 1973."
NOWHERE = "http://127.0.0.1:9/v1"
"""Neither hook asks the upstream server."""
BEFORE: dict[str, Any] = {
    "input_type": "request",
    "litellm_call_id": "1",
    "texts": ["When?"],
    "structured_messages": [{"role": "tool", "content": RIGHT}, {"role": "user", "content": "When?"}],
}
"""What LiteLLM 1.110 sends before a call; after it there are no messages, but the same id."""
AFTER: dict[str, Any] = {"input_type": "response", "litellm_call_id": "1", "texts": [WRONG]}


@pytest.fixture(scope="module")
def repairing() -> Iterator[str]:
    """The root of a proxy that repairs."""
    with proxy_before(NOWHERE, action="repair") as url:
        yield url.removesuffix("/v1")


def litellm(root: str, body: Any) -> Any:
    return httpx2.post(root + LITELLM, json=body).json()


def promptfoo(root: str, body: Any, **settings: Any) -> Any:
    return httpx2.post(f"{root}/promptfoo", json=body, **settings).json()


def test_litellm_gets_an_answer_for_the_documents_of_the_same_call(repairing: str) -> None:
    assert litellm(repairing, AFTER) == {"action": "NONE"}  # nothing is known yet
    assert litellm(repairing, BEFORE) == {"action": "NONE"}
    for _ in range(2):  # a stream is asked about several times
        assert litellm(repairing, AFTER) == {"action": "GUARDRAIL_INTERVENED", "texts": [RIGHT]}
    assert litellm(repairing, {**AFTER, "litellm_call_id": "2"}) == {"action": "NONE"}
    given = {**AFTER, "litellm_call_id": "2", "additional_provider_specific_params": {"sources": [RIGHT]}}
    assert litellm(repairing, given) == {"action": "GUARDRAIL_INTERVENED", "texts": [RIGHT]}


def test_litellm_gets_a_reason_for_a_block_and_an_error_for_what_cannot_be_read(repairing: str) -> None:
    with proxy_before(NOWHERE, action="block") as url:
        root = url.removesuffix("/v1")
        litellm(root, BEFORE)
        blocked = litellm(root, AFTER)
    assert blocked["action"] == "BLOCKED"
    assert "Change 1937 to 1973." in blocked["blocked_reason"]
    with proxy_before(NOWHERE, undocumented="block") as url:
        assert litellm(url.removesuffix("/v1"), AFTER)["blocked_reason"] == "the request has no documents"
    two = {"sources": [RIGHT], "contexts": [RIGHT]}
    for body in ({"texts": []}, [], {**AFTER, "additional_provider_specific_params": two}):
        assert httpx2.post(repairing + LITELLM, json=body).status_code == 400
    foreign = httpx2.post(repairing + LITELLM, json=BEFORE, headers={"origin": "https://example.org"})
    assert foreign.status_code == 403


def test_the_oldest_calls_are_dropped_and_a_call_that_comes_again_counts_once() -> None:
    kept = KeptRequests(characters=60)
    asked = {call: Asked(None, as_sources(call * 25)) for call in "abc"}
    for call in ("a", "a", "b"):
        kept.keep(call, asked[call])
    assert (kept.of("a"), kept.of("b")) == (asked["a"], asked["b"])  # 2 * 26 characters
    kept.keep("c", asked["c"])
    assert (kept.of("a").sources, kept.of("b"), kept.of("c")) == ((), asked["b"], asked["c"])


def test_promptfoo_gets_pass_score_and_reason(repairing: str) -> None:
    for output, passed in ((RIGHT, True), (WRONG, False), ({"answer": RIGHT}, True)):
        answered = promptfoo(repairing, {"output": output, "context": {"vars": {"context": RIGHT}}})
        assert (answered["pass"], answered["score"]) == (passed, float(passed)), answered


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"output": RIGHT}, 'has no "sources"'),
        ({"output": RIGHT, "context": {"vars": {"context": RIGHT, "question": 7}}}, "question must be a string, got 7"),
        ([], "not a JSON object"),
    ],
)
def test_promptfoo_learns_why_an_output_was_not_checked(repairing: str, body: Any, words: str) -> None:
    answered = promptfoo(repairing, body)
    assert (answered["pass"], answered["score"]) == (False, 0)
    assert words in answered["reason"]


def test_promptfoos_hook_does_not_answer_pages_of_other_origins(repairing: str) -> None:
    right = {"output": RIGHT, "context": {"vars": {"context": RIGHT}}}
    answered = promptfoo(repairing, right, headers={"origin": "https://example.org"})
    assert (answered["pass"], "another origin" in answered["reason"]) == (False, True)
