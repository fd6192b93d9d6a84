# pyright: basic
"""What a killed run goes on from, and what is kept of it.

The encoder keeps one file, replaced as a whole. Runs by TRL keep folders, ``OUT/checkpoints/checkpoint-STEP``: the last
ones and the best one by what it does on ``dev``. TRL writes the state of its trainer last and removes older folders
after that, so one without a whole state is what a kill or a full disk left behind, and there is always a whole one
besides. Left out: checkpoints on another machine.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vouching.errors import InputError
from vouching.train.extra import ENCODER, imported

CHECKPOINT = "checkpoint.pt"
CHECKPOINTS = "checkpoints"
"""The folder of TRL's checkpoints, in that of the run."""
MODEL = "model"
"""The folder of the model that came out, in that of the run."""
_STATE = "trainer_state.json"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_ROOM_WORDS = ("No space left", "Disk quota exceeded", "File too large", "PytorchStreamWriter", "unexpected pos")
_TO_GO_ON = re.compile(
    r"(optimizer|scheduler|scaler|trainer_state|training_args)\.|rng_state|engine\.json$|critic\.pt$|global_step|ref(_|$)|"
    r"README"
)
"""Files and folders of a checkpoint that only a run that goes on needs, and the empty card of peft."""


def save_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    """Write the checkpoint of a run; at every moment the folder holds a whole one, or none yet.

    Args:
        folder: the folder of the run.
        state: tensors, numbers, texts, and lists and dictionaries of them.

    Raises:
        InputError: it cannot be written; the one before stays.
    """
    torch = imported("torch", ENCODER)
    fresh = folder / f"{CHECKPOINT}.new"
    try:
        with fresh.open("wb") as file:
            torch.save(dict(state), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / CHECKPOINT)
    except (OSError, RuntimeError) as error:  # torch tells a full disk as a RuntimeError
        fresh.unlink(missing_ok=True)
        raise InputError(f"cannot write {fresh} ({error}): make room and go on with --resume") from error


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The checkpoint of a run; None if it has none yet.

    Raises:
        InputError: it cannot be read.
    """
    torch = imported("torch", ENCODER)
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what pickle and zipfile raise
        raise InputError(f"{path} is damaged or not a checkpoint: remove it to start over") from error


def last_checkpoint(out: Path) -> Path | None:
    """The last whole checkpoint of a run by TRL; None if there is none."""
    whole = {step: folder for folder in (out / CHECKPOINTS).glob("checkpoint-*") if (step := step_of(folder))}
    return whole[max(whole)] if whole else None


def best_checkpoint(out: Path) -> Path | None:
    """The whole checkpoint that did best on ``dev``, the last one if nothing was scored; None if there is none."""
    last = last_checkpoint(out)
    best = None if last is None else _state(last).get("best_global_step")
    folder = out / CHECKPOINTS / f"checkpoint-{best}"
    return folder if best and step_of(folder) else last


def step_of(checkpoint: Path) -> int:
    """The step that a checkpoint was written after; 0 if it is not whole."""
    step = _state(checkpoint).get("global_step")
    return step if isinstance(step, int) else 0


def keep_model(out: Path) -> int:
    """Put the weights of the best checkpoint, or of the last one, into ``OUT/model``, replaced as a whole.

    Returns:
        The step that they are of.

    Raises:
        InputError: there is no checkpoint, or the folder cannot be written.
    """
    chosen = best_checkpoint(out)
    if chosen is None:
        raise InputError(f"{out} has no whole checkpoint: train first, or go on with --resume")
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
    """Copy what a model is loaded from, and nothing that only a run needs that goes on."""
    shutil.copytree(checkpoint, out, ignore=lambda _, names: [name for name in names if _TO_GO_ON.match(name)])


def train_from(trainer: Any, checkpoint: Path | None = None) -> None:
    """Do the steps that are left after a checkpoint; all of them without one, none if it is of the last step.

    Raises:
        TrainingError: the gradient is no number; the weights are those before this step.
        BackendError: no rollout of a step could be judged.
    """
    if checkpoint is not None:
        state = _state(checkpoint)
        if state["global_step"] >= state["max_steps"]:  # train() would do one step more
            trainer._load_from_checkpoint(str(checkpoint))
            return
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))


@contextmanager
def room_for(out: Path) -> Generator[None]:
    """Turn a full disk into an InputError that says how to go on, and remove checkpoints that are not whole.

    >>> with room_for(Path("runs/sft")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
        ...
    vouching.errors.InputError: cannot write to runs/sft ([Errno 28] No space left on device): the last whole checkpoint
    is kept, make room and go on with --resume
    """
    try:
        yield
    except Exception as error:  # the writers of weights raise what they like
        if isinstance(error, InputError) or not _is_full(error):
            raise
        for folder in (out / CHECKPOINTS).glob("checkpoint-*"):
            if not step_of(folder):
                shutil.rmtree(folder, ignore_errors=True)
        raise InputError(
            f"cannot write to {out} ({error}): the last whole checkpoint is kept, make room and go on with --resume"
        ) from error


def _is_full(error: BaseException | None) -> bool:
    """Whether an error, or what it came of, tells that there is no room."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return True
        if any(words in str(error) for words in _NO_ROOM_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def _state(checkpoint: Path) -> dict[str, Any]:
    """The state of the trainer in a checkpoint; empty if it is not whole."""
    try:
        found = json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
