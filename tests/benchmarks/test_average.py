"""Averaged weights: the mean, whole or of adapters as they act, of models that fit each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")


def load(path: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(path)


def moved(folder: Path, out: Path, by: float) -> Path:
    """A copy of a model with all weights moved."""
    import shutil

    from safetensors.torch import save_file

    shutil.copytree(folder, out)
    save_file(
        {name: value + by for name, value in load(folder / "model.safetensors").items()},
        out / "model.safetensors",
        metadata={"format": "pt"},
    )
    return out


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_qwen(tmp_path_factory.mktemp("average") / "qwen", ["It opened in 1973."])


def test_the_mean_of_two_models_stands_between_them_and_can_be_loaded(qwen: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    from benchmarks.average import average_weights

    # Weights w - 1 and w + 3 have the mean w + 1.
    out = average_weights([moved(qwen, tmp_path / "a", -1.0), moved(qwen, tmp_path / "b", 3.0)], tmp_path / "mean")
    start, mean = load(qwen / "model.safetensors"), load(out / "model.safetensors")
    assert start.keys() == mean.keys()
    assert all(torch.allclose(mean[name], start[name] + 1, atol=1e-6) for name in start)
    assert AutoModelForCausalLM.from_pretrained(out).num_parameters() > 100_000
    # Heads of an encoder beside the weights are averaged with them.
    for name, value in (("a", 0.0), ("b", 1.0)):
        torch.save({"relation.bias": torch.tensor([value, 2.0])}, tmp_path / name / "heads.pt")
    average_weights([tmp_path / "a", tmp_path / "b"], out)
    assert torch.load(out / "heads.pt", weights_only=True)["relation.bias"].tolist() == [0.5, 2.0]


def test_adapters_are_averaged_as_they_act(qwen: Path, tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from benchmarks.average import average_weights

    folders, moves = [tmp_path / "one", tmp_path / "other"], list[Any]()
    for seed, folder in enumerate(folders):
        torch.manual_seed(seed)
        lora = LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], lora_alpha=8)
        adapted = get_peft_model(AutoModelForCausalLM.from_pretrained(qwen), lora)
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight)
        adapted.save_pretrained(folder)
        AutoTokenizer.from_pretrained(qwen).save_pretrained(folder)
        first = load(folder / "adapter_model.safetensors")
        down, up = (first[f"base_model.model.model.layers.0.self_attn.q_proj.lora_{side}.weight"] for side in "AB")
        moves.append(8 / 2 * up @ down)
    out = average_weights(folders, tmp_path / "mean")
    name = "model.layers.0.self_attn.q_proj.weight"
    moved_by = load(out / "model.safetensors")[name] - load(qwen / "model.safetensors")[name]
    assert torch.allclose(moved_by, (moves[0] + moves[1]) / 2, atol=1e-5)


def test_models_that_do_not_fit_each_other_are_refused_and_nothing_is_written(qwen: Path, tmp_path: Path) -> None:
    from benchmarks.average import average_weights

    other = write_tiny_qwen(tmp_path / "other", ["Quite another text, with other words in it."])
    with pytest.raises(ConfigError, match="a different model from"):
        average_weights([qwen, other], tmp_path / "mean")
    with pytest.raises(ConfigError, match="two or more"):
        average_weights([qwen], tmp_path / "mean")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no safetensors weights"):
        average_weights([tmp_path / "empty", qwen], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
