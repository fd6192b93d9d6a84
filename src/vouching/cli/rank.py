"""``vouch rank``: the answers to a question, best first, or a file of questions. Files of rows are in ``rank_rows``.

Left out: generating the answers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.files import STDIN, argument_text, source_files
from vouching.cli.search_options import Indexes, Pages, Queries, RecordFile, ReplayFile, SearchOptions, WebEngines
from vouching.cli.streams import Exit, draw, progress, usage_errors, write_result
from vouching.errors import InputError
from vouching.types import Ranking, RankMode, Source

if TYPE_CHECKING:
    from vouching.methods.discriminative.rank import Ranker

app = typer.Typer()

_WHAT = "What to rank"
_AGAINST = "What to rank it by"
_HOW = "How"
_ROWS = "Many rows"
NEEDS_NOTHING = ("no-search", "generative")
"""Modes that look at no evidence."""

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


def _panel(title: str, *names: str, **settings: Any) -> Any:
    """An option, listed by ``--help`` under ``title``."""
    return typer.Option(*names, rich_help_panel=title, **settings)


_Question = Annotated[str | None, _panel(_WHAT, metavar="TEXT", help="What the answers are to.")]
_Answers = Annotated[list[str] | None, _panel(_WHAT, metavar="TEXT", help="An answer. Repeatable.")]
_SourceFiles = Annotated[
    list[str] | None, _panel(_AGAINST, metavar="PATH|-", help="A text file to rank by. Repeatable.")
]
_SourceTexts = Annotated[list[str] | None, _panel(_AGAINST, metavar="TEXT", help="A text to rank by. Repeatable.")]
_Mode = Annotated[
    RankMode | None,
    _panel(
        _HOW,
        metavar="MODE",
        help="What a scorer is shown of the search: compressed, facts, full or no-search; or how a language model "
        "ranks: generative (from memory), agentic (after the search), points (1 to 10 for each, after the search).",
    ),
]
_ScoreModel = Annotated[
    str,
    _panel(
        _HOW,
        metavar="NAME",
        help="What scores: embedded:rules, embedded, embedded:FOLDER, discriminative:PATH, minicheck:PATH, hhem:PATH, "
        "factscore:MODEL; for the last three modes a language model such as http://host:8000/v1#name or openai/name.",
    ),
]
_SearchModel = Annotated[
    str | None,
    _panel(_HOW, metavar="NAME", help="The language model that searches and compresses; without it, words alone do."),
]
_Json = Annotated[bool, _panel(_HOW, "--json", metavar="", help="JSON; see vouch schema ranking.")]
_Input = Annotated[
    str | None, _panel(_ROWS, metavar="PATH|-", help="Rows with question, answers and, if you like, id and sources.")
]
_Output = Annotated[
    str | None, _panel(_ROWS, metavar="PATH|-", help="Where the rankings go, one line per row: .jsonl.")
]
_Resume = Annotated[
    bool, _panel(_ROWS, "--resume", metavar="", help="Finish an output; try rows again that failed for now.")
]


@dataclass(frozen=True, slots=True)
class RankOptions:
    """The options of one ``vouch rank``, as given."""

    question: str | None = None
    """What the answers are to."""
    answer: tuple[str, ...] = ()
    """The answers."""
    source: tuple[str, ...] = ()
    """Paths of sources, or "-"."""
    source_text: tuple[str, ...] = ()
    """Sources themselves."""
    search: SearchOptions = field(default_factory=SearchOptions)
    """Where to search for sources."""
    mode: RankMode | None = None
    """How to rank; None for what suits the scorer."""
    score_model: str = "embedded:rules"
    """What scores."""
    search_model: str | None = None
    """What searches and compresses; None for words alone."""
    as_json: bool = False
    """Whether to print JSON."""
    input: str | None = None
    """Path of rows to rank, or "-"."""
    output: str | None = None
    """Path of the rankings of the rows, or "-"."""
    resume: bool = False
    """Whether to finish an output that was cut short."""

    def ranker(self) -> Ranker:
        """What ranks. Raises ConfigError or InputError for a part that cannot be opened."""
        from vouching.methods.discriminative.open import open_ranker

        engines = self.search.engines() if self.search else []
        return open_ranker(
            self.score_model,
            self.mode,
            search_model=self.search_model,
            engines=engines,
            queries=self.search.queries,
        )


@app.command("rank", epilog=_EPILOG)
def rank_command(
    question: _Question = None,
    answer: _Answers = None,
    source: _SourceFiles = None,
    source_text: _SourceTexts = None,
    index: Indexes = None,
    web: WebEngines = None,
    pages: Pages = False,
    record: RecordFile = None,
    replay: ReplayFile = None,
    queries: Queries = None,
    mode: _Mode = None,
    score_model: _ScoreModel = "embedded:rules",
    search_model: _SearchModel = None,
    as_json: _Json = False,
    input: _Input = None,
    output: _Output = None,
    resume: _Resume = False,
) -> None:
    """Rank the answers to a question by how well given or found evidence supports them, and show why.

    Works offline unless a language model or the web is named. Level answers share a place; an answer without a score
    is listed apart.
    """
    search = SearchOptions(tuple(index or ()), tuple(web or ()), pages, record, replay, queries)
    options = RankOptions(
        question, tuple(answer or ()), tuple(source or ()), tuple(source_text or ()), search, mode, score_model,
        search_model, as_json, input, output, resume,
    )  # fmt: skip
    with usage_errors():
        for complaint in complaints(options):
            raise InputError(complaint)
        if options.input is not None:
            from vouching.cli.rank_rows import rank_rows

            raise typer.Exit(rank_rows(options))
        ranking = rank(options)
        _write(ranking, as_json)
    raise typer.Exit(exit_status(ranking))


def rank(options: RankOptions) -> Ranking:
    """Read the texts that the options name and rank the answers.

    Raises:
        InputError: a text cannot be used.
        ConfigError: a model, an engine or a mode that does not fit.
    """
    from vouching.inputs import as_sources
    from vouching.models.running import run

    files = source_files(options.source)
    texts = [argument_text(text, "--source-text") for text in options.source_text]
    given = [*(Source(file.text, id=file.name) for file in files), *texts]
    question = argument_text(options.question or "", "--question")
    answers = [argument_text(text, "--answer") for text in options.answer]
    ranker = options.ranker()
    with progress("Ranking"):
        ranking = run(ranker.rank(question, answers, as_sources(given) if given else ()))
        run(ranker.aclose())
    warnings = [warning for file in files for warning in file.warnings]
    return replace(ranking, warnings=(*ranking.warnings, *warnings))


def exit_status(ranking: Ranking) -> Exit:
    """How the command ends: with an answer that has no place it is incomplete.

    >>> exit_status(Ranking("When?", (), (), "full", "unit"))
    <Exit.OK: 0>
    """
    return Exit.INCOMPLETE if ranking.unverified or ranking.invalid is not None else Exit.OK


def complaints(options: RankOptions) -> Iterator[str]:
    """What is wrong with the options, most important first."""
    yield from options.search.complaints()
    yield from _of_rows(options) if options.input is not None else _of_one(options)
    if options.mode in NEEDS_NOTHING and (options.source or options.source_text or options.search):
        yield f"got --mode {options.mode}, which looks at no evidence, with sources or engines: leave them out"
    if options.mode in NEEDS_NOTHING and options.search_model is not None:
        yield f"got --search-model with --mode {options.mode}, which searches nothing: leave it out"


def _of_one(options: RankOptions) -> Iterator[str]:
    for name in (name for name, used in {"--output": options.output, "--resume": options.resume}.items() if used):
        yield f"got {name} without --input, but it belongs to a file of rows: add --input ROWS"
    if options.question is None or not options.answer:
        yield "nothing to rank: give --question TEXT and --answer TEXT for each answer, or --input ROWS (see --help)"
    if not (options.source or options.source_text or options.search or options.mode in NEEDS_NOTHING):
        yield "nothing to rank by: give --source FILE, --source-text TEXT, --index PATH or --web ENGINE"
    if options.source.count(STDIN) > 1:
        yield "got - more than once, but standard input can be read only once: name a file for the others"


def _of_rows(options: RankOptions) -> Iterator[str]:
    singles = {
        "--question": options.question, "--answer": options.answer, "--source": options.source,
        "--source-text": options.source_text, "--json": options.as_json,
    }  # fmt: skip
    for name in (name for name, value in singles.items() if value):
        yield f"got {name} with --input, but each row has its own and gives a line of JSON: leave it out"
    if options.output is None:
        yield "got --input without --output: say where the rankings go, a file that ends in .jsonl, or - to print them"
    if options.resume and options.output == STDIN:
        yield "got --resume with --output -, but only a file can be resumed: name a file"
    files = [Path(path).resolve() for path in (options.input, options.output) if path and path != STDIN]
    if len({*files}) < len(files):
        yield "--input and --output must be different files"


def _write(ranking: Ranking, as_json: bool) -> None:
    if as_json:
        from vouching.types.serial import to_json

        write_result(to_json(ranking, indent=2 if sys.stdout.isatty() else None) + "\n")
        return
    from vouching.report.terminal import print_ranking

    draw(lambda console: print_ranking(console, ranking))
