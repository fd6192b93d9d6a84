"""The section of docs/figures.md on the blinded audit without a language model, from the results of blinded.py."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, interval, number, origin, table

KEYS = ("precision", "recall", "f1")
"""The figures of the first table."""
RECORDS = """
RAGTruth's data-to-text answers are {responses} texts about records of businesses; {with_stretches} of them contain
{stretches} marked spans with a digit. Precision is the share of flagged answers that are inside a marked span.
Recall is the share of the marked spans with a digit in which an answer is flagged. The audit asked {questions:,}
questions, which cover {coverage:.1%} of the numbers, and took {median:.0f} ms per answer (median) and {p95:.0f} ms
at the 95th percentile. The intervals are 95 % BCa intervals, resampled by record.

This was not the first evaluation on this data: aggregate results of earlier runs on the same answers were seen
before the parsers for records were improved on invented records. A first evaluation would probably have given lower
figures."""
SENTENCES = """
{sentences} sentences with a number were taken from the paragraphs of multi-hop questions, and each was audited
against all paragraphs of its question, one of which contains the unchanged sentence word for word. "Detected" means
that an answer is flagged where the sentence was changed, and "false alarm" means that anything is flagged. The
intervals are 95 % Wilson intervals. Auditing a sentence takes {milliseconds:.0f} ms.

This was not the first evaluation either: the false-alarm rate of earlier runs was seen, and the causes were then
fixed on sentences from the training questions. Directions and JSON keys were added later and developed on our own
sentences and on those from the training questions; both tables were measured before and after, and no share
changed."""


def blinded_lines(record: Figures) -> Iterator[str]:
    """Precision and recall on marked stretches, then detection and false alarms on changed sentences."""
    records, sentences = record["ragtruth"], record["perturbed"]
    yield from ("## Blinded audit without a language model", "", origin(record))
    head = ("set", "precision", "recall", "F1")
    yield from table(head, [("RAGTruth data2txt, numbers", *(interval(records[key]) for key in KEYS))])
    times = {"median": 1000 * records["seconds_median"], "p95": 1000 * records["seconds_95"]}
    yield RECORDS.format(**records, **times)
    rows = [("with a changed number or date", sentences["detection"], "detected")]
    rows += [(f"- {kind.replace('_', ' ')}", one, "detected") for kind, one in sentences["detection_by_kind"].items()]
    rows += [("rewritten with the same meaning", sentences["false_alarms"], "false alarm")]
    rows += [(f"- {kind}", one, "false alarm") for kind, one in sentences["false_alarms_by_kind"].items()]
    rows += [("unchanged", sentences["verbatim"], "false alarm")]
    shown = ((name, one["of"], what, share(one)) for name, one, what in rows if one["of"])
    yield from table(("sentences", "number >", "outcome", "share"), shown)
    yield SENTENCES.format(**sentences, milliseconds=1000 * sentences["seconds_per_sentence"])


def share(one: Figures) -> str:
    """A share with its interval."""
    return f"{number(one['estimate'])} [{number(one['low'])}, {number(one['high'])}]"
