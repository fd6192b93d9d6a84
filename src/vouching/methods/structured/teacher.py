"""A stronger model writes records to train a smaller one (SEVA App. B.1 and K.3).

Every attempt is a new reply, with one second chance that names its fault. The paper checks the form only: all fields,
valid status and judgment, a confidence in [0, 1]; its code also demands the gold label and, for Not Attributable, a
type and a fix. Both rates are counted, whichever is demanded. A wrong label is not reported to the teacher, which would
rationalise the gold one; the next attempt starts over. Not supported: sources that do not fit one prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from vouching.errors import ConfigError
from vouching.inputs import labelled_row
from vouching.judging.ask import Replies, ReplyError, Unread, ask
from vouching.judging.schemas import token_limit
from vouching.judging.windows import ScreenedSources, window_limit
from vouching.methods.structured.prompt import StructuredPrompt, Wording, structured_prompt, teacher_prompt
from vouching.methods.structured.reading import read_reply
from vouching.methods.structured.reply import Reply, parse_reply, schema_for
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.limits import most_tokens
from vouching.models.open import open_model
from vouching.rows import AsyncWorkFactory, Line, Made, MadeFiles, Row, RunJob, async_work, looker, read_lines, run_rows
from vouching.types import Claim, Label, Source, Unverified
from vouching.version import __version__

Demand: TypeAlias = Literal["label", "error_type", "fix", "grounded"]
"""What a record needs beyond its form: the gold label, an error type or a fix if it is Not Attributable, or no invented
quotes.
"""
DEMANDS: tuple[Demand, ...] = get_args(Demand)
ATTEMPTS = 3
"""Attempts at a row, each with one second chance."""
_TEMPERATURE = 0.7
"""Of the attempts after the first."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """The result for one row."""

    record: Reply | None
    """The accepted record; None if every attempt failed."""
    attempts: int
    format_ok: bool
    """Whether an attempt had the right form, as the paper counts."""
    gold_ok: bool
    """Whether an attempt also had the gold label and, for Not Attributable, a type and a fix, as its code counts. False
    without a gold label.
    """
    faults: tuple[str, ...] = ()
    """What was wrong with each failed attempt."""


class Teacher:
    """Annotates claims.

    ``demands`` is what a record needs beyond its form. The first attempt is greedy; the others are sampled with
    ``seed`` plus their number. ``window`` is the maximum of characters of sources in a prompt, which the context of the
    teacher may limit further.
    """

    def __init__(
        self,
        model: Model,
        demands: Collection[Demand] = (),
        seed: int = 0,
        max_tokens: int | None = None,
        window: int = 24_000,
    ) -> None:
        if unknown := sorted({*demands} - {*DEMANDS}):
            raise ConfigError(f"unknown demand {unknown[0]!r}; expected one of {', '.join(DEMANDS)}")
        self.model = model
        self.demands: frozenset[Demand] = frozenset(demands)
        self._seed = seed
        self._max_tokens = max_tokens
        self._window = window

    @property
    def settings(self) -> dict[str, int | None]:
        """How it is sampled."""
        return {"seed": self._seed, "max_tokens": self._max_tokens}

    async def annotate(self, claim: Claim, sources: Sequence[Source], gold: Label | None = None) -> Annotation:
        """A record on a claim, or why there is none."""
        evidence = ScreenedSources(sources)
        empty = teacher_prompt().messages(claim, ())
        limit = await window_limit(self.model, self._window, sources, empty, most_tokens(self._max_tokens) or 1024)
        window = evidence.only_window(limit)
        if window is None:
            fault = f"the sources are too long for one prompt of {limit:,} characters"
            return Annotation(None, 0, False, False, ("there is no source text" if evidence.empty else fault,))
        messages = teacher_prompt().messages(claim, window)
        faults: list[str] = []
        formed: list[Reply] = []
        record: Reply | None = None
        while record is None and len(faults) < ATTEMPTS:
            found = await self._attempt(messages, len(faults), _Case(claim, evidence, gold, formed))
            if isinstance(found, Reply):
                record = found
            else:
                faults.append(found)
        return Annotation(
            record=record,
            attempts=len(faults) + (record is not None),
            format_ok=bool(formed),
            gold_ok=gold is not None and any(not [*gold_faults(reply, gold)] for reply in formed),
            faults=tuple(faults),
        )

    async def _attempt(self, messages: Sequence[Message], number: int, case: _Case) -> Reply | str:
        """A record, or the fault of the attempt."""
        schema = schema_for(Reply, case.claim.text)
        sampling = Sampling(
            max_tokens=token_limit(self._max_tokens, schema),
            temperature=_TEMPERATURE if number else 0.0,
            seed=self._seed + number,
            json_schema=schema,
        )
        again = teacher_prompt().again

        def read(replies: Replies) -> Reply | str:
            if replies[-1].finish_reason == "length":
                return f"the reply was cut off at {sampling.max_tokens} tokens: raise --max-tokens"
            return self._read(replies[-1], case)

        [found] = await ask(self.model, messages, sampling, read, lambda fault: again.fill(fault=fault))
        return found.fault if isinstance(found, Unread) else found

    def _read(self, reply: Completion, case: _Case) -> Reply | str:
        """A record, or a fault that is not reported to the model. Raises ReplyError for one that is."""
        record = parse_reply(reply.text, Reply, shown=case.evidence.records(case.claim))
        case.formed.append(record)
        found = {name: text for name, text in self._faults(record, case) if name in self.demands}
        if found and "label" not in found:
            raise ReplyError("; ".join(found.values()))
        return found.get("label", record)

    def _faults(self, record: Reply, case: _Case) -> Iterator[tuple[Demand, str]]:
        if case.gold is not None:
            yield from gold_faults(record, case.gold)
        else:
            yield from _diagnosis_faults(record)
        reading = read_reply(record, case.claim, case.evidence)
        if isinstance(reading, Unverified):
            yield "grounded", reading.message
        elif reading.grounded < 1:
            yield "grounded", " ".join(w.message for w in reading.warnings if w.kind == "ungrounded").rstrip(".")


def open_teacher(model: str, demands: Collection[Demand], seed: int, max_tokens: int | None) -> Teacher:
    """A teacher whose model is opened by name. Raises ConfigError."""
    return Teacher(open_model(model), demands, seed, max_tokens)


@dataclass(frozen=True, slots=True)
class _Case:
    """A row, and its records of the right form."""

    claim: Claim
    evidence: ScreenedSources
    gold: Label | None
    formed: list[Reply]


def gold_faults(record: Reply, gold: Label) -> Iterator[tuple[Demand, str]]:
    """Why a record is not an example of its gold label."""
    if record.label != gold:
        yield "label", f"the label is {record.label}, but the gold label is {gold}"
    yield from _diagnosis_faults(record)


def _diagnosis_faults(record: Reply) -> Iterator[tuple[Demand, str]]:
    if record.label == "Not Attributable":
        if record.error_type is None:
            yield "error_type", "the label is Not Attributable, but there is no error_type"
        if record.fix_suggestion is None:
            yield "fix", "the label is Not Attributable, but there is no fix_suggestion"


def training_reply(record: Reply, wording: Wording = "ours") -> str:
    """A record as the student should write it: SEVA's keys in SEVA's order, on one line, and ours if it is asked."""
    found = asdict(record)
    if wording != "ours":
        del found["revised_claim"]
    return json.dumps(found, ensure_ascii=False)


def example_prompt(
    claim: Claim, sources: Sequence[Source], window: int = 24_000, prompt: StructuredPrompt | None = None
) -> list[dict[str, str]] | None:
    """The student's prompt as chat messages, as for verification; None if the sources are empty or do not fit."""
    shown = ScreenedSources(sources).only_window(window)
    if shown is None:
        return None
    messages = (prompt or structured_prompt()).messages(claim, shown)
    return [{"role": message.role, "content": message.content} for message in messages]


_KNOWN = ("error_type", "original")
"""Fields of perturbed rows that the grounded reward reads."""


def annotate_rows(
    files: MadeFiles,
    teacher: Teacher,
    prompts: Path | None = None,
    run: RunJob = run_rows,
    wording: Wording = "ours",
    open_teacher: Callable[[], Teacher] | None = None,
) -> Made:
    """Annotate the rows of a file or a folder; accepted rows become chats, as TRL's SFT reads them.

    Args:
        files: rows with claim and source, and where the chats go.
        teacher: annotates them.
        prompts: path of the prompts alone, for GRPO.
        run: runs the rows.
        wording: of the student's prompt.
        open_teacher: opens the teacher in another process; must be picklable.
    """
    demands, asked = teacher.demands, structured_prompt(wording=wording)
    settings = {
        "command": "data annotate",
        "model": teacher.model.name,
        "demands": ",".join(sorted(demands)),
        **teacher.settings,
        "prompt": teacher_prompt().digest,
        "student": asked.digest,
        "vouching": __version__,
    }

    others = (prompts,) if prompts else ()
    opens = None if open_teacher is None else partial(_opened, open_teacher, wording)
    job = files.job(_work(teacher, wording), looker(_counts), settings, ("claim",), *others, open_work=opens)
    summary = run(job)
    _split(files, prompts)
    problems = [f"{summary.problems:,} row{'s' * (summary.problems != 1)} cannot be used"] if summary.problems else []
    return summary.complete, [*problems, *_summary(summary.counts, demands, files.rejected)]


def _opened(open_teacher: Callable[[], Teacher], wording: Wording) -> AsyncWorkFactory:
    return _work(open_teacher(), wording)


def _work(teacher: Teacher, wording: Wording) -> AsyncWorkFactory:
    """From a row to its annotation, as a line."""
    asked = structured_prompt(wording=wording)

    async def annotate(row: Row) -> Line:
        found = labelled_row(row)
        made = await teacher.annotate(found.claim, found.sources, found.gold)
        return {
            "id": row.name,
            "claim": found.claim.text,
            "source": "\n\n".join(source.text for source in found.sources),
            "gold": found.gold,
            "group": found.group,
            "known": {key: value for key, value in (row.fields or {}).items() if key in _KNOWN and value},
            "accepted": made.record is not None,
            "attempts": made.attempts,
            "format_ok": made.format_ok,
            "gold_ok": made.gold_ok,
            "faults": made.faults,
            "prompt": example_prompt(found.claim, found.sources, prompt=asked),
            "completion": training_reply(made.record, wording) if made.record else None,
        }

    return AsyncWorkFactory(lambda: async_work(annotate), teacher.model.aclose)


def _counts(line: Line) -> dict[str, int]:
    marks = {key: line[key] for key in ("accepted", "format_ok", "gold_ok")}
    return {"rows": 1, "labelled": line["gold"] is not None, **marks}


def _split(files: MadeFiles, prompts: Path | None) -> None:
    """Write accepted rows, rejected rows and prompts from the journal."""
    paths = (files.output, files.rejected, *([prompts] if prompts else []))
    with ExitStack() as opened:
        accepted, refused, *asked = (opened.enter_context(path.open("w", encoding="utf-8")) for path in paths)
        for row in read_lines(files.journal()):
            about = {key: row[key] for key in ("id", "gold", "group") if row.get(key) is not None}
            if row.get("accepted"):
                messages = [*row["prompt"], {"role": "assistant", "content": row["completion"]}]
                accepted.write(json.dumps({**about, "messages": messages}, ensure_ascii=False) + "\n")
            else:
                why = {key: row[key] for key in ("problem", "attempts", "faults", "claim", "source") if key in row}
                refused.write(json.dumps({**about, **why}, ensure_ascii=False) + "\n")
            if asked and row.get("prompt"):
                texts = {key: row[key] for key in ("prompt", "claim", "source")} | row.get("known", {})
                asked[0].write(json.dumps({**about, **texts}, ensure_ascii=False) + "\n")


def _summary(counts: Mapping[str, int], demands: Collection[Demand], rejected: Path) -> Iterator[str]:
    rows, labelled = counts.get("rows", 0), counts.get("labelled", 0)
    accepted, formed, gold = (counts.get(key, 0) for key in ("accepted", "format_ok", "gold_ok"))
    if "label" in demands and (without := rows - labelled):
        yield f"rows without a gold label, whose labels were not checked: {without:,}"
    others = f"; the others are in {rejected}, with reasons" if accepted < rows else ""
    yield f"{accepted:,} of {rows:,} rows accepted{_percent(accepted, rows)}{others}"
    yield f"rows with the right form: {formed:,}{_percent(formed, rows)}"
    if labelled:
        also = "" if {"label", "error_type", "fix"} <= {*demands} else "; not all of these were required"
        rate = f"{gold:,}{_percent(gold, labelled)}"
        yield f"rows that also have the gold label, type and fix: {rate} of the rows with a label{also}"


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""
