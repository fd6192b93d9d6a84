"""Options shared by several commands, and reading the texts they name. Not supported: folders."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from os.path import realpath
from pathlib import Path
from typing import Annotated, Any

import typer

from vouching.errors import InputError
from vouching.prompts import Wording
from vouching.rows import STDIN
from vouching.text.encoding import decode_text, looks_like_html
from vouching.types import Source, VerdictWarning
from vouching.types.visible import hint

AGAINST, HOW, OUTPUT, ROWS = "Sources", "Method", "Output", "Files of rows"
"""Panels of ``--help``."""


def panel(title: str, *names: str, **settings: Any) -> Any:
    """An option, shown by ``--help`` in the panel ``title``."""
    return typer.Option(*names, rich_help_panel=title, **settings)


SourceFiles = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--source",
        metavar="PATH|URL|-",
        help="Document to check against: a text, .md, .html, .pdf or .docx file, or its web address. Can be repeated.",
    ),
]
SourceTexts = Annotated[
    list[str] | None, panel(AGAINST, "--source-text", metavar="TEXT", help="Text to check against. Can be repeated.")
]
Indexes = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--index",
        metavar="PATH",
        help="Search an index of your documents (see vouch index), or opensearch:URL. Can be repeated.",
    ),
]
WebEngines = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--web",
        metavar="ENGINE",
        help="Search the web with searxng=URL, wikipedia, brave, tavily, serper or ddgs, which receive the queries. "
        "Also accepts settings: pages (read whole pages, not snippets), queries=N (maximum per claim or question; "
        "default: 5), record=PATH (save the results), replay=PATH (reuse saved results offline). Can be repeated.",
    ),
]
Votes = Annotated[
    int, panel(HOW, "--votes", metavar="N", min=1, help="Number of replies from a language model, for a majority vote.")
]
Seed = Annotated[int | None, panel(HOW, "--seed", metavar="N", help="Sampling seed of a language model.")]
MaxTokens = Annotated[
    int | None,
    panel(
        HOW,
        "--max-tokens",
        metavar="N",
        min=1,
        help="Maximum number of tokens in a language model's reply; increase it for reasoning models; default: what "
        "the longest reply in the expected form takes, at least 1024.",
    ),
]
Worded = Annotated[
    Wording | None,
    panel(
        HOW,
        "--wording",
        help="Prompts of a language model: ours, or as the paper of the method prints them; default: ours.",
    ),
]
Json = Annotated[bool, panel(OUTPUT, "--json", metavar="", help="Print the record as JSON; see vouch schema.")]
ReportFile = Annotated[
    str | None,
    panel(
        OUTPUT,
        "--report",
        metavar="PATH",
        help="Also write a report: .html, .md (for a single text), .xml (JUnit) or .sarif.",
    ),
]
Input = Annotated[
    str | None,
    panel(
        ROWS,
        "--input",
        metavar="PATH|-",
        help="Rows: a file (.json, .jsonl, .jsonl.gz, .csv or .parquet), a folder or pattern of such files, an address "
        "(s3://, gs://, abfs://), or hf:OWNER/NAME:SPLIT (see docs/batch.md and docs/scale.md).",
    ),
]
Output = Annotated[
    str | None,
    panel(
        ROWS,
        "--output",
        metavar="PATH|-",
        help="File for the results, one line per row: .jsonl. For a folder of rows: a folder; .parquet makes Parquet.",
    ),
]
Resume = Annotated[
    bool,
    panel(ROWS, "--resume", metavar="", help="Resume an interrupted run; rows with temporary failures are retried."),
]
StopOnError = Annotated[
    bool, panel(ROWS, "--stop-on-error", metavar="", help="Stop before the first row that cannot be used.")
]

_MAX_NAMES = 10_000
_MAX_ECHO = 80
_DOCUMENTS = (".html", ".htm", ".xhtml", ".md", ".markdown", ".pdf", ".docx")


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file, with warnings about a guessed encoding or about markup."""

    name: str
    """File name without its folder, or "stdin"."""
    text: str
    warnings: tuple[VerdictWarning, ...]


def read_text(path: str, option: str) -> TextFile:
    """Read a text file, or "-" for standard input. Raises InputError, naming the ``option`` that gave the path."""
    if path == STDIN:
        name, raw = "stdin", sys.stdin.buffer.read()
    else:
        name, raw = Path(path).name, _read_bytes(path, option)
    text, guess = decode_text(raw, f"{option} {path}")
    return TextFile(name, text, tuple(_warnings(name, text, guess)))


def given_sources(paths: Sequence[str], texts: Sequence[str]) -> tuple[list[Source | str], list[VerdictWarning]]:
    """The sources of ``--source`` and ``--source-text``, and warnings about the files. Raises InputError."""
    sources: list[Source] = []
    warnings: list[VerdictWarning] = []
    names = Counter(Path(path).name for path in paths)
    for path in paths:
        found, warned = _read_source(path, path if names[Path(path).name] > 1 else Path(path).name)
        sources += found
        warnings += warned
    return [*sources, *(argument_text(text, "--source-text") for text in texts)], warnings


def _read_source(path: str, name: str) -> tuple[Sequence[Source], Sequence[VerdictWarning]]:
    """The sources in a file or page: one of a plain text, else one for each page or section."""
    if path == STDIN:
        raw, name = sys.stdin.buffer.read(), "stdin"
    elif path.lower().startswith(("http://", "https://")):
        from vouching.search.sections import url_sources

        return url_sources(path), ()
    else:
        raw = _read_bytes(path, "--source")
    # The readers of documents take a while to import.
    if raw.startswith(b"%PDF-") or Path(name).suffix.lower() in _DOCUMENTS:
        from vouching.search.sections import document_sources, kind_of

        kind = kind_of(name, raw)
        if kind is not None:
            url = str(Path(path).resolve()) if path != STDIN else ""
            return document_sources(raw, kind, name, url), ()
    text, guess = decode_text(raw, f"--source {path}")
    return [Source(text, id=name)], [*_warnings(name, text, guess)]


def argument_text(value: str, name: str) -> str:
    r"""A text of the command line, decoded as UTF-8 in every locale. Raises InputError if its bytes are not UTF-8.

    >>> argument_text("caf\udcc3\udca9", "CLAIM")
    'café'
    """
    if value.isascii():
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise InputError(f"{name} is not valid UTF-8: put the text in a file and pass its path") from None


def _warnings(name: str, text: str, guess: str | None) -> Iterator[VerdictWarning]:
    if guess:
        yield VerdictWarning("encoding", f"{guess}.")
    if looks_like_html(text):
        message = f"{name} looks like HTML; its tags were read as text. Extract the text for a better verdict."
        yield VerdictWarning("encoding", message)


def _read_bytes(path: str, option: str) -> bytes:
    shown = path if len(path) <= _MAX_ECHO else f"{path[:_MAX_ECHO]}..."
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        raise InputError(f"{option} {shown} is a folder: pass its files, each with its own {option}") from None
    except FileNotFoundError:
        raise InputError(f"{option} {shown} does not exist; {_advice(path, option)}") from None
    except PermissionError:
        raise InputError(
            f"{option} {shown} cannot be read (permission denied): check the permissions of the file"
        ) from None
    except (OSError, ValueError) as error:  # a name that is too long or holds a NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{option} {shown} cannot be read ({reason}); {_advice(path, option)}") from None


def _advice(path: str, option: str) -> str:
    """What to do about a missing file."""
    near = _nearest_name(path)
    if near:
        return hint([near]).removeprefix("; ")
    if option == "--source":
        return "pass the path or web address of a document, - for standard input, or the text itself with --source-text"
    return "pass the path of a text file, or - for standard input"


def _nearest_name(path: str) -> str | None:
    """The file in the same folder with the most similar name."""
    given = Path(path)
    try:
        names = [entry.name for entry in islice(given.parent.iterdir(), _MAX_NAMES) if entry.is_file()]
    except (OSError, ValueError):
        return None
    found = get_close_matches(given.name, names, n=1, cutoff=0.7)
    return str(given.parent / found[0]) if found else None


def given_here(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line, not by a default or an environment variable."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def is_read(output: str, *inputs: str | None) -> bool:
    """Whether an output is also one of the inputs.

    >>> is_read("page.html", "-", None, "./page.html"), is_read("page.html", "other.html")
    (True, False)
    """
    return realpath(output) in {realpath(path) for path in inputs if path and path != STDIN}


def refuse_row_contradictions(
    singles: Mapping[str, object],
    rows: tuple[str | None, str | None, bool],
    *others: str | None,
    of_rows: Mapping[str, object] | None = None,
) -> None:
    """Raise InputError for options that contradict ``--input``, or that need it.

    Args:
        singles: options for a single text, with their values.
        rows: ``--input``, ``--output`` and ``--resume``.
        others: further files that are written or read.
        of_rows: further options that need ``--input``, with whether they were given.
    """
    input, output, resume = rows
    if input is None:
        for name, used in (("--output", output is not None), ("--resume", resume), *(of_rows or {}).items()):
            if used:
                raise InputError(f"{name} applies only to a file of rows: add --input ROWS")
        return
    for name in (name for name, value in singles.items() if value not in (None, False, (), [])):
        raise InputError(f"{name} and --input cannot be used together")
    if output is None:
        raise InputError("--input requires --output: pass a file that ends in .jsonl, or - to print the results")
    if resume and output == STDIN:
        raise InputError("--resume requires a file for --output, got -")
    files = [realpath(path) for path in (input, output, *others) if path and path != STDIN]
    if len({*files}) < len(files):
        raise InputError("--input, --output, --report, record and replay must be different files")


def refuse_second_stdin(*paths: str | None) -> None:
    """Raise InputError if standard input is named more than once."""
    if paths.count(STDIN) > 1:
        raise InputError(
            "- was passed more than once, but standard input can be read only once: use files for the other inputs"
        )
