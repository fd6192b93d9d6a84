"""How fast a local index is built and searched, and what it finds: by words, by meaning, by both.

    VOUCH_DATA=... python benchmarks/search.py multihop [--encoder NAME=FOLDER ...] [--without shipped]
    VOUCH_DATA=... python benchmarks/search.py settings
    python benchmarks/search.py million [--passages N]
    python benchmarks/search.py faults

Each part writes its own section of docs/results/search.json.

    multihop   every paragraph of the multi-hop sets as a corpus: time and size, and recall@5 of the paragraphs that
               support an answer, with BCa intervals; questions that share such a paragraph are drawn together
    settings   recall@5 on the training questions for what was chosen by it, with the package bm25s as the scorer
    million    made-up passages whose words follow Zipf's law: time, size, memory, on one core, and bm25s beside it
    faults     what is left of an index when processes that add to it are killed, and when two write at once

Seconds of "cpu" are the processor's, which other work on the machine hardly changes; the others are the wall clock's.
The section "before" holds the figures of the index that tantivy replaced, measured in the same hours. Not measured
here: search in several steps (benchmarks/search_steps.py), and web engines.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

import vouching
from recipes.bench.multihop import FILES, corpus, multihop_rows, recall
from vouching import metrics
from vouching.bench.catalog import data_folder
from vouching.bench.multihop import MultihopRow
from vouching.search.index import index_facts, open_index
from vouching.search.index_writer import change_index, create_index
from vouching.search.store import TITLE_WEIGHT
from vouching.search.terms import query_terms, terms
from vouching.search.vectors import SHIPPED, SentenceEncoder, open_encoder
from vouching.text.words import lower_words
from vouching.types import Passage, Source

LIMIT, RARE = 5, 10
WORDS_PER_PASSAGE, VOCABULARY, QUERIES, QUERY_WORDS = 60, 500_000, 300, 10
Rows = dict[str, list[MultihopRow]]


class Clock:
    """Seconds of the wall and of the processor, since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self, digits: int = 1) -> dict[str, float]:
        """Both, rounded."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return {"seconds": round(wall, digits), "cpu_seconds": round(cpu, digits)}


def timed(ask: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    """Milliseconds of a query: median and 95th percentile, by both clocks."""
    each: list[dict[str, float]] = []
    for query in queries:
        clock = Clock()
        ask(query)
        each.append(clock.read(9))
    found: dict[str, float] = {}
    for name, key in (("ms", "seconds"), ("cpu_ms", "cpu_seconds")):
        values = [1000 * one[key] for one in each]
        found |= {
            f"{name}_median": round(float(np.median(values)), 2),
            f"{name}_p95": round(float(np.quantile(values, 0.95)), 2),
        }
    return found


def read_rows(folder: Path, train: bool) -> Rows:
    """The questions of the training files, or of the others, by set and part."""
    return {
        f"{name} {part}": [row for row in multihop_rows(folder, name, part) if isinstance(row, MultihopRow)]
        for name, part in FILES
        if (part == "train") == train
    }


def recalls(rows: Rows, find: Callable[[str], list[Passage]]) -> dict[str, Any]:
    """Recall@5 by set, and over all of them, with intervals."""
    values = {
        name: [recall(row, [str(passage.span.source_id) for passage in find(row.question)]) for row in questions]
        for name, questions in rows.items()
    }
    return {name: interval(rows[name], found) for name, found in values.items()} | {
        "all": interval([row for part in rows.values() for row in part], [v for part in values.values() for v in part])
    }


def interval(rows: Sequence[MultihopRow], values: Sequence[float]) -> dict[str, Any]:
    """A mean with its interval."""
    found = metrics.bca(partial(metrics.mean, values), metrics.document_numbers([row.supporting for row in rows]))
    ends = [None if end is None else round(end, 4) for end in (found.low, found.high)]
    return {"questions": len(rows), "recall_at_5": round(found.estimate, 4), "interval": ends}


def build(folder: Path, sources: Sequence[Source], encoder: SentenceEncoder | None = None) -> dict[str, Any]:
    """Build an index; what it took."""
    clock = Clock()
    with create_index(folder, encoder=encoder) as writer:
        for source in sources:
            writer.add(source)
    taken = clock.read()
    facts = index_facts(folder)
    return taken | {key: facts[key] for key in ("documents", "passages", "segments", "megabytes")}


def changes(folder: Path) -> dict[str, float]:
    """Milliseconds to add a document to an index, and to remove it again; medians of five."""
    added: list[float] = []
    removed: list[float] = []
    for number in range(5):
        clock = Clock()
        with change_index(folder) as writer:
            writer.add(Source(f"A new document, number {number}.", f"new-{number}"))
        added.append(1000 * clock.read(6)["seconds"])
        clock = Clock()
        with change_index(folder) as writer:
            writer.remove([f"new-{number}"])
        removed.append(1000 * clock.read(6)["seconds"])
    return {"add_ms": round(float(np.median(added)), 1), "remove_ms": round(float(np.median(removed)), 1)}


def multihop(options: argparse.Namespace) -> dict[str, Any]:
    """Time and recall on the multi-hop corpus."""
    folder = data_folder()
    train, held_out = read_rows(folder, train=True), read_rows(folder, train=False)
    sources = corpus(row for rows in (train, held_out) for part in rows.values() for row in part)
    questions = [row.question for part in held_out.values() for row in part]
    encoders = {} if "shipped" in options.without else {SHIPPED: SHIPPED}
    encoders |= dict(given.split("=", 1) for given in options.encoder)
    with tempfile.TemporaryDirectory() as place:
        record: dict[str, Any] = {"build": build(Path(place) / "words", sources)}
        index = open_index(Path(place) / "words")
        index.find("warm")
        record |= {
            "query": timed(partial(index.find, limit=LIMIT), questions),
            "change": changes(Path(place) / "words"),
            "recall": {"words": told(train, held_out, partial(index.by_words, limit=LIMIT))},
            "bm25s": beside_bm25s([terms(f"{source.title} {source.text}") for source in sources], questions),
        }
        for name, encoder in encoders.items():
            record[f"build, {name}"] = build(Path(place) / name, sources, open_encoder(encoder))
            index = open_index(Path(place) / name)
            record[f"query, {name}"] = timed(partial(index.find, limit=LIMIT), questions)
            record["recall"] |= {
                f"meaning, {name}": told(train, held_out, partial(index.by_meaning, limit=LIMIT)),
                f"both, {name}": told(train, held_out, partial(index.find, limit=LIMIT)),
            }
    return record


def told(train: Rows, held_out: Rows, find: Callable[[str], list[Passage]]) -> dict[str, Any]:
    """Recall on the questions that settings were chosen by, and on the others."""
    return {"train": recalls(train, find), "held_out": recalls(held_out, find)}


def beside_bm25s(texts: list[list[str]], queries: Sequence[str]) -> dict[str, Any]:
    """The package bm25s on the same terms: its time to build, without finding the terms, and to search."""
    clock = Clock()
    other = bm25s.BM25(k1=1.2, b=0.75)
    other.index(texts, show_progress=False)
    taken = clock.read()
    known = other.vocab_dict

    def ask(query: str) -> object:
        wanted = [term for term in query_terms(query) if term in known]
        return other.retrieve([wanted], k=LIMIT, show_progress=False) if wanted else None

    return taken | timed(ask, queries)


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """Recall@5 on the training questions, mean of the three sets, for each choice with the others as they ship."""
    del options
    train, held_out = read_rows(data_folder(), train=True), read_rows(data_folder(), train=False)
    sources = corpus(row for rows in (train, held_out) for part in rows.values() for row in part)

    def mean(
        of_text: Callable[[str], list[str]] = terms,
        of_query: Callable[[str], list[str]] = query_terms,
        title: int = TITLE_WEIGHT,
        k1: float = 1.2,
        b: float = 0.75,
    ) -> float:
        other = bm25s.BM25(k1=k1, b=b)
        other.index([of_text(source.title) * title + of_text(source.text) for source in sources], show_progress=False)
        found: list[float] = []
        for rows in train.values():
            each: list[float] = []
            for row in rows:
                wanted = [term for term in of_query(row.question) if term in other.vocab_dict]
                places = other.retrieve([wanted], k=LIMIT, show_progress=False).documents[0] if wanted else []
                each.append(recall(row, [sources[int(place)].id for place in places]))
            found.append(float(np.mean(each)))
        return round(float(np.mean(found)), 4)

    record: dict[str, Any] = {
        "as shipped": mean(),
        "words as they are": mean(lower_words, lower_words),
        "words that carry grammar kept in the query": mean(of_query=terms),
        "times the title counts": {str(weight): mean(title=weight) for weight in (0, 1, 2, 3)},
        "k1, b": {f"{k1}, {b}": mean(k1=k1, b=b) for k1 in (0.6, 0.9, 1.2, 1.5) for b in (0.4, 0.75, 0.9)},
    }
    try:
        import Stemmer
    except ImportError:
        return record
    stemmer = Stemmer.Stemmer("english")
    snowball: Callable[[str], list[str]] = lambda text: stemmer.stemWords(lower_words(text))  # noqa: E731
    return record | {"PyStemmer": mean(snowball, snowball)}


def made_up(passages: int) -> Iterator[Source]:
    """Passages whose words follow Zipf's law, the same in every run."""
    random = np.random.default_rng(0)
    words = np.array([word_of(number) for number in range(VOCABULARY)])
    weights = 1 / np.arange(1, VOCABULARY + 1)
    sums = np.cumsum(weights / weights.sum())
    for start in range(0, passages, 1000):
        drawn = np.searchsorted(sums, random.random((min(1000, passages - start), WORDS_PER_PASSAGE)))
        for number, row in enumerate(words[drawn.clip(max=VOCABULARY - 1)], start):
            yield Source(" ".join(row.tolist()), str(number))


def word_of(number: int) -> str:
    """A word that no stem is taken of: letters that no ending is made of."""
    letters = "bcfghkpqvwxz"
    word = ""
    while number or not word:
        number, letter = divmod(number, len(letters))
        word += letters[letter]
    return word + "bk"


def made_up_queries(passages: int) -> list[str]:
    """Ten words each, drawn from a passage: common and rare ones as they come."""
    random = np.random.default_rng(1)
    wanted = {*random.choice(passages, QUERIES, replace=False).tolist()}
    texts = [source.text.split() for number, source in enumerate(made_up(passages)) if number in wanted]
    return [" ".join(random.choice(text, QUERY_WORDS, replace=False).tolist()) for text in texts]


def build_made_up(folder: str, passages: int) -> dict[str, Any]:
    """Build the index in a process of its own, for its memory."""
    clock = Clock()
    with create_index(folder) as writer:
        for source in made_up(passages):
            writer.add(source)
    return clock.read() | peak() | {key: index_facts(folder)[key] for key in ("passages", "segments", "megabytes")}


def search_made_up(folder: str, queries: Sequence[str]) -> dict[str, Any]:
    """Search it in a process of its own."""
    clock = Clock()
    index = open_index(folder)
    opened = clock.read(3)["seconds"]
    index.find(queries[0])
    found = timed(partial(index.find, limit=LIMIT), queries)
    return {"open_seconds": opened} | found | peak()


def bm25s_made_up(passages: int, queries: Sequence[str]) -> dict[str, Any]:
    """The package bm25s on the same passages."""
    return beside_bm25s([terms(source.text) for source in made_up(passages)], queries) | peak()


def peak() -> dict[str, float]:
    """The most memory that this process had."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return {"peak_megabytes": round(int(line.split()[1]) / 1000)}


def million(options: argparse.Namespace) -> dict[str, Any]:
    """Time, size and memory with many passages."""
    queries = made_up_queries(options.passages)
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "million")
        record = {
            "words_per_passage": WORDS_PER_PASSAGE,
            "build": alone(build_made_up, folder, options.passages),
            "query": alone(search_made_up, folder, queries),
            "change": changes(Path(folder)),
        }
    if options.beside:
        some = min(options.beside, options.passages)
        record["bm25s"] = {"passages": some} | alone(bm25s_made_up, some, made_up_queries(some))
    return record


ADDING = """
import sys
from vouching.search.index_writer import change_index
from vouching.types import Source
batch = int(sys.argv[2])
with change_index(sys.argv[1]) as writer:
    print("begins", flush=True)
    for number in range(BATCH):
        writer.add(Source(f"fresh{batch} mill number {number}", f"{batch}-{number}"))
print("done", flush=True)
"""
BATCH, KILLS = 3000, 12


def adding(folder: str, batch: int) -> subprocess.Popen[str]:
    """A process that adds documents to an index."""
    program = ADDING.replace("BATCH", str(BATCH))
    return subprocess.Popen(
        [sys.executable, "-c", program, folder, str(batch)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def faults(options: argparse.Namespace) -> dict[str, Any]:
    """What is left of an index when processes that add to it are killed, and when two of them write at once."""
    del options
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "index")
        build(Path(folder), [*made_up(2000)])
        passages, finished, opened = 2000, 0, 0
        for batch in range(KILLS):
            process = adding(folder, batch)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(float(random.uniform(0, 1)))
            process.kill()
            process.wait()
            index = open_index(folder)
            assert len(index) in (passages, passages + BATCH), f"{len(index)} passages after {passages}"
            assert bool(index.find(f"fresh{batch}", 1)) == (len(index) > passages)
            finished += len(index) > passages
            opened += 1
            passages = len(index)
        both = [adding(folder, KILLS), adding(folder, KILLS + 1)]
        errors = [process.communicate()[1] for process in both]
        refused = sum("is being written by another process" in error for error in errors)
        left = len(open_index(folder))
        assert left == passages + (2 - refused) * BATCH, f"{left} passages after {passages}"
    return {
        "killed": KILLS,
        "opened_as_before_or_after": opened,
        "finished": finished,
        "writers": 2,
        "refused": refused,
    }


def alone(work: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """The result of work in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> None:
    """Measure one part, print it, and put it into the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("multihop", "settings", "million", "faults"))
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--without", action="append", default=[], choices=["shipped"])
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--beside", type=int, default=0, metavar="N", help="also measure bm25s, on N passages")
    parser.add_argument("--note", default="", help="other work on the machine during the run")
    default = Path(__file__).resolve().parents[1] / "docs/results/search.json"
    parser.add_argument("--output", type=Path, default=default)
    options = parser.parse_args()
    found = {"multihop": multihop, "settings": settings, "million": million, "faults": faults}[options.part](options)
    old = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    old[options.part] = {
        "command": f"python benchmarks/search.py {options.part}",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "note": options.note,
        **found,
    }
    print(json.dumps(old[options.part], indent=1))
    options.output.write_text(json.dumps(old, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
