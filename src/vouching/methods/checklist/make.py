"""Make a checklist from an instruction with a language model, and revise it where lint finds faults (Soft-RLVR, 2.3).

The first list is greedy. A list with faults goes back to the model with them, up to three lists in all. Kept is the one
with the fewest items that cannot be judged, then with the fewest faults. The order of items that App. A.3.2 prescribes
is asked for in the prompt and not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import get_args

from vouching.errors import ModelError
from vouching.judging.ask import ReplyError, kept_reply, unrepeated
from vouching.judging.schemas import Schema, json_list, list_of, one_of, record, short_text, token_limit
from vouching.methods.checklist.items import INSTRUCTION_KEYS, instruction_of, items_json
from vouching.methods.checklist.lint import Fault, FaultKind, Similarity, bind_rules, lint
from vouching.methods.checklist.prompt import ask_to_revise, lint_messages, make_digest, make_messages
from vouching.methods.checklist.reply import MAX_ITEMS, list_schema, parse_checklist
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.prompts import Wording
from vouching.rows import (
    AsyncWorkFactory,
    Line,
    MadeFiles,
    Row,
    RunJob,
    async_work,
    fields_of,
    looker,
    read_lines,
    run_rows,
    write_lines,
)
from vouching.rows import Made as MadeRows
from vouching.types import Checklist, ChecklistItem, Claim, Unverified
from vouching.version import __version__

ATTEMPTS = 3
"""Maximum number of lists."""
_TEMPERATURE = 0.7
"""Of the lists after the first."""
_KEPT = ("group", "instruction_id_list", "kwargs")
"""Keys of a row that its checklist keeps: a training run logs IFEval's rules beside the reward."""
_FAULT = 160
"""Characters of a critic's message, where a server enforces the schema."""
_MAX_SHOWN = 12
"""Faults that are shown to the model at once."""
_TOO_LONG = ("over-decomposed", None)
"""Kind and item of the fault of a list with too many items."""
_LENGTH = "length "
"""Prefix of the keys that count lists by length."""
_LINE = re.compile(rf"^\W*(\d+)\s*\|\s*({'|'.join(get_args(FaultKind))})\s*\|\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Made:
    """The outcome for one instruction."""

    checklist: Checklist | None
    """The list with the fewest faults; None if no reply held a list."""
    faults: tuple[Fault, ...]
    """Its faults; without a list, the faults of the replies."""
    attempts: int
    completions: tuple[Completion, ...] = ()
    """All replies, for their cost."""

    @property
    def rejected(self) -> Mapping[int, Fault]:
        """The items that cannot be judged, by number, and why: not a yes/no question, or on a list that is too long."""
        return _rejected(self.checklist, self.faults)

    def failure(self, instruction: str) -> Unverified | None:
        """Why there is no checklist to judge by; None if there is one."""
        if self.checklist is not None and len(self.rejected) < len(self.checklist.items):
            return None
        why = "; ".join(dict.fromkeys(map(str, self.rejected.values() or self.faults)))
        cut = self.checklist is None and any(one.finish_reason == "length" for one in self.completions)
        message = f"no checklist was created: {why}{': raise max_tokens (--max-tokens)' if cut else ''}"
        claim, reply = Claim(instruction, id="checklist"), kept_reply(self.completions)
        return Unverified(claim, "truncated" if cut else "unparsable", message, reply=reply)


def _rejected(checklist: Checklist | None, faults: Sequence[Fault]) -> Mapping[int, Fault]:
    items = checklist.items if checklist is not None else ()
    too_long = [fault for fault in faults if len(items) > MAX_ITEMS and (fault.kind, fault.item) == _TOO_LONG]
    if too_long:
        return dict.fromkeys(range(1, len(items) + 1), too_long[0])
    return {fault.item: fault for fault in reversed(faults) if fault.kind == "form" and fault.item is not None}


class ChecklistMaker:
    """Makes checklists.

    Args:
        model: writes the lists.
        seed: of the sampling; attempt k uses seed + k.
        max_tokens: token limit of a list; None: what the longest list that its schema allows takes.
        critic: a language model that looks for faults too.
        similarity: see :func:`~vouching.methods.checklist.lint.encoder_similarity`; None does without the encoder.
        wording: of the first request; faults are reported in our words in any case.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> model = ScriptedModel(["1. Is it engaging?", "1. Is it about Paris?"])
    >>> made = asyncio.run(ChecklistMaker(model).make("Write about Paris."))
    >>> [item.text for item in made.checklist.items], made.attempts, made.faults
    (['Is it about Paris?'], 2, ())
    """

    def __init__(
        self,
        model: Model,
        seed: int = 0,
        max_tokens: int | None = None,
        critic: Model | None = None,
        similarity: Similarity | None = None,
        wording: Wording = "ours",
    ) -> None:
        self.model, self._critic, self._similarity = model, critic, similarity
        self._wording: Wording = wording
        self._seed, self._max_tokens = seed, max_tokens
        schema = list_schema()
        enforced = schema if wording == "ours" else None
        self._sampling = Sampling(token_limit(max_tokens, schema), json_schema=enforced)

    @property
    def settings(self) -> dict[str, str | int | None]:
        """The settings of the lists, recorded beside an output."""
        critic = self._critic.name if self._critic else None
        asked = {"seed": self._seed, "max_tokens": self._max_tokens}
        return {"model": self.model.name, "critic": critic, **asked, "wording": self._wording}

    async def make(self, instruction: str) -> Made:
        """A checklist for an instruction, or for a conversation as one text.

        Raises ModelError if the model is unreachable for now and ConfigError if it cannot be used at all.
        """
        messages: Sequence[Message] = make_messages(instruction, self._wording)
        best: tuple[Checklist, tuple[Fault, ...]] | None = None
        unread: list[Fault] = []
        completions: list[Completion] = []
        attempts = 0
        while attempts < ATTEMPTS:
            sampling = replace(self._sampling, temperature=_TEMPERATURE * (attempts > 0), seed=self._seed + attempts)
            attempts += 1
            try:
                [reply] = await self.model.generate(messages, sampling)
                completions.append(reply)
                checklist, faults = await self._read(reply, instruction, completions)
            except ModelError as error:
                if error.can_retry:
                    raise
                unread.append(Fault("form", str(error)))
                break
            if checklist is not None and (best is None or _badness(checklist, faults) < _badness(*best)):
                best = checklist, faults
            if not faults:
                break
            unread += faults if checklist is None else ()
            messages = (
                *make_messages(instruction, self._wording),
                *ask_to_revise(reply.text, map(str, faults[:_MAX_SHOWN])),
            )
        checklist, faults = best or (None, tuple(dict.fromkeys(unread)))
        return Made(checklist, faults, attempts, tuple(completions))

    async def aclose(self) -> None:
        """Release the models."""
        await self.model.aclose()
        if self._critic is not None:
            await self._critic.aclose()

    async def _read(
        self, reply: Completion, instruction: str, completions: list[Completion]
    ) -> tuple[Checklist | None, tuple[Fault, ...]]:
        """The list in a reply, and its faults."""
        if reply.finish_reason == "length":
            message = f"the reply was cut off at {self._sampling.max_tokens:,} tokens: write a shorter list"
            return None, (Fault("form", message),)
        try:
            questions = unrepeated(parse_checklist(reply.text))
        except ReplyError as error:
            return None, (Fault("form", str(error)),)
        if not questions:
            return None, (Fault("form", "the reply contains no numbered list of questions"),)
        checklist = Checklist(instruction, tuple(map(ChecklistItem, questions)))
        faults = lint(checklist, self._similarity)
        if not faults and self._critic is not None:
            faults, spent = await lint_by_model(self._critic, checklist, self._max_tokens)
            completions += spent
        return checklist, faults


async def lint_by_model(
    model: Model, checklist: Checklist, max_tokens: int | None = None
) -> tuple[tuple[Fault, ...], list[Completion]]:
    """The faults that a language model finds, and its completions; lines that name no fault or item are ignored."""
    messages = lint_messages(checklist.instruction, [item.text for item in checklist.items])
    schema = fault_schema(len(checklist.items))
    completions = await model.generate(messages, Sampling(token_limit(max_tokens, schema), json_schema=schema))
    return tuple(_faults(completions[0].text, len(checklist.items))), completions


def _badness(checklist: Checklist, faults: Sequence[Fault]) -> tuple[int, int]:
    return len(_rejected(checklist, faults)), len(faults)


def fault_schema(items: int) -> Schema:
    """The JSON Schema of a critic's reply on a list of ``items``; 0 is the number of a missing one."""
    fault = record(item=one_of(*range(items + 1)), kind=one_of(*get_args(FaultKind)), message=short_text(_FAULT))
    return record(faults=list_of(fault, MAX_ITEMS))


def _faults(reply: str, items: int) -> Iterator[Fault]:
    kinds = {kind: partial(Fault, kind) for kind in get_args(FaultKind)}
    listed = json_list(reply, "faults") or ()
    lines = "\n".join(f"{one.get('item')} | {one.get('kind')} | {one.get('message')}" for one in listed)
    for number, kind, message in _LINE.findall(lines or spoken(reply)):
        if int(number) <= items and (int(number) > 0) != (kind == "missing"):
            yield kinds[kind](message.strip(), int(number) or None)


def make_checklists(files: MadeFiles, maker: ChecklistMaker, rules: bool = False, run: RunJob = run_rows) -> MadeRows:
    """Make a checklist for each row of a file; lists with faults go to the rejected file, to be repaired by hand.

    With ``rules``, items are bound to exact rules where the instruction asks for one. Raises InputError if the input or
    an output cannot be used.
    """

    async def make(row: Row) -> Line:
        fields = fields_of(row)
        instruction = instruction_of(fields)
        made = await maker.make(instruction)
        checklist = bind_rules(made.checklist) if made.checklist is not None and rules else made.checklist
        return {
            "id": row.name,
            **{key: fields[key] for key in _KEPT if fields.get(key) is not None},
            "instruction": instruction,
            "checklist": items_json(checklist.items) if checklist else [],
            "attempts": made.attempts,
            "faults": [asdict(one) for one in made.faults],
        }

    settings = {
        "command": "data checklist",
        **maker.settings,
        "rules": rules,
        "prompt": make_digest(),
        "vouching": __version__,
    }
    work = AsyncWorkFactory(lambda: async_work(make), maker.aclose)
    summary = run(files.job(work, looker(_counts), settings, INSTRUCTION_KEYS))
    lines = [*read_lines(files.journal())]
    sound = [line for line in lines if line.get("faults") == []]
    write_lines(files.output, ({key: value for key, value in line.items() if key != "faults"} for line in sound))
    write_lines(files.rejected, (line for line in lines if line.get("faults") != []))
    unusable = [f"{summary.problems:,} row{'s' * (summary.problems != 1)} cannot be used"] if summary.problems else []
    return summary.complete, [*unusable, *_summary(summary.counts, files, rules)]


def _counts(line: Line) -> dict[str, int]:
    kinds = {fault["kind"] for fault in line["faults"]}
    counts = {"rows": 1, "accepted": int(not kinds), "items": len(line["checklist"]), **dict.fromkeys(kinds, 1)}
    counts |= {f"{_LENGTH}{counts['items']}": 1} if counts["accepted"] else {}
    return {**counts, "bound": sum("rule" in item for item in line["checklist"])}


def _summary(counts: Mapping[str, int], files: MadeFiles, rules: bool) -> Iterator[str]:
    rows, accepted = counts.get("rows", 0), counts.get("accepted", 0)
    others = f"; the others, with their faults, are in {files.rejected}" if accepted < rows else ""
    yield f"{accepted:,} of {rows:,} checklists have no fault{others}"
    lengths = sorted((int(key.removeprefix(_LENGTH)), n) for key, n in counts.items() if key.startswith(_LENGTH))
    if lengths:
        mean = sum(items * n for items, n in lengths) / accepted
        spread = ", ".join(f"{n:,} with {items}" for items, n in lengths)
        yield f"checklists have {mean:.1f} items on average: {spread}"
    faulty = [f"{kind} {counts[kind]:,}" for kind in get_args(FaultKind) if counts.get(kind)]
    if faulty:
        yield f"checklists with faults: {', '.join(faulty)}"
    if rules:
        yield f"{counts.get('bound', 0):,} of {counts.get('items', 0):,} items are decided by a rule"
