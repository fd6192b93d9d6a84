# pyright: basic
"""HHEM-2.1-Open (Vectara): the encoder of flan-t5-base with two outputs for the first token, and one prompt.

Its folder has remote code that newer versions of transformers reject and that is not run; the shape is read from the
weights and loaded into a T5 of transformers. The tokenizer is flan-t5-base's and not included: put its tokenizer.json
and tokenizer_config.json into the folder, or name their folder. A premise is read whole, as its authors do, up to
``MAX_TOKENS``; a longer one in windows. Not supported: HHEM-2.3, which is not public.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.methods.discriminative.published.cutting import whole_or_windows
from vouching.methods.discriminative.published.windowed import Rows, WindowScorer
from vouching.methods.discriminative.scorer import Candidate
from vouching.models.batching import RowScores, Tensor, device_of, load_tokenizer, need
from vouching.models.hub import local_folder
from vouching.search.history import screened

HHEM = "hhem:"
MAX_TOKENS = 4096
"""Of a premise, before it is read in windows."""
PROMPT = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {hypothesis}"
)
"""The input form it was trained on."""
_ROOT = "t5."
"""Prefix of the names of its weights."""


def open_hhem(
    path: str, tokenizer: str | None = None, *, device: str = "auto", limit: int = MAX_TOKENS
) -> WindowScorer:
    """HHEM-2.1-Open from its weights.

    Args:
        path: the folder with model.safetensors, or its name on the hub.
        tokenizer: folder or name with the tokenizer of flan-t5-base; None for ``path``.
        device: "cpu", "cuda", ...; "auto" uses a GPU if there is one.
        limit: tokens of a premise that are read at once; memory grows quadratically.
    """
    place = device_of(device)
    folder = local_folder(path)
    model = _hhem_model(folder).to(place)
    words = load_tokenizer(local_folder(tokenizer) if tokenizer else folder)

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        return model(input_ids=ids, attention_mask=mask).logits[:, 0].softmax(dim=-1)[:, 1]

    def encode(candidate: Candidate) -> Rows:
        text = "\n".join(screened(source.text) for source in candidate.sources)
        parts = whole_or_windows(text, limit, lambda part: len(words(part)["input_ids"])) if text.strip() else []
        asked = (PROMPT.format(premise=part, hypothesis=candidate.claim.text) for part in parts)
        return Rows([tuple(words(one)["input_ids"]) for one in asked])

    rows = RowScores(forward, place, words.pad_token_id or 0)
    return WindowScorer(f"{HHEM}{path}" + (f"#{tokenizer}" if tokenizer else ""), "hhem", rows, encode)


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
