"""Questions beside enough and too few passages, from HotpotQA, MuSiQue and 2WikiMultiHopQA with their labels.

A context is made insufficient by taking away one supporting passage, and its complete twin loses one that does not
support, so that both have the same number. An answer that addresses the question is the right one, as it stands and as
a sentence of a supporting passage; others are a name or value and a sentence of a passage that does not support: they
are in the sources, and answer something else. "steps" are the single questions into which 2WikiMultiHopQA's training
rows are taken apart, each beside one to five passages: what most questions to a search are like.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from recipes.bench.multihop import MultihopSet, multihop_rows
from vouching.bench.multihop import MultihopRow, multihop_row
from vouching.bench.rows import Split
from vouching.retrieval.features import expected_kind
from vouching.text.dates import find_dates
from vouching.text.entities import find_entities
from vouching.text.sentences import sentence_spans
from vouching.types import Source

SETS: tuple[MultihopSet, ...] = ("hotpotqa", "musique", "2wiki")
SEED, MOST_OTHERS = 7, 5


@dataclass(frozen=True, slots=True)
class Case:
    """A question with passages, and what is right of them."""

    question: str
    sources: tuple[Source, ...]
    supporting: frozenset[str]
    """Ids of the supporting passages, those taken away included."""
    sufficient: bool
    answers: tuple[tuple[str, bool], ...] = ()
    """Answers and whether they address the question; none for an insufficient context."""


def cases(data: Path, name: MultihopSet, split: Split) -> Iterator[Case]:
    """Two cases for each question of a split: its complete context and one that lacks a supporting passage.

    Rows without passages, and those with one supporting passage or no other, are left out.
    """
    for row in multihop_rows(data, name, split):
        if not isinstance(row, MultihopRow):
            continue
        draw = random.Random(f"{SEED} {row.id}")
        needed = [source for source in row.passages if source.id in row.supporting]
        others = [source for source in row.passages if source.id not in row.supporting]
        if not others or len(needed) < 2:
            continue
        for lost, sufficient in ((draw.choice(others), True), (draw.choice(needed), False)):
            kept = tuple(source for source in row.passages if source is not lost)
            answers = tuple(_answers(row, needed, others, draw)) if sufficient else ()
            yield Case(row.question, kept, row.supporting, sufficient, answers)


def steps(data: Path) -> Iterator[Case]:
    """Two cases for each single question of the training rows of 2WikiMultiHopQA that have two steps."""
    with gzip.open(data / "multihop/2wiki_train500.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        row, pairs, evidence = multihop_row(record), record["qa_pairs"], record["evidences"]
        if len(pairs) != len(evidence):
            continue
        for pair, (subject, _, answer) in zip(pairs, evidence, strict=True):
            needed = [one for one in row.passages if one.title.startswith(subject) and answer in one.text]
            draw = random.Random(f"{SEED} {row.id} {subject}")
            others = [one for one in row.passages if one.id not in row.supporting]
            if len(needed) != 1 or len(others) < MOST_OTHERS:
                continue
            shown, single = draw.sample(others, draw.randint(1, MOST_OTHERS)), frozenset([needed[0].id])
            full = [*needed, *shown[1:]]
            draw.shuffle(full)
            asked = replace(row, question=" ".join(pair["question"].split()), answers=(answer,), supporting=single)
            yield Case(asked.question, tuple(full), single, True, tuple(_answers(asked, needed, shown, draw)))
            yield Case(asked.question, tuple(shown), single, False)


def untitled(case: Case) -> Case:
    """The same case without the titles of its passages, as files and texts have none."""
    return replace(case, sources=tuple(replace(source, title="") for source in case.sources))


def _answers(
    row: MultihopRow, needed: list[Source], others: list[Source], draw: random.Random
) -> Iterator[tuple[str, bool]]:
    """The right answer as a value and a sentence, and the same of a passage that does not support."""
    yield row.answer, True
    right = row.answer.lower()
    said = [one for source in needed for one in _sentences(source) if right in one.lower()]
    if said and right not in ("yes", "no"):
        yield draw.choice(said), True
    other = draw.choice(others)
    values = [value for value in _values(other.text, row.question) if value.lower() not in right]
    if values:
        yield draw.choice(values), False
    wrong = [one for one in _sentences(other) if right not in one.lower()]
    if wrong:
        yield draw.choice(wrong), False


def _sentences(source: Source) -> list[str]:
    return [source.text[start:end] for start, end in sentence_spans(source.text)]


def _values(text: str, question: str) -> list[str]:
    """Dates for a question about a date, else names."""
    if expected_kind(question) == "date":
        return [text[one.start : one.end] for one in find_dates(text)]
    return [one.text for one in find_entities(text) if one.certain]
