"""Whatever is changed, removed, exchanged or put in behind the ledger's back is found, at its place."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from typer.testing import CliRunner

from tests.ledger.conftest import KEY
from tests.ledger.entries import small
from vouching.cli.app import app_for
from vouching.errors import ConfigError, InputError
from vouching.ledger import Ledger, RetentionRule, Verification, open_ledger
from vouching.ledger.chain import COVERED, GENESIS, Keys
from vouching.ledger.tables import ROWS as TABLE
from vouching.types.ledger import DAMAGED, Filters

ROWS = 6
ERASED = 2
"""Place of the row whose texts are erased on record; its erasure is row ROWS + 1."""
COLUMNS = sorted({column.name for column in TABLE.c} - {"id", "stream", "seq"})
CONTENTS = ("salt", "inputs", "record", "words")


def filled(folder: Path, key: str = KEY) -> Ledger:
    ledger = open_ledger(folder / "ledger.db", key=key)
    ids = ledger.append([small(number) for number in range(1, ROWS + 1)])
    ledger.erase(RetentionRule(ids=(ids[ERASED - 1],)), "asked")
    return ledger


def attacked(folder: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    """Write to the file as an administrator can, with the triggers gone."""
    with sqlite3.connect(folder / "ledger.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement, values in statements:
            connection.execute(statement, values)
    connection.close()


@cache
def untouched() -> bytes:
    """A filled ledger as the bytes of its file, which is all there is of it once it is closed."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = filled(Path(folder))
        assert ledger.verify().intact
        ledger.close()
        assert [path.name for path in Path(folder).iterdir()] == ["ledger.db"]
        return (Path(folder) / "ledger.db").read_bytes()


def after(attack: Callable[[Path], None]) -> Verification:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ledger.db").write_bytes(untouched())
        attack(Path(folder))
        with open_ledger(Path(folder) / "ledger.db", key=KEY) as again:
            return again.verify()


def few(examples: int = 40) -> Any:
    return settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])


values = st.none() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=8) | st.binary(max_size=8)


@few(80)
@given(st.integers(1, ROWS + 1), st.sampled_from(COLUMNS), values)
def test_any_changed_column_is_found_at_its_row(place: int, column: str, value: object) -> None:
    before: list[Any] = []

    def attack(folder: Path) -> None:
        with sqlite3.connect(folder / "ledger.db") as connection:
            asked = f"SELECT {column} FROM ledger_rows WHERE seq = ?"
            before.extend(connection.execute(asked, (place,)).fetchone())
            try:
                attacked(folder, (f"UPDATE ledger_rows SET {column} = ? WHERE seq = ?", (value, place)))
            except sqlite3.IntegrityError:  # the column cannot be empty: nothing changed
                before.append("refused")
            before.extend(connection.execute(asked, (place,)).fetchone())
        connection.close()

    found = after(attack)
    if before[0] == before[-1]:
        assert found.intact
    else:
        assert place in {fault.seq for fault in found.faults}
        assert {fault.seq for fault in found.faults} <= {place, ERASED, ROWS + 1}


@few()
@given(st.integers(1, ROWS + 1), st.sampled_from(CONTENTS), st.text(max_size=8) | st.binary(max_size=4) | st.none())
def test_any_changed_text_is_found_at_its_row(place: int, column: str, value: object) -> None:
    if place == ERASED or (value is None and column in {"salt", "words"}):
        return
    statement = f"UPDATE ledger_contents SET {column} = ? WHERE id = (SELECT id FROM ledger_rows WHERE seq = ?)"
    found = after(lambda folder: attacked(folder, (statement, (value, place))))
    assert place in {fault.seq for fault in found.faults}
    assert {fault.seq for fault in found.faults} <= {place, ERASED}  # without the erasure's record, ERASED lacks one


@few()
@given(st.sets(st.integers(1, ROWS + 1), min_size=1, max_size=ROWS + 1))
def test_removed_rows_are_found_also_at_the_end(places: set[int]) -> None:
    marks = ",".join(map(str, places))
    found = after(
        lambda folder: attacked(
            folder,
            (f"DELETE FROM ledger_contents WHERE id IN (SELECT id FROM ledger_rows WHERE seq IN ({marks}))", ()),
            (f"DELETE FROM ledger_rows WHERE seq IN ({marks})", ()),
        )
    )
    firsts = {place for place in places if place - 1 not in places}
    assert {fault.seq for fault in found.faults if fault.kind == "missing"} == firsts


@few()
@given(st.permutations(range(1, ROWS + 2)).filter(lambda order: list(order) != sorted(order)), st.booleans())
def test_exchanged_rows_are_found(order: list[int], also_ids: bool) -> None:
    moved = {old for new, old in enumerate(order, 1) if new != old}
    statements = [("UPDATE ledger_rows SET seq = -seq", ())]
    statements += [("UPDATE ledger_rows SET seq = ? WHERE seq = ?", (new, -old)) for new, old in enumerate(order, 1)]
    if also_ids:
        statements += [("UPDATE ledger_rows SET id = -id", ()), ("UPDATE ledger_contents SET id = -id", ())]
        statements += [
            ("UPDATE ledger_contents SET id = (SELECT seq FROM ledger_rows r WHERE r.id = ledger_contents.id)", ())
        ]
        statements += [("UPDATE ledger_rows SET id = seq", ())]
    found = after(lambda folder: attacked(folder, *statements))  # type: ignore[arg-type]
    assert {fault.seq for fault in found.faults if fault.kind == "changed"} == moved


@few(20)
@given(st.integers(1, ROWS + 2))
def test_a_copied_row_that_is_put_in_is_found(place: int) -> None:
    columns = ", ".join(name for name in (*COVERED, "mac") if name not in {"id", "seq"})
    shift = [
        ("UPDATE ledger_rows SET seq = -seq - 1 WHERE seq >= ?", (place,)),
        ("UPDATE ledger_rows SET seq = -seq WHERE seq < 0", ()),
    ]
    copy = f"INSERT INTO ledger_rows (id, seq, {columns}) SELECT 99, ?, {columns} FROM ledger_rows WHERE id = 3"
    found = after(lambda folder: attacked(folder, *shift, (copy, (place,))))
    assert place in {fault.seq for fault in found.faults}


def test_a_row_made_without_the_key_is_found_and_so_is_one_with_another_key(tmp_path: Path) -> None:
    for forged in (Keys.read(None), Keys.read("the key of an attacker")):
        folder = tmp_path / (forged.signing or "none")
        folder.mkdir()
        filled(folder).close()
        with sqlite3.connect(folder / "ledger.db") as connection:
            connection.row_factory = sqlite3.Row
            row = dict(connection.execute("SELECT * FROM ledger_rows WHERE seq = 4").fetchone())
        connection.close()
        row |= {"label": "Not Attributable", "key_id": forged.signing, "passed": bool(row["passed"])}
        change = "UPDATE ledger_rows SET label = ?, key_id = ?, mac = ? WHERE seq = 4"
        attacked(folder, (change, (row["label"], row["key_id"], forged.code(row))))
        with open_ledger(folder / "ledger.db", key=KEY) as ledger:
            assert (ledger.verify().faults[0].seq, ledger.verify().faults[0].kind) == (4, "key")


def test_an_attacker_without_a_key_in_the_way_rewrites_everything_but_a_kept_head(tmp_path: Path) -> None:
    """What docs/ledger.md says an unkeyed chain does not prove; a head that was kept elsewhere still shows it."""
    ledger = open_ledger(tmp_path / "ledger.db", key="")
    ledger.append([small(number) for number in range(1, 4)])
    heads = ledger.heads()
    ledger.close()
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.row_factory = sqlite3.Row
        rows = [dict(row) for row in connection.execute("SELECT * FROM ledger_rows ORDER BY seq")]
    connection.close()
    prev = GENESIS
    statements: list[tuple[str, tuple[Any, ...]]] = []
    for row in rows:
        row |= {"label": "Not Attributable", "prev": prev, "passed": bool(row["passed"])}
        prev = Keys.read(None).code(row) or ""
        statements.append(
            (
                "UPDATE ledger_rows SET label = ?, prev = ?, mac = ? WHERE seq = ?",
                (row["label"], row["prev"], prev, row["seq"]),
            )
        )
    attacked(tmp_path, *statements, ("UPDATE ledger_streams SET mac = ?", (prev,)))
    with open_ledger(tmp_path / "ledger.db", key="") as again:
        assert again.verify().intact
        assert not again.verify().keyed
        assert [(fault.kind, fault.seq) for fault in again.verify(heads=heads).faults] == [("anchor", 3)]


def test_a_cut_end_is_found_by_a_kept_head_and_by_nothing_else(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    ledger.append([small(8), small(9)])
    heads = ledger.heads()
    ledger.close()
    attacked(
        tmp_path,
        ("DELETE FROM ledger_contents WHERE id > 7", ()),
        ("DELETE FROM ledger_rows WHERE seq > 7", ()),
        ("UPDATE ledger_streams SET seq = 7, mac = (SELECT mac FROM ledger_rows WHERE seq = 7)", ()),
    )
    with open_ledger(tmp_path / "ledger.db", key=KEY) as again:
        assert again.verify().intact
        [fault] = again.verify(heads=heads).faults
        assert (fault.kind, fault.seq) == ("anchor", 8)
        assert not again.verify(heads=[replace(heads[0], stream="gone")]).intact


def test_texts_that_are_gone_without_an_erasure_or_back_after_one_are_found() -> None:
    gone = after(lambda folder: attacked(folder, ("DELETE FROM ledger_contents WHERE id = 5", ())))
    assert [(fault.kind, fault.seq) for fault in gone.faults] == [("content", 5)]
    back = ("INSERT INTO ledger_contents (id, salt, words) VALUES (?, '', '')", (ERASED,))
    assert (ERASED, "content") in {(f.seq, f.kind) for f in after(lambda folder: attacked(folder, back)).faults}
    lost = ("INSERT INTO ledger_contents (id, salt, words) VALUES (99, '', '')", ())
    assert [(fault.kind, fault.id) for fault in after(lambda folder: attacked(folder, lost)).faults] == [
        ("inserted", 99)
    ]


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger_rows SET label = 'x' WHERE seq = 2", "DELETE FROM ledger_rows WHERE seq = 2"]
)
def test_postgres_shows_changed_and_removed_rows_too(target: str, statement: str) -> None:
    if not target.startswith("postgresql"):
        return
    with open_ledger(target, key=KEY) as ledger:
        ledger.append([small(number) for number in range(3)])
        with ledger.store.write() as connection:
            connection.execute(text("ALTER TABLE ledger_rows DISABLE TRIGGER USER"))
            connection.execute(text("ALTER TABLE ledger_contents DROP CONSTRAINT ledger_contents_id_fkey"))
            connection.execute(text(statement))
        assert ledger.verify().faults[0].seq == 2


def test_keys_are_replaced_and_a_chain_keeps_to_having_one(tmp_path: Path) -> None:
    old, new, path = "the old key of this test", "the new key of this test", tmp_path / "a.db"
    with open_ledger(path, key=old) as ledger:
        ledger.append([small(1)])
    with open_ledger(path, key=f"{new},{old}") as ledger:
        ledger.append([small(2)])
        assert ledger.verify().intact
    with open_ledger(path, key=old) as ledger, pytest.raises(ConfigError, match="another key"):
        ledger.append([small(3)])
    with open_ledger(path, key="") as ledger:
        with pytest.raises(ConfigError, match="has a key"):
            ledger.append([small(3)])
        with pytest.raises(ConfigError, match="cannot be checked without it"):
            ledger.verify()
        ledger.append([small(1, "open")])
    with open_ledger(path, key=f"{new},{old}") as ledger:
        with pytest.raises(ConfigError, match="has no key"):
            ledger.append([small(1, "open")])
        assert [fault.kind for fault in ledger.verify().faults] == ["key"]


@pytest.mark.parametrize(
    ("statement", "values", "kind"),
    [
        ("UPDATE ledger_streams SET key_id = ''", (), "head"),
        ("UPDATE ledger_streams SET seq = 'x'", (), "head"),
        ("UPDATE ledger_streams SET mac = ?", (b"\xff",), "head"),
        ("UPDATE ledger_streams SET stream = ?", (b"\xff",), "head"),
        ("UPDATE ledger_rows SET stream = ? WHERE seq = 3", (b"\xff",), "missing"),
        ("UPDATE ledger_rows SET passed = 2 WHERE seq = 3", (), "changed"),
        ("UPDATE ledger_rows SET passed = 'x' WHERE seq = 3", (), "changed"),
        ("UPDATE ledger_rows SET seq = 'x' WHERE seq = 3", (), "changed"),
        ("UPDATE ledger_contents SET record = ? WHERE id = 3", ("[" * 5_000,), "content"),
        ("UPDATE ledger_contents SET inputs = '[1]' WHERE id = 3", (), "content"),
    ],
)
def test_a_value_of_another_type_or_one_that_reads_the_same_is_a_fault(
    statement: str, values: tuple[Any, ...], kind: str
) -> None:
    found = after(lambda folder: attacked(folder, (statement, values)))
    assert all(isinstance(fault.stream, str) for fault in found.faults)
    assert kind in {fault.kind for fault in found.faults}


def test_a_kept_head_that_was_changed_or_has_no_code_is_a_fault(tmp_path: Path) -> None:
    with filled(tmp_path) as ledger:
        [head] = ledger.heads()
        assert ledger.verify(heads=[head]).intact
        # A truncated chain with a head that was cut to fit it: only the code of the head shows it.
        for changed in (replace(head, at="2026-01-01"), replace(head, code="")):
            [fault] = ledger.verify(heads=[changed]).faults
            assert (fault.kind, fault.seq) == ("anchor", head.seq)


def test_a_lone_surrogate_in_a_row_is_shown_as_it_is_written(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db", key=KEY) as ledger:
        [id] = ledger.append([replace(small(1), inputs={"claim": "a \ud800 \\ud800 \U0001f600"})])
        [row] = ledger.search()
        assert row.id == id
        assert row.inputs == {"claim": "a \\ud800 \\ud800 \U0001f600"}
        assert ledger.verify().intact
        with pytest.raises(InputError, match="at most 100 words"):
            ledger.search(text="a " * 1_200)
        assert ledger.count(Filters(about=10**20)) == 0


@pytest.mark.parametrize("column", ["stream", "at", "kind", "caller", "label", "error_type", "model"])
def test_a_row_with_a_column_changed_to_bytes_is_listed_with_the_others(column: str, tmp_path: Path) -> None:
    filled(tmp_path).close()
    attacked(tmp_path, (f"UPDATE ledger_rows SET {column} = ? WHERE seq = 3", (b"\xff\x00",)))
    with open_ledger(tmp_path / "ledger.db", key=KEY) as ledger:
        rows = {row.id: row for row in ledger.search()}
    assert len(rows) == ROWS + 1
    assert getattr(rows[3], column) == "(damaged: ff00)"
    for command in (["list"], ["list", "--json"], ["show", "3"]):
        done = CliRunner().invoke(app_for("ledger"), ["ledger", *command, "--ledger", str(tmp_path / "ledger.db")])
        assert done.exit_code == 0, done.output
        assert command == ["list"] or "(damaged: ff00)" in done.output  # the table has not every column


@pytest.mark.parametrize(
    "statement",
    [
        "ledger_rows SET details = x'ff'",
        "ledger_rows SET details = '[1]'",
        "ledger_rows SET details = '{\"provenance\": 1}'",
        "ledger_contents SET record = x'ff'",
        "ledger_contents SET record = '[1]'",
        "ledger_contents SET inputs = '7'",
        f"ledger_contents SET inputs = '{{\"claim\": {'[' * 200}{']' * 200}}}'",
    ],
)
def test_a_damaged_row_is_listed_with_the_others_but_not_exported(statement: str, tmp_path: Path) -> None:
    filled(tmp_path).close()
    attacked(tmp_path, (f"UPDATE {statement} WHERE id = 3", ()))
    ledger = str(tmp_path / "ledger.db")
    listed, whole, shown, exported = (
        CliRunner().invoke(app_for("ledger"), ["ledger", *command, "--ledger", ledger])
        for command in (["list"], ["list", "--json"], ["show", "3"], ["export", str(tmp_path / "rows.jsonl")])
    )
    assert [done.exit_code for done in (listed, whole, shown, exported)] == [0, 0, 0, 2], exported.output
    assert "Claim 4." in listed.output
    assert ("(damaged)" in listed.output) == ("inputs" in statement)
    assert len(whole.output.splitlines()) == ROWS + 1
    assert whole.output.count(DAMAGED["damaged"]) == shown.output.count(DAMAGED["damaged"]) > 0
    assert "row 3 of the ledger was damaged: run vouch ledger verify" in exported.output


def test_a_file_that_is_no_database_is_not_a_ledger(tmp_path: Path) -> None:
    leaflet = tmp_path / "leaflet.txt"
    leaflet.write_text("The bridge opened in 1973.", encoding="utf-8")
    done = CliRunner().invoke(app_for("ledger"), ["ledger", "list", "--ledger", str(leaflet)])
    assert (done.exit_code, "leaflet.txt is not a ledger" in " ".join(done.output.split())) == (2, True), done.output
    assert leaflet.read_text(encoding="utf-8") == "The bridge opened in 1973."
