"""Measures language models on questions, problems and as judges; ``vouch bench`` measures verifiers.

    python recipes/bench/run.py list
    python recipes/bench/run.py validate [SET ...]
    python recipes/bench/run.py answers hotpotqa --model MODEL --out DIR
    python recipes/bench/run.py judge contextual_judge_bench --judge MODEL --out DIR
    python recipes/bench/run.py generate math_500 --model MODEL --output FILE
    python recipes/bench/run.py score math_500 --responses FILE --out DIR
    python recipes/bench/run.py compare DIR DIR

Exit status: 0 done; 2 invalid command line, data set or folder; 3 some rows have no result, a set has faults, or the
run stopped and can be resumed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.bench.answer_task import AnswerOptions, AnswersTask
from recipes.bench.answers import AnswerRow, Mark
from recipes.bench.generate import Writer, requests_of, write_responses
from recipes.bench.judges import JudgeOptions, JudgesTask
from recipes.bench.problems import MathTask
from recipes.bench.sets import ANSWERS, GENERATED, JUDGED, SOLVED, TASKS, chosen
from recipes.bench.tax_answers import TaxesTask
from recipes.rank.marking import Judge, RankQuestion
from vouching import metrics
from vouching.answering.answer import AnswerConfig, Answerer, open_writer, writer_name
from vouching.answering.prompt import Style, shots_in
from vouching.bench.catalog import data_folder
from vouching.bench.compare import same_data
from vouching.bench.intervals import RESAMPLES, intervals, plain, verdict_of
from vouching.bench.report import difference_table
from vouching.bench.run import RUN, Record, read_record, read_scored, validate
from vouching.bench.task import RunOptions
from vouching.cli.bench import missing_text, write_faults
from vouching.cli.bench_run import finish_run
from vouching.cli.streams import Exit, draw, show_rows, usage_errors, write_error, write_json
from vouching.errors import InputError
from vouching.models.open import open_model
from vouching.shortcuts import AuditMethod, open_audit
from vouching.types import Report, Source

app = typer.Typer(help=(__doc__ or "").partition("\n")[0], no_args_is_help=True, add_completion=False)
_ALL = {**ANSWERS, **JUDGED, **SOLVED}
_Names: TypeAlias = Annotated[list[str], typer.Argument(help="Names of data sets.", show_default=False)]
_Out: TypeAlias = Annotated[Path, typer.Option(metavar="DIR", help="Folder for rows, figures and report.")]
_Splits: TypeAlias = Annotated[Literal["train", "dev", "test"], typer.Option(help="Split of each set.")]
_Limit: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Draw a stratified sample of at most N rows per set.")
]
_Resume: TypeAlias = Annotated[bool, typer.Option("--resume", metavar="", help="Resume an interrupted run.")]
_Seed: TypeAlias = Annotated[int | None, typer.Option(metavar="N", help="Sampling seed.")]
_Longest: TypeAlias = Annotated[
    int, typer.Option("--max-tokens", metavar="N", min=1, help="Maximum number of tokens in a reply.")
]
_Model: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The language model to measure, such as http://host:8000/v1#name, vllm:PATH or local:PATH.",
    ),
]
_Json: TypeAlias = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of a table.")]


@app.command("list")
def list_command() -> None:
    """List the data sets, how to obtain them, and where to save them below VOUCH_DATA."""
    draw(lambda console: console.print(*map(missing_text, _ALL.values()), sep="\n", soft_wrap=True))


@app.command("validate")
def validate_command(
    names: Annotated[list[str] | None, typer.Argument(help="Default: all available sets.")] = None,
) -> None:
    """Check data sets without a model: fields, ids, and that right answers score 1."""
    faulty = False
    with usage_errors():
        folder = data_folder()
        for one in chosen(names or [], _ALL) or _ALL.values():
            for split in one.files:
                if names or one.paths(folder, split):
                    faults = [*validate(one, folder, split, TASKS[one.name])]
                    faulty = faulty or bool(faults)
                    write_faults(f"{one.name}, {split}", faults)
    raise typer.Exit(Exit.INCOMPLETE if faulty else Exit.OK)


@app.command("answers")
def answers_command(
    names: _Names,
    out: _Out,
    model: _Model = "",
    split: _Splits = "test",
    limit: _Limit = None,
    resume: _Resume = False,
    seed: _Seed = None,
    max_tokens: _Longest = 1024,
    prompt: Annotated[
        Style,
        typer.Option(help="Prompt: direct (plain), step by step (cot), with examples (few-shot), or MARCH's (paper)."),
    ] = "plain",
    shots: Annotated[
        str | None, typer.Option(metavar="ROWS", help="Your examples for --prompt few-shot, as in vouch answer.")
    ] = None,
    generations: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of drafts per question; the published method uses 8.")
    ] = 1,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model that audits each draft against the documents.")
    ] = None,
    method: Annotated[
        AuditMethod, typer.Option(help="How --judge audits: with blind questions, or claim by claim.")
    ] = "blinded",
    marker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Language model that compares answers with the references.")
    ] = None,
) -> None:
    """Let a model answer the questions of hotpotqa, musique, 2wiki, or the requests of RAGTruth, FaithBench, FACTS."""
    with usage_errors("--judge"):
        sets, folder = chosen(names, ANSWERS), data_folder()
        options = AnswerOptions(
            writer_name(model or None), prompt, shots, generations, judge, method, marker, seed, max_tokens
        )
        task = AnswersTask(options, lambda: _answerer(options), partial(_mark, marker) if marker else None)
    finish_run(task, sets, folder, out, RunOptions(options.model, split, limit, resume=resume))


def _answerer(options: AnswerOptions) -> Answerer:
    shots = None if options.shots is None else shots_in(options.shots)
    config = AnswerConfig(
        options.prompt, options.generations, max_tokens=options.max_tokens, seed=options.seed, shots=shots
    )
    audit = open_audit(options.judge, options.method) if options.judge else _unaudited
    return Answerer(open_writer(options.model), audit, config)


async def _unaudited(question: str, response: str, sources: Sequence[Source]) -> Report:
    return Report(response, tuple(sources), (), question)


def _mark(name: str) -> Mark:
    """Compares answers with the references, by the judge that also marks answers for training pairs."""
    judge = Judge(open_model(name))

    async def mark(row: AnswerRow, answer: str) -> bool | None:
        label, _ = await judge.mark(RankQuestion(row.id, row.question, row.references), answer)
        return None if label is None else label == "correct"

    return mark


@app.command("judge")
def judge_command(
    names: _Names,
    out: _Out,
    judge: Annotated[list[str], typer.Option(metavar="NAME", help="Language model that judges; can be repeated.")],
    votes: Annotated[int, typer.Option(metavar="N", min=1, help="Replies from each judge, for a majority vote.")] = 1,
    limit: _Limit = None,
    resume: _Resume = False,
    seed: _Seed = None,
    max_tokens: _Longest = 1024,
) -> None:
    """Measure models as judges, by the protocol of contextual_judge_bench or facts_grounding."""
    with usage_errors("--judge"):
        sets, folder = chosen(names, JUDGED), data_folder()
        judging = JudgeOptions(tuple(judge), votes, seed=seed, max_tokens=max_tokens)
        task = JudgesTask(judging, lambda: [open_model(name) for name in judging.judges])
    finish_run(task, sets, folder, out, RunOptions(" ".join(judge), limit=limit, resume=resume))


@app.command("score")
def score_command(
    names: _Names,
    out: _Out,
    responses: Annotated[str, typer.Option(metavar="PATH", help="File with the responses.")],
    limit: _Limit = None,
    resume: _Resume = False,
) -> None:
    """Score responses to math_500, aime_2024, aime_2025 or taxcalcbench."""
    with usage_errors():
        sets, folder = chosen(names, SOLVED), data_folder()
        kinds = {TASKS[one.name] for one in sets}
        if len(kinds) > 1:
            raise InputError("taxcalcbench has returns, the other sets have problems: score them separately")
        task = TaxesTask(responses) if kinds == {TaxesTask} else MathTask(responses)
    finish_run(task, sets, folder, out, RunOptions(responses, limit=limit, resume=resume))


@app.command("generate")
def generate_command(
    name: Annotated[str, typer.Argument(help="ifeval, math_500, aime_2024, aime_2025 or taxcalcbench.")],
    output: Annotated[Path, typer.Option("--output", metavar="PATH", help="File for the responses: .jsonl.")],
    model: _Model = "",
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N requests.")] = None,
    generations: Annotated[int, typer.Option(metavar="K", min=1, help="Responses to each request.")] = 1,
    temperature: Annotated[float, typer.Option(min=0, help="Sampling temperature; 0 is greedy.")] = 0.0,
    top_p: Annotated[float, typer.Option(min=0, max=1, help="Share of the probability to sample from.")] = 1.0,
    max_tokens: _Longest = 4096,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed for all sampling.")] = 0,
    resume: _Resume = False,
) -> None:
    """Let a model respond to a set, for score, or, for ifeval, vouch bench run ifeval --responses FILE."""
    with usage_errors():
        if output.suffix != ".jsonl":
            raise InputError(f"--output must end in .jsonl, got {output}")
        if generations > 1 and not temperature:
            raise InputError("--generations above 1 requires --temperature above 0: greedy responses are all the same")
        [data_set] = chosen([name], GENERATED)
        requests = requests_of(data_set, data_folder(), "test", limit)
        writer = Writer(open_model(model or None), generations, temperature, top_p, max_tokens, seed)
        done, report = write_responses(requests, output, writer, resume, show_rows)
    for line in report:
        write_error(line)
    raise typer.Exit(Exit.OK if done else Exit.INCOMPLETE)


@app.command("compare")
def compare_command(
    first: Annotated[Path, typer.Argument(help="Folder of a run of score.")],
    second: Annotated[Path, typer.Argument(help="Folder of another.")],
    as_json: _Json = False,
) -> None:
    """Compare two runs of score on the same problems: differences with intervals."""
    with usage_errors():
        comparison = compare_shares(first, second)
    if as_json:
        write_json(comparison)
    else:
        draw(lambda console: console.print(difference_table(comparison)))


def compare_shares(first: Path, second: Path, resamples: int = RESAMPLES) -> Record:
    """Compare two runs on problems by set: the change in accuracy, by paired bootstrap over the problems.

    Problems without a decided response in either run are excluded.
    """
    runs = [read_record(folder, RUN) for folder in (first, second)]
    sets: dict[str, Any] = {}
    for name in same_data(runs, first, second):
        old, new = ({row["id"]: row["share"] for row in read_scored(folder, name)} for folder in (first, second))
        both = [one for one in old if None not in (old[one], new.get(one))]
        if not both:
            raise InputError(f"the two runs have no scored problem of {name} in common")
        one, other = (np.array([shares[key] for key in both]) for shares in (old, new))
        found = intervals({"accuracy": partial(metrics.mean, other - one)}, np.arange(len(both)), resamples)["accuracy"]
        difference = {**found, "verdict": verdict_of(found, np.array_equal(one, other))}
        figures = {"first": plain(one.mean()), "second": plain(other.mean()), "difference": difference}
        sets[name] = {"rows": len(both), "all rows": {"accuracy": figures}}
    return {"first": runs[0]["settings"], "second": runs[1]["settings"], "sets": sets}


if __name__ == "__main__":
    app()
