"""``vouch data``: make data for training and testing verifiers.

``annotate``, ``checklist`` and ``gold`` keep the result of each row in a journal next to the output, from
which an interrupted run resumes; the other files are rewritten from it each time. For a folder of rows, the journal is
a folder, which several processes can write. Not supported: resuming ``perturb`` for a single file.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from vouching.cli.convert import CONVERT_EXAMPLES, convert_command
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import Exit, RowProgress, cannot_write, show_rows, usage_errors, write_error
from vouching.errors import ConfigError, InputError
from vouching.inputs import SeenRows, labelled_examples
from vouching.rows import Made, MadeFiles, new_output, open_rows

if TYPE_CHECKING:
    from vouching.methods.structured.teacher import Demand
    from vouching.perturb import Strategy, Tally

app = typer.Typer()


def _rows_option(help: str) -> Any:
    return typer.Option("--input", metavar="ROWS", help=f"{help}; - is standard input.")


_Claims = Annotated[str, _rows_option("Rows with claim, source and, if known, label")]
_Probes = Annotated[
    str, typer.Option("--output", metavar="PROBES", help="New file for the probes: .jsonl; - prints them.")
]
_Strategies = Annotated[
    str | None, typer.Option(metavar="A,B", help="Strategies, by the names in docs/perturb.md; default: all.")
]
_PerRow = Annotated[int, typer.Option("--per-row", metavar="N", min=1, help="Maximum number of perturbations per row.")]
_Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Stop after N perturbations.")]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed for all sampling.")]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="File for the accepted rows: .jsonl.")]
_Writer = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="Language model that writes the data, such as http://host:8000/v1#name or openai/name.",
    ),
]
_MaxTokens = Annotated[
    int, typer.Option(metavar="N", min=1, help="Maximum number of tokens in a reply; increase it for reasoning models.")
]
_DerivedTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", min=1, help="Maximum number of tokens in a reply; default: what the longest takes."
    ),
]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Resume an interrupted run.")]
_Demand = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Checks in addition to the format: label, error_type, fix or grounded."),
]
_Prompts = Annotated[Path | None, typer.Option(metavar="PATH", help="Also write a file of prompts, for GRPO: .jsonl.")]
_Wording = Annotated[
    Literal["ours", "short", "paper"],
    typer.Option(help="Prompt that the smaller model will be asked with: short and paper leave room for long sources."),
]
_MakerWording = Annotated[
    Literal["ours", "paper"], typer.Option(help="Prompt for a checklist: ours, or as Soft-RLVR prints it.")
]
_Instructions = Annotated[str, _rows_option("Rows with instruction, prompt or messages")]
_Critic = Annotated[
    str | None, typer.Option(metavar="NAME", help="Language model that also looks for faults; default: rules only.")
]
_Rules = Annotated[
    bool, typer.Option("--rules", metavar="", help="Link items to exact rules where a rule can check the instruction.")
]
_Checklists = Annotated[str, _rows_option("Rows with an instruction and its checklist")]
_Policy = Annotated[
    str,
    typer.Option(
        metavar="NAME", envvar="VOUCH_MODEL", help="Policy model that answers, such as http://host:8000/v1#name."
    ),
]
_Samples = Annotated[int, typer.Option(metavar="N", min=1, help="Number of answers per instruction.")]
_Labels = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Rows with id and l (1 or 0), labelled by a person; use with --resume."),
]
_Evaluation = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROWS", help="Evaluation prompts to exclude, in addition to IFEval in VOUCH_DATA. Can be repeated."
    ),
]


def _epilog(*examples: str, resumes: bool = True) -> str:
    early = "the run ended early (resume with --resume), " if resumes else ""
    status = (
        "**Exit status**: 0 done; 2 invalid command line, input or output; 3 some rows could not be used, "
        f"{early}or the output could not be written."
    )
    return "\n\n".join([f"**Example{'s' * (len(examples) > 1)}**", *examples, status])


@app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Make data for training and testing verifiers."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("convert", epilog=_epilog(*CONVERT_EXAMPLES, resumes=False))(convert_command)


def ended(made: Made) -> Exit:
    """Print the lines about what was made, and return the exit status."""
    complete, report = made
    for line in report:
        write_error(line)
    return Exit.OK if complete else Exit.INCOMPLETE


@app.command(
    "perturb",
    epilog=_epilog(
        "vouch data perturb --input claims.jsonl --output probes.jsonl --strategies number_change,number_format",
        "vouch data perturb --input lake --output probes.jsonl --jobs 0",
    ),
)
def perturb_command(
    input: _Claims,
    output: _Probes,
    strategies: _Strategies = None,
    per_row: _PerRow = 4,
    seed: _Seed = 0,
    limit: _Limit = None,
    resume: _Resume = False,
    jobs: Jobs = 1,
    shard: ShardOf = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
) -> None:
    """Change Attributable claims: insert errors of known type and place, and rewrite with the same meaning.

    Each line is a row with claim, source and label that records the original claim, and where and how it was changed.
    Rows labelled Not Attributable are skipped; rows without a label count as Attributable. Each block of a folder is
    perturbed by itself.
    """
    from vouching.perturb import STRATEGIES

    with usage_errors():
        names = [name.strip() for name in strategies.split(",")] if strategies is not None else [*STRATEGIES]
        chosen, spread = cast("list[Strategy]", names), Spread(shard, engine, ray_address, jobs)
        if spread.wanted(input):
            if limit is not None:
                raise InputError("--limit needs a single file of rows")
            from vouching.train.perturb_blocks import Perturbing, perturb_files

            files = MadeFiles(input, Path(output), resume, in_blocks=True)
            how = Perturbing(tuple(chosen), per_row, seed)
            seen, tally, whole = perturb_files(files, how, spread.made)
        else:
            if resume or jobs != 1:
                raise InputError(f"{'--resume' if resume else '--jobs'} needs a folder of rows for --input")
            seen, tally, whole = *_perturb_file(input, output, chosen, per_row, seed, limit), True
    if seen.counts["none"]:
        write_error(f"treated {_rows(seen.counts['none'])} without a label as Attributable: check that this is right")
    if seen.counts["Not Attributable"]:
        write_error(f"skipped {_rows(seen.counts['Not Attributable'])} labelled Not Attributable")
    if seen.broken:
        write_error(f"{_rows(seen.broken)} could not be used")
    print(_table(tally), file=sys.stderr)
    write_error(f"{_rows(sum(tally.kept.values()), 'perturbation')} of {_rows(sum(seen.counts.values()))}")
    raise typer.Exit(Exit.OK if whole and not seen.broken else Exit.INCOMPLETE)


def _perturb_file(
    input: str, output: str, strategies: list[Strategy], per_row: int, seed: int, limit: int | None
) -> tuple[SeenRows, Tally]:
    """Perturb the rows of a single file, in order."""
    from vouching.perturb import Tally, perturb_rows, to_json

    seen, tally = SeenRows(), Tally()
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(input, ("claim",)))
        progress = open_files.enter_context(RowProgress(reader.share))
        examples = labelled_examples(reader, seen, progress.advance, progress.name)
        made = perturb_rows(examples, strategies, per_row=per_row, seed=seed, tally=tally)
        try:
            sink = open_files.enter_context(new_output(output))
            for perturbation in islice(made, limit):
                sink.write(f"{to_json(perturbation)}\n".encode())
            sink.flush()
        except OSError as error:
            raise typer.Exit(cannot_write(error, output, "free some space and start again")) from None
    return seen, tally


@app.command(
    "annotate",
    epilog=_epilog(
        "vouch data annotate --input pairs.jsonl --model openai/gpt-4o-mini --output sft.jsonl --demand "
        "label,error_type,fix"
    ),
)
def annotate_command(
    input: _Claims,
    output: _Output,
    model: _Writer,
    demand: _Demand = None,
    prompts: _Prompts = None,
    wording: _Wording = "ours",
    seed: _Seed = 0,
    max_tokens: _DerivedTokens = None,
    resume: _Resume = False,
    jobs: Jobs = 1,
    shard: ShardOf = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
) -> None:
    """Let a language model write records that a smaller model learns from.

    The output has one chat per accepted row, as TRL's SFT expects it; rejected rows and the reasons go to another file.
    """
    with usage_errors():
        from vouching.methods.structured.teacher import annotate_rows, open_teacher

        demands = tuple(name.strip() for name in demand.split(",")) if demand else ()
        opens = partial(open_teacher, model, cast("tuple[Demand, ...]", demands), seed, max_tokens)
        spread = Spread(shard, engine, ray_address, jobs)
        files = MadeFiles(input, output, resume, spread.wanted(input))
        raise typer.Exit(ended(annotate_rows(files, opens(), prompts, spread.made, wording, opens)))


@app.command(
    "checklist",
    epilog=_epilog("vouch data checklist --input prompts.jsonl --model openai/gpt-4o-mini --output checklists.jsonl"),
)
def checklist_command(
    input: _Instructions,
    output: _Output,
    model: _Writer,
    critic: _Critic = None,
    rules: _Rules = False,
    wording: _MakerWording = "ours",
    seed: _Seed = 0,
    max_tokens: _DerivedTokens = None,
    resume: _Resume = False,
) -> None:
    """Let a language model write a checklist for each instruction, and rewrite checklists with faults.

    Each output row has id, instruction, checklist and attempts. Checklists with remaining faults go to another file.
    """
    with usage_errors():
        from vouching.methods.checklist.lint import encoder_similarity
        from vouching.methods.checklist.make import ChecklistMaker, make_checklists
        from vouching.models.open import open_model

        critic_model = None if critic is None else open_model(critic)
        maker = ChecklistMaker(open_model(model), seed, max_tokens, critic_model, encoder_similarity(), wording)
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
    input: _Checklists,
    output: _Output,
    model: _Policy,
    samples: _Samples = 1,
    labels: _Labels = None,
    evaluation: _Evaluation = None,
    seed: _Seed = 0,
    max_tokens: _MaxTokens = 1024,
    resume: _Resume = False,
) -> None:
    """Let a policy answer, and label each checklist item of its answers: training examples for a verifier.

    Each line has id, x (the instruction), y (the answer), c (the item), l (1 or 0) and by (rule or person). Items
    without a rule or a person's label go to a second file, unused rows to a third.
    """
    with usage_errors():
        from vouching.methods.checklist.gold import GoldOptions, forbidden_prompts, make_gold, read_labels
        from vouching.models.open import open_model

        labelled = read_labels(labels) if labels is not None else {}
        options = GoldOptions(forbidden_prompts(evaluations(evaluation or [])), samples, labelled, seed, max_tokens)
        run = partial(show_rows, idle=False)
        raise typer.Exit(ended(make_gold(MadeFiles(input, output, resume), options, open_model(model), run)))


def evaluations(files: list[str]) -> list[str]:
    """Files of evaluation prompts that must not be trained on: those named, and IFEval's if ``VOUCH_DATA`` has them."""
    from vouching.bench.catalog import data_folder
    from vouching.bench.ifeval import FILE

    try:
        shipped = data_folder() / FILE
    except ConfigError:
        return files
    return [*files, *([str(shipped)] if shipped.is_file() else [])]


def _rows(count: int, name: str = "row") -> str:
    return f"{count:,} {name}{'s' * (count != 1)}"


def _table(tally: Tally) -> str:
    """A table of kept and dropped drafts, by strategy and filter."""
    from vouching.perturb import ERROR_TYPE_OF, STRATEGIES
    from vouching.perturb.filters import FILTERS

    lines = [f"{'strategy':24}{'error type':24}{'kept':>7}{'dropped':>9}  dropped by"]
    for strategy in filter(tally.drafted.__getitem__, STRATEGIES):
        reasons = [f"{name} {count:,}" for name in FILTERS if (count := tally.dropped[strategy, name])]
        kind, rate = ERROR_TYPE_OF[strategy] or "none", f"{100 * tally.drop_rate(strategy):.0f} %"
        lines.append(f"{strategy:24}{kind:24}{tally.kept[strategy]:>7,}{rate:>9}  {', '.join(reasons)}".rstrip())
    return "\n".join(lines)
