"""The folder of an encoder: a model, a tokenizer, and a manifest that describes them.

    encoder.json     format, limits, the SHA-256 of the other two, and how they were made
    model.onnx       int8
    tokenizer.json

``recipes/encoder/train.py`` writes such a folder. Not supported: downloading one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from vouching.errors import WeightsError, cause_of
from vouching.text.json_values import parse_json

MANIFEST, MODEL, TOKENIZER = "encoder.json", "model.onnx", "tokenizer.json"
WEIGHTS_FORMAT = 2
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""Names of the model's inputs, each int64 (B, T): ids, 1 for tokens and 0 for padding, 0 for claim and 1 for source."""
OUTPUTS = ("relation", "token_support", "error_type", "states")
"""Names of its outputs, float32: logits (B, 3) of supported, contradicted, not found; logits (B, T) that a token is
supported; logits (B, 6) in the order of ``ERROR_TYPES``; states (B, T, W) of unit length for late interaction."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the encoder reads at once."""

    max_tokens: int
    """Tokens of a claim with a window, special tokens included."""
    max_claim_tokens: int
    """Tokens of a claim; the rest is not read, and reported."""
    max_windows: int
    """Windows that are read for one claim."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A checked folder."""

    folder: Path
    limits: Limits
    vocabulary: int
    """Number of token ids of the model."""
    digest: str
    """First 12 hexadecimal digits of the model's SHA-256."""


def find_weights(folder: Path | None = None) -> Weights:
    """Check a folder of weights; None is the one shipped with this package.

    Raises WeightsError if a file is missing, altered or of another format.

    >>> find_weights(Path("no-such-folder"))
    Traceback (most recent call last):
        ...
    vouching.errors.WeightsError: no-such-folder has no encoder.json: choose a folder exported by recipes/encoder
    """
    remedy = "export the encoder again, or copy its whole folder again"
    if folder is None:
        folder = Path(str(files("vouching.encoder").joinpath("weights")))
        remedy = "reinstall vouching, or use embedded:rules"
        if not (folder / MANIFEST).is_file():
            raise WeightsError(f"the encoder shipped with vouching is missing ({folder} has no {MANIFEST}): {remedy}")
    try:
        return _checked(folder, parse_json((folder / MANIFEST).read_bytes()), remedy)
    except FileNotFoundError:
        raise WeightsError(f"{folder} has no {MANIFEST}: choose a folder exported by recipes/encoder") from None
    except (OSError, ValueError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(f"cannot read {folder / MANIFEST} ({error}): {remedy}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{folder / MANIFEST} is incomplete ({cause_of(error)}): {remedy}") from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(folder: Path, record: Mapping[str, Any], remedy: str) -> Weights:
    if record["format"] != WEIGHTS_FORMAT:
        raise WeightsError(
            f"{folder / MANIFEST} has format {record['format']}, expected {WEIGHTS_FORMAT}: export the encoder with "
            "this version of vouching"
        )
    for name in (MODEL, TOKENIZER):
        expected = record["sha256"][name]
        try:
            found = sha256_of(folder / name)
        except OSError as error:
            raise WeightsError(f"cannot read {folder / name} ({error.strerror}): {remedy}") from None
        if found != expected:
            raise WeightsError(
                f"{folder / name} has SHA-256 {found[:12]}..., but its manifest records {expected[:12]}...: the file "
                f"was altered or damaged; {remedy}"
            )
    limits = Limits(*(int(record["limits"][name]) for name in ("max_tokens", "max_claim_tokens", "max_windows")))
    return Weights(folder, limits, int(record["vocabulary"]), record["sha256"][MODEL][:12])
