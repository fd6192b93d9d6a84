"""The options that say where to search for sources, for every command that can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from vouching.search.base import SearchEngine

PANEL = "Where to search for sources"


def _panel(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=PANEL, **settings)


Indexes = Annotated[
    list[str] | None, _panel("--index", metavar="PATH", help="An index of your documents; see vouch index. Repeatable.")
]
"""``--index``"""
WebEngines = Annotated[
    list[str] | None,
    _panel(
        "--web",
        metavar="ENGINE",
        help="searxng=URL, wikipedia, brave, tavily, serper or ddgs; what is asked is sent to it. Repeatable.",
    ),
]
"""``--web``"""
Pages = Annotated[bool, _panel("--pages", metavar="", help="Read the pages that the web engines name, not snippets.")]
"""``--pages``"""
RecordFile = Annotated[str | None, _panel("--record", metavar="PATH", help="Keep what the web engines find: .jsonl.")]
"""``--record``"""
ReplayFile = Annotated[
    str | None, _panel("--replay", metavar="PATH", help="Take from such a file what they found, offline.")
]
"""``--replay``"""
Queries = Annotated[
    int | None,
    _panel("--queries", metavar="N", min=1, help="Queries for a claim or a question, at most. (5)"),
]
"""``--queries``"""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Where to search, as given."""

    index: tuple[str, ...] = ()
    """Paths of indexes."""
    web: tuple[str, ...] = ()
    """Names of web engines, see ``vouching.search.open.FORMS``."""
    pages: bool = False
    """Whether to read the pages that the engines name."""
    record: str | None = None
    """File to keep in what the web engines find."""
    replay: str | None = None
    """File to take it from."""
    queries: int | None = None
    """How many queries at most; None for the usual number."""

    def __bool__(self) -> bool:
        return bool(self.index or self.web)

    @property
    def waits(self) -> bool:
        """Whether a search waits for others, as one on the web does."""
        return bool(self.web) and self.replay is None

    @property
    def settings(self) -> dict[str, str | bool | int | None]:
        """What decides what is found, for the note beside an output."""
        return {"search": " ".join(self.index + self.web), "pages": self.pages, "queries": self.queries}

    @property
    def arguments(self) -> str:
        """Where and how is searched, as on the command line.

        >>> SearchOptions(("notes",), ("wikipedia",), pages=True, queries=2).arguments
        '--index notes --web wikipedia --pages --queries 2'
        """
        given = [*(f"--index {path}" for path in self.index), *(f"--web {name}" for name in self.web)]
        given += ["--pages"] if self.pages else []
        return " ".join([*given, *([] if self.queries is None else [f"--queries {self.queries}"])])

    def complaints(self) -> Iterator[str]:
        """What is wrong with the options, most important first."""
        on_the_web = {"--pages": self.pages, "--record": self.record, "--replay": self.replay}
        for name in (name for name, used in on_the_web.items() if used and not self.web):
            yield f"got {name} without --web, but it is about what web engines find: add --web ENGINE"
        if self.queries is not None and not self:
            yield "got --queries without anything to search: add --index PATH or --web ENGINE"
        if self.record is not None and self.replay is not None:
            yield "got --record and --replay, wanted one of them: record first, then replay the file"

    def engines(self) -> list[SearchEngine]:
        """The engines, opened.

        Raises:
            ConfigError: an engine of that name does not exist, or its key is missing.
            InputError: an index or a file cannot be read or written.
        """
        from vouching.search.open import open_engine

        return [*(open_engine(f"index:{path}") for path in self.index), *map(self._on_the_web, self.web)]

    def _on_the_web(self, name: str) -> SearchEngine:
        from vouching.search.open import open_engine, web_name
        from vouching.search.pages import Pages
        from vouching.search.record import Recording, Replay

        if self.replay is not None:
            return Replay(self.replay, web_name(name))
        engine = open_engine(name)
        if self.pages:
            engine = Pages(engine)
        return Recording(engine, self.record) if self.record is not None else engine
