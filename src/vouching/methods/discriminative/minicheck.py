# pyright: basic
"""MiniCheck (Tang et al., EMNLP 2024) as a scorer, where its weights are at hand: flan-t5, roberta and deberta forms.

As its authors run it: the document in windows of whole sentences (500 words for flan-t5, 400 tokens for the others),
"document </s> claim" for each ("predict: " before it for flan-t5), the probability of support from two logits, and the
best window counts. Departures: Vouch's own sentences instead of nltk's, and where a window is too long with its claim,
the window is cut and never the claim. Left out: Bespoke-MiniCheck-7B, a chat model; name it as one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.judging.windows import windows
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Reads, Scored, ScoreOutcome
from vouching.models.batching import RowScores, Tensor, config_of, device_of, load_tokenizer, load_weights, need
from vouching.search.history import screened
from vouching.types import Scale, Unverified, Usage, VerdictWarning

PREFIX = "minicheck:"
"""What its name begins with."""
NOT_SUPPORTED, SUPPORTED = 3, 209
"""Tokens of flan-t5 whose logits are compared at the first step of the decoder."""
_LONGEST = {"t5": 2048, "roberta": 512, "deberta-v2": 2048}
"""Tokens of an input, by architecture."""


class MiniCheck:
    """MiniCheck from a folder of weights.

    Args:
        path: the folder, as its authors publish it.
        device: "cpu", "cuda", ...; "auto" takes a GPU if there is one.

    Raises:
        ConfigError: no such model in the folder.
        MissingExtraError: torch or transformers is not installed.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, path: str | Path, *, device: str = "auto") -> None:
        self.name = f"{PREFIX}{path}"
        """Its folder, as :func:`~vouching.methods.discriminative.open.open_scorer` takes it."""
        kind = config_of(path).get("model_type")
        if kind not in _LONGEST:
            raise ConfigError(f"{path} is a model of type {kind!r}, MiniCheck is one of {', '.join(_LONGEST)}")
        self._t5, self._longest = kind == "t5", _LONGEST[kind]
        self._tokenizer = load_tokenizer(path)
        place = device_of(device)
        if self._t5:
            model, missing = load_weights("AutoModelForSeq2SeqLM", path)
        else:
            model, missing = load_weights("AutoModelForSequenceClassification", path, num_labels=2)
        if missing:
            raise ConfigError(f"{path} is no MiniCheck: {min(missing)} is missing")
        self._rows = RowScores(_forward(model.to(place), self._t5), place, self._tokenizer.pad_token_id or 0)

    def digest(self, shown: Shown, question: bool = True) -> str:
        """It has one form."""
        return "minicheck"

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """Probability of support by the best window of each."""
        started = time.perf_counter()
        encoded = [self._encode(candidate) for candidate in candidates]
        numbers = iter(await self._rows.numbers([row for rows, _ in encoded for row in rows]))
        seconds = (time.perf_counter() - started) / max(1, len(candidates))
        outcomes: list[ScoreOutcome] = []
        for candidate, (rows, lost) in zip(candidates, encoded, strict=True):
            found = [next(numbers) for _ in rows]
            usage = Usage(seconds, sum(map(len, rows)), 0, len(rows))
            outcomes.append(best_window(candidate, found, lost, self.name, usage))
        return outcomes

    async def aclose(self) -> None:
        """End the thread of the model."""
        await self._rows.aclose()

    def _encode(self, candidate: Candidate) -> tuple[list[tuple[int, ...]], int]:
        """Token ids of each window with the claim, and how many windows were cut."""
        text = "\n".join(screened(source.text) for source in candidate.sources)
        count = _words if self._t5 else self._tokens
        rows: list[tuple[int, ...]] = []
        cut = 0
        for window in windows(text, 500 if self._t5 else 400, count):
            ids = self._ids(window, candidate.claim.text)
            cut += len(ids) > self._longest
            while len(ids) > self._longest and window:
                window = window[: len(window) * self._longest // len(ids) - 1] if len(window) > 1 else ""
                ids = self._ids(window, candidate.claim.text)
            rows.append(tuple(ids[: self._longest]))
        return rows, cut

    def _ids(self, window: str, claim: str) -> list[int]:
        text = f"{window}{self._tokenizer.eos_token}{claim}"
        return self._tokenizer(f"predict: {text}" if self._t5 else text)["input_ids"]

    def _tokens(self, sentence: str) -> int:
        return len(self._tokenizer(sentence, add_special_tokens=False)["input_ids"])


def best_window(candidate: Candidate, found: Sequence[float], cut: int, name: str, usage: Usage) -> ScoreOutcome:
    """The best of the windows' numbers; Unverified where there is no window, or no number.

    >>> from vouching.types import Claim
    >>> from vouching.methods.discriminative.input import scorer_input
    >>> one = Candidate("", "It opened.", Claim("It opened."), scorer_input("", "It opened."), ())
    >>> best_window(one, [0.25, 0.75], 0, "minicheck:x", Usage()).value, best_window(one, [], 0, "", Usage()).reason
    (0.75, 'no_evidence')
    """
    if not found:
        return Unverified(candidate.claim, "no_evidence", NO_EVIDENCE)
    if not all(map(math.isfinite, found)):
        return Unverified(candidate.claim, "undecided", f"{name} gave no number: its weights are broken")
    message = f"{cut} windows of the evidence were longer than the model reads; their ends were cut off."
    return Scored(max(found), (VerdictWarning("truncated", message),) if cut else (), usage=usage)


def _forward(model: Any, t5: bool) -> Any:
    """From token ids and mask to the probability of support."""

    def classified(ids: Tensor, mask: Tensor) -> Tensor:
        return model(input_ids=ids, attention_mask=mask).logits.softmax(dim=-1)[:, 1]

    def decoded(ids: Tensor, mask: Tensor) -> Tensor:
        start = need("torch").zeros((len(ids), 1), dtype=ids.dtype, device=ids.device)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0]
        return logits[:, [NOT_SUPPORTED, SUPPORTED]].softmax(dim=-1)[:, 1]

    return decoded if t5 else classified


def _words(sentence: str) -> int:
    return len(sentence.split())
