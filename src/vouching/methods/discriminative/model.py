# pyright: basic
"""The trained scorer of DiVA (section 3.1): a language model or an encoder with a linear head that gives one number.

It loads what ``recipes/rank/train.py`` saves: a model of transformers with one label, or a LoRA adapter with its
head, with a note about the form of input it was trained on. The number is a raw logit that ranks; a calibration makes
it a probability. An untrained head is refused. Not supported: heads with several outputs.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from vouching.errors import ConfigError
from vouching.methods.discriminative.input import MAX_TOKENS, Shown, encode, input_digest
from vouching.methods.discriminative.scorer import Candidate, Reads, Scored, ScoreOutcome
from vouching.models.batching import RowScores, Tensor, config_of, device_of, load_tokenizer, load_weights, need
from vouching.settings import recorded_settings
from vouching.text.json_values import parse_json
from vouching.types import Scale, Unverified, Usage, VerdictWarning

NOTE = "scorer.json"


@dataclass(frozen=True, slots=True)
class ScorerNote:
    """How a scorer is used."""

    shown: Shown = "compressed"
    """What it was shown of a search in training."""
    max_tokens: int = MAX_TOKENS
    """Maximum length of an input."""

    def __post_init__(self) -> None:
        if self.shown not in get_args(Shown):
            raise ConfigError(f"shown must be one of {', '.join(get_args(Shown))}, got {self.shown!r}")
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, got {self.max_tokens}")

    def write(self, folder: Path) -> None:
        """Write the note into a folder."""
        (folder / NOTE).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def read_note(folder: Path) -> ScorerNote | None:
    """The note in a folder; None if there is none. Raises ConfigError if it cannot be read."""
    path = folder / NOTE
    if not path.exists():
        return None
    try:
        return recorded_settings(ScorerNote, parse_json(path.read_bytes()))
    except (OSError, ValueError, TypeError, AttributeError, ConfigError) as error:
        raise ConfigError(f"{path} does not describe a scorer ({error}): correct it, or train again") from error


PREFIX = "discriminative:"
"""Prefix of the names of trained scorers."""
_AUTO = "AutoModelForSequenceClassification"


class TrainedScorer:
    """A scorer from a folder of weights.

    Args:
        path: a folder with a model, its head and its tokenizer; or one with a LoRA adapter whose base is a local
            folder.
        adapter: folder of a LoRA adapter with a head, for the model of ``path``.
        device: "cpu", "cuda", ...; "auto" uses a GPU if there is one.
        dtype: "float32", "bfloat16", ...; "auto" uses that of the saved weights.

    Raises:
        ConfigError: no model, no tokenizer, a head that is not one trained output, an adapter without a head.
        MissingExtraError: torch, transformers or, for an adapter, peft is not installed.
    """

    scale: Scale = "logit"
    reads: Reads = "text"

    def __init__(
        self, path: str | Path, adapter: str | Path | None = None, *, device: str = "auto", dtype: str = "auto"
    ) -> None:
        base, self._adapter = _base(Path(path)) if adapter is None else (Path(path), Path(adapter))
        folder = self._adapter or base
        self.name = PREFIX + (f"{path}" if adapter is None else f"{path}#{adapter}")
        self.note = read_note(folder) or ScorerNote()
        self.shown: Shown | None = self.note.shown
        place = device_of(device)
        model = _load(base, self._adapter, dtype).to(place)
        self._tokenizer = load_tokenizer(folder if (folder / "tokenizer.json").is_file() else base)
        pad = _pad(model, self._tokenizer)

        def forward(ids: Tensor, mask: Tensor) -> Tensor:
            return model(input_ids=ids, attention_mask=mask).logits[:, 0]

        self._rows = RowScores(forward, place, pad)

    def digest(self, shown: Shown, question: bool = True) -> str:
        """SHA-256 of the form of its input."""
        return input_digest(shown, self.note.max_tokens, question)

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The logit of each; Unverified if it is not finite."""
        started = time.perf_counter()
        encoded = [encode(self._tokenizer, candidate.read, self.note.max_tokens) for candidate in candidates]
        numbers = await self._rows.numbers([one.ids for one in encoded])
        seconds = (time.perf_counter() - started) / max(1, len(candidates))
        return [
            Scored(number, self._cut(one.lost), usage=Usage(seconds, len(one.ids), 0, 1))
            if math.isfinite(number)
            else Unverified(candidate.claim, "undecided", f"{self.name} gave the score {number}: train the model again")
            for candidate, one, number in zip(candidates, encoded, numbers, strict=True)
        ]

    async def aclose(self) -> None:
        """Stop the thread of the model."""
        await self._rows.aclose()

    def _cut(self, lost: int) -> tuple[VerdictWarning, ...]:
        if not lost:
            return ()
        limit = self.note.max_tokens
        return (VerdictWarning("truncated", f"The scorer reads {limit:,} tokens; the last {lost:,} were cut off."),)


def _base(path: Path) -> tuple[Path, Path | None]:
    """The folder of the model, and that of the adapter if ``path`` is one."""
    settings = path / "adapter_config.json"
    if (path / "config.json").is_file() or not settings.is_file():
        return path, None
    try:
        base = parse_json(settings.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"{settings} cannot be read ({error!r}): name the folder that peft wrote") from error
    for place in (Path(str(base)), path / str(base)):
        if (place / "config.json").is_file():
            return place, path
    raise ConfigError(
        f"{path} is an adapter of {base}, which is not a folder here: name both, as in {PREFIX}/path/of/base#{path}"
    )


def _load(base: Path, adapter: Path | None, dtype: str) -> Any:
    if adapter is None:
        outputs = len(config_of(base).get("id2label") or [""])
        if outputs != 1:
            raise ConfigError(f"{base} is not a scorer: it has {outputs} outputs, expected one (see recipes/rank)")
    model, missing = load_weights(_AUTO, base, num_labels=1, dtype=dtype)
    if adapter is None:
        if missing:
            raise ConfigError(f"{base} has no trained head: {min(missing)} is missing (see recipes/rank)")
        return model
    if not (adapter / "adapter_config.json").is_file():
        raise ConfigError(f"{adapter} is not an adapter: pass a folder with adapter_config.json, as written by peft")
    peft = need("peft")
    try:
        whole = peft.PeftModel.from_pretrained(model, str(adapter)).eval()
    except Exception as error:  # peft raises many types for weights that do not fit
        raise ConfigError(f"{adapter} is not an adapter for {base}: {error}") from error
    if lost := _not_saved(missing, whole.active_peft_config.modules_to_save or ()):
        raise ConfigError(
            f"neither {adapter} nor {base} contains {lost[0]}, so its values would be random (train the adapter with "
            "recipes/rank/train.py, or with modules_to_save)"
        )
    return whole


def _not_saved(missing: Collection[str], saved: Collection[str]) -> list[str]:
    """The missing weights of a model that are in no module saved with its adapter."""
    return sorted(name for name in missing if not any(f".{module}." in f".{name}" for module in saved))


def _pad(model: Any, tokenizer: Any) -> int:
    """Token id for padding; decoders find the end of a row by it."""
    pad = model.config.pad_token_id
    if pad is None:
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
        if pad is None:
            raise ConfigError("the scorer has neither a padding nor an end token: set pad_token in its tokenizer")
        model.config.pad_token_id = pad
    return int(pad)
