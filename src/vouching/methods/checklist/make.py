"""Make a checklist from an instruction with a language model, and revise it where lint finds faults (Soft-RLVR, 2.3).

The first list is greedy. A list with faults goes back to the model with them, up to three lists in all; the one with
the fewest faults is kept. The order of items that App. A.3.2 prescribes is asked for in the prompt and not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import get_args

from vouching.errors import ModelError
from vouching.methods.checklist.items import INSTRUCTION_KEYS, instruction_of, items_json
from vouching.methods.checklist.lint import Fault, FaultKind, Similarity, bind_rules, lint
from vouching.methods.checklist.prompt import ask_to_revise, lint_messages, make_digest, make_messages
from vouching.methods.checklist.reply import parse_checklist
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
from vouching.types import Checklist, ChecklistItem
from vouching.version import __version__

ATTEMPTS = 3
"""Maximum number of lists."""
MAX_TOKENS = 2048
"""Token limit of a list; reasoning models need more."""
_TEMPERATURE = 0.7
"""Of the lists after the first."""
_MAX_SHOWN = 12
"""Faults that are shown to the model at once."""
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


class ChecklistMaker:
    """Makes checklists.

    Args:
        model: writes the lists.
        seed: of the sampling; attempt k uses seed + k.
        max_tokens: token limit of a list.
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
        max_tokens: int = MAX_TOKENS,
        critic: Model | None = None,
        similarity: Similarity | None = None,
        wording: Wording = "ours",
    ) -> None:
        self.model, self._critic, self._similarity = model, critic, similarity
        self._wording: Wording = wording
        self._seed, self._max_tokens = seed, max_tokens

    @property
    def settings(self) -> dict[str, str | int | None]:
        """The settings of the lists, recorded beside an output."""
        critic = self._critic.name if self._critic else None
        return {"model": self.model.name, "critic": critic, "seed": self._seed, "max_tokens": self._max_tokens}

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
            sampling = Sampling(self._max_tokens, _TEMPERATURE if attempts else 0.0, seed=self._seed + attempts)
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
            if checklist is not None and (best is None or len(faults) < len(best[1])):
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
            message = f"the reply was cut off at {self._max_tokens:,} tokens: write a shorter list"
            return None, (Fault("form", message),)
        questions = parse_checklist(reply.text)
        if not questions:
            return None, (Fault("form", "the reply contains no numbered list of questions"),)
        checklist = Checklist(instruction, tuple(map(ChecklistItem, questions)))
        faults = lint(checklist, self._similarity)
        if not faults and self._critic is not None:
            faults, spent = await lint_by_model(self._critic, checklist, self._max_tokens)
            completions += spent
        return checklist, faults


async def lint_by_model(
    model: Model, checklist: Checklist, max_tokens: int = MAX_TOKENS
) -> tuple[tuple[Fault, ...], list[Completion]]:
    """The faults that a language model finds, and its completions; lines that name no fault or item are ignored."""
    messages = lint_messages(checklist.instruction, [item.text for item in checklist.items])
    completions = await model.generate(messages, Sampling(max_tokens))
    return tuple(_faults(completions[0].text, len(checklist.items))), completions


def _faults(reply: str, items: int) -> Iterator[Fault]:
    kinds = {kind: partial(Fault, kind) for kind in get_args(FaultKind)}
    for number, kind, message in _LINE.findall(spoken(reply)):
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
            **({} if fields.get("group") is None else {"group": fields["group"]}),
            "instruction": instruction,
            "checklist": items_json(checklist.items) if checklist else [],
            "attempts": made.attempts,
            "faults": [asdict(one) for one in made.faults],
        }

    settings = {"command": "data checklist", **maker.settings, "rules": rules, "prompt": make_digest(),
                "vouching": __version__}  # fmt: skip
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
