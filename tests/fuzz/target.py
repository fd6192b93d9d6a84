"""What a fuzz target is: a parser, valid inputs to start from, and the errors that it may raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from vouching.errors import VouchError


@dataclass(frozen=True, slots=True)
class Target:
    """A parser with what it accepts."""

    parse: Callable[[str], object]
    seeds: Sequence[str]
    """Valid inputs."""
    allowed: tuple[type[Exception], ...] = (VouchError,)
    """The errors that its documentation names."""
    as_json: bool = False
    """Whether the seeds are JSON, so that values can be replaced by others."""
    share: float = 1.0
    """How often it is tried, compared with others; less for those that take longer."""


def raw(text: str) -> bytes:
    """The bytes of a file with this text; a lone surrogate becomes bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def of_file(read: Callable[[Path], object], name: str) -> Callable[[str], object]:
    """``read`` applied to a file with the text; ``name`` may have folders."""

    def parse(text: str) -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw(text))
            return read(path)

    return parse
