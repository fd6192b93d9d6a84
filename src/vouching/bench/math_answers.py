r"""Whether a response to a mathematical problem ends with the right answer: math-verify, kept where it can do no harm.

An answer counts if it is marked as one: the last ``\boxed{...}``, or, without any, what follows words like "the answer
is". Whole numbers are compared as such, bases of numerals must agree, and the rest is for math-verify (extra
``bench``), which builds expressions with SymPy. A response like 9^{9^{9^9}} keeps SymPy busy for ever, beyond the reach
of Python's signals, so this happens in a process of its own that is killed when it takes too long. Left out: what
SymPy does not find equal, such as 0.\overline{3} and 1/3.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.util import find_spec
from threading import Timer
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

from vouching.batch.rows import Row
from vouching.batch.worker import Work, Worker, WorkerError
from vouching.errors import MissingExtraError

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
