"""The settings of SEVA's reward: the arms of its ablations, in training, in the adapters and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeAlias, cast, get_args

from vouching.embedded.compared import RULES
from vouching.errors import ConfigError
from vouching.methods.structured.reward_scale import Equal, LabelScale
from vouching.methods.structured.reward_weights import (
    Calibration,
    Rules,
    Split,
    StructuredWeights,
    Variant,
    reward_bounds,
    structured_weights,
)

Normalise: TypeAlias = Literal["none", Equal]
"""Whether the diagnosis is normalised across gold labels, and by what."""
_WEIGHTS = ("format", "alignment", "chain", "label", "diagnosis", "right", "wrong")
"""The weights that can be set."""
_UNUSED: Mapping[str, tuple[str, ...]] = {
    "binary": ("split", "calibration", "diagnosis_floor", "normalise", "weights"),
    "binary-format": ("calibration", "diagnosis_floor", "normalise"),
}
"""What these rules do not have."""


@dataclass(frozen=True, slots=True)
class RewardSettings:
    """One arm of an experiment. Raises ConfigError for settings out of range, or that exclude each other.

    >>> RewardSettings("binary-format").made  # .70 R_f + .30 R_l
    StructuredWeights(format=0.7, alignment=0.0, chain=0.0, label=0.3, diagnosis=0.0, right=0.0, wrong=0.0, \
diagnosis_floor=0.3, proper=False)
    """

    variant: Rules = "paper"
    """Rules of the process reward (``paper``, ``released``, ``grounded``); ``binary``: 1 for the right label;
    ``binary-format``: the right label, and R_f with the whole weight of the process."""
    split: Split = "70/30"
    """Weights of process and outcome (Table 21)."""
    calibration: Calibration = "on"
    """The confidence term: the paper's, ``off``, ``symmetric``, or the ``brier`` score."""
    diagnosis_floor: float = 0.3
    """R_d of a false alarm."""
    normalise: Normalise = "none"
    """Normalises R_d across gold labels, over the whole run so far and all processes: ``range`` to the same range, so
    that a false alarm costs as much as a miss; ``mean`` serves as a control."""
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """Weights of single parts instead of those of the split; ``right`` and ``wrong`` are those of the confidence."""
    aligner: str = RULES
    """The version of the rules that find evidence for the grounded rules: recorded with a run, since another version
    may give other rewards."""

    def __post_init__(self) -> None:
        for name, known in (("variant", Rules), ("normalise", Normalise)):
            given, allowed = getattr(self, name), get_args(known)
            if given not in allowed:
                raise ConfigError(f"unknown {name} {given!r}; expected one of {', '.join(allowed)}")
        if self.aligner != RULES:
            raise ConfigError(
                f"the rewards of aligner {self.aligner!r} cannot be computed: this version of vouching has {RULES!r}; "
                "use the version the run began with, or begin a new run without aligner"
            )
        for name in (name for name in self.weights if name not in _WEIGHTS):
            raise ConfigError(f"weights has no {name!r}; expected one of {', '.join(_WEIGHTS)}")
        defaults = {one.name: one.default for one in fields(self)}
        for name in _UNUSED.get(self.variant, ()):
            if getattr(self, name) not in (defaults[name], {}):
                raise ConfigError(f"{name} cannot be used with the variant {self.variant}: omit it")
        if self.variant == "binary-format" and not set(self.weights) <= {"format", "label"}:
            raise ConfigError("weights of the variant binary-format can only be format and label")
        _ = self.made

    @property
    def made(self) -> StructuredWeights:
        """The weights."""
        weights = structured_weights(self.split, self.calibration, self.diagnosis_floor)
        if self.variant == "binary-format":
            process, outcome = (int(share) / 100 for share in self.split.split("/"))
            weights = StructuredWeights(process, 0.0, 0.0, outcome, 0.0, 0.0, 0.0)
        return replace(weights, **self.weights) if self.weights else weights

    @property
    def rules(self) -> Variant:
        """The rules that score the parts."""
        return "paper" if self.variant.startswith("binary") else cast("Variant", self.variant)

    @property
    def top(self) -> float | None:
        """The maximum reward; None if normalisation may exceed it."""
        if self.variant == "binary":
            return 1.0
        # The factor of "mean" may raise the diagnosis above 1.
        return None if self.normalise == "mean" else reward_bounds(variant=self.rules, weights=self.made)[1]

    def scale(self) -> LabelScale | None:
        """What normalises a run's rewards; None without normalisation."""
        return None if self.normalise == "none" else LabelScale(self.normalise, self.made)
