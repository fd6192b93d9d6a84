# pyright: basic
r"""MARCH for verl: an agent loop that plays solver, proposer and blind checkers on verl's servers, for its PPO.

    PYTHONPATH=recipes/blinded python -m verl.trainer.main_ppo algorithm.adv_estimator=gae algorithm.gamma=0.998 \
        data.return_raw_chat=True \
        actor_rollout_ref.rollout.agent.agent_loop_config_path=recipes/blinded/verl.yaml \
        actor_rollout_ref.rollout.agent.default_agent_loop=blinded data.train_files=march.parquet ...

A row's ``extra_info`` has ``question``, ``sources`` and ``learner``, "solver" or "checker": verl trains one trajectory
per row, so MARCH's two come from two rows with the same question, each played separately. Rows that verl samples
itself, as in validation, are rewarded by ``verl.blinded_score``. Written for verl 0.9.1. Not supported: images, and
both trajectories of one play, which ``vouch train blinded`` trains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast
from uuid import uuid4

from vouching.errors import InputError, MissingExtraError
from vouching.methods.blinded.game import BlindedGame
from vouching.methods.blinded.reward import BlindedRules, Scale
from vouching.models.base import Message
from vouching.models.running import all_of
from vouching.types import Rollout


class ServerSampler:
    """verl's servers as a sampler, with the tokenizer, servers and length limit of an agent loop."""

    def __init__(self, loop: Any, sampling: Mapping[str, Any]) -> None:
        self._loop, self._sampling = loop, dict(sampling)

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """Completions, all sampled concurrently."""
        found = await all_of(self._one(prompt, role, temperature) for prompt in prompts for _ in range(n))
        return [found[at : at + n] for at in range(0, len(found), n)]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """This game has no teacher-forced completions."""
        raise NotImplementedError

    async def _one(self, prompt: Sequence[Message], role: str, temperature: float | None) -> Rollout:
        loop, sampling = self._loop, self._sampling
        if temperature is not None:
            sampling = {**sampling, "temperature": temperature}
        asked = await loop.ct_build_initial_tokens([{"role": one.role, "content": one.content} for one in prompt])
        reply = await loop.server_manager.generate(
            request_id=uuid4().hex, prompt_ids=asked, sampling_params=dict(sampling)
        )
        limit = loop.rollout_config.response_length
        ids = tuple(reply.token_ids[:limit])
        logprobs = tuple(reply.log_probs[:limit]) if reply.log_probs else None
        reason = "length" if len(reply.token_ids) >= limit else "stop"
        text = loop.tokenizer.decode(ids, skip_special_tokens=True)
        return Rollout(role, tuple(asked), ids, (1,) * len(ids), logprobs, reason, text=text)


async def play_row(game: BlindedGame, sampler: Any, row: Mapping[str, Any]) -> Rollout:
    """The trajectory that a row trains: its learner's, or the solver's if there were no questions.

    The game must sample one response per question. Raises InputError for an unknown learner or a row that cannot be
    played.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> row = {"question": "How long is it?", "sources": ["It is 6 km long."], "learner": "checker"}
    >>> says = {"solver": "It is 6 km long.", "proposer": "- Question: How long? [Answer: 6 km]",
    ...         "checker": "1. [Answer: 6 km]"}
    >>> one = asyncio.run(play_row(BlindedGame(), ScriptedSampler(lambda prompt, role, number: says[role]), row))
    >>> one.role, one.reward.total
    ('checker', 0.0)
    """
    learner = row.get("learner", "solver")
    if learner not in ("solver", "checker"):
        raise InputError(f"unknown learner {learner!r} in extra_info; expected one of solver, checker")
    play = await game.play(sampler, [row])
    by_role = {group.role: group.rollouts[0] for group in play.groups}
    return by_role.get(learner, by_role["solver"])


def __getattr__(name: str) -> Any:
    """``BlindedAgentLoop``, made when verl asks for it by name."""
    if name == "BlindedAgentLoop":
        return _loop_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _loop_class() -> Any:
    try:
        engine = import_module("verl.experimental.agent_loop.agent_loop")
    except ModuleNotFoundError as error:
        raise MissingExtraError("", "the agent loop of the blinded game", "verl") from error

    class BlindedAgentLoop(engine.AgentLoopBase):
        """Plays a row and returns one trajectory with its terminal reward."""

        def __init__(self, *args: Any, votes: int = 3, scale: str = "-1/0", min_questions: int = 3, **kwargs: Any):
            super().__init__(*args, **kwargs)
            self._game = BlindedGame(votes=votes, rules=BlindedRules(cast("Scale", scale), "units", min_questions))

        async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> Any:
            """A trajectory in verl's format."""
            one = await play_row(self._game, ServerSampler(self, sampling_params), kwargs["extra_info"])
            assert one.reward is not None
            return engine.AgentLoopOutput(
                prompt_ids=[*one.prompt_ids],
                response_ids=[*one.completion_ids],
                response_mask=[*one.completion_mask],
                reward_score=one.reward.total,
                num_turns=2,
                metrics={},
                response_logprobs=None if one.sampling_logprobs is None else [*one.sampling_logprobs],
                extra_fields={"reward_extra_info": dict(one.reward.parts), "turn_scores": [], "tool_rewards": []},
            )

    return BlindedAgentLoop
