"""What the tests of the engine share: a tiny model, rows, settings, and runs with given completions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vouching.methods.base import Game, Row, Sampler, ScriptedSampler
from vouching.methods.structured.game import StructuredGame
from vouching.methods.training import GrpoConfig, SamplingSettings, WatchSettings
from vouching.types import Reward

PLACES = ("bridge", "tower", "river", "city", "old mill", "long road", "harbour", "castle")


PLAIN = {"optim": "sgd", "max_grad_norm": 0.0, "learning_rate": 0.01}
"""The update is the gradient itself. Adam and clipping would hide that all of it is too small or too large."""


def rows(count: int = 8) -> list[dict[str, Any]]:
    """Prompts of unequal length."""
    return [
        {
            "id": f"r{i}",
            "gold": ("Attributable", "Not Attributable")[i % 2],
            "prompt": [{"role": "user", "content": f"Is the {PLACES[i % 8]} {'very ' * (i % 3)}old?"}],
        }
        for i in range(count)
    ]


def texts() -> list[str]:
    return [row["prompt"][0]["content"] + ' {"label": "yes"} {"label": "no"}' for row in rows(48)]


def stop_often(model: Path) -> Path:
    """Let every seventh token end a completion, so that a model with random weights writes unequal lengths."""
    from transformers import GenerationConfig

    GenerationConfig(eos_token_id=[*range(0, 512, 7)], pad_token_id=1).save_pretrained(model)
    return model


def config(model: Path, **changed: Any) -> GrpoConfig:
    """Four rollouts of each of two rows, in two batches; changes over that."""
    sampling = SamplingSettings(
        **{
            "group_size": 4,
            "temperature": 1.0,
            "top_p": 1.0,
            "prompt_tokens": 40,
            "completion_tokens": 12,
            **changed.pop("sampling", {}),
        }
    )
    watch = WatchSettings(**{"checkpoint_every": 1000, "transcripts": 2, **changed.pop("watch", {})})
    settings = {
        "rows": ("rows.jsonl",),
        "model": str(model),
        "batch_prompts": 2,
        "micro_batch": 4,
        "learning_rate": 1e-4,
        "kl": 0.0,
        "max_steps": 3,
        "device": "cpu",
        "seed": 3,
        "sampling": sampling,
        "watch": watch,
        **changed,
    }
    return GrpoConfig(**settings)


async def vowels(reply: str, row: Row) -> Reward:
    """A reward that differs within a group: the share of vowels."""
    share = sum(letter in "aeiou" for letter in reply) / max(1, len(reply))
    return Reward(share, {"vowels": share, "length": float(len(reply))})


def vowel_game(samples: int = 4) -> StructuredGame:
    return StructuredGame(samples, vowels)


def tokenizer_of(model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)


def scripted(model: Path) -> ScriptedSampler:
    """Replies of unequal length and reward, the same for a prompt wherever it is asked."""
    tokenizer = tokenizer_of(model)

    def line(prompt: Sequence[Any], role: str, number: int) -> str:
        return ("no " * number + "old " * (len(prompt[-1].content) % 3) + "aeiou"[number % 5]).strip()

    return ScriptedSampler(line, lambda text: tokenizer(text)["input_ids"], (tokenizer.eos_token_id,))


def trainer_of(
    settings: GrpoConfig,
    out: Path,
    game: Game | None = None,
    data: Sequence[Row] | None = None,
    sampler: Sampler | None = None,
    **arguments: Any,
) -> Any:
    """A trainer of the engine."""
    from vouching.train.engine import make_trainer, training_arguments

    given = training_arguments(settings, out)
    for name, value in arguments.items():
        setattr(given, name, value)
    game = game or vowel_game(settings.sampling.group_size)
    return make_trainer(
        settings, given, settings.model, tokenizer_of(Path(settings.model)), game, data or rows(), sampler
    )


def weights_of(trainer: Any) -> dict[str, Any]:
    """Copies of all weights."""
    return {name: value.detach().clone() for name, value in trainer.model.state_dict().items()}


def greatest_difference(first: dict[str, Any], second: dict[str, Any]) -> float:
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)
