r"""Mathematical problems with one answer each: MATH-500 and AIME; answers are compared with math-verify.

An answer counts if it is marked: the last ``\\boxed{...}`` or, without any, what follows words like "the answer is".
Whole numbers are compared directly, number bases must agree, and the rest is left to math-verify (extra ``bench``),
which builds expressions with SymPy. A response like 9^{9^{9^9}} keeps SymPy busy forever, beyond the reach of Python's
signals, so the comparison runs in its own process, which is killed on timeout.

MATH-500 (Hendrycks et al. 2021, the 500 of Lightman et al. 2023): problem, solution, answer, subject, level, unique_id.
AIME: problem or question, answer, a whole number from 0 to 999; some copies have the answer in the box of the solution
only, and some no id. Not supported: asking a model; equalities that SymPy does not find, such as 0.\\overline{3} = 1/3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from vouching.bench.intervals import intervals
from vouching.bench.report import interval_words
from vouching.bench.rows import Fault, Record, Split, converted, responses_of, text_of, unread
from vouching.bench.task import DataSet, Line, Task
from vouching.errors import InputError, MissingExtraError
from vouching.metrics import mean
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.read import Row
from vouching.rows.worker import Work, Worker, WorkerError
from vouching.text.json_values import parse_json
from vouching.types.visible import shown_keys

Outcome: TypeAlias = Literal["right", "wrong", "no answer", "undecided"]
""""no answer" if none is marked, "undecided" if the comparison times out."""
START_SECONDS = 120.0
"""Timeout of the first comparison, which loads math-verify and SymPy."""
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_WHOLE = re.compile(r"[+-]?\d+")
_MEMORY = 4 << 30
"""Memory limit of the comparison process, in bytes."""
_BASE = re.compile(r"_\{?(\d+)\}?$")
_BOLD = re.compile(r"(?<![\w)}\]])\*\*|\*\*(?![\w({\[])")
"""Markdown bold; 2**3 is a power."""
_BLANKS = re.compile(r"\\(?:left|right)\b|\\?\$|\\[,!;:]|(?<!\d)\s+|\s+(?!\d)")


class AnswerChecker:
    r"""Compares answers, with ``patience`` seconds for each; a context manager that ends its process.

    Raises MissingExtraError without math-verify; :meth:`check` raises WorkerError if the process does not start.
    >>> with AnswerChecker() as checker:
    ...     checker.check(r"So it is $\boxed{042}$.", "42"), checker.check("It is 42, I think.", "42")
    ('right', 'no answer')
    """

    def __init__(self, patience: float = 10.0) -> None:
        if find_spec("math_verify") is None:
            raise MissingExtraError("bench", "comparing mathematical answers", "math_verify")
        self._patience = patience
        self._worker: Worker | None = None

    def __enter__(self) -> AnswerChecker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def check(self, response: str, answer: str) -> Outcome:
        """Compare the final answer of ``response`` with the gold ``answer``, which is LaTeX without a box."""
        given = boxed(response)
        if given is not None:
            short = compared_as_written(given, answer)
            if short is not None:
                return "right" if short else "wrong"
        if self._worker is None:
            self._worker = Worker(_math_work)
            self._ask(r"\boxed{1}", "2", START_SECONDS)
        try:
            return self._ask(
                _BOLD.sub("", response) if given is None else f"\\boxed{{{given}}}", answer, self._patience
            )
        except WorkerError:
            self.close()
            return "undecided"

    def _ask(self, given: str, answer: str, patience: float) -> Outcome:
        """Ask the process; a timeout kills it, which raises WorkerError."""
        assert self._worker
        timer = Timer(patience, self._worker.kill)
        timer.start()
        try:
            [line] = self._worker.work([Row(1, "the answer", {"given": given, "answer": answer})]).lines
        finally:
            timer.cancel()
        return cast("Outcome", parse_json(line))

    def close(self) -> None:
        """End the process; the next comparison starts another."""
        if self._worker is not None:
            self._worker.kill()
            self._worker.close()
            self._worker = None


def boxed(text: str) -> str | None:
    r"""The content of the last closed ``\boxed{...}``; None without one.

    >>> boxed(r"First \boxed{1}, then \boxed{\frac{1}{2}}, at last \boxed{3")
    '\\frac{1}{2}'
    """
    for start in reversed([match.end() for match in _BOX.finditer(text)]):
        depth = 1
        for place in range(start, len(text)):
            if text[place] in "{}" and text[place - 1] != "\\":
                depth += 1 if text[place] == "{" else -1
            if not depth:
                return text[start:place]
    return None


def compared_as_written(given: str, answer: str) -> bool | None:
    r"""Whether two answers are the same by their notation; None if that does not decide.

    >>> compared_as_written("012", "12"), compared_as_written("2516_8", "2516_9"), compared_as_written("x", "y")
    (True, False, None)
    """
    one, other = (_BLANKS.sub("", text) for text in (given, answer))
    if one == other and one:
        return True
    if _WHOLE.fullmatch(one) and _WHOLE.fullmatch(other):
        return _plain(one) == _plain(other)
    bases = [match[1] if (match := _BASE.search(text)) else None for text in (one, other)]
    if None not in bases and bases[0] != bases[1]:
        return False
    return None


def _plain(whole: str) -> str:
    """A whole number of any length without plus sign and leading zeros."""
    digits = whole.lstrip("+-").lstrip("0")
    return f"-{digits}" if digits and whole[0] == "-" else digits


def _math_work() -> Work:
    """The comparison, in the worker process."""
    import logging
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    math_verify: Any = import_module("math_verify")
    # It warns that its own timeouts are off; here the parent process has one.
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    marked = [
        math_verify.LatexExtractionConfig(try_extract_without_anchor=False, boxed_match_priority=0),
        math_verify.ExprExtractionConfig(try_extract_without_anchor=False),
    ]

    def work(row: Row) -> str:
        assert row.fields
        given = math_verify.parse(row.fields["given"], marked, parsing_timeout=None)
        if not given:
            return json.dumps("no answer")
        gold = math_verify.parse(f"\\boxed{{{row.fields['answer']}}}", marked, parsing_timeout=None)
        return json.dumps("right" if math_verify.verify(gold, given, timeout_seconds=None) else "wrong")

    return work


SIZES = {"math_500": 500, "aime_2024": 30, "aime_2025": 30}
"""Number of problems of each set."""


@dataclass(frozen=True, slots=True)
class MathProblem:
    """A problem with its answer."""

    id: str
    """Unique in its set."""
    problem: str
    answer: str
    """LaTeX without a box."""
    solution: str = ""
    part: str = ""
    """Subject and level, if the set has them."""
    responses: tuple[str, ...] = ()
    """The responses to be judged."""


def math_problem(record: Record, name: str) -> MathProblem:
    r"""A record of any of the published layouts as a problem; ``name`` is used if it has no id. Raises InputError.

    >>> one = math_problem({"problem": "1 + 1", "solution": "It is \\boxed{2}.", "level": 1, "subject": "Algebra"}, "a")
    >>> one.id, one.answer, one.part
    ('a', '2', 'Algebra 1')
    """
    fields = {key.lower(): value for key, value in record.items()}
    solution = fields.get("solution")
    solution = solution if isinstance(solution, str) else ""
    answer = fields.get("answer", boxed(solution))
    if isinstance(answer, int) and not isinstance(answer, bool):
        answer = str(answer)
    if not isinstance(answer, str) or not answer.strip():
        raise InputError(f'the row must have an "answer" or a boxed "solution"; {shown_keys(record)}')
    given = next((fields[key] for key in ("unique_id", "id") if fields.get(key) is not None), name)
    part = " ".join(str(fields[key]) for key in ("subject", "level") if fields.get(key) is not None)
    problem = text_of(fields, "problem" if "problem" in fields else "question")
    return MathProblem(str(given), problem.strip(), answer.strip(), solution, part)


def problems(paths: Sequence[Path], split: Split) -> Iterator[MathProblem | Fault]:
    """The problems of a set; problems without an id are named after their file."""
    for path in paths:
        file, _, ending = path.name.partition(".")
        if ending in ("jsonl", "jsonl.gz", "parquet"):
            yield from converted(path, lambda record, row, file=file: [math_problem(record, f"{file}-{row}")])


class MathTask(Task[MathProblem]):
    """The task of sets of problems: the mean over problems of the share of right responses.

    Args:
        responses: path of the rows with ``id`` (of a problem) and ``response``; every problem needs at least one.
    """

    command = "python recipes/bench/run.py score"
    headings = ("", "problems >", "accuracy [95 %]", "no answer >", "undecided >")

    def __init__(self, responses: str | None) -> None:
        if responses is None:
            raise InputError('these sets need your responses: pass --responses FILE, rows of "id" and "response"')
        self._path = responses
        self._checker = AnswerChecker()
        self.arguments = f"--responses {Path(responses).name}"
        self.settings = {"responses": Path(responses).name}

    def rows(self, data_set: DataSet[MathProblem], folder: Path, split: Split) -> Iterator[MathProblem | Fault]:
        """The problems with their responses. Raises InputError if these do not fit the problems."""
        rows = [*data_set.rows(folder, split)]
        known = {row.id for row in rows if isinstance(row, MathProblem)}
        found: dict[str, list[str]] = {}
        for place, name, response in responses_of(self._path, "id"):
            if name not in known:
                raise InputError(f"{place}: {data_set.name} has no problem with the id {name[:80]!r}")
            found.setdefault(name, []).append(response)
        if missing := sorted(known - found.keys()):
            raise InputError(f"no response to {missing[0]!r}: expected at least one response to each problem")
        yield from (row if isinstance(row, Fault) else replace(row, responses=tuple(found[row.id])) for row in rows)

    def work(self) -> AsyncWorkFactory:
        """The work that scores rows."""

        async def work(row: Row) -> str:
            return json.dumps(_scored(row, self._checker), ensure_ascii=False)

        async def aclose() -> None:
            self._checker.close()

        return AsyncWorkFactory(lambda: work, aclose, 1)

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of the set and its parts; undecided comparisons are excluded."""
        parts: dict[str, list[Line]] = {}
        for line in lines:
            parts.setdefault(line["part"], []).append(line)
        found = {name: _figures(part, resamples) for name, part in sorted(parts.items())} if len(parts) > 1 else {}
        return {**_figures(lines, resamples), "parts": found}

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        return f"{results['settings']['responses']} on {', '.join(results['sets'])}", f"{rows:,} problems"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """The figures of a set as table rows."""
        for name, one in {"all problems": found, **found["parts"]}.items():
            problems, unanswered, undecided = (f"{one[key]:,}" for key in ("problems", "unanswered", "undecided"))
            yield name, problems, interval_words(one["accuracy"]), unanswered, undecided

    @staticmethod
    def validate(data_set: DataSet[MathProblem], rows: Sequence[MathProblem]) -> Iterator[Fault]:
        """A wrong number of problems, answers outside AIME's range, and answers that do not equal themselves."""
        if len(rows) != SIZES[data_set.name]:
            count = f"{len(rows)} usable problems, expected {SIZES[data_set.name]}"
            yield Fault("the whole set", count)
        with AnswerChecker() as checker:
            for problem in rows:
                if data_set.name != "math_500" and not (problem.answer.isdecimal() and int(problem.answer) <= 999):
                    problem_found = f"the answer must be a whole number from 0 to 999, got {problem.answer!r}"
                    yield Fault(f"problem {problem.id}", problem_found)
                for what, given in (("answer", f"\\boxed{{{problem.answer}}}"), ("solution", problem.solution)):
                    if boxed(given) is not None and checker.check(given, problem.answer) != "right":
                        yield Fault(f"problem {problem.id}", f"the reference {what} is not accepted as correct")
                if checker.check(f"\\boxed{{{problem.answer} + 1}}", problem.answer) == "right":
                    yield Fault(f"problem {problem.id}", "the answer plus one is accepted as correct")


def _scored(row: Row, checker: AnswerChecker) -> Line:
    if row.fields is None:
        return {"id": row.name, "part": "", "share": None, "unanswered": 0, "undecided": 0, "failed": unread(row)}
    problem: MathProblem = row.fields["row"]
    outcomes = [checker.check(response, problem.answer) for response in problem.responses]
    undecided = outcomes.count("undecided")
    decided = len(outcomes) - undecided
    return {
        "id": problem.id,
        "part": problem.part,
        "share": outcomes.count("right") / decided if decided else None,
        "unanswered": outcomes.count("no answer"),
        "undecided": undecided,
        "failed": None,
    }


def _figures(lines: Sequence[Line], resamples: int) -> dict[str, Any]:
    shares = [line["share"] for line in lines if line["share"] is not None]
    found = intervals({"accuracy": partial(mean, shares)}, np.arange(len(shares)), resamples) if shares else {}
    counts = {key: sum(line[key] for line in lines) for key in ("unanswered", "undecided")}
    return {"problems": sum(line["failed"] is None for line in lines), "accuracy": found.get("accuracy"), **counts}
