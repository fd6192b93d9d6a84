"""A gate for documents: every claim of a file against sources, with accepted failures and an allowed share.

For pre-commit, GitHub Actions and other pipelines. A claim that fails and is not accepted counts; the gate passes while
their share of all judged claims is at most the allowed one. A claim that could not be judged keeps the gate from
passing, because a failed judge is no judgement, and so does one that the policy sends to review. Code blocks and front
matter are not claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vouching.checker import Checker
from vouching.errors import ConfigError
from vouching.inputs import SourcesLike, as_sources
from vouching.integrations.accepted import Accepted, accepted
from vouching.report.ci import CheckedText, region
from vouching.report.outcomes import OutcomePolicy
from vouching.types import Finding, Report

_FRONT_MATTER = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?\1[ \t]*(?=\r?\n|\Z)")
"""YAML or TOML between two lines at the top of a document."""


@dataclass(frozen=True, slots=True)
class Gated:
    """The outcome of a gate."""

    texts: tuple[CheckedText, ...]
    """Every file with its findings."""
    failed: tuple[tuple[CheckedText, Finding], ...]
    """Claims that failed and are not accepted."""
    review: tuple[tuple[CheckedText, Finding], ...]
    """Claims that the policy sends to review and that are not accepted."""
    unverified: tuple[tuple[CheckedText, Finding], ...]
    """Claims that could not be judged."""
    accepted: tuple[Accepted, ...]
    """Entries that let a claim pass."""
    stale: tuple[Accepted, ...]
    """Entries for these files that no failing claim needs any more."""
    allowed: float
    """Share of the judged claims that may fail, in [0, 1]."""
    abstained: int = 0
    """Sentences that say that something is not known, or not in the sources; they neither pass nor fail."""

    @property
    def judged(self) -> int:
        """Number of claims with a verdict."""
        return sum(finding.passed is not None for text in self.texts for finding in text.findings)

    @property
    def share(self) -> float:
        """Share of the judged claims that failed and are not accepted; 0 without a claim."""
        return len(self.failed) / self.judged if self.judged else 0.0

    @property
    def passed(self) -> bool | None:
        """False above the allowed share; None if a claim could not be judged or goes to review; else True."""
        if self.share > self.allowed:
            return False
        return None if self.unverified or self.review else True

    @property
    def entries(self) -> tuple[Accepted, ...]:
        """What a new baseline would accept in these files: every claim that was judged and does not pass now."""
        return tuple(accepted(text.name, finding) for text, finding in _stopped(self.texts))


def _stopped(texts: Iterable[CheckedText]) -> list[tuple[CheckedText, Finding]]:
    """The claims that were judged and do not pass, accepted ones too."""
    return [(text, one) for text in texts for one in text.findings if one.passed is not None and not text.passes(one)]


def gate(
    files: Iterable[tuple[str, str]],
    sources: SourcesLike,
    checker: Checker,
    known: Sequence[Accepted] = (),
    allowed: float = 0.0,
    policy: OutcomePolicy | None = None,
) -> Gated:
    """Check files against sources.

    Args:
        files: their paths and texts.
        sources: as for :func:`vouching.check`; all belong to every claim.
        checker: judges the claims.
        known: accepted failures.
        allowed: share of the judged claims that may fail, in [0, 1].
        policy: what passes, goes to review and fails; None: what is Attributable passes, the rest fails.

    Raises:
        ConfigError: a share outside [0, 1].
        InputError: no source, or a file that is not text.

    >>> notes = "The bridge opened in 1937. It has two towers."
    >>> found = gate([("notes.md", notes)], "It opened in 1973. The bridge has two towers.", Checker("embedded:rules"))
    >>> [finding.subject for _, finding in found.failed], found.share, found.passed
    (['The bridge opened in 1937.'], 0.5, False)
    """
    if not 0.0 <= allowed <= 1.0:
        raise ConfigError(f"the allowed share must be in [0, 1], got {allowed}")
    given, lets, passes = as_sources(sources), {one.key for one in known}, (policy or OutcomePolicy()).passes
    texts: list[CheckedText] = []
    abstained = 0
    for path, text in files:
        name = Path(path).as_posix()
        prose = _FRONT_MATTER.sub(lambda found: re.sub(r"\S", " ", found[0]), text)  # as long, so that spans stay right
        report = checker.check_response(prose, given) if prose.strip() else Report("", given, ())
        findings, abstained = report.findings, abstained + len(report.abstained)
        let = frozenset(one.subject for one in findings if accepted(name, one).key in lets)
        texts.append(CheckedText(name, findings, name, text, accepted=let, passes=passes))
    stopped = _stopped(texts)
    needed = {accepted(text.name, finding).key for text, finding in stopped}
    names = {text.name for text in texts}
    return Gated(
        tuple(texts),
        tuple((text, one) for text, one in stopped if passes(one) is False and not text.lets(one)),
        tuple((text, one) for text, one in stopped if passes(one) is None and not text.lets(one)),
        tuple((text, finding) for text in texts for finding in text.findings if finding.passed is None),
        tuple(one for one in known if one.key in needed),
        tuple(one for one in known if one.place in names and one.key not in needed),
        allowed,
        abstained,
    )


def problem_line(text: CheckedText, finding: Finding) -> str:
    """A problem as compilers print it: file, line, column, outcome and claim."""
    at = ""
    if text.text is not None and finding.span is not None:
        where = region(text.text, finding.span)
        at = f":{where['startLine']}:{where['startColumn']}"
    fix = getattr(finding, "fix_suggestion", None)
    why = getattr(finding, "problem", "") or finding.label.lower()
    if (passed := text.passes(finding)) != finding.passed:
        why = f"{'to review' if passed is None else 'fails by the policy'}: {why}"
    return f"{text.name}{at}: {why}: {' '.join(finding.subject.split())}{f' - {fix}' if fix else ''}"
