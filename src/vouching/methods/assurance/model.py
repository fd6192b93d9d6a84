"""Language models as verifier, generator and approver of structured work (DPA-GRPO, section 2 and App. F).

The prompts are Vouch's own; the roles and the JSON are those of the paper's App. F. Untrusted text is delimited, the
constant part first, so that a server with a prefix cache reads the records once. A prompt shows the unit's own rules,
or all if it names none, and everything that was submitted before.

A verifier's reply that cannot be read is neither a case nor silence: the verifier is asked again once, and then the
unit is Unverified. A generator's is data: no draft, no revision, or a proposal that is kept. Not supported: majority
votes of several verifiers, and truncating records to fit a prompt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, Protocol, TypeAlias

from vouching.errors import ConfigError
from vouching.judging.ask import Replies, Unread, ask
from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.judging.schemas import Schema, token_limit
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.reply import (
    case_json,
    case_schema,
    choice_schema,
    line_json,
    line_schema,
    read_case,
    read_choice,
    read_line,
    read_reply,
    whole_text,
)
from vouching.methods.assurance.rules import Review, Reviewed, case_of_nothing, covered, review_by_rules
from vouching.methods.assurance.values import same_value, value_text
from vouching.models.base import Message, Model, Sampling
from vouching.prompts import load_prompt
from vouching.types import Claim, Proposal, SafetyCase, Unverified

Role: TypeAlias = Literal["draft", "review", "revise", "approve"]
"""The generator drafts and revises, the verifier reviews, the approver approves."""
_PACKAGE = __package__ or ""
_TASKS: Mapping[Role, str] = {
    "draft": "Fill in the entry.",
    "review": "Is the proposed value exactly right?",
    "revise": "Give your value for the entry now.",
    "approve": "KEEP or REVISE?",
}


def unit_messages(
    role: Role,
    state: UnitState,
    proposal: Proposal | None = None,
    case: SafetyCase | None = None,
    revision: Proposal | None = None,
) -> tuple[Message, Message]:
    """The prompt of one role at a unit; ``proposal`` is None if it could not be read."""
    task, unit = state.task, state.unit
    blocks = {"work": task.description or task.id, "input records": _json(task.data)}
    if task.tables:
        blocks["tables"] = _json(task.tables)
    blocks["submitted so far (context_so_far)"] = _json(state.document["context_so_far"])
    if task.rules:
        blocks["rules"] = "\n".join(f"{name}: {task.rules[name].text}" for name in unit.rules or task.rules)
    entry: dict[str, Any] = {"form": unit.form, "line": unit.id, "type": unit.type, "description": unit.description}
    blocks["entry"] = _json(entry | ({"choices": [*unit.choices]} if unit.choices else {}))
    if role != "draft":
        blocks["proposal"] = "(none that can be read)" if proposal is None else _json(line_json(proposal, unit))
    if case is not None:
        blocks["case"] = _json(case_json(case, unit))
    if revision is not None:
        blocks["revision"] = _json(line_json(revision, unit))
    system = load_prompt(_PACKAGE, f"prompts/{role}").text.strip()
    return Message("system", system), Message("user", f"{delimited(blocks)}\n\n{_TASKS[role]}")


@cache
def prompt_digest() -> str:
    """SHA-256 of everything constant in the prompts, for the record of a run."""
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in (*_TASKS, "again")]
    return hashlib.sha256("\0".join([*texts, *_TASKS.values(), delimiter_prompt().text]).encode()).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class AssuranceConfig:
    """How models are sampled; the defaults are the paper's. Raises ConfigError for a value out of range."""

    temperature: float = 0.2
    """Of drafts, reviews and choices."""
    top_p: float = 0.9
    """Of all roles."""
    candidates: int = 5
    """K: revisions that are drawn after a case."""
    revision_temperature: float = 0.7
    max_tokens: int | None = None
    """Of a reply; None: what the longest that its schema allows takes."""
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise ConfigError(f"candidates must be at least 1, got {self.candidates}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, got {self.max_tokens}")
        _ = self.sampling(choice_schema()), self.revising(choice_schema())

    def sampling(self, schema: Schema) -> Sampling:
        """For drafts, reviews and choices."""
        limit = token_limit(self.max_tokens, schema)
        return Sampling(limit, self.temperature, self.top_p, seed=self.seed, json_schema=schema)

    def revising(self, schema: Schema) -> Sampling:
        """For all K revisions at once."""
        return replace(self.sampling(schema), temperature=self.revision_temperature, n=self.candidates)


class UnitVerifier(Protocol):
    """Raises a case against a proposal, or stays silent."""

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """A case, silence, or Unverified. Raises ModelError for a failure that a retry may fix."""
        ...


class UnitGenerator(Protocol):
    """Proposes values, revises them, and chooses which one to submit."""

    async def draft(self, state: UnitState) -> tuple[Proposal | None, str]:
        """x; None if it cannot be read, and then why."""
        ...

    async def revisions(self, state: UnitState, proposal: Proposal | None, case: SafetyCase) -> Sequence[Proposal]:
        """The candidates for z that can be read."""
        ...

    async def approve(
        self, state: UnitState, proposal: Proposal | None, case: SafetyCase, revision: Proposal
    ) -> tuple[bool, str]:
        """Whether the revision is submitted, and why."""
        ...


class ModelVerifier:
    """A language model that reviews proposals."""

    def __init__(self, model: Model, config: AssuranceConfig | None = None) -> None:
        self.model = model
        self.config = config or AssuranceConfig()

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """The model's review of a proposal. Raises ModelError if it is temporarily unavailable."""
        shown = "no value" if proposal is None else value_text(proposal.value)
        claim = Claim(f"{state.unit.id} is {shown}", id=state.unit.id)

        def read(replies: Replies) -> Review:
            return Review(read_case(whole_text(replies[-1]), state.unit), self.model.name)

        def again(fault: str) -> str:
            return load_prompt(_PACKAGE, "prompts/again").fill(fault=fault).strip()

        sampling = self.config.sampling(case_schema(state.unit))
        [found] = await ask(self.model, unit_messages("review", state, proposal), sampling, read, again)
        if isinstance(found, Unread):
            return found.unverified(claim, "the verifier's reply neither raises a case nor accepts the value: {}")
        return found

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


class AssuranceVerifier:
    """Executable rules where there are any, a language model for the rest.

    A unit that executable rules decide in part is checked by them first, and by the model if they find nothing. A
    proposal that cannot be read is a case without a review. Without a model, units with rules in words are Unverified.
    """

    def __init__(self, model: UnitVerifier | None = None) -> None:
        self._model = model

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """A case, silence or Unverified. Raises ModelError if the model is temporarily unavailable."""
        extent = covered(state)
        found = review_by_rules(state, proposal)
        if extent == "all" or (isinstance(found, Review) and found.case is not None):
            return found
        if proposal is None:
            return Review(case_of_nothing(state))
        if self._model is not None:
            return await self._model.review(state, proposal)
        if isinstance(found, Unverified):
            return found
        shown = value_text(proposal.value)
        what = "the unit has no executable rule" if extent == "none" else "some rules of the unit are in words only"
        message = f"{what}: pass a language model (--model), or write the rules as expressions"
        return Unverified(Claim(f"{state.unit.id} is {shown}", id=state.unit.id), "undecided", message)

    async def aclose(self) -> None:
        """Close the model, if there is one."""
        if isinstance(self._model, ModelVerifier):
            await self._model.aclose()


def open_assurance(model: str | Model = "embedded", config: AssuranceConfig | None = None) -> AssuranceVerifier:
    """The verifier of units; "embedded" is executable rules alone. Raises ConfigError for an unknown model."""
    if isinstance(model, str):
        if model == "embedded":
            return AssuranceVerifier()
        from vouching.models.open import open_model

        model = open_model(model)
    return AssuranceVerifier(ModelVerifier(model, config))


class ModelGenerator:
    """A language model that proposes and revises, and the approver, the same model under a third prompt."""

    def __init__(self, model: Model, config: AssuranceConfig | None = None) -> None:
        self.model = model
        self.config = config or AssuranceConfig()

    async def draft(self, state: UnitState) -> tuple[Proposal | None, str]:
        """x; None if it cannot be read, and then why. Raises ModelError if the model gives no reply."""
        sampling = self.config.sampling(line_schema(state.unit))
        [reply] = await self.model.generate(unit_messages("draft", state), sampling)
        return read_reply(reply, lambda text: read_line(text, state.unit))

    async def revisions(self, state: UnitState, proposal: Proposal | None, case: SafetyCase) -> list[Proposal]:
        """Those of K candidates that can be read. Raises ModelError if the model gives no reply."""
        messages = unit_messages("revise", state, proposal, case)
        replies = await self.model.generate(messages, self.config.revising(line_schema(state.unit)))
        found = (read_reply(one, lambda text: read_line(text, state.unit))[0] for one in replies)
        return [one for one in found if one is not None]

    async def approve(
        self, state: UnitState, proposal: Proposal | None, case: SafetyCase, revision: Proposal
    ) -> tuple[bool, str]:
        """The choice, KEEP if it cannot be read or both values are equal. Raises ModelError without a reply."""
        if proposal is not None and same_value(proposal.value, revision.value):
            return False, "the best revision has the same value as the proposal"
        messages = unit_messages("approve", state, proposal, case, revision)
        [reply] = await self.model.generate(messages, self.config.sampling(choice_schema()))
        choice, fault = read_reply(reply, read_choice)
        return choice or (False, f"the approver's reply cannot be read: {fault}")
