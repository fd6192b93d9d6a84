"""Effect of self-evolution on the embedded verifier: the arms of ``recipes/evolve/arms.sh`` on test sets, once.

    VOUCH_DATA=... python benchmarks/evolve.py runs/evolve [--limit 150] [--max-long 50]

For every arm all rounds on the public sets, compared with round 0, with paired intervals; the similarity of the arms;
the rounds that a gate would have rejected; and whether a router over the rounds, or the mean of their weights, is a
good generalist. Everything fitted or chosen uses dev rows. Writes ``benchmarks/results/evolve.json``. Answers are kept
next to the arms, from which an interrupted run continues; a finished test is not repeated.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.average import average_weights
from recipes.evolve.contest import contest
from recipes.evolve.embedded import (
    COMBINED,
    EXPORT,
    MODEL,
    EmbeddedEvolveConfig,
    EmbeddedStudent,
    ReadingCache,
    fit_combined,
)
from recipes.evolve.route import best_single, fit_router, routed
from vouching.bench.catalog import chosen, data_folder
from vouching.evolve.fingerprint import Fingerprint, alike
from vouching.evolve.loop import ROWS, STUDENT, TEST, config_of, folder_of, read_data, read_judged, rounds_of, run_test
from vouching.evolve.page import FINGERPRINT
from vouching.evolve.probe import ProbeReport
from vouching.evolve.records import (
    GateDecision,
    Judged,
    Reflection,
    Row,
    read_record,
    read_records,
    write_records,
)
from vouching.evolve.rows import rows_of_sets
from vouching.train.run_folder import surroundings

ARMS = ("weakness", "random", "mixed", "bare", "gated")
SETS = (
    "attributionbench",
    "bump",
    "fever_symmetric",
    "fool_me_twice",
    "healthver",
    "seva_fever",
    "seva_halueval",
    "wice",
)
"""Public sets of claims. Excluded: whole responses, and seva_truthfulqa, in which nearly every Attributable claim is a
bare question and no other is."""
LONG = ("attributionbench", "bump", "wice")
"""Those with long sources, of which fewer rows are taken."""
COMPARED = ("weakness", "random", "mixed")
"""Arms that differ in one thing."""
OUTPUT = Path(__file__).parent / "results/evolve.json"
AVERAGE = "mean of weights"
RESAMPLES = 10_000


def say(line: str) -> None:
    """Print progress."""
    print(line, file=sys.stderr, flush=True)


def tested(out: Path, rows: Sequence[Row], first: Path, kept: ReadingCache) -> Fingerprint:
    """The test of one arm; round 0 is the same verifier in all arms and answers once."""
    if (out / TEST / FINGERPRINT).exists():
        return read_record(out / TEST / FINGERPRINT, Fingerprint)
    data = read_data(config_of(out, EmbeddedEvolveConfig))
    again = first / TEST / "round-0.jsonl"
    same = [folder_of(one, 0) / STUDENT / COMBINED for one in (out, first)]
    if out != first and again.exists() and same[0].read_bytes() == same[1].read_bytes():
        (out / TEST).mkdir(exist_ok=True)
        shutil.copyfile(again, out / TEST / again.name)
    return run_test(
        out, rows, data, lambda folder: EmbeddedStudent(folder, (), cache=kept), resamples=RESAMPLES, report=say
    )


def averaged(out: Path, dev: Sequence[Row], kept: ReadingCache) -> EmbeddedStudent:
    """The student whose encoder has the mean of the weights of all rounds of an arm after the start."""
    from recipes.encoder.batches import encode_row
    from recipes.encoder.export import export_encoder
    from recipes.encoder.model import load_model
    from recipes.encoder.rows import SUPPORTED, TrainingRow
    from recipes.encoder.settings import EncoderConfig
    from vouching.encoder.tokens import PairTokenizer
    from vouching.encoder.weights import MANIFEST, TOKENIZER, find_weights

    folder = out / "average"
    if not (folder / COMBINED).exists():
        rounds = [folder_of(out, one.number) / STUDENT for one in rounds_of(out)[1:]]
        (folder / MODEL).parent.mkdir(parents=True, exist_ok=True)
        average_weights([one / MODEL for one in rounds], folder / MODEL)
        settings = json.loads((rounds[0] / EXPORT / MANIFEST).read_bytes())["trained"]["settings"]
        tokenizer = PairTokenizer(folder / MODEL / TOKENIZER)
        limits = find_weights(rounds[0] / EXPORT).limits
        rows = [
            encode_row(TrainingRow("dev", one.claim, one.source, SUPPORTED), tokenizer, limits) for one in dev[:300]
        ]
        export_encoder(
            load_model(folder / MODEL, 0),
            EncoderConfig(**settings),
            folder / MODEL / TOKENIZER,
            folder / EXPORT,
            {},
            {},
            rows,
        )
        fit_combined(folder, dev, kept)
    return EmbeddedStudent(folder, dev, cache=kept)


def generalists(out: Path, kept: ReadingCache) -> dict[str, Any]:
    """Rounds of an arm as specialists: a router over them and the mean of their weights, against the best one alone."""
    dev = read_data(config_of(out, EmbeddedEvolveConfig)).dev
    numbers = [one.number for one in rounds_of(out)]
    on_dev = {f"round {number}": read_judged(out, number) for number in numbers}
    on_test = {f"round {n}": read_records(out / TEST / f"round-{n}.jsonl", Judged) for n in numbers}
    router = fit_router(on_dev)
    mean_file = out / TEST / "average.jsonl"
    if not mean_file.exists():
        write_records(mean_file, averaged(out, dev, kept).verify(read_records(out / TEST / ROWS, Row)))
    others = {"router": routed(router, on_test), AVERAGE: read_records(mean_file, Judged)}
    found = contest(on_test, others, best_single(on_dev), RESAMPLES)
    asked = router.specialists
    return {**asdict(found), "router": {"specialists": asked, "strength": router.strength}}


def rounds_shown(out: Path) -> list[dict[str, Any]]:
    """What went into each round, and what a gate says of it."""
    lines: list[dict[str, Any]] = []
    for one in rounds_of(out):
        folder = folder_of(out, one.number)
        reflection = read_record(folder / "reflection.json", Reflection)
        line: dict[str, Any] = {**asdict(one), "weights": reflection.weights()}
        if one.number:
            made = read_record(folder / "probes.json", ProbeReport)
            gate = read_record(folder / "gate.json", GateDecision)
            line["probes_by_type"] = {kind: kept.kept for kind, kept in made.kinds.items()}
            line["gate"] = {
                "accepted": gate.accepted,
                "max_loss": gate.max_loss,
                "refused": {change.data_set: change.refused for change in gate.changes if change.refused},
            }
        lines.append(line)
    return lines


def main() -> None:
    """Score, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder of the arms")
    parser.add_argument("--limit", type=int, default=150, help="maximum number of rows per set, in whole groups")
    parser.add_argument("--max-long", type=int, default=50, help="maximum number of rows per set with long sources")
    options = parser.parse_args()
    arms = [options.runs / name for name in ARMS if (options.runs / name / FINGERPRINT).exists()]
    kept, rows = ReadingCache(), list[Row]()
    for name in SETS:
        limit = options.max_long if name in LONG else options.limit
        rows += rows_of_sets(chosen([name], data_folder(), "test"), data_folder(), limit)
    public = {out.name: tested(out, rows, arms[0], kept) for out in arms}
    dev = {out.name: read_record(out / FINGERPRINT, Fingerprint) for out in arms}
    last = {name: len(found.rounds) - 1 for name, found in public.items()}
    pairs = [pair for pair in combinations(public, 2) if {*pair} <= {*COMPARED}]
    config = config_of(arms[0], EmbeddedEvolveConfig)
    record = {
        "settings": {key: value for key, value in asdict(config).items() if key not in ("train", "dev", "structured")},
        "most": {"short": options.limit, "long": options.max_long},
        "machine": f"{platform.machine()}, one thread",
        **{key: value for key, value in surroundings().items() if key in ("revision", "versions")},
        "rows": read_data(config).counts,
        "rounds": {out.name: rounds_shown(out) for out in arms},
        "dev": {name: asdict(found) for name, found in dev.items()},
        "public": {name: asdict(found) for name, found in public.items()},
        "alike": {
            where: {
                f"{one}, {other}": alike(found[one], found[other], min(last[one], last[other])) for one, other in pairs
            }
            for where, found in (("dev", dev), ("public", public))
        },
        "generalists": {out.name: generalists(out, kept) for out in arms if out.name == "weakness"},
    }
    OUTPUT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
