# pyright: basic
"""Folders and files of weights by path, or by their name on the Hugging Face hub once they have been downloaded."""

from __future__ import annotations

import re
from pathlib import Path

from vouching.errors import ConfigError
from vouching.models.batching import need

_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def local_folder(name: str) -> Path:
    """The folder of weights at a path, or of a name on the hub in the local cache. Nothing is downloaded.

    Raises ConfigError if there is neither; the message has the command that downloads a name.
    """
    path = Path(name)
    if path.is_dir() or _NAME.fullmatch(name) is None:
        return path
    try:
        return Path(need("huggingface_hub").snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{name} is neither a folder nor a downloaded model: download it with  hf download {name}"
        ) from error


def local_file(name: str) -> Path:
    """The file of weights at a path, or OWNER/NAME/FILE of the hub in the local cache. Nothing is downloaded.

    Raises ConfigError as :func:`local_folder`; the file itself may be missing.
    """
    path, (folder, _, file) = Path(name), name.rpartition("/")
    return path if path.is_file() or _NAME.fullmatch(folder) is None else local_folder(folder) / file
