"""MATH-500 and AIME, as published: problems with one answer each, to see whether training elsewhere did harm.

MATH-500 (Hendrycks et al. 2021, the 500 of Lightman et al. 2023): problem, solution, answer, subject, level, unique_id.
AIME: problem or question, answer, a whole number from 0 to 999; some copies have the answer in the box of the solution
only, and some no id. Left out: asking a model; whoever does gives several responses to a problem if the set is small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from vouching.bench.math_answers import AnswerChecker, boxed
from vouching.bench.rows import Fault, Record, converted, text_of
from vouching.errors import InputError
from vouching.metrics import Interval, bca, mean, paired_bca

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
