"""``vouch ledger``: find, check, export and erase what was kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.streams import Exit, draw, usage_errors, write_error, write_json, write_result
from vouching.errors import InputError
from vouching.types.ledger import DAMAGED, Filters, Head, LedgerRow
from vouching.types.visible import shorten, visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.ledger import Ledger

app = typer.Typer()

_STATUS = "2 the command line is invalid, or the ledger cannot be used; 3 the database is not available"
Target = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="TARGET",
        envvar="VOUCH_LEDGER",
        help="Path of a file, or postgresql+psycopg://USER@HOST/NAME.",
    ),
]
_Id = Annotated[int, typer.Argument(help="Id of the row.")]
_Text = Annotated[str | None, typer.Argument(help="Words in what was judged or in the fix; sources are not searched.")]
Stream = Annotated[str | None, typer.Option(metavar="NAME", help="Only this chain.")]
_Kind = Annotated[str | None, typer.Option(metavar="KIND", help="Only rows of this kind, for example check or review.")]
_Caller = Annotated[str | None, typer.Option(metavar="NAME", help="Only rows of this caller.")]
_Label = Annotated[str | None, typer.Option(metavar="LABEL", help='Only this label, for example "Not Attributable".')]
_Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only rows of this time or later, for example 2026-05-04.")
]
_Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only rows before this time.")]
_Limit = Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of rows.")]
_Before = Annotated[int | None, typer.Option(metavar="ID", help="Only rows with a smaller id: the next page.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of text.")]
_Heads = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="Heads that were kept elsewhere, as vouch ledger heads printed them."),
]
_Output = Annotated[Path, typer.Argument(metavar="PATH", help="New file: .jsonl or .parquet.")]
_Ids = Annotated[list[int] | None, typer.Option("--id", metavar="ID", help="Erase this row. Can be repeated.")]
_Days = Annotated[float | None, typer.Option("--older-than", metavar="DAYS", help="Erase rows older than this.")]
_Policy = Annotated[Path | None, typer.Option(metavar="PATH", help="TOML file with a reason and rules.")]
_Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why; it stays on record.")]
_By = Annotated[str, typer.Option(metavar="NAME", help="Who asked for it; it stays on record.")]
_DryRun = Annotated[bool, typer.Option("--dry-run", metavar="", help="Only count the rows.")]
_To = Annotated[str, typer.Option(metavar="REVISION", help="Revision to migrate to: head, an older one, or base.")]
_Drop = Annotated[bool, typer.Option("--drop", metavar="", help="Confirm that --to base deletes every row.")]


def _epilog(example: str, more: str = "") -> str:
    return f"\n**Example**\n\nvouch ledger {example}\n\n**Exit status**: 0 done; {more}{_STATUS}.\n"


def _opened(target: str | None) -> Ledger:
    from vouching.ledger import open_ledger

    return open_ledger(target, create=False)


@app.callback(invoke_without_command=True)
def ledger(context: typer.Context) -> None:
    """Look into the ledger of verdicts: rows in chains that show what was changed or removed.

    The secret key of the chains is read from VOUCH_LEDGER_KEY.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", epilog=_epilog('list "bridge" --label "Not Attributable" --since 2026-05-01'))
def list_command(
    text: _Text = None,
    ledger: Target = None,
    stream: Stream = None,
    kind: _Kind = None,
    caller: _Caller = None,
    label: _Label = None,
    since: _Since = None,
    until: _Until = None,
    limit: _Limit = 20,
    before: _Before = None,
    as_json: _Json = False,
) -> None:
    """List the newest rows that match, newest first."""
    with usage_errors(), _opened(ledger) as opened:
        filters = Filters(stream, kind, caller, label=label, since=since, until=until)
        rows = opened.search(filters, text, limit, before)
        if as_json:
            write_result("".join(json.dumps(asdict(row)) + "\n" for row in rows))
        else:
            draw(lambda console: _print_rows(console, rows))


def _print_rows(console: Console, rows: list[LedgerRow]) -> None:
    from rich.table import Column, Table

    names = ("id", "appended", "stream", "kind", "label", "caller", "text")
    columns = (Column(name, no_wrap=name != "text") for name in names)
    table = Table(*columns, box=None, padding=(0, 2, 0, 0))
    for row in rows:
        cells = (str(row.id), row.at[:19], row.stream, row.kind, row.label or "", row.caller, _subject(row))
        table.add_row(*map(visible_line, cells))
    console.print(table if rows else "no row matches")


def _subject(row: LedgerRow) -> str:
    """What was judged, in short."""
    if row.inputs is None:
        return "(erased)" if row.erased else "(not kept)"
    if row.inputs == DAMAGED:
        return "(damaged)"
    named = (row.inputs.get(key) for key in ("claim", "response", "question", "task", "reason"))
    return shorten(next((text for text in named if isinstance(text, str)), ""), 60)


@app.command("show", epilog=_epilog("show 17"))
def show_command(id: _Id, ledger: Target = None) -> None:
    """Print a row as JSON: inputs, record, and its place in the chain."""
    with usage_errors(), _opened(ledger) as opened:
        write_json(asdict(opened.get(id)))


@app.command("verify", epilog=_epilog("verify --heads heads.json", "1 a chain is broken; "))
def verify_command(ledger: Target = None, stream: Stream = None, heads: _Heads = None, as_json: _Json = False) -> None:
    """Check every row of the chains, and report what was changed, removed or put in, and where.

    A removed end is noticed only with --heads: keep the heads where whoever can write the ledger cannot.
    """
    with usage_errors(), _opened(ledger) as opened:
        found = opened.verify(stream, None if heads is None else _read_heads(heads))
    if as_json:
        write_json({**asdict(found), "intact": found.intact})
    else:
        for fault in found.faults:
            write_result(visible_line(f"{fault.stream or '-'}: {fault.kind}: {fault.message}") + "\n")
        more = found.total_faults - len(found.faults)
        write_result(f"{more:,} further faults\n" if more else "")
        what = f"{found.rows:,} rows in {found.streams:,} chains, {found.erased:,} erased: "
        write_result(what + ("intact\n" if found.intact else f"{found.total_faults:,} faults\n"))
    if not found.keyed:
        write_error("no key was given: the chains show accidents, not changes by someone who knows how they are made")
    raise typer.Exit(Exit.OK if found.intact else Exit.FINDINGS)


def _read_heads(path: Path) -> list[Head]:
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(list[Head]).validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--heads {path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise InputError(f"--heads {path} is not a list of heads: pass what vouch ledger heads printed") from None


@app.command("heads", epilog=_epilog("heads > heads.json"))
def heads_command(ledger: Target = None) -> None:
    """Print the ends of all chains as JSON, to be kept elsewhere and passed to vouch ledger verify."""
    with usage_errors(), _opened(ledger) as opened:
        heads: Any = [asdict(head) for head in opened.heads()]
        write_json(heads)


@app.command("export", epilog=_epilog("export may.parquet --since 2026-05-01 --until 2026-06-01"))
def export_command(
    path: _Output,
    ledger: Target = None,
    stream: Stream = None,
    kind: _Kind = None,
    caller: _Caller = None,
    since: _Since = None,
    until: _Until = None,
) -> None:
    """Write rows to a new file, oldest first, with their places in the chain."""
    with usage_errors(), _opened(ledger) as opened:
        number = opened.export(path, Filters(stream, kind, caller, since=since, until=until))
    write_error(f"{path}: {number:,} rows")


@app.command("erase", epilog=_epilog('erase --older-than 90 --kind check --reason "retention of 90 days" --by dpo'))
def erase_command(
    ledger: Target = None,
    ids: _Ids = None,
    older_than: _Days = None,
    stream: Stream = None,
    kind: _Kind = None,
    caller: _Caller = None,
    policy: _Policy = None,
    reason: _Reason = None,
    by: _By = "",
    dry_run: _DryRun = False,
) -> None:
    """Remove the texts of rows and of reviews about them; digests, labels and the chain stay.

    Give conditions, which must all hold, or a --policy. Each chain gets a row that records the erasure.
    """
    from vouching.ledger.retention import RetentionPolicy, RetentionRule
    from vouching.settings import read_settings

    with usage_errors():
        given = (tuple(ids or ()), older_than, stream, kind, caller, reason)
        if policy is not None:
            if any(given):
                raise InputError("--policy cannot be used with conditions or --reason: it has its own")
            applied = read_settings(RetentionPolicy, policy)
        else:
            rule = RetentionRule(older_than, stream, kind, caller, tuple(ids or ()))
            applied = RetentionPolicy(reason or "", {"conditions": rule})
        with _opened(ledger) as opened:
            number = sum(opened.erase(rule, applied.reason, by, dry_run) for rule in applied.rules.values())
    write_error(f"{'would erase' if dry_run else 'erased'} the texts of {number:,} rows")


@app.command("migrate", epilog=_epilog("migrate --to head"))
def migrate_command(ledger: Target = None, to: _To = "head", drop: _Drop = False) -> None:
    """Bring the tables to another revision, after an upgrade of vouching. Make a backup first."""
    from vouching.ledger.ledger import migrate_ledger

    with usage_errors():
        if to == "base" and not drop:
            raise InputError("--to base deletes every row of the ledger: confirm it with --drop")
        write_error(f"the ledger has revision {migrate_ledger(ledger, to) or 'base: no tables'}")


@app.command("info", epilog=_epilog("info --json"))
def info_command(ledger: Target = None, as_json: _Json = False) -> None:
    """Show where the ledger is, its revision, and its chains with their number of rows."""
    with usage_errors(), _opened(ledger) as opened:
        heads = opened.heads()
        found = {
            "ledger": opened.target,
            "revision": opened.revision(),
            "keep": opened.keep,
            "keyed": bool(opened.keys.signing),
            "rows": opened.count(),
            "heads": [asdict(h) for h in heads],
        }
        if as_json:
            write_json(found)
            return
        write_result(
            f"{found['ledger']}, revision {found['revision']}, {found['rows']:,} rows, keeps {found['keep']}\n"
        )
        write_result("".join(f"{visible_line(h.stream)}: {h.seq:,} rows, the last one at {h.at}\n" for h in heads))
