"""An index whose files were cut off, changed or removed is an error that says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.search.corpora import LetterEncoder, built, damage, replace, the_state
from vouching.errors import InputError, SearchError
from vouching.search.index import index_facts, open_index

PARTS = ("*.term", "*.idx", "*.store", "*.fast", "*.fieldnorm", "meta.json", "vectors.f32", "rows.npy")


@pytest.mark.parametrize("left", [0, 30, -64])
@pytest.mark.parametrize("part", PARTS)
def test_a_file_that_was_cut_off_is_refused_when_the_index_is_opened(tmp_path: Path, part: str, left: int) -> None:
    built(tmp_path / "i", encoder=LetterEncoder())
    [path] = the_state(tmp_path / "i").glob(part)
    content = path.read_bytes()
    replace(path, content[:left])
    with pytest.raises(InputError, match=r"cannot be read (?s:.*): build the index again"):
        open_index(tmp_path / "i", LetterEncoder())


def test_damage_inside_stored_passages_is_an_error_of_the_search(tmp_path: Path) -> None:
    built(tmp_path / "i")
    [path] = the_state(tmp_path / "i").glob("*.store")
    content = path.read_bytes()
    replace(path, b"\xff" * 40 + content[40:])
    index = open_index(tmp_path / "i")
    with pytest.raises(InputError, match=r"the index in .*i cannot be read"):
        index.find("mill")
    with pytest.raises(SearchError, match="index:i cannot be read"):
        asyncio.run(index.search("mill", 5))


@pytest.mark.parametrize(("part", "at"), [("*.term", 54), ("*.idx", 40)])
def test_a_panic_inside_tantivy_is_an_error_of_a_damaged_index(tmp_path: Path, part: str, at: int) -> None:
    built(tmp_path / "i")
    damage(tmp_path / "i", part, at)
    index = open_index(tmp_path / "i")
    searches = (index.foreign, index.find, lambda query: index.by_words(query, 5))
    for search in searches:
        with pytest.raises(
            InputError, match=r"the index in .*i cannot be read \(.+\): build the index again"
        ) as raised:
            search("mill oslo")
        assert type(raised.value.__cause__).__name__ == "PanicException"
    with pytest.raises(SearchError, match="index:i cannot be read"):
        asyncio.run(index.search("mill oslo", 5))


@pytest.mark.parametrize("opens", [open_index, index_facts])
def test_a_panic_while_an_index_is_opened_is_an_error_of_a_damaged_index(
    tmp_path: Path, opens: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """As tantivy's, whose class cannot be imported."""

    def panic(*_: object) -> None:
        raise PanicException("mid > len\n" * 100)

    built(tmp_path / "i")
    monkeypatch.setattr("vouching.search.index.Store", panic)
    with pytest.raises(InputError, match=r"cannot be read \(mid > len .*….*\): build the index again") as raised:
        opens(tmp_path / "i")
    assert len(str(raised.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_file_is_an_error_when_the_index_is_opened(tmp_path: Path, part: str) -> None:
    built(tmp_path / "i", encoder=LetterEncoder())
    [path] = the_state(tmp_path / "i").glob(part)
    path.unlink()
    with pytest.raises(InputError, match=r"cannot be read (?s:.*): build the index again"):
        open_index(tmp_path / "i", LetterEncoder())
