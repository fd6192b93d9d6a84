"""The ledger: append, find, check, erase and export rows.

Not supported: changing a row; a correction is a further row. Full-text indexes: a search for text reads the rows that
the filters leave, at about a million per second on SQLite.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, cast, get_args

from sqlalchemy import Connection, RowMapping, and_, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from vouching.errors import ConfigError, InputError
from vouching.ledger.chain import GENESIS, KEY_VARIABLE, Keys, content_text, digest, new_salt, words_of
from vouching.ledger.filters import conditions
from vouching.ledger.migrate import migrate, revision_of
from vouching.ledger.retention import RetentionRule, erase
from vouching.ledger.store import VARIABLE, Store
from vouching.ledger.summary import of_first, summary_of
from vouching.ledger.tables import CONTENTS, ROWS, STREAMS
from vouching.ledger.verify import verify
from vouching.text.json_values import is_too_deep, parse_json
from vouching.types.ledger import DAMAGED, Entry, EntryKind, Filters, Head, Kept, LedgerRow, Verification

KEEP_VARIABLE = "VOUCH_LEDGER_KEEP"
_NAME_LENGTH = 200
_LARGEST = 2**63 - 1
"""The largest number that the database has."""
_MOST_WORDS = 100
_PAGE = 500
"""Rows that an export reads at once."""
_HALVES = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89a-f][0-9a-f]{2})")
"""A lone surrogate in stored JSON, where pairs are characters: shown as it is written, since it cannot be sent."""
_JOINED = ROWS.outerjoin(CONTENTS, CONTENTS.c.id == ROWS.c.id)
_COLUMNS = (*ROWS.c, CONTENTS.c.inputs, CONTENTS.c.record, CONTENTS.c.salt)


def open_ledger(
    target: str | Path | None = None,
    key: str | None = None,
    keep: Kept | None = None,
    create: bool = True,
    stream: str | None = None,
    caller: str | None = None,
) -> Ledger:
    """Open a ledger.

    Args:
        target: path of a SQLite file, ``sqlite:///PATH`` or ``postgresql+psycopg://USER@HOST/DATABASE``; by default,
            the environment variable ``VOUCH_LEDGER``.
        key: the secret key of the chains, of at least 16 characters; several with commas to replace a key: the first
            one signs new rows. By default ``VOUCH_LEDGER_KEY``; without one, the chains only show accidents.
        keep: "all" texts, the "record" without the inputs, or only their "digests"; by default ``VOUCH_LEDGER_KEEP``,
            else "all".
        create: whether to make the file and the tables if there are none.
        stream: the chain for what checks append by themselves; by default ``VOUCH_LEDGER_STREAM``, else "vouch".
        caller: who runs these checks; by default ``VOUCH_LEDGER_CALLER``, else "".

    Raises:
        ConfigError: no or an unusable target, a short key, or tables of another version.
        MissingExtraError: SQLAlchemy, Alembic or psycopg is not installed.
        LedgerError: the database cannot be reached; a retry may succeed.

    >>> import tempfile
    >>> ledger = open_ledger(f"{tempfile.mkdtemp()}/verdicts.db", key="a secret of some length")
    >>> [first] = ledger.append([Entry("demo", "check", {"claim": "It rained."}, {"kind": "verdict"}, "docs")])
    >>> ledger.get(first).inputs, ledger.verify().intact
    ({'claim': 'It rained.'}, True)
    >>> ledger.close()
    """
    kept = keep or os.environ.get(KEEP_VARIABLE) or "all"
    if kept not in get_args(Kept):
        raise ConfigError(f"a ledger keeps {', '.join(get_args(Kept))}, not {kept!r}: see {KEEP_VARIABLE}")
    keys = Keys.read(os.environ.get(KEY_VARIABLE) if key is None else key)
    store = Store(_target(target), create)
    store.prepare()
    stream = stream or os.environ.get("VOUCH_LEDGER_STREAM") or "vouch"
    caller = os.environ.get("VOUCH_LEDGER_CALLER", "") if caller is None else caller
    return Ledger(store, keys, cast("Kept", kept), stream, caller)


def migrate_ledger(target: str | Path | None = None, to: str = "head") -> str | None:
    """Bring the tables of a ledger to a revision, "head" or "base" (none, and no rows); returns the new revision."""
    store = Store(_target(target))
    with store.write() as connection:
        return migrate(connection, to)


def _target(given: str | Path | None) -> str:
    target = str(given or os.environ.get(VARIABLE) or "")
    if not target:
        raise ConfigError(f"no ledger was given: pass a path or a database address, or set {VARIABLE}")
    return target


class Ledger:
    """An open ledger; :func:`open_ledger` makes one. It can be used by several threads, and after a fork."""

    def __init__(self, store: Store, keys: Keys, keep: Kept, stream: str = "vouch", caller: str = "") -> None:
        self.store = store
        self.keys = keys
        self.keep: Kept = keep
        self.stream = stream
        """The chain for what checks append by themselves."""
        self.caller = caller
        """Who runs these checks."""

    @property
    def target(self) -> str:
        """Its address, without a password."""
        return self.store.name

    def revision(self) -> str | None:
        """The revision of its tables."""
        with self.store.read() as connection:
            return revision_of(connection)

    def append(self, entries: Sequence[Entry]) -> list[int]:
        """Append all entries or none, and return their ids in order.

        Raises InputError for an entry that cannot be kept, ConfigError if a chain needs another key, and LedgerError if
        the database fails.
        """
        made = self._made(entries)
        if not made:
            return []
        with self.store.write() as connection:
            return extend(connection, self.keys, made)

    def append_within(self, connection: Connection, entries: Sequence[Entry]) -> list[int]:
        """As :meth:`append`, in a transaction that is already open (``store.write()``) and may do more."""
        made = self._made(entries)
        return extend(connection, self.keys, made) if made else []

    def _made(self, entries: Sequence[Entry]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The entries as rows and contents."""
        if any(entry.kind == "erase" for entry in entries):
            raise InputError("an entry cannot be of the kind erase: call erase, which removes texts and records it")
        return [_row(entry, self.keep) for entry in entries]

    def get(self, id: int) -> LedgerRow:
        """The row with this id. Raises InputError if there is none."""
        with self.store.read() as connection:
            asked = select(*_COLUMNS).select_from(_JOINED).where(ROWS.c.id == id)
            found = connection.execute(asked).mappings().one_or_none() if 0 < id < _LARGEST else None
        if found is None:
            raise InputError(f"the ledger has no row {id}: see  vouch ledger list")
        return _ledger_row(found, shows_damage=True)

    def search(
        self, filters: Filters | None = None, text: str | None = None, limit: int = 100, before: int | None = None
    ) -> list[LedgerRow]:
        """The newest rows that match, newest first.

        Args:
            filters: what the row must be.
            text: words that all occur in what was judged, in the fix or in a note, without case, in any order; a phrase
                in double quotes must occur as a whole. Sources are not searched.
            limit: maximum number of rows, at least 1.
            before: only rows with a smaller id, for the next page: the last id of the page before.
        """
        if limit < 1:
            raise InputError(f"limit must be at least 1, got {limit}")
        asked = select(*_COLUMNS).select_from(_JOINED).where(*conditions(filters))
        sought = re.findall(r'"([^"]+)"|(\S+)', text or "")
        if len(sought) > _MOST_WORDS:
            raise InputError(f"a search has at most {_MOST_WORDS} words, got {len(sought):,}: put phrases into quotes")
        for words in sought:
            asked = asked.where(CONTENTS.c.words.contains(words_of({"": max(words)}, {}), autoescape=True))
        if before is not None:
            asked = asked.where(ROWS.c.id < min(max(before, 0), _LARGEST))
        asked = asked.order_by(ROWS.c.id.desc()).limit(min(limit, _LARGEST))
        with self.store.read() as connection:
            return [_ledger_row(found, shows_damage=True) for found in connection.execute(asked).mappings()]

    def count(self, filters: Filters | None = None) -> int:
        """Number of rows that match."""
        with self.store.read() as connection:
            return connection.execute(select(func.count()).select_from(ROWS).where(*conditions(filters))).scalar_one()

    def heads(self) -> list[Head]:
        """The ends of all chains, by name. Keep them elsewhere: :meth:`verify` then notices a removed end."""
        asked = select(STREAMS, ROWS.c.at).join(
            ROWS, and_(ROWS.c.stream == STREAMS.c.stream, ROWS.c.seq == STREAMS.c.seq)
        )
        with self.store.read() as connection:
            found = connection.execute(asked.order_by(STREAMS.c.stream))
            ends = [Head(row.stream, row.seq, row.mac, row.key_id, row.at) for row in found]
        return [replace(end, code=self.keys.head_code(end) or "") for end in ends]

    def verify(
        self, stream: str | None = None, heads: Iterable[Head] | None = None, max_faults: int = 100
    ) -> Verification:
        """Check one chain or all, row by row, and compare them with heads that were kept elsewhere.

        Raises ConfigError if a chain has a key and none was given.
        """
        with self.store.read() as connection:
            return verify(connection, self.keys, stream, tuple(heads or ()), max_faults)

    def erase(self, rule: RetentionRule, reason: str, by: str = "", dry_run: bool = False) -> int:
        """Remove the texts of the rows that a rule names, and of reviews about them; returns the number of rows.

        Digests, labels and the chain stay. Each chain gets a row that says which texts were removed, why and by whom.

        Args:
            rule: which rows.
            reason: why, for the record.
            by: who asked for it, for the record.
            dry_run: only count.
        """
        if not reason.strip():
            raise InputError("an erasure needs a reason, which stays on record: pass a reason")

        def add(connection: Connection, stream: str, record: Mapping[str, Any]) -> None:
            entry = Entry(stream, "erase", {"reason": reason}, record, by)
            extend(connection, self.keys, [_row(entry, "all")])

        with self.store.read() if dry_run else self.store.write() as connection:
            erased = erase(connection, rule, None if dry_run else add)
        if erased and not dry_run:
            self.store.scrub()
        return erased

    def rows(self, filters: Filters | None = None) -> Iterator[LedgerRow]:
        """All rows that match, oldest first, read page by page."""
        last = 0
        while True:
            asked = select(*_COLUMNS).select_from(_JOINED).where(ROWS.c.id > last, *conditions(filters))
            with self.store.read() as connection:
                found = connection.execute(asked.order_by(ROWS.c.id).limit(_PAGE)).mappings()
                page = [_ledger_row(one) for one in found]
            if not page:
                return
            yield from page
            last = page[-1].id

    def export(self, path: str | Path, filters: Filters | None = None) -> int:
        """Write all rows that match to a new .jsonl or .parquet file, oldest first; returns their number."""
        from vouching.ledger.export import export_rows

        return export_rows(self.rows(filters), Path(path))

    def close(self) -> None:
        """Close the connections to the database."""
        self.store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def extend(connection: Connection, keys: Keys, made: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> list[int]:
    """Give rows their ids, places and codes, and insert them; the ends of their chains are locked until the end."""
    ends = {stream: _locked_end(connection, stream, keys) for stream in sorted({row["stream"] for row, _ in made})}
    ids = _new_ids(connection, len(made))
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    for id, (row, content) in zip(ids, made, strict=True):
        seq, mac = ends[row["stream"]]
        row |= {"id": id, "seq": seq + 1, "at": at, "key_id": keys.signing, "prev": mac}
        mac = keys.code(row) or ""  # the signing key is always known
        row["mac"], content["id"] = mac, id
        ends[row["stream"]] = (seq + 1, mac)
    connection.execute(insert(ROWS), [row for row, _ in made])
    connection.execute(insert(CONTENTS), [content for _, content in made])
    for stream, (seq, mac) in ends.items():
        end = {"seq": seq, "mac": mac, "key_id": keys.signing}
        connection.execute(update(STREAMS).where(STREAMS.c.stream == stream).values(end))
    return ids


def _locked_end(connection: Connection, stream: str, keys: Keys) -> tuple[int, str]:
    """Number and code of the last row of a chain. Raises ConfigError if its key is not known."""
    asked = select(STREAMS).where(STREAMS.c.stream == stream).with_for_update()
    end = connection.execute(asked).one_or_none()
    if end is None:
        first = {"stream": stream, "seq": 0, "mac": GENESIS, "key_id": keys.signing}
        try:
            with connection.begin_nested():
                connection.execute(insert(STREAMS), first)
        except IntegrityError:  # another process was faster
            pass
        end = connection.execute(asked).one()
    if end.seq and bool(end.key_id) != bool(keys.signing):
        state = "has a key" if end.key_id else "has no key"
        raise ConfigError(
            f"the chain {stream} {state}, and a row {'without' if end.key_id else 'with'} one would break it: "
            + (f"set {KEY_VARIABLE}" if end.key_id else f"unset {KEY_VARIABLE}, or begin another stream")
        )
    if end.key_id and end.key_id not in keys.by_id:
        raise ConfigError(
            f"the chain {stream} was continued with another key: put the new key before the old one in {KEY_VARIABLE}, "
            "with a comma"
        )
    return end.seq, end.mac


def _new_ids(connection: Connection, number: int) -> list[int]:
    """Ids that no row has or had."""
    if connection.dialect.name == "postgresql":
        asked = text("SELECT nextval(pg_get_serial_sequence('ledger_rows', 'id')) FROM generate_series(1, :number)")
        return list(connection.execute(asked, {"number": number}).scalars())
    last = connection.execute(text("SELECT seq FROM sqlite_sequence WHERE name = 'ledger_rows'")).scalar() or 0
    return list(range(last + 1, last + 1 + number))


def _row(entry: Entry, keep: Kept) -> tuple[dict[str, Any], dict[str, Any]]:
    """An entry as a row and its contents, without id, place and code."""
    for name, value in (("stream", entry.stream), ("caller", entry.caller)):
        if len(value) > _NAME_LENGTH or not value.isprintable() or (name == "stream" and not value.strip()):
            raise InputError(
                f"{name} must have {int(name == 'stream')} to {_NAME_LENGTH} printable characters, got {value[:80]!r}"
            )
    if entry.kind not in get_args(EntryKind):
        raise InputError(f"unknown kind {entry.kind!r} of an entry; expected one of {', '.join(get_args(EntryKind))}")
    inputs, record = content_text(entry.inputs, "the inputs"), content_text(entry.record, "the record")
    details = {
        "provenance": of_first(entry.record, "provenance") if entry.provenance is None else entry.provenance,
        "timing": entry.timing,
        "usage": of_first(entry.record, "usage") if entry.usage is None else entry.usage,
    }
    salt = new_salt()
    row = {
        "stream": entry.stream,
        "kind": entry.kind,
        "caller": entry.caller,
        "about": entry.about,
        **summary_of(entry.record),
        "details": content_text(details, "provenance, timing or usage"),
        "kept": keep,
        "inputs_digest": digest(salt, "inputs", inputs),
        "record_digest": digest(salt, "record", record),
    }
    content = {
        "salt": salt,
        "inputs": inputs if keep == "all" else None,
        "record": None if keep == "digests" else record,
        "words": words_of(entry.inputs if keep == "all" else {}, {} if keep == "digests" else entry.record),
    }
    return row, content


def _ledger_row(found: RowMapping, *, shows_damage: bool = False) -> LedgerRow:
    """A row as it was kept.

    Args:
        found: its columns.
        shows_damage: show what can be shown of a row whose JSON was changed into something else, and say what cannot.

    Raises InputError for such a row otherwise.
    """
    values: dict[str, Any] = {name: _shown(value) for name, value in found.items()}
    salt = values.pop("salt")
    parts = _object_in(values.pop("details")) or {}
    details = {name: parts.get(name) for name in ("provenance", "timing", "usage")}
    kept = {name: _object_in(values[name]) for name in ("inputs", "record") if values[name] is not None}
    damaged = [name for name, value in (details | kept).items() if not isinstance(value, dict)]
    if damaged and not shows_damage:
        raise InputError(f"row {values['id']} of the ledger was damaged: run  vouch ledger verify")
    values |= details | kept | dict.fromkeys(damaged, DAMAGED)
    return LedgerRow(**values, erased=salt is None)


def _object_in(text: Any) -> dict[str, Any] | None:
    """The JSON object of a column; None if it was changed into something else, or into one that few can read."""
    try:
        value: Any = parse_json(_HALVES.sub(r"\1\\\\u\2", text))
    except (TypeError, ValueError):
        return None
    return None if is_too_deep(value) or not isinstance(value, dict) else cast("dict[str, Any]", value)


def _shown(value: Any) -> Any:
    """A value of a column; one that was changed to bytes, which no column has, as a text that says so."""
    return f"(damaged: {value.hex()[:80]})" if isinstance(value, bytes) else value
