"""How fast a model is: import, cold command, short claims, long sources.

    [VOUCH_DATA=...] python benchmarks/speed.py [--model embedded] [--output benchmarks/results/speed-embedded.json]

Texts: short claims and sources of attribution/dev where VOUCH_DATA is set, else of examples/. A long source is made of
those sources, repeated as often as needed, with one sentence in the middle that contradicts the claim: a run counts
only if that sentence is found. Not supported: several cores.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vouching
from vouching.embedded.verify import MODELS
from vouching.text.sentences import sentence_spans
from vouching.types import Verdict

ROOT = Path(__file__).parents[1]
SEED, IMPORTS, COMMANDS, PASSES = 0, 15, 7, 3
MAX_PAIRS, MAX_SENTENCES = 1_000, 3
CLAIM = "The Tarnwick viaduct carries 9,417 trains a week."
FINDING = "The Tarnwick viaduct carries 8,352 trains a week."
FIX = "Change 9,417 to 8,352."
STATEMENTS = {
    "pydantic": "import pydantic; pydantic.BaseModel",
    "vouching": "import vouching",
    "vouching_check": "import vouching; vouching.check",
}
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


@dataclass(frozen=True, slots=True)
class Texts:
    """What the claims are and what they are checked against."""

    origin: str
    """Where the texts come from."""
    pairs: list[tuple[str, str]]
    """Claims of one sentence with sources of one to three."""
    prose: str
    """All distinct sources, one after the other."""


def read_texts() -> Texts:
    """The texts of this run."""
    if data := os.environ.get("VOUCH_DATA"):
        origin, rows = "attribution/dev", []
        for path in sorted((Path(data) / origin).glob("*.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                rows += [json.loads(line) for line in lines]
    else:
        origin = "examples/claims.jsonl"
        rows = [json.loads(line) for line in (ROOT / origin).read_text(encoding="utf-8").splitlines()]
    pairs = [(row["claim"], first_sentences(row["source"])) for row in rows if len(sentence_spans(row["claim"])) == 1]
    random.Random(SEED).shuffle(pairs)
    return Texts(origin, pairs[:MAX_PAIRS], "\n".join(dict.fromkeys(row["source"] for row in rows)))


def first_sentences(source: str) -> str:
    """The source's first three sentences, or all of it if it has fewer."""
    return source[: sentence_spans(source)[:MAX_SENTENCES][-1][1]]


def long_source(prose: str, characters: int) -> str:
    """About ``characters`` of prose with the finding in the middle."""
    text = prose * (characters // len(prose) + 1)
    middle = text.rindex(" ", 0, characters // 2)
    return f"{text[:middle]}.\n\n{FINDING}\n\n{text[middle : text.rindex(' ', 0, characters)]}"


def run_seconds(statement: str) -> float:
    """Seconds that a statement takes in a new interpreter, its start not counted."""
    command = [sys.executable, "-c", TIMED.format(statement)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_imports() -> dict[str, Any]:
    """Median import times, in turns so that other load affects all alike."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(IMPORTS):
        for name, statement in STATEMENTS.items():
            times[name].append(run_seconds(statement))
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        **{f"{name}_seconds": round(value, 4) for name, value in medians.items()},
        "vouching_to_pydantic": round(medians["vouching"] / medians["pydantic"], 2),
        "vouching_check_to_pydantic": round(medians["vouching_check"] / medians["pydantic"], 2),
    }


def measure_command(model: str) -> dict[str, Any]:
    """Wall time of a whole ``vouch check``, from the start of the interpreter to its end."""
    command = [sys.executable, "-m", "vouching", "check", CLAIM, "--source-text", FINDING, "--model", model]
    times: list[float] = []
    for _ in range(COMMANDS):
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
        times.append(time.perf_counter() - start)
        if FIX not in done.stdout:
            raise RuntimeError(f"vouch check printed no fix:\n{done.stdout}")
    return {"seconds": round(statistics.median(times), 3), "slowest_seconds": round(max(times), 3)}


def measure_claims(pairs: Sequence[tuple[str, str]], model: str) -> dict[str, Any]:
    """Short claims per second in one process; every pass reads every source anew and looks for fixes."""
    verdicts = [vouching.check(claim, source, model=model) for claim, source in pairs]
    times: list[float] = []
    for _ in range(PASSES):
        # A new checker has no index of a source; only the tables that it shipped with are loaded.
        checker = vouching.Checker(model)
        start = time.perf_counter()
        for claim, source in pairs:
            checker.check(claim, source)
        times.append(time.perf_counter() - start)
    refused = [v for v in verdicts if isinstance(v, Verdict) and not v.attributable]
    return {
        "claims": len(pairs),
        "words_per_claim": round(statistics.mean(len(claim.split()) for claim, _ in pairs), 1),
        "words_per_source": round(statistics.mean(len(source.split()) for _, source in pairs), 1),
        "not_attributable": len(refused),
        "fixed": sum(verdict.revised_claim is not None for verdict in refused),
        "claims_per_second": round(len(pairs) / statistics.median(times)),
    }


def measure_source(text: str, model: str) -> dict[str, Any]:
    """One claim against one long source in a new process: the first time, and again with the index available."""
    command = [sys.executable, str(Path(__file__)), "--model", model, "--source-on-stdin"]
    done = subprocess.run(command, check=True, input=text, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return {"characters": len(text), "words": len(text.split()), **json.loads(done.stdout)}


def check_stdin(model: str) -> None:
    """Check the claim against standard input twice and print seconds and peak memory."""
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    text = sys.stdin.read()
    checker = vouching.Checker(model)
    checker.check(CLAIM, FINDING)
    seconds: list[float] = []
    for _ in range(2):
        start = time.perf_counter()
        verdict = checker.check(CLAIM, text)
        seconds.append(time.perf_counter() - start)
        if not isinstance(verdict, Verdict) or verdict.fix_suggestion != FIX:
            raise RuntimeError(f"the sentence in the middle was not found: {verdict}")
    result = {"cold_seconds": round(seconds[0], 3), "warm_seconds": round(seconds[1], 4)}
    print(json.dumps({**result, "peak_megabytes": round(peak_megabytes())}))


def peak_megabytes() -> float:
    """Peak memory of this process so far."""
    import resource  # Not on Windows, where only this part cannot run.

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main() -> None:
    """Measure everything, print it, write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="embedded")
    parser.add_argument("--output", type=Path, help="default: results/speed-MODEL.json next to this file")
    parser.add_argument("--pairs", type=int, default=MAX_PAIRS, help="short claims")
    parser.add_argument("--largest", type=int, default=50, metavar="MB", help="size of the longest source")
    parser.add_argument("--source-on-stdin", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.source_on_stdin:
        check_stdin(options.model)
        return
    name = f"speed-{options.model.replace(':', '-')}.json"
    output = options.output or Path(__file__).parent / "results" / name
    texts = read_texts()
    sizes = {f"{size} MB": size * 1_000_000 for size in (5, 50) if size <= options.largest}
    words_20k = int(20_000 * len(texts.prose) / len(texts.prose.split()))
    record = {
        "command": " ".join(["python benchmarks/speed.py", *sys.argv[1:]]),
        "model": options.model,
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "texts": texts.origin,
        "import": measure_imports(),
        "cold_command": measure_command(options.model),
        "short_claims": measure_claims(texts.pairs[: options.pairs], options.model),
        "long_sources": {
            name: measure_source(long_source(texts.prose, characters), options.model)
            for name, characters in {"20,000 words": words_20k, **sizes}.items()
        },
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
