"""Random weights that lean to copying: the first layer looks at near tokens, the others at tokens that are alike."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra train is not installed")

from benchmarks.mimetic_weights import write_mimetic_weights
from tests.train.tiny_qwen import write_tiny_qwen

WORDS = "owl fox elm oak ash yew ivy bay fig nut hay rye".split()


@pytest.fixture(scope="module")
def attentions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Mean attention of each layer, of plain and of mimetic weights, to 24 tokens of which the last 12 repeat."""
    import torch
    from transformers import AutoModelForCausalLM

    found: dict[str, Any] = {}
    for name in ("plain", "mimetic"):
        folder = write_tiny_qwen(
            tmp_path_factory.mktemp(name),
            [" ".join(WORDS)],
            vocabulary=64,
            width=96,
            layers=3,
            pieces=WORDS,
            closed=True,
        )
        if name == "mimetic":
            write_mimetic_weights(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
        size = model.config.vocab_size
        twice = torch.arange(size - 12, size).repeat(2)
        with torch.no_grad():
            said = model(twice[None], output_attentions=True)
        found[name] = [one[0].mean(0) for one in said.attentions]
    return found


def back(attention: Any, distance: int) -> float:
    """Mean attention to the token so many places back, of the last 12 tokens."""
    return sum(float(attention[at, at - distance]) for at in range(12, 24)) / 12


def test_the_first_layer_looks_at_the_last_tokens_and_plain_weights_do_not(attentions: dict[str, Any]) -> None:
    first = attentions["mimetic"][0]
    near = [back(first, distance) for distance in range(4)]
    assert near == sorted(near, reverse=True)
    assert sum(near) > 0.7
    assert sum(back(attentions["plain"][0], distance) for distance in range(4)) < 0.4


def test_deeper_layers_look_at_the_same_token_before(attentions: dict[str, Any]) -> None:
    for layer in (1, 2):
        alike, others = back(attentions["mimetic"][layer], 12), [back(attentions["mimetic"][layer], d) for d in (9, 10)]
        assert alike > 3 * max(others)
    assert back(attentions["plain"][1], 12) < 0.1
