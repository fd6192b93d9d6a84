"""Reports that continuous integration reads: JUnit XML, a test case per finding, and SARIF 2.1.0, a result per problem.

A finding that did not pass is a failure, one that the judge failed on is an error, never a pass. SARIF has the place in
the checked file, in lines and columns (code points, from 1), a fingerprint that survives moved lines, and verified
fixes. Sources: the JUnit format as Jenkins and GitLab read it; OASIS, SARIF 2.1.0, sections 3.27 to 3.30, 3.55.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from vouching.errors import InputError
from vouching.types import Finding, Span, Verdict
from vouching.version import __version__

ENDINGS = {".xml": "JUnit XML", ".sarif": "SARIF"}
"""Endings of the names of such reports."""
_MARKS = {".xml": b"<testsuite", ".sarif": b'"runs"'}
"""What an existing file must contain to be replaced."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEAD = 2_000
_RULES = {
    "numerical_exaggeration": "A number differs from the sources.",
    "temporal_shift": "A date or a time differs from the sources.",
    "negation_flip": "The claim denies what the sources say, or the reverse.",
    "entity_substitution": "A name or a thing differs from the sources.",
    "scope_inflation": "The claim says more than the sources.",
    "fabrication": "The sources do not say it.",
    "conflict": "The sources disagree.",
    "not_supported": "The sources do not support it.",
    "unverified": "The judge failed; this is no judgement.",
    "policy": "A rule of the policy decides otherwise than the verdict.",
}


@dataclass(frozen=True, slots=True)
class CheckedText:
    """What was checked, with its findings."""

    name: str
    """Name of the text: its file, its row or "claim"."""
    findings: tuple[Finding, ...]
    path: str | None = None
    """Its file; None for a text that is in none."""
    text: str | None = None
    """The content of the file, to which the spans of the findings refer; None if a row of the file is meant."""
    line: int | None = None
    """The line of the row, from 1."""
    accepted: frozenset[str] = frozenset()
    """Claims that a person has accepted although they did not pass: skipped in JUnit XML and suppressed in SARIF."""
    passes: Callable[[Finding], bool | None] = attrgetter("passed")
    """Whether a finding passes, None if unknown: by itself, or by a policy (:mod:`vouching.report.outcomes`)."""

    def lets(self, finding: Finding) -> bool:
        """Whether a finding that was judged and did not pass is accepted."""
        return finding.passed is not None and not self.passes(finding) and finding.subject in self.accepted


def is_ci(path: str | Path) -> bool:
    """Whether a report at ``path`` is for continuous integration, by the ending of its name."""
    return Path(path).suffix.lower() in ENDINGS


def ci_target(path: str | Path) -> Path:
    """The file that such a report will replace or create; checked before the work.

    Raises InputError for a folder, a missing folder, or an existing file that is not such a report.
    """
    refusal, target, ending = f"the report cannot be written to {path}", Path(path), Path(path).suffix.lower()
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{refusal}: expected the name of a file in an existing folder")
    if target.exists():
        with suppress(OSError), target.open("rb") as there:
            start = there.read(_HEAD)
            if start and _MARKS[ending] not in start:
                raise InputError(f"{refusal}: the existing file is not {ENDINGS[ending]}; choose another path")
    return target


def write_ci(path: str | Path, texts: Iterable[CheckedText]) -> None:
    """Write the findings as JUnit XML (.xml) or SARIF (.sarif), replacing a report. Raises InputError if that fails."""
    target = ci_target(path)
    written = junit_xml(texts) if target.suffix.lower() == ".xml" else sarif(texts)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(written, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise InputError(f"the report cannot be written to {path}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def junit_xml(texts: Iterable[CheckedText]) -> str:
    """The findings as JUnit XML: a suite per text, a case per finding.

    >>> from vouching import check
    >>> verdict = check("It opened in 1937.", "It opened in 1973.")
    >>> "<failure message=" in junit_xml([CheckedText("claim", (verdict,))])
    True
    """
    root = ElementTree.Element("testsuites", name="vouch")
    for checked in texts:
        counted = [checked.passes(finding) for finding in checked.findings if not checked.lets(finding)]
        accepted = len(checked.findings) - len(counted)
        seconds = f"{sum(_seconds(finding) for finding in checked.findings):.3f}"
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_xml(checked.name),
            tests=str(len(checked.findings)),
            failures=str(counted.count(False)),
            errors=str(counted.count(None)),
            skipped=str(accepted),
            time=seconds,
        )
        for finding in checked.findings:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=_xml(checked.name),
                name=_xml(finding.subject),
                time=f"{_seconds(finding):.3f}",
            )
            if checked.path is not None:
                case.set("file", _xml(checked.path))
            if checked.lets(finding):
                ElementTree.SubElement(case, "skipped", message=_xml(f"accepted: {_message(finding)}"))
            elif not (passed := checked.passes(finding)):
                kind = "error" if passed is None else "failure"
                problem = ElementTree.SubElement(
                    case, kind, message=_xml(_message(finding)), type=_rule(checked, finding)
                )
                problem.text = _xml(str(finding))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def sarif(texts: Iterable[CheckedText]) -> str:
    """The findings that did not pass as SARIF 2.1.0.

    >>> from vouching import check_response
    >>> text = "It is old. It opened in 1937."
    >>> report = check_response(text, "It opened in 1973. It is old.")
    >>> log = json.loads(sarif([CheckedText("a.md", report.findings, "a.md", text)]))
    >>> log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startColumn"]
    12
    """
    results = [
        _result(checked, finding) for checked in texts for finding in checked.findings if not checked.passes(finding)
    ]
    rules = [{"id": name, "shortDescription": {"text": words}} for name, words in _RULES.items()]
    driver = {"name": "vouch", "semanticVersion": __version__, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _result(checked: CheckedText, finding: Finding) -> dict[str, Any]:
    rule = _rule(checked, finding)
    found: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": [*_RULES].index(rule),
        "level": "warning" if checked.passes(finding) is None else "error",
        "message": {"text": f"{_message(finding)}: {finding.subject}"},
        "partialFingerprints": {"vouchClaim/v1": fingerprint(checked.path or checked.name, finding.subject)},
    }
    if checked.lets(finding):
        found["suppressions"] = [{"kind": "external", "status": "accepted"}]
    if checked.path is None:
        return found
    artifact = {"uri": Path(checked.path).as_posix()}
    place: dict[str, Any] = {"artifactLocation": artifact}
    span = finding.span
    if checked.text is not None and span is not None:
        place["region"] = region(checked.text, span)
    elif checked.line is not None:
        place["region"] = {"startLine": checked.line}
    found["locations"] = [{"physicalLocation": place}]
    if "region" in place and isinstance(finding, Verdict) and (edit := _edit(finding)):
        change = {"deletedRegion": place["region"], "insertedContent": {"text": edit}}
        changes = [{"artifactLocation": artifact, "replacements": [change]}]
        found["fixes"] = [{"description": {"text": finding.fix_suggestion or edit}, "artifactChanges": changes}]
    return found


def fingerprint(place: str, claim: str) -> str:
    """Names a claim in a text, wherever it stands there: spaces and case do not matter."""
    return hashlib.sha256(f"{Path(place).as_posix()}\0{' '.join(claim.lower().split())}".encode()).hexdigest()[:32]


def region(text: str, span: Span) -> dict[str, int]:
    r"""A span as a SARIF region: lines and columns from 1, the end column exclusive.

    >>> region("One.\nIt opened.", Span("opened", 8, 14))
    {'startLine': 2, 'startColumn': 4, 'endLine': 2, 'endColumn': 10, 'charOffset': 8, 'charLength': 6}
    """
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    first, column = _line_and_column(starts, span.start)
    last, end = _line_and_column(starts, span.end)
    return {
        "startLine": first,
        "startColumn": column,
        "endLine": last,
        "endColumn": end,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _line_and_column(starts: Sequence[int], offset: int) -> tuple[int, int]:
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def _edit(verdict: Verdict) -> str | None:
    """The text in place of the claim; None without a verified fix, or if the claim is not as the text has it."""
    span = verdict.claim.span
    return verdict.revised_claim if span is not None and span.text == verdict.claim.text else None


def _rule(checked: CheckedText, finding: Finding) -> str:
    if finding.passed is None:
        return "unverified"
    if checked.passes(finding) != finding.passed:
        return "policy"
    if isinstance(finding, Verdict):
        return "conflict" if finding.relation == "conflicting" else finding.error_type or "not_supported"
    return "not_supported"


def _message(finding: Finding) -> str:
    """The outcome in one line, with the fix."""
    return " ".join(_lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    if isinstance(finding, Verdict):
        yield finding.headline.lstrip("✓✗ ")
        if finding.fix_suggestion:
            yield f"- {finding.fix_suggestion}"
    else:
        yield str(finding).partition("\n")[0].lstrip("✓✗? ")


def _seconds(finding: Finding) -> float:
    usage = getattr(finding, "usage", None)
    return 0.0 if usage is None else usage.seconds


def _xml(text: str) -> str:
    """The text without characters that XML 1.0 does not have."""
    return _NOT_XML.sub("\ufffd", text)
