"""The methods and their parts, in one literal table.

A part is named as "module:attribute" and imported on first use, so that reading the table loads nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import Any, Literal, Protocol, TypeAlias, get_type_hints

from vouching.errors import ConfigError
from vouching.types import Reward, Unverified
from vouching.types.visible import hint


class RowReward(Protocol):
    """From a row, as a game's transcript has it, to its reward: what ``vouch reward`` writes for the row."""

    def __call__(self, row: Mapping[str, Any], **settings: Any) -> dict[str, Any]:
        """The total, the parts, and further fields. Raises InputError for a row that lacks what it needs."""
        ...


@dataclass(frozen=True, slots=True)
class RewardLines:
    """The form of a method's reward lines in files."""

    columns: Sequence[str] = ()
    """A table of rows must have one of these."""
    counts: Callable[[Mapping[str, Any]], Mapping[str, int]] = lambda line: {}
    """What a line adds to the counts."""
    summary: Callable[[Counter[str]], str] = lambda counts: ""
    """The counts in words, for the message at the end."""
    blank: Sequence[str] = ("total", "parts")
    """Keys that are empty in the line of an unusable row."""


ReplyReward: TypeAlias = Callable[[str, Mapping[str, Any]], Reward | Unverified]
"""The reward of a reply to a row; Unverified if its judge failed."""
Judges: TypeAlias = Literal["claims", "response", "instruction", "answers", "units"]
"""What a method judges: single claims; a whole response against its sources; a response against its instruction; the
answers to one question against each other (and claims, with the same scorer); the units of a task.
"""
Part: TypeAlias = Literal["verifier", "settings", "reward_row", "reward_reply", "reward_lines", "game", "config"]


@dataclass(frozen=True, slots=True)
class Method:
    """A method and its parts, each named "module:attribute" and imported on first use; None for a missing part."""

    name: str
    """Also the name of its folder."""
    paper: str
    """The paper it is from; empty for our own."""
    judges: Judges
    verifier: str
    """A function from a model or its name, and the settings, to the verifier."""
    settings: str
    """The dataclass of the verifier's settings."""
    reward_row: str | None = None
    """From a row to its reward, as :class:`RowReward`."""
    reward_reply: str | None = None
    """The same, if it depends on the row's ``response`` alone: no judge, no other reply."""
    adapters: tuple[str, ...] = ()
    """The adapters that reward replies in a trainer when a judge or the other replies are needed too."""
    reward_lines: str | None = None
    """The form of its reward lines, :class:`RewardLines`; None for the default."""
    game: str | None = None
    """The class of the :class:`Game` it trains with."""
    config: str | None = None
    """The settings of a training run."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    """Named settings, such as a baseline."""
    offline: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Default settings without a language model."""

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of the verifier's settings."""
        return tuple(one.name for one in fields(self.load("settings")))

    def load(self, part: Part) -> Any:
        """Import a part. Raises ConfigError if the method has none."""
        place: str | None = getattr(self, part)
        if place is None:
            raise ConfigError(f"the method {self.name} does not provide {part}")
        module, _, name = place.partition(":")
        return getattr(import_module(module), name)

    def open(self, model: object, settings: Mapping[str, Any] | None = None) -> Any:
        """The verifier for a model.

        >>> from vouching.methods import METHODS
        >>> METHODS["embedded"].open("embedded", {"treshold": 0.7})
        Traceback (most recent call last):
            ...
        vouching.errors.ConfigError: the method embedded has no setting 'treshold'; did you mean 'threshold'?
        """
        given = dict(settings or {})
        self.check_settings(given, self.takes)
        if isinstance(model, str) and model.startswith("embedded"):
            given = {**self.offline, **given}
        return self.load("verifier")(model, self.load("settings")(**given))

    def scorer(self, **settings: Any) -> ReplyReward:
        """The reward of a reply, for trainers with their own sampling: ``reward_reply`` with the reply as ``response``.

        >>> from vouching.methods import METHODS
        >>> METHODS["structured"].scorer(variant="binary")('{"label": "yes"}', {"gold": "Attributable"}).total
        1.0
        """
        if self.adapters:
            needs = "the other answers" if self.judges == "answers" else "a judge"
            raise ConfigError(
                f"the method {self.name} cannot reward a reply alone, because it requires {needs}: "
                f"use {' or '.join(self.adapters)}"
            )
        reward_reply: RowReward = self.load("reward_reply")
        self.check_reward_settings(reward_reply, settings)

        def score(reply: str, row: Mapping[str, Any]) -> Reward:
            found = reward_reply({**row, "response": reply}, **settings)
            return Reward(found["total"], found["parts"])

        return score

    def check_reward_settings(self, reward: RowReward, given: Mapping[str, Any]) -> None:
        """Raise ConfigError for a setting that a reward does not have, or of another type than it expects."""
        from vouching.settings import check_types  # it loads pydantic

        self.check_settings(given, [*signature(reward).parameters][1:])
        check_types(get_type_hints(reward), given)

    def check_settings(self, given: Mapping[str, Any], known: Sequence[str]) -> None:
        """Raise ConfigError for an unknown setting."""
        for name in (name for name in given if name not in known):
            meant = hint(get_close_matches(name, known, n=1), f"its settings are {', '.join(known) or 'none'}")
            raise ConfigError(f"the method {self.name} has no setting {name!r}{meant}")


METHODS: dict[str, Method] = {
    "embedded": Method(
        name="embedded",
        paper="",
        judges="claims",
        verifier="vouching.embedded.calibrated:open_calibrated",
        settings="vouching.embedded.preference:EmbeddedConfig",
    ),
    "cascade": Method(
        name="cascade",
        paper="",
        judges="claims",
        verifier="vouching.methods.cascade.verify:open_cascade",
        settings="vouching.methods.cascade.verify:CascadeConfig",
    ),
    "rules": Method(
        name="rules",
        paper="IFEval",
        judges="instruction",
        verifier="vouching.rules.verify:open_rules",
        settings="vouching.rules.verify:RulesConfig",
    ),
    "structured": Method(
        name="structured",
        paper="SEVA",
        judges="claims",
        verifier="vouching.methods.structured.verify:open_verifier",
        settings="vouching.methods.structured.verify:StructuredConfig",
        reward_row="vouching.methods.structured.reward:reward_of_row",
        reward_reply="vouching.methods.structured.reward:reward_of_row",
        reward_lines="vouching.methods.structured.reward:REWARD_LINES",
        game="vouching.methods.structured.game:StructuredGame",
        config="vouching.methods.structured.config:StructuredRunConfig",
        variants={"label": {"style": "label"}},
    ),
    "discriminative": Method(
        name="discriminative",
        paper="DiVA",
        judges="answers",
        verifier="vouching.methods.discriminative.open:open_discriminative",
        settings="vouching.judging.verifier:ThresholdConfig",
        reward_row="vouching.methods.discriminative.reward:reward_of_row",
        adapters=("vouching.integrations.trl:trl_ranking_reward",),
    ),
    "checklist": Method(
        name="checklist",
        paper="Soft-RLVR",
        judges="instruction",
        verifier="vouching.methods.checklist.verify:open_checklist",
        settings="vouching.methods.checklist.verify:ChecklistConfig",
        reward_row="vouching.methods.checklist.reward:reward_of_row",
        adapters=(
            "vouching.integrations.trl:trl_checklist_reward",
            "vouching.integrations.verl:checklist_score",
            "vouching.integrations.verifiers:judged_reward",
        ),
        reward_lines="vouching.methods.checklist.reward:REWARD_LINES",
        game="vouching.methods.checklist.game:ChecklistGame",
        config="vouching.methods.checklist.config:ChecklistRunConfig",
        variants={"holistic": {"holistic": True}},
    ),
    "blinded": Method(
        name="blinded",
        paper="MARCH",
        judges="response",
        verifier="vouching.methods.blinded.verify:open_blinded",
        settings="vouching.methods.blinded.verify:BlindedConfig",
        reward_row="vouching.methods.blinded.reward:reward_of_row",
        adapters=(
            "vouching.integrations.trl:trl_blinded_reward",
            "vouching.integrations.verl:blinded_score",
            "vouching.integrations.verifiers:audited_reward",
        ),
        reward_lines="vouching.methods.blinded.reward:REWARD_LINES",
        game="vouching.methods.blinded.game:BlindedGame",
        config="vouching.methods.blinded.config:BlindedRunConfig",
        offline={"scope": "facts"},
    ),
    "assurance": Method(
        name="assurance",
        paper="DPA-GRPO",
        judges="units",
        verifier="vouching.methods.assurance.model:open_assurance",
        settings="vouching.methods.assurance.model:AssuranceConfig",
        reward_row="vouching.methods.assurance.reward:reward_of_row",
        reward_reply="vouching.methods.assurance.reward:reward_of_row",
        reward_lines="vouching.methods.assurance.reward:REWARD_LINES",
        game="vouching.methods.assurance.game:AssuranceGame",
        config="vouching.methods.assurance.config:AssuranceRunConfig",
    ),
}
"""The methods by name. The command line, ``Checker``, training and the documents use this table."""
