"""The command line: the commands, and how they end.

Commands parse options, call one function and print. Not supported: a configuration file; use options and environment
variables.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from vouching.cli.streams import Exit, output_failed, show_warning, usage_errors, write_error, write_result
from vouching.errors import ConfigError
from vouching.types.visible import hint
from vouching.version import __version__

if TYPE_CHECKING:
    app: typer.Typer

_PARTS: tuple[tuple[tuple[str, ...], str, bool], ...] = (
    (("check",), "vouching.cli.check:app", False),
    (("context",), "vouching.cli.context:app", False),
    (("audit",), "vouching.cli.audit:app", False),
    (("follow",), "vouching.cli.follow:app", False),
    (("challenge",), "vouching.cli.challenge:app", False),
    (("answer",), "vouching.cli.answer:app", False),
    (("rank",), "vouching.cli.rank:app", False),
    (("index",), "vouching.cli.index:app", True),
    (("models",), "vouching.cli.models:app", True),
    (("bench",), "vouching.cli.bench:app", True),
    (("data",), "vouching.cli.data:app", True),
    (("reward",), "vouching.cli.reward:app", False),
    (("calibrate",), "vouching.cli.calibrate:app", False),
    (("diagnose",), "vouching.cli.train:diagnose_app", True),
    (("train",), "vouching.cli.train:app", False),
    (("runs",), "vouching.cli.train:runs_app", True),
    (("evolve",), "vouching.cli.evolve:app", True),
    (("rows",), "vouching.cli.spread:app", True),
    (("gate",), "vouching.cli.gate:app", True),
    (("measure", "replay"), "vouching.cli.measure:app", False),
    (("serve",), "vouching.cli.serve:app", True),
    (("mcp", "proxy"), "vouching.cli.guard:app", False),
    (("ledger",), "vouching.cli.ledger:app", True),
    (("review",), "vouching.cli.review:app", True),
    (("policy",), "vouching.cli.guard:policy_app", True),
)
"""Commands, where they are, and whether they form a group; only the one of the first argument is loaded."""
COMMANDS = (*(name for names, _, _ in _PARTS for name in names), "schema")
"""Names of the commands."""


def _show_version(given: bool) -> None:
    if given:
        typer.echo(f"vouch {__version__}")
        raise typer.Exit


class _Everywhere(TyperGroup):
    """Takes the options of the program after a command, too, unless it has such an option of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own, others, words = list[str](), list[str](), iter(args)
        taken = _OF_MODELS.keys() - self._options_of(ctx, args)
        for word in words:
            name, _, value = word.partition("=")
            (own if name in taken else others).append(word)
            if word == "--":
                others += words
            elif name in taken and not value:
                own += islice(words, 1)
        return super().parse_args(ctx, [*own, *others])

    def _options_of(self, ctx: Any, args: list[str]) -> set[str]:
        """The options of the command that the words name; those before it, and their values, name none."""
        command: Any = self
        for word in args:
            if isinstance(command, TyperGroup):
                command = command.get_command(ctx, word) or command
        return set() if command is self else {name for one in command.params for name in one.opts}


_OF_MODELS = {
    "--timeout": "VOUCH_TIMEOUT",
    "--context": "VOUCH_CONTEXT",
    "--max-tokens": "VOUCH_MAX_TOKENS",
    "--progress": "VOUCH_PROGRESS",
}
"""The variables from which language models, and what waits for them, take options, in worker processes too."""


def vouch(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
    timeout: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS",
            help="Seconds for a reply of a language model, or CONNECT,FIRST_BYTE,REPLY; default: VOUCH_TIMEOUT, or "
            "600. Also after a command.",
        ),
    ] = None,
    context_tokens: Annotated[
        int | None,
        typer.Option(
            "--context",
            metavar="N",
            min=1,
            help="Tokens in the context of a language model; longer sources are read in windows; default: "
            "VOUCH_CONTEXT, or what the server says. Also after a command.",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Maximum number of tokens in a reply of a language model; default: VOUCH_MAX_TOKENS, or what the "
            "longest reply in the expected form takes. Also after a command.",
        ),
    ] = None,
    progress: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.01,
            help="Seconds between signs of life without a terminal; default: VOUCH_PROGRESS, or 10. Also after a "
            "command.",
        ),
    ] = None,
) -> None:
    """Check what language models say against the evidence, and explain the verdicts."""
    for variable, value in zip(_OF_MODELS.values(), (timeout, context_tokens, max_tokens, progress), strict=True):
        if value is not None:
            os.environ[variable] = str(value)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


_SCHEMA_EPILOG = """
**Example**

vouch schema report > report.schema.json

**Exit status**: 0 done; 2 unknown record.
"""


def schema_command(
    record: Annotated[
        Literal["verdict", "unverified", "report", "ranking", "assurance", "reviewed"],
        typer.Argument(help="Name of the record."),
    ] = "verdict",
) -> None:
    """Print the JSON Schema of a record.

    A record is a verdict on one claim, an unverified claim (the judge failed), a report on a response, a ranking of
    answers, an assurance (the result for a task), or a verdict that a person reviewed.
    """
    from vouching.types.serial import json_schema

    with usage_errors():
        write_result(json.dumps(json_schema(record), indent=2, ensure_ascii=False) + "\n")


@cache
def app_for(command: str | None = None) -> typer.Typer:
    """The command line with the modules of one command, because importing all takes a second; None for all.

    A name that is no command gets all, so that help and suggestions are complete.
    """
    built = typer.Typer(
        name="vouch",
        cls=_Everywhere,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    built.callback(invoke_without_command=True)(vouch)
    built.command("schema", epilog=_SCHEMA_EPILOG)(schema_command)
    parts = _parts(command) if command in COMMANDS else (*_parts(None), *_added())
    for part, group in parts:
        built.add_typer(part, name=group)
    return built


def _parts(command: str | None) -> Iterator[tuple[typer.Typer, str | None]]:
    """What holds a command, and the name of its group; everything for None."""
    for names, place, is_group in _PARTS:
        if command is None or command in names:
            module, _, name = place.partition(":")
            yield getattr(import_module(module), name), names[0] if is_group else None


def _added() -> Iterator[tuple[typer.Typer, str | None]]:
    """The commands of other packages. One that cannot be loaded is shown as a warning, and the others work."""
    from vouching.plugins import load_plugin, plugins

    for name, entry in plugins("vouching.commands").items():
        if name in COMMANDS:
            continue
        try:
            yield load_plugin(entry), name
        except ConfigError as error:
            warnings.warn(str(error), stacklevel=2)


def __getattr__(name: str) -> typer.Typer:
    """``app``: the whole command line."""
    if name == "app":
        return app_for()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _no_option(found: re.Match[str]) -> str:
    near = found[2].split(", ")
    longer = [name for name in near if name.endswith(found[1].removeprefix("-"))]  # --model where it is --score-model
    return f"unknown option {found[1]}{hint(longer or get_close_matches(found[1], near, n=1, cutoff=0.7))}"


def _choices(found: re.Match[str]) -> str:
    return f"{found[1]} is missing: expected one of {', '.join(found[2].replace(',', ' ').split())}"


_COMMAND_OF = {
    "blinded": "vouch audit",
    **dict.fromkeys(("checklist", "holistic", "rules"), "vouch follow"),
    "assurance": "vouch challenge",
}
"""The command for a method that another command's --method does not offer."""


def _no_value(found: re.Match[str]) -> str:
    name, value, known = found[1], found[2].strip("'"), found[3].replace("'", "")
    other = f"; use {_COMMAND_OF[value]} for {value}" if name == "--method" and value in _COMMAND_OF else ""
    return f"unknown value {found[2]} for {name}; expected one of {known}{other}"


_PLAIN: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"No such command 'search'.*", "unknown command 'search': use vouch index search to search an index"),
    (r"No such command '(.*?)'\. Did you mean (.*?)(?:, .*)?\?", r"unknown command '\1'; did you mean \2?"),
    (r"No such command '(.*?)'.*", r"unknown command '\1'"),
    (
        r"No such option: (?:-[\s,.].*|-)$",
        "unknown option -; put text that begins with - after --, or in a file that you pass with an option such as "
        "--response",
    ),
    (
        r"No such option: (--port|--host)\b.*",
        r"unknown option \1: vouch serve and vouch proxy take --address HOST:PORT",
    ),
    (
        r"No such option: --input\b.*",
        "unknown option --input: vouch check has it; other commands take a file of rows as their argument",
    ),
    (r"No such option: (\S+) \(Possible options: (.*)\)", _no_option),
    (r"No such option: (\S+).*", r"unknown option \1"),
    (
        r"Got unexpected extra argument(?:\(s\)|s)? \((.*)\)",
        r"unexpected arguments (\1): put quotes around text with spaces, and pass other text with its option",
    ),
    (r"Invalid value for '(.*?)': (?:Value error, )?('.*?'|\".*?\") is not one of (.*?)\.?$", _no_value),
    (r"Option '(.*?)' requires an argument\.?", r"\1 requires a value"),
    (r"Missing option '(.*?)' \(env var: '(.*?)'\)\.?", r"\1 is missing: pass it, or set \2"),
    (r"Missing (?:option|argument) '(.*?)'\. Choose from:?\s*(.*?)\.?\s*$", _choices),
    (r"Missing (?:option|argument) '(.*?)'\.?", r"\1 is missing"),
    (r"Invalid value for '(.*?)': Input should be greater than or equal to (\S+)", r"\1 must be at least \2"),
    (r"Invalid value for '(.*?)': Input should be a valid number.*", r"\1 must be a number"),
    (r"Invalid value for '(.*?)': Input should be a valid integer.*", r"\1 must be a whole number"),
    (r"Invalid value for '(.*?)': (?:Value error, )?", r"\1: "),
)
"""Patterns of the library's messages, with replacements."""


def _plain(message: str) -> str:
    """A usage error in plain words."""
    for pattern, words in _PLAIN:
        message = re.sub(pattern, words, message, count=1, flags=re.DOTALL)
    return message


def _interrupt(number: int, frame: FrameType | None) -> None:
    # It may come between the making of a coroutine and its start, which is no fault to tell anyone about.
    warnings.filterwarnings("ignore", r"coroutine .* was never awaited", RuntimeWarning)
    raise KeyboardInterrupt


def _open_closed_streams() -> None:
    """Replace standard streams that the caller closed (``>&-``), so that no later file gets their number.

    Input is then empty, messages are discarded, and writing a result fails as on a full disk.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8"))


def main() -> int:
    """Run the command line and return the exit status; usage errors are one line on standard error."""
    status = _status()
    batching = sys.modules.get("vouching.models.batching")
    if batching is not None and not batching.end_threads(_GRACE):
        # The end of the interpreter would abort a thread that computes, and with it the process.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


_GRACE = 2.0
"""Seconds that a model in this process gets at the end of an interrupted command."""


def _status() -> int:
    _open_closed_streams()
    warnings.showwarning = show_warning
    # asyncio replaces only Python's default handler, with one that waits until the running work yields.
    signal.signal(signal.SIGINT, _interrupt)
    try:
        app = app_for(sys.argv[1] if len(sys.argv) > 1 else None)
        return int(app(prog_name="vouch", standalone_mode=False) or Exit.OK)
    except TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        place = context.command_path if context else "vouch"
        write_error(f"{_plain(error.format_message())} (see {place} --help)")
        return Exit.USAGE
    except OSError as error:
        return output_failed(error)
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
