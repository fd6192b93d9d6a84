# pyright: basic
"""Checkpoints: what an interrupted run resumes from, and what is kept at the end.

They are TRL's folders, ``OUT/checkpoints/checkpoint-STEP``: the latest ones and the best one on ``dev``. TRL writes the
trainer's state last and deletes older folders only after that, so a folder without a complete state is the remains of a
crash or a full disk, and a complete one always exists beside it.
Not supported: remote checkpoints.
"""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vouching.errors import InputError
from vouching.text.json_values import parse_json

CHECKPOINTS = "checkpoints"
"""Folder of TRL's checkpoints inside the run folder."""
MODEL = "model"
"""Folder of the resulting model inside the run folder."""
_STATE = "trainer_state.json"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_ROOM_WORDS = ("No space left", "Disk quota exceeded", "File too large", "PytorchStreamWriter", "unexpected pos")
_FOR_RESUME = re.compile(
    r"(optimizer|scheduler|scaler|trainer_state|training_args)\.|rng_state|engine\.json$|critic\.pt$|global_step|ref(_|$)|"
    r"README"
)
"""Files and folders of a checkpoint that only resuming needs, and peft's empty model card."""


def last_checkpoint(out: Path) -> Path | None:
    """The latest complete checkpoint of a TRL run, or None."""
    whole = {step: folder for folder in (out / CHECKPOINTS).glob("checkpoint-*") if (step := step_of(folder))}
    return whole[max(whole)] if whole else None


def best_checkpoint(out: Path) -> Path | None:
    """The complete checkpoint that scored best on ``dev``, the latest if nothing was scored, or None."""
    last = last_checkpoint(out)
    best = None if last is None else _state(last).get("best_global_step")
    folder = out / CHECKPOINTS / f"checkpoint-{best}"
    return folder if best and step_of(folder) else last


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was written; 0 if it is incomplete."""
    step = _state(checkpoint).get("global_step")
    return step if isinstance(step, int) else 0


def keep_model(out: Path) -> int:
    """Copy the weights of the best checkpoint to ``OUT/model``, replaced atomically, and return their step.

    Raises:
        InputError: there is no checkpoint, or the folder cannot be written.
    """
    chosen = best_checkpoint(out)
    if chosen is None:
        raise InputError(f"{out} has no complete checkpoint: train first, or continue with --resume")
    fresh, old = out / f"{MODEL}.new", out / f"{MODEL}.old"
    with room_for(out):
        shutil.rmtree(fresh, ignore_errors=True)
        copy_weights(chosen, fresh)
        shutil.rmtree(old, ignore_errors=True)
        if (out / MODEL).exists():
            (out / MODEL).replace(old)
        fresh.replace(out / MODEL)
        shutil.rmtree(old, ignore_errors=True)
    return step_of(chosen)


def copy_weights(checkpoint: Path, out: Path) -> None:
    """Copy what loading a model needs, without what only resuming needs."""
    shutil.copytree(checkpoint, out, ignore=lambda _, names: [name for name in names if _FOR_RESUME.match(name)])


def train_from(trainer: Any, checkpoint: Path | None = None) -> None:
    """Run the steps that remain after a checkpoint; all of them without one.

    Raises:
        TrainingError: the gradient is not finite; the weights are those before this step.
        BackendError: no rollout of a step could be judged.
    """
    if checkpoint is not None:
        state, steps = _state(checkpoint), trainer.args.max_steps
        if state["global_step"] >= (steps if steps > 0 else state["max_steps"]):  # train() would do one step more
            trainer._load_from_checkpoint(str(checkpoint))
            return
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))


@contextmanager
def room_for(out: Path) -> Generator[None]:
    """Turn a full disk into an InputError that says how to resume, and remove incomplete checkpoints.

    >>> with room_for(Path("runs/sft")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
        ...
    vouching.errors.InputError: cannot write to runs/sft ([Errno 28] No space left on device): the last complete
    checkpoint was kept; free some space and continue with --resume
    """
    try:
        yield
    except Exception as error:  # writers of weights raise anything
        if isinstance(error, InputError) or not _is_full(error):
            raise
        for folder in (out / CHECKPOINTS).glob("checkpoint-*"):
            if not step_of(folder):
                shutil.rmtree(folder, ignore_errors=True)
        raise InputError(
            f"cannot write to {out} ({error}): the last complete checkpoint was kept; free some space and continue "
            "with --resume"
        ) from error


def _is_full(error: BaseException | None) -> bool:
    """Whether an error, or one of its causes, is about a full disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return True
        if any(words in str(error) for words in _NO_ROOM_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def _state(checkpoint: Path) -> dict[str, Any]:
    """The trainer's state in a checkpoint; empty if it is incomplete."""
    try:
        found = parse_json((checkpoint / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
