"""Revisions of a ledger's tables, up and down, by Alembic."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, text

from vouching.errors import ConfigError, needed

VERSION_TABLE = "ledger_version"
_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x766F756368
"""The number of the lock in PostgreSQL: any that only this library uses."""


def _scripts() -> Any:
    return needed("alembic.script", "ledger", "the ledger").ScriptDirectory(str(_FOLDER))


@cache
def newest() -> str:
    """The revision of this version of the library; found once, since Alembic compiles the scripts each time."""
    return str(_scripts().get_current_head())


def revision_of(connection: Connection) -> str | None:
    """The revision of the tables; None if there are none."""
    if VERSION_TABLE not in inspect(connection).get_table_names():
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()


def migrate(connection: Connection, to: str = "head") -> str | None:
    """Bring the tables to a revision, "head" or "base", in the connection's transaction; returns the new revision.

    Processes that do so at once wait for each other; "base" drops every row. Raises ConfigError for a revision that
    is not known.
    """
    command = needed("alembic.command", "ledger", "the ledger")
    config = needed("alembic.config", "ledger", "the ledger").Config()
    known = [script.revision for script in _scripts().walk_revisions()]  # newest first
    if to not in {"head", "base", *known}:
        raise ConfigError(f"unknown revision {to!r} of the ledger; expected head, base, {', '.join(known)}")
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    now, target = revision_of(connection), known[0] if to == "head" else to
    if now is not None and now not in known:
        raise ConfigError(_too_new(now))
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    if now is not None and (target == "base" or known.index(target) > known.index(now)):
        command.downgrade(config, target)
    elif target not in {"base", now}:
        command.upgrade(config, target)
    return revision_of(connection)


def refuse_other_revision(connection: Connection) -> None:
    """Raise ConfigError unless the tables are of this version's revision."""
    now, expected = revision_of(connection), newest()
    if now is None:
        raise ConfigError("the ledger has no tables: run  vouch ledger migrate")
    if now != expected:
        known = {script.revision for script in _scripts().walk_revisions()}
        raise ConfigError(
            f"the ledger has revision {now}, this version of vouching expects {expected}: run  vouch ledger migrate"
            if now in known
            else _too_new(now)
        )


def _too_new(now: str) -> str:
    return f"the ledger has the unknown revision {now}: use the version of vouching that made it, or a newer one"
