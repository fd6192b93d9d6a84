"""Two processes train two policies as one does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.train.assurance_runs import write_model
from tests.train.engine_runs import greatest_difference
from tests.train.forked import as_group

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from transformers import AutoModelForCausalLM  # noqa: E402  (needs torch)

from tests.train.adapters_process import ROWS, train_pairs  # noqa: E402  (needs torch)

LOSSES = ("token_sum",)
"""DPA-GRPO's: it averages over rows, so that those of padding and those of each role must be made up for."""


def test_two_processes_train_two_policies_as_one_does(tmp_path: Path) -> None:
    # Tasks of one and of two units, cases in some only: the processes have unlike numbers of rows of either policy, and
    # the last batch of a step is the verifier's, so that the generator's gradients must be exchanged without it.
    torch.set_num_threads(1)
    model = write_model(tmp_path / "model", ROWS)
    train_pairs(model, tmp_path / "alone", LOSSES)
    as_group(lambda: train_pairs(model, tmp_path / "both", LOSSES))
    for loss in LOSSES:
        one, two = (torch.load(tmp_path / where / f"{loss}.pt", weights_only=True) for where in ("alone", "both"))
        assert greatest_difference(one, two) < 1e-6, loss
        moved = {name.split(".")[-2] for name, value in one.items() if "lora_B" in name and value.abs().max() > 0}
        assert moved == {"default", "verifier"}
        start = AutoModelForCausalLM.from_pretrained(model).state_dict()
        held = {name.replace("base_model.model.", "").replace(".base_layer", ""): name for name in one}
        for name, value in start.items():
            assert torch.equal(one[held[name]], value), name
        logs = [json.loads((tmp_path / where / f"{loss}.json").read_text()) for where in ("alone", "both")]
        for name in ("oracle/submitted", "case/4", "reward/generator/total", "kl", "tokens", "gradient/default"):
            first, second = ([line[name] for line in log] for log in logs)
            assert first == pytest.approx(second, abs=1e-5), name
