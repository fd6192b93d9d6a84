"""Labelled rows for calibrations: verdicts, or a scorer's numbers, joined to the labels of their rows.

Calibrations are fitted by ``judging/calibration.py``. A scorer's numbers are kept line by line next to the output.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

from vouching.errors import InputError
from vouching.inputs import gold_of, labelled_row
from vouching.judging.calibration import Calibration, LabelledScore, LabelledVerdict, calibrate_scores
from vouching.methods.discriminative.open import open_claim_scorer
from vouching.methods.discriminative.scorer import ClaimScorer, Scored
from vouching.metrics.calibrators import MIN_ROWS, CalibratorKind
from vouching.rows import STDIN, AsyncWorkFactory, Line, Row, RowJob, RunJob, async_work, looker, open_rows
from vouching.rows.shapes import as_row
from vouching.types import Verdict
from vouching.types.serial import from_json
from vouching.version import __version__


def refuse_too_few_labels(path: str) -> None:
    """Raise InputError, before any model is called, if the rows have an unknown label or too few to fit on."""
    if path == STDIN:
        raise InputError("--input - cannot be used here, because the rows are read twice: pass a file")
    labels: Counter[str | None] = Counter()
    with open_rows(path) as rows:
        for row in rows:
            try:
                labels[gold_of(as_row(row.fields or {}))] += 1
            except InputError as error:
                raise InputError(f"{rows.name}, {row.place}: {error}") from None
    del labels[None]
    if labels.total() < MIN_ROWS or len(labels) < 2:
        raise InputError(
            f"{path} has {labels.total():,} labelled rows, {labels['Attributable']:,} of them Attributable; "
            f"expected at least {MIN_ROWS} rows that include both labels: label more rows"
        )


def labelled_verdicts(rows_path: str, verdicts_path: str) -> tuple[list[LabelledVerdict], int]:
    """The rows with a label and a verdict, in order, and the number of the others.

    Raises InputError if a file cannot be used, or the verdicts are not those of the rows.
    """
    joined: list[LabelledVerdict] = []
    missing = 0
    with open_rows(rows_path) as rows, open_rows(verdicts_path) as lines:
        for row, line in zip_longest(rows, lines):
            if row is None or line is None:
                less, more = (rows.name, lines.name) if row is None else (lines.name, rows.name)
                raise InputError(f"{less} has fewer lines than {more}: pass one verdict per row, in the same order")
            if line.fields is None:
                raise InputError(f"{lines.name}, {line.place}: {line.problem}")
            if line.fields.get("kind") != "verdict":
                missing += 1
                continue
            verdict = from_json(Verdict, json.dumps(line.fields))
            try:
                found = labelled_row(row)
            except InputError as error:
                raise InputError(f"{rows.name}, {row.place}: {error}") from None
            if (found.claim.id, found.claim.text.strip()) != (verdict.claim.id, verdict.claim.text.strip()):
                raise InputError(
                    f"{lines.name}, {line.place} is the verdict of {verdict.claim.id!r}, but {rows.name} has "
                    f"{found.claim.id!r} there: pass the verdicts of these rows, in the same order"
                )
            if found.gold is None:
                missing += 1
                continue
            joined.append(LabelledVerdict(found.gold, verdict, found.group or found.sources[0].text))
    return joined, missing


def calibrated_scorer(
    model: str, files: tuple[str, Path], kind: CalibratorKind, run: RunJob, report: Callable[[str], None]
) -> Calibration | None:
    """Score the rows that have no score yet, and fit a calibration; None if the scoring stopped early.

    ``files`` are the rows, all or none of them with a question, and the path of the calibration; the scores are kept
    next to it, in ``.scores.jsonl``. Raises InputError or ConfigError for files, rows or a scorer that cannot be used.
    """
    rows_path, output = files
    scorer = open_claim_scorer(model)
    if scorer.scorer.scale == "share":
        raise InputError(f"{model} scores whole answers, not claims, so labels of claims cannot calibrate it")
    scores = scores_beside(output)
    settings = {
        "command": "calibrate",
        "model": scorer.scorer.name,
        "form": scorer.digest(),
        "vouching": __version__,
    }
    there = Path(scores).exists()
    job = RowJob(rows_path, scores, score_work(scorer), SEEN_SCORE, settings, ("claim",), resume=there)
    if run(job).stopped is not None:
        return None
    found, asked, missing = labelled_scores(scores)
    if missing:
        report(f"{missing:,} rows without a label or a score were skipped")
    if len(asked) > 1:
        raise InputError(f"some rows of {rows_path} have a question and some have none: calibrate each kind separately")
    return calibrate_scores(scorer.scorer.name, scorer.digest(question=True in asked), found, kind)


def scores_beside(output: Path) -> str:
    """Where the scores are kept while a calibration is made."""
    return str(output.with_suffix(".scores.jsonl"))


def score_work(scorer: ClaimScorer) -> AsyncWorkFactory:
    """The work of scoring rows, each giving a line with ``id, gold, group, question, score`` or ``problem``."""

    async def score(row: Row) -> Line:
        found = labelled_row(row)
        question = str((row.fields or {}).get("question") or "")
        [outcome] = await scorer.score([found.claim], found.sources, question)
        about = {"gold": found.gold, "group": found.group or found.sources[0].text, "question": bool(question)}
        if isinstance(outcome, Scored):
            return {"id": row.name, **about, "score": outcome.value}
        return {"id": row.name, **about, "score": None, "unverified": outcome.message}

    return AsyncWorkFactory(lambda: async_work(score, {"score": None}, ensure_ascii=True), scorer.aclose)


SEEN_SCORE = looker(lambda line: {} if line["score"] is not None else {"unverified": 1})
"""Counts of a line for a run."""


def labelled_scores(path: str) -> tuple[list[LabelledScore], set[bool], int]:
    """The lines with a label and a score, whether their rows had a question, and the number of other lines."""
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
    return found, asked, missing
