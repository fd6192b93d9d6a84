"""One folder per method: how it verifies, what it rewards, the game it trains by. ``METHODS`` names their parts."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from vouching.errors import ConfigError
from vouching.methods.base import Method

if TYPE_CHECKING:
    from vouching.models.base import Model

_AT = "vouching.methods"

METHODS: dict[str, Method] = {
    "embedded": Method(
        name="embedded",
        paper="",
        judges="claims",
        verifier=f"{_AT}.embedded.verify:open_embedded",
        settings=f"{_AT}.base:ThresholdConfig",
    ),
    "rules": Method(
        name="rules",
        paper="IFEval",
        judges="instruction",
        verifier=f"{_AT}.rules.verify:open_rules",
        settings=f"{_AT}.rules.verify:RulesConfig",
    ),
    "structured": Method(
        name="structured",
        paper="SEVA",
        judges="claims",
        verifier=f"{_AT}.structured.verify:open_verifier",
        settings=f"{_AT}.structured.verify:StructuredConfig",
        reward_row=f"{_AT}.structured.reward:reward_of_row",
        game=f"{_AT}.structured.game:StructuredGame",
        config=f"{_AT}.structured.config:StructuredConfig",
        variants={"label": {"style": "label"}},
    ),
    "discriminative": Method(
        name="discriminative",
        paper="DiVA",
        judges="answers",
        verifier=f"{_AT}.discriminative.open:open_discriminative",
        settings=f"{_AT}.base:ThresholdConfig",
        reward_row=f"{_AT}.discriminative.reward:reward_of_row",
        config=f"{_AT}.discriminative.config:RankConfig",
    ),
    "checklist": Method(
        name="checklist",
        paper="Soft-RLVR",
        judges="instruction",
        verifier=f"{_AT}.checklist.verify:open_checklist",
        settings=f"{_AT}.checklist.verify:ChecklistConfig",
        reward_row=f"{_AT}.checklist.reward:reward_of_row",
        game=f"{_AT}.checklist.game:ChecklistGame",
        config=f"{_AT}.checklist.config:ChecklistRunConfig",
        variants={"holistic": {"holistic": True}},
    ),
    "blinded": Method(
        name="blinded",
        paper="MARCH",
        judges="response",
        verifier=f"{_AT}.blinded.verify:open_blinded",
        settings=f"{_AT}.blinded.verify:BlindedConfig",
        reward_row=f"{_AT}.blinded.reward:reward_of_row",
        game=f"{_AT}.blinded.game:BlindedGame",
        config=f"{_AT}.blinded.config:BlindedConfig",
        offline={"scope": "facts"},
    ),
    "assurance": Method(
        name="assurance",
        paper="DPA-GRPO",
        judges="units",
        verifier=f"{_AT}.assurance.model:open_assurance",
        settings=f"{_AT}.assurance.model:AssuranceConfig",
        reward_row=f"{_AT}.assurance.reward:reward_of_row",
        game=f"{_AT}.assurance.game:AssuranceGame",
        config=f"{_AT}.assurance.config:AssuranceRunConfig",
    ),
}
"""The methods by name. The command line, ``Checker``, training and the documents enumerate this table."""


def method_for(
    model: str | Model, named: str | None = None, settings: Mapping[str, Any] | None = None
) -> tuple[Method, dict[str, Any]]:
    """The method by its name or that of a variant, or what suits the model; and the settings given for it.

    Args:
        model: what judges, or its name.
        named: a method, or a variant of one; None for what suits the model.
        settings: of the verifier; those that are None are left at their defaults.

    Raises:
        ConfigError: no such method or model, or a model or a setting that does not fit the method.

    >>> method_for("embedded")[0].name, method_for("http://localhost:8000/v1#m", "label", {"votes": 3})[1]
    ('embedded', {'style': 'label', 'votes': 3})
    """
    from vouching.methods.embedded.verify import is_embedded

    variants = {name: method for method in METHODS.values() for name in method.variants}
    if named is not None and named not in METHODS and named not in variants:
        near = get_close_matches(named, known := [*METHODS, *variants], n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise ConfigError(f"there is no method {named!r}; {hint}")
    chosen = None if named is None else METHODS.get(named) or variants[named]
    variant: Mapping[str, Any] = chosen.variants.get(named or "", {}) if chosen else {}
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    if chosen is not None and chosen.judges not in ("claims", "answers"):
        return chosen, {**variant, **given}
    fitting = "embedded" if is_embedded(model) else _fitting(model)
    if fitting == "structured":
        if chosen is not None and chosen.name != "structured":
            raise ConfigError(f"got method {named!r} with a language model, wanted structured or label")
        return METHODS["structured"], {**variant, **given}
    if given.get("votes") == 1:  # as many as there are without a language model
        del given["votes"]
    unused = [name for name in given if name in METHODS["structured"].takes and name != "threshold"]
    unused = [*(["method"] if chosen is METHODS["structured"] else []), *unused]
    if unused:
        names = " and ".join(unused)
        raise ConfigError(f"got {names} with {model}, which is no language model: name one, or leave out {names}")
    return chosen or METHODS[fitting], given


def _fitting(model: str | Model) -> str:
    """The method for a scorer or a language model; loaded only when there is one."""
    from vouching.methods.discriminative.open import is_scorer
    from vouching.methods.embedded.verify import MODELS
    from vouching.models.open import FORMS, is_model

    if isinstance(model, str) and is_scorer(model):
        return "discriminative"
    if isinstance(model, str) and not is_model(model):
        known = (
            f"{', '.join(MODELS)}, embedded:FOLDER, language models such as {FORMS}, and scorers such as minicheck:PATH"
        )
        raise ConfigError(f"unknown model {model!r}; there are: {known}")
    return "structured"
