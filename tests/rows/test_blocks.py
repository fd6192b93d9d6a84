"""Blocks: every row of a folder belongs to exactly one, wherever files are cut."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.rows.blocks import Shard, block_bytes, count_rows, plan_blocks, read_block
from vouching.rows.places import FoundFile, OutputFolder, found_files, is_folder

LINES = st.lists(
    st.sampled_from(['{"id": "a"}', '{"claim": "é\\n"}', "", "  ", "{broken", '{"x": "' + "y" * 50 + '"}'])
)


def rows_in(folder: Path, size: int) -> list[tuple[str, object]]:
    """File and content of every row, block by block."""
    blocks = plan_blocks(found_files(str(folder)), size)
    found: list[tuple[str, object]] = []
    for block in blocks:
        with read_block(block) as rows:
            found += [(row.name, row.fields) for row in rows]
    return found


@given(LINES, st.integers(1, 120), st.booleans(), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_line_is_in_one_block_wherever_the_file_is_cut(
    tmp_path: Path, lines: list[str], size: int, mark: bool, ended: bool
) -> None:
    text = "\n".join(lines) + ("\n" if ended else "")
    (tmp_path / "a.jsonl").write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    whole = rows_in(tmp_path, 1 << 20)
    assert rows_in(tmp_path, size) == whole
    assert len(whole) == sum(bool(line.strip()) for line in lines)


@pytest.mark.parametrize("size", [30, 300, 5_000, 1 << 20])
def test_each_row_group_is_in_one_block_and_rows_keep_their_number(tmp_path: Path, size: int) -> None:
    table = pyarrow.table({"claim": [f"c{number}" for number in range(100)]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    assert [(name, fields["claim"]) for name, fields in rows_in(tmp_path, size)] == [  # type: ignore[index]
        (f"a.parquet:row-{number + 1}", f"c{number}") for number in range(100)
    ]


def test_rows_without_an_id_are_called_after_file_and_place(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.csv").write_text("claim\nIt rained.\n")
    (tmp_path / "a.jsonl").write_text('{"claim": "x"}\n{"id": 7}\n{broken\n')
    names = [name for name, _ in rows_in(tmp_path, 10)]
    # '{"claim": "x"}\n' has 15 bytes and '{"id": 7}\n' 10, so the third line begins at byte 25.
    assert names == ["a.jsonl:byte-0", "7", "a.jsonl:byte-25", "sub/b.csv:line-2"]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "json", "jsonl.gz", "parquet"])
def test_rows_of_every_kind_of_file_are_counted(tmp_path: Path, ending: str) -> None:
    rows = [{"id": f"r{number}", "claim": "It opened.\nIt closed."} for number in range(7)]
    lines = "\n\n".join(json.dumps(row) for row in rows) + "\n \n"
    place = tmp_path / f"a.{ending}"
    content = {
        "jsonl": lambda: b"\xef\xbb\xbf" + lines.encode(),
        "jsonl.gz": lambda: gzip.compress(lines.encode()),
        "json": lambda: json.dumps({"rows": rows}).encode(),
        "csv": lambda: b"id,claim\n" + b"".join(b'%s,"It opened.\nIt closed."\n' % row["id"].encode() for row in rows),
        "parquet": lambda: parquet_bytes(rows),
    }[ending]()
    place.write_bytes(content)
    [file] = found_files(str(place))
    assert count_rows(file) == 7
    blocks = plan_blocks([file], 100)
    assert sum(sum(1 for _ in read_block(block)) for block in blocks) == 7


def parquet_bytes(rows: list[dict[str, str]]) -> bytes:
    """Rows as Parquet with several row groups."""
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), made := BytesIO(), row_group_size=3)
    return made.getvalue()


def test_an_id_that_reads_like_a_place_stays_an_id(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "row-1"}\n{"id": "row-2"}\n{"claim": "x"}\n')
    # Each of the first two lines has 16 bytes, so the third begins at byte 32.
    assert [name for name, _ in rows_in(tmp_path, 1_000)] == ["row-1", "row-2", "a.jsonl:byte-32"]


def test_shards_share_the_blocks_without_loss_or_overlap() -> None:
    blocks = plan_blocks([FoundFile("a.jsonl", "a.jsonl", 1000)], 37)
    shared = [block.number for number in range(1, 5) for block in Shard(number, 4).of(blocks)]
    assert sorted(shared) == list(range(28))  # 1000 / 37 = 27.03


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/", "-1/3"])
def test_a_shard_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="I from 1 to N"):
        Shard.read(text)


def test_blocks_of_large_inputs_are_limited_and_those_of_small_ones_not_tiny() -> None:
    sizes = [block_bytes([FoundFile("a", "a", size)]) for size in (10, 1 << 26, 1 << 40)]
    assert sizes == [1 << 16, 1 << 18, 1 << 23]


def test_patterns_choose_files_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.csv", "_SUCCESS", ".a.crc", "day=1/c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert [file.name for file in found_files(str(tmp_path))] == ["a.jsonl", "b.csv", "day=1/c.jsonl"]
    assert [file.name for file in found_files(f"{tmp_path}/*.jsonl")] == ["a.jsonl"]
    assert [file.name for file in found_files(f"{tmp_path}/*/*.jsonl")] == ["day=1/c.jsonl"]
    assert is_folder(f"{tmp_path}/*.jsonl")
    assert not is_folder(f"{tmp_path}/a.jsonl")
    with pytest.raises(InputError, match="no file was found"):
        found_files(f"{tmp_path}/*.parquet")


def test_a_file_that_is_not_one_of_rows_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"notes\.txt: expected a file that ends in"):
        plan_blocks(found_files(str(tmp_path)), 10)


def test_an_object_store_is_read_and_written_as_a_folder_is() -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe("/lake/rows/a.jsonl", b"".join(b'{"id": "%d"}\n' % number for number in range(50)))
    blocks = plan_blocks(found_files("memory://lake/rows"), 100)
    names = [row.name for block in blocks for row in read_block(block)]
    assert names == [str(number) for number in range(50)]
    folder = OutputFolder("memory://lake/out")
    assert folder.write("blocks/1.json", b"{}", new=True)
    assert not folder.write("blocks/1.json", b"[]", new=True)
    assert (folder.read("blocks/1.json"), folder.read("blocks/2.json")) == (b"{}", None)
    assert folder.names("blocks") == ["1.json"]


def test_of_two_writers_of_a_new_file_one_wins(tmp_path: Path) -> None:
    folder = OutputFolder(str(tmp_path / "out"))
    assert [folder.write("run.json", json.dumps(number).encode(), new=True) for number in range(2)] == [True, False]
    assert folder.read("run.json") == b"0"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run.json"]
