"""The section of docs/figures.md on the blinded audit without a language model, from the results of blinded.py."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, interval, number, origin, table

KEYS = ("precision", "recall", "f1")
"""The figures of the first table."""
RECORDS = """
RAGTruth's data-to-text answers: {responses} texts about records of businesses, {stretches} marked stretches with a
digit in {with_stretches} of them. Precision: share of the faulted answers inside a marked stretch. Recall: share
of the stretches with a digit in which an answer is faulted. {questions:,} questions, {coverage:.1%} of the numbers
asked about; {median:.0f} ms per answer (median), {p95:.0f} ms at the 95th percentile. 95 % BCa intervals by record.

This is not a first look: aggregates of earlier runs on the same answers were seen before the readers of records were
improved on invented records. A first look would probably have shown lower figures."""
SENTENCES = """
{sentences} sentences with a number from the paragraphs of multi-hop questions, each audited against all paragraphs of
its question, one of which contains it word for word before the change. Detected: an answer is faulted where the
sentence was changed. False alarm: any fault. 95 % Wilson intervals; {milliseconds:.0f} ms a sentence.

This is not a first look either: the share of false alarms of earlier runs was seen, and their causes were then fixed
on sentences of the training questions. Directions and JSON keys were added later, developed on our own sentences and
those of these questions; both tables were measured before and after, and no share changed."""


def blinded_lines(record: Figures) -> Iterator[str]:
    """Precision and recall on marked stretches, then detection and false alarms on changed sentences."""
    records, sentences = record["ragtruth"], record["perturbed"]
    yield from ("## Blinded audit without a language model", "", origin(record))
    head = ("set", "precision", "recall", "F1")
    yield from table(head, [("RAGTruth data2txt, numbers", *(interval(records[key]) for key in KEYS))])
    times = {"median": 1000 * records["seconds_median"], "p95": 1000 * records["seconds_95"]}
    yield RECORDS.format(**records, **times)
    rows = [("numbers or dates changed", sentences["detection"], "detected")]
    rows += [(f"- {kind.replace('_', ' ')}", one, "detected") for kind, one in sentences["detection_by_kind"].items()]
    rows += [("rewritten with the same meaning", sentences["false_alarms"], "false alarm")]
    rows += [(f"- {kind}", one, "false alarm") for kind, one in sentences["false_alarms_by_kind"].items()]
    rows += [("as they are", sentences["verbatim"], "false alarm")]
    shown = ((name, one["of"], what, share(one)) for name, one, what in rows if one["of"])
    yield from table(("sentences", "how many >", "", "share"), shown)
    yield SENTENCES.format(**sentences, milliseconds=1000 * sentences["seconds_per_sentence"])


def share(one: Figures) -> str:
    """A share with its interval."""
    return f"{number(one['estimate'])} [{number(one['low'])}, {number(one['high'])}]"
