"""``vouch bench build-ranking``: a ranking set of one's own, in three steps, each from a file to a file.

    questions -> rows     models answer, a judge labels and confirms (--model, --judge)
    rows -> votes         one person accepts or rejects each row, at the terminal (--voter)
    rows, votes -> set    what two of three reject is dropped, and how far they agree is told (--votes)

What became of each question is kept in a journal beside the rows, which a run that was cut short goes on from. Left
out: a page to vote on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from vouching.cli.row_progress import AGAIN, run_rows
from vouching.cli.streams import Exit, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import Seen
from vouching.types.visible import visible_line
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[
    Path,
    typer.Option("--input", metavar="ROWS", help="Questions with references; in later steps, built rows."),
]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="Rows, or votes: .jsonl.")]
_Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="NAME", help="A language model that answers. Repeatable.")
]
_Judge = Annotated[str | None, typer.Option(metavar="NAME", help="The language model that labels and compares.")]
_PerModel = Annotated[int, typer.Option("--per-model", metavar="N", min=1, help="Answers of each model.")]
_Voter = Annotated[bool, typer.Option("--voter", metavar="", help="Ask at the terminal whether each row is right.")]
_Votes = Annotated[
    list[Path] | None, typer.Option(metavar="PATH", help="The votes of one person, id and vote. Three times.")
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Of all chance.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with what was cut short.")]

_EPILOG = """
**Examples**

vouch bench build-ranking --input questions.jsonl --model openai/gpt-4o-mini --model local:/qwen --judge openai/gpt-4o
--output built.jsonl

vouch bench build-ranking --input built.jsonl --voter --output ada.jsonl

vouch bench build-ranking --input built.jsonl --votes ada.jsonl --votes bob.jsonl --votes cy.jsonl --output mine.jsonl

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some questions could not be used,
or it ended early: finish it with --resume.
"""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The options of the first step."""

    input: Path
    """Path of the questions."""
    output: Path
    """Path of the rows."""
    models: tuple[str, ...] = ()
    """Who answers; nobody where questions come with answers."""
    judge: str | None = None
    """Who labels and compares."""
    per_model: int = 1
    """Answers of each model."""
    seed: int = 0
    """Of all chance."""
    resume: bool = False
    """Whether to go on with what was cut short."""


@app.command("build-ranking", epilog=_EPILOG)
def build_ranking_command(
    input: _Input,
    output: _Output,
    model: _Models = None,
    judge: _Judge = None,
    per_model: _PerModel = 1,
    voter: _Voter = False,
    votes: _Votes = None,
    seed: _Seed = 0,
    resume: _Resume = False,
) -> None:
    """Make a ranking set of your own as FGVeriBench was made: answers, labels by a model, votes of three people.

    Without votes a row is marked as verified by a model alone. Put the set into the folder rankings of the data folder
    and run it as own_rankings.
    """
    with usage_errors():
        if output.suffix != ".jsonl":
            raise InputError(f"{output}: wanted an output that ends in .jsonl")
        if voter + bool(votes) + (judge is not None) != 1:
            raise InputError("say which step this is: --judge NAME to build rows, --voter to vote, --votes to count")
        if judge is None and model:
            raise InputError("got --model without --judge: only the first step asks models")
        if voter:
            raise typer.Exit(vote(input, output, resume, typer.get_text_stream("stdin")))
        if votes:
            raise typer.Exit(count(input, output, votes))
        options = BuildOptions(input, output, tuple(model or ()), judge, per_model, seed, resume)
        raise typer.Exit(build(options))


def build(options: BuildOptions) -> Exit:
    """The first step: rows from questions, with a journal of what became of each.

    Raises:
        InputError: the input or an output cannot be used.
        ConfigError: a model cannot be opened.
    """
    from vouching.bench.build_ranking import row_of, why_dropped

    journal_path = options.output.with_suffix(".journal.jsonl")
    if not journal_path.exists() and options.output.exists() and options.output.stat().st_size:
        raise InputError(f"{options.output} is there already, but not its journal: name another output")
    settings = {
        "command": "bench build-ranking", "models": ",".join(options.models), "judge": options.judge or "",
        "per_model": options.per_model, "seed": options.seed, "vouching": __version__,
    }  # fmt: skip
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(str(options.input)))
        journal = open_files.enter_context(open_journal(str(journal_path), settings, options.resume))
        summary = run_rows(reader, journal, _work(options), _look, again=AGAIN)
    with journal_path.open(encoding="utf-8") as file:
        lines = [line for line in map(json.loads, file) if "problem" not in line]
    rows = [row for line in lines if (row := row_of(line)) is not None]
    _write(options.output, rows)
    if summary.stopped is not None:
        write_error(f"stopped: {summary.stopped}; finish with --resume")
    for fault, number in why_dropped(lines).most_common():
        write_error(f"{number:,} question{'s' * (number != 1)}: {fault}")
    write_error(f"{len(rows):,} rows of {len(lines):,} questions, verified by a model alone; next: --voter")
    return Exit.INCOMPLETE if summary.stopped is not None or summary.problems else Exit.OK


def vote(built: Path, output: Path, resume: bool, answers: TextIO) -> Exit:
    """The second step: one person's votes, each written as it is given.

    Args:
        built: the rows.
        output: where the votes go.
        resume: whether to go on with votes that are there.
        answers: what the person types, a line each: y, n, or q to stop.

    Raises:
        InputError: the rows or the votes cannot be used.
    """
    from vouching.bench.build_ranking import votes_of

    rows = _built(built)
    if output.exists() and output.stat().st_size and not resume:
        raise InputError(f"{output} has votes: go on with --resume, or name another output")
    given = votes_of(_records(output)) if output.exists() else {}
    left = [row for row in rows if row["id"] not in given]
    with output.open("a", encoding="utf-8") as file:
        for number, row in enumerate(left, len(given) + 1):
            typer.echo("\n".join(_shown(row, number, len(rows))))
            said = _asked(answers)
            if said is None:
                write_error(f"stopped: {number - 1:,} of {len(rows):,} rows voted on; go on with --resume")
                return Exit.INCOMPLETE
            file.write(json.dumps({"id": row["id"], "vote": said}) + "\n")
            file.flush()
    write_error(f"voted on {len(rows):,} rows")
    return Exit.OK


def count(built: Path, output: Path, paths: Iterable[Path]) -> Exit:
    """The third step: the rows that people keep, and how far they agree.

    Raises:
        InputError: rows or votes cannot be used, more than three people, or one file twice.
    """
    from vouching.bench.build_ranking import VOTERS, agreement, voted, votes_of

    files = [*paths]
    if len(files) > VOTERS or len({path.resolve() for path in files}) < len(files):
        raise InputError(f"got the votes of {len(files)} files, wanted at most {VOTERS}, each once")
    if output.resolve() in {path.resolve() for path in (built, *files)}:
        raise InputError(f"{output} is one of the inputs: name another output")
    votes = {path.stem: votes_of(_records(path)) for path in files}
    rows = _built(built)
    kept = [
        found
        for row in rows
        if (found := voted(row, {name: one[row["id"]] for name, one in votes.items() if row["id"] in one})) is not None
    ]
    _write(output, kept)
    people = sum(row["verified"] == "people" for row in kept)
    write_error(f"{len(rows) - len(kept):,} of {len(rows):,} rows dropped; of the others {people:,} verified by people")
    found = agreement(votes)
    if found["all_agree"] is not None:
        kappa = "undefined" if found["kappa"] is None else f"{found['kappa']:.3f}"
        write_error(
            f"on {found['rows']:,} rows with all votes: all agree on {found['all_agree']:.1%}, pairs of votes on "
            f"{found['pairwise']:.1%}, mean kappa {kappa}"
        )
    return Exit.OK


def _work(options: BuildOptions) -> Waiting:
    """What makes a line of a question, with its models opened."""
    from vouching.bench.build_ranking import Asked, PoolAnswer, RankingBuilder
    from vouching.models.open import open_model
    from vouching.train.rank_judge import Judge, answers_of
    from vouching.train.rank_rows import RankQuestion, question_of

    models = [open_model(name) for name in options.models]
    judge = Judge(open_model(options.judge or ""), options.seed)

    def question(asked: Asked) -> RankQuestion:
        return RankQuestion(asked.id, asked.question, asked.references)

    async def propose(asked: Asked) -> list[PoolAnswer]:
        if not models:
            raise InputError("it comes without answers: name who answers (--model), or give answers")
        said = await answers_of(models, asked.question, options.per_model, options.seed)
        return [PoolAnswer(one.answer, one.by) for one in said]

    async def mark(asked: Asked, answer: str) -> tuple[str | None, str | None]:
        return await judge.mark(question(asked), answer)

    async def confirm(asked: Asked, better: str, worse: str) -> str | None:
        return await judge.confirm(question(asked), better, worse)

    builder = RankingBuilder(propose, mark, confirm, options.seed)

    async def work(row: Row) -> str:
        try:
            if row.fields is None:
                raise InputError(row.problem or "it cannot be read")
            read = question_of(row.fields, row.name, "")
            pool = tuple(PoolAnswer(one.answer, one.by, one.label) for one in read.candidates)
            made = await builder.build(Asked(read.id, read.question, read.references, pool))
        except InputError as error:
            made = {"id": row.name, "problem": f"{row.place}: {error}"}
        return json.dumps(made, ensure_ascii=False)

    async def close() -> None:
        for one in (*models, judge.model):
            await one.aclose()

    return Waiting(lambda: work, close)


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    problem = line.get("problem")
    return Seen(line["id"], None if problem is None else f"{input_name}, {problem}")


def _shown(row: Mapping[str, Any], number: int, rows: int) -> Iterator[str]:
    """A row as it is voted on: its answers best first, with nothing that could be taken for the program's own words."""
    yield f"\nRow {number:,} of {rows:,}. {visible_line(str(row['question']))}"
    yield f"Right answer: {visible_line(' | '.join(map(str, row['reference'])))}"
    for place, answer in enumerate(row["ranking"], 1):
        yield f"  {place}. {visible_line(str(row['answers'][answer - 1]['text']))}"
    yield "Do they stand from the most to the least correct? y, n, or q to stop:"


def _asked(answers: TextIO) -> str | None:
    """The next vote; None to stop."""
    for said in answers:
        match said.strip().lower():
            case "y" | "yes":
                return "accept"
            case "n" | "no":
                return "reject"
            case "q" | "quit":
                return None
            case other:
                typer.echo(f"Got {visible_line(other)!r}, wanted y, n or q:")
    return None


def _built(path: Path) -> list[dict[str, Any]]:
    """The rows of the first step, each of which must be one of a ranking set. Raises InputError."""
    from vouching.bench.rankings import fgveribench_row

    found: dict[str, dict[str, Any]] = {}
    for record in _records(path):
        name = str(record.get("id"))
        try:
            [_] = fgveribench_row(record, name)
        except InputError as error:
            raise InputError(f"{path}, row {name}: {error}; wanted what the first step wrote") from None
        found[name] = record
    if not found:
        raise InputError(f"{path} has no row: build some with --judge")
    return [*found.values()]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with open_rows(str(path)) as reader:
        for row in reader:
            if row.fields is None:
                raise InputError(f"{reader.name}, {row.place}: {row.problem}")
            yield dict(row.fields)


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
