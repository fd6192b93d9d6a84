"""The adapters for LlamaIndex, with its own responses and nodes."""

from __future__ import annotations

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core import Response
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from tests.cli.chat_server import chat_server
from vouching.integrations.llama_index import EvidencePostprocessor, VouchEvaluator

TEXTS = ["It rained all day.", "The bridge has two towers.", "The bridge opened in 1973."]
NODES = [NodeWithScore(node=TextNode(text=text, id_=f"n{number}"), score=0.5) for number, text in enumerate(TEXTS)]


def test_a_response_is_scored_against_its_source_nodes() -> None:
    response = Response("The bridge has two towers. The bridge opened in 1937.", source_nodes=NODES)
    result = VouchEvaluator().evaluate_response(query="What is it like?", response=response)
    assert (result.passing, result.score, result.invalid_result) == (False, 0.5, False)
    assert "Change 1937 to 1973." in (result.feedback or "")


def test_a_response_that_could_not_be_judged_is_invalid_and_has_no_score() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        result = VouchEvaluator(name).evaluate(response="It rained.", contexts=TEXTS)
    assert (result.passing, result.score, result.invalid_result) == (None, None, True)
    assert result.invalid_reason


def test_nodes_that_speak_about_the_claim_come_first() -> None:
    ranked = EvidencePostprocessor(top_n=2).postprocess_nodes(NODES, QueryBundle("The bridge opened in 1937."))
    assert ranked[0].node.node_id == "n2"
    assert len(ranked) == 2
    assert EvidencePostprocessor().postprocess_nodes(NODES, query_str="It rained.")[0].node.node_id == "n0"


@pytest.mark.parametrize("said", ["who knows", 503])
def test_nodes_that_could_not_be_judged_are_kept_last_or_dropped_by_policy(said: str | int) -> None:
    asked = {"query_str": "The bridge opened in 1973."}
    with chat_server(lambda prompt: said) as name:
        kept = EvidencePostprocessor(model=name).postprocess_nodes(NODES, **asked)
        dropped = EvidencePostprocessor(model=name, unverified="drop").postprocess_nodes(NODES, **asked)
    assert [(one.node.node_id, one.score) for one in kept] == [("n0", 0.5), ("n1", 0.5), ("n2", 0.5)]
    assert dropped == []
