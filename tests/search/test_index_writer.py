"""Writing an index: all or nothing, whatever ends the writer, and one writer at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.search.corpora import TOWNS, built, damage, ids
from vouching.errors import ConfigError, InputError
from vouching.search.index import open_index
from vouching.search.index_writer import IndexWriter, change_index, create_index
from vouching.search.store import read_manifest
from vouching.types import Source

PROGRAM = """
import os, signal, sys
from vouching.search.index_writer import IndexWriter, change_index, create_index
from vouching.types import Source
with {opens}(sys.argv[1]) as writer:
    writer.add(Source("Half a mill.", "half.txt"))
    assert any(name.startswith("state-") for name in os.listdir(sys.argv[1]))
    {ends}
"""


def run(opens: str, ends: str, folder: Path) -> int:
    """The exit status of a program that writes an index and ends in the midst of it."""
    program = PROGRAM.format(opens=opens, ends=ends)
    return subprocess.run(
        [sys.executable, "-c", program, str(folder)], check=False, stderr=subprocess.DEVNULL
    ).returncode


KILL = "os.kill(os.getpid(), signal.SIGKILL)"


def test_a_build_that_is_killed_leaves_no_index_and_can_be_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    assert run("create_index", KILL, folder) == -signal.SIGKILL
    with pytest.raises(InputError, match="is unfinished"):
        open_index(folder)
    index = built(folder)
    assert ids(index.find("mill")) == ["mill.txt", "oslo.txt"]
    assert len([*folder.glob("state-*")]) == 1


def test_a_change_that_is_killed_changes_nothing_and_leaves_nothing_after_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    built(folder)
    assert run("change_index", KILL, folder) == -signal.SIGKILL
    assert ids(open_index(folder).find("mill")) == ["mill.txt", "oslo.txt"]
    with change_index(folder) as writer:
        writer.add(Source("Another mill.", "other.txt"))
    assert {*ids(open_index(folder).find("mill"))} == {"mill.txt", "oslo.txt", "other.txt"}
    assert len([*folder.glob("state-*")]) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_error_or_an_interrupt_leaves_things_as_they_were(tmp_path: Path, error: type[BaseException]) -> None:
    built(tmp_path / "old")
    before = {path.name for path in (tmp_path / "old").iterdir()}

    def stop(opens: Callable[[Path], AbstractContextManager[IndexWriter]], folder: Path) -> None:
        with opens(folder) as writer:
            writer.add(Source("Half a mill.", "half.txt"))
            raise error

    for opens, folder in ((create_index, tmp_path / "new"), (change_index, tmp_path / "old")):
        with pytest.raises(error):
            stop(opens, folder)
    assert not (tmp_path / "new").exists()
    assert {path.name for path in (tmp_path / "old").iterdir()} == before


def test_a_folder_that_was_there_stays_when_a_build_fails(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no document with words was added"), create_index(tmp_path) as writer:
        assert writer.add(Source("...", "dots.txt")) == 0
    assert [*tmp_path.iterdir()] == []


def test_a_second_writer_is_refused_while_readers_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    built(folder)
    with change_index(folder) as writer:
        writer.add(Source("A new mill.", "new.txt"))
        with pytest.raises(InputError, match="is being written by another process"), change_index(folder):
            pass
        assert len(open_index(folder)) == 3
    assert len(open_index(folder)) == 4


def test_a_refused_writer_does_not_let_a_third_one_in(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    with create_index(folder) as writer:
        writer.add(TOWNS[0])
        for _ in range(2):
            with pytest.raises(InputError, match="is being written by another process"), create_index(folder):
                pass
        writer.add(TOWNS[1])
    assert len(open_index(folder)) == 2


def test_an_index_is_not_built_over_another_or_over_other_files(tmp_path: Path) -> None:
    built(tmp_path / "i")
    with pytest.raises(InputError, match="already contains an index: add to it"), create_index(tmp_path / "i"):
        pass
    assert len(open_index(tmp_path / "i")) == 3
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"is not empty \(it contains "), create_index(tmp_path):
        pass
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    wanted = pytest.raises(InputError, match=r"file/i cannot be written .*: choose another folder")
    with wanted, create_index(tmp_path / "file" / "i"):
        pass


def test_a_full_disk_leaves_the_index_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    built(folder)
    ends = (
        "import resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "    writer.add(Source(' '.join(map(str, range(9999))), 'long.txt'))"
    )
    assert run("change_index", ends, folder) == 1
    assert len(open_index(folder)) == 3
    assert len([*folder.glob("state-*")]) == 1


def remove_one(writer: IndexWriter) -> None:
    """Remove a document."""
    writer.remove(["mill.txt"])


def replace_one(writer: IndexWriter) -> None:
    """Replace a document, which is done when the change is committed."""
    writer.add(Source("Another mill.", "bergen.txt"))


@pytest.mark.parametrize(("change", "at"), [(remove_one, 47), (replace_one, 55)])
def test_a_panic_inside_tantivy_during_a_change_is_an_error_of_a_damaged_index(
    tmp_path: Path, change: Callable[[IndexWriter], None], at: int
) -> None:
    folder = tmp_path / "i"
    built(folder)
    damage(folder, "*.fast", at)
    with (
        pytest.raises(InputError, match=r"cannot be read .*: build the index again") as raised,
        change_index(folder) as writer,
    ):
        change(writer)
    assert type(raised.value.__cause__).__name__ == "PanicException"
    assert read_manifest(folder).state == 1


def test_a_state_is_on_disk_before_the_one_it_replaces_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, sync, seen = tmp_path / "i", os.fsync, [(Path(), 0, 0)]
    built(folder)

    def logged(number: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{number}"))
        seen.append((path, read_manifest(folder).state, len([*folder.glob("state-*")])))
        sync(number)

    monkeypatch.setattr(os, "fsync", logged)
    with change_index(folder) as writer:
        writer.add(Source("Another mill.", "other.txt"))
    steps = [(path.name, state, states) for path, state, states in seen[1:]]
    assert steps == [("state-000002", 1, 2), ("index.json.new", 1, 2), ("i", 2, 2)]


def test_the_same_id_twice_is_refused_and_the_first_stays(tmp_path: Path) -> None:
    with create_index(tmp_path / "i") as writer:
        writer.add(Source("first", "a"))
        with pytest.raises(InputError, match="the id 'a' occurs twice"):
            writer.add(Source("second", "a"))
    index = open_index(tmp_path / "i")
    assert (ids(index.find("first")), index.find("second")) == (["a"], [])


@pytest.mark.parametrize(
    "source", [Source("\ud800 mill", "a"), Source("mill", "a\ud800"), Source("mill", "a", "\ud800")]
)
def test_a_lone_surrogate_is_refused_and_the_rest_is_read(tmp_path: Path, source: Source) -> None:
    with create_index(tmp_path / "i") as writer:
        with pytest.raises(InputError, match="lone surrogate"):
            writer.add(source)
        writer.add(TOWNS[0])
    assert ids(open_index(tmp_path / "i").find("mill oslo")) == ["mill.txt"]


def test_passages_of_too_few_words_are_refused(tmp_path: Path) -> None:
    wanted = pytest.raises(ConfigError, match=r"passages must have at least 64 words \(twice the overlap\), got 20")
    with wanted, create_index(tmp_path / "i", max_words=20):
        pass
    assert not (tmp_path / "i").exists()


def test_a_document_whose_text_changed_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    built(folder)
    with change_index(folder) as writer:
        writer.add(Source("The mill burnt down.", "mill.txt"))
    index = open_index(folder)
    assert ids(index.find("mill")) == ["mill.txt", "oslo.txt"]
    assert ids(index.find("1873 Ada")) == []
    assert len(index) == 3
