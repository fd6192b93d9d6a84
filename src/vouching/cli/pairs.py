"""``vouch data pairs``: pairs of answers that a scorer learns to rank, made from questions with known answers.

What became of each question is kept in a journal beside the output, which a run that was cut short goes on from; the
files of pairs, preferences and rejects are written from it anew each time. Left out: several inputs at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.row_progress import AGAIN, run_rows
from vouching.cli.search_options import Indexes, Pages, Queries, RecordFile, ReplayFile, SearchOptions, WebEngines
from vouching.cli.streams import Exit, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows import journal_beside
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.train.rank_pairs import PairMaker

app = typer.Typer()

_Input = Annotated[
    str, typer.Option("--input", metavar="ROWS", help="Rows with question and reference, or of a multi-hop data set.")
]
_Output = Annotated[Path, typer.Option("--output", metavar="PAIRS", help="The pairs: .jsonl.")]
_Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="NAME", help="A language model that answers. Repeatable.")
]
_Judge = Annotated[str | None, typer.Option(metavar="NAME", help="The language model that marks and compares answers.")]
_PerModel = Annotated[int, typer.Option("--per-model", metavar="N", min=1, help="Answers of each model.")]
_Wrong = Annotated[int, typer.Option(metavar="N", min=1, help="Wrong short answers, where no model answers.")]
_Pairs = Annotated[int, typer.Option("--pairs", metavar="N", min=1, help="Pairs of a question, at most.")]
_SearchModel = Annotated[
    str | None, typer.Option("--search-model", metavar="NAME", help="The language model that searches and compresses.")
]
_Dpo = Annotated[Path | None, typer.Option(metavar="PATH", help="Also write preferences for TRL's DPO: .jsonl.")]
_Seed = Annotated[int, typer.Option(metavar="N", help="Of all chance.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with a run that was cut short.")]

_EPILOG = """
**Examples**

vouch data pairs --input questions.jsonl --output pairs.jsonl

vouch data pairs --input 2wiki.jsonl --index wiki --output pairs.jsonl

vouch data pairs --input questions.jsonl --model openai/gpt-4o-mini --model local:/qwen --judge openai/gpt-4o
--index wiki --output pairs.jsonl --dpo preferences.jsonl

**Exit status**: 0 done; 2 the command line, the input or an output cannot be used; 3 some rows could not be used, or
the run ended early: finish it with --resume; 130 interrupted.
"""


@dataclass(frozen=True, slots=True)
class PairOptions:
    """The options of one ``vouch data pairs``."""

    input: str
    """Path of the questions."""
    output: Path
    """Path of the pairs."""
    models: tuple[str, ...] = ()
    """Who answers; nobody makes answers without a language model."""
    judge: str | None = None
    """Who marks and compares."""
    per_model: int = 2
    """Answers of each model."""
    wrong: int = 4
    """Wrong short answers that are made, at most."""
    pairs: int = 6
    """Pairs of a question, at most."""
    search: SearchOptions = field(default_factory=SearchOptions)
    """Where evidence is searched for."""
    search_model: str | None = None
    """Who searches and compresses; None does both without a language model."""
    dpo: Path | None = None
    """Path of the preferences; None for none."""
    seed: int = 0
    """Of all chance."""
    resume: bool = False
    """Whether to go on with a run that was cut short."""

    @property
    def rejected(self) -> Path:
        """Path of what was rejected."""
        return self.output.with_suffix(".rejected.jsonl")


@app.command("pairs", epilog=_EPILOG)
def pairs_command(
    input: _Input,
    output: _Output,
    model: _Models = None,
    judge: _Judge = None,
    per_model: _PerModel = 2,
    wrong: _Wrong = 4,
    pairs: _Pairs = 6,
    search_model: _SearchModel = None,
    index: Indexes = None,
    web: WebEngines = None,
    pages: Pages = False,
    record: RecordFile = None,
    replay: ReplayFile = None,
    queries: Queries = None,
    dpo: _Dpo = None,
    seed: _Seed = 0,
    resume: _Resume = False,
) -> None:
    """Make pairs of answers, the better and the worse, each with its evidence: what vouch train rank learns from.

    Language models answer and a judge marks and compares by the reference. Without --model the right answer is set
    against wrong ones that could be right, from the paragraphs of the question or with an error put in. Rejected
    answers and pairs go to another file, with reasons.
    """
    with usage_errors():
        search = SearchOptions(tuple(index or ()), tuple(web or ()), pages, record, replay, queries)
        if complaint := next(search.complaints(), None):
            raise InputError(complaint)
        options = PairOptions(
            input, output, tuple(model or ()), judge, per_model, wrong, pairs, search, search_model, dpo, seed, resume
        )
        raise typer.Exit(make_pairs(options))


def make_pairs(options: PairOptions) -> Exit:
    """Make the pairs of a file of questions; write them, what was rejected and why, and tell the rates.

    Raises:
        InputError: the input or an output cannot be used.
        ConfigError: a model or an engine cannot be opened.
    """
    if options.models and options.judge is None:
        raise InputError("got --model without --judge: name the language model that marks the answers")
    more = [options.dpo] if options.dpo else []
    journal_path = journal_beside(options.input, options.output, options.rejected, *more)
    settings = {
        "command": "data pairs", "models": ",".join(options.models), "judge": options.judge or "",
        "per_model": options.per_model, "wrong": options.wrong, "pairs": options.pairs, "seed": options.seed,
        **options.search.settings, "search_model": options.search_model or "", "vouching": __version__,
    }  # fmt: skip
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(options.input))
        journal = open_files.enter_context(open_journal(str(journal_path), settings, options.resume))
        summary = run_rows(reader, journal, _work(options), _look, again=AGAIN)
    _split(journal_path, options)
    for line in _told(summary, options.rejected):
        write_error(line)
    return Exit.INCOMPLETE if summary.stopped is not None or summary.problems else Exit.OK


def _work(options: PairOptions) -> Waiting:
    """What makes pairs, with its models and engines opened."""
    from vouching.methods.discriminative.open import open_search
    from vouching.models.open import open_model
    from vouching.train.rank_candidates import made_candidates
    from vouching.train.rank_judge import Judge, answers_of
    from vouching.train.rank_pairs import PairMaker

    models = [open_model(name) for name in options.models]
    judge = open_model(options.judge) if options.judge else None

    async def propose(asked: Any, rng: Any) -> list[Any]:
        if models:
            return await answers_of(models, asked.question, options.per_model, options.seed)
        return made_candidates(asked, options.wrong, rng)

    searcher = open_model(options.search_model) if options.search_model else None
    find, compress, opened = open_search(searcher, options.search.engines(), options.search.queries)
    maker = PairMaker(
        propose, Judge(judge, options.seed) if judge else None, find, compress, options.pairs, options.seed
    )

    async def close() -> None:
        for one in (*models, *([judge] if judge else []), *opened):
            await one.aclose()

    return Waiting(lambda: _Make(maker, Path(options.input).name.partition(".")[0]), close)


@dataclass(frozen=True, slots=True)
class _Make:
    """The work on a question: a line of the journal."""

    maker: PairMaker
    place: str

    async def __call__(self, row: Row) -> str:
        from vouching.train.rank_rows import question_of

        try:
            if row.fields is None:
                raise InputError(row.problem or "it cannot be read")
            made = await self.maker.make(question_of(row.fields, row.name, self.place))
        except InputError as error:
            made = {"problem": f"{row.place}: {error}"}
        return json.dumps({"row": row.name, **made}, ensure_ascii=False)


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    if "problem" in line:
        return Seen(line["row"], f"{input_name}, {line['problem']}")
    kept = sum(fault is None for _, _, fault in line["pairs"])
    counts = {"questions": 1, "with_pairs": bool(kept), "pairs": kept, "judged": line["judged"]}
    counts["unmarked"] = sum(one["fault"] is not None for one in line["answers"])
    counts["compared"] = len(line["pairs"]) if line["confirming"] else 0
    counts["confirmed"] = kept if line["confirming"] else 0
    return Seen(line["row"], counts=counts)


def _split(journal: Path, options: PairOptions) -> None:
    """Write pairs, preferences and rejects from the journal."""
    from vouching.train.rank_pairs import pairs_in, preferences_in, rejects_in

    writers = [(options.output, pairs_in), (options.rejected, rejects_in)]
    writers += [(options.dpo, preferences_in)] if options.dpo else []
    with ExitStack() as files:
        lines = files.enter_context(journal.open(encoding="utf-8"))
        outputs = [(files.enter_context(path.open("w", encoding="utf-8")), rows) for path, rows in writers]
        for line in map(json.loads, lines):
            for file, rows in outputs if "problem" not in line else ():
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(line))


def _told(summary: BatchSummary, rejected: Path) -> Iterator[str]:
    counts = summary.counts
    if summary.stopped is not None:
        yield f"stopped: {summary.stopped}; finish with --resume"
    if summary.problems:
        yield f"{summary.problems:,} rows cannot be used"
    if counts["judged"]:
        yield f"answers that got a mark: {_share(counts['judged'] - counts['unmarked'], counts['judged'])}"
    if counts["compared"]:
        yield f"pairs that the judge confirmed: {_share(counts['confirmed'], counts['compared'])}"
    why = f"; {rejected} says why not all" if counts["with_pairs"] < counts["questions"] else ""
    yield f"{counts['pairs']:,} pairs; questions with a pair: {_share(counts['with_pairs'], counts['questions'])}{why}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f} %)" if whole else "")
