"""The methods and the parts of each, in one literal table.

A part is named by its place and imported on use, so that to look into the table loads nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import Any, Literal, Protocol, TypeAlias

from vouching.errors import ConfigError
from vouching.models.base import Model
from vouching.types import Reward, Unverified


class RowReward(Protocol):
    """From a row, as the transcript of a game holds it, to its reward: what ``vouch reward`` writes for the row."""

    def __call__(self, row: Mapping[str, Any], **settings: Any) -> dict[str, Any]:
        """The total, the parts, and what else is written. Raises InputError for a row that lacks what it needs."""
        ...


@dataclass(frozen=True, slots=True)
class RewardLines:
    """What the rows and lines of a method's rewards are, in files."""

    columns: Sequence[str] = ()
    """A table of rows must have one of these."""
    counts: Callable[[Mapping[str, Any]], Mapping[str, int]] = lambda line: {}
    """What a line adds to the counts."""
    told: Callable[[Counter[str]], str] = lambda counts: ""
    """What is said of the counts."""
    blank: Sequence[str] = ("total", "parts")
    """What the line of a row that cannot be used lacks."""


ReplyReward: TypeAlias = Callable[[str, Mapping[str, Any]], Reward | Unverified]
"""What a reply to a row earns; Unverified if its judge failed."""
Judges: TypeAlias = Literal["claims", "response", "instruction", "answers", "units"]
"""What a method judges: single claims; a whole response by its sources; a response by its instruction; the answers to
one question against each other (and claims, by the same scorer); the units of a task."""
Part: TypeAlias = Literal["verifier", "settings", "reward_row", "reward_reply", "reward_lines", "game", "config"]
"""What a method may consist of."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method by the names of its parts, each "module:attribute" and imported on use; None where it has no such part.

    >>> from vouching.methods import METHODS
    >>> METHODS["blinded"].load("game").__name__
    'BlindedGame'
    """

    name: str
    """Its name, which is that of its folder."""
    paper: str
    """The paper it is from; empty for our own."""
    judges: Judges
    """What it judges."""
    verifier: str
    """A factory: the name of a model, or a model, and the settings make what verifies."""
    settings: str
    """The dataclass of the verifier's settings."""
    reward_row: str | None = None
    """From a row to its reward, as :class:`RowReward`."""
    reward_reply: str | None = None
    """The same, where the row's ``response`` alone decides: no judge, no other reply."""
    adapters: tuple[str, ...] = ()
    """What rewards replies in a trainer where a judge or the other replies are needed as well."""
    reward_lines: str | None = None
    """What the lines of rewards are in files, :class:`RewardLines`; None for lines without a count."""
    game: str | None = None
    """What it is trained by, a class of :class:`Game`."""
    config: str | None = None
    """The settings of a training run."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, "Mapping[str, Any]"])
    """Settings that go by a name of their own, such as a baseline."""
    offline: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is set, if nothing else is said, where no language model is asked."""

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of the verifier's settings."""
        return tuple(one.name for one in fields(self.load("settings")))

    def load(self, part: Part) -> Any:
        """A part. Raises ConfigError if the method has none."""
        place: str | None = getattr(self, part)
        if place is None:
            raise ConfigError(f"the method {self.name} has no {part.replace('_', ' ')}")
        module, _, name = place.partition(":")
        return getattr(import_module(module), name)

    def open(self, model: str | Model, settings: Mapping[str, Any] | None = None) -> Any:
        """The verifier for a model, by its name or itself.

        Raises:
            ConfigError: a model that does not fit the method, an unknown setting (the nearest is named), or a value out
                of range.

        >>> from vouching.methods import METHODS
        >>> METHODS["embedded"].open("embedded", {"treshold": 0.7})
        Traceback (most recent call last):
            ...
        vouching.errors.ConfigError: the method embedded has no setting 'treshold'; did you mean threshold?
        """
        given = dict(settings or {})
        self._check(given, self.takes)
        if isinstance(model, str) and model.startswith("embedded"):
            given = {**self.offline, **given}
        return self.load("verifier")(model, self.load("settings")(**given))

    def scorer(self, **settings: Any) -> ReplyReward:
        """What a reply earns, for trainers that sample by themselves; ``reward_reply`` with the reply as ``response``.

        Args:
            settings: of the reward.

        Raises:
            ConfigError: the method has no reward of a reply alone (the adapters to use are named), or an unknown
                setting; from the function made, InputError for a row that lacks what the reward needs.

        >>> from vouching.methods import METHODS
        >>> METHODS["structured"].scorer(variant="binary")('{"label": "yes"}', {"gold": "Attributable"}).total
        1.0
        """
        if self.adapters:
            needs = "the other answers" if self.judges == "answers" else "a judge"
            raise ConfigError(
                f"the method {self.name} has no reward of a reply alone, it needs {needs}: "
                f"use {' or '.join(self.adapters)}"
            )
        reward_reply: RowReward = self.load("reward_reply")
        self._check(settings, [*signature(reward_reply).parameters][1:])

        def score(reply: str, row: Mapping[str, Any]) -> Reward:
            found = reward_reply({**row, "response": reply}, **settings)
            return Reward(found["total"], found["parts"])

        return score

    def _check(self, given: Mapping[str, Any], known: Sequence[str]) -> None:
        """Raises ConfigError for a setting that there is not; the nearest is named."""
        for name in (name for name in given if name not in known):
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known) or 'none'}"
            raise ConfigError(f"the method {self.name} has no setting {name!r}; {hint}")


METHODS: dict[str, Method] = {
    "embedded": Method(
        name="embedded",
        paper="",
        judges="claims",
        verifier="vouching.methods.embedded.verify:open_embedded",
        settings="vouching.methods.base:ThresholdConfig",
    ),
    "rules": Method(
        name="rules",
        paper="IFEval",
        judges="instruction",
        verifier="vouching.methods.rules.verify:open_rules",
        settings="vouching.methods.rules.verify:RulesConfig",
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
        settings="vouching.methods.base:ThresholdConfig",
        reward_row="vouching.methods.discriminative.reward:reward_of_row",
        adapters=("vouching.integrations.trl:trl_ranking_reward",),
        config="vouching.methods.discriminative.config:RankConfig",
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
"""The methods by name. The command line, ``Checker``, training and the documents enumerate this table."""
