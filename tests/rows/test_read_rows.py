"""Rows of JSONL, gzipped or not: what a row is, what a row with a problem is, and what is no input at all."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.rows.read import Row, open_rows

LINES = [
    {"id": "a", "claim": "It opened."},
    {"id": 2, "claim": "Caf\u00e9\u2028\U0001f309", "sources": ["x", {"text": "y"}]},
]


def read(path: Path) -> list[Row]:
    with open_rows(str(path)) as rows:
        return [*rows]


def problem(path: Path, line: bytes) -> str:
    """Why a line is no row; the row after it must be read all the same."""
    path.write_bytes(line + b'\n{"id": "next"}\n')
    broken, following = read(path)
    assert broken.fields is None
    assert (broken.number, broken.place, broken.name) == (1, "line 1", "row-1")
    assert following.name == "next"
    assert broken.problem is not None
    return broken.problem


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def test_each_line_is_a_row(file: Path) -> None:
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in LINES), encoding="utf-8")
    assert read(file) == [Row(1, "line 1", LINES[0]), Row(2, "line 2", LINES[1])]


def test_blank_lines_count_as_lines_and_not_as_rows(file: Path) -> None:
    file.write_bytes(b'\n{"id": "a"}\r\n  \r\n\n{"id": "b"}')
    assert [(row.number, row.place, row.name) for row in read(file)] == [(1, "line 2", "a"), (2, "line 5", "b")]


def test_a_byte_order_mark_is_taken_off(file: Path) -> None:
    file.write_text('{"id": "a"}', encoding="utf-8-sig")
    assert [row.name for row in read(file)] == ["a"]


def test_an_empty_file_has_no_rows(file: Path) -> None:
    file.touch()
    assert read(file) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "a", ', "invalid JSON: Expecting property name enclosed in double quotes at character 12"),
        (b"It opened in 1973.", "invalid JSON: Expecting value at character 1"),
        (b'["a"]', "got a list, expected a JSON object on each line"),
        (b'"a"', "got a string, expected"),
        (b"7", "got a number, expected"),
        (b"null", "got null, expected"),
        (b'{"id": "a", "id": "b"}', 'the key "id" occurs twice'),
        (b'{"sources": [{"text": "a", "text": "b"}]}', 'the key "text" occurs twice'),
        (b'{"id": "caf\xe9"}', "byte 12 is not valid UTF-8"),  # {"id": "caf has eleven bytes
        (b"[" * 100_000, "nested more than 50 levels deep"),
        (b'{"id": ' + b"[" * 50 + b"]" * 50 + b"}", "nested more than 50 levels deep"),
        (b'{"\\ud800": 1, "\\ud800": 2}', 'the key "<U+D800>" occurs twice'),
        (b'{"id": ' + b"9" * 5_000 + b"}", "a number has 5,000 digits: write it as a string, in quotes"),
        (b'{"id": "a\x01"}', "invalid JSON: Invalid control character"),
    ],
)
def test_a_line_that_is_no_object_is_a_row_with_a_problem(file: Path, line: bytes, reason: str) -> None:
    assert reason in problem(file, line)


def test_fifty_levels_and_any_number_of_members_are_not_too_deep(file: Path) -> None:
    value = {"deep": json.loads("[" * 49 + "]" * 49), "wide": [{"text": "[1] See there."}] * 200}
    file.write_text(json.dumps(value), encoding="utf-8")
    assert read(file) == [Row(1, "line 1", value)]


def test_an_id_that_no_file_can_hold_is_replaced_by_the_number() -> None:
    assert Row(4, "line 9", {"id": "\ud800"}).name == "row-4"


@given(st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw), max_size=6))
def test_any_bytes_give_a_row_for_each_line_that_is_not_blank(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    file = tmp_path_factory.mktemp("any") / "rows.jsonl"
    file.write_bytes(b"{}\n" + b"\n".join(lines))
    rows = read(file)
    assert len(rows) == 1 + sum(bool(line.strip()) for line in lines)
    assert all((row.fields is None) != (row.problem is None) for row in rows)


def test_gzip_gives_the_same_rows(file: Path) -> None:
    raw = "".join(json.dumps(line) + "\n" for line in LINES).encode()
    file.write_bytes(raw)
    packed = file.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(raw) + gzip.compress(b'{"id": "another member"}\n'))
    assert read(packed)[:2] == read(file)
    assert read(packed)[2].name == "another member"


@pytest.mark.parametrize("damage", ["cut", "altered"])
def test_a_damaged_gzip_file_gives_its_beginning_and_then_an_error(file: Path, damage: str) -> None:
    noise = random.Random(0)
    raw = b"".join(json.dumps({"id": number, "noise": noise.random()}).encode() + b"\n" for number in range(20_000))
    packed = bytearray(gzip.compress(raw))
    half = len(packed) // 2
    if damage == "cut":
        del packed[half:]
    else:
        packed[half : half + 50] = bytes(50)
    path = file.with_suffix(".jsonl.gz")
    path.write_bytes(packed)
    names: list[str] = []
    with open_rows(str(path)) as rows, pytest.raises(InputError, match=r"rows\.jsonl\.gz cannot be read to the end"):
        names.extend(row.name for row in rows)
    assert 1_000 < len(names) < 20_000
    assert names[:1_000] == [str(number) for number in range(1_000)]


def test_the_share_read_grows_from_0_to_1(file: Path) -> None:
    file.write_bytes(b'{"id": 1}\n' * 50_000)
    with open_rows(str(file)) as rows:
        shares = [rows.share() or 0.0 for _ in rows]
    assert 0 < shares[0] < 0.1
    assert shares == sorted(shares)
    assert shares[-1] == 1


# What is no input


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        open_rows(str(path))
    return str(refused.value)


def test_a_missing_file_a_folder_and_an_unknown_ending_are_refused(tmp_path: Path) -> None:
    assert "does not exist: pass the path of a data file" in refusal(tmp_path / "none.jsonl")
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    assert "is a folder" in refusal(folder)
    assert (
        "expected a file that ends in .jsonl, .jsonl.gz, .csv, .tsv, .parquet or .json, hf:OWNER/NAME:SPLIT, or -"
        in refusal(tmp_path / "rows.xlsx")
    )


def test_contents_that_do_not_go_with_the_ending_are_refused(file: Path) -> None:
    file.write_bytes(gzip.compress(b"{}"))
    assert "contains gzip data" in refusal(file)
    file.write_text('{"id": "a"}', encoding="utf-16")
    assert "is UTF-16" in refusal(file)
    plain = file.with_suffix(".jsonl.gz")
    plain.write_bytes(b'{"id": "a"}\n')
    assert "Not a gzipped file" in refusal(plain)
