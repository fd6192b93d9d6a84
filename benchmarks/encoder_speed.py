"""Speed of the encoder compared with the architectures of HHEM, MiniCheck and LettuceDetect: same texts, one core.

    python benchmarks/encoder_speed.py [--encoder FOLDER] [--only NAME ...] [--lengths 32 256 2000]
                                       [--output benchmarks/results/encoder_speed.json]

Each model runs in its own process with one thread and checks one claim at a time; seconds are CPU time. Ours is the
int8 export as ``vouch`` runs it, including tokenization, choice of windows and folding; of a long source it reads a few
windows. The others are built by transformers in the published shape with random weights, in float32, and read
everything that their own project would, chunked as that project does. All use our tokenizer, as theirs would have to be
downloaded and produce about as many tokens for English. Texts as in speed.py. Not supported: quality; rules and
calibration; batches of several claims; the other models in int8 or in another runtime.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from speed import CLAIM, long_source, peak_megabytes, read_texts

import vouching
from vouching.encoder.encoder import Encoder, load_encoder
from vouching.encoder.tokens import PairTokenizer
from vouching.encoder.weights import TOKENIZER, find_weights
from vouching.errors import MissingExtraError, VouchError
from vouching.text.sentences import sentence_spans
from vouching.types import Source

VOUCH = "vouch"
CLAIM_WORDS, PAIRS, PAIR_TOKENS = 17, 200, 32
CHARACTERS_PER_TOKEN = 20
"""More than any text needs; only so much of the prose is tokenized to cut a source from it."""
MIN_REPEATS, MAX_REPEATS, SECONDS = 3, 50, 10.0
"""A claim is read again until it took ten seconds of CPU time in all or fifty repeats, but at least three times."""
LIBRARIES = ("torch", "transformers", "onnxruntime", "tokenizers")


@dataclass(frozen=True, slots=True)
class Architecture:
    """A published model: its shape, and how its project has it read a claim and a source."""

    project: str
    """What is built like this."""
    model: str
    """Class of transformers."""
    shape: dict[str, Any]
    """What its config says other than the class's default."""
    prompt: str
    """The text that is read, of ``{source}`` and ``{claim}``."""
    special_tokens: int
    """How many tokens its tokenizer adds to that."""
    chunk: tuple[int, Literal["words", "tokens"]] | None = None
    """Most of a chunk, in whole sentences; the chunks of a claim are one batch. None: the source is read in one."""
    max_tokens: int | None = None
    """Where its project cuts an input off."""

    @property
    def reads(self) -> str:
        """How a source is read, in words."""
        chunks = f"chunks of sentences, {self.chunk[0]} {self.chunk[1]}, in one batch" if self.chunk else "in one piece"
        return f"{chunks}; cut off at {self.max_tokens} tokens" if self.max_tokens else chunks


T5 = {"feed_forward_proj": "gated-gelu", "d_kv": 64, "vocab_size": 32128, "tie_word_embeddings": False}
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
ROBERTA = {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
DEBERTA = {
    "vocab_size": 128100,
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
}
MODERNBERT = {
    "vocab_size": 50368,
    "hidden_size": 768,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "intermediate_size": 1152,
    "local_attention": 128,
    "max_position_embeddings": 8192,
}
HHEM_PROMPT = "Determine if the hypothesis is true given the premise?\n\nPremise: {source}\n\nHypothesis: {claim}"
LETTUCE_PROMPT = "Summarize the following text:\npassage 1: {source}\noutput: {claim}"
# Shapes: the config.json of google/flan-t5-base and -large, microsoft/deberta-v3-large, FacebookAI/roberta-large and
# answerdotai/ModernBERT-base. Reading: HHEM's modeling_hhem_v2.py (the encoder of T5 alone: 110 million parameters),
# MiniCheck's inference.py (one decoding step), LettuceDetect's detectors/transformer.py.
ARCHITECTURES = {
    "hhem": Architecture(
        "HHEM-2.1-Open",
        "T5ForTokenClassification",
        {**T5, "d_model": 768, "num_layers": 12, "num_heads": 12, "d_ff": 2048},
        HHEM_PROMPT,
        2,
    ),
    "minicheck-flan-t5": Architecture(
        "MiniCheck-Flan-T5-Large",
        "T5ForConditionalGeneration",
        {**T5, "d_model": 1024, "num_layers": 24, "num_heads": 16, "d_ff": 2816},
        "predict: {source} {claim}",
        2,
        (500, "words"),
        2048,
    ),
    "minicheck-deberta": Architecture(
        "MiniCheck-DeBERTa-v3-Large",
        "DebertaV2ForSequenceClassification",
        {**LARGE, **DEBERTA},
        "{source} {claim}",
        3,
        (400, "tokens"),
        2048,
    ),
    "minicheck-roberta": Architecture(
        "MiniCheck-RoBERTa-Large",
        "RobertaForSequenceClassification",
        {**LARGE, **ROBERTA},
        "{source} {claim}",
        3,
        (400, "tokens"),
        512,
    ),
    "lettucedetect": Architecture(
        "LettuceDetect-base",
        "ModernBertForTokenClassification",
        MODERNBERT,
        LETTUCE_PROMPT,
        3,
        None,
        4096,
    ),
}
NAMES = (VOUCH, *ARCHITECTURES)


@dataclass(frozen=True, slots=True)
class Inputs:
    """What every model reads."""

    origin: str
    """Where the texts come from."""
    claim: str
    """The sentence of the texts that is nearest to 17 words."""
    sources: dict[int, str]
    """Its source and what follows in the texts, by the number of tokens that it is cut to; shortest first."""
    pairs: list[tuple[str, str]]
    """Claims with sources of at most 32 tokens."""


def prepare(folder: Path, lengths: Iterable[int]) -> Inputs:
    """Cut the texts of speed.py to numbers of our tokens."""
    tokenizer = PairTokenizer(folder / TOKENIZER)

    def cut(text: str, limit: int) -> str:
        return text[: tokenizer.tokens([text])[0].ends[:limit][-1]]

    texts = read_texts()
    claim, source = min(texts.pairs, key=lambda pair: abs(len(pair[0].split()) - CLAIM_WORDS))
    prose = f"{source}\n{texts.prose}\n"
    sources: dict[int, str] = {}
    for n in sorted(set(lengths)):
        limit = n * CHARACTERS_PER_TOKEN
        sources[n] = cut((prose * (limit // len(prose) + 1))[:limit], n)
    pairs = [(claim, cut(source, PAIR_TOKENS)) for claim, source in texts.pairs[:PAIRS]]
    return Inputs(texts.origin, claim, sources, pairs)


def prepare_long() -> dict[str, str]:
    """Long sources, by name, that contradict ``CLAIM`` in the middle."""
    prose = read_texts().prose
    words_20k = int(20_000 * len(prose) / len(prose.split()))
    sizes = {"20,000 words": words_20k, "4 million characters": 4_000_000}
    return {name: long_source(prose, characters) for name, characters in sizes.items()}


def timed(read: Callable[[], object]) -> dict[str, Any]:
    """CPU seconds of a call (median of repeats after one that does not count), and the peak memory so far."""
    read()
    times: list[float] = []
    while len(times) < MIN_REPEATS or (len(times) < MAX_REPEATS and sum(times) < SECONDS):
        start = time.process_time()
        read()
        times.append(time.process_time() - start)
    median = statistics.median(times)
    return {
        "claims_per_second": float(f"{1 / median:.4g}"),
        "seconds": float(f"{median:.4g}"),
        "slowest_seconds": float(f"{max(times):.4g}"),
        "repeats": len(times),
        "peak_megabytes": round(peak_megabytes()),
    }


def measure_vouch(folder: Path, inputs: Inputs) -> dict[str, Any]:
    """Our encoder on every length."""
    import onnxruntime  # noqa: F401  # Here, so that it counts among the imports.
    import tokenizers  # noqa: F401

    imports = peak_megabytes()
    encoder = load_encoder(folder, 1)
    sources = {f"{n} tokens": timed_reading(encoder, inputs.claim, text) for n, text in inputs.sources.items()}
    return {**memory(imports), "sources": sources}


def measure_long(folder: Path, text: str) -> dict[str, Any]:
    """Our encoder on a long source."""
    size = {"characters": len(text), "words": len(text.split())}
    return {**size, **timed_reading(load_encoder(folder, 1), CLAIM, text)}


def measure_pairs(folder: Path, inputs: Inputs) -> dict[str, Any]:
    """Our encoder on many short pairs, one after the other."""
    encoder = load_encoder(folder, 1)
    found = timed(lambda: [encoder.read(claim, encoder.encode([Source(source)])) for claim, source in inputs.pairs])
    rate = round(len(inputs.pairs) * found.pop("claims_per_second"), 1)
    return {"pairs": len(inputs.pairs), "max_source_tokens": PAIR_TOKENS, "pairs_per_second": rate, **found}


def timed_reading(encoder: Encoder, claim: str, text: str) -> dict[str, Any]:
    """How long our encoder takes for one claim and one source, and how many windows of it that reads."""
    sources = [Source(text)]
    reading = encoder.read(claim, encoder.encode(sources))
    windows = {"windows_read": reading.windows_read, "windows": reading.windows}
    return {**windows, **timed(lambda: encoder.read(claim, encoder.encode(sources)))}


def measure_architecture(name: str, folder: Path, inputs: Inputs) -> dict[str, Any]:
    """Another architecture on every length."""
    import torch
    import transformers

    architecture = ARCHITECTURES[name]
    kind = getattr(transformers, architecture.model)
    torch.set_num_threads(1)
    imports = peak_megabytes()
    tokenizer = PairTokenizer(folder / TOKENIZER)
    model = build(kind, architecture.shape)

    def read(text: str) -> tuple[list[list[int]], Any]:
        rows = rows_of(architecture, tokenizer, inputs.claim, text)
        return rows, logits_of(model, rows)

    sources: dict[str, Any] = {}
    for n, text in inputs.sources.items():
        rows, logits = read(text)
        if not torch.isfinite(logits).all():
            raise RuntimeError(f"{name} returns non-finite logits for {n} tokens, so its time is meaningless")
        size = {"sequences": len(rows), "longest_sequence": max(map(len, rows))}
        sources[f"{n} tokens"] = {**size, **timed(lambda text=text: read(text))}
    return {
        "project": architecture.project,
        "model": architecture.model,
        "parameters_millions": round(sum(weights.numel() for weights in model.parameters()) / 1e6, 1),
        "reads": architecture.reads,
        **memory(imports),
        "sources": sources,
    }


def build(kind: Any, shape: dict[str, Any]) -> Any:
    """A model of a class of transformers with random weights, in no more memory than they take."""
    import torch
    from transformers.initialization import no_init_weights

    with no_init_weights():
        model = kind(kind.config_class(**shape))
    model.tie_weights()
    if hasattr(model, "lm_head"):
        # Flan-T5's output layer is a matrix of its own; T5's config always ties it to the embeddings.
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
    with torch.no_grad():
        for weights in model.parameters():
            weights.normal_(std=0.02) if weights.ndim > 1 else weights.fill_(1)
    return model.eval()


def rows_of(architecture: Architecture, tokenizer: PairTokenizer, claim: str, text: str) -> list[list[int]]:
    """The token ids that an architecture reads of a claim and a source: one row, or one for each chunk.

    Which ids stand for its special tokens does not matter, only how many there are.
    """

    def ids(text: str) -> list[int]:
        return tokenizer.tokens([text])[0].ids.tolist()

    chunks = [text]
    if architecture.chunk:
        limit, unit = architecture.chunk
        chunks = chunked(text, limit, str.split if unit == "words" else ids)
    special = [tokenizer.sep] * architecture.special_tokens
    rows = [ids(architecture.prompt.format(source=chunk, claim=claim)) + special for chunk in chunks]
    return [row[: architecture.max_tokens] for row in rows]


def chunked(text: str, limit: int, parts: Callable[[str], list[Any]]) -> list[str]:
    """Chunks of whole sentences, each of at most ``limit`` parts; a longer sentence is a chunk of its own."""
    chunks: list[str] = []
    room = 0
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        count = len(parts(sentence))
        if chunks and count <= room:
            chunks[-1] += f" {sentence}"
        else:
            chunks.append(sentence)
            room = limit
        room -= count
    return chunks


def logits_of(model: Any, rows: list[list[int]]) -> Any:
    """One pass over a padded batch; a model with a decoder decodes one token."""
    import torch

    longest = max(map(len, rows))
    ids = torch.tensor([row + [model.config.pad_token_id] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    decoder = {"decoder_input_ids": torch.zeros(len(rows), 1, dtype=torch.long)} if hasattr(model, "decoder") else {}
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=mask, **decoder).logits


def memory(imports: float) -> dict[str, int]:
    """Peak memory of this process, and how much of it came after the imports."""
    peak = peak_megabytes()
    return {"peak_megabytes": round(peak), "peak_megabytes_after_imports": round(peak - imports)}


def alone(function: Callable[..., Any], *arguments: object) -> Any:
    """What a function returns in a new process that does nothing else."""
    # This process stays small: a new one's peak begins at the size of the one that started it.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def measure(names: list[str], folder: Path, inputs: Inputs) -> dict[str, Any]:
    """All requested measurements, and how many times faster ours is than the others."""
    record: dict[str, Any] = {}
    if VOUCH in names:
        print(f"{VOUCH} ...", file=sys.stderr)
        record[VOUCH] = {
            **alone(measure_vouch, folder, inputs),
            "short_pairs": alone(measure_pairs, folder, inputs),
            "long_sources": {name: alone(measure_long, folder, text) for name, text in alone(prepare_long).items()},
        }
    for name in [name for name in ARCHITECTURES if name in names]:
        print(f"{name} ...", file=sys.stderr)
        record[name] = alone(measure_architecture, name, folder, inputs)
        for n, found in record[name]["sources"].items() if VOUCH in names else ():
            found["vouch_is_times_as_fast"] = round(found["seconds"] / record[VOUCH]["sources"][n]["seconds"], 1)
    return record


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, help="folder of an exported encoder; default: the shipped encoder")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 256, 2000], help="source lengths in tokens")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/encoder_speed.json")
    options = parser.parse_args()
    try:
        weights = find_weights(options.encoder)
        for module in ("torch", "transformers") if set(options.only) - {VOUCH} else ():
            if not find_spec(module):
                raise MissingExtraError("train", "every architecture but ours (--only vouch)", module)
    except VouchError as error:
        raise SystemExit(f"encoder_speed: {error}") from None
    # Also what numpy computes is to take no more threads; the new processes inherit this.
    os.environ["OMP_NUM_THREADS"] = "1"
    inputs = alone(prepare, weights.folder, options.lengths)
    record = {
        "command": f"python benchmarks/encoder_speed.py {' '.join(sys.argv[1:])}".rstrip(),
        "model": f"encoder {weights.digest}",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "threads": 1,
        "seconds": "of CPU time",
        "libraries": {name: version(name) for name in LIBRARIES if find_spec(name)},
        "limits": dataclasses.asdict(weights.limits),
        "texts": inputs.origin,
        "claim": inputs.claim,
        "ours": "int8, ONNX; reads some windows of a long source, as counted",
        "others": "float32, torch, random weights; read everything",
        "models": measure(options.only, weights.folder, inputs),
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
