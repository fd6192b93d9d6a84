"""Counts over all that a report is about, taken one record at a time, and the charts of them."""

from __future__ import annotations

from array import array
from collections import Counter

from vouching.report.charts import bar_chart, histogram, share_bar
from vouching.report.svg import Tone
from vouching.types import Finding, Report, Unverified, Verdict

TONES: dict[str, Tone] = {
    "Attributable": "match", "Passed": "match", "Let pass": "match", "Revised": "match", "Same": "match",
    "Not Attributable": "mismatch", "Failed": "mismatch", "Kept": "mismatch", "Challenged": "mismatch",
    "Different": "mismatch", "Contradictory documents": "accent", "Not in the documents": "not-found",
    "Leaked": "muted", "Unverified": "unverified",
}  # fmt: skip
"""The colour of each label, in the order in which they are shown."""
_NOUNS = {"verdict": "claim", "item": "item", "pair": "question", "unit": "unit"}
"""What to call findings of each kind; what could not be verified is called as the others."""


class Overview:
    """What is counted. It grows by eight bytes with a claim.

    >>> from vouching.types import Claim
    >>> overview = Overview()
    >>> overview.add(Verdict(Claim("x"), "Attributable", 0.9, 0.9, 0.5, "supported"))
    >>> overview.labels["Attributable"], overview.made_by_words()
    (1, 'unknown, vouching unknown, threshold 0.50')
    """

    def __init__(self) -> None:
        self.labels: Counter[str] = Counter()
        """Findings by label."""
        self.errors: Counter[str] = Counter()
        """Not Attributable claims by error type."""
        self.warnings: Counter[str] = Counter()
        """Findings by the kinds of warnings they carry; where was searched is none."""
        self.makers: Counter[str] = Counter()
        """Verdicts by what produced them."""
        self.nouns: Counter[str] = Counter()
        """Findings by what to call them."""
        self.responses = 0
        """Whole responses."""
        self.in_responses = 0
        """Findings that are of a whole response."""
        self._confidences = array("d")

    def add(self, record: Verdict | Unverified | Report) -> None:
        """Count a record in."""
        if isinstance(record, Report):
            self.responses += 1
            self.in_responses += len(record.findings)
            for finding in record.findings:
                self._add_finding(finding)
        else:
            self._add_finding(record)

    def _add_finding(self, finding: Finding) -> None:
        self.labels[finding.label] += 1
        if isinstance(finding, Verdict):
            self._confidences.append(finding.confidence)
            self.errors.update([finding.error_type.replace("_", " ")] if finding.error_type else [])
            made_by = finding.provenance
            self.makers[f"{made_by.model}, vouching {made_by.version}, threshold {finding.threshold:.2f}"] += 1
        self.nouns.update([_NOUNS[finding.kind]] if finding.kind in _NOUNS else [])
        self.warnings.update({warning.kind for warning in finding.warnings} - {"search"})

    @property
    def findings(self) -> int:
        """How many findings there are."""
        return self.labels.total()

    @property
    def noun(self) -> str:
        """What to call a finding: an item or a question where nothing else was judged, else a claim."""
        return next(iter(self.nouns)) if len(self.nouns) == 1 else "claim"

    def subject_words(self) -> str:
        """What was checked, in words."""
        claims = _plural(self.findings, self.noun)
        if not self.responses:
            return claims
        some = "" if self.in_responses == self.findings else f", {self.in_responses:,} of them"
        return f"{claims}{some} in {_plural(self.responses, 'response')}"

    def made_by_words(self) -> str:
        """What produced the verdicts; the first three where there are more."""
        shown = [name for name, _ in self.makers.most_common(3)]
        more = len(self.makers) - len(shown)
        return "; ".join([*shown, f"and {more} more"] if more else shown)

    def label_chart(self) -> str:
        """How many findings have which label."""
        ordered = {label: self.labels[label] for label in (*TONES, *self.labels) if self.labels[label]}
        return share_bar(ordered, title=f"{self.noun.capitalize()}s by label", tones=TONES)

    def error_chart(self) -> str:
        """How many claims have which error; empty where none has."""
        return bar_chart(dict(self.errors.most_common()), title="Claims by error type") if self.errors else ""

    def confidence_chart(self) -> str:
        """How sure the verdicts are; empty where there is none."""
        if not self._confidences:
            return ""
        # With a threshold of one half no confidence lies below it.
        low = 0.5 if min(self._confidences) >= 0.5 else 0.0
        return histogram(self._confidences, bins=20, low=low, title="Claims by confidence", name="confidence")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
