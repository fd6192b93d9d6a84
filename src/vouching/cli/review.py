"""``vouch review``: what people said about verdicts of a ledger, and gold rows from it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from vouching.cli.ledger import Stream, Target
from vouching.cli.streams import Exit, draw, usage_errors, write_error, write_json
from vouching.errors import InputError
from vouching.types.review import Policy, QueueFilters
from vouching.types.visible import visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.metrics import Interval
    from vouching.review import ReviewQueue
    from vouching.review.exchange import Tool

app = typer.Typer(help="See what people said about verdicts of a ledger, and make gold of it.", no_args_is_help=True)

_STATUS = (
    "**Exit status**: 0 done; 2 invalid command line, file or ledger; 3 the database is not available, or decisions of "
    "another tool were refused (import).\n"
)
_Reviewers = Annotated[int, typer.Option(metavar="N", min=1, max=2, help="People who decide each verdict, 1 or 2.")]
_Caller = Annotated[str | None, typer.Option(metavar="NAME", help="Only verdicts for this caller.")]
_Model = Annotated[str | None, typer.Option(metavar="NAME", help="Only verdicts of this model.")]
_Since = Annotated[str | None, typer.Option(metavar="TIME", help="Only verdicts of this time or later.")]
_Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only verdicts before this time.")]
_Every = Annotated[
    bool, typer.Option("--every", metavar="", help="Use every review, not only those of the random sample.")
]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of text.")]
_Output = Annotated[Path, typer.Argument(metavar="PATH", help="New file, or new folder for the tools of others.")]
_Form = Annotated[
    Literal["rows", "checklist", "chats", "label-studio", "argilla"],
    typer.Option(
        "--as",
        help="Gold: rows (for calibrate, evolve, data annotate), checklist (for checklist.gold), chats (for train "
        "sft). Open verdicts as tasks: label-studio, argilla.",
    ),
]
_Sampled = Annotated[
    bool, typer.Option("--sampled", metavar="", help="Of the gold, only the random sample, not what was doubtful.")
]
_Policy = Annotated[Policy, typer.Option(help="Which verdicts come first.")]
_Limit = Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of tasks.")]
_Names = Annotated[
    Path | None, typer.Option(metavar="PATH", help='JSON file of reviewers by the tool\'s user: {"7": "ann"}.')
]
_Input = Annotated[Path, typer.Argument(metavar="PATH", help="JSON that the tool exported.")]
_Tool = Annotated[Literal["label-studio", "argilla"], typer.Option("--from", help="Which tool wrote it.")]


def _epilog(*examples: str) -> str:
    shown = "\n\n".join(f"vouch review {example}" for example in examples)
    return f"\n**Examples**\n\n{shown}\n\n{_STATUS}"


def _queue(ledger: str | None, reviewers: int = 1) -> ReviewQueue:
    from vouching.ledger import open_ledger
    from vouching.review import ReviewQueue

    return ReviewQueue(open_ledger(ledger, create=False), reviewers)


@app.command("status", epilog=_epilog("status --ledger verdicts.db", "status --caller bot --json"))
def status_command(
    ledger: Target = None,
    reviewers: _Reviewers = 1,
    stream: Stream = None,
    caller: _Caller = None,
    model: _Model = None,
    since: _Since = None,
    until: _Until = None,
    every: _Every = False,
    as_json: _Json = False,
) -> None:
    """Show how many verdicts are left, how reviewers agree, and what the reviews say about the verdicts.

    Calibration and false positives are those of the random sample: verdicts that were taken by the policy "sampled".
    """
    from vouching.review.status import status_of

    with usage_errors():
        found = status_of(
            _queue(ledger, reviewers), QueueFilters(stream, caller, model, None, None, since, until), every
        )
    if as_json:
        write_json(asdict(found))
    else:
        draw(lambda console: _print_status(console, asdict(found)))


def _print_status(console: Console, found: dict[str, Any]) -> None:
    counts, agreement, reliability = found["counts"], found["agreement"]["total"], found["reliability"]
    console.print(f"verdicts: {counts['open']:,} open, {counts['disputed']:,} disputed, {counts['final']:,} final")
    if agreement is not None:
        console.print(
            f"kappa of labels: {_range(agreement['label'])}, {agreement['items']:,} verdicts of two reviewers"
        )
        console.print(f"kappa of error types: {_range(agreement['error_type'])}, {agreement['typed']:,} verdicts")
    console.print(f"reviewed in the sample: {reliability['rows']:,}")
    if reliability["rows"]:
        for name, title in (("accuracy", "right labels"), ("ece", "ECE"), ("brier", "Brier score")):
            console.print(f"{title}: {_range(reliability[name])}")
    for part, title in (("by_caller", "caller"), ("by_overlap", "verbatim overlap")):
        for one in found[part]:
            named = visible_line(one["name"])
            console.print(f"false positives, {title} {named}: {_range(one['rate'])}, {one['attributable']:,} claims")
    for audit in found["audits"]:
        if audit["warning"]:
            console.print(f"before blocking: {visible_line(audit['warning'])}")


def _range(interval: dict[str, Any] | Interval) -> str:
    """An estimate with its interval, or why it has none."""
    found = cast("dict[str, Any]", interval)
    if found["low"] is None:
        known = (
            "" if found["estimate"] is None or found["estimate"] != found["estimate"] else f"{found['estimate']:.3f}, "
        )
        return f"{known}no interval: {found['why_not']}"
    return f"{found['estimate']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


@app.command(
    "export",
    epilog=_epilog("export gold.jsonl", "export sft.jsonl --as chats", "export tasks --as label-studio --limit 200"),
)
def export_command(
    path: _Output,
    ledger: Target = None,
    form: _Form = "rows",
    sampled: _Sampled = False,
    policy: _Policy = "uncertain",
    limit: _Limit = 100,
    names: _Names = None,
    reviewers: _Reviewers = 1,
    stream: Stream = None,
    caller: _Caller = None,
    model: _Model = None,
    since: _Since = None,
    until: _Until = None,
) -> None:
    """Write reviewed verdicts as gold, or verdicts that are to be reviewed as tasks for another tool."""
    from vouching.review.gold import export_gold

    with usage_errors():
        queue, filters = _queue(ledger, reviewers), QueueFilters(stream, caller, model, None, None, since, until)
        if form == "label-studio" or form == "argilla":
            number = _tool(form).export(queue, path, policy, filters, limit, _read_names(names))
            write_error(f"{path}: {number:,} verdicts to review")
            return
        found = export_gold(queue, path, form, filters, sampled)
    write_error(f"{path}: {found.written:,} reviewed verdicts")
    for reason, count in found.left_out.items():
        write_error(f"left out {count:,}: {reason}")


@app.command("import", epilog=_epilog("import project-1.json --from label-studio --names names.json"))
def import_command(
    path: _Input, tool: _Tool, ledger: Target = None, names: _Names = None, reviewers: _Reviewers = 1
) -> None:
    """Take decisions that were made in another tool. What the ledger has already is not taken again."""
    with usage_errors():
        found = _tool(tool).take(_queue(ledger, reviewers), path, _read_names(names))
    for reason in found.refused:
        write_error(visible_line(reason))
    write_error(f"{found.decided:,} decisions taken, {found.same:,} known already, {len(found.refused):,} refused")
    raise typer.Exit(Exit.OK if not found.refused else Exit.INCOMPLETE)


def _tool(name: Literal["label-studio", "argilla"]) -> Tool:
    from vouching.review.argilla import ARGILLA
    from vouching.review.label_studio import LABEL_STUDIO

    return LABEL_STUDIO if name == "label-studio" else ARGILLA


def _read_names(path: Path | None) -> dict[str, str]:
    from vouching.models.json_fields import read_json

    if path is None:
        return {}
    try:
        found: Any = read_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--names {path} cannot be read: {error.strerror}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in cast("dict[str, Any]", found).values()):
        raise InputError(f'--names {path} must be an object of reviewers by user, such as {{"7": "ann"}}')
    return cast("dict[str, str]", found)
