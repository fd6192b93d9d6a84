"""``vouch data annotate``: a stronger model writes records for a smaller one to learn from.

What became of each row is kept in a journal beside the output, ``OUTPUT.journal.jsonl`` without its ending, which a run
that was cut short goes on from; the files of accepted and rejected rows are written from it anew each time. Left out:
mixing and splitting the data; that is for the training's own configuration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from vouching.cli.row_progress import AGAIN, run_rows
from vouching.cli.streams import Exit, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows import journal_beside
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.methods.structured.teacher import Demand, Teacher
    from vouching.models.base import Model

app = typer.Typer()

_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with claim, source and, if known, label.")]
_Output = Annotated[Path, typer.Option("--output", metavar="SFT", help="Accepted rows, as chats: .jsonl.")]
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The language model that writes, such as http://host:8000/v1#name or openai/name.",
    ),
]
_Demand = Annotated[
    str | None, typer.Option(metavar="A,B", help="Beyond the form: label, error_type, fix, grounded; none without it.")
]
_Prompts = Annotated[Path | None, typer.Option(metavar="PATH", help="Also write prompts alone, for GRPO: .jsonl.")]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the sampling.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a reply; a model that thinks needs more.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with a run that was cut short.")]

_EPILOG = """
**Example**

vouch data annotate --input pairs.jsonl --model openai/gpt-4o-mini --output sft.jsonl --demand label,error_type,fix

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the run ended early: finish it with --resume.
"""


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """The options of one ``vouch data annotate``."""

    input: str
    """Path of the rows."""
    output: Path
    """Path of the accepted rows."""
    demands: tuple[Demand, ...] = ()
    """What a record must be beyond its form."""
    prompts: Path | None = None
    """Path of the prompts alone; None for none."""
    seed: int = 0
    """Seed of the sampling."""
    max_tokens: int = 1024
    """Length of a reply."""
    resume: bool = False
    """Whether to go on with a run that was cut short."""

    @property
    def rejected(self) -> Path:
        """Path of the rejected rows."""
        return self.output.with_suffix(".rejected.jsonl")


@app.command("annotate", epilog=_EPILOG)
def annotate_command(
    input: _Input,
    output: _Output,
    model: _Model,
    demand: _Demand = None,
    prompts: _Prompts = None,
    seed: _Seed = 0,
    max_tokens: _MaxTokens = 1024,
    resume: _Resume = False,
) -> None:
    """Let a language model write the records that a smaller one learns from.

    The output has a chat per accepted row, as TRL's SFT reads it; rejected rows go to another file, with reasons.
    """
    with usage_errors():
        from vouching.models.open import open_model

        demands = tuple(name.strip() for name in demand.split(",")) if demand else ()
        options = AnnotateOptions(input, output, cast("tuple[Demand, ...]", demands), prompts, seed, max_tokens, resume)
        raise typer.Exit(annotate_rows(options, open_model(model)))


def annotate_rows(options: AnnotateOptions, model: Model) -> Exit:
    """Annotate the rows of a file; write what was accepted, what was rejected and why, and tell the rates.

    Raises:
        InputError: the input or an output cannot be used.
        ConfigError: an unknown demand.
    """
    from vouching.methods.structured.teacher import Teacher

    teacher = Teacher(model, options.demands, options.seed, options.max_tokens)
    prompts = (options.prompts,) if options.prompts else ()
    journal_path = journal_beside(options.input, options.output, options.rejected, *prompts)
    settings = {
        "command": "data annotate", "model": model.name, "demands": ",".join(sorted(options.demands)),
        "seed": options.seed, "max_tokens": options.max_tokens, "prompt": teacher.prompt_hash, "vouching": __version__,
    }  # fmt: skip
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(options.input, ("claim",)))
        journal = open_files.enter_context(open_journal(str(journal_path), settings, options.resume))
        summary = run_rows(reader, journal, Waiting(lambda: _Annotate(teacher), model.aclose), _look, again=AGAIN)
    _split(journal_path, options)
    for line in _told(summary, options):
        write_error(line)
    return Exit.INCOMPLETE if summary.stopped is not None or summary.problems else Exit.OK


@dataclass(frozen=True, slots=True)
class _Annotate:
    """The work on a row: a line of the journal."""

    teacher: Teacher

    async def __call__(self, row: Row) -> str:
        from vouching.inputs import labelled_row
        from vouching.methods.structured.teacher import lesson, lesson_prompt

        try:
            found = labelled_row(row)
        except InputError as error:
            return json.dumps({"id": row.name, "problem": f"{row.place}: {error}"}, ensure_ascii=False)
        made = await self.teacher.annotate(found.claim, found.sources, found.gold)
        line = {
            "id": row.name,
            "claim": found.claim.text,
            "source": "\n\n".join(source.text for source in found.sources),
            "gold": found.gold,
            "group": found.group,
            "accepted": made.record is not None,
            "attempts": made.attempts,
            "format_ok": made.format_ok,
            "gold_ok": made.gold_ok,
            "faults": made.faults,
            "prompt": lesson_prompt(found.claim, found.sources),
            "completion": lesson(made.record) if made.record else None,
        }
        return json.dumps(line, ensure_ascii=False)


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    if "problem" in line:
        return Seen(line["id"], f"{input_name}, {line['problem']}")
    counts = {"rows": 1, "labelled": line["gold"] is not None}
    return Seen(line["id"], counts={**counts, **{key: line[key] for key in ("accepted", "format_ok", "gold_ok")}})


def _split(journal: Path, options: AnnotateOptions) -> None:
    """Write accepted rows, rejected rows and prompts from the journal."""
    with ExitStack() as files:
        lines = files.enter_context(journal.open(encoding="utf-8"))
        accepted, refused = (
            files.enter_context(path.open("w", encoding="utf-8")) for path in (options.output, options.rejected)
        )
        prompts = files.enter_context(options.prompts.open("w", encoding="utf-8")) if options.prompts else None
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            about = {key: row[key] for key in ("id", "gold", "group") if row.get(key) is not None}
            if row.get("accepted"):
                messages = [*row["prompt"], {"role": "assistant", "content": row["completion"]}]
                accepted.write(json.dumps({**about, "messages": messages}, ensure_ascii=False) + "\n")
            else:
                why = {key: row[key] for key in ("problem", "attempts", "faults", "claim", "source") if key in row}
                refused.write(json.dumps({**about, **why}, ensure_ascii=False) + "\n")
            if prompts is not None and row.get("prompt"):
                texts = {key: row[key] for key in ("prompt", "claim", "source")}
                prompts.write(json.dumps({**about, **texts}, ensure_ascii=False) + "\n")


def _told(summary: BatchSummary, options: AnnotateOptions) -> Iterator[str]:
    counts = summary.counts
    if summary.stopped is not None:
        yield f"stopped: {summary.stopped}; finish with --resume"
    if summary.problems:
        yield f"{summary.problems:,} rows cannot be used"
    if "label" in options.demands and (without := counts["rows"] - counts["labelled"]):
        yield f"{without:,} row{'s' * (without != 1)} without a label: there none was demanded"
    others = f"; the others, with reasons, are in {options.rejected}" if counts["accepted"] < counts["rows"] else ""
    rate = _percent(counts["accepted"], counts["rows"])
    yield f"{counts['accepted']:,} of {counts['rows']:,} rows accepted{rate}{others}"
    yield f"of the right form: {counts['format_ok']:,}{_percent(counts['format_ok'], counts['rows'])}"
    if counts["labelled"]:
        also = "" if {"label", "error_type", "fix"} <= {*options.demands} else ", though not all of that was demanded"
        rate = f"{counts['gold_ok']:,}{_percent(counts['gold_ok'], counts['labelled'])}"
        yield f"with the gold label, type and fix too: {rate} of those with a label{also}"


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.1f} %)" if whole else ""
