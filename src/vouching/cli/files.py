"""Reading what the command line names: a file, or "-" for standard input.

Left out: folders, addresses on the web, and formats other than text.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from vouching.errors import InputError
from vouching.text.encoding import decode_text, looks_like_html
from vouching.types import VerdictWarning

STDIN = "-"
"""What stands for standard input."""
_WITH_TEXT = ("--source", "--response")
"""Options beside which another takes the text itself."""
_MOST_NAMES = 10_000
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
    if option in _WITH_TEXT:
        return f"give the path of a text file, - for standard input, or the text itself with {option}-text"
    return "give the path of a text file, or - for standard input"


def _nearest_name(path: str) -> str | None:
    """The file beside ``path`` whose name is most like it."""
    wanted = Path(path)
    try:
        names = [entry.name for entry in islice(wanted.parent.iterdir(), _MOST_NAMES) if entry.is_file()]
    except (OSError, ValueError):
        return None
    found = get_close_matches(wanted.name, names, n=1, cutoff=0.7)
    return str(wanted.parent / found[0]) if found else None


def is_read(output: str, *inputs: str | None) -> bool:
    """Whether an output is one of the files that are read.

    >>> is_read("page.html", "-", None, "./page.html"), is_read("page.html", "other.html")
    (True, False)
    """
    return Path(output).resolve() in {Path(path).resolve() for path in inputs if path and path != STDIN}
