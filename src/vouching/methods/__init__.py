"""One folder per method: how it verifies, what it rewards, the game it trains by. ``METHODS`` names their parts."""

from __future__ import annotations

from vouching.methods.base import Method

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
