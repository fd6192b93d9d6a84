"""The documents of a local index: which it lists, which a name removes, and that a server is not its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.search.corpora import TOWNS, built
from vouching.errors import InputError
from vouching.search.index import index_documents, index_facts, open_index
from vouching.search.index_writer import change_index, create_index
from vouching.search.store import named_by
from vouching.types import Source


def test_documents_are_listed_in_the_order_in_which_they_were_added(tmp_path: Path) -> None:
    long = Source("Ada built the mill in Oslo. " * 60, "z.txt")
    built(tmp_path / "i", [long, *TOWNS])
    with change_index(tmp_path / "i") as writer:
        writer.add(Source("Another mill.", "a.txt"))
        writer.remove(["bergen.txt"])
    counts = index_documents(tmp_path / "i")
    assert [*counts] == ["z.txt", "mill.txt", "oslo.txt", "a.txt"]
    assert counts["z.txt"] > 1
    assert sum(counts.values()) == len(open_index(tmp_path / "i"))
    assert index_documents(tmp_path / "i", 2) == {name: counts[name] for name in ("z.txt", "mill.txt")}


SERVER = "http://localhost:9200/notes"


def add_to(path: str | Path) -> None:
    with change_index(path):
        pass


def create(path: str | Path) -> None:
    with create_index(path):
        pass


@pytest.mark.parametrize("opens", [open_index, index_facts, index_documents, add_to, create])
def test_a_server_is_not_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opens: Callable[[str | Path], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    local = f"opensearch:{SERVER}"
    for given in (local, Path(local)):
        with pytest.raises(InputError, match=f"got {local}; search .* with vouch check --index {local}"):
            opens(given)
    for given in (SERVER, Path(SERVER), f"opensearch={SERVER}", f"OpenSearch:{SERVER}"):
        with pytest.raises(
            InputError, match=f"expected the folder of a local index, got .*; did you mean '{local}'[?]"
        ):
            opens(given)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("pattern", "removed"),
    [
        ("docs", {"docs/mill.md", "docs/old/rows.jsonl#a/b", "docs/old/[1].md"}),
        ("docs/*.md", {"docs/mill.md"}),
        ("docs/old/*.jsonl", {"docs/old/rows.jsonl#a/b"}),
        ("*/old", {"docs/old/rows.jsonl#a/b", "docs/old/[1].md"}),
        ("docs/old/[1].md", {"docs/old/[1].md"}),
        ("doc", set[str]()),
        ("old", set[str]()),
        (".", set[str]()),
    ],
)
def test_a_folder_or_a_pattern_removes_the_documents_under_it(tmp_path: Path, pattern: str, removed: set[str]) -> None:
    names = ("docs/mill.md", "docs/old/rows.jsonl#a/b", "docs/old/[1].md", "docs.md")
    built(tmp_path / "i", [Source("A mill.", name) for name in names])
    with change_index(tmp_path / "i") as writer:
        assert writer.remove(named_by(pattern, writer.names)) == len(removed)
    assert {*index_documents(tmp_path / "i")} == {*names} - removed
