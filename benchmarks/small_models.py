"""Small language models as judges: whether their replies can be read, whether they are right, and what they cost.

    VOUCH_DATA=... python benchmarks/small_models.py MODEL [--rows 200] [--sets seva_fever,fever_symmetric,contrast:60]
        [--forms raw retry schema] [--style label] [--max-tokens 1024] [--output runs/small_models]
        [--result benchmarks/results/small_models.json]

MODEL is a name such as http://localhost:8080/v1#smollm2. The rows are a sample by label of the test part of public
sets, and of the part dev of the contrast corpus. Each row is asked in three forms: ``raw`` (once, without a schema or
repairs, as papers do), ``retry`` (without a schema; an unreadable reply is asked for once more, with its fault) and
``schema`` (the same on a server that keeps the reply to the schema). Rows are asked one after another, so the seconds
are those of a single claim. Rows that were measured are kept in OUTPUT, and a second run goes on where the first ended.
Shares have Wilson's 95 % intervals, as if rows were independent. The figures replace those of the same model in RESULT.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import vouching
from vouching.bench.catalog import data_folder, known_sets
from vouching.bench.raw import RawJudge
from vouching.bench.rows import BenchRow, Fault
from vouching.methods import METHODS
from vouching.metrics import auroc, stratified_slice, wilson
from vouching.metrics.calibrators import MIN_ROWS, held_out_scores
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.open import open_model
from vouching.models.wrappers import Metered, Wrapper
from vouching.rows import AsyncWorkFactory, Line, Row, RowJob, RowReader, async_work, fields_of, looker, run_rows
from vouching.types import Claim, Source, Unverified

CORPUS = Path(__file__).parents[1] / "tests/data/contrast/dev"
FORMS = ("raw", "retry", "schema")


class WithoutSchema(Wrapper):
    """Asks without a schema."""

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """The completions of the model inside."""
        return await self.model.generate(messages, replace(sampling, json_schema=None))


def rows_of(name: str, count: int) -> list[BenchRow]:
    """A sample of a set, by label."""
    if name == "contrast":
        # A claim that depends on a question, or on earlier sentences, cannot be judged alone.
        lines = map(json.loads, (CORPUS / "claims.jsonl").read_text("utf-8").splitlines())
        found = [
            BenchRow(one["id"], one["claim"], (_document(one["document"]),), one["label"] == "Attributable")
            for one in lines
            if not (one.get("question") or one.get("before"))
        ]
    else:
        every = known_sets()[name].rows(data_folder(), "test")
        found = [row for row in every if not isinstance(row, Fault) and row.attributable is not None]
    if count >= len(found):
        return found
    return [found[place] for place in stratified_slice([str(row.attributable) for row in found], count, 0).tolist()]


def _document(name: str) -> str:
    [path] = (CORPUS / "documents").glob(f"{name}.*")
    return path.read_text("utf-8")


async def judged(model: Model, form: str, style: str, longest: int, row: BenchRow) -> Line:
    """What a model makes of a row: its label, or why there is none, and the cost."""
    metered, started = Metered(model), time.perf_counter()
    if form == "raw":
        line = await RawJudge(metered, "label" if style == "label" else "structured", max_tokens=longest).score(row)
        label, why, score = line["label"], line["unverified"], None
    else:
        asked = metered if form == "schema" else WithoutSchema(metered)
        sources = [Source(text, f"source-{number}") for number, text in enumerate(row.sources, 1)]
        settings = {"style": style, "max_tokens": longest}
        [found] = await METHODS["structured"].open(asked, settings).verify([Claim(row.text)], sources)
        missing = isinstance(found, Unverified)
        label, why = (None, f"{found.reason}: {found.message}") if missing else (found.attributable, None)
        score = None if missing else found.score
    spent = {**asdict(metered.usage), "seconds": time.perf_counter() - started}
    return {"id": row.id, "gold": row.attributable, "label": label, "score": score, "why": why, **spent}


def measure(
    model: str, form: str, style: str, name: str, count: int, folder: Path, longest: int = 1024
) -> dict[str, Any]:
    """The figures of a form on a set; the lines are kept in ``folder``."""
    opened = open_model(model)

    async def judge(row: Row) -> Line:
        return await judged(opened, form, style, longest, BenchRow(**fields_of(row)))

    rows = [Row(number, name, asdict(row)) for number, row in enumerate(rows_of(name, count), 1)]
    output = folder / f"{name}.{form}.jsonl"
    settings = {"model": model, "style": style, "rows": count, "max_tokens": longest}
    work = AsyncWorkFactory(lambda: async_work(judge), opened.aclose, rows_at_once=1)
    summary = run_rows(RowJob(RowReader(name, iter(rows)), str(output), work, looker(), settings, resume=True))
    if summary.stopped is not None:
        raise SystemExit(f"stopped: {summary.stopped}; start again to go on")
    lines = [line for line in map(json.loads, output.read_text("utf-8").splitlines()) if "problem" not in line]
    return {"set": name, "form": form, **figures(lines)}


def figures(lines: Sequence[Line]) -> dict[str, Any]:
    """The figures of some rows; a row without a label counts as judged wrongly.

    >>> cost = {"prompt_tokens": 100, "completion_tokens": 10, "seconds": 2.0}
    >>> found = figures([{"gold": True, "label": True, **cost}, {"gold": False, "label": None, **cost}])
    >>> found["readable"], found["right"], found["said_attributable"], found["seconds"]
    (0.5, 0.5, 1.0, 2.0)
    >>> [round(bound, 2) for bound in found["readable_interval"]]
    [0.09, 0.91]
    """
    read = [line for line in lines if line["label"] is not None]
    counts = {"readable": len(read), "right": sum(line["label"] is line["gold"] for line in lines)}
    intervals = {name: wilson(count, len(lines)) for name, count in counts.items()}
    return {
        "rows": len(lines),
        **{name: one.estimate for name, one in intervals.items()},
        **{f"{name}_interval": [one.low, one.high] for name, one in intervals.items()},
        **_ranked([line for line in lines if line.get("score") is not None]),
        "said_attributable": fmean(line["label"] for line in read) if read else None,
        "prompt_tokens": fmean(line["prompt_tokens"] for line in lines),
        "completion_tokens": fmean(line["completion_tokens"] for line in lines),
        "seconds": median(line["seconds"] for line in lines),
    }


def _ranked(scored: Sequence[Line]) -> dict[str, Any]:
    """What the scores are worth: AUROC, and the labels right after a line fitted to the other four fifths of the rows.

    Empty without both labels, or with too few rows for a fit.
    """
    truth, scores = [line["gold"] for line in scored], [line["score"] for line in scored]
    if len({*truth}) < 2 or len(scored) < 2 * MIN_ROWS:
        return {}
    better = held_out_scores("platt", truth, scores, [number % 5 for number in range(len(scored))])
    found = wilson(sum((score >= 0.5) == gold for score, gold in zip(better, truth, strict=True)), len(scored))
    interval = {"calibrated_interval": [found.low, found.high]}
    return {"auroc": float(auroc(truth, scores)), "calibrated": found.estimate, **interval}


def main() -> None:
    """Measure all forms on all sets, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--sets", default="seva_fever,fever_symmetric,contrast", help="NAME or NAME:ROWS, by commas")
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS)
    parser.add_argument("--style", default="label", choices=("label", "structured"))
    parser.add_argument("--max-tokens", type=int, default=1024, help="longest reply; a longer one is cut")
    parser.add_argument("--output", type=Path, default=Path("runs/small_models"))
    parser.add_argument("--result", type=Path, default=Path("benchmarks/results/small_models.json"))
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    for name, _, count in (one.partition(":") for one in given.sets.split(",")):
        rows = int(count or given.rows)
        for form in given.forms:
            found.append(measure(given.model, form, given.style, name, rows, given.output, given.max_tokens))
            shown = (
                f"{key} {value:.3g}" if isinstance(value, float) else f"{value}" for key, value in found[-1].items()
            )
            print("  ".join(shown), flush=True)
    record = {
        "model": given.model,
        "vouching": vouching.__version__,
        "style": given.style,
        "max_tokens": given.max_tokens,
        "command": " ".join(["python benchmarks/small_models.py", *sys.argv[1:]]),
        "figures": found,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    known: list[dict[str, Any]] = json.loads(given.result.read_text("utf-8")) if given.result.exists() else []
    records = [*(one for one in known if one["model"] != given.model), record]
    given.result.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
