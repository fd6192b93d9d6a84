"""The data set, the prompt, the reward and its metrics."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf

from vouching.integrations.verifiers import trace_reward
from vouching.judging.windows import Excerpt
from vouching.methods.structured.prompt import structured_prompt
from vouching.types import Claim

HARNESS = "vouch-claims-chat"


class ClaimData(vf.TaskData):
    """A row of the data set."""

    claim: str
    source: str
    gold: Literal["Attributable", "Not Attributable"]


class ClaimTaskConfig(vf.TaskConfig):
    """Settings of the reward: --env.taskset.task.*."""

    variant: str = "grounded"
    """Rules of the reward: grounded, paper, released, binary or binary-format."""


class ClaimTask(vf.Task[ClaimData, vf.State, ClaimTaskConfig]):
    """A claim to judge."""

    @vf.reward(weight=1.0)
    async def record(self, trace: vf.Trace) -> float:
        """The reward of the record; its parts are metrics structured/PART."""
        return await trace_reward("structured", variant=self.config.variant)(self.data, trace)

    @vf.metric
    async def words(self, trace: vf.Trace) -> float:
        """Length of the reply, which shows early if a policy learns to say less."""
        return float(len(trace.last_reply.split()))


class ClaimsConfig(vf.TasksetConfig):
    """Settings of the data set: --env.taskset.*."""

    rows: Path = Path(__file__).with_name("claims.jsonl")
    """Rows with claim, source and gold."""
    wording: Literal["ours", "short", "paper"] = "short"
    """The prompt."""
    task: ClaimTaskConfig = ClaimTaskConfig()


class ClaimsTaskset(vf.Taskset[ClaimTask, ClaimsConfig]):
    """Claims with their sources and gold labels."""

    def load(self) -> Iterator[ClaimTask]:
        """The tasks, in the order of the rows."""
        asked = structured_prompt(wording=self.config.wording)
        for line in self.config.rows.read_text(encoding="utf-8").splitlines():
            row: dict[str, Any] = json.loads(line)
            system, user = asked.messages(Claim(row["claim"]), [Excerpt(1, row["source"])])
            fields = {name: row[name] for name in ("claim", "source", "gold")}
            yield ClaimTask(
                ClaimData(id=row.get("id"), prompt=user.content, system_prompt=system.content, **fields),
                self.config.task,
            )


def load_environment(**settings: Any) -> vf.Env:
    """The environment, for evaluation or training; ``settings`` are those of :class:`ClaimsConfig`."""
    agent = vf.AgentConfig(harness=vf.HarnessConfig(id=HARNESS), runtime=vf.SubprocessConfig())
    return vf.load_environment(
        vf.SingleAgentEnvConfig(taskset=ClaimsConfig(id="vouch-claims", **settings), agent=agent)
    )
