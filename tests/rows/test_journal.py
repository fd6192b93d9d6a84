"""The output of a batch: appended to, cut off at a torn line, and never mixed with another run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows.works import rows_of
from vouching.errors import InputError
from vouching.rows.journal import Journal, open_journal
from vouching.rows.outputs import journal_beside
from vouching.rows.read import Row

SETTINGS = {"model": "embedded", "threshold": 0.5}
TEXTS = ['{"id": "id-1"}', '{"id": "id-2", "text": "café 🌉"}', '{"id": "id-3"}']
WHOLE = "".join(f"{text}\n" for text in TEXTS).encode()


def filled(path: Path, texts: list[str] = TEXTS) -> Path:
    with open_journal(str(path), SETTINGS) as journal:
        for row, text in zip(rows_of(len(texts)), texts, strict=True):
            journal.append(row, text)
    return path


def train_from(path: Path, changed: Sequence[Row] = ()) -> bytes:
    """Resume an output, add the lines that are missing, and return all of it."""
    with open_journal(str(path), SETTINGS, resume=True) as journal:
        rows = iter(changed) if changed else rows_of(len(TEXTS))
        for _ in journal.finished():
            journal.confirm(next(rows))
        for row in rows:
            journal.append(row, TEXTS[row.number - 1])
    return path.read_bytes()


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def test_a_line_is_in_the_file_as_soon_as_it_is_appended(output: Path) -> None:
    with open_journal(str(output), SETTINGS) as journal:
        for row, text in zip(rows_of(2), TEXTS, strict=False):
            journal.append(row, text)
            assert output.read_text(encoding="utf-8").endswith(f"{text}\n")


@pytest.mark.parametrize("length", range(len(WHOLE) + 1))
def test_cut_at_any_byte_the_output_is_repaired_and_finished(output: Path, length: int) -> None:
    for noted in range(WHOLE[:length].count(b"\n") + 1):
        output.unlink(missing_ok=True)
        filled(output, TEXTS[:noted])
        output.write_bytes(WHOLE[:length])
        assert train_from(output) == WHOLE


@given(st.integers(0, 3_000_000), st.lists(st.integers(1, 900_000), min_size=1, max_size=3))
def test_long_lines_cut_anywhere_leave_the_finished_ones(
    tmp_path_factory: pytest.TempPathFactory, cut: int, lengths: list[int]
) -> None:
    output = tmp_path_factory.mktemp("cut") / "out.jsonl"
    raw = b"".join(b"x" * length + b"\n" for length in lengths)[:cut]
    filled(output, []).write_bytes(raw)
    whole = raw[: raw.rfind(b"\n") + 1]
    with open_journal(str(output), SETTINGS, resume=True) as journal:
        assert b"".join(journal.finished()) == whole
    assert output.read_bytes() == whole


def test_finished_lines_are_not_overwritten_without_being_asked_for(output: Path) -> None:
    filled(output)
    with pytest.raises(InputError, match="is not empty: continue it with --resume, or choose another output"):
        open_journal(str(output), SETTINGS)
    assert output.read_bytes() == WHOLE


def test_an_output_of_other_settings_is_not_gone_on_with(output: Path) -> None:
    filled(output, [*TEXTS[:2]])
    with output.open("ab") as file:
        file.write(b"torn")
    raw = output.read_bytes()
    for settings in ({**SETTINGS, "threshold": 0.7}, {"model": "embedded"}, {**SETTINGS, "repair": "mark"}):
        with pytest.raises(
            InputError,
            match=r"was made with (threshold 0\.5, but threshold is now|repair none, but repair is now mark)",
        ):
            open_journal(str(output), settings, resume=True)
    assert output.read_bytes() == raw


def test_an_output_of_other_rows_is_not_gone_on_with(output: Path) -> None:
    with filled(output).open("ab") as file:
        file.write(b"torn")
    changed = [*rows_of(2), Row(3, "line 3", {"id": "id-3", "source": "Another one."})]
    with pytest.raises(InputError, match="was made from different rows: the first 3 rows of this input differ"):
        train_from(output, changed)
    assert output.read_bytes() == WHOLE + b"torn"


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_an_output_with_fewer_lines_than_were_written_is_not_gone_on_with(output: Path, lines: int) -> None:
    raw = b"".join(filled(output).read_bytes().splitlines(keepends=True)[:lines]) + b"torn"
    output.write_bytes(raw)
    with pytest.raises(InputError, match=f"has only {lines} of the 3 lines that were written to it"):
        train_from(output)
    assert output.read_bytes() == raw


def test_an_output_that_nothing_is_known_about_is_not_gone_on_with(output: Path) -> None:
    note = Path(f"{filled(output)}.run.json")
    for damage in (b"", b"[]", b"{}", b'{"settings": 3}', b"\xff"):
        note.write_bytes(damage)
        with pytest.raises(InputError, match=r"its settings are unknown \(.*\.run\.json is damaged\)"):
            open_journal(str(output), SETTINGS, resume=True)
    note.unlink()
    with pytest.raises(InputError, match=r"\.run\.json is missing"):
        open_journal(str(output), SETTINGS, resume=True)


def test_an_empty_output_may_be_begun_with_any_settings(output: Path) -> None:
    output.touch()
    filled(output, [])
    with open_journal(str(output), {"threshold": 0.9}, resume=True) as journal:
        journal.append(Row(1, "line 1", {}), "{}")
    assert json.loads(Path(f"{output}.run.json").read_bytes())["settings"] == {"threshold": 0.9}


def test_an_output_that_another_process_writes_is_refused(output: Path) -> None:
    pytest.importorskip("fcntl", reason="this system has no such locks")
    with open_journal(str(output), SETTINGS):
        for resume in (True, False):
            with pytest.raises(InputError, match="is being written by another process"):
                open_journal(str(output), SETTINGS, resume)
    filled(output)


def test_a_place_that_cannot_hold_an_output_is_refused(tmp_path: Path) -> None:
    for place, reason in (
        (tmp_path / "none" / "out.jsonl", "does not exist; create it first"),
        (tmp_path / "out.json", r"the output file must end in \.jsonl"),
        (tmp_path / "out.jsonl.gz", r"the output file must end in \.jsonl"),
        (tmp_path / ("x" * 300 + ".jsonl"), "cannot be written: File name too long"),
    ):
        with pytest.raises(InputError, match=reason):
            open_journal(str(place), SETTINGS)
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    with pytest.raises(InputError, match="is a folder"):
        open_journal(str(folder), SETTINGS)


def test_a_stream_is_written_plainly(tmp_path: Path) -> None:
    path = tmp_path / "stream"
    with path.open("wb") as file, Journal(file) as journal:
        assert [*journal.finished()] == []
        for row, text in zip(rows_of(3), TEXTS, strict=True):
            journal.append(row, text)
    assert path.read_bytes() == WHOLE
    assert [*tmp_path.iterdir()] == [path]


def test_an_output_that_is_a_loop_of_links_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    for one, other in (("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")):
        (tmp_path / one).symlink_to(tmp_path / other)
    output = tmp_path / "a.jsonl"
    assert journal_beside("rows.jsonl", output).name == "a.journal.jsonl"
    with pytest.raises(InputError, match=r"a\.jsonl cannot be written: Too many levels of symbolic links; choose an"):
        open_journal(str(output), SETTINGS)
