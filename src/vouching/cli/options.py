"""Options that several commands share, and reading what they name: files, texts, "-" for standard input.

Not here: folders, addresses on the web, and formats other than text.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from vouching.errors import InputError
from vouching.rows import STDIN
from vouching.text.encoding import decode_text, looks_like_html
from vouching.types import Source, VerdictWarning

AGAINST, HOW, OUTPUT, ROWS = "What to check it against", "How", "Output", "Many rows"
"""Titles under which ``--help`` lists options."""


def panel(title: str, *names: str, **settings: Any) -> Any:
    """An option, listed by ``--help`` under ``title``."""
    return typer.Option(*names, rich_help_panel=title, **settings)


SourceFiles = Annotated[
    list[str] | None, panel(AGAINST, "--source", metavar="PATH|-", help="A text file to check against. Repeatable.")
]
SourceTexts = Annotated[
    list[str] | None, panel(AGAINST, "--source-text", metavar="TEXT", help="A text to check against. Repeatable.")
]
Indexes = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--index",
        metavar="PATH",
        help="Search an index of your documents (see vouch index), or opensearch:URL. Repeatable.",
    ),
]
WebEngines = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--web",
        metavar="ENGINE",
        help="Search with searxng=URL, wikipedia, brave, tavily, serper or ddgs; what is asked is sent to it. Or a "
        "setting: pages (read the pages found, not snippets), queries=N (for each claim or question, at most; 5), "
        "record=PATH (keep what engines find), replay=PATH (take it from there, offline). Repeatable.",
    ),
]
Votes = Annotated[
    int,
    panel(HOW, "--votes", metavar="N", min=1, help="Answers of a language model, of which the majority decides."),
]
Seed = Annotated[
    int | None, panel(HOW, "--seed", metavar="N", help="Seed of a language model's sampling; without it, none.")
]
MaxTokens = Annotated[
    int | None,
    panel(
        HOW,
        "--max-tokens",
        metavar="N",
        min=1,
        help="Length of a language model's reply; one that thinks needs more. (1024)",
    ),
]
Json = Annotated[bool, panel(OUTPUT, "--json", metavar="", help="Print the record as JSON; see vouch schema.")]
ReportFile = Annotated[
    str | None,
    panel(
        OUTPUT,
        "--report",
        metavar="PATH",
        help="Also write a report: .html, or .md for Markdown (of one text, not of rows).",
    ),
]
Input = Annotated[
    str | None,
    panel(
        ROWS,
        "--input",
        metavar="PATH|-",
        help="Rows to check: .jsonl, .jsonl.gz, .csv or .parquet; see docs/batch.md.",
    ),
]
Output = Annotated[
    str | None, panel(ROWS, "--output", metavar="PATH|-", help="Where the results go, one line per row: .jsonl.")
]
Resume = Annotated[
    bool,
    panel(
        ROWS,
        "--resume",
        metavar="",
        help="Finish an output; rows that failed for a reason that may pass are tried again.",
    ),
]

StopOnError = Annotated[
    bool, panel(ROWS, "--stop-on-error", metavar="", help="Stop before the first row that cannot be used.")
]

_MAX_NAMES = 10_000
_LONGEST_ECHO = 80


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file and what to know about it."""

    name: str
    """File name without its folder, or "stdin"."""
    text: str
    """The whole text, unaltered."""
    warnings: tuple[VerdictWarning, ...]
    """A guessed encoding, or markup that counts as text."""


def read_text(path: str, option: str) -> TextFile:
    """Read a text file.

    Args:
        path: The file, or "-" for standard input.
        option: Where the path was given, e.g. "--source", for messages.

    Raises:
        InputError: There is no such file, it is a folder, it cannot be read, or it holds no text.
    """
    if path == STDIN:
        name, raw = "stdin", sys.stdin.buffer.read()
    else:
        name, raw = Path(path).name, _read_bytes(path, option)
    text, guess = decode_text(raw, f"{option} {path}")
    return TextFile(name, text, tuple(_warnings(name, text, guess)))


def given_sources(paths: Sequence[str], texts: Sequence[str]) -> tuple[list[Source | str], list[VerdictWarning]]:
    """The sources that ``--source`` and ``--source-text`` give, and what to know about the files. Raises InputError."""
    files = source_files(paths)
    sources = [Source(file.text, id=file.name) for file in files]
    warnings = [warning for file in files for warning in file.warnings]
    return [*sources, *(argument_text(text, "--source-text") for text in texts)], warnings


def source_files(paths: Sequence[str]) -> list[TextFile]:
    """The sources that are files; where two have the same name, each goes by its path as given. Raises InputError."""
    files = [read_text(path, "--source") for path in paths]
    names = Counter(file.name for file in files)
    return [
        replace(file, name=path) if names[file.name] > 1 and path != STDIN else file
        for path, file in zip(paths, files, strict=True)
    ]


def argument_text(value: str, name: str) -> str:
    r"""A text given on the command line itself, read as UTF-8 whatever the locale says.

    Args:
        value: The argument, in which Python left bytes it could not read as lone surrogates.
        name: Which argument, for messages.

    Raises:
        InputError: Its bytes are not UTF-8.

    >>> argument_text("caf\udcc3\udca9", "CLAIM")
    'café'
    """
    if value.isascii():
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise InputError(f"{name} is not valid UTF-8: put the text into a file and name that") from None


def _warnings(name: str, text: str, guess: str | None) -> Iterator[VerdictWarning]:
    if guess:
        yield VerdictWarning("encoding", f"{guess}.")
    if looks_like_html(text):
        message = (
            f"{name} looks like HTML; its tags were read as part of the text. Extract the text for a better verdict."
        )
        yield VerdictWarning("encoding", message)


def _read_bytes(path: str, option: str) -> bytes:
    shown = path if len(path) <= _LONGEST_ECHO else f"{path[:_LONGEST_ECHO]}..."
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        raise InputError(f"{option} {shown} is a folder; name the files in it, each with its own {option}") from None
    except FileNotFoundError:
        raise InputError(f"{option} {shown}: there is no such file; {_advice(path, option)}") from None
    except PermissionError:
        raise InputError(f"{option} {shown} may not be read by you; check its permissions") from None
    except (OSError, ValueError) as error:  # a name that is too long or holds a NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{option} {shown} cannot be read ({reason}); {_advice(path, option)}") from None


def _advice(path: str, option: str) -> str:
    """What to do about a file that is not there."""
    near = _nearest_name(path)
    if near:
        return f"did you mean {near}?"
    if option == "--source":
        return "give the path of a text file, - for standard input, or the text itself with --source-text"
    return "give the path of a text file, or - for standard input"


def _nearest_name(path: str) -> str | None:
    """The file beside ``path`` whose name is most like it."""
    wanted = Path(path)
    try:
        names = [entry.name for entry in islice(wanted.parent.iterdir(), _MAX_NAMES) if entry.is_file()]
    except (OSError, ValueError):
        return None
    found = get_close_matches(wanted.name, names, n=1, cutoff=0.7)
    return str(wanted.parent / found[0]) if found else None


def given_here(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line, not by its default or a variable of the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def is_read(output: str, *inputs: str | None) -> bool:
    """Whether an output is one of the files that are read.

    >>> is_read("page.html", "-", None, "./page.html"), is_read("page.html", "other.html")
    (True, False)
    """
    return Path(output).resolve() in {Path(path).resolve() for path in inputs if path and path != STDIN}


def refuse_row_contradictions(
    singles: Mapping[str, object],
    rows: tuple[str | None, str | None, bool],
    *others: str | None,
    of_rows: Mapping[str, object] | None = None,
) -> None:
    """Refuse options that do not go with ``--input``, or that need it.

    Args:
        singles: the options for a single text, with their values, none of which goes with rows.
        rows: ``--input``, ``--output`` and ``--resume``.
        others: further files that are written or read.
        of_rows: further options that need ``--input``, with whether each is given.

    Raises:
        InputError: the most important thing that is wrong.
    """
    input, output, resume = rows
    if input is None:
        for name, used in (("--output", output is not None), ("--resume", resume), *(of_rows or {}).items()):
            if used:
                raise InputError(f"got {name} without --input, but it belongs to a file of rows: add --input ROWS")
        return
    for name in (name for name, value in singles.items() if value not in (None, False, (), [])):
        raise InputError(f"got {name} with --input, but each row brings its own and gives a line of JSON: leave it out")
    if output is None:
        raise InputError(
            "got --input without --output: say where the results go, a file that ends in .jsonl, or - to print them"
        )
    if resume and output == STDIN:
        raise InputError("got --resume with --output -, but only a file can be resumed: name a file")
    files = [Path(path).resolve() for path in (input, output, *others) if path and path != STDIN]
    if len({*files}) < len(files):
        raise InputError("--input, --output, --report, record and replay must be different files")


def refuse_second_stdin(*paths: str | None) -> None:
    """Raise InputError if standard input is named more than once."""
    if paths.count(STDIN) > 1:
        raise InputError("got - more than once, but standard input can be read only once: name a file for the others")
