"""Language models as verifier, as generator and as approver of structured work (DPA-GRPO, 2 and App. F).

Own words; the roles and the JSON are those of the paper's App. F. Everything foreign stands between fence lines, the
constant part first, so that a server that keeps prefixes reads the records once. Of the rules the unit's own are shown,
or all where it names none; of what was submitted everything.

A verifier's reply that cannot be read is neither a case nor silence: it is asked for once more, and then the unit is
Unverified. A generator's is data: no draft, no revision, or a proposal that is kept. Not here: training, which samples
these roles by itself (``game.py``); not supported: several verifiers that vote, and records cut to fit a prompt.
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
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.reply import (
    case_json,
    line_json,
    read_case,
    read_choice,
    read_line,
    read_said,
    whole_text,
)
from vouching.methods.assurance.rules import Review, Reviewed, case_of_nothing, covered, review_by_rules
from vouching.methods.assurance.values import same_value, value_text
from vouching.models.base import Message, Model, Sampling
from vouching.prompts import load_prompt
from vouching.types import Claim, Proposal, SafetyCase, Unverified

Role: TypeAlias = Literal["draft", "review", "revise", "approve"]
"""Who is asked: the generator for a draft or a revision, the verifier for a review, the approver for its choice."""
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
    """What one role is asked at a unit.

    Args:
        role: who is asked.
        state: what is known.
        proposal: x; None where there is none that can be read.
        case: the case against it, for the generator and the approver.
        revision: z, for the approver.

    >>> from vouching.types import Task, TaskUnit
    >>> state = UnitState(Task("t", {"a": 1}, {}, (TaskUnit("x", "number"),)), TaskUnit("x", "number"), {})
    >>> system, user = unit_messages("draft", state)
    >>> system.content.splitlines()[0], user.content.splitlines()[-1]
    ('You fill in one entry of a form or report.', 'Fill in the entry.')
    """
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
    """SHA-256 of all that is constant in the questions, for the record of a run."""
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
    """Of the same."""
    candidates: int = 5
    """K: revisions that are drawn after a case."""
    revision_temperature: float = 0.7
    """Of revisions."""
    max_tokens: int = 1024
    """Length of a reply, in tokens; a model that thinks needs more."""
    seed: int | None = None
    """Of the sampling."""

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise ConfigError(f"candidates must be at least 1, got {self.candidates}")
        for check in (self.sampling, self.revising):
            check()

    def sampling(self) -> Sampling:
        """For drafts, reviews and choices."""
        return Sampling(self.max_tokens, self.temperature, self.top_p, seed=self.seed)

    def revising(self) -> Sampling:
        """For revisions, all K at once."""
        return Sampling(self.max_tokens, self.revision_temperature, self.top_p, self.candidates, self.seed)


class UnitVerifier(Protocol):
    """Says what is wrong with a proposal, or nothing."""

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """A case, silence, or Unverified. Raises ModelError for a failure that may pass."""
        ...


class UnitGenerator(Protocol):
    """Proposes values, revises them, and chooses which one to submit."""

    async def draft(self, state: UnitState) -> tuple[Proposal | None, str]:
        """x; None if there is none that can be read, and then why not."""
        ...

    async def revisions(self, state: UnitState, proposal: Proposal | None, case: SafetyCase) -> Sequence[Proposal]:
        """Candidates for z, those that can be read."""
        ...

    async def approve(
        self, state: UnitState, proposal: Proposal | None, case: SafetyCase, revision: Proposal
    ) -> tuple[bool, str]:
        """Whether the revision is submitted, and why."""
        ...


class ModelVerifier:
    """A language model that reviews proposals.

    Args:
        model: what is asked.
        config: how.
    """

    def __init__(self, model: Model, config: AssuranceConfig | None = None) -> None:
        self.model = model
        self.config = config or AssuranceConfig()

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """What the model says about a proposal. Raises ModelError if it is out of reach for now."""
        shown = "no value" if proposal is None else value_text(proposal.value)
        claim = Claim(f"{state.unit.id} is {shown}", id=state.unit.id)

        def read(replies: Replies) -> Review:
            return Review(read_case(whole_text(replies[-1]), state.unit), self.model.name)

        def again(fault: str) -> str:
            return load_prompt(_PACKAGE, "prompts/again").fill(fault=fault).strip()

        [found] = await ask(self.model, unit_messages("review", state, proposal), self.config.sampling(), read, again)
        if isinstance(found, Unread):
            return found.unverified(claim, "the verifier's reply is neither a case nor silence: {}")
        return found

    async def aclose(self) -> None:
        """Let go of the model."""
        await self.model.aclose()


class AssuranceVerifier:
    """Executable rules where there are any, a language model for the rest.

    A unit of which rules decide a part is first put to these, and to the model if they find nothing. Where there is no
    value that can be read nobody is asked: that is a case.

    Args:
        model: the verifier for rules in words; None leaves such units Unverified.
    """

    def __init__(self, model: UnitVerifier | None = None) -> None:
        self._model = model

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """A case, silence or Unverified. Raises ModelError if the model is out of reach for now."""
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
        what = "it has no executable rule" if extent == "none" else "some of its rules are in words only"
        message = f"{what}: name a language model to judge it (--model), or write the rules as expressions"
        return Unverified(Claim(f"{state.unit.id} is {shown}", id=state.unit.id), "undecided", message)

    async def aclose(self) -> None:
        """Let go of the model, if there is one."""
        if isinstance(self._model, ModelVerifier):
            await self._model.aclose()


def open_assurance(model: str | Model = "embedded", config: AssuranceConfig | None = None) -> AssuranceVerifier:
    """The verifier of units: executable rules, and a language model for rules in words if one is named.

    Args:
        model: the model, or its name; "embedded" for the rules alone.
        config: how it is sampled.

    Raises:
        ConfigError: a wrong name.
    """
    if isinstance(model, str):
        if model == "embedded":
            return AssuranceVerifier()
        from vouching.models.open import open_model

        model = open_model(model)
    return AssuranceVerifier(ModelVerifier(model, config))


class ModelGenerator:
    """A language model that proposes and revises, and the approver, the same model under a third prompt.

    Args:
        model: what is asked.
        config: how.
    """

    def __init__(self, model: Model, config: AssuranceConfig | None = None) -> None:
        self.model = model
        self.config = config or AssuranceConfig()

    async def draft(self, state: UnitState) -> tuple[Proposal | None, str]:
        """x; None if the reply holds none, and then why not. Raises ModelError if the model gives no reply."""
        [said] = await self.model.generate(unit_messages("draft", state), self.config.sampling())
        return read_said(said, lambda text: read_line(text, state.unit))

    async def revisions(self, state: UnitState, proposal: Proposal | None, case: SafetyCase) -> list[Proposal]:
        """Those of K candidates that can be read. Raises ModelError if the model gives no reply."""
        messages = unit_messages("revise", state, proposal, case)
        said = await self.model.generate(messages, self.config.revising())
        found = (read_said(one, lambda text: read_line(text, state.unit))[0] for one in said)
        return [one for one in found if one is not None]

    async def approve(
        self, state: UnitState, proposal: Proposal | None, case: SafetyCase, revision: Proposal
    ) -> tuple[bool, str]:
        """The choice: KEEP where it cannot be read; between equal values nobody is asked.

        Raises:
            ModelError: the model gives no reply.
        """
        if proposal is not None and same_value(proposal.value, revision.value):
            return False, "the best revision has the same value"
        messages = unit_messages("approve", state, proposal, case, revision)
        [said] = await self.model.generate(messages, replace(self.config.sampling(), n=1))
        choice, fault = read_said(said, read_choice)
        return choice or (False, f"the approver's reply cannot be read: {fault}")
