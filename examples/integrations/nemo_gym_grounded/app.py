"""A resources server of NeMo Gym: the reward of an answer is the share of its claims that its evidence supports.

The evidence is what was known when the answer was given: the row's documents, and the results of tools in the rollout.
"""

from typing import Any

from fastapi.concurrency import run_in_threadpool
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseRunRequest,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ReverifyMode,
    SimpleResourcesServer,
)
from pydantic import Field

from vouching import BackendError, check_trace
from vouching.types import Report


class GroundedConfig(BaseResourcesServerConfig):
    """Settings in configs/grounded_answers.yaml."""

    REVERIFY_MODE = ReverifyMode.STATELESS
    model: str = "embedded"
    """The judge, as for vouch check."""
    without_claims: float = 0.0
    """Reward of an answer that states nothing: higher teaches to abstain, and to say nothing."""


class GroundedRequest(BaseRunRequest):
    """A row."""

    documents: list[str | dict[str, Any]] = Field(default_factory=list)
    """Texts, or objects with text and id."""


class GroundedVerifyRequest(GroundedRequest, BaseVerifyRequest):
    """A rollout to score."""


class GroundedVerifyResponse(BaseVerifyResponse):
    """Its reward, and the findings that explain it."""

    claims: int = 0
    supported: int = 0
    reasons: list[str] = Field(default_factory=list)


class GroundedServer(SimpleResourcesServer):
    """Scores answers; a failed judge masks the sample, and is never a reward."""

    config: GroundedConfig

    async def verify(self, body: GroundedVerifyRequest) -> GroundedVerifyResponse:
        """The reward of the last answer of a rollout, in [0, 1]."""
        asked = body.responses_create_params.model_dump(mode="json", exclude_none=True)["input"]
        asked = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        said = body.response.model_dump(mode="json", exclude_none=True)["output"]
        # What the model said before is no evidence, and is not scored again.
        asked = [one for one in asked if one.get("role") != "assistant"]
        trace = {"documents": body.documents, "input": asked, "output": said}
        try:
            reports = await run_in_threadpool(check_trace, trace, model=self.config.model)
        except BackendError as error:
            return self._masked(body, str(error))
        return self._scored(body, reports[-1] if reports else None)

    def _scored(self, body: GroundedVerifyRequest, report: Report | None) -> GroundedVerifyResponse:
        if report is None or not report.findings:
            return GroundedVerifyResponse(**body.model_dump(), reward=self.config.without_claims)
        totals, claims = report.totals, len(report.findings)
        reasons = [f"{one.claim.text} {one.fix_suggestion or one.label or ''}".strip() for one in report.findings]
        if totals.unverified:
            return self._masked(body, f"{totals.unverified} of {claims} claims could not be judged", reasons)
        reward = totals.attributable / claims
        counted = {"claims": claims, "supported": totals.attributable, "reasons": reasons}
        return GroundedVerifyResponse(**body.model_dump(), reward=reward, **counted)

    def _masked(
        self, body: GroundedVerifyRequest, reason: str, reasons: list[str] | None = None
    ) -> GroundedVerifyResponse:
        failed = {"mask_sample": True, "failure_kind": "judge_failed", "failure_reason": reason}
        return GroundedVerifyResponse(**body.model_dump(), reward=0.0, reasons=reasons or [], **failed)


if __name__ == "__main__":
    GroundedServer.run_webserver()
