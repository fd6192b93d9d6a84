"""Trains the large reader on packs; goes on from its last state.

    python recipes/reader/train.py STAGE --encoder MPNET --packs runs/reader/packs --out runs/reader/large [--hours 2]

STAGE names a mix of sets in ``stages.toml``. Every ten minutes, and at the end, ``state.pt`` (weights, optimizer,
counts) and ``weights.safetensors`` (their running mean, in half precision) are written to --out. The rate rises at the
start and then stays; with --anneal it falls to nothing over the hours of this call. Without --hours the run goes on
until it is stopped: SIGTERM writes the state first, any other stop loses ten minutes at most.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import signal
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from export import COUNTS, read_export
from model import ReaderModel, batch_of, is_adapter, is_rounded, length_of, rounded, shape_of
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from vouching.reading.sequence import Tokenizer, Tokens

MOST_CLAIMS = 16
"""Claims of a sequence."""
LEAST = 0.2
"""How often a text is drawn in a pass, at least; else once per ``MOST_CLAIMS`` of its claims, as a reading of a text
with one claim costs nearly as much as one with many."""
DRAWN, SAVE_EVERY, LOG_EVERY = 512, 600, 20
TOKEN_WEIGHT, UNSUPPORTED_WEIGHT, PAIR_WEIGHT = 0.5, 3.0, 0.5
AVERAGE = 0.99
"""What the mean of the weights keeps of itself at a step."""
ADAPTER_RATE = 8.0
"""The rate of adapters, times that of whole weights: LoRA learns best at about ten times their rate."""
Pack = dict[str, Any]


class Item(NamedTuple):
    """A text with some of its claims."""

    text: Tokens
    blocks: list[Tokens]
    labels: list[int]
    marks: list[list[list[int]] | None]
    pairs: list[str | None]


class Pool:
    """Packs by set, drawn by share and in passes over a set; a file that changed is read again."""

    def __init__(self, folder: Path, shares: dict[str, float], tokenizer: Tokenizer, seed: int) -> None:
        self._folder, self._shares, self._tokenizer, self._random = folder, shares, tokenizer, random.Random(seed)
        self._packs: dict[str, list[str]] = {}
        self._order: dict[str, list[int]] = {}
        self._claims: dict[str, float] = {}
        self._times: dict[str, list[float]] = {}
        self._stamps: dict[str, float] = {}

    def read(self) -> None:
        """Read the files that are new or changed."""
        for name in self._shares:
            path = self._folder / f"{name}.jsonl"
            if not path.exists() or self._stamps.get(name) == path.stat().st_mtime:
                continue
            self._stamps[name] = path.stat().st_mtime
            lines = path.read_text("utf-8").splitlines()
            times = [len(json.loads(line)["claims"]) / MOST_CLAIMS for line in lines]
            self._packs[name], self._times[name], self._order[name] = lines, [max(t, LEAST) for t in times], []
            drawn = sum(self._times[name]) or 1.0  # a file may be empty
            self._claims[name] = sum(MOST_CLAIMS * min(t, 1) * max(t, LEAST) for t in times) / drawn

    def draw(self, number: int) -> list[Item]:
        """Texts with at most ``MOST_CLAIMS`` of their claims each; the shares are those of claims."""
        names = [name for name in self._shares if self._packs.get(name)]
        weights = [self._shares[name] / self._claims[name] for name in names]
        return [self._item(self._next(name)) for name in self._random.choices(names, weights, k=number)]

    def _next(self, name: str) -> Pack:
        if not self._order[name]:
            order = [
                n for n, t in enumerate(self._times[name]) for _ in range(int(t) + (self._random.random() < t % 1))
            ]
            self._random.shuffle(order)
            self._order[name] = order
        pack: Pack = json.loads(self._packs[name][self._order[name].pop()])
        return pack

    def _item(self, pack: Pack) -> Item:
        claims = pack["claims"]
        if len(claims) > MOST_CLAIMS:  # neighbours stay together: minimal pairs are learned side by side
            first = self._random.randrange(len(claims))
            claims = [claims[(first + n) % len(claims)] for n in range(MOST_CLAIMS)]
        blocks = [self._tokenizer.block(claim, notes) for claim, _, notes, *_ in claims]
        labels, marks, pairs = ([entry[at] for entry in claims] for at in (1, 3, 4))
        return Item(self._tokenizer.text(pack["source"]), blocks, labels, marks, pairs)

    def batches(self, tokens: int) -> Iterator[list[Item]]:
        """Batches of sequences of like length, of at most ``tokens`` tokens."""
        while True:
            self.read()
            drawn = sorted(self.draw(DRAWN), key=lambda item: (len(item.text) // 24, _claim_tokens(item)))
            cut: list[list[Item]] = [[]]
            for item in drawn:
                if cut[-1] and sum(length_of(one.text, one.blocks) for one in [*cut[-1], item]) > tokens:
                    cut.append([])
                cut[-1].append(item)
            self._random.shuffle(cut)
            yield from cut


def _claim_tokens(item: Item) -> int:
    return sum(map(len, item.blocks))


def loss_of(relation: Tensor, support: Tensor, heads: Tensor, items: list[Item]) -> Tensor:
    """The loss of a batch: the relation of each claim, its marked tokens, and the order within pairs.

    Relation: cross-entropy; a label of two classes adds their probabilities. Tokens: binary cross-entropy. Pairs:
    log(1 + exp(-(z of a supported claim - z of one that is not))), z = log-odds of supported.
    """
    y = torch.tensor([label for item in items for label in item.labels], device=relation.device)
    log_p = relation.log_softmax(-1)
    either = torch.logsumexp(log_p[:, 1:], -1)
    loss = -torch.where(y == 3, either, log_p.gather(1, y.clamp(max=2)[:, None])[:, 0]).mean()
    loss = loss + TOKEN_WEIGHT * _token_loss(support, heads, items)
    better, worse = _ordered(items)
    if better:
        z = log_p[:, 0] - either
        loss = loss + PAIR_WEIGHT * functional.softplus(z[worse] - z[better]).mean()
    return loss


def _token_loss(support: Tensor, heads: Tensor, items: list[Item]) -> Tensor:
    logits, targets = [], []
    blocks = [(block, marks) for item in items for block, marks in zip(item.blocks, item.marks, strict=True)]
    for at, (block, marks) in zip(heads.tolist(), blocks, strict=True):
        if marks is None or not len(block.starts):
            continue
        logits.append(support[at + 1 : at + 1 + len(block.starts)])
        places = zip(block.starts.tolist(), block.ends.tolist(), strict=True)
        targets += [float(not any(s < end and start < e for s, e in marks)) for start, end in places]
    if not logits:
        return support.new_zeros(())
    target = torch.tensor(targets, device=support.device)
    weight = 1 + (UNSUPPORTED_WEIGHT - 1) * (1 - target)
    return functional.binary_cross_entropy_with_logits(torch.cat(logits), target, weight)


def _ordered(items: list[Item]) -> tuple[list[int], list[int]]:
    """Places in the batch of the claims of each pair that differ in their label: the supported ones, the others."""
    better: list[int] = []
    worse: list[int] = []
    first = 0
    for item in items:
        for one, (label, pair) in enumerate(zip(item.labels, item.pairs, strict=True)):
            for other, (second, same) in enumerate(zip(item.labels, item.pairs, strict=True)):
                if label == 0 and second and pair is not None and pair == same:
                    better.append(first + one)
                    worse.append(first + other)
        first += len(item.labels)
    return better, worse


def optimizer_of(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW, without decay of biases and norms, with ``ADAPTER_RATE`` times the rate for adapters."""
    weights = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    plain = [p for name, p in weights if not is_adapter(name)]
    groups = [
        {"params": [p for p in plain if p.dim() > 1], "weight_decay": 0.01, "factor": 1.0},
        {"params": [p for p in plain if p.dim() <= 1], "weight_decay": 0.0, "factor": 1.0},
        {"params": [p for name, p in weights if is_adapter(name)], "weight_decay": 0.0, "factor": ADAPTER_RATE},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=True)


def half_is_faster() -> bool:
    """Whether this CPU multiplies in bfloat16 faster than in float32, by trying."""
    took = []
    for kind in (torch.float32, torch.bfloat16):
        left, right = torch.randn(1024, 768).to(kind), torch.randn(3072, 768).to(kind)
        functional.linear(left, right)
        started = time.perf_counter()
        for _ in range(8):
            functional.linear(left, right)
        took.append(time.perf_counter() - started)
    return took[1] < 0.8 * took[0]


class ComputingCopy:
    """A copy of a model that computes, while the model itself keeps its weights and moments in float32.

    With ``half``, the copy is in bfloat16. With ``ships``, it has the matrices as they will ship, so that the model
    learns to live with the rounding.
    """

    def __init__(self, model: ReaderModel, half: bool, ships: bool) -> None:
        self.model = copy.deepcopy(model)
        if half:
            self.model.bfloat16()
        pairs = zip(model.named_parameters(), self.model.parameters(), strict=True)
        self._pairs = [(kept, half, ships and is_rounded(name)) for (name, kept), half in pairs]
        self._take(self._pairs)

    def give_gradients(self) -> None:
        """Move the gradients to the model."""
        for kept, half, _ in self._pairs:
            kept.grad = None if half.grad is None else half.grad.float()
            half.grad = None

    def take_weights(self) -> None:
        """Take the model's weights after a step."""
        self._take([pair for pair in self._pairs if pair[0].grad is not None])

    @staticmethod
    @torch.no_grad()
    def _take(pairs: list[tuple[nn.Parameter, nn.Parameter, bool]]) -> None:
        for kept, half, ships in pairs:
            half.copy_(rounded(kept) if ships else kept)


class Run:
    """The state of a training: weights, optimizer and counts, in a folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.model, self.out = ReaderModel(shape_of(options.encoder), options.adapter).to(options.device), options.out
        self.optimizer = optimizer_of(self.model, options.rate)
        self.adapts = options.adapter > 0
        self.counts: dict[str, Any] = {"steps": 0, "claims": 0, "seconds": 0.0, "stages": {}, "averaged": 0}
        self.mean: dict[str, Tensor] = {}
        self.out.mkdir(parents=True, exist_ok=True)
        if (self.out / "state.pt").exists():
            saved = torch.load(self.out / "state.pt", map_location=options.device)
            self.model.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.counts = {"averaged": 0, **saved["counts"]}
            self.mean.update(saved.get("mean", {}))
        else:
            self.model.load_pretrained(options.encoder)
            if options.start is not None:
                self.counts |= read_export(self.model, options.start).get("counts", {})
            if options.adapted is not None:
                self.model.load_state_dict(load_file(str(options.adapted)), strict=False)
                self.counts |= json.loads(options.adapted.with_suffix(".json").read_text("utf-8"))
        own = {name: value.detach().clone() for name, value in self.model.named_parameters() if value.requires_grad}
        self.mean = {**own, **self.mean}

    def average(self) -> None:
        """Move the mean of the weights towards the weights: at first the plain mean of the steps, then of the last."""
        self.counts["averaged"] += 1
        share = max(1 - AVERAGE, 1 / self.counts["averaged"])
        with torch.no_grad():
            for name, value in self.model.named_parameters():
                if value.grad is not None:
                    self.mean[name].lerp_(value, share)

    def save(self) -> None:
        """Write the state, and the mean of the weights in half precision."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "counts": self.counts,
            "mean": self.mean,
        }
        torch.save(state, self.out / "state.tmp")
        os.replace(self.out / "state.tmp", self.out / "state.pt")
        half = {name: value.to(torch.float16) for name, value in {**self.model.state_dict(), **self.mean}.items()}
        save_file(half, str(self.out / "weights.safetensors"))
        if self.adapts:
            trained = {name: value for name, value in half.items() if name in self.mean and _moves(name, self.model)}
            save_file(trained, str(self.out / "adapter.safetensors"))
            (self.out / "adapter.json").write_text(json.dumps(self.counts) + "\n", "utf-8")
        (self.out / COUNTS).write_text(json.dumps(self.counts) + "\n", "utf-8")

    def log(self, **figures: Any) -> None:
        """Add a line to ``log.jsonl``."""
        with (self.out / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"at": time.strftime("%Y-%m-%d %H:%M:%S"), **figures}) + "\n")


def _moves(name: str, model: ReaderModel) -> bool:
    """Whether a weight is trained beside an adapter: not those of the layers below the adapters."""
    part, _, rest = name.partition(".")
    is_below = part == "layers" and int(rest.partition(".")[0]) < model.adapted_from
    return not is_below and part not in ("places", "norm")


def step(run: Run, computing: ComputingCopy | None, items: list[Item], device: str) -> tuple[float, int]:
    """Learn from a batch; its loss and the number of its claims."""
    batch = batch_of([(item.text, item.blocks) for item in items]).to(device)
    relation, support = (computing.model if computing else run.model)(batch)
    loss = loss_of(relation, support, batch.heads, items)
    run.optimizer.zero_grad()
    loss.backward()
    if computing:
        computing.give_gradients()
    nn.utils.clip_grad_norm_([p for p in run.model.parameters() if p.requires_grad], 1.0)
    run.optimizer.step()
    run.average()
    if computing:
        computing.take_weights()
    return loss.item(), relation.shape[0]


def train(options: argparse.Namespace) -> None:
    """Train until the hours are over."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    run = Run(options)
    stage = tomllib.loads((Path(__file__).parent / "stages.toml").read_text("utf-8"))[options.stage]
    pool = Pool(
        options.packs,
        stage["shares"],
        Tokenizer(options.encoder / "tokenizer.json"),
        options.seed + run.counts["steps"],
    )
    half = options.device != "cpu" or half_is_faster() if options.half is None else options.half
    run.model.frozen = max(options.freeze, run.model.adapted_from if options.adapter else 0)
    computing = ComputingCopy(run.model, half, options.ships) if half or options.ships else None
    run.log(stage=options.stage, half=half, threads=options.threads, **run.counts)
    started = saved = logged = time.time()
    first, seconds, mean, before = run.counts["steps"], (options.hours or 1e9) * 3600, None, run.counts["claims"]
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    for items in pool.batches(options.tokens):
        now = time.time()
        if stopped or now - started > seconds:
            break
        rate = options.rate * min(1.0, (run.counts["steps"] + 1) / options.warm, (run.counts["steps"] - first + 1) / 30)
        rate *= max(0.02, 1 - (now - started) / seconds) if options.anneal else 1.0
        for group in run.optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        loss, claims = step(run, computing, items, options.device)
        run.counts["steps"] += 1
        run.counts["claims"] += claims
        run.counts["stages"][options.stage] = run.counts["stages"].get(options.stage, 0) + claims
        run.counts["seconds"] += time.time() - now
        mean = loss if mean is None else 0.98 * mean + 0.02 * loss
        if run.counts["steps"] % LOG_EVERY == 0:
            speed = (run.counts["claims"] - before) / (time.time() - logged)
            run.log(
                steps=run.counts["steps"],
                claims=run.counts["claims"],
                loss=round(mean, 4),
                rate=rate,
                per_second=round(speed, 2),
            )
            logged, before = time.time(), run.counts["claims"]
        if time.time() - saved > SAVE_EVERY:
            run.save()
            saved = time.time()
    run.save()


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the pretrained MPNet")
    parser.add_argument("--packs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="an exported folder to begin with, where --out has no state yet")
    parser.add_argument(
        "--adapted", type=Path, metavar="FILE", help="adapter.safetensors of another run, to go on from"
    )
    parser.add_argument("--hours", type=float)
    parser.add_argument("--anneal", action="store_true", help="let the rate fall to nothing over --hours")
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--tokens", type=int, default=2048, help="tokens of a step")
    parser.add_argument("--warm", type=int, default=150, help="steps until the full rate")
    parser.add_argument("--freeze", type=int, default=0, help="layers from below that stay as they are")
    parser.add_argument("--adapter", type=int, default=0, metavar="RANK", help="train adapters; 0: the whole weights")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument(
        "--half", action=argparse.BooleanOptionalAction, help="bfloat16; the default is what is faster here"
    )
    parser.add_argument("--ships", action="store_true", help="compute with weights rounded as they ship")
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
