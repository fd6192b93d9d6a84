"""Rankings of one's own, made as FGVeriBench was (DiVA, section 4): a pool of answers, labels, three of them, votes.

    answers of several models -> a judge labels each by the reference -> one correct, one intermediate and one incorrect
    -> the judge confirms their order -> three people vote on it; a row that two of them reject is dropped

Models are passed in. A row on which people have not voted says so: ``verified`` is "model", not "people". Three steps,
each from a file to a file: :func:`built_rows`, :func:`vote`, :func:`count_votes`. Not supported: choosing questions
that have one unambiguous answer, which is the author's work; a page to vote on.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from vouching.bench.rankings import LABELS, fgveribench_row
from vouching.errors import InputError
from vouching.metrics import cohen_kappa
from vouching.models.running import all_of
from vouching.rows import (
    AsyncWorkFactory,
    BatchSummary,
    RowJob,
    journal_beside,
    looker,
    open_rows,
    read_lines,
    write_lines,
)
from vouching.types.visible import visible_line
from vouching.version import __version__

VOTERS = 3
"""People who vote on each row."""
REJECTIONS = 2
"""Votes against a row that drop it."""
Vote: TypeAlias = Literal["accept", "reject"]
Line: TypeAlias = dict[str, Any]
"""What became of a question, as JSON."""


@dataclass(frozen=True, slots=True)
class PoolAnswer:
    """An answer that may be chosen."""

    text: str
    """The answer."""
    generator: str
    """Who gave it."""
    label: str | None = None
    """How it stands to the reference; None where nobody said yet."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its right answer."""

    id: str
    """Its name."""
    question: str
    """Its text."""
    references: tuple[str, ...]
    """The right answer and other ways to put it."""
    pool: tuple[PoolAnswer, ...] = ()
    """Answers that came with it."""


@dataclass(frozen=True, slots=True)
class RankingBuilder:
    """Makes a ranked row of a question.

    >>> import asyncio
    >>> async def never(*_):
    ...     raise AssertionError
    >>> async def agree(asked, better, worse):
    ...     return None
    >>> pool = tuple(PoolAnswer(f"In {1970 + n}.", "a", label) for n, label in enumerate(LABELS))
    >>> asked = Asked("q", "When did it open?", ("1972",), pool)
    >>> row = row_of(asyncio.run(RankingBuilder(never, never, agree).build(asked)))
    >>> [row["answers"][number - 1]["text"] for number in row["ranking"]], row["verified"]
    (['In 1972.', 'In 1971.', 'In 1970.'], 'model')
    """

    propose: Callable[[Asked], Awaitable[Sequence[PoolAnswer]]]
    """Gives answers; asked about questions that come with none."""
    mark: Callable[[Asked, str], Awaitable[tuple[str | None, str | None]]]
    """The label of an answer, or why it has none; asked about those without one."""
    confirm: Callable[[Asked, str, str], Awaitable[str | None]]
    """None if the first answer is better than the second; else what speaks against it."""
    seed: int = 0
    """Of the choice and of the order in which answers stand."""

    async def build(self, asked: Asked) -> Line:
        """What became of a question: its pool, and the three chosen answers or why there are none.

        Raises:
            ModelError: a model is out of reach, and the same call may succeed later.
        """
        rng = random.Random(f"{self.seed} {asked.question}")
        pool = [*(asked.pool or await self.propose(asked))]
        marks = await all_of(self._marked(asked, answer) for answer in pool)
        labelled = [answer for answer, _ in marks]
        chosen = choose(labelled, rng)
        fault = f"no answer is {chosen}" if isinstance(chosen, str) else await self._against(asked, chosen)
        return {
            "id": asked.id, "question": asked.question, "reference": [*asked.references],
            "pool": [{**_fields(answer), "fault": why} for answer, why in marks],
            "chosen": [] if isinstance(chosen, str) else [_fields(answer) for answer in chosen],
            "order": rng.sample(range(len(LABELS)), len(LABELS)), "fault": fault,
        }  # fmt: skip

    async def _marked(self, asked: Asked, answer: PoolAnswer) -> tuple[PoolAnswer, str | None]:
        if answer.label is not None:
            return answer, None
        label, fault = await self.mark(asked, answer.text)
        return replace(answer, label=label), fault

    async def _against(self, asked: Asked, chosen: Sequence[PoolAnswer]) -> str | None:
        """What speaks against an order, best first: the first fault of two neighbours."""
        faults = [await self.confirm(asked, better.text, worse.text) for better, worse in pairwise(chosen)]
        return next((fault for fault in faults if fault is not None), None)


def choose(pool: Iterable[PoolAnswer], rng: random.Random) -> list[PoolAnswer] | str:
    """One answer of each label, best first; or the label that none has. An irrelevant one counts as intermediate.

    >>> choose([PoolAnswer("In 1973.", "a", "correct"), PoolAnswer("Who knows?", "a", "irrelevant")], random.Random(0))
    'incorrect'
    """
    found: dict[str, list[PoolAnswer]] = {label: [] for label in reversed(LABELS)}
    for answer in pool:
        label = "intermediate" if answer.label == "irrelevant" else answer.label
        if label is not None:
            found[label].append(answer)
    missing = next((label for label, answers in found.items() if not answers), None)
    return missing or [rng.choice(answers) for answers in found.values()]


def row_of(line: Line) -> Line | None:
    """The row of a question in FGVeriBench's format, its answers in an order that tells nothing; None if it has none.

    Returns:
        id, question, reference, answers (text, label, generator), ranking (numbers of answers from 1, best first),
        verified ("model") and votes (none yet).
    """
    if line["fault"] is not None:
        return None
    order: list[int] = line["order"]
    return {
        "id": line["id"], "question": line["question"], "reference": line["reference"],
        "answers": [line["chosen"][place] for place in order],
        "ranking": [order.index(place) + 1 for place in range(len(order))], "verified": "model", "votes": {},
    }  # fmt: skip


def voted(row: Line, votes: Mapping[str, Vote]) -> Line | None:
    """A row with what people said about it; None if two of them reject it.

    Three votes make it verified by people; fewer leave it verified by a model alone.
    """
    if sum(vote == "reject" for vote in votes.values()) >= REJECTIONS:
        return None
    return {**row, "verified": "people" if len(votes) >= VOTERS else "model", "votes": dict(votes)}


def votes_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Vote]:
    """One person's votes by the id of the row; a later vote replaces an earlier one.

    Raises:
        InputError: a record without id, or with another vote than accept or reject.
    """
    found: dict[str, Vote] = {}
    for number, record in enumerate(records, 1):
        name, vote = record.get("id"), record.get("vote")
        if not isinstance(name, str) or vote not in ("accept", "reject"):
            raise InputError(f"vote {number} has id {name!r:.40} and vote {vote!r:.40}, wanted accept or reject")
        found[name] = vote
    return found


def agreement(votes: Mapping[str, Mapping[str, Vote]]) -> dict[str, float | int | None]:
    """How far people agree on the rows that all of them voted on.

    Args:
        votes: of each person, by the id of the row; two people or more.

    Returns:
        rows; all_agree, the share on which all votes are the same; pairwise, the share of pairs of votes that are; and
        kappa, the mean of Cohen's kappa over pairs of people. None where that is undefined.
    """
    people = [*votes.values()]
    shared = [name for name in people[0] if all(name in one for one in people)] if people else []
    if len(people) < 2 or not shared:
        return {"rows": len(shared), "all_agree": None, "pairwise": None, "kappa": None}
    table = [[one[name] for name in shared] for one in people]
    same = [len(set(column)) == 1 for column in zip(*table, strict=True)]
    pairs = [*combinations(table, 2)]
    alike = [a == b for one, other in pairs for a, b in zip(one, other, strict=True)]
    kappas = [float(cohen_kappa(one, other)) for one, other in pairs]
    known = [kappa for kappa in kappas if not np.isnan(kappa)]
    return {
        "rows": len(shared),
        "all_agree": round(sum(same) / len(same), 4),
        "pairwise": round(sum(alike) / len(alike), 4),
        "kappa": round(sum(known) / len(known), 4) if len(known) == len(kappas) else None,
    }


def why_dropped(lines: Iterable[Line]) -> Counter[str]:
    """How many questions made no row, by reason."""
    return Counter(line["fault"] for line in lines if line["fault"] is not None)


def _fields(answer: PoolAnswer) -> dict[str, Any]:
    return {"text": answer.text, "label": answer.label, "generator": answer.generator}


def built_rows(
    input: str, output: Path, work: AsyncWorkFactory, settings: Mapping[str, Any], resume: bool,
    run: Callable[[RowJob], BatchSummary],
) -> tuple[bool, list[str]]:  # fmt: skip
    """The first step: rows from questions, with a journal of what became of each beside the output.

    Args:
        input: path of the questions.
        output: where the rows go.
        work: makes a line of a question, see :class:`RankingBuilder`.
        settings: what makes the lines.
        resume: whether to resume what was cut short.
        run: runs the job, such as :func:`~vouching.rows.run_rows`.

    Returns:
        Whether it is done, and what is to be said about it.

    Raises:
        InputError: the input or an output cannot be used.
    """
    journal = journal_beside(input, output)
    summary = run(RowJob(input, str(journal), work, looker(), {**settings, "vouching": __version__}, resume=resume))
    lines = [line for line in read_lines(journal) if "problem" not in line]
    rows = [row for line in lines if (row := row_of(line)) is not None]
    write_lines(output, rows)
    told = [f"{number:,} question{'s' * (number != 1)}: {fault}" for fault, number in why_dropped(lines).most_common()]
    told.append(f"{len(rows):,} rows of {len(lines):,} questions, verified by a model alone; next: --voter")
    return summary.complete, told


def vote(
    built: Path, output: Path, resume: bool, answers: Iterable[str], show: Callable[[str], None]
) -> tuple[bool, list[str]]:
    """The second step: one person's votes, each written as it is given.

    Args:
        built: the rows.
        output: where the votes go.
        resume: whether to resume votes that are there.
        answers: what the person types, a line each: y, n, or q to stop.
        show: shows what is voted on.

    Returns:
        Whether all rows have a vote, and what is to be said about it.

    Raises:
        InputError: the rows or the votes cannot be used.
    """
    rows = _built(built)
    if output.exists() and output.stat().st_size and not resume:
        raise InputError(f"{output} has votes: add to them with --resume, or name another output")
    given = votes_of(_records(output)) if output.exists() else {}
    left = [row for row in rows if row["id"] not in given]
    said = iter(answers)
    with output.open("a", encoding="utf-8") as file:
        for number, row in enumerate(left, len(given) + 1):
            show("\n".join(_shown(row, number, len(rows))))
            voted_on = _asked(said, show)
            if voted_on is None:
                return False, [f"stopped: {number - 1:,} of {len(rows):,} rows voted on; resume with --resume"]
            file.write(json.dumps({"id": row["id"], "vote": voted_on}) + "\n")
            file.flush()
    return True, [f"voted on {len(rows):,} rows"]


def count_votes(built: Path, output: Path, files: Sequence[Path]) -> list[str]:
    """The third step: the rows that people keep, and how far they agree, as it is to be said.

    Raises:
        InputError: rows or votes cannot be used, more than three people, or one file twice.
    """
    if len(files) > VOTERS or len({path.resolve() for path in files}) < len(files):
        raise InputError(f"got the votes of {len(files)} files, wanted at most {VOTERS}, each once")
    if output.resolve() in {path.resolve() for path in (built, *files)}:
        raise InputError(f"{output} is one of the inputs: name another output")
    votes = {path.stem: votes_of(_records(path)) for path in files}
    rows = _built(built)
    kept = [
        found
        for row in rows
        if (found := voted(row, {name: one[row["id"]] for name, one in votes.items() if row["id"] in one})) is not None
    ]
    write_lines(output, kept)
    people = sum(row["verified"] == "people" for row in kept)
    told = [f"{len(rows) - len(kept):,} of {len(rows):,} rows dropped; of the others {people:,} verified by people"]
    found = agreement(votes)
    if found["all_agree"] is not None:
        kappa = "undefined" if found["kappa"] is None else f"{found['kappa']:.3f}"
        told.append(
            f"on {found['rows']:,} rows with all votes: all agree on {found['all_agree']:.1%}, pairs of votes on "
            f"{found['pairwise']:.1%}, mean kappa {kappa}"
        )
    return told


def _shown(row: Mapping[str, Any], number: int, rows: int) -> Iterator[str]:
    """A row as it is voted on: its answers best first, with nothing that could be taken for the program's own words."""
    yield f"\nRow {number:,} of {rows:,}. {visible_line(str(row['question']))}"
    yield f"Right answer: {visible_line(' | '.join(map(str, row['reference'])))}"
    for place, answer in enumerate(row["ranking"], 1):
        yield f"  {place}. {visible_line(str(row['answers'][answer - 1]['text']))}"
    yield "Do they stand from the most to the least correct? y, n, or q to stop:"


def _asked(answers: Iterator[str], show: Callable[[str], None]) -> str | None:
    """The next vote; None to stop."""
    for said in answers:
        match said.strip().lower():
            case "y" | "yes":
                return "accept"
            case "n" | "no":
                return "reject"
            case "q" | "quit":
                return None
            case other:
                show(f"Got {visible_line(other)!r}, wanted y, n or q:")
    return None


def _built(path: Path) -> list[dict[str, Any]]:
    """The rows of the first step, each of which must be one of a ranking set. Raises InputError."""
    found: dict[str, dict[str, Any]] = {}
    for record in _records(path):
        name = str(record.get("id"))
        try:
            [_] = fgveribench_row(record, name)
        except InputError as error:
            raise InputError(f"{path}, row {name}: {error}; wanted what the first step wrote") from None
        found[name] = record
    if not found:
        raise InputError(f"{path} has no row: build some with --judge")
    return [*found.values()]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with open_rows(str(path)) as reader:
        for row in reader:
            if row.fields is None:
                raise InputError(f"{reader.name}, {row.place}: {row.problem}")
            yield dict(row.fields)
