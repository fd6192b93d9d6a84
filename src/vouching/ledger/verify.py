"""Checking chains: every row, its link to the row before it, its texts, the end of the chain, and heads kept elsewhere.

A row that was changed fails by itself; a row that is gone leaves a gap; one that was put in, or replaced by whoever has
no key, does not fit its neighbours; a removed end differs from a head that was kept elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Integer, select, type_coerce, union

from vouching.errors import ConfigError
from vouching.ledger.chain import GENESIS, KEY_VARIABLE, Keys, digest, words_of
from vouching.ledger.retention import Span, covers
from vouching.ledger.tables import CONTENTS, ROWS, STREAMS
from vouching.text.json_values import parse_json
from vouching.types.ledger import FaultKind, Head, LedgerFault, Verification

Found = dict[str, Any]
_PAGE = 1000
"""Rows that are read at once."""


def verify(
    connection: Connection, keys: Keys, stream: str | None, heads: Sequence[Head], max_faults: int
) -> Verification:
    """The result for one chain or all; see :meth:`vouching.ledger.Ledger.verify`."""
    _refuse_without_key(connection, keys)
    anchored = [head for head in heads if stream is None or head.stream == stream]
    named = union(select(STREAMS.c.stream), select(ROWS.c.stream)).subquery()
    names = {*connection.execute(select(named.c.stream)).scalars(), *(head.stream for head in anchored)}
    names = sorted(names, key=str) if stream is None else [stream]  # whoever writes to the file may leave bytes
    rows = erased = total = 0
    listed: list[LedgerFault] = []
    for name in names:
        chain = _Chain(connection, keys, name, [head for head in anchored if head.stream == name])
        for fault in chain.faults():
            total += 1
            if len(listed) < max_faults:
                listed.append(replace(fault, stream=str(name)))
        rows, erased = rows + chain.rows, erased + chain.erased
    for fault in (*_unsigned(keys, anchored), *(_orphans(connection) if stream is None else ())):
        total += 1
        if len(listed) < max_faults:
            listed.append(fault)
    return Verification(len(names), rows, erased, bool(keys.signing), len(anchored), tuple(listed), total)


def _refuse_without_key(connection: Connection, keys: Keys) -> None:
    if not keys.signing and connection.execute(select(ROWS.c.id).where(ROWS.c.key_id != "").limit(1)).first():
        raise ConfigError(f"the ledger has chains with a key, which cannot be checked without it: set {KEY_VARIABLE}")


def _unsigned(keys: Keys, heads: Sequence[Head]) -> Iterator[LedgerFault]:
    """Kept heads that this ledger did not give."""
    for head in heads:
        if head.key_id and head.code != keys.head_code(head):
            words = (
                f"the kept head of row {head.seq} was changed, or has no code: keep what  vouch ledger heads  prints"
            )
            yield LedgerFault(head.stream, head.seq, None, "anchor", words)


def _orphans(connection: Connection) -> Iterator[LedgerFault]:
    """Texts without a row."""
    asked = select(CONTENTS.c.id).outerjoin(ROWS, ROWS.c.id == CONTENTS.c.id).where(ROWS.c.id.is_(None))
    for id in connection.execute(asked.order_by(CONTENTS.c.id)).scalars():
        yield LedgerFault("", None, id, "inserted", f"texts without a row have the id {id}")


class _Chain:
    """One chain, read in order."""

    def __init__(self, connection: Connection, keys: Keys, stream: str, heads: Sequence[Head]) -> None:
        self.connection = connection
        self.keys = keys
        self.stream = stream
        self.heads = {head.seq: head for head in heads}
        self.rows = self.erased = 0
        self._erasures = self._read_erasures()

    def faults(self) -> Iterator[LedgerFault]:
        """Everything that is wrong, in order."""
        place, before = 0, {GENESIS}
        last, key_id = GENESIS, ""
        for row in self._read():
            self.rows += 1
            seq = row["seq"]
            if not isinstance(seq, int):
                yield LedgerFault(self.stream, None, row["id"], "changed", f"a row has the place {seq!r}")
                continue
            if seq <= place:
                yield self._fault(row, "inserted", f"a further row has the place {seq}")
                continue
            if seq > place + 1:
                yield self._missing(place + 1, seq - 1, "are gone")
            code = self.keys.code(row)
            if (fault := self._of_code(row, code)) is not None:
                yield fault
            elif seq == place + 1 and row["prev"] not in before:
                yield self._fault(
                    row, "unlinked", f"row {seq} does not follow row {place}: one of them was replaced or put in"
                )
            yield from self._of_content(row)
            yield from self._of_head(row)
            # A changed code must not make the next row look wrong too.
            place, last, before = seq, row["mac"], {row["mac"], code or row["mac"]}
            key_id = row["key_id"]
        yield from self._of_end(place, last, key_id)

    def _read(self) -> Iterator[Found]:
        """The rows with their texts, page by page, also several with the same place."""
        asked = select(
            ROWS,
            CONTENTS.c.id.label("content"),
            CONTENTS.c.salt,
            CONTENTS.c.inputs,
            CONTENTS.c.record,
            CONTENTS.c.words,
            type_coerce(ROWS.c.passed, Integer).label("stored_passed"),
        ).select_from(ROWS.outerjoin(CONTENTS, CONTENTS.c.id == ROWS.c.id))
        asked = asked.where(ROWS.c.stream == self.stream).order_by(ROWS.c.seq, ROWS.c.id)
        with self.connection.execute(asked, execution_options={"yield_per": _PAGE}) as found:
            for row in found.mappings():
                yield dict(row)

    def _read_erasures(self) -> list[tuple[int, list[Span]]]:
        """The erasures on record: their places, and the spans that they removed."""
        asked = select(ROWS.c.seq, CONTENTS.c.record).join(CONTENTS, CONTENTS.c.id == ROWS.c.id)
        asked = asked.where(ROWS.c.stream == self.stream, ROWS.c.kind == "erase").order_by(ROWS.c.seq)
        found: list[tuple[int, list[Span]]] = []
        for seq, record in self.connection.execute(asked):
            with suppress(ValueError, TypeError, KeyError):  # a changed record is a fault of its own row
                found.append((seq, [(first, last) for first, last in parse_json(record)["erased"]]))
        return found

    def _of_code(self, row: Found, code: str | None) -> LedgerFault | None:
        if row["stored_passed"] not in (None, 0, 1):  # it reads as one of these
            return self._fault(row, "changed", f"row {row['seq']} was changed: passed is neither true nor false")
        if code is None:
            return self._fault(row, "key", f"row {row['seq']} has a key that is not in {KEY_VARIABLE}")
        if self.keys.signing and not row["key_id"]:
            return self._fault(row, "key", f"row {row['seq']} has no key: anyone can have written it")
        if code != row["mac"]:
            return self._fault(row, "changed", f"row {row['seq']} was changed: its code does not fit it")
        return None

    def _of_content(self, row: Found) -> Iterator[LedgerFault]:
        seq = row["seq"]
        gone = row["kind"] != "erase" and any(at > seq and covers(spans, seq) for at, spans in self._erasures)
        if row["content"] is None:
            self.erased += gone
            if not gone:
                yield self._fault(row, "content", f"the texts of row {seq} are gone, without an erasure on record")
            return
        if gone:
            yield self._fault(row, "content", f"the texts of row {seq} are there, after an erasure on record")
        absent = {"all": (), "record": ("inputs",), "digests": ("inputs", "record")}.get(row["kept"], ())
        for name in ("inputs", "record"):
            if (row[name] is None) != (name in absent):
                state = "are gone" if row[name] is None else "were put in"
                yield self._fault(row, "content", f"the {name} of row {seq} {state}")
            elif row[name] is not None and not self._digested(row, name):
                yield self._fault(row, "content", f"the {name} of row {seq} were changed")
                return
        if not _has_its_words(row):
            yield self._fault(row, "content", f"the searched text of row {seq} was changed")

    def _digested(self, row: Found, name: str) -> bool:
        try:
            return digest(row["salt"], name, row[name]) == row[f"{name}_digest"]
        except (TypeError, ValueError):
            return False

    def _of_head(self, row: Found) -> Iterator[LedgerFault]:
        head = self.heads.pop(row["seq"], None)
        if head is not None and head.mac != row["mac"]:
            yield self._fault(
                row, "anchor", f"row {row['seq']} is not the one of the kept head: the chain was rewritten up to there"
            )

    def _of_end(self, place: int, last: str, key_id: str) -> Iterator[LedgerFault]:
        end = self.connection.execute(select(STREAMS).where(STREAMS.c.stream == self.stream)).one_or_none()
        if end is None and place:
            yield LedgerFault(self.stream, place, None, "head", "the end of the chain is not on record")
        elif end is not None and isinstance(end.seq, int) and end.seq > place:
            yield self._missing(place + 1, end.seq, "are gone from the end")
        elif end is not None and (end.seq, end.mac) != (place, last):
            yield LedgerFault(self.stream, place, None, "head", f"the recorded end is row {end.seq}, found row {place}")
        elif end is not None and place and end.key_id != key_id:
            yield LedgerFault(self.stream, place, None, "head", "the recorded end has another key than the last row")
        for seq in sorted(self.heads):
            if seq > place:
                yield LedgerFault(
                    self.stream,
                    place + 1,
                    None,
                    "anchor",
                    f"the chain ends at row {place}, the kept head is row {seq}: its end was removed",
                )

    def _missing(self, first: int, last: int, what: str) -> LedgerFault:
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
        what = what.replace("are", "is", 1) if first == last else what
        return LedgerFault(self.stream, first, None, "missing", f"{rows} {what}")

    def _fault(self, row: Found, kind: FaultKind, message: str) -> LedgerFault:
        return LedgerFault(self.stream, row["seq"], row["id"], kind, message)


def _has_its_words(row: Found) -> bool:
    """Whether the text that searches look in is that of the inputs and the record."""
    try:
        inputs, record = parse_json(row["inputs"] or "{}"), parse_json(row["record"] or "{}")
        return row["words"] == words_of(inputs, record)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return False
