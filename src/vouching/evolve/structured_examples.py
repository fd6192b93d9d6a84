"""Training examples from probes and gold rows: the records that a language model learns to write.

Of a probe nearly all of a record is known: which words were changed, from what, to what, and that the rest is
supported. The rules of the embedded verifier find the rest in the source; parts that they do not find are omitted, and
a row of which they find less than half gives no example. So examples are worded closer to their sources than the rows
they are made from. A teacher, a stronger model, has no such limit and replaces the rules if one is given. Not
supported: several records of one row.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from vouching.embedded.verify import EmbeddedVerifier, open_embedded
from vouching.evolve.records import Probe, Row, write_text
from vouching.methods.structured.prompt import StructuredPrompt
from vouching.methods.structured.reading import MIN_CONFIDENCE
from vouching.methods.structured.reply import Reply, ReplyEntry, ReplyStep
from vouching.methods.structured.teacher import Teacher, example_prompt, training_reply
from vouching.models.running import all_of, run
from vouching.types import NOT_FOUND, Claim, Source, Verdict

NoExample: TypeAlias = Literal["too little is found", "the rules see no fault", "the teacher gave none", "too long"]
"""Why a row gives no example."""
_MARKS = r'\s,.;:!?()\[\]"“”'
_WORD = re.compile(rf"[^{_MARKS}]+(?:[.,:][^{_MARKS}]+)*|[^\s]")


class Change(NamedTuple):
    """A span of a claim that differs from the original."""

    start: int
    end: int
    was: str
    """The words of the original; empty if there were none."""


@dataclass(frozen=True, slots=True)
class ExampleCounts:
    """Training examples, and rows without one by reason."""

    written: int
    excluded: Mapping[NoExample, int]


def changes(claim: str, original: str) -> list[Change]:
    """Where a claim differs from its original, by words; removed words are reported with their neighbours."""
    now, before = ([*_WORD.finditer(text)] for text in (claim, original))
    found: list[Change] = []
    for kind, start, end, was_start, was_end in _differences([w.group() for w in now], [w.group() for w in before]):
        if kind == "delete":
            found.append(Change(now[start].start(), now[end - 1].end(), ""))
        elif kind != "equal":
            if start == end:
                left, right = min(1, start), min(1, len(now) - end)
                start, end, was_start, was_end = start - left, end + right, was_start - left, was_end + right
            was = original[before[was_start].start() : before[was_end - 1].end()]
            found.append(Change(now[start].start(), now[end - 1].end(), was))
    return found


def _differences(now: Sequence[str], before: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Opcodes of ``difflib``; lists of equal length are compared place by place, since names may be swapped."""
    if len(now) != len(before):
        return SequenceMatcher(None, now, before, autojunk=False).get_opcodes()
    places = [place for place, pair in enumerate(zip(now, before, strict=True)) if pair[0] != pair[1]]
    runs = groupby(enumerate(places), key=lambda found: found[1] - found[0])
    ends = [(run[0][1], run[-1][1] + 1) for run in ([*members] for _, members in runs)]
    return [("replace", start, end, start, end) for start, end in ends]


def reply_of(row: Row, original: str | None = None) -> Reply | NoExample:
    """The record of a row with a known label, as far as the rules and the changes to ``original`` determine it.

    ``original`` is the supported claim that a perturbed one was made from, if it was.

    >>> source, label = "The bridge opened in 1973.", "Not Attributable"
    >>> made = Row("1", "The bridge opened in 1937.", source, label, error_type="temporal_shift")
    >>> record = reply_of(made, source)
    >>> [(entry.claim_span, entry.source_span, entry.status) for entry in record.evidence_alignment]
    [('bridge', 'bridge', 'match'), ('opened in 1937', 'opened in 1973', 'mismatch')]
    >>> record.fix_suggestion
    'Change "1937" to "1973".'
    """
    verdict = _rules().judge(Claim(row.claim), [Source(row.source)])
    edits = [] if row.attributable or original is None else changes(row.claim, original)
    made = bool(edits)
    parts = [*_read(verdict)]
    supported = [part for part in parts if part.holds and not part.touches(edits)]
    faults = [part for part in parts if part.entry.status != "match" and (part.touches(edits) or not made)]
    rest = [part for part in parts if not part.touches(edits)]
    if row.attributable or made:
        faults = [] if row.attributable else faults
        faults += [_unseen(row, edit) for edit in edits if not any(part.touches([edit]) for part in faults)]
        if len(supported) < len(rest) / 2 or not (supported or made):
            return "too little is found"
    elif verdict.attributable or not faults:
        return "the rules see no fault"
    kept = sorted([*supported, *faults], key=lambda part: part.start)
    sure = round(max(verdict.score if row.attributable else 1 - verdict.score, MIN_CONFIDENCE), 2)
    steps = [part.step for part in kept]
    if row.attributable:
        return Reply([part.entry for part in kept], steps, row.label, sure)
    fix = " ".join(_edit(row.claim[start:end], was) for start, end, was in edits) if made else _edit_of(faults[0].entry)
    error = row.error_type or verdict.error_type
    return Reply([part.entry for part in kept], steps, row.label, sure, error, fix, original if made else None)


def write_examples(
    path: Path, prompt: StructuredPrompt, probes: Sequence[Probe], replay: Sequence[Row], teacher: Teacher | None = None
) -> ExampleCounts:
    """Write a chat for each probe and row that gives a record, as ``vouch train sft`` reads them.

    ``prompt`` is the one of the verifier; a ``teacher`` writes the records instead of the rules. Raises ModelError if
    the teacher is temporarily unavailable.
    """
    asked = [(probe.row, probe.original) for probe in probes] + [(row, None) for row in replay]
    replies: list[Reply | NoExample]
    replies = [reply_of(*one) for one in asked] if teacher is None else run(_taught(teacher, asked))
    lines: list[str] = []
    excluded: Counter[NoExample] = Counter()
    for (row, _), reply in zip(asked, replies, strict=True):
        made = _chat(row, reply, prompt) if isinstance(reply, Reply) else reply
        if isinstance(made, dict):
            lines.append(json.dumps(made, ensure_ascii=False) + "\n")
        else:
            excluded[made] += 1
    write_text(path, "".join(lines))
    return ExampleCounts(len(lines), dict(excluded))


def _chat(row: Row, reply: Reply, prompt: StructuredPrompt) -> dict[str, object] | NoExample:
    question = example_prompt(Claim(row.claim), [Source(row.source)], prompt=prompt)
    if question is None:
        return "too long"
    messages = [*question, {"role": "assistant", "content": training_reply(reply)}]
    return {"id": f"{row.data_set}/{row.id}", "gold": row.label, "group": row.group or row.id, "messages": messages}


class _Part(NamedTuple):
    """A part of a claim in a record."""

    start: int
    end: int
    entry: ReplyEntry
    step: ReplyStep

    @property
    def holds(self) -> bool:
        return self.entry.status == "match" and self.step.judgment == "supported"

    def touches(self, edits: Sequence[Change]) -> bool:
        return any(self.start < edit.end and edit.start < self.end for edit in edits)


def _read(verdict: Verdict) -> Iterator[_Part]:
    """The rules' findings on each part; they give one step for each, and may add one about the whole."""
    for entry, step in zip(verdict.evidence_alignment, verdict.reasoning_chain, strict=False):
        quote = entry.source_span.text if entry.source_span else NOT_FOUND
        span = entry.claim_span
        found = ReplyStep(step.claim_part, step.source_evidence, step.judgment, step.explanation)
        yield _Part(span.start, span.end, ReplyEntry(span.text, quote, entry.status), found)


def _unseen(row: Row, edit: Change) -> _Part:
    """A change that the rules did not find, as a part."""
    now, was = row.claim[edit.start : edit.end], edit.was
    stands = bool(was) and was in row.source
    quote = was if stands else NOT_FOUND
    reason = f'The claim says "{now}", the source says "{was}".' if stands else f'The source does not say "{now}".'
    entry = ReplyEntry(now, quote, "mismatch" if stands else "not_found")
    return _Part(edit.start, edit.end, entry, ReplyStep(now, quote, "not_supported", reason))


def _edit(now: str, was: str | None) -> str:
    return f'Change "{now}" to "{was}".' if was else f'Leave out "{now}".'


def _edit_of(fault: ReplyEntry) -> str:
    """The edit for a fault whose original is unknown."""
    return _edit(fault.claim_span, fault.source_span if fault.status == "mismatch" else None)


async def _taught(teacher: Teacher, asked: Sequence[tuple[Row, str | None]]) -> list[Reply | NoExample]:
    """A teacher's records; it is not shown the changes, and records with a wrong label are not used."""
    notes = await all_of(teacher.annotate(Claim(row.claim), [Source(row.source)], row.label) for row, _ in asked)
    none: NoExample = "the teacher gave none"
    return [note.record or none for note in notes]


@cache
def _rules() -> EmbeddedVerifier:
    return open_embedded("embedded:rules")
