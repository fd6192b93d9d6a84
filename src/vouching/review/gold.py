"""Reviewed verdicts as gold rows: for calibration, evolution, the checklist's gold and training by imitation.

``rows`` are :class:`~vouching.types.ReviewedVerdict` records, one per final verdict, with claim, sources, label, error
type and group: ``vouch calibrate``, ``vouch evolve``, ``vouch data annotate`` and the setting ``binary`` of ``vouch
train sft`` read them. ``checklist`` are examples (x, y, c, l) for the setting ``checklist.gold``. ``chats`` are for the
setting ``rows`` of ``vouch train sft``: the reply that a model should have given, from verdicts that reviewers
confirmed, label and type. A chat of a corrected verdict would teach its wrong reasons, so there is none: have a teacher
write it, with ``vouch data annotate`` on the rows. What reviewers wrote in notes is in no prompt.

Rows whose texts were erased or never kept are omitted and counted. A selection by uncertainty is not a random sample:
``sampled`` leaves only that (:mod:`vouching.review.reviewed`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from vouching.errors import InputError
from vouching.judging.calibration import LabelledVerdict
from vouching.methods.structured.reply import Reply, ReplyEntry, ReplyStep
from vouching.methods.structured.teacher import example_prompt, training_reply
from vouching.review.queue import ReviewQueue
from vouching.review.reviewed import read_reviewed
from vouching.text.json_values import parse_json
from vouching.types import NOT_FOUND, Label, ReviewedVerdict, Span, Verdict
from vouching.types.review import QueueFilters, Review, ReviewItem
from vouching.types.serial import to_json

GoldForm: TypeAlias = Literal["rows", "checklist", "chats"]
_ASKED = "Answer from the documents below only."
"""The instruction of a response without a question."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote."""

    written: int
    left_out: dict[str, int]
    """Verdicts that it has not, by reason."""


def gold_records(
    queue: ReviewQueue,
    filters: QueueFilters | None = None,
    sampled: bool = False,
    left_out: Counter[str] | None = None,
) -> Iterator[ReviewedVerdict]:
    """A record for each final verdict, in the order of the ledger; ``left_out`` counts those without texts."""
    left_out = Counter() if left_out is None else left_out
    for row in read_reviewed(queue, filters, every=not sampled):
        try:
            item = queue.get(row.id)
        except InputError:
            left_out["texts erased or not kept"] += 1
            continue
        if not item.sources:
            left_out["sources not in the ledger"] += 1
            continue
        yield record_of(item, row.gold_label, row.gold_type)


def record_of(item: ReviewItem, label: str, error_type: str | None) -> ReviewedVerdict:
    """The record of a final verdict; span, fix and note are those of the newest decision that agrees with it."""
    decisions = [review for review in item.reviews if review.action == "decide" and not review.undone]
    agreeing = [one for one in decisions if one.label == label and error_type in (one.error_type, None)]
    said = (agreeing or decisions)[-1]
    claim = item.verdict.claim.text
    fits = said.span is not None and 0 <= said.span[0] < said.span[1] <= len(claim)
    marked = (Span(claim[slice(*said.span)], *said.span),) if fits and said.span is not None else ()
    return ReviewedVerdict(
        str(item.id),
        claim,
        item.sources,
        cast("Label", label),
        item.verdict,
        said.reviewer,
        said.at,
        cast("Any", error_type),
        _revised(said, item, label),
        said.note,
        _group(item),
        marked,
        item.question,
    )


def _revised(said: Review, item: ReviewItem, label: str) -> str | None:
    """The reviewer's fix; of a rejection that was confirmed without one, the verdict's own."""
    if said.fix is not None or label == "Attributable":
        return said.fix
    return item.verdict.revised_claim if item.verdict.label == label else None


def _group(item: ReviewItem) -> str:
    return f"source-{hashlib.sha256(item.sources[0].text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def labelled_verdicts(
    queue: ReviewQueue, filters: QueueFilters | None = None, left_out: Counter[str] | None = None, every: bool = False
) -> list[LabelledVerdict]:
    """The final verdicts of the random sample with the reviewers' labels, as ``vouch calibrate`` fits them.

    With ``every``, those that were reviewed for being doubtful or disputed too: they show less of the confident scores,
    and disputed ones are wrong more often than others of the same score, which biases a calibration.
    """
    records = gold_records(queue, filters, not every, left_out)
    return [
        LabelledVerdict(cast("Label", record.label), record.verdict, record.group or record.id)
        for record in records
        if isinstance(record.verdict, Verdict)
    ]


def export_gold(
    queue: ReviewQueue, path: Path, form: GoldForm = "rows", filters: QueueFilters | None = None, sampled: bool = False
) -> Exported:
    """Write gold to a new file of JSON lines. Raises InputError for one that exists or cannot be written."""
    if form not in get_args(GoldForm):
        raise InputError(f"unknown form {form!r} of gold: expected one of {', '.join(get_args(GoldForm))}")
    left_out: Counter[str] = Counter()
    number = 0
    try:
        with path.open("x", encoding="utf-8") as file:
            for record in gold_records(queue, filters, sampled, left_out):
                line = _LINES[form](record)
                if isinstance(line, str):
                    left_out[line] += 1
                    continue
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                number += 1
    except FileExistsError:
        raise InputError(f"{path} exists: choose a new file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    return Exported(number, dict(left_out))


def _row(record: ReviewedVerdict) -> Mapping[str, Any]:
    return parse_json(to_json(record))


def _checklist(record: ReviewedVerdict) -> Mapping[str, Any]:
    """Whether the statement is supported, as an item of a checklist on an answer from documents."""
    documents = "\n\n".join(source.text for source in record.sources)
    return {
        "id": record.id,
        "x": f"{record.question or _ASKED}\n\nDocuments:\n{documents}",
        "y": record.claim,
        "c": "Everything that the response states is supported by the documents.",
        "l": int(record.label == "Attributable"),
        "by": "person",
    }


def _chat(record: ReviewedVerdict) -> Mapping[str, Any] | str:
    """The prompt of the structured verifier with the verdict as its reply; else why there is none."""
    verdict = record.verdict
    if not isinstance(verdict, Verdict) or (verdict.label, verdict.error_type) != (record.label, record.error_type):
        return "corrected: the verdict's reasons are wrong"
    if not verdict.evidence_alignment or not verdict.reasoning_chain:
        return "the verdict has no reasons"
    prompt = example_prompt(verdict.claim, record.sources)
    if prompt is None:
        return "the sources do not fit into one prompt"
    reply = Reply(
        [
            ReplyEntry(one.claim_span.text, one.source_span.text if one.source_span else NOT_FOUND, one.status)
            for one in verdict.evidence_alignment
        ],
        [
            ReplyStep(one.claim_part, one.source_evidence, one.judgment, one.explanation)
            for one in verdict.reasoning_chain
        ],
        verdict.label,
        1.0,
        verdict.error_type,
        verdict.fix_suggestion,
        record.revised_claim,
    )
    answer = {"role": "assistant", "content": training_reply(reply)}
    return {"id": record.id, "messages": [*prompt, answer]}


_LINES: dict[GoldForm, Callable[[ReviewedVerdict], Mapping[str, Any] | str]] = {
    "rows": _row,
    "checklist": _checklist,
    "chats": _chat,
}
