"""Options of the command line that say where to search, and the engines that they open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vouching.errors import InputError

if TYPE_CHECKING:
    from vouching.search.base import SearchEngine

_FORMS = "an engine, pages, queries=N, record=PATH or replay=PATH"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Where to search."""

    index: tuple[str, ...] = ()
    """Paths of indexes, or opensearch:URL."""
    web: tuple[str, ...] = ()
    """Names of web engines, see ``FORMS``."""
    pages: bool = False
    """Whether to read the pages that the engines return."""
    record: str | None = None
    """File to record the answers of web engines in."""
    replay: str | None = None
    """File to replay them from."""
    queries: int | None = None
    """Maximal number of queries; None for the default."""

    def __bool__(self) -> bool:
        return bool(self.index or self.web)

    @classmethod
    def read(cls, index: Sequence[str] | None, web: Sequence[str] | None) -> SearchOptions:
        """The options from the values of --index and --web; the latter may contain settings of the search.

        Raises InputError if a setting has no value or contradicts another, or there is nothing to search.

        >>> SearchOptions.read(["notes"], ["wikipedia", "pages", "queries=2"])
        SearchOptions(index=('notes',), web=('wikipedia',), pages=True, record=None, replay=None, queries=2)
        """
        engines: list[str] = []
        record = replay = queries = None
        pages = False
        for given in web or ():
            match given.partition("="):
                case ("pages", "", ""):
                    pages = True
                case ("queries", "=", number) if number.isdecimal() and int(number):
                    queries = int(number)
                case ("queries", "=", number):
                    raise InputError(f"--web queries must be a whole number of at least 1, got {number!r}")
                case ("record", "=", path) if path:
                    record = path
                case ("replay", "=", path) if path:
                    replay = path
                case ("pages" | "queries" | "record" | "replay", _, _):
                    raise InputError(f"--web expects {_FORMS}, got {given}")
                case _:
                    engines.append(given)
        found = cls(tuple(index or ()), tuple(engines), pages, record, replay, queries)
        about_web = {"pages": pages, "record": record, "replay": replay}
        for name in (name for name, used in about_web.items() if used and not engines):
            raise InputError(f"--web {name} requires a web engine: add --web ENGINE")
        if queries is not None and not found:
            raise InputError("--web queries requires an engine: add --index PATH or --web ENGINE")
        if record is not None and replay is not None:
            raise InputError(
                "--web record and --web replay cannot be used together: record first, then replay the file"
            )
        return found

    @property
    def waits(self) -> bool:
        """Whether a search waits for servers."""
        from vouching.search.open import OPENSEARCH

        return (bool(self.web) and self.replay is None) or any(path.startswith(OPENSEARCH) for path in self.index)

    @property
    def settings(self) -> dict[str, str | bool | int | None]:
        """The settings that determine the results, for the note next to an output."""
        return {"search": " ".join(self.index + self.web), "pages": self.pages, "queries": self.queries}

    @property
    def arguments(self) -> str:
        """The options as on the command line."""
        web = [*self.web, *(["pages"] if self.pages else [])]
        web += [] if self.queries is None else [f"queries={self.queries}"]
        return " ".join([*(f"--index {path}" for path in self.index), *(f"--web {name}" for name in web)])

    def engines(self) -> list[SearchEngine]:
        """Open the engines. Raises ConfigError and InputError as ``open_engine``."""
        from vouching.search.open import OPENSEARCH, open_engine

        own = (path if path.startswith(OPENSEARCH) else f"index:{path}" for path in self.index)
        return [*map(open_engine, own), *map(self._on_the_web, self.web)]

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
