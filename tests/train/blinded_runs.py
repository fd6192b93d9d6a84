"""What the tests of PPO share: questions with documents, a tiny model that knows their words, a script for all roles.

python -m tests.train.blinded_runs MODEL OUT: a run by the script in a process of its own, to be one of two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.train.engine_runs import PLAIN, stop_often, tokenizer_of, trainer_of, weights_of
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.judging.windows import ScreenedSources
from vouching.methods.base import ScriptedSampler
from vouching.methods.blinded.config import BlindedRunConfig, BlindedSettings
from vouching.methods.blinded.game import BlindedGame
from vouching.methods.blinded.prompt import check_messages, propose_messages
from vouching.methods.training import CriticSettings, SamplingSettings, WatchSettings
from vouching.models.base import Message
from vouching.types import Question, Source

PLACES = ("Ada", "Bob", "Cem", "Dee", "Eve", "Fay", "Gus", "Hal")
CONTEXT = 2048


def question_row(number: int) -> dict[str, Any]:
    place = PLACES[number % 8]
    return {
        "id": f"q{number}",
        "question": f"How long is the {place} bridge?",
        "sources": [f"The {place} bridge is {number + 2} km long."],
    }


ROWS = [question_row(number) for number in range(8)]


def solved(place: str, length: int) -> str:
    return f"Response: The {place} bridge is {length} km long.\nAnswer: {length} km"


def asked(place: str, length: int) -> str:
    return f"- Question: How long is the {place} bridge? [Answer: {length} km]"


def checked(place: str, length: int) -> str:
    return f'1. Evidence: "The {place} bridge is {length} km long." [Answer: {length} km]'


def texts() -> list[str]:
    """Prompts and replies of all roles."""
    game, found = BlindedGame(), list[str]()
    for number, row in enumerate(ROWS):
        place, length = PLACES[number], number + 2
        [window] = ScreenedSources([Source(row["sources"][0], "source-1")]).windows(10_000)
        prompts = [
            game.opening(row),
            propose_messages(solved(place, length)),
            check_messages([Question(row["question"])], window),
        ]
        found += [message.content for prompt in prompts for message in prompt]
        found += [solved(place, length), asked(place, length), checked(place, length)] * 8
    return found


def write_model(folder: Path, often: bool = True) -> Path:
    model = write_tiny_qwen(folder, texts(), CONTEXT)
    return stop_often(model) if often else model


def ppo(model: Path, **changed: Any) -> BlindedRunConfig:
    """Four questions a step, two checkers, one response each; changes over that."""
    sampling = SamplingSettings(
        **{
            "group_size": 1,
            "temperature": 1.0,
            "top_p": 1.0,
            "prompt_tokens": 1000,
            "completion_tokens": 24,
            **changed.pop("sampling", {}),
        }
    )
    return BlindedRunConfig(
        **{
            "rows": ("rows.jsonl",),
            "model": str(model),
            "batch_prompts": 4,
            "micro_batch": 4,
            "max_steps": 2,
            "kl": 0.0,
            "learning_rate": 1e-3,
            "epochs": 9.0,
            "device": "cpu",
            "seed": 3,
            "sampling": sampling,
            "game": BlindedSettings(votes=2),
            "critic": CriticSettings(learning_rate=1e-3, warmup_steps=1),
            "watch": WatchSettings(checkpoint_every=1000),
            **changed,
        }
    )


def script(prompt: Sequence[Message], role: str, number: int) -> str:
    """Every third bridge is measured wrongly, every second checker gives up on every fourth."""
    text = prompt[-1].content
    at = next(at for at, place in enumerate(PLACES) if f"The {place} bridge" in text or f"the {place} bridge" in text)
    place, stated = PLACES[at], at + 2 + (at % 3 == 0)
    if role == "checker":
        return checked(place, at + 2) if at % 4 or not number else "1. Evidence: none [Answer: Cannot answer]"
    return solved(place, stated) if role == "solver" else asked(place, stated)


def talk(model: Path) -> ScriptedSampler:
    tokenizer = tokenizer_of(model)
    return ScriptedSampler(script, lambda text: tokenizer(text)["input_ids"], (tokenizer.eos_token_id,))


def game(**changed: Any) -> BlindedGame:
    return BlindedGame(**{"votes": 2, **changed})


def by_script(model: Path, out: Path) -> None:
    """Train, save what came of policy and critic."""
    import torch

    from vouching.train.checkpoint import train_from
    from vouching.train.engine import end_training, on_step

    settings = ppo(model, kl=0.1)
    trainer = trainer_of(settings, out / "run", game(), ROWS, talk(model), **PLAIN)
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    if trainer.accelerator.is_main_process:
        torch.save((weights_of(trainer), trainer.table.critic.state_dict()["model"]), out / "weights.pt")
        (out / "records.json").write_text(json.dumps(records), encoding="utf-8")
    if trainer.accelerator.num_processes > 1:
        end_training(trainer)


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    by_script(Path(sys.argv[1]), Path(sys.argv[2]))
