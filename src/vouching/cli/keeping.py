"""``--ledger``: keeping what a command prints, if it was asked for."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.options import OUTPUT
from vouching.rows import RowJob
from vouching.types import Assurance, ContextReport, Ranking, Report, Source, Unverified, Verdict
from vouching.types.ledger import EntryKind

if TYPE_CHECKING:
    from vouching.ledger import Ledger

LedgerTarget = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="TARGET",
        envvar="VOUCH_LEDGER",
        help="Keep every result in a ledger: path of a file, or postgresql+psycopg://USER@HOST/NAME.",
        rich_help_panel=OUTPUT,
    ),
]


@contextmanager
def kept_in(target: str | None) -> Generator[Ledger | None]:
    """The ledger of a target, open for a checker that keeps its results itself; None without a target."""
    if target is None:
        yield None
        return
    from vouching.ledger import open_ledger

    with open_ledger(target) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where the results of a command are kept; without a target, nowhere."""

    kind: EntryKind
    target: str | None

    def refuse(self) -> None:
        """Raise ConfigError or LedgerError, before any work, for a ledger that cannot be used."""
        if self.target is not None:
            from vouching.ledger import open_ledger

            open_ledger(self.target).close()

    def result(
        self,
        inputs: Mapping[str, Any],
        record: Verdict | Unverified | Report | Ranking | Assurance | ContextReport,
        sources: Sequence[Source] = (),
    ) -> None:
        """Keep one result with what was judged; inputs that are None were not given."""
        if self.target is None:
            return
        from vouching.ledger.recording import keep_result
        from vouching.types.serial import to_python

        given: dict[str, Any] = {name: value for name, value in inputs.items() if value is not None}
        given |= {"sources": [asdict(source) for source in sources]} if sources else {}
        keep_result(self.target, self.kind, given, to_python(record))

    def job(self, job: RowJob) -> RowJob:
        """The job that also keeps the result of every row."""
        if self.target is None:
            return job
        from vouching.ledger.recording import kept_job

        return kept_job(job, self.target, self.kind)
