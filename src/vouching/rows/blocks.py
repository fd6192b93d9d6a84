"""Blocks: the pieces of a folder of rows that are worked on as a whole, by any process on any machine.

The blocks of a .jsonl file are ranges of bytes, and a line belongs to the range in which it begins; those of a .parquet
file are its row groups, which belong to the range in which they begin. So a list of files and sizes is all that is
needed to plan, and nothing is read twice. Not supported: splitting .jsonl.gz, .csv and .json, each of which is one
block.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from vouching.errors import InputError
from vouching.rows.places import FoundFile, open_file
from vouching.rows.read import RowReader, ending_of, json_row, reader_of
from vouching.rows.row import Row, has_id
from vouching.rows.tables import parquet_count, parquet_rows

MIN_BYTES, MAX_BYTES = 1 << 16, 1 << 23
"""Smallest and largest planned size of a block."""
WANTED = 256
"""Blocks of a small input, so that each of many workers gets some."""
_SPLIT = (".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of one file."""

    number: int
    """From 0, over all files."""
    path: str
    name: str
    """The file below the folder that was given."""
    start: int = 0
    """First byte."""
    end: int | None = None
    """Byte after the last; None for the whole file."""
    stamp: str = ""
    """Of the file, see :class:`~vouching.rows.places.FoundFile`."""
    written: bool = False
    """Whether the file was written after an earlier run had finished the block."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of the blocks that one machine works on.

    >>> [block.number for block in Shard(2, 3).of(Block(number, "", "") for number in range(7))]
    [1, 4]
    """

    number: int = 1
    """From 1 to ``count``."""
    count: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """The shard written as I/N. Raises InputError.

        >>> Shard.read("2/3")
        Shard(number=2, count=3)
        """
        number, _, count = text.partition("/")
        if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            raise InputError(f"--shard {text}: expected I/N with I from 1 to N, such as 3/16")
        return cls(int(number), int(count))

    def of(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Its blocks: every ``count``-th."""
        return (block for block in blocks if block.number % self.count == self.number - 1)


def block_bytes(files: Sequence[FoundFile]) -> int:
    """The planned size of a block, which depends on the files alone.

    >>> block_bytes([FoundFile("a.jsonl", "a.jsonl", 1 << 26)])
    262144
    """
    return min(MAX_BYTES, max(MIN_BYTES, sum(file.size for file in files) // WANTED))


def plan_blocks(files: Sequence[FoundFile], size: int) -> list[Block]:
    """The blocks of files, in order. Raises InputError for a file that is none of rows.

    >>> [(block.name, block.start, block.end) for block in plan_blocks([FoundFile("/r/a.jsonl", "a.jsonl", 25)], 10)]
    [('a.jsonl', 0, 10), ('a.jsonl', 10, 20), ('a.jsonl', 20, 25)]
    """
    blocks: list[Block] = []
    for file in files:
        ranges: list[tuple[int, int | None]] = [(0, None)]
        if ending_of(file.path) in _SPLIT:
            ranges = [(start, min(start + size, file.size)) for start in range(0, file.size, size)]
        blocks += [Block(len(blocks) + at, file.path, file.name, *one, file.stamp) for at, one in enumerate(ranges)]
    return blocks


def read_block(block: Block, columns: Collection[str] = ()) -> RowReader:
    """The rows of a block; a row without an id is called after its file and its place.

    Args:
        block: what to read.
        columns: a table must have at least one of these columns.

    Raises:
        InputError: the file cannot be read.
    """
    ending = ending_of(block.path)
    file = open_file(block.path)
    try:
        if ending == ".jsonl" and block.end is not None:
            reader = RowReader(block.name, _lines(file, block.start, block.end))
        elif ending == ".parquet" and block.end is not None:
            rows, share = parquet_rows(file, block.name, columns, (block.start, block.end))
            reader = RowReader(block.name, rows, share)
        else:
            reader = reader_of(file, ending, block.name, columns)
    except BaseException:
        file.close()
        raise
    return RowReader(block.name, _named(reader, block.name), reader.share, file.close)


def count_rows(file: FoundFile) -> int:
    """The number of rows of a whole file, counted without its blocks. Raises InputError if it cannot be read."""
    ending = ending_of(file.path)
    try:
        with open_file(file.path) as opened:
            if ending == ".jsonl":
                first = opened.readline().removeprefix(codecs.BOM_UTF8)
                return bool(first.strip()) + sum(not line.isspace() for line in opened)
            if ending == ".parquet":
                return parquet_count(opened, file.name)
            with reader_of(opened, ending, file.name, ()) as rows:
                return sum(1 for _ in rows)
    except OSError as error:
        raise InputError(f"{file.name} cannot be read to the end: {error.strerror or error}") from None


def _lines(file: IO[bytes], start: int, end: int) -> Iterator[Row]:
    """The rows of the lines that begin from ``start`` to before ``end``."""
    if start:
        file.seek(start - 1)
        file.readline()  # the rest of a line that begins before
    number, place = 0, file.tell()
    while place < end and (line := file.readline()):
        if not start and not place:
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.strip():
            number += 1
            yield json_row(number, f"byte {place}", line)
        place = file.tell()


def _named(rows: Iterable[Row], file: str) -> Iterator[Row]:
    for row in rows:
        if row.name != f"row-{row.number}" or has_id(row.fields or {}):
            yield row
            continue
        name = f"{file}:{row.place.replace(' ', '-')}"
        fields = row.fields
        if fields is not None and fields.get("id") is None:
            fields = {**fields, "id": name}
        yield replace(row, fields=fields, unnamed=name)
