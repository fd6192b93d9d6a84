"""What is appended is found again, erased by policy and exported; on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.ledger.conftest import KEY
from tests.ledger.entries import SOURCE, checked, small
from tests.ledger.server import PostgresServer
from vouching.errors import ConfigError, InputError
from vouching.ledger import Entry, Filters, Ledger, RetentionRule, open_ledger
from vouching.ledger.ledger import migrate_ledger
from vouching.ledger.store import LedgerError
from vouching.types import Verdict
from vouching.types.serial import from_json


def test_a_row_has_the_record_as_published_and_what_it_can_be_found_by(ledger: Ledger) -> None:
    [id] = ledger.append([checked("It opened in 1937.", timing={"seconds": 0.5})])
    row = ledger.get(id)
    verdict = from_json(Verdict, json.dumps(row.record))
    assert (row.label, row.error_type, row.passed) == ("Not Attributable", "temporal_shift", False)
    assert (row.score, row.confidence) == (verdict.score, verdict.confidence)
    assert (row.model, row.timing, row.inputs) == (
        "embedded:rules",
        {"seconds": 0.5},
        {"claim": "It opened in 1937.", "sources": [{"text": SOURCE}]},
    )
    assert row.usage == json.loads(json.dumps(row.record))["usage"]


def test_a_search_takes_filters_words_and_pages(ledger: Ledger) -> None:
    claims = ["It opened in 1937.", "It opened in 1973.", "100% of it_opened late."]
    first, second, third = ledger.append([checked(claim) for claim in claims])
    [other] = ledger.append([checked("It OPENED in 1973.", "other", "ada")])
    found = ledger.search
    assert [row.id for row in found(limit=2)] == [other, third]
    assert [row.id for row in found(before=third)] == [second, first]
    assert [row.id for row in found(Filters(label="Attributable"))] == [other, second]
    assert [row.id for row in found(Filters(caller="ada", stream="other", passed=True))] == [other]
    assert [row.id for row in found(text="OPENED IN")] == [other, second, first]
    assert [row.id for row in found(text="100%")] == [third]  # % and _ are no wildcards
    assert [row.id for row in found(text="it_opened")] == [third]
    assert found(text="bridge") == []  # sources are not searched
    at = ledger.get(other).at
    assert [row.id for row in found(Filters(since=at))] == [other]
    assert [row.id for row in found(Filters(until=at, max_confidence=1.0))] == [third, second, first]
    assert [row.id for row in found(text="\0", before=2**70, limit=2**70)] == []
    with pytest.raises(InputError, match="has no row"):
        ledger.get(2**70)
    with pytest.raises(InputError, match="expected a time such as"):
        found(Filters(since="yesterday"))


def test_a_batch_is_kept_whole_or_not_at_all(ledger: Ledger) -> None:
    bad = Entry("s", "check", {"claim": object()}, {})
    with pytest.raises(InputError, match="the inputs cannot be kept"):
        ledger.append([small(1), bad])
    assert ledger.count() == 0
    assert ledger.append([]) == []


@pytest.mark.parametrize(
    "entry",
    [small(1, ""), small(1, "a\0b"), small(1, "x" * 201), Entry("s", "sing", {}, {}), Entry("s", "erase", {}, {})],  # type: ignore[arg-type]
)
def test_an_entry_that_cannot_be_kept_is_refused(tmp_path: Path, entry: Entry) -> None:
    with open_ledger(tmp_path / "a.db", key=KEY) as ledger, pytest.raises(InputError):
        ledger.append([entry])


def test_a_search_needs_every_word_in_any_order_and_a_quoted_phrase_as_a_whole(ledger: Ledger) -> None:
    claims = ["The bridge opened in 1973.", "In 1973 the old bridge was closed."]
    first, second = ledger.append([Entry("s", "check", {"claim": claim}, {}) for claim in claims])
    texts = ("1973 BRIDGE", "bridge opened", '"the bridge"', "1973 harbour", "%")
    found = [[row.id for row in ledger.search(text=text)] for text in texts]
    assert found == [[second, first], [first], [first], [], []]


def test_any_text_comes_back_as_it_was(ledger: Ledger) -> None:
    claim = 'NUL \0, surrogate \ud800, "quotes", \n, café, \U0001f600'
    inputs = {"claim": claim, "number": 1e-300, "big": 2**70}
    [id] = ledger.append([Entry("s", "check", inputs, {"score": float("nan"), "label": "a\0"})])
    row = ledger.get(id)
    # A lone surrogate has no place in UTF-8: it is shown as it is written in JSON.
    assert row.inputs == {**inputs, "claim": claim.replace("\ud800", "\\ud800")}
    assert row.record == {"score": None, "label": "a\0"}
    assert ledger.verify().intact


def test_an_erasure_removes_texts_and_reviews_of_them_and_the_chain_stays_valid(ledger: Ledger, target: str) -> None:
    first, second = ledger.append([checked("Ada Lovelace lives in Leeds."), checked("It opened in 1973.")])
    note = {"note": "Ada Lovelace moved."}
    [review] = ledger.append([Entry("reviews", "review", {}, note, "bob", about=first)])
    before = ledger.heads()
    assert ledger.erase(RetentionRule(ids=(first,)), "asked by Ada", "dpo", dry_run=True) == 2
    assert ledger.erase(RetentionRule(ids=(first,)), "asked by Ada", "dpo") == 2
    row = ledger.get(first)
    assert (row.inputs, row.record, row.erased, row.label) == (None, None, True, "Not Attributable")
    assert ledger.get(review).record is None
    assert ledger.get(second).record is not None
    assert ledger.search(text="leeds") == []
    found = ledger.verify(heads=before)
    assert (found.intact, found.erased, found.anchors) == (True, 2, 2)
    [erasure] = ledger.search(Filters(kind="erase", stream="s"))
    assert (erasure.inputs, erasure.caller) == ({"reason": "asked by Ada"}, "dpo")
    assert erasure.record == {"kind": "erasure", "erased": [[1, 1]]}
    assert ledger.erase(RetentionRule(stream="s"), "all of it") == 1  # the erasures themselves stay
    assert ledger.verify().intact
    ledger.close()
    if not target.startswith("postgresql"):
        files = [path.read_bytes() for path in Path(target).parent.glob("ledger.db*")]
        assert not any(b"Leeds" in raw or b"moved" in raw for raw in files)


def test_retention_removes_what_is_older(ledger: Ledger) -> None:
    ledger.append([small(1), small(2)])
    assert ledger.erase(RetentionRule(older_than_days=1), "retention") == 0
    assert ledger.erase(RetentionRule(older_than_days=0, kind="check"), "retention") == 2
    with pytest.raises(InputError, match="needs a reason"):
        ledger.erase(RetentionRule(stream="s"), " ")


@pytest.mark.parametrize("keep", ["record", "digests"])
def test_a_ledger_keeps_only_what_its_policy_allows(target: str, keep: str) -> None:
    with open_ledger(target, key=KEY, keep=keep) as ledger:  # type: ignore[arg-type]
        [id] = ledger.append([checked("It opened in 1937.")])
        row = ledger.get(id)
        assert row.inputs is None
        assert (row.record is None) == (keep == "digests")
        assert (row.label, row.erased, ledger.verify().intact) == ("Not Attributable", False, True)
        assert bool(ledger.search(text="1973")) == (keep == "record")  # the fix is a part of the record
    if not target.startswith("postgresql") and keep == "digests":
        assert not any(b"1937" in path.read_bytes() for path in Path(target).parent.glob("ledger.db*"))


def test_an_export_has_every_row_in_order(ledger: Ledger, tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    ids = ledger.append([small(number) for number in range(1203)])
    assert ledger.export(tmp_path / "rows.jsonl", Filters(stream="s")) == 1203
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ids
    assert lines[7]["inputs"] == {"claim": "Claim 7."}
    assert ledger.export(tmp_path / "rows.parquet") == 1203
    table = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [row["mac"] for row in table] == [line["mac"] for line in lines]
    assert json.loads(table[7]["inputs"]) == {"claim": "Claim 7."}
    with pytest.raises(InputError, match="exists"):
        ledger.export(tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match=r"\.jsonl or \.parquet"):
        ledger.export(tmp_path / "rows.csv")


def test_the_tables_go_down_and_up_again_and_another_revision_is_refused(target: str) -> None:
    from sqlalchemy import text

    ledger = open_ledger(target, key=KEY)
    ledger.append([small(1)])
    assert ledger.revision() == "0004"
    assert migrate_ledger(target, "base") is None
    with pytest.raises(ConfigError, match="has no tables"):
        open_ledger(target, key=KEY, create=False)
    assert migrate_ledger(target) == "0004"
    assert ledger.count() == 0
    assert ledger.append([small(1)])
    with pytest.raises(ConfigError, match="unknown revision '9999'"):
        migrate_ledger(target, "9999")
    with ledger.store.write() as connection:
        connection.execute(text("UPDATE ledger_version SET version_num = '9999'"))
    ledger.close()
    for use in (migrate_ledger, open_ledger):
        with pytest.raises(ConfigError, match="unknown revision 9999"):
            use(target)


def test_the_tables_of_the_migrations_are_those_of_the_queries(ledger: Ledger) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from vouching.ledger.migrate import VERSION_TABLE
    from vouching.ledger.tables import metadata

    with ledger.store.read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


@pytest.mark.parametrize("statement", ["UPDATE ledger_rows SET label = 'x'", "DELETE FROM ledger_rows"])
def test_the_database_itself_refuses_to_change_rows(ledger: Ledger, statement: str) -> None:
    from sqlalchemy import text

    ledger.append([small(1)])
    with pytest.raises(LedgerError, match="append-only"), ledger.store.write() as connection:
        connection.execute(text(statement))
    assert ledger.verify().intact


def test_only_the_owner_can_read_a_new_file(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "a.db", key=KEY) as ledger:
        ledger.append([small(1)])
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("mysql://host/db", "cannot be kept in mysql|cannot open"),
        ("nonsense://x", "cannot open"),
        ("sqlite://", "in memory"),
        ("/nowhere/at/all.db", "cannot be made"),
        (".", "is a folder"),
    ],
)
def test_a_target_that_cannot_be_used_is_named(target: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        open_ledger(target)


def test_a_short_key_and_an_unknown_policy_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="has 5 characters"):
        open_ledger(tmp_path / "a.db", key="short")
    monkeypatch.setenv("VOUCH_LEDGER_KEEP", "some")
    with pytest.raises(ConfigError, match="not 'some'"):
        open_ledger(tmp_path / "a.db")
    monkeypatch.delenv("VOUCH_LEDGER", raising=False)
    monkeypatch.delenv("VOUCH_LEDGER_KEEP")
    with pytest.raises(ConfigError, match="no ledger was given"):
        open_ledger()


def test_a_restarted_postgres_is_used_again_and_a_stopped_one_is_an_error_to_retry(postgres: PostgresServer) -> None:
    with open_ledger(postgres.database(), key=KEY) as ledger:
        ledger.append([small(1)])
        postgres.stop("immediate")
        with pytest.raises(LedgerError, match="not available") as caught:
            ledger.append([small(2)])
        assert caught.value.can_retry
        assert postgres.password not in str(caught.value)
        postgres.start()
        ledger.append([small(3)])
        assert (ledger.count(), ledger.verify().intact) == (2, True)
