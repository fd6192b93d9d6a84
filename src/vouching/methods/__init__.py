"""One folder per method: how it verifies, what it rewards, the game it trains with. ``METHODS`` lists their parts."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from vouching.errors import ConfigError, NoLanguageModelError
from vouching.lazy import lazily
from vouching.methods.table import METHODS, Method
from vouching.plugins import plugins
from vouching.types.visible import hint

if TYPE_CHECKING:
    from vouching.embedded.verify import EmbeddedVerifier, open_embedded
    from vouching.judging.verifier import ClaimVerifier
    from vouching.methods.assurance.evidence import UnitState, case_quality, evidence_fault
    from vouching.methods.assurance.game import AssuranceGame
    from vouching.methods.assurance.model import AssuranceConfig, AssuranceVerifier, ModelGenerator
    from vouching.methods.assurance.task import as_proposal, as_task
    from vouching.methods.assurance.verify import challenge, fill
    from vouching.methods.base import ScriptedSampler
    from vouching.methods.blinded.game import BlindedGame
    from vouching.methods.blinded.model import ModelChecker, ModelProposer
    from vouching.methods.blinded.reward import BlindedRules, report_reward
    from vouching.methods.blinded.verify import BlindedVerifier, open_blinded
    from vouching.methods.checklist.game import ChecklistGame
    from vouching.methods.checklist.lint import encoder_similarity, lint
    from vouching.methods.checklist.self_game import SelfVerification, SelfVerifyGame
    from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
    from vouching.methods.discriminative.open import open_ranker, open_scorer
    from vouching.methods.discriminative.reward import best_of, ranking_rewards
    from vouching.methods.structured.game import StructuredGame
    from vouching.methods.structured.reward import binary_reward, structured_reward
    from vouching.methods.structured.reward_scale import LabelScale
    from vouching.methods.structured.reward_weights import structured_weights
    from vouching.methods.structured.verify import StructuredVerifier
    from vouching.models.base import Model
    from vouching.rules.catalog import RULES, bind
    from vouching.rules.find import find_rules
    from vouching.rules.verify import followed, rules_report


def method_for(
    model: str | Model | ClaimVerifier, named: str | None = None, settings: Mapping[str, Any] | None = None
) -> tuple[Method, dict[str, Any]]:
    """The method for a model, and its settings; without a name, the method that suits the model.

    Raises ConfigError for an unknown method or model, or one that does not fit the other.
    """
    from vouching.embedded.verify import is_embedded
    from vouching.judging.verifier import ClaimVerifier

    if isinstance(model, ClaimVerifier):
        if named is not None:
            raise ConfigError(f"method {named!r} cannot be used with a verifier of your own: omit the method")
        return _own(type(model).__name__), dict(settings or {})
    variants = {name: method for method in METHODS.values() for name in method.variants}
    if named is not None and named not in METHODS and named not in variants:
        near = get_close_matches(named, known := [*METHODS, *variants], n=1)
        raise ConfigError(f"unknown method {named!r}{hint(near, 'expected one of ' + ', '.join(known))}")
    chosen = None if named is None else METHODS.get(named) or variants[named]
    variant: Mapping[str, Any] = chosen.variants.get(named or "", {}) if chosen else {}
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    if chosen is not None and chosen.judges not in ("claims", "answers"):
        return chosen, {**variant, **given}
    if isinstance(model, str) and "," in model:
        if chosen is not None and chosen.name != "cascade":
            raise ConfigError(f"method {named!r} cannot be used with a cascade of models: omit the method")
        return METHODS["cascade"], given
    if chosen is METHODS["cascade"]:
        raise ConfigError(f"a cascade requires several models with commas between them, got {model!r}")
    fitting = METHODS["embedded"] if is_embedded(model) else _fitting(model)
    if fitting.name == "structured":
        if chosen is not None and chosen.name != "structured":
            raise ConfigError(f"method {named!r} cannot be used with a language model; expected structured or label")
        return METHODS["structured"], {**variant, **given}
    if given.get("votes") == 1:  # the only choice without a language model
        del given["votes"]
    unused = [name for name in given if name in METHODS["structured"].takes and name != "threshold"]
    unused = [*(["method"] if chosen is METHODS["structured"] else []), *unused]
    if unused:
        raise NoLanguageModelError(str(model), tuple(unused))
    return chosen or fitting, given


def _own(name: str, opener: str = "open_own") -> Method:
    """The method of a verifier that was passed as an object, or that a package adds."""
    base = "vouching.methods.base"
    return Method(name, "", "claims", verifier=f"{base}:{opener}", settings=f"{base}:OwnConfig")


def _fitting(model: str | Model) -> Method:
    """The method for a scorer, a judge of another package or a language model."""
    from vouching.embedded.verify import MODELS
    from vouching.methods.discriminative.open import KINDS, is_scorer
    from vouching.models.open import FORMS, is_model, nearest_name

    if isinstance(model, str) and is_scorer(model):
        return METHODS["discriminative"]
    if isinstance(model, str) and not is_model(model):
        kind = model.partition(":")[0]
        if kind in (added := plugins("vouching.judges")):
            return _own(kind, "open_plugin")
        known = (
            f"{', '.join((*MODELS, *added))}, embedded:FOLDER, language models such as {FORMS}, or scorers such as "
            "minicheck:PATH"
        )
        near = nearest_name(model, (*MODELS, *KINDS, *added))
        raise ConfigError(f"unknown model {model!r}; expected one of {known}{near}")
    return METHODS["structured"]


__all__ = [
    "METHODS",
    "RULES",
    "AssuranceConfig",
    "AssuranceGame",
    "AssuranceVerifier",
    "BlindedGame",
    "BlindedRules",
    "BlindedVerifier",
    "ChecklistConfig",
    "ChecklistGame",
    "ChecklistVerifier",
    "ClaimVerifier",
    "EmbeddedVerifier",
    "LabelScale",
    "Method",
    "ModelChecker",
    "ModelGenerator",
    "ModelProposer",
    "ScriptedSampler",
    "SelfVerification",
    "SelfVerifyGame",
    "StructuredGame",
    "StructuredVerifier",
    "UnitState",
    "as_proposal",
    "as_task",
    "best_of",
    "binary_reward",
    "bind",
    "case_quality",
    "challenge",
    "encoder_similarity",
    "evidence_fault",
    "fill",
    "find_rules",
    "followed",
    "lint",
    "method_for",
    "open_blinded",
    "open_embedded",
    "open_ranker",
    "open_scorer",
    "ranking_rewards",
    "report_reward",
    "rules_report",
    "structured_reward",
    "structured_weights",
]

__getattr__, __dir__ = lazily(__name__)
