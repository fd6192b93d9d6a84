"""``vouch calibrate`` for a scorer: its own numbers on labelled rows, kept line by line, and a curve through them.

Left out: rows whose sources are searched for; a calibration is for one kind of evidence, so it must stand in the rows.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vouching.cli.row_progress import run_rows
from vouching.cli.streams import Exit, write_error
from vouching.errors import InputError
from vouching.inputs import labelled_row
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import Seen
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.judging.calibration import Calibration, LabelledScore
    from vouching.methods.discriminative.scorer import ClaimScorer
    from vouching.metrics.calibrators import CalibratorKind


def calibrated_scorer(model: str, rows_path: str, output: Path, kind: CalibratorKind) -> Calibration:
    """Score the rows, or what is left of them, and fit a calibration.

    Args:
        model: name of the scorer.
        rows_path: rows with claim, source and label; all or none of them with a question.
        output: where the calibration will go; the numbers are kept beside it, in ``.scores.jsonl``.
        kind: which curve.

    Raises:
        InputError: a file or the rows cannot be used.
        ConfigError: a scorer of that name cannot be opened, or gives no numbers for claims.
        typer.Exit: the scoring stopped early.
    """
    from vouching.judging.calibration import calibrate_scores
    from vouching.methods.discriminative.open import open_claim_scorer

    scorer = open_claim_scorer(model)
    if scorer.scorer.scale == "share":
        raise InputError(f"{model} scores whole answers by a share of facts, which no label of a claim calibrates")
    scores = str(output.with_suffix(".scores.jsonl"))
    _score(scorer, rows_path, scores)
    found, asked = labelled_scores(scores)
    if len(asked) > 1:
        raise InputError(f"some rows of {rows_path} have a question and some have none: calibrate each kind by itself")
    return calibrate_scores(scorer.scorer.name, scorer.digest(question=True in asked), found, kind)


def score_work(scorer: ClaimScorer) -> Waiting:
    """The work of scoring rows, each giving a line with ``id, gold, group, question, score`` or ``problem``."""
    from vouching.methods.discriminative.scorer import Scored

    async def score(row: Row) -> str:
        try:
            found = labelled_row(row)
        except InputError as error:
            return json.dumps({"id": row.name, "score": None, "problem": f"{row.place}: {error}"})
        question = str((row.fields or {}).get("question") or "")
        [outcome] = await scorer.score([found.claim], found.sources, question)
        about = {"gold": found.gold, "group": found.group or found.sources[0].text, "question": bool(question)}
        if isinstance(outcome, Scored):
            return json.dumps({"id": row.name, **about, "score": outcome.value})
        return json.dumps({"id": row.name, **about, "score": None, "unverified": outcome.message})

    return Waiting(lambda: score, scorer.aclose)


def look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line.

    >>> look("dev.jsonl", {"id": "a", "score": None, "problem": "line 3: it is no JSON"}).problem
    'dev.jsonl, line 3: it is no JSON'
    """
    problem = record.get("problem")
    counts = {} if record["score"] is not None or problem else {"unverified": 1}
    return Seen(record["id"], problem=f"{input_name}, {problem}" if problem else None, counts=counts)


def labelled_scores(path: str) -> tuple[list[LabelledScore], set[bool]]:
    """The lines with a label and a number, and whether their rows had a question; how many have not is told."""
    from vouching.judging.calibration import LabelledScore

    found: list[LabelledScore] = []
    asked: set[bool] = set()
    missing = 0
    with open_rows(path) as lines:
        for line in lines:
            fields = line.fields or {}
            if fields.get("score") is None or fields.get("gold") is None:
                missing += 1
                continue
            found.append(LabelledScore(fields["gold"], fields["score"], fields["group"]))
            asked.add(fields["question"])
    if missing:
        write_error(f"{missing:,} rows without a label or a score are left out")
    return found, asked


def _score(scorer: ClaimScorer, rows_path: str, output: str) -> None:
    """Write a line for each row, or for those that are left; ends the command if that stops early."""
    settings = {
        "command": "calibrate", "model": scorer.scorer.name, "form": scorer.digest(), "vouching": __version__,
    }  # fmt: skip
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(rows_path, ("claim",)))
        journal = open_files.enter_context(open_journal(output, settings, resume=Path(output).exists()))
        kept = f"start again, what was scored is kept in {output}"
        summary = run_rows(reader, journal, score_work(scorer), look, again=kept)
    if summary.stopped is not None:
        write_error(f"stopped: {summary.stopped}; {kept}")
        raise typer.Exit(Exit.INCOMPLETE)
