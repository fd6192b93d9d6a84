"""What the engine refuses to train on, before the first step."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import config, rows, stop_often, texts, tokenizer_of, trainer_of, vowel_game
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError, InputError, MissingExtraError
from vouching.train.engine import make_trainer, training_arguments

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


@pytest.mark.parametrize("missing", ["chat_template", "pad_token", "eos_token"])
def test_a_tokenizer_that_lacks_something_is_named(model: Path, tmp_path: Path, missing: str) -> None:
    settings, tokenizer = config(model), tokenizer_of(model)
    setattr(tokenizer, missing, None)
    with pytest.raises(ConfigError, match=f"the tokenizer has no .*: set tokenizer.{missing}"):
        make_trainer(settings, training_arguments(settings, tmp_path), str(model), tokenizer, vowel_game(), rows())


def test_prompts_over_the_limit_are_counted_and_the_longest_named(model: Path, tmp_path: Path) -> None:
    long = {"id": "long", "prompt": [{"role": "user", "content": "old bridge " * 60}], "gold": "Attributable"}
    with pytest.raises(InputError, match=r"1 of 9 prompts have more than 40 tokens, the longest .* \(row 'long'\)"):
        trainer_of(config(model), tmp_path, data=[*rows(), long])


def test_more_tokens_than_the_model_reads_are_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="exceed the model's context of 128 tokens"):
        trainer_of(config(model, sampling={"completion_tokens": 120}), tmp_path)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"batch_prompts": 9}, "got 8 rows, but a step needs 9"),
        ({"updates": 3, "watch": {"checkpoint_every": 10}}, "checkpoint_every must be a multiple of updates"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    model: Path, tmp_path: Path, changed: dict[str, Any], wrong: str
) -> None:
    with pytest.raises((ConfigError, InputError), match=wrong):
        trainer_of(config(model, **changed), tmp_path)


def test_prompts_that_cannot_be_shared_among_the_processes_are_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match=r"multiple of the number of processes \(3\), got 2"):
        training_arguments(config(model), tmp_path)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed")
def test_vllm_that_is_to_sample_and_is_not_installed_is_named(model: Path, tmp_path: Path) -> None:
    for changed in ({"engine": "vllm"}, {"engine": "vllm-server", "server": "http://localhost:8000"}):
        with pytest.raises(MissingExtraError, match=r"sampling.engine=vllm.* needs .* 'vouching\[vllm\]'"):
            training_arguments(config(model, sampling=changed), tmp_path)


def test_a_game_with_another_number_of_samples_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"samples \(3\) must equal sampling.group_size \(4\)"):
        trainer_of(config(model), tmp_path, vowel_game(3))
