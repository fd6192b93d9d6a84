r"""Whether a response to a mathematical problem ends with the right answer: math-verify, kept where it can do no harm.

An answer counts if it is marked as one: the last ``\\boxed{...}``, or, without any, what follows words like "the answer
is". Whole numbers are compared as such, bases of numerals must agree, and the rest is for math-verify (extra
``bench``), which builds expressions with SymPy. A response like 9^{9^{9^9}} keeps SymPy busy for ever, beyond the reach
of Python's signals, so this happens in a process of its own that is killed when it takes too long. Left out: what
SymPy does not find equal, such as 0.\\overline{3} and 1/3.

MATH-500 and AIME, as published: problems with one answer each, to see whether training elsewhere did harm.

MATH-500 (Hendrycks et al. 2021, the 500 of Lightman et al. 2023): problem, solution, answer, subject, level, unique_id.
AIME: problem or question, answer, a whole number from 0 to 999; some copies have the answer in the box of the solution
only, and some no id. Left out: asking a model; whoever does gives several responses to a problem if the set is small.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

from vouching.bench.rows import Fault, Record, converted, text_of
from vouching.errors import InputError, MissingExtraError
from vouching.metrics import Interval, bca, mean, paired_bca
from vouching.rows.read import Row
from vouching.rows.worker import Work, Worker, WorkerError

Outcome: TypeAlias = Literal["right", "wrong", "no answer", "undecided"]
"""What a response's answer is; "no answer" if none is marked, "undecided" if comparing takes too long."""
START_SECONDS = 120.0
"""Patience with the first comparison, for which math-verify and SymPy are loaded."""
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_WHOLE = re.compile(r"[+-]?\d+")
_MEMORY = 4 << 30
"""Bytes that the process of the comparisons may have."""
_BASE = re.compile(r"_\{?(\d+)\}?$")
_BOLD = re.compile(r"(?<![\w)}\]])\*\*|\*\*(?![\w({\[])")
"""Markdown's bold; 2**3 is a power."""
_BLANKS = re.compile(r"\\(?:left|right)\b|\\?\$|\\[,!;:]|(?<!\d)\s+|\s+(?!\d)")


class AnswerChecker:
    r"""Compares answers, one after the other; a context that ends its process.

    Args:
        patience: seconds for one comparison.

    Raises:
        MissingExtraError: math-verify is not installed.
        WorkerError: from :meth:`check`, the process does not come up.

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
        self._end()

    def check(self, response: str, answer: str) -> Outcome:
        """What the final answer of ``response`` is beside the gold ``answer``, which is LaTeX without a box."""
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
            self._end()
            return "undecided"

    def _ask(self, given: str, answer: str, patience: float) -> Outcome:
        """What the process says; it is killed if it says nothing in time, which raises WorkerError."""
        assert self._worker
        impatience = Timer(patience, self._worker.kill)
        impatience.start()
        try:
            [line] = self._worker.ask([Row(1, "the answer", {"given": given, "answer": answer})]).lines
        finally:
            impatience.cancel()
        return cast("Outcome", json.loads(line))

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.close()
            self._worker = None


def boxed(text: str) -> str | None:
    r"""What stands in the last ``\boxed{...}`` that is closed; None without one.

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
    r"""Whether two answers are the same by the way they are written; None if that does not tell.

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
    """A whole number of any length without plus and zeros before it."""
    digits = whole.lstrip("+-").lstrip("0")
    return f"-{digits}" if digits and whole[0] == "-" else digits


def _math_work() -> Work:
    """Comparing, in the worker's process."""
    import logging
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    math_verify: Any = import_module("math_verify")
    # It warns that its own time limits are off; the one who waits has a better one.
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


MathSet: TypeAlias = Literal["math_500", "aime_2024", "aime_2025"]
SIZES: dict[MathSet, int] = {"math_500": 500, "aime_2024": 30, "aime_2025": 30}
"""How many problems a set has."""
SOURCES: dict[MathSet, str] = {
    "math_500": "test.jsonl of huggingface.co/datasets/HuggingFaceH4/MATH-500",
    "aime_2024": "the Parquet file in data of huggingface.co/datasets/HuggingFaceH4/aime_2024",
    "aime_2025": "test.jsonl of huggingface.co/datasets/math-ai/aime25, or aime2025-I.jsonl and aime2025-II.jsonl of "
    "huggingface.co/datasets/opencompass/AIME2025",
}
"""How to get each; all are public, MATH under MIT, AIME without a stated licence."""


@dataclass(frozen=True, slots=True)
class MathProblem:
    """A problem with its answer."""

    id: str
    """Its id, unique in its set."""
    problem: str
    """The problem."""
    answer: str
    """The answer, as LaTeX without a box."""
    solution: str = ""
    """How it is found; empty where the set does not say."""
    part: str = ""
    """Subject and level, where the set has them."""


@dataclass(frozen=True, slots=True)
class MathScore:
    """How many problems were solved."""

    accuracy: Interval
    """Mean over problems of the share of right responses, by bootstrap over problems."""
    shares: dict[str, float]
    """This share by problem."""
    unanswered: int
    """Responses in which no answer is marked; they count as wrong."""
    undecided: int
    """Responses whose answer could not be compared in time; they are left out."""


def math_problems(folder: Path, name: MathSet) -> Iterator[MathProblem | Fault]:
    """The problems of a set, and what is wrong with those that cannot be used.

    Args:
        folder: the folder with the data sets, see :func:`vouching.bench.catalog.data_folder`.
        name: which set; its files lie in a folder of this name.

    Raises:
        InputError: it is not there; the message says how to get it. Or no set is called so.
    """
    if name not in SOURCES:
        raise InputError(f"there is no set of problems {name!r}, only {', '.join(SOURCES)}")
    paths = sorted(path for ending in ("jsonl", "jsonl.gz", "parquet") for path in (folder / name).glob(f"*.{ending}"))
    if not paths:
        raise InputError(f"{name} is not here: wanted its files in {folder / name}; to get them: {SOURCES[name]}")
    for path in paths:
        file = path.name.partition(".")[0]
        yield from converted(path, lambda record, row, file=file: [math_problem(record, f"{file}-{row}")])


def math_problem(record: Record, name: str) -> MathProblem:
    r"""A record of any of the published layouts as a problem.

    Args:
        record: its fields.
        name: its id, if it has none.

    Raises:
        InputError: it has no problem, or no answer.

    >>> math_problem({"problem": "1 + 1?", "solution": "It is \\boxed{2}.", "level": 1, "subject": "Algebra"}, "test-1")
    MathProblem(id='test-1', problem='1 + 1?', answer='2', solution='It is \\boxed{2}.', part='Algebra 1')
    """
    fields = {key.lower(): value for key, value in record.items()}
    solution = fields.get("solution")
    solution = solution if isinstance(solution, str) else ""
    answer = fields.get("answer", boxed(solution))
    if isinstance(answer, int) and not isinstance(answer, bool):
        answer = str(answer)
    if not isinstance(answer, str) or not answer.strip():
        raise InputError(f'it has the fields {", ".join(map(str, record))}, wanted "answer", or a solution with a box')
    given = next((fields[key] for key in ("unique_id", "id") if fields.get(key) is not None), name)
    part = " ".join(str(fields[key]) for key in ("subject", "level") if fields.get(key) is not None)
    problem = text_of(fields, "problem" if "problem" in fields else "question")
    return MathProblem(str(given), problem.strip(), answer.strip(), solution, part)


def score_responses(
    problems: Sequence[MathProblem], responses: Mapping[str, Sequence[str]], checker: AnswerChecker
) -> MathScore:
    r"""Compare responses with the answers.

    Args:
        problems: the problems.
        responses: by id of the problem, a text or several; every problem needs one.
        checker: compares.

    Raises:
        InputError: a problem without a response, a response to no problem, or nothing that could be compared.

    >>> problems = [MathProblem("1", "1 + 1?", "2"), MathProblem("2", "Half of 1?", r"\frac{1}{2}")]
    >>> with AnswerChecker() as checker:
    ...     score = score_responses(problems, {"1": [r"\boxed{2}", r"\boxed{3}"], "2": [r"\boxed{0.5}"]}, checker)
    >>> score.shares, score.accuracy.estimate
    ({'1': 0.5, '2': 1.0}, 0.75)
    """
    known = {problem.id for problem in problems}
    wrong = sorted(known.symmetric_difference(name for name, given in responses.items() if given))
    if wrong:
        what = (
            f"no response to {wrong[0]!r}" if wrong[0] in known else f"responses to {wrong[0]!r}, which is no problem"
        )
        raise InputError(f"got {what}: wanted one response or more to each problem")
    shares: dict[str, float] = {}
    unanswered = undecided = 0
    for problem in problems:
        given = responses[problem.id]
        texts = [given] if isinstance(given, str) else given
        outcomes = [checker.check(response, problem.answer) for response in texts]
        unanswered += outcomes.count("no answer")
        undecided += outcomes.count("undecided")
        decided = len(outcomes) - outcomes.count("undecided")
        if decided:
            shares[problem.id] = outcomes.count("right") / decided
    return MathScore(_accuracy(shares), shares, unanswered, undecided)


def _accuracy(shares: Mapping[str, float]) -> Interval:
    values = [*shares.values()]
    if not values:
        raise InputError("there is no response whose answer could be compared in time")
    return bca(partial(mean, values), groups=len(values))


def change(before: MathScore, after: MathScore) -> Interval:
    """How much the accuracy changed, by paired bootstrap over the problems that both have.

    >>> no_bounds = Interval(0.5, None, None, 0.95, "BCa")
    >>> before, after = (MathScore(no_bounds, {"1": one, "2": 1.0}, 0, 0) for one in (0.0, 0.5))
    >>> change(before, after).estimate
    0.25
    """
    both = [name for name in before.shares if name in after.shares]
    if not both:
        raise InputError("the two scores have no problem in common")
    old, new = ([score.shares[name] for name in both] for score in (before, after))
    return paired_bca(partial(mean, new), partial(mean, old), groups=len(both))


def validate(folder: Path, name: MathSet, checker: AnswerChecker) -> Iterator[Fault]:
    """What is wrong with a set, without a model: rows, ids, number, and answers that are not equal to themselves.

    Raises:
        InputError: it is not there.
    """
    problems: list[MathProblem] = []
    for problem in math_problems(folder, name):
        if isinstance(problem, Fault):
            yield problem
        else:
            problems.append(problem)
    if len(problems) != SIZES[name]:
        yield Fault("the whole set", f"it has {len(problems)} problems that can be used, wanted {SIZES[name]}")
    seen: set[str] = set()
    for problem in problems:
        if problem.id in seen:
            yield Fault(f"problem {problem.id}", "its id occurs twice")
        seen.add(problem.id)
        if name != "math_500" and not (problem.answer.isdecimal() and int(problem.answer) <= 999):
            yield Fault(f"problem {problem.id}", f"its answer is {problem.answer!r}, wanted a number from 0 to 999")
        for what, given in (("answer", f"\\boxed{{{problem.answer}}}"), ("solution", problem.solution)):
            if boxed(given) is not None and checker.check(given, problem.answer) != "right":
                yield Fault(f"problem {problem.id}", f"the answer of its {what} is not found right")
        if checker.check(f"\\boxed{{{problem.answer} + 1}}", problem.answer) == "right":
            yield Fault(f"problem {problem.id}", "one more than its answer is found right")
