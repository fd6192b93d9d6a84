# pyright: basic
"""Verifiers that read a window of the document with the claim: MiniCheck, FactCG, AlignScore and any NLI model.

They differ in a template, a rule for windows, a limit and the place of the label, which ``READERS`` lists. The score is
the probability of support: the best window, and the mean over the claim's sentences where the authors split the claim
(AlignScore). Sources: github.com/Liyan06/MiniCheck, derenlei/FactCG, yuh-zha/AlignScore. Departures: our own sentence
splitter instead of nltk's, and if a window is too long with its claim, the window is cut and never the claim; the
authors cut the end of both. An empty document is no evidence, and neither is the empty window that FactCG reads before
a first sentence that is too long. Not supported: AlignScore's modes other than ``nli_sp``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.methods.discriminative.published.cutting import (
    Cut,
    alignscore_windows,
    factcg_windows,
    minicheck_windows,
    sentences,
    whole_or_windows,
    words,
    words_and_marks,
)
from vouching.methods.discriminative.published.windowed import Rows, WindowScorer
from vouching.methods.discriminative.scorer import Candidate
from vouching.models.batching import RowScores, Tensor, config_of, device_of, load_tokenizer, load_weights, need
from vouching.models.hub import local_file, local_folder
from vouching.search.history import screened

NOT_SUPPORTED, SUPPORTED = 3, 209
"""Tokens of flan-t5 whose logits MiniCheck compares at the first step of the decoder."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How a published verifier reads a document and a claim."""

    limit: int
    """Tokens of an input."""
    cut: Cut
    """The rule for windows."""
    size: int
    """Limit of a window; 0 for what ``limit`` leaves beside the claim."""
    measure: Callable[[str], int] | None = None
    """What a window is measured in; None for tokens."""
    template: str | None = None
    """Text with {document}, {eos} (the tokenizer's end token) and {claim}; None for a pair of texts."""
    support: int | None = 1
    """Output that means support; None: by the labels of the model's config."""
    splits_claim: bool = False
    """Whether each sentence of the claim is read separately."""


_JOINED = "{document}{eos}{claim}"
_FACTCG = (
    "{document}\n\nChoose your answer: based on the paragraph above can we conclude that "
    '"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
)
READERS = {
    ("minicheck", "t5"): Reader(2048, minicheck_windows, 500, words, "predict: " + _JOINED),
    ("minicheck", "roberta"): Reader(512, minicheck_windows, 400, None, _JOINED),
    ("minicheck", "deberta-v2"): Reader(2048, minicheck_windows, 400, None, _JOINED),
    ("factcg", "deberta-v2"): Reader(2048, factcg_windows, 550, words_and_marks, _FACTCG),
    ("alignscore", "roberta"): Reader(512, alignscore_windows, 350, words, None, 0, splits_claim=True),
}
"""By kind and model type. ``nli`` takes any model type; see :data:`NLI`."""
NLI = Reader(512, whole_or_windows, 0, None, None, None)
"""A cross-encoder for premise and hypothesis, as its model card shows it with transformers."""
_SUPPORT = re.compile(r"entail(s|ed|ment)?|support(s|ed)?|consistent|faithful|attributable|grounded|true|yes", re.I)
_HEAD = "tri_layer"
"""The three-way head in a checkpoint of AlignScore: aligned, neutral, contradicted."""


def open_classifier(kind: str, path: str, second: str | None = None, *, device: str = "auto") -> WindowScorer:
    """A verifier from its published weights.

    Args:
        kind: minicheck, factcg, nli or alignscore.
        path: a folder or a name on the Hugging Face hub that was downloaded; for alignscore, the checkpoint: a file, or
            its name on the hub, such as yzha/AlignScore/AlignScore-base.ckpt.
        second: for nli, the number of the output that means support; for alignscore, the folder or name of the RoBERTa
            that it was trained from, for its config and tokenizer.
        device: "cpu", "cuda", ...; "auto" uses a GPU if there is one.

    Raises:
        ConfigError: other weights, or labels that do not say which of them means support.
        MissingExtraError: torch or transformers is not installed.
    """
    place = device_of(device)
    name = f"{kind}:{path}" + (f"#{second}" if second else "")
    if kind == "alignscore":
        if not second:
            raise ConfigError(
                f"{name} has no RoBERTa: add the folder or name that the checkpoint was trained from, as in "
                f"{name}#FacebookAI/roberta-base"
            )
        folder = local_folder(second)
        reader, model = _reader(kind, folder), _alignscore_model(local_file(path), folder)
    else:
        folder = local_folder(path)
        reader = replace(NLI, support=_support(folder, second)) if kind == "nli" else _reader(kind, folder)
        model = _model(kind, folder)
    model, tokenizer = model.to(place), load_tokenizer(folder)
    if not tokenizer.is_fast and reader.template is None:
        raise ConfigError(f"{folder} has no tokenizer.json, which {kind} requires: download the folder again")
    limit = reader.limit if reader.template else min([reader.limit, *_positions(model, tokenizer)])
    rows = RowScores(_forward(model, tokenizer, reader), place, tokenizer.pad_token_id or 0)
    return WindowScorer(name, kind, rows, _Encoder(replace(reader, limit=limit), tokenizer).rows)


@dataclass(frozen=True, slots=True)
class _Encoder:
    reader: Reader
    tokenizer: Any

    def rows(self, candidate: Candidate) -> Rows:
        """Token ids of each window with each sentence of the claim."""
        reader, claim = self.reader, candidate.claim.text
        text = "\n".join(screened(source.text) for source in candidate.sources)
        parts = (sentences(claim) or [claim]) if reader.splits_claim else [claim]
        room = reader.size or max(1, reader.limit - max(len(self._ids("", part)) for part in parts))
        found = reader.cut(text, room, reader.measure or self._tokens) if text.strip() else []
        rows: list[tuple[int, ...]] = []
        cut = 0
        for window in found:
            for part in parts:
                ids = self._ids(window, part)
                cut += len(ids) > reader.limit
                rows.append(tuple(ids if len(ids) <= reader.limit else self._shortened(window, part, len(ids))))
        return Rows(rows, cut, len(parts))

    def _ids(self, window: str, claim: str) -> list[int]:
        if self.reader.template is None:
            return self.tokenizer(window, claim)["input_ids"]
        eos = self.tokenizer.eos_token or ""
        return self.tokenizer(self.reader.template.format(document=window, eos=eos, claim=claim))["input_ids"]

    def _shortened(self, window: str, claim: str, length: int) -> list[int]:
        """Token ids of the beginning of a window with the whole claim."""
        limit = self.reader.limit
        if self.reader.template is None and len(self._ids("", claim)) < limit:
            return self.tokenizer(window, claim, truncation="only_first", max_length=limit)["input_ids"]
        ids = self._ids(window, claim)
        while length > limit and window:
            window = window[: len(window) * limit // length - 1] if len(window) > 1 else ""
            ids = self._ids(window, claim)
            length = len(ids)
        return ids[:limit]

    def _tokens(self, sentence: str) -> int:
        return len(self.tokenizer(sentence, add_special_tokens=False)["input_ids"])


def _reader(kind: str, folder: Path) -> Reader:
    type_ = config_of(folder).get("model_type")
    known = [of for name, of in READERS if name == kind]
    if (kind, type_) not in READERS:
        raise ConfigError(f"{folder} has the model type {type_!r}; the types of {kind} are {', '.join(known)}")
    return READERS[kind, str(type_)]


def _model(kind: str, folder: Path) -> Any:
    outputs = {} if kind == "nli" else {"num_labels": 2}
    if config_of(folder).get("model_type") == "t5" and kind == "minicheck":
        model, missing = load_weights("AutoModelForSeq2SeqLM", folder)
    else:
        model, missing = load_weights("AutoModelForSequenceClassification", folder, **outputs)
    if missing:
        raise ConfigError(f"{folder} is not a {kind} model: {min(missing)} is missing")
    return model


def _alignscore_model(path: Path, folder: Path) -> Any:
    """RoBERTa with the three-way head of a checkpoint; no object in the checkpoint but tensors is loaded."""
    torch, transformers = need("torch"), need("transformers")
    try:
        if path.suffix == ".safetensors":
            weights = need("safetensors.torch").load_file(str(path))
        else:
            found = torch.load(path, map_location="cpu", weights_only=True)
            weights = found.get("state_dict", found)
        base = {
            name.removeprefix("base_model."): value for name, value in weights.items() if name.startswith("base_model.")
        }
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, num_labels=3)
        model = transformers.RobertaModel(config)
        model.load_state_dict({name: value for name, value in base.items() if "position_ids" not in name})
        head = torch.nn.Linear(config.hidden_size, 3)
        head.load_state_dict({"weight": weights[f"{_HEAD}.weight"], "bias": weights[f"{_HEAD}.bias"]})
    except Exception as error:  # torch, pickle and transformers raise many types
        raise ConfigError(f"{path} does not contain the weights of AlignScore for {folder}: {error}") from error
    model.add_module(_HEAD, head)
    return model.eval()


def _support(folder: Path, stated: str | None) -> int:
    """The output of an NLI model that means support: the stated one, or the only one with such a label."""
    labels = {int(number): str(label) for number, label in _labels(folder).items()}
    listed = ", ".join(f"{number} = {label}" for number, label in sorted(labels.items())) or "none"
    if len(labels) not in (2, 3):
        raise ConfigError(f"{folder} has the labels {listed}; nli requires two or three")
    if stated is not None:
        if not stated.isdecimal() or int(stated) not in labels:
            raise ConfigError(f"nli:{folder}#{stated} names no output of the model: its labels are {listed}")
        return int(stated)
    found = [number for number, label in labels.items() if _SUPPORT.fullmatch(label.strip())]
    if len(found) != 1:
        raise ConfigError(
            f"the labels of {folder} do not say which of them means that the claim is supported ({listed}): add its "
            f"number, as in nli:{folder}#1"
        )
    return found[0]


def _labels(folder: Path) -> dict[str, str]:
    """The labels in the config; transformers does not write those of two outputs without names."""
    return config_of(folder).get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}


def _positions(model: Any, tokenizer: Any) -> list[int]:
    """Limits in tokens that the model and its tokenizer state, as far as they bind."""
    config = model.config
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < 10**6 else []
    positions = getattr(config, "max_position_embeddings", None)
    if positions and config.model_type in {"roberta", "xlm-roberta", "camembert"}:
        limits.append(positions - (config.pad_token_id or 0) - 1)
    elif positions and config.model_type != "deberta-v2":  # DeBERTa has relative positions only
        limits.append(positions)
    return limits


def _forward(model: Any, tokenizer: Any, reader: Reader) -> Any:
    """From token ids and mask to the probability of support."""
    support = reader.support
    separator: Any = tokenizer.sep_token_id
    takes_types = "token_type_ids" in tokenizer.model_input_names and separator is not None
    typed = takes_types and (getattr(model.config, "type_vocab_size", 0) or 0) > 1

    def classified(ids: Tensor, mask: Tensor) -> Tensor:
        types = {"token_type_ids": _types(ids, mask, separator)} if typed and reader.template is None else {}
        return model(input_ids=ids, attention_mask=mask, **types).logits.softmax(dim=-1)[:, support]

    def aligned(ids: Tensor, mask: Tensor) -> Tensor:
        pooled = model(input_ids=ids, attention_mask=mask).pooler_output
        return getattr(model, _HEAD)(pooled).softmax(dim=-1)[:, support]

    def decoded(ids: Tensor, mask: Tensor) -> Tensor:
        start = need("torch").zeros((len(ids), 1), dtype=ids.dtype, device=ids.device)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0]
        return logits[:, [NOT_SUPPORTED, SUPPORTED]].softmax(dim=-1)[:, 1]

    if model.config.is_encoder_decoder:
        return decoded
    return aligned if hasattr(model, _HEAD) else classified


def _types(ids: Tensor, mask: Tensor, separator: Any) -> Tensor:
    """1 for the tokens after the first separator, as BERT's tokenizer gives them for a pair."""
    ends = (ids == separator).long()
    return (ends.cumsum(dim=1) - ends).clamp(max=1) * mask
