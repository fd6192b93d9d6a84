"""``vouch data checklist``: a checklist for each instruction, made once and kept fixed through training.

What became of each row is kept in a journal beside the output, which a run that was cut short goes on from; the files
of accepted and rejected rows are written from it anew each time. Left out: a choice among several lists by a person;
rejected lists are kept with their faults, to be mended by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from vouching.cli.row_progress import AGAIN, run_rows
from vouching.cli.streams import Exit, usage_errors, write_error
from vouching.errors import InputError
from vouching.methods.checklist.items import INSTRUCTION_KEYS, instruction_of, items_json
from vouching.methods.checklist.lint import bind_rules, encoder_nearness
from vouching.methods.checklist.make import MAX_TOKENS, ChecklistMaker
from vouching.methods.checklist.prompt import make_digest
from vouching.models.base import Model
from vouching.rows import journal_beside
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[
    str, typer.Option("--input", metavar="ROWS", help="Rows with instruction, prompt or messages; - is stdin.")
]
_Output = Annotated[Path, typer.Option("--output", metavar="CHECKLISTS", help="Rows with their checklists: .jsonl.")]
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The language model that writes, such as http://host:8000/v1#name or openai/name.",
    ),
]
_Critic = Annotated[
    str | None, typer.Option(metavar="NAME", help="A language model that looks for faults too; rules alone without it.")
]
_Rules = Annotated[
    bool, typer.Option("--rules", metavar="", help="Bind items to exact rules where the instruction asks for one.")
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the sampling.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a list; a model that thinks needs more.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with a run that was cut short.")]

_LENGTH = "length "
"""Begins the key under which lists of one length are counted."""

_EPILOG = """
**Example**

vouch data checklist --input prompts.jsonl --model openai/gpt-4o-mini --output checklists.jsonl

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the run ended early: finish it with --resume.
"""


@dataclass(frozen=True, slots=True)
class ChecklistDataOptions:
    """The options of one ``vouch data checklist``."""

    input: str
    """Path of the rows, or "-"."""
    output: Path
    """Path of the accepted rows."""
    rules: bool = False
    """Whether to bind items to exact rules."""
    seed: int = 0
    """Seed of the sampling."""
    max_tokens: int = MAX_TOKENS
    """Length of a list."""
    resume: bool = False
    """Whether to go on with a run that was cut short."""

    @property
    def rejected(self) -> Path:
        """Path of the rejected rows."""
        return self.output.with_suffix(".rejected.jsonl")


@app.command("checklist", epilog=_EPILOG)
def checklist_command(
    input: _Input,
    output: _Output,
    model: _Model,
    critic: _Critic = None,
    rules: _Rules = False,
    seed: _Seed = 0,
    max_tokens: _MaxTokens = MAX_TOKENS,
    resume: _Resume = False,
) -> None:
    """Let a language model write a checklist for each instruction, lint it, and have it written again if it has faults.

    A row of the output has id, instruction, checklist and attempts. Lists whose faults stay go to another file.
    """
    with usage_errors():
        from vouching.models.open import open_model

        options = ChecklistDataOptions(input, output, rules, seed, max_tokens, resume)
        raise typer.Exit(make_checklists(options, open_model(model), None if critic is None else open_model(critic)))


def make_checklists(options: ChecklistDataOptions, model: Model, critic: Model | None = None) -> Exit:
    """Make a checklist for each row of a file; write what was accepted, what was rejected and why.

    Raises:
        InputError: the input or an output cannot be used.
    """
    maker = ChecklistMaker(model, options.seed, options.max_tokens, critic, encoder_nearness())
    journal_path = journal_beside(options.input, options.output, options.rejected)
    settings = {
        "command": "data checklist", "model": model.name, "critic": critic.name if critic else None,
        "rules": options.rules, "seed": options.seed, "max_tokens": options.max_tokens, "prompt": make_digest(),
        "vouching": __version__,
    }  # fmt: skip
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(options.input, INSTRUCTION_KEYS))
        journal = open_files.enter_context(open_journal(str(journal_path), settings, options.resume))
        work = Waiting(lambda: _MakeOne(maker, options.rules), maker.aclose)
        summary = run_rows(reader, journal, work, _look, again=AGAIN)
    _split(journal_path, options)
    for line in _told(summary, options):
        write_error(line)
    return Exit.INCOMPLETE if summary.stopped is not None or summary.problems else Exit.OK


@dataclass(frozen=True, slots=True)
class _MakeOne:
    """The work on a row: a line of the journal."""

    maker: ChecklistMaker
    rules: bool

    async def __call__(self, row: Row) -> str:
        try:
            if row.fields is None:
                raise InputError(str(row.problem))
            instruction = instruction_of(row.fields)
        except InputError as error:
            return json.dumps({"id": row.name, "problem": f"{row.place}: {error}"}, ensure_ascii=False)
        made = await self.maker.make(instruction)
        checklist = made.checklist
        if checklist is not None and self.rules:
            checklist = bind_rules(checklist)
        kept = {key: row.fields[key] for key in ("group",) if row.fields.get(key) is not None}
        line = {
            "id": row.name,
            **kept,
            "instruction": instruction,
            "checklist": items_json(checklist.items) if checklist else [],
            "attempts": made.attempts,
            "faults": [{"kind": fault.kind, "item": fault.item, "message": fault.message} for fault in made.faults],
        }
        return json.dumps(line, ensure_ascii=False)


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    if "problem" in line:
        return Seen(line["id"], f"{input_name}, {line['problem']}")
    kinds = {fault["kind"] for fault in line["faults"]}
    counts = {"rows": 1, "accepted": int(not kinds), "items": len(line["checklist"]), **dict.fromkeys(kinds, 1)}
    counts |= {f"{_LENGTH}{counts['items']}": 1} if counts["accepted"] else {}
    return Seen(line["id"], counts={**counts, "bound": sum("rule" in item for item in line["checklist"])})


def _split(journal: Path, options: ChecklistDataOptions) -> None:
    """Write accepted and rejected rows from the journal."""
    with (
        journal.open(encoding="utf-8") as lines,
        options.output.open("w", encoding="utf-8") as accepted,
        options.rejected.open("w", encoding="utf-8") as rejected,
    ):
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            if row.get("faults") == []:
                del row["faults"]
                accepted.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                rejected.write(json.dumps(row, ensure_ascii=False) + "\n")


def _told(summary: BatchSummary, options: ChecklistDataOptions) -> Iterator[str]:
    counts = summary.counts
    if summary.stopped is not None:
        yield f"stopped: {summary.stopped}; finish with --resume"
    if summary.problems:
        yield f"{summary.problems:,} rows cannot be used"
    others = (
        f"; the others, with their faults, are in {options.rejected}" if counts["accepted"] < counts["rows"] else ""
    )
    yield f"{counts['accepted']:,} of {counts['rows']:,} checklists have no fault{others}"
    lengths = sorted((int(key.removeprefix(_LENGTH)), n) for key, n in counts.items() if key.startswith(_LENGTH))
    if lengths:
        mean = sum(items * n for items, n in lengths) / counts["accepted"]
        spread = ", ".join(f"{items} in {n:,}" for items, n in lengths)
        yield f"they have {mean:.1f} items on average: {spread}"
    kinds = ("form", "under-decomposed", "over-decomposed", "spurious", "missing")
    faulty = [f"{kind} {counts[kind]:,}" for kind in kinds if counts[kind]]
    if faulty:
        yield f"lists with a fault: {', '.join(faulty)}"
    if options.rules:
        yield f"{counts['bound']:,} of {counts['items']:,} items are decided by a rule"
