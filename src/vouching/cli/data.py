"""``vouch data``: data for training and testing verifiers, made of data.

``perturb`` changes claims on purpose; ten thousand take less than a minute, so it is not resumed. ``annotate``,
``checklist``, ``gold`` and ``pairs`` keep what became of each row in a journal beside the output, which a run that was
cut short resumes; the other files are written from it anew each time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from vouching.cli.options import Indexes, WebEngines
from vouching.cli.streams import Exit, RowProgress, cannot_write, show_rows, usage_errors, write_error
from vouching.errors import ConfigError, InputError
from vouching.inputs import SeenRows, labelled_examples
from vouching.rows import Made, MadeFiles, new_output, open_rows
from vouching.search.options import SearchOptions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vouching.methods.structured.teacher import Demand
    from vouching.perturb import Strategy, Tally
    from vouching.train.rank_pairs import PairMaker

app = typer.Typer()


def _rows_option(help: str) -> Any:
    return typer.Option("--input", metavar="ROWS", help=f"{help}; - is stdin.")


_Claims = Annotated[str, _rows_option("Rows with claim, source and, if known, label")]
_Probes = Annotated[str, typer.Option("--output", metavar="PROBES", help="A new .jsonl file; - prints the lines.")]
_Strategies = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Which strategies, by their names in docs/perturb.md; all without it."),
]
_PerRow = Annotated[int, typer.Option("--per-row", metavar="N", min=1, help="Most perturbations of one row.")]
_Limit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Stop after so many perturbations; without it, when the rows end."),
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all that is drawn: equal runs give equal lines.")]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="What was accepted: .jsonl.")]
_Writer = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The language model that writes, such as http://host:8000/v1#name or openai/name.",
    ),
]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a reply; a model that thinks needs more.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Resume a run that was cut short.")]
_Demand = Annotated[
    str | None, typer.Option(metavar="A,B", help="Beyond the form: label, error_type, fix, grounded; none without it.")
]
_Prompts = Annotated[Path | None, typer.Option(metavar="PATH", help="Also write prompts alone, for GRPO: .jsonl.")]
_Instructions = Annotated[str, _rows_option("Rows with instruction, prompt or messages")]
_Critic = Annotated[
    str | None, typer.Option(metavar="NAME", help="A language model that looks for faults too; rules alone without it.")
]
_Rules = Annotated[
    bool, typer.Option("--rules", metavar="", help="Bind items to exact rules where the instruction asks for one.")
]
_Checklists = Annotated[str, _rows_option("Rows with an instruction and its checklist")]
_Policy = Annotated[
    str, typer.Option(metavar="NAME", envvar="VOUCH_MODEL", help="The policy, such as http://host:8000/v1#name.")
]
_Samples = Annotated[int, typer.Option(metavar="N", min=1, help="Answers to each instruction.")]
_Labels = Annotated[
    str | None, typer.Option(metavar="PATH", help="Rows with id and l that a person filled in; with --resume.")
]
_Evaluation = Annotated[
    list[str] | None,
    typer.Option(metavar="ROWS", help="Prompts that must not be in it, beside IFEval's in VOUCH_DATA. Repeatable."),
]
_Questions = Annotated[str, _rows_option("Rows with question and reference, or of a multi-hop data set")]
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


def _epilog(*examples: str, resumes: bool = True) -> str:
    early = "the run ended early (finish it with --resume), " if resumes else ""
    ended = (
        "**Exit status**: 0 done; 2 the command line, the input or an output cannot be used; 3 some rows could not be "
        f"used, {early}or the output takes no more."
    )
    return "\n\n".join([f"**Example{'s' * (len(examples) > 1)}**", *examples, ended])


@app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Make data for training and testing verifiers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def ended(made: Made) -> Exit:
    """Say what was made, and how the command ends."""
    complete, told = made
    for line in told:
        write_error(line)
    return Exit.OK if complete else Exit.INCOMPLETE


@app.command(
    "perturb",
    epilog=_epilog(
        "vouch data perturb --input claims.jsonl --output probes.jsonl --strategies number_change,number_format",
        resumes=False,
    ),
)
def perturb_command(
    input: _Claims, output: _Probes, strategies: _Strategies = None, per_row: _PerRow = 4, seed: _Seed = 0,
    limit: _Limit = None,
) -> None:  # fmt: skip
    """Change Attributable claims on purpose: typed, located errors, and rewrites that mean the same.

    Each line is a row with claim, source and label, and says where, how and from what the claim was changed. Rows that
    are Not Attributable are passed over; rows without a label count as Attributable.
    """
    from vouching.perturb import STRATEGIES, Tally, perturb_rows, to_json

    seen, tally = SeenRows(), Tally()
    with usage_errors(), ExitStack() as open_files:
        chosen = [name.strip() for name in strategies.split(",")] if strategies is not None else [*STRATEGIES]
        reader = open_files.enter_context(open_rows(input, ("claim",)))
        progress = open_files.enter_context(RowProgress(reader.share))
        examples = labelled_examples(reader, seen, progress.advance, progress.name)
        made = perturb_rows(examples, cast("list[Strategy]", chosen), per_row=per_row, seed=seed, tally=tally)
        try:
            sink = open_files.enter_context(new_output(output))
            for perturbation in islice(made, limit):
                sink.write(f"{to_json(perturbation)}\n".encode())
            sink.flush()
        except OSError as error:
            raise typer.Exit(cannot_write(error, output, "make room and start again")) from None
    for line in _rows_told(seen):
        write_error(line)
    print(_table(tally), file=sys.stderr)
    write_error(f"{sum(tally.kept.values()):,} perturbations of {sum(seen.counts.values()):,} rows")
    raise typer.Exit(Exit.INCOMPLETE if seen.broken else Exit.OK)


@app.command(
    "annotate",
    epilog=_epilog(
        "vouch data annotate --input pairs.jsonl --model openai/gpt-4o-mini --output sft.jsonl --demand "
        "label,error_type,fix"
    ),
)
def annotate_command(
    input: _Claims, output: _Output, model: _Writer, demand: _Demand = None, prompts: _Prompts = None, seed: _Seed = 0,
    max_tokens: _MaxTokens = 1024, resume: _Resume = False,
) -> None:  # fmt: skip
    """Let a language model write the records that a smaller one learns from.

    The output has a chat per accepted row, as TRL's SFT reads it; rejected rows go to another file, with reasons.
    """
    with usage_errors():
        from vouching.methods.structured.teacher import Teacher, annotate_rows
        from vouching.models.open import open_model

        demands = tuple(name.strip() for name in demand.split(",")) if demand else ()
        teacher = Teacher(open_model(model), cast("tuple[Demand, ...]", demands), seed, max_tokens)
        raise typer.Exit(ended(annotate_rows(MadeFiles(input, output, resume), teacher, prompts, show_rows)))


@app.command(
    "checklist",
    epilog=_epilog("vouch data checklist --input prompts.jsonl --model openai/gpt-4o-mini --output checklists.jsonl"),
)
def checklist_command(
    input: _Instructions, output: _Output, model: _Writer, critic: _Critic = None, rules: _Rules = False,
    seed: _Seed = 0, max_tokens: _MaxTokens = 2048, resume: _Resume = False,
) -> None:  # fmt: skip
    """Let a language model write a checklist for each instruction, lint it, and have it written again if it has faults.

    A row of the output has id, instruction, checklist and attempts. Lists whose faults stay go to another file.
    """
    with usage_errors():
        from vouching.methods.checklist.lint import encoder_nearness
        from vouching.methods.checklist.make import ChecklistMaker, make_checklists
        from vouching.models.open import open_model

        heard = None if critic is None else open_model(critic)
        maker = ChecklistMaker(open_model(model), seed, max_tokens, heard, encoder_nearness())
        raise typer.Exit(ended(make_checklists(MadeFiles(input, output, resume), maker, rules, show_rows)))


@app.command(
    "gold",
    epilog=_epilog(
        "vouch data gold --input checklists.jsonl --model http://localhost:8000/v1#policy --output gold.jsonl",
        "vouch data gold --input checklists.jsonl --model http://localhost:8000/v1#policy --output gold.jsonl --resume "
        "--labels gold.unlabelled.jsonl",
    ),
)
def gold_command(
    input: _Checklists, output: _Output, model: _Policy, samples: _Samples = 1, labels: _Labels = None,
    evaluation: _Evaluation = None, seed: _Seed = 0, max_tokens: _MaxTokens = 1024, resume: _Resume = False,
) -> None:  # fmt: skip
    """Let a policy answer, and label each item of the checklist: examples that a verifier learns from.

    Each line has id, x (the instruction), y (the answer), c (the item), l (1 or 0) and by (rule or person). Items
    without a rule or a person's label go to another file, rows that were not used to a third.
    """
    with usage_errors():
        from vouching.methods.checklist.gold import GoldOptions, forbidden_prompts, make_gold, read_labels
        from vouching.models.open import open_model

        said = read_labels(labels) if labels is not None else {}
        options = GoldOptions(forbidden_prompts(evaluations(evaluation or [])), samples, said, seed, max_tokens)
        run = partial(show_rows, idle=False)
        raise typer.Exit(ended(make_gold(MadeFiles(input, output, resume), options, open_model(model), run)))


def evaluations(files: list[str]) -> list[str]:
    """Files of prompts that must not be trained on: those named, and IFEval's where ``VOUCH_DATA`` has them."""
    from vouching.bench.catalog import data_folder
    from vouching.bench.ifeval import FILE

    try:
        shipped = data_folder() / FILE
    except ConfigError:
        return files
    return [*files, *([str(shipped)] if shipped.is_file() else [])]


@app.command(
    "pairs",
    epilog=_epilog(
        "vouch data pairs --input questions.jsonl --output pairs.jsonl",
        "vouch data pairs --input 2wiki.jsonl --index wiki --output pairs.jsonl",
        "vouch data pairs --input questions.jsonl --model openai/gpt-4o-mini --model local:/qwen --judge openai/gpt-4o "
        "--index wiki --output pairs.jsonl --dpo preferences.jsonl",
    ),
)
def pairs_command(
    input: _Questions, output: _Output, model: _Models = None, judge: _Judge = None, per_model: _PerModel = 2,
    wrong: _Wrong = 4, pairs: _Pairs = 6, search_model: _SearchModel = None, index: Indexes = None,
    web: WebEngines = None, dpo: _Dpo = None, seed: _Seed = 0, resume: _Resume = False,
) -> None:  # fmt: skip
    """Make pairs of answers, the better and the worse, each with its evidence: what vouch train learns a ranking from.

    Language models answer and a judge marks and compares by the reference. Without --model the right answer is set
    against wrong ones that could be right, from the paragraphs of the question or with an error put in. Rejected
    answers and pairs go to another file, with reasons.
    """
    with usage_errors():
        from vouching.train.rank_pairs import make_pairs
        from vouching.version import __version__

        search = SearchOptions.read(index, web)
        if model and judge is None:
            raise InputError("got --model without --judge: name the language model that marks the answers")
        settings = {
            "command": "data pairs", "models": ",".join(model or ()), "judge": judge or "", "per_model": per_model,
            "wrong": wrong, "pairs": pairs, "seed": seed, **search.settings, "search_model": search_model or "",
            "vouching": __version__,
        }  # fmt: skip
        work = partial(_pairing, model or [], judge, per_model, wrong, pairs, search, search_model, seed)
        raise typer.Exit(ended(make_pairs(MadeFiles(input, output, resume), work, settings, dpo, show_rows)))


def _pairing(
    names: list[str], judging: str | None, per_model: int, wrong: int, pairs: int, search: SearchOptions,
    search_model: str | None, seed: int,
) -> tuple[PairMaker, Callable[[], Awaitable[None]]]:  # fmt: skip
    """What makes pairs, with its models and engines opened, and what closes them."""
    from vouching.methods.discriminative.open import open_search
    from vouching.models.open import open_model
    from vouching.train.rank_candidates import made_candidates
    from vouching.train.rank_judge import Judge, answers_of
    from vouching.train.rank_pairs import PairMaker

    models = [open_model(name) for name in names]
    judge = open_model(judging) if judging else None

    async def propose(asked: Any, rng: Any) -> list[Any]:
        if models:
            return await answers_of(models, asked.question, per_model, seed)
        return made_candidates(asked, wrong, rng)

    searcher = open_model(search_model) if search_model else None
    find, compress, opened = open_search(searcher, search.engines(), search.queries)

    async def close() -> None:
        for one in (*models, *([judge] if judge else []), *opened):
            await one.aclose()

    return PairMaker(propose, Judge(judge, seed) if judge else None, find, compress, pairs, seed), close


def _rows_told(seen: SeenRows) -> Iterator[str]:
    """What is to be known about the rows."""
    if seen.counts["none"]:
        yield f"{_rows(seen.counts['none'])} without a label, taken as Attributable: make sure of that"
    if seen.counts["Not Attributable"]:
        yield f"{_rows(seen.counts['Not Attributable'])} Not Attributable, passed over"
    if seen.broken:
        yield f"{_rows(seen.broken)} cannot be used"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _table(tally: Tally) -> str:
    """What became of the drafts: kept and dropped, by strategy and filter."""
    from vouching.perturb import ERROR_TYPE_OF, STRATEGIES
    from vouching.perturb.filters import FILTERS

    lines = [f"{'strategy':24}{'error type':24}{'kept':>7}{'dropped':>9}  dropped by"]
    for strategy in filter(tally.drafted.__getitem__, STRATEGIES):
        reasons = [f"{name} {count:,}" for name in FILTERS if (count := tally.dropped[strategy, name])]
        kind, rate = ERROR_TYPE_OF[strategy] or "none", f"{100 * tally.drop_rate(strategy):.0f} %"
        lines.append(f"{strategy:24}{kind:24}{tally.kept[strategy]:>7,}{rate:>9}  {', '.join(reasons)}".rstrip())
    return "\n".join(lines)
