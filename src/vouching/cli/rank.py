"""``vouch rank``: the answers to a question, best first, or those to each question of a file.

Not here: generating the answers.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from vouching.cli.options import (
    HOW,
    ROWS,
    Indexes,
    Json,
    Output,
    Resume,
    SourceFiles,
    SourceTexts,
    WebEngines,
    argument_text,
    given_sources,
    panel,
    refuse_row_contradictions,
    refuse_second_stdin,
)
from vouching.cli.streams import Exit, draw, progress, show_rows, tell_rows, usage_errors, write_result
from vouching.errors import InputError
from vouching.rows import ROWS_AT_ONCE, BatchSummary, RowJob
from vouching.search.options import SearchOptions
from vouching.types import VERDICT_VERSION, Ranking, RankMode
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.methods.discriminative.rank import Ranker

app = typer.Typer()

_WHAT = "What to rank"
NEEDS_NOTHING = ("no-search", "generative")
"""Modes that look at no evidence."""
_AT_ONCE = 8
"""Rows under way where nothing is waited for: enough to fill a batch, few enough that lines come soon."""

_EPILOG = """
**Examples**

vouch rank --question "When did it open?" --answer "In 1937." --answer "In 1973." --source bridge.txt

vouch rank --question "Who built it?" --answer Ada --answer Bob --index notes --web wikipedia --json

vouch rank --input questions.jsonl --output rankings.jsonl --index notes --score-model discriminative:runs/rank/model

vouch rank --input questions.jsonl --output rankings.jsonl --index notes --mode agentic
    --search-model http://localhost:8000/v1#qwen --score-model http://localhost:8000/v1#qwen

**Exit status**: 0 done; 2 the command line or a file cannot be used; 3 an answer has no score, what a language model
wrote is no ranking, a row could not be used, a model was not reached, or the result could not be written; 130
interrupted.
"""


_Question = Annotated[str | None, panel(_WHAT, metavar="TEXT", help="What the answers are to.")]
_Answers = Annotated[list[str] | None, panel(_WHAT, metavar="TEXT", help="An answer. Repeatable.")]
_Mode = Annotated[
    RankMode | None,
    panel(
        HOW,
        metavar="MODE",
        help="What a scorer is shown of the search: compressed, facts, full or no-search; or how a language model "
        "ranks: generative (from memory), agentic (after the search), points (1 to 10 for each, after the search).",
    ),
]
_ScoreModel = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        help="What scores: embedded:rules, embedded, embedded:FOLDER, discriminative:PATH, minicheck:PATH, hhem:PATH, "
        "factscore:MODEL; for the last three modes a language model such as http://host:8000/v1#name or openai/name.",
    ),
]
_SearchModel = Annotated[
    str | None,
    panel(HOW, metavar="NAME", help="The language model that searches and compresses; without it, words alone do."),
]
_Input = Annotated[
    str | None,
    panel(ROWS, "--input", metavar="PATH|-", help="Rows with question, answers and, if you like, id and sources."),
]


@app.command("rank", epilog=_EPILOG)
def rank_command(
    question: _Question = None,
    answer: _Answers = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    index: Indexes = None,
    web: WebEngines = None,
    mode: _Mode = None,
    score_model: _ScoreModel = "embedded:rules",
    search_model: _SearchModel = None,
    as_json: Json = False,
    input: _Input = None,
    output: Output = None,
    resume: Resume = False,
) -> None:
    """Rank the answers to a question by how well given or found evidence supports them, and show why.

    Works offline unless a language model or the web is named. Level answers share a place; an answer without a score
    is listed apart.
    """
    from vouching.inputs import as_sources
    from vouching.methods.discriminative.open import open_ranker
    from vouching.models.running import run

    with usage_errors():
        search = SearchOptions.read(index, web)
        singles = {
            "--question": question, "--answer": answer, "--source": source, "--source-text": source_text,
            "--json": as_json,
        }  # fmt: skip
        refuse_row_contradictions(singles, (input, output, resume))
        evidence = bool(source or source_text or search)
        if input is None and (question is None or not answer):
            raise InputError(
                "nothing to rank: give --question TEXT and --answer TEXT for each answer, or --input ROWS (see --help)"
            )
        _refuse_mode(mode, search_model, evidence, needed=input is None)
        refuse_second_stdin(*(source or ()))
        engines = search.engines() if search else []
        if input is not None and output is not None:
            # A wrong setting shows before any file is made.
            ranker = open_ranker(score_model, mode, search_model=search_model, engines=engines, queries=search.queries)
            needed = not search and mode not in NEEDS_NOTHING
            job = _job((input, output, resume), ranker, (score_model, search_model), search, needed)
            raise typer.Exit(_told(show_rows(job)))
        given, warnings = given_sources(source or (), source_text or ())
        asked, texts = argument_text(question or "", "--question"), [argument_text(a, "--answer") for a in answer or ()]
        ranker = open_ranker(score_model, mode, search_model=search_model, engines=engines, queries=search.queries)
        with progress("Ranking"):
            ranking = run(ranker.rank(asked, texts, as_sources(given) if given else ()))
            run(ranker.aclose())
        ranking = replace(ranking, warnings=(*ranking.warnings, *warnings))
        _write(ranking, as_json)
    raise typer.Exit(Exit.INCOMPLETE if ranking.unverified or ranking.invalid is not None else Exit.OK)


def _refuse_mode(mode: RankMode | None, search_model: str | None, evidence: bool, needed: bool) -> None:
    """Raise InputError if the mode, and what is there to rank by, do not go together."""
    if needed and not evidence and mode not in NEEDS_NOTHING:
        raise InputError("nothing to rank by: give --source FILE, --source-text TEXT, --index PATH or --web ENGINE")
    if mode in NEEDS_NOTHING and evidence:
        raise InputError(f"got --mode {mode}, which looks at no evidence, with sources or engines: leave them out")
    if mode in NEEDS_NOTHING and search_model is not None:
        raise InputError(f"got --search-model with --mode {mode}, which searches nothing: leave it out")


def _job(
    files: tuple[str, str, bool], ranker: Ranker, models: tuple[str, str | None], search: SearchOptions, needed: bool
) -> RowJob:
    """The rows to rank: input, output and whether to resume; what ranks, with the names of its models."""
    from vouching.methods.discriminative.rank import rank_work, seen_ranking
    from vouching.models.open import is_model

    input, output, resume = files
    asked = any(is_model(name or "") for name in models) or search.web
    settings = {
        "command": "rank", "mode": ranker.mode, "score model": models[0], "search model": models[1],
        **search.settings, "calibrator": ranker.calibrator, "record": VERDICT_VERSION, "vouching": __version__,
    }  # fmt: skip
    work = rank_work(ranker, needed, ROWS_AT_ONCE if asked else _AT_ONCE)
    return RowJob(input, output, work, seen_ranking, settings, ("question",), resume)


def _told(summary: BatchSummary) -> Exit:
    """Say on standard error what became of the rows, and how the command ends."""
    counts = summary.counts
    words = f", {counts['answers']:,} answers"
    words += f", {counts['without a score']:,} without a score" if counts["without a score"] else ""
    words += f", {counts['no ranking']:,} rows whose reply is no ranking" if counts["no ranking"] else ""
    tell_rows(summary, words)
    open_rows = counts["without a score"] or counts["no ranking"]
    return Exit.OK if summary.complete and not open_rows else Exit.INCOMPLETE


def _write(ranking: Ranking, as_json: bool) -> None:
    if as_json:
        from vouching.types.serial import to_json

        write_result(to_json(ranking, indent=2 if sys.stdout.isatty() else None) + "\n")
        return
    from vouching.report.terminal import print_ranking

    draw(lambda console: print_ranking(console, ranking))
