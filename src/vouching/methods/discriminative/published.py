# pyright: basic
"""MiniCheck and HHEM-2.1-Open as scorers, from their published weights; the best window counts.

MiniCheck (Tang et al., EMNLP 2024), flan-t5, roberta and deberta, as its authors run it: the document in windows of
whole sentences (500 words for flan-t5, 400 tokens for the others), "document </s> claim" for each ("predict: " before
it for flan-t5), and the probability of support from two logits. Departures: our own sentence splitter instead of
nltk's, and a window that is too long with its claim is truncated, never the claim. Not supported: Bespoke-MiniCheck-7B,
which is used as a language model.

HHEM-2.1-Open (Vectara) is the encoder of flan-t5-base with two outputs for the first token, with one prompt. Its folder
has remote code that newer versions of transformers reject and that is not run; the shape is read from the weights and
loaded into a T5 of transformers. The tokenizer is flan-t5-base's and not included: put its tokenizer.json and
tokenizer_config.json into the folder, or name their folder. A premise is read whole, as its authors do, up to
``MAX_TOKENS``; a longer one in windows. Not supported: HHEM-2.3, which is not public.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from vouching.errors import ConfigError
from vouching.judging.windows import windows
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Reads, Scored, ScoreOutcome
from vouching.models.batching import RowScores, Tensor, config_of, device_of, load_tokenizer, load_weights, need
from vouching.search.history import screened
from vouching.types import Scale, Unverified, Usage, VerdictWarning

MINICHECK = "minicheck:"
NOT_SUPPORTED, SUPPORTED = 3, 209
"""Tokens of flan-t5 whose logits are compared at the first step of the decoder."""
_MAX_INPUT = {"t5": 2048, "roberta": 512, "deberta-v2": 2048}
"""Tokens, by architecture."""
_Rows: TypeAlias = tuple[list[tuple[int, ...]], int]
"""Token ids of each window with the claim, and the number of truncated windows."""


class _WindowScorer:
    """A scorer that reads passages in windows, of which the best counts."""

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, name: str, form: str, rows: RowScores) -> None:
        self.name, self._form, self._rows = name, form, rows

    def digest(self, shown: Shown, question: bool = True) -> str:
        """It has one form."""
        return self._form

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """Probability of support by the best window of each."""
        started = time.perf_counter()
        encoded = [self._encode(candidate) for candidate in candidates]
        numbers = iter(await self._rows.numbers([row for rows, _ in encoded for row in rows]))
        seconds = (time.perf_counter() - started) / max(1, len(candidates))
        outcomes: list[ScoreOutcome] = []
        for candidate, (rows, cut) in zip(candidates, encoded, strict=True):
            usage = Usage(seconds, sum(map(len, rows)), 0, len(rows))
            outcomes.append(best_window(candidate, [next(numbers) for _ in rows], cut, self.name, usage))
        return outcomes

    async def aclose(self) -> None:
        """Stop the thread of the model."""
        await self._rows.aclose()

    def _encode(self, candidate: Candidate) -> _Rows:
        raise NotImplementedError


class MiniCheck(_WindowScorer):
    """MiniCheck from a folder of weights as its authors publish it."""

    def __init__(self, path: str | Path, *, device: str = "auto") -> None:
        kind = config_of(path).get("model_type")
        if kind not in _MAX_INPUT:
            raise ConfigError(f"{path} has the model type {kind!r}; the types of MiniCheck are {', '.join(_MAX_INPUT)}")
        self._t5, self._limit = kind == "t5", _MAX_INPUT[kind]
        self._tokenizer = load_tokenizer(path)
        place = device_of(device)
        if self._t5:
            model, missing = load_weights("AutoModelForSeq2SeqLM", path)
        else:
            model, missing = load_weights("AutoModelForSequenceClassification", path, num_labels=2)
        if missing:
            raise ConfigError(f"{path} is not a MiniCheck model: {min(missing)} is missing")
        rows = RowScores(_forward(model.to(place), self._t5), place, self._tokenizer.pad_token_id or 0)
        super().__init__(f"{MINICHECK}{path}", "minicheck", rows)

    def _encode(self, candidate: Candidate) -> _Rows:
        text = "\n".join(screened(source.text) for source in candidate.sources)
        count = (lambda sentence: len(sentence.split())) if self._t5 else self._tokens
        rows: list[tuple[int, ...]] = []
        cut = 0
        for window in windows(text, 500 if self._t5 else 400, count):
            ids = self._ids(window, candidate.claim.text)
            cut += len(ids) > self._limit
            while len(ids) > self._limit and window:
                window = window[: len(window) * self._limit // len(ids) - 1] if len(window) > 1 else ""
                ids = self._ids(window, candidate.claim.text)
            rows.append(tuple(ids[: self._limit]))
        return rows, cut

    def _ids(self, window: str, claim: str) -> list[int]:
        text = f"{window}{self._tokenizer.eos_token}{claim}"
        return self._tokenizer(f"predict: {text}" if self._t5 else text)["input_ids"]

    def _tokens(self, sentence: str) -> int:
        return len(self._tokenizer(sentence, add_special_tokens=False)["input_ids"])


def best_window(candidate: Candidate, found: Sequence[float], cut: int, name: str, usage: Usage) -> ScoreOutcome:
    """The best number of the windows; Unverified without a window, or if a number is not finite."""
    if not found:
        return Unverified(candidate.claim, "no_evidence", NO_EVIDENCE)
    if not all(map(math.isfinite, found)):
        return Unverified(
            candidate.claim, "undecided", f"{name} gave a number that is not finite: its weights are broken"
        )
    message = f"{cut} windows of the evidence were longer than the limit of the model; their ends were cut off."
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


HHEM = "hhem:"
MAX_TOKENS = 4096
"""Of a premise, before it is read in windows."""
PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {hypothesis}"
)
"""The input form it was trained on."""
_ROOT = "t5."
"""Prefix of the names of its weights."""


class Hhem(_WindowScorer):
    """HHEM-2.1-Open from a folder of weights.

    Args:
        path: the folder with model.safetensors.
        tokenizer: folder with the tokenizer of flan-t5-base; None for ``path``.
        device: "cpu", "cuda", ...; "auto" uses a GPU if there is one.
        limit: tokens of a premise that are read at once; memory grows quadratically.
    """

    def __init__(
        self, path: str | Path, tokenizer: str | Path | None = None, *, device: str = "auto", limit: int = MAX_TOKENS
    ) -> None:
        self._limit = limit
        place = device_of(device)
        model = _hhem_model(Path(path)).to(place)
        self._tokenizer = load_tokenizer(tokenizer or path)

        def forward(ids: Tensor, mask: Tensor) -> Tensor:
            return model(input_ids=ids, attention_mask=mask).logits[:, 0].softmax(dim=-1)[:, 1]

        rows = RowScores(forward, place, self._tokenizer.pad_token_id or 0)
        super().__init__(f"{HHEM}{path}" + (f"#{tokenizer}" if tokenizer else ""), "hhem", rows)

    def _encode(self, candidate: Candidate) -> _Rows:
        text = "\n".join(screened(source.text) for source in candidate.sources)
        parts = windows(text, self._limit, lambda sentence: len(self._tokenizer(sentence)["input_ids"]))
        asked = (PROMPT.format(premise=part, hypothesis=candidate.claim.text) for part in parts)
        return [tuple(self._tokenizer(one)["input_ids"]) for one in asked], 0


def _hhem_model(path: Path) -> Any:
    """A T5 encoder with two outputs, in the shape of the weights."""
    torch, transformers = need("torch"), need("transformers")
    file = path / "model.safetensors"
    try:
        weights = need("safetensors.torch").load_file(str(file))
    except Exception as error:  # safetensors raises many types
        raise ConfigError(f"{path} has no HHEM weights: expected model.safetensors ({error})") from error
    weights = {name.removeprefix(_ROOT): tensor for name, tensor in weights.items()}
    try:
        shared = weights["transformer.shared.weight"]
        weights.setdefault("transformer.encoder.embed_tokens.weight", shared)
        first = "transformer.encoder.block.0.layer"
        bias = weights[f"{first}.0.SelfAttention.relative_attention_bias.weight"]
        gated = f"{first}.1.DenseReluDense.wi_0.weight" in weights
        inner = weights[f"{first}.1.DenseReluDense.{'wi_0' if gated else 'wi'}.weight"]
        config = transformers.T5Config(
            vocab_size=shared.shape[0],
            d_model=shared.shape[1],
            d_kv=weights[f"{first}.0.SelfAttention.q.weight"].shape[0] // bias.shape[1],
            d_ff=inner.shape[0],
            num_layers=len({name.split(".")[3] for name in weights if name.startswith("transformer.encoder.block.")}),
            num_heads=bias.shape[1],
            relative_attention_num_buckets=bias.shape[0],
            feed_forward_proj="gated-gelu" if gated else "relu",
            num_labels=2,
        )
        with torch.device("meta"):
            model = transformers.T5ForTokenClassification(config)
        model.load_state_dict(weights, assign=True)
    except (KeyError, IndexError, RuntimeError, ZeroDivisionError) as error:
        raise ConfigError(f"{file} does not contain the weights of HHEM-2.1-Open: {error}") from error
    return model.eval()
