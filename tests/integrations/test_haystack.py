"""The component for Haystack, in a real pipeline that is stored and read again."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("haystack", reason="haystack-ai is not installed")

from haystack import Document, Pipeline

from tests.cli.chat_server import chat_server
from vouching.integrations.haystack import VouchChecker

DOCUMENTS = [Document(content="The bridge opened in 1973.", meta={"file_path": "bridge.txt"})]
REPLIES = ["The bridge opened in 1937.", "The bridge opened in 1973."]


def run(component: VouchChecker) -> dict[str, Any]:
    pipeline = Pipeline()
    pipeline.add_component("vouch", component)
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["vouching.integrations.haystack"])
    return again.run({"vouch": {"replies": REPLIES, "documents": DOCUMENTS}})["vouch"]


@pytest.mark.parametrize(
    ("action", "replies"),
    [("annotate", REPLIES), ("repair", [REPLIES[1], REPLIES[1]]), ("drop", [REPLIES[1]])],
)
def test_replies_are_annotated_repaired_or_dropped(action: Any, replies: list[str]) -> None:
    result = run(VouchChecker(action, model="embedded:rules"))
    assert result["replies"] == replies
    assert result["passed"] == [False, True]
    assert [one["score"] for one in result["judgements"]] == [0.0, 1.0]


def test_a_reply_that_could_not_be_judged_is_neither_passed_nor_failed() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        result = run(VouchChecker("drop", model=name))
    assert (result["replies"], result["passed"]) == ([], [None, None])
    assert [one["score"] for one in result["judgements"]] == [None, None]
