"""What a language model and its server support, by what they say and by three short calls.

A server that cannot do something often does not say so: it ignores a schema or drops a system message. So each ability
is tried, and judged by what comes back: a reply that keeps to a schema of which its prompt does not speak, and a prompt
that has more tokens with a system message than without. Not supported: tools, images, and prompts that a server cuts
without a word beyond its context.
"""

from __future__ import annotations

from dataclasses import dataclass

from vouching.errors import ModelRefusedError
from vouching.judging.schemas import json_fields, one_of, record
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.models.limits import context_of, facts_of
from vouching.models.wrappers import Wrapper

_TOKENS = 400
"""Limit of a short reply, with room for a short thought."""
_RULES = "You answer in one short sentence, in English, without a greeting, and you never ask a question back. " * 4
_QUESTION = Message("user", "What is the capital of France?")


@dataclass(frozen=True, slots=True)
class Support:
    """What a model and its server were seen to do; None for what could not be seen."""

    context: int | None
    """Tokens of a prompt and its reply, as set or as the server reports."""
    slots: int | None
    """Calls that the server works on at once, as it reports."""
    schema: bool
    """Whether a reply keeps to a JSON schema of which its prompt does not speak."""
    logprobs: bool
    """Whether log-probabilities come with a reply."""
    system: bool | None
    """Whether a system message reaches the model, in its own turn or in that of the user; None without token counts."""
    usage: bool
    """Whether replies come with their numbers of tokens."""
    thinks: bool
    """Whether the model thinks before it answers a simple question."""


async def support_of(model: Model) -> Support:
    """Try a model. Raises ModelError or ConfigError if it does not answer a plain question."""
    [said] = await model.generate([_QUESTION], Sampling(_TOKENS))
    [instructed] = await model.generate([Message("system", _RULES), _QUESTION], Sampling(1))
    counted = bool(said.usage.prompt_tokens and instructed.usage.prompt_tokens)
    more = instructed.usage.prompt_tokens - said.usage.prompt_tokens
    facts = await facts_of(model)
    return Support(
        context=await context_of(model),
        slots=facts.slots,
        schema=await _keeps_to_schema(model),
        logprobs=await _has_logprobs(model),
        system=2 * more > len(_RULES.split()) if counted else None,
        usage=counted,
        thinks=_thinks(said),
    )


async def served_by(model: Model) -> tuple[str, ...]:
    """The names of the models on the server of a model, through any wrappers; empty if it does not list them."""
    ask = getattr(_inside(model), "served", None)
    return () if ask is None else await ask()


def refused_by(model: Model) -> tuple[str, ...]:
    """What the server of a model has refused and is no longer sent; see ``HttpModel.refused``."""
    return tuple(getattr(_inside(model), "refused", ()))


async def _keeps_to_schema(model: Model) -> bool:
    schema = record(answer=one_of("yes", "no"))
    [said] = await model.generate([_QUESTION], Sampling(_TOKENS, json_schema=schema))
    return json_fields(said.text).get("answer") in {"yes", "no"}


async def _has_logprobs(model: Model) -> bool:
    try:
        [said] = await model.generate([_QUESTION], Sampling(1, logprobs=True))
    except ModelRefusedError:
        return False
    return said.logprobs is not None


def _thinks(said: Completion) -> bool:
    """Whether there are thoughts in a reply, or many more tokens than it can have without some that were removed."""
    return spoken(said.text) != said.text or said.usage.completion_tokens > len(said.text) + 20


def _inside(model: Model) -> Model:
    """The model inside all wrappers."""
    while isinstance(model, Wrapper):
        model = model.model
    return model
