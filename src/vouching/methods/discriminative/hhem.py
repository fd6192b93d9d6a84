# pyright: basic
"""HHEM-2.1-Open (Vectara) as a scorer, where its weights are at hand; no code that comes with them is run.

It is the encoder of flan-t5-base with two outputs for the first token, behind one prompt. Its folder brings code of its
own that newer versions of transformers refuse; here the shape is read from the weights and a T5 of transformers is made
to it. The tokenizer is flan-t5-base's and does not come along: put its tokenizer.json and tokenizer_config.json into
the folder, or name where they are. A premise is read whole, as its authors do, up to ``MOST_TOKENS``; a longer one in
windows, of which the best counts. Left out: HHEM-2.3, which is not public.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.judging.windows import windows
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.minicheck import best_window
from vouching.methods.discriminative.scorer import Candidate, Reads, ScoreOutcome
from vouching.models.batching import RowScores, Tensor, device_of, load_tokenizer, need
from vouching.search.history import screened
from vouching.types import Scale, Usage

PREFIX = "hhem:"
"""What its name begins with."""
MOST_TOKENS = 4096
"""Of a premise, before it is read in windows."""
PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {hypothesis}"
)
"""The input that it was trained on."""
_ROOT = "t5."
"""What the names of its weights begin with."""


class Hhem:
    """HHEM-2.1-Open from a folder of weights.

    Args:
        path: the folder with model.safetensors.
        tokenizer: folder with the tokenizer of flan-t5-base; None for ``path`` itself.
        device: "cpu", "cuda", ...; "auto" takes a GPU if there is one.
        most: tokens of a premise that are read at once; memory grows with their square.

    Raises:
        ConfigError: no such weights, or no tokenizer.
        MissingExtraError: torch or transformers is not installed.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(
        self, path: str | Path, tokenizer: str | Path | None = None, *, device: str = "auto", most: int = MOST_TOKENS
    ) -> None:
        self.name = f"{PREFIX}{path}" + (f"#{tokenizer}" if tokenizer else "")
        """Its folders, as :func:`~vouching.methods.discriminative.open.open_scorer` takes them."""
        self._most = most
        place = device_of(device)
        model = _model(Path(path)).to(place)
        self._tokenizer = load_tokenizer(tokenizer or path)

        def forward(ids: Tensor, mask: Tensor) -> Tensor:
            return model(input_ids=ids, attention_mask=mask).logits[:, 0].softmax(dim=-1)[:, 1]

        self._rows = RowScores(forward, place, self._tokenizer.pad_token_id or 0)

    def digest(self, shown: Shown, question: bool = True) -> str:
        """It has one form."""
        return "hhem"

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """Probability that each is consistent with its passages."""
        started = time.perf_counter()
        encoded = [self._encode(candidate) for candidate in candidates]
        numbers = iter(await self._rows.numbers([row for rows in encoded for row in rows]))
        seconds = (time.perf_counter() - started) / max(1, len(candidates))
        return [
            best_window(
                candidate, [next(numbers) for _ in rows], 0, self.name,
                Usage(seconds, sum(map(len, rows)), 0, len(rows)),
            )
            for candidate, rows in zip(candidates, encoded, strict=True)
        ]  # fmt: skip

    async def aclose(self) -> None:
        """End the thread of the model."""
        await self._rows.aclose()

    def _encode(self, candidate: Candidate) -> list[tuple[int, ...]]:
        text = "\n".join(screened(source.text) for source in candidate.sources)
        parts = windows(text, self._most, lambda sentence: len(self._tokenizer(sentence)["input_ids"]))
        return [
            tuple(self._tokenizer(PROMPT.format(premise=part, hypothesis=candidate.claim.text))["input_ids"])
            for part in parts
        ]


def _model(path: Path) -> Any:
    """A T5 encoder with two outputs, in the shape of the weights."""
    torch, transformers = need("torch"), need("transformers")
    file = path / "model.safetensors"
    try:
        weights = need("safetensors.torch").load_file(str(file))
    except Exception as error:  # a missing file, or one that is none
        raise ConfigError(f"{path} holds no weights of HHEM: wanted model.safetensors ({error})") from error
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
        raise ConfigError(f"{file} holds other weights than HHEM-2.1-Open: {error}") from error
    return model.eval()
