"""``vouch bench answer``: questions and requests answered by a model under test, its answers measured and audited.

Left out: two such runs compared.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.answering.audit import AuditMethod
from vouching.answering.prompt import Style
from vouching.cli.bench import RunProgress
from vouching.cli.streams import Exit, draw, usage_errors, write_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from vouching.answering.answer import Answerer
    from vouching.bench.answer_score import Mark
    from vouching.bench.answer_sets import AnswerRow
    from vouching.bench.answer_task import AnswerOptions
    from vouching.types import Report, Source

app = typer.Typer()

_Names = Annotated[
    list[str],
    typer.Argument(
        help="hotpotqa, musique, 2wiki (with known answers); ragtruth_requests, faithbench_requests, facts_requests."
    ),
]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for rows, figures and report.")]
_Model = Annotated[
    str | None, typer.Option(metavar="NAME", envvar="VOUCH_MODEL", help="The language model under test.")
]
_Prompt = Annotated[Style, typer.Option(help="How it is asked: plainly, step by step, or after answered examples.")]
_Generations = Annotated[int, typer.Option(metavar="N", min=1, help="Drafts of each answer; the paper takes 8.")]
_Judge = Annotated[
    str | None, typer.Option(metavar="NAME", help="What audits each draft against the documents; without it, nothing.")
]
_Method = Annotated[AuditMethod, typer.Option(help="How it does: asked again blind, or claim by claim.")]
_Marker = Annotated[
    str | None, typer.Option(metavar="NAME", help="A language model that holds answers against the known ones.")
]
_Split = Annotated[Literal["train", "dev", "test"], typer.Option(help="Which part of each set.")]
_Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Rows per set, drawn by task, for a quick look.")]
_Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the sampling; without it, none.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a draft.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with the run that is in DIR.")]

_EPILOG = """
**Examples**

vouch bench answer hotpotqa musique 2wiki --model http://localhost:8000/v1#qwen --generations 8 --out runs/multihop

vouch bench answer ragtruth_requests --model http://localhost:8000/v1#qwen --judge embedded --out runs/faithful

**Exit status**: 0 done; 2 the command line, a data set or the folder cannot be used; 3 questions without an answer, or
the run was stopped and can be resumed.
"""


@app.command("answer", epilog=_EPILOG)
def answer_command(
    names: _Names,
    out: _Out,
    model: _Model = None,
    prompt: _Prompt = "plain",
    generations: _Generations = 1,
    judge: _Judge = None,
    method: _Method = "blinded",
    marker: _Marker = None,
    split: _Split = "test",
    limit: _Limit = None,
    seed: _Seed = None,
    max_tokens: _MaxTokens = 1024,
    resume: _Resume = False,
) -> None:
    """Have a language model answer questions from documents and measure its answers.

    Known answers: exact match, F1, and what a marker says. Documents: whether an audit finds the answers faithful. Each
    draft is judged by itself; with several, a majority decides.
    """
    from vouching.bench.answer_sets import chosen_answers
    from vouching.bench.answer_task import AnswerOptions, answer_task
    from vouching.bench.catalog import data_folder
    from vouching.bench.run import run_task
    from vouching.bench.task import RunOptions

    with usage_errors():
        options = AnswerOptions(model or "", prompt, generations, judge, method, marker, seed, max_tokens)
        task = answer_task(options, partial(_answerer, options), partial(_mark, marker) if marker else None)
        run_options = RunOptions(options.model, split, limit, 1, resume)
        try:
            listener = RunProgress()
            with listener:
                outcome = run_task(task, chosen_answers(names), data_folder(), out, run_options, listener)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; make room and go on with --resume")
            raise typer.Exit(Exit.INCOMPLETE) from None
    if outcome.results is None:
        write_error(f"stopped: {outcome.stopped}; go on with --resume when that is mended")
        raise typer.Exit(Exit.INCOMPLETE)
    _draw(outcome.results, out)
    if outcome.unverified:
        write_error(f"without an answer: {outcome.unverified:,}; {out / 'rows'} says why")
        raise typer.Exit(Exit.INCOMPLETE)


def _answerer(options: AnswerOptions) -> Answerer:
    from vouching.answering.answer import AnswerConfig, Answerer
    from vouching.answering.audit import open_audit
    from vouching.cli.answer import writing_model

    config = AnswerConfig(options.prompt, options.generations, max_tokens=options.max_tokens, seed=options.seed)
    writer = writing_model(options.model)
    return Answerer(writer, open_audit(options.judge, options.method) if options.judge else _unaudited, config)


async def _unaudited(question: str, response: str, sources: Sequence[Source]) -> Report:
    from vouching.types import Report

    return Report(response, tuple(sources), (), question)


def _mark(name: str) -> Mark:
    """What holds an answer against the references: the judge that also marks answers for pairs."""
    from vouching.models.open import open_model
    from vouching.train.rank_judge import Judge
    from vouching.train.rank_rows import RankQuestion

    judge = Judge(open_model(name))

    async def mark(row: AnswerRow, answer: str) -> bool | None:
        label, _ = await judge.mark(RankQuestion(row.id, row.question, row.references), answer)
        return None if label is None else label == "correct"

    return mark


def _draw(results: dict[str, Any], out: Path) -> None:
    from vouching.bench.answer_task import answer_notes, answer_table

    def paint(console: Console) -> None:
        for name, found in results["sets"].items():
            console.print(f"{name}: {found['what']}\n")
            console.print(answer_table(found))
            for note in answer_notes(found):
                console.print(note, markup=False, highlight=False)
            console.print()
        console.print(f"All figures: {out / 'results.json'}; to look at: {out / 'report.html'}")

    draw(paint)
