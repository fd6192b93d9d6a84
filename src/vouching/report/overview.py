"""Counts over all records of a report, added one at a time, and their charts."""

from __future__ import annotations

from array import array
from collections import Counter

from vouching.report.charts import bar_chart, histogram, share_bar
from vouching.report.findings import UNUSABLE_ROW, is_unusable_row
from vouching.report.svg import Tone
from vouching.types import Finding, Report, Unverified, Verdict

TONES: dict[str, Tone] = {
    "Attributable": "match",
    "Passed": "match",
    "Accepted": "match",
    "Revised": "match",
    "Same": "match",
    "Not Attributable": "mismatch",
    "Failed": "mismatch",
    "Kept": "mismatch",
    "Challenged": "mismatch",
    "Different": "mismatch",
    "Contradictory documents": "accent",
    "Not in the documents": "not-found",
    "Leaked": "muted",
    "Unverified": "unverified",
}
"""The colour of each label, in display order."""
_NOUNS = {"verdict": "claim", "item": "item", "pair": "question", "unit": "unit"}
"""Names for findings of each kind; unverified ones take the name of the others."""


class Overview:
    """Counts of a report; memory grows by eight bytes per claim."""

    def __init__(self) -> None:
        self.labels: Counter[str] = Counter()
        self._statuses: dict[str, str] = {}
        self.errors: Counter[str] = Counter()
        """Not Attributable claims by error type, and those on which the sources disagree."""
        self.warnings: Counter[str] = Counter()
        """Findings by the kinds of their warnings, except "search"."""
        self.makers: Counter[str] = Counter()
        """Verdicts by what produced them."""
        self.nouns: Counter[str] = Counter()
        self.responses = 0
        self.unusable_rows = 0
        """Rows that could not be used; they are no findings."""
        self.in_responses = 0
        """Findings of whole responses."""
        self._confidences = array("d")

    def add(self, record: Verdict | Unverified | Report) -> None:
        """Count a record."""
        if isinstance(record, Report):
            self.responses += 1
            self.in_responses += len(record.findings)
            for finding in record.findings:
                self._add_finding(finding)
        else:
            self._add_finding(record)

    def _add_finding(self, finding: Finding) -> None:
        if is_unusable_row(finding):
            self.unusable_rows += 1
            return
        self.labels[finding.label] += 1
        if finding.status == "mismatch" or finding.label not in self._statuses:
            self._statuses[finding.label] = finding.status
        if isinstance(finding, Verdict):
            self._confidences.append(finding.confidence)
            self.errors.update([finding.problem] if finding.problem else [])
            made_by = finding.provenance
            self.makers[f"{made_by.model}, vouching {made_by.version}, threshold {finding.threshold:.2f}"] += 1
        self.nouns.update([_NOUNS[finding.kind]] if finding.kind in _NOUNS else [])
        self.warnings.update({warning.kind for warning in finding.warnings} - {"search"})

    @property
    def entries(self) -> int:
        """Number of findings, and of rows that could not be used."""
        return self.labels.total() + self.unusable_rows

    @property
    def noun(self) -> str:
        """The name of the findings if all are of one kind, else "claim"."""
        return next(iter(self.nouns)) if len(self.nouns) == 1 else "claim"

    def subject_words(self) -> str:
        """What was checked, e.g. "3 claims in 1 response"."""
        number = self.labels.total()
        words = _plural(number, self.noun)
        if self.responses:
            some = "" if self.in_responses == number else f", {self.in_responses:,} of them"
            words += f"{some} in {_plural(self.responses, 'response')}"
        return f"{words}; {_plural(self.unusable_rows, UNUSABLE_ROW.lower())}" if self.unusable_rows else words

    def made_by_words(self) -> str:
        """What produced the verdicts; the three most frequent where there are more."""
        shown = [name for name, _ in self.makers.most_common(3)]
        more = len(self.makers) - len(shown)
        return "; ".join([*shown, f"and {more} more"] if more else shown)

    def tally(self) -> list[tuple[str, str, int, float]]:
        """Each label with its status, how many findings have it, and their share; in display order."""
        total = max(1, self.labels.total())
        return [(label, self._statuses[label], count, count / total) for label, count in self._by_label().items()]

    def _by_label(self) -> dict[str, int]:
        return {label: self.labels[label] for label in (*TONES, *self.labels) if self.labels[label]}

    def label_chart(self) -> str:
        """The findings by label."""
        return share_bar(self._by_label(), title=f"{self.noun.capitalize()}s by label", tones=TONES)

    def error_chart(self) -> str:
        """The claims by error type; empty without errors."""
        return bar_chart(dict(self.errors.most_common()), title="Claims by error type") if self.errors else ""

    def confidence_chart(self) -> str:
        """A histogram of the verdicts' confidences; empty without verdicts."""
        if not self._confidences:
            return ""
        # With a threshold of one half no confidence is below it.
        low = 0.5 if min(self._confidences) >= 0.5 else 0.0
        return histogram(self._confidences, bins=20, low=low, title="Claims by confidence", name="confidence")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
