"""The pytest plugin: assertions that a text is attributable to its sources, with a readable failure.

    def test_the_summary_follows_its_documents(assert_attributable):
        assert_attributable(summarize(DOCUMENTS), DOCUMENTS)

``--vouch-report PATH`` writes all checks of the run as one report (.html, .xml or .sarif); ``--vouch-snapshot PATH``
names the accepted failures (default: vouch-accepted.json beside the configuration of pytest), which do not fail, and
``--vouch-accept`` writes those of the tests that ran into it. ``--vouch-model NAME`` or the ini option ``vouch_model``
chooses the judge. A judge that fails, fails the test: it is no judgement, so it cannot be accepted. Works with
pytest-xdist. Not supported: accepting a failure of another test with the same claim.

The module imports little, because every run of pytest in an environment with Vouch loads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import ndiff
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from vouching.checker import Checker
    from vouching.inputs import SourcesLike
    from vouching.integrations.accepted import Accepted
    from vouching.types import Finding, Report

__all__ = ["AssertAttributable", "failure_text"]

_OUTPUT = "vouch_checked"
"""Where a worker of pytest-xdist leaves its checks."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("vouch", "checks of texts against their sources")
    group.addoption("--vouch-report", metavar="PATH", help="Write all checks as a report: .html, .xml or .sarif.")
    group.addoption("--vouch-snapshot", metavar="PATH", help="File of accepted failures (vouch-accepted.json).")
    group.addoption("--vouch-accept", action="store_true", help="Accept the failures of the tests that run.")
    group.addoption("--vouch-model", metavar="NAME", help="Judge of the claims (default: embedded).")
    parser.addini("vouch_model", "Judge of the claims.", default="embedded")


@dataclass
class Checks:
    """The checks of a run, or of one worker of it."""

    snapshot: Path
    accept: bool
    model: str
    done: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Test and report, as JSON, since they also come from other processes."""
    _checkers: dict[tuple[str, float], Checker] = field(default_factory=dict[tuple[str, float], "Checker"])
    _known: list[Accepted] | None = None

    @property
    def known(self) -> list[Accepted]:
        """The accepted failures of the file."""
        if self._known is None:
            from vouching.integrations.accepted import read_accepted

            self._known = read_accepted(self.snapshot)
        return self._known

    def checker(self, model: str | None, threshold: float) -> Checker:
        """The checker for a judge, opened once."""
        from vouching.checker import Checker

        key = (model or self.model, threshold)
        if key not in self._checkers:
            self._checkers[key] = Checker(*key)
        return self._checkers[key]

    def close(self) -> None:
        """Close the connections of the judges."""
        for checker in self._checkers.values():
            checker.close()

    def reports(self) -> Iterator[tuple[str, Report]]:
        """The tests and their reports."""
        from vouching.types import Report
        from vouching.types.serial import from_json

        return ((test, from_json(Report, text)) for test, text in self.done)

    def stale(self) -> list[Accepted]:
        """Accepted failures of tests that ran and that no check needs."""
        from vouching.integrations.accepted import accepted

        ran = {test for test, _ in self.done}
        needed = {
            accepted(test, one).key for test, report in self.reports() for one in report.findings if one.passed is False
        }
        return [one for one in self.known if one.place in ran and one.key not in needed]

    def update(self) -> None:
        """Accept what failed in the tests that ran, and keep the entries of others."""
        from vouching.integrations.accepted import accepted, write_accepted

        ran = {test for test, _ in self.done}
        kept = [one for one in self.known if one.place not in ran]
        new = [accepted(test, one) for test, report in self.reports() for one in report.findings if one.passed is False]
        write_accepted(self.snapshot, [*kept, *new])
        self._known = None

    def write(self, path: str) -> None:
        """Write the report of the run."""
        from vouching.report.ci import CheckedText, is_ci, write_ci
        from vouching.report.page import write_report

        if not is_ci(path):
            write_report(path, [report for _, report in self.reports()], title="pytest")
            return
        lets = {(one.place, one.claim) for one in self.known}
        texts = (
            CheckedText(
                test,
                report.findings,
                test.partition("::")[0],
                accepted=frozenset(one.subject for one in report.findings if (test, one.subject) in lets),
            )
            for test, report in self.reports()
        )
        write_ci(path, texts)


_CHECKS = pytest.StashKey[Checks]()


def pytest_configure(config: pytest.Config) -> None:
    """Remember the settings; a report that could not be written ends the run before any test."""
    snapshot = config.getoption("--vouch-snapshot") or config.rootpath / "vouch-accepted.json"
    model = config.getoption("--vouch-model") or config.getini("vouch_model")
    config.stash[_CHECKS] = Checks(Path(snapshot), bool(config.getoption("--vouch-accept")), model)
    report = config.getoption("--vouch-report")
    if report and not hasattr(config, "workerinput"):
        from vouching.errors import InputError
        from vouching.report.ci import ci_target, is_ci
        from vouching.report.skeleton import page_target

        try:
            (ci_target if is_ci(report) else page_target)(report)
        except InputError as error:
            raise pytest.UsageError(f"--vouch-report: {error}") from None


class AssertAttributable:
    """Asserts that texts are attributable to their sources; the fixture ``assert_attributable`` is one of these."""

    def __init__(self, checks: Checks, test: str) -> None:
        self._checks, self._test = checks, test

    def __call__(
        self,
        text: str,
        sources: SourcesLike,
        *,
        question: str | None = None,
        model: str | None = None,
        threshold: float = 0.5,
        abstained: Literal["fail", "pass"] = "fail",
    ) -> Report:
        """Check each claim of a text.

        Args:
            text: one statement or a whole answer.
            sources: as for :func:`vouching.check`.
            question: the question that the text answers, if any.
            model: the judge, if not that of the run.
            threshold: score from which a claim is attributable, in [0, 1].
            abstained: whether a text that only says that it does not know passes.

        Returns:
            The report, for further assertions.

        Raises:
            AssertionError: a claim is not attributable and not accepted, could not be verified, or there is none.
            VouchError: as :func:`vouching.check_response`; the test shows its message alone.
        """
        from vouching.errors import VouchError
        from vouching.integrations.accepted import accepted
        from vouching.types.serial import to_json

        __tracebackhide__ = True
        if not text.strip():
            raise AssertionError("the text is empty, so it has no claim that could be checked")
        try:
            report = self._checks.checker(model, threshold).check_response(text, sources, question)
        except VouchError as error:
            raise error.with_traceback(None) from None
        self._checks.done.append((self._test, to_json(report)))
        lets = {one.key for one in self._checks.known}
        failed = [
            one
            for one in report.findings
            if one.passed is None
            or (one.passed is False and not self._checks.accept and accepted(self._test, one).key not in lets)
        ]
        may_abstain = abstained == "pass" and report.abstained
        if failed or not (report.findings or may_abstain):
            raise AssertionError(failure_text(report, failed))
        return report


def failure_text(report: Report, failed: list[Finding]) -> str:
    """What pytest shows: each failing claim with its fix as a difference, and what the sources say.

    >>> from vouching import check_response
    >>> report = check_response("It opened in 1937.", "The bridge opened in 1973.", model="embedded:rules")
    >>> print(failure_text(report, list(report.findings)))
    1 of 1 claims is not attributable to the sources
    <BLANKLINE>
    - It opened in 1937.
    ?                 -
    + It opened in 1973.
    ?                +
      temporal shift (74 % sure): The claim says 1937, the source says 1973.
    """
    if not report.findings:
        return report.without_claims
    is_or_are = "is" if len(failed) == 1 else "are"
    lines = [f"{len(failed)} of {len(report.findings)} claims {is_or_are} not attributable to the sources"]
    for finding in failed:
        revised = getattr(finding, "revised_claim", None)
        lines += ["", *_difference(finding.subject, revised)]
        if finding.kind == "unverified":
            lines.append(f"  could not be verified ({finding.reason}): {finding.message}")
        elif finding.kind == "verdict":
            reasons = [step.explanation for step in finding.reasoning_chain if step.judgment != "supported"]
            sure = f"{finding.problem or finding.relation.replace('_', ' ')} ({round(finding.confidence * 100)} % sure)"
            lines.append(f"  {sure}: {' '.join(reasons) or 'The sources do not support it.'}")
    return "\n".join(lines)


def _difference(old: str, new: str | None) -> list[str]:
    if new is None:
        return [f"- {line}" for line in old.splitlines()]
    return [line.rstrip("\n") for line in ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True))]


@pytest.fixture
def assert_attributable(request: pytest.FixtureRequest) -> AssertAttributable:
    """Asserts that a text is attributable to its sources: ``assert_attributable(text, sources)``."""
    return AssertAttributable(request.config.stash[_CHECKS], request.node.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the checks of a worker of pytest-xdist."""
    done = getattr(node, "workeroutput", {}).get(_OUTPUT, [])
    node.config.stash[_CHECKS].done.extend((str(test), str(text)) for test, text in done)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the checks over, or write the report and the accepted failures."""
    config = session.config
    checks = config.stash.get(_CHECKS, None)
    if checks is None:
        return
    checks.close()
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = checks.done
        return
    path = config.getoption("--vouch-report")
    if path:
        checks.write(path)
    if checks.accept and checks.done:
        checks.update()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was accepted, and what need not be any more."""
    checks = config.stash[_CHECKS]
    if not checks.done:
        return
    if checks.accept:
        number = len(checks.known)
        failures = "accepted failure" if number == 1 else "accepted failures"
        terminalreporter.write_line(f"vouch: {checks.snapshot.name} has {number} {failures}")
        return
    for one in checks.stale():
        terminalreporter.write_line(f"vouch: accepted, but no longer failing: {one.place}: {one.claim}")
