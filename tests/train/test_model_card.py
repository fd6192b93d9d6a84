"""The card of an exported model says what the model is for, which is not the same for every game."""

from __future__ import annotations

from pathlib import Path

import pytest

from vouching.train.export import model_card
from vouching.train.runs import Run


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        ("structured", "`vouch check --method structured --model local:FOLDER`"),
        ("sft", "`vouch check --method structured --model local:FOLDER`"),
        ("rank", "`vouch rank --score-model discriminative:FOLDER`"),
        ("checklist", "`vouch follow --method checklist --model local:FOLDER`"),
        ("assurance", "`vouch challenge --task T --fill --model local:FOLDER/generator --verifier"),
        ("blinded", "`vouch answer --model local:FOLDER`"),
    ],
)
def test_the_card_names_the_command_that_made_the_model_and_those_that_use_it(kind: str, use: str) -> None:
    card = model_card(Run("runs/x", {"kind": kind, "settings": {"model": "base"}}, {}, True), Path("runs/x"))
    assert f"with `vouch train {kind}`" in card
    assert use in card
    judges = "The model judges whether a source supports a claim" in card
    assert judges == (kind == "structured")  # what a model learns by sft depends on its rows
