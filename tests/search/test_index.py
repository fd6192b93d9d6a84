"""A local index: what it finds, whatever steps it was built in."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.corpora import TOWNS, LetterEncoder, built, ids, the_state
from vouching.errors import ConfigError, InputError
from vouching.search.base import search_engines
from vouching.search.index import Index, index_facts, open_index
from vouching.search.index_writer import MAX_REMOVED, change_index
from vouching.search.store import FORMAT, TITLE_WEIGHT
from vouching.search.terms import query_terms, terms
from vouching.search.vectors import write_graph
from vouching.types import Source

WORDS = ("mill", "oslo", "ada", "coast", "tower", "1873")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


def test_passages_come_best_first_with_their_place_and_origin(tmp_path: Path) -> None:
    found = built(tmp_path / "towns").find("Who built mills in Oslo?")
    assert ids(found) == ["mill.txt", "oslo.txt"]
    passage = found[0]
    assert (passage.title, passage.origin, passage.span.start) == ("The mill", "index:towns", 0)
    assert passage.span.text == TOWNS[0].text
    assert found[0].score > found[1].score > 0


def test_offsets_lead_back_into_the_document_whatever_its_letters(tmp_path: Path) -> None:
    text = "Ærø ligger i havet. 東京は大きい。 😀 " * 60
    index = built(tmp_path / "i", [Source(text, "a"), Source("rest", "b")])
    found = index.find("Ærø 東", 50)
    assert len(found) > 3
    assert all(text[p.span.start : p.span.end] == p.span.text for p in found)


def test_a_word_of_the_title_finds_every_passage_of_a_document(tmp_path: Path) -> None:
    text = "It is a long story that goes on. " * 60
    index = built(tmp_path / "i", [Source(text, "a", title="Bergen"), Source("Oslo.", "b")])
    assert len(index.find("bergen", 10)) == len(index) - 1 > 2


@given(st.lists(TEXTS, min_size=2, max_size=12), TEXTS)
@settings(max_examples=15)
def test_scores_are_those_of_bm25s(texts: list[str], query: str) -> None:
    with TemporaryDirectory() as folder:
        index = built(Path(folder) / "i", [Source(text, str(number)) for number, text in enumerate(texts)])
        found = {passage.span.source_id: passage.score for passage in index.find(query, len(texts))}
    other = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    other.index([terms(text) for text in texts], show_progress=False)
    wanted = other.get_scores(query_terms(query)) if set(query_terms(query)) & {*terms(" ".join(texts))} else []
    # tantivy multiplies by k1 + 1, which changes no ranking.
    assert found == {str(n): pytest.approx(2.2 * score, rel=1e-4) for n, score in enumerate(wanted) if score > 0}


STEPS = st.lists(
    st.tuples(st.lists(st.tuples(st.integers(0, 30), TEXTS), max_size=12), st.lists(st.integers(0, 30), max_size=6)),
    min_size=1,
    max_size=5,
)


@given(STEPS, TEXTS)
@settings(max_examples=15, deadline=None)
def test_an_index_answers_as_one_built_at_once_whatever_came_and_went(
    steps: list[tuple[list[tuple[int, str]], list[int]]], query: str
) -> None:
    with TemporaryDirectory() as place:
        folder, other = Path(place) / "i", Path(place) / "other"
        left = {"first": "mill tower"}
        built(folder, [Source("mill tower", "first")], LetterEncoder())
        for added, removed in steps:
            fresh = {str(number): text for number, text in added}
            with change_index(folder, LetterEncoder()) as writer:
                gone = writer.remove(map(str, removed))
                for number, text in fresh.items():
                    writer.add(Source(text, number))
            assert gone == len({*map(str, removed)} & left.keys())
            left = {k: v for k, v in left.items() if k not in {*map(str, removed)}} | fresh
        index = open_index(folder, LetterEncoder())
        same = built(other, [Source(text, name) for name, text in left.items()], LetterEncoder())
        assert len(index) == len(same) == len(left)
        removed = index_facts(folder)["removed_passages"]
        assert removed <= MAX_REMOVED * len(left)
        for way in (Index.by_words, Index.by_meaning):
            found, wanted = ({p.span.source_id: p.score for p in way(one, query, len(left))} for one in (index, same))
            assert found.keys() == wanted.keys()
            # The statistics behind BM25 count removed passages until the index is written anew.
            if way is Index.by_meaning or not removed:
                assert found == {name: pytest.approx(score, rel=1e-4) for name, score in wanted.items()}


def test_removed_passages_are_dropped_from_the_statistics_once_they_are_many(tmp_path: Path) -> None:
    sources = [Source("mill tower" if number else "mill", str(number)) for number in range(40)]
    built(tmp_path / "i", sources, LetterEncoder())
    counts: list[int] = []
    for number in range(1, 8):
        with change_index(tmp_path / "i", LetterEncoder()) as writer:
            writer.remove([str(number)])
        counts.append(index_facts(tmp_path / "i")["removed_passages"])
    # Of 36 that are left, 4 are more than a tenth.
    assert counts == [1, 2, 3, 0, 1, 2, 3]
    index = open_index(tmp_path / "i", LetterEncoder())
    assert ids(index.find("mill", 40)) == ["0", *map(str, range(8, 40))]
    assert {*ids(index.by_meaning("tower", 40))} == {"0", *map(str, range(8, 40))}


def test_few_segments_are_left_however_many_steps_were_taken(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    built(folder, [Source("mill", "first")])
    for number in range(40):
        with change_index(folder) as writer:
            writer.add(Source(f"mill {number}", str(number)))
    facts = index_facts(folder)
    # tantivy merges eight segments of similar size into one.
    assert facts["documents"] == 41
    assert facts["segments"] <= 8
    state = f"state-{open_index(folder).manifest.state:06}"
    assert {path.name for path in folder.iterdir()} == {"index.json", "lock", state}


def test_an_open_index_stays_as_it_was_while_another_process_could_change_it(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    before = built(folder)
    with change_index(folder) as writer:
        assert writer.remove(["mill.txt", "oslo.txt", "nowhere.txt"]) == 2
        writer.add(Source("A new mill.", "new.txt"))
    assert ids(before.find("mill")) == ["mill.txt", "oslo.txt"]
    assert ids(open_index(folder).find("mill")) == ["new.txt"]


def test_all_documents_may_go(tmp_path: Path) -> None:
    built(tmp_path / "i")
    with change_index(tmp_path / "i") as writer:
        writer.remove(source.id for source in TOWNS)
    empty = open_index(tmp_path / "i")
    assert (len(empty), empty.find("mill")) == (0, [])
    assert empty.foreign("mill") == "the index is empty"


def test_rows_go_with_the_file_they_came_from(tmp_path: Path) -> None:
    names = ("a.jsonl#1", "a.jsonl#C#", "a.jsonl#C", "a.jsonl.gz#1", "a.jsonl", "notes#1.txt")
    built(tmp_path / "i", [Source("mill", name) for name in names])
    with change_index(tmp_path / "i") as writer:
        assert writer.remove(["a.jsonl#C"]) == 1
        assert writer.remove(["notes"]) == 0  # no file of rows
        assert writer.remove(["a.jsonl"]) == 3
    assert {*ids(open_index(tmp_path / "i").find("mill"))} == {"a.jsonl.gz#1", "notes#1.txt"}


def test_only_passages_of_a_pdf_itself_name_a_page(tmp_path: Path) -> None:
    pdf = Source("mill\fmill two", "a.pdf", "", "/docs/a.pdf")
    row = Source("mill three", "rows.jsonl#7", "", "https://example.org/b.pdf")  # a row about a PDF elsewhere
    found = built(tmp_path / "i", [pdf, row]).find("mill")
    assert {passage.url for passage in found} == {"/docs/a.pdf#page=1", "https://example.org/b.pdf"}


def test_a_query_in_another_script_finds_nothing_and_says_why(tmp_path: Path) -> None:
    index = built(tmp_path / "i", encoder=LetterEncoder())
    assert index.find("столица Норвегии") == []
    assert index.foreign("столица 東京") == ("the query uses cjk and cyrillic letters, but the index uses latin ones")
    assert index.foreign("zebras") == "none of the query's words occurs in the index: zebras"
    assert len(index.foreign("z" * 70_000) or "") < 100
    assert index.foreign("?!") == "the query has no words"
    assert index.foreign("zebras of Oslo") is None


def test_words_and_meaning_are_fused(tmp_path: Path) -> None:
    index = built(tmp_path / "i", encoder=LetterEncoder())
    assert len(index.by_meaning("mill", 3)) == 3
    [first, *_] = index.find("mill", 3)
    # First in both rankings: 2 / 61.
    assert first.score == pytest.approx(2 / 61)
    assert first.origin == "index:i"


def test_a_graph_finds_what_comparing_all_vectors_finds(tmp_path: Path) -> None:
    sources = [Source(" ".join(WORDS[number % 6 : number % 6 + number % 4 + 1]), str(number)) for number in range(60)]
    exact = built(tmp_path / "i", sources, LetterEncoder())
    with change_index(tmp_path / "i", LetterEncoder()) as writer:
        writer.remove(map(str, range(0, 20)))
    exact = open_index(tmp_path / "i", LetterEncoder())
    wanted = exact.by_meaning("oslo ada", 60)
    write_graph(the_state(tmp_path / "i"))
    found = open_index(tmp_path / "i", LetterEncoder()).by_meaning("oslo ada", 60)
    assert len(found) == len(wanted) == 40
    # Half precision keeps three digits.
    assert [p.score for p in found] == pytest.approx([p.score for p in wanted], abs=2e-3)


def test_a_graph_grows_with_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vouching.search.vectors.MAX_EXACT", 10)
    built(tmp_path / "i", [Source(f"mill {WORDS[number % 6]}", str(number)) for number in range(30)], LetterEncoder())
    assert (the_state(tmp_path / "i") / "graph.usearch").exists()
    with change_index(tmp_path / "i", LetterEncoder()) as writer:
        writer.add(Source("a fortress", "new"))
        writer.remove(["0"])
    index = open_index(tmp_path / "i", LetterEncoder())
    assert ids(index.by_meaning("a fortress", 1)) == ["new"]
    assert {*ids(index.by_meaning("mill", 31))} == {"new", *map(str, range(1, 30))}


def test_an_index_is_asked_beside_other_engines(tmp_path: Path) -> None:
    towns, coast = built(tmp_path / "towns"), built(tmp_path / "coast", TOWNS[1:])
    result = asyncio.run(search_engines([towns, coast], "rainy Bergen", 3))
    assert [(asked.engine, asked.found) for asked in result.asked] == [("index:towns", 1), ("index:coast", 1)]
    assert [passage.origin for passage in result.passages] == ["index:towns+index:coast"]
    asyncio.run(towns.aclose())


def test_a_wrong_request_is_refused(tmp_path: Path) -> None:
    index = built(tmp_path / "i")
    with pytest.raises(InputError, match="limit must be at least 1, got 0"):
        index.find("mill", 0)
    with pytest.raises(ConfigError, match="index:i has no vectors"):
        index.by_meaning("mill", 1)
    with pytest.raises(ConfigError, match="has no vectors, so the encoder letters cannot be used"):
        open_index(tmp_path / "i", LetterEncoder())


def test_vectors_of_another_encoder_are_refused(tmp_path: Path) -> None:
    built(tmp_path / "i", encoder=LetterEncoder())
    other = LetterEncoder()
    other.digest = "other"
    with pytest.raises(ConfigError, match=r"computed by letters \(0123456789ab\), got letters \(other\)"):
        open_index(tmp_path / "i", other)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": FORMAT + 1}, f"has format {FORMAT + 1} .written by .*, but this version reads format {FORMAT}"),
        ({"format": "x"}, r"index.json is damaged .*, and build the index again"),
        (
            {"format": 1, "segments": []},
            f"has format 1 .*, but this version reads format {FORMAT}: delete .*, and build the index again",
        ),
        ({"colour": "red"}, r"index.json is damaged .*, and build the index again"),
        ({"state": None}, r"index.json is damaged .state is null.*, and build the index again"),
        ({"encoder": ["a"]}, r"index.json is damaged .encoder is .*, and build the index again"),
        ({"numbers": True}, r"index.json is damaged .numbers is true.*, and build the index again"),
        ({"max_words": -1}, r"index.json is damaged .max_words is -1.*, and build the index again"),
    ],
)
def test_an_index_of_another_format_or_with_a_damaged_manifest_is_refused(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    built(tmp_path / "i")
    path = tmp_path / "i" / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises((ConfigError, InputError), match=said):
        open_index(tmp_path / "i")


def test_a_folder_without_an_index_is_distinguished_from_an_unfinished_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no index in"):
        open_index(tmp_path)
    (tmp_path / "state-000001").mkdir()
    with pytest.raises(InputError, match="is unfinished"):
        open_index(tmp_path)


def test_many_equal_passages_are_found_in_order(tmp_path: Path) -> None:
    index = built(tmp_path / "i", [Source("mill", str(number)) for number in range(300)])
    assert ids(index.find("mill", 4)) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("limit", [299, 300, 10**9, 2**70])
def test_a_limit_above_the_number_of_passages_returns_all(tmp_path: Path, limit: int) -> None:
    index = built(tmp_path / "i", [Source("mill", str(number)) for number in range(300)], LetterEncoder())
    everything = [*map(str, range(300))]
    assert ids(index.by_words("mill", limit)) == everything[:limit]
    assert len(index.by_meaning("mill", limit)) == min(limit, 300)
    assert len(index.find("mill", limit)) == min(limit, 300)
    assert index.by_words("mill", 0) == []


def test_equal_passages_of_several_segments_are_found_in_order(tmp_path: Path) -> None:
    built(tmp_path / "i", [Source("mill tower", str(number)) for number in range(20)])
    for number in range(20, 120, 20):
        with change_index(tmp_path / "i") as writer:
            for one in range(number, number + 20):
                writer.add(Source("mill tower", str(one)))
    index = open_index(tmp_path / "i")
    assert index_facts(tmp_path / "i")["segments"] > 1
    assert ids(index.find("mill tower", 4)) == ["0", "1", "2", "3"]
    assert ids(index.find("tower mill", 120)) == [*map(str, range(120))]


def test_the_weight_of_titles_is_that_of_words_repeated(tmp_path: Path) -> None:
    titled = built(tmp_path / "a", [Source("mill", "1", "tower"), Source("coast", "2")])
    plain = built(tmp_path / "b", [Source("tower " * TITLE_WEIGHT + "mill", "1"), Source("coast", "2")])
    assert titled.find("tower")[0].score == pytest.approx(plain.find("tower")[0].score)


def test_a_word_that_is_too_long_for_the_index_is_ignored(tmp_path: Path) -> None:
    index = built(tmp_path / "i", [Source(f"{'z' * 65_530} {'x' * 65_531} mill", "a")])
    assert ids(index.find("z" * 65_530)) == ids(index.find("mill")) == ["a"]
    assert index.find("x" * 65_531) == []


def test_an_index_that_vanishes_under_a_reader_does_not_disturb_it(tmp_path: Path) -> None:
    index = built(tmp_path / "i")
    shutil.rmtree(tmp_path / "i")
    assert ids(index.find("rainy")) == ["bergen.txt"]
    assert np.isfinite(index.find("rainy")[0].score)
