"""Builds ranking sets as FGVeriBench was built (DiVA, section 4): a pool of answers, labels, three of them, votes.

    answers of several models -> a judge labels each by the reference -> one correct, one intermediate and one incorrect
    -> the judge confirms their order -> three people vote; a row that two of them reject is dropped

    python recipes/rank/build.py --input questions.jsonl --model A --model B --judge J --output built.jsonl
    python recipes/rank/build.py --input built.jsonl --voter --output ada.jsonl
    python recipes/rank/build.py --input built.jsonl --votes ada.jsonl --votes bob.jsonl --output mine.jsonl

There are three steps, each from a file to a file: :func:`built_rows`, :func:`vote`, :func:`count_votes`. Rows without
human votes are marked ``verified``: "model". Not supported: choosing questions with one unambiguous answer; a web page
for voting.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from recipes.rank.marking import Candidate, Judge, RankQuestion, answers_of
from recipes.rank.questions import question_of
from vouching.bench.rankings import LABELS, fgveribench_row
from vouching.cli.streams import Exit, show_rows, write_error
from vouching.errors import InputError, VouchError
from vouching.metrics import cohen_kappa
from vouching.models.open import open_model
from vouching.models.running import all_of
from vouching.rows import (
    AsyncWorkFactory,
    Made,
    Row,
    RunJob,
    async_work,
    fields_of,
    journal_beside,
    looker,
    open_rows,
    read_lines,
    write_lines,
)
from vouching.rows.run import RowJob
from vouching.types.visible import shown_json, visible_line
from vouching.version import __version__

VOTERS = 3
"""People who vote on each row."""
REJECTIONS = 2
"""Votes against a row that drop it."""
Vote: TypeAlias = Literal["accept", "reject"]
Line: TypeAlias = dict[str, Any]
"""The result for a question, as JSON."""


@dataclass(frozen=True, slots=True)
class RankingBuilder:
    """Makes a ranked row from a question.

    >>> import asyncio
    >>> async def never(*_):
    ...     raise AssertionError
    >>> async def agree(question, better, worse):
    ...     return None
    >>> pool = tuple(Candidate(f"In {1970 + n}.", "a", label) for n, label in enumerate(LABELS))
    >>> question = RankQuestion("q", "When did it open?", ("1972",), candidates=pool)
    >>> row = row_of(asyncio.run(RankingBuilder(never, never, agree).build(question)))
    >>> [row["answers"][number - 1]["text"] for number in row["ranking"]], row["verified"]
    (['In 1972.', 'In 1971.', 'In 1970.'], 'model')
    """

    propose: Callable[[RankQuestion], Awaitable[Sequence[Candidate]]]
    """Answers questions that come without candidates."""
    mark: Callable[[RankQuestion, str], Awaitable[tuple[Any, str | None]]]
    """Returns the label of an answer, or None and the reason."""
    confirm: Callable[[RankQuestion, str, str], Awaitable[str | None]]
    """Returns None if the first answer is better than the second, else the objection."""
    seed: int = 0
    """Seed for the choice and the order of the answers."""

    async def build(self, question: RankQuestion) -> Line:
        """The pool of a question, and the three chosen answers or the reason why there are none.

        Raises ModelError if a model cannot be reached; the call can be retried.
        """
        rng = random.Random(f"{self.seed} {question.question}")
        pool = [*(question.candidates or await self.propose(question))]
        marks = await all_of(self._marked(question, answer) for answer in pool)
        labelled = [answer for answer, _ in marks]
        chosen = choose(labelled, rng)
        missing = isinstance(chosen, str)
        fault = f"no answer is labelled {chosen}" if missing else await self._objection(question, chosen)
        return {
            "id": question.id,
            "question": question.question,
            "reference": [*question.references],
            "pool": [{**_fields(answer), "fault": why} for answer, why in marks],
            "chosen": [] if isinstance(chosen, str) else [_fields(answer) for answer in chosen],
            "order": rng.sample(range(len(LABELS)), len(LABELS)),
            "fault": fault,
        }

    async def _marked(self, question: RankQuestion, answer: Candidate) -> tuple[Candidate, str | None]:
        if answer.label is not None:
            return answer, None
        label, fault = await self.mark(question, answer.answer)
        return replace(answer, label=label), fault

    async def _objection(self, question: RankQuestion, chosen: Sequence[Candidate]) -> str | None:
        """The first objection to the order of two neighbours."""
        faults = [await self.confirm(question, better.answer, worse.answer) for better, worse in pairwise(chosen)]
        return next((fault for fault in faults if fault is not None), None)


def ranking_work(models: Sequence[str], judge: str, per_model: int, seed: int) -> AsyncWorkFactory:
    """The work of :func:`built_rows`, with its language models opened by name.

    Args:
        models: models that answer the questions that come without answers.
        judge: model that labels and compares answers.
        per_model: answers of each model.
        seed: seed of all sampling.
    """
    writers = [open_model(name) for name in models]
    marker = Judge(open_model(judge), seed)

    async def propose(question: RankQuestion) -> list[Candidate]:
        if not writers:
            raise InputError("the question has no answers: pass --model to generate some, or add them to the row")
        return await answers_of(writers, question.question, per_model, seed)

    builder = RankingBuilder(propose, marker.mark, marker.confirm, seed)

    async def build(row: Row) -> Line:
        return await builder.build(question_of(fields_of(row), row.name, ""))

    async def close() -> None:
        for one in (*writers, marker.model):
            await one.aclose()

    return AsyncWorkFactory(lambda: async_work(build), close)


def choose(pool: Iterable[Candidate], rng: random.Random) -> list[Candidate] | str:
    """One answer of each label, best first; or the label that is missing. Irrelevant answers count as intermediate.

    >>> choose([Candidate("In 1973.", "a", "correct"), Candidate("Who knows?", "a", "irrelevant")], random.Random(0))
    'incorrect'
    """
    found: dict[str, list[Candidate]] = {label: [] for label in reversed(LABELS)}
    for answer in pool:
        label = "intermediate" if answer.label == "irrelevant" else answer.label
        if label is not None:
            found[label].append(answer)
    missing = next((label for label, answers in found.items() if not answers), None)
    return missing or [rng.choice(answers) for answers in found.values()]


def row_of(line: Line) -> Line | None:
    """The row of a question in FGVeriBench's format, its answers shuffled; None if the question has a fault."""
    if line["fault"] is not None:
        return None
    order: list[int] = line["order"]
    return {
        "id": line["id"],
        "question": line["question"],
        "reference": line["reference"],
        "answers": [line["chosen"][place] for place in order],
        "ranking": [order.index(place) + 1 for place in range(len(order))],
        "verified": "model",
        "votes": {},
    }


def voted(row: Line, votes: Mapping[str, Vote]) -> Line | None:
    """The row with its votes; None if two people reject it. Three votes make it "verified" by "people"."""
    if sum(vote == "reject" for vote in votes.values()) >= REJECTIONS:
        return None
    return {**row, "verified": "people" if len(votes) >= VOTERS else "model", "votes": dict(votes)}


def votes_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Vote]:
    """One person's votes by row id; later votes replace earlier ones. Raises InputError for an invalid record."""
    found: dict[str, Vote] = {}
    for number, record in enumerate(records, 1):
        name, vote = record.get("id"), record.get("vote")
        if not isinstance(name, str) or vote not in ("accept", "reject"):
            got = f"{shown_json(name)} and {shown_json(vote)}"
            raise InputError(f'vote {number} must have a string "id" and a "vote" that is accept or reject, got {got}')
        found[name] = vote
    return found


def agreement(votes: Mapping[str, Mapping[str, Vote]]) -> dict[str, float | int | None]:
    """The agreement of people, each with votes by row id, on the rows that all of them voted on.

    Returns:
        rows; all_agree, the share of rows with unanimous votes; pairwise, the share of equal pairs of votes; and kappa,
        the mean of Cohen's kappa over pairs of people. None where undefined.
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
    """How many questions yielded no row, by reason."""
    return Counter(line["fault"] for line in lines if line["fault"] is not None)


def _fields(answer: Candidate) -> dict[str, Any]:
    return {"text": answer.answer, "label": answer.label, "generator": answer.by}


def built_rows(
    input: str, output: Path, work: AsyncWorkFactory, settings: Mapping[str, Any], resume: bool, run: RunJob
) -> Made:
    """Step 1: rows from questions, with a journal of all questions next to the output.

    Args:
        input: path of the questions.
        output: path of the rows.
        work: see :func:`ranking_work`.
        settings: the settings that determine the lines.
        resume: whether to resume an interrupted run.
        run: runs the job, such as :func:`~vouching.rows.run_rows`.
    """
    journal = journal_beside(input, output)
    summary = run(RowJob(input, str(journal), work, looker(), {**settings, "vouching": __version__}, resume=resume))
    lines = [line for line in read_lines(journal) if "problem" not in line]
    rows = [row for line in lines if (row := row_of(line)) is not None]
    write_lines(output, rows)
    dropped = why_dropped(lines).most_common()
    report = [f"{_count(number, 'question')} dropped: {why}" for why, number in dropped]
    made = f"{_count(len(rows), 'row')} from {_count(len(lines), 'question')}"
    report.append(f"{made}, verified only by a model; next, add human votes with --voter")
    return summary.complete, report


def vote(built: Path, output: Path, resume: bool, answers: Iterable[str], show: Callable[[str], None]) -> Made:
    """Step 2: the votes of one person, each written as it is given.

    Args:
        built: path of the rows.
        output: path of the votes.
        resume: whether to continue existing votes.
        answers: the lines that the person types: y, n, or q to stop.
        show: displays text to the person.
    """
    rows = _built(built)
    if output.exists() and output.stat().st_size and not resume:
        raise InputError(f"{output} already contains votes: continue with --resume, or choose another output file")
    given = votes_of(_records(output)) if output.exists() else {}
    left = [row for row in rows if row["id"] not in given]
    typed = iter(answers)
    with output.open("a", encoding="utf-8") as file:
        for number, row in enumerate(left, len(given) + 1):
            show("\n".join(_shown(row, number, len(rows))))
            voted_on = _next_vote(typed, show)
            if voted_on is None:
                return False, [f"stopped after voting on {number - 1:,} of {len(rows):,} rows; continue with --resume"]
            file.write(json.dumps({"id": row["id"], "vote": voted_on}) + "\n")
            file.flush()
    return True, [f"voted on all {len(rows):,} rows"]


def count_votes(built: Path, output: Path, files: Sequence[Path]) -> list[str]:
    """Step 3: write the rows that people accept; returns lines about them and about the agreement."""
    if len(files) > VOTERS or len({path.resolve() for path in files}) < len(files):
        raise InputError(f"expected at most {VOTERS} different vote files, got {len(files)}")
    if output.resolve() in {path.resolve() for path in (built, *files)}:
        raise InputError(f"{output} is also an input file: choose another output file")
    votes = {path.stem: votes_of(_records(path)) for path in files}
    rows = _built(built)
    kept = [
        found
        for row in rows
        if (found := voted(row, {name: one[row["id"]] for name, one in votes.items() if row["id"] in one})) is not None
    ]
    write_lines(output, kept)
    people = sum(row["verified"] == "people" for row in kept)
    report = [f"{len(rows) - len(kept):,} of {len(rows):,} rows dropped; {people:,} of the others verified by people"]
    found = agreement(votes)
    if found["all_agree"] is not None:
        kappa = "undefined" if found["kappa"] is None else f"{found['kappa']:.3f}"
        report.append(
            f"agreement on the {found['rows']:,} rows that every voter judged: {found['all_agree']:.1%} unanimous, "
            f"{found['pairwise']:.1%} of the pairs of votes equal, mean kappa {kappa}"
        )
    return report


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _shown(row: Mapping[str, Any], number: int, rows: int) -> Iterator[str]:
    """A row for voting, its answers best first."""
    yield f"\nRow {number:,} of {rows:,}. {visible_line(str(row['question']))}"
    yield f"Correct answer: {visible_line(' | '.join(map(str, row['reference'])))}"
    for place, answer in enumerate(row["ranking"], 1):
        yield f"  {place}. {visible_line(str(row['answers'][answer - 1]['text']))}"
    yield "Are these answers ordered from most to least correct? y, n, or q to stop:"


def _next_vote(typed: Iterator[str], show: Callable[[str], None]) -> Vote | None:
    """The next vote; None to stop."""
    for line in typed:
        match line.strip().lower():
            case "y" | "yes":
                return "accept"
            case "n" | "no":
                return "reject"
            case "q" | "quit":
                return None
            case other:
                show(f"Got {visible_line(other)!r}, expected y, n or q:")
    return None


def _built(path: Path) -> list[dict[str, Any]]:
    """The rows of step 1. Raises InputError if a row is not one of a ranking set."""
    found: dict[str, dict[str, Any]] = {}
    for record in _records(path):
        name = str(record.get("id"))
        try:
            [_] = fgveribench_row(record, name)
        except InputError as error:
            raise InputError(f"{path}, row {name}: {error}; expected a file written with --judge") from None
        found[name] = record
    if not found:
        raise InputError(f"{path} has no rows: create some with --judge")
    return [*found.values()]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with open_rows(str(path)) as reader:
        for row in reader:
            if row.fields is None:
                raise InputError(f"{reader.name}, {row.place}: {row.problem}")
            yield dict(row.fields)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; 0, 2 for options or files that cannot be used, or 3 if some questions could not be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--input", type=Path, required=True, help="questions with references; later, the rows built")
    parser.add_argument("--output", type=Path, required=True, help="file for the rows or votes: .jsonl")
    parser.add_argument("--model", action="append", default=[], help="language model that answers; can be repeated")
    parser.add_argument("--judge", help="language model that labels and compares answers")
    parser.add_argument("--per-model", type=int, default=1, help="number of answers from each model")
    parser.add_argument("--voter", action="store_true", help="ask at the terminal whether each row is right")
    parser.add_argument("--votes", type=Path, action="append", default=[], help="file of --voter; up to three times")
    parser.add_argument("--seed", type=int, default=0, help="seed for all sampling")
    parser.add_argument("--resume", action="store_true", help="resume an interrupted step")
    try:
        done, report = _step(parser.parse_args(arguments))
    except VouchError as error:
        write_error(str(error))
        return Exit.USAGE
    for line in report:
        write_error(line)
    return Exit.OK if done else Exit.INCOMPLETE


def _step(given: argparse.Namespace) -> Made:
    """One step with these options. Raises InputError if they select none, or do not fit together."""
    if given.output.suffix != ".jsonl":
        raise InputError(f"--output must end in .jsonl, got {given.output}")
    if given.voter + bool(given.votes) + (given.judge is not None) != 1:
        raise InputError("choose one step: --judge NAME to build rows, --voter to vote, or --votes PATH to count votes")
    if given.judge is None and given.model:
        raise InputError("--model requires --judge: models answer only in the first step")
    if given.voter:
        return vote(given.input, given.output, given.resume, sys.stdin, print)
    if given.votes:
        return True, count_votes(given.input, given.output, given.votes)
    settings = {
        "command": "bench build",
        "models": ",".join(given.model),
        "judge": given.judge,
        "per_model": given.per_model,
        "seed": given.seed,
    }
    work = ranking_work(given.model, given.judge or "", given.per_model, given.seed)
    return built_rows(str(given.input), given.output, work, settings, given.resume, show_rows)


if __name__ == "__main__":
    sys.exit(main())
