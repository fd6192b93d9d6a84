"""LlamaIndex: an evaluator of responses, and a node postprocessor that puts the evidence for a claim first.

    VouchEvaluator().evaluate_response(query="When?", response=response)
    index.as_query_engine(node_postprocessors=[EvidencePostprocessor()])

An answer that could not be judged is an invalid result; a node that could not be is kept or dropped by ``unverified``,
also if the judge is out of reach. Tested with llama-index-core 0.14.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from vouching.checker import run
from vouching.errors import BackendError
from vouching.integrations.judged_text import ajudge_text, shared_checker
from vouching.judging.verifier import Outcome
from vouching.models.running import all_of

__all__ = ["EvidencePostprocessor", "VouchEvaluator"]


class VouchEvaluator(BaseEvaluator):
    """Scores a response by the share of its claims that the contexts support."""

    def __init__(self, model: str = "embedded", threshold: float = 0.5) -> None:
        self._model, self._threshold = model, threshold

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        """There are none."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """The result for a response and its contexts, both of which are needed."""
        if not response or not contexts:
            raise ValueError("response and contexts must be given")
        judged = await ajudge_text(response, [*contexts], query, model=self._model, threshold=self._threshold)
        unknown = judged.value is None
        return EvaluationResult(
            query=query,
            response=response,
            contexts=[*contexts],
            passing=judged.passed,
            score=judged.value,
            feedback=judged.reason,
            invalid_result=unknown,
            invalid_reason=judged.reason if unknown else None,
        )


class EvidencePostprocessor(BaseNodePostprocessor):
    """Orders nodes by whether they support or contradict the query, read as a claim, and by how surely they support it.

    Nodes that the judge failed on keep their score and come last, or are dropped. ``top_n`` keeps the first ones.
    """

    model: str = "embedded"
    top_n: int | None = None
    unverified: Literal["keep", "drop"] = "keep"

    @classmethod
    def class_name(cls) -> str:
        """Name in stored configurations."""
        return "EvidencePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None or not nodes:
            return nodes[: self.top_n]
        claim = query_bundle.query_str
        outcomes = run(all_of(self._judged(claim, node) for node in nodes))
        ranked: list[tuple[int, float, NodeWithScore]] = []
        for node, outcome in zip(nodes, outcomes, strict=True):
            if outcome is not None and outcome.kind != "unverified":
                silent = int(outcome.relation == "not_found")
                ranked.append((silent, -outcome.score, NodeWithScore(node=node.node, score=outcome.score)))
            elif self.unverified == "keep":
                ranked.append((2, 0.0, node))
        return [node for _, _, node in sorted(ranked, key=lambda one: one[:2])][: self.top_n]

    async def _judged(self, claim: str, node: NodeWithScore) -> Outcome | None:
        """The outcome of the claim against a node; None if the judge is out of reach."""
        try:
            return await shared_checker(self.model).acheck(claim, [node])
        except BackendError:
            return None
