"""``vouch evolve reflect``: what a verifier is good and bad at, on rows that may guide its training.

The answers are kept beside the output, so that a run that was cut short goes on, and a finished one is reflected on
again without asking. Left out: several files; rows of several sets name theirs under "set".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.cli.row_progress import run_rows
from vouching.cli.streams import Exit, usage_errors, write_error, write_result
from vouching.errors import InputError
from vouching.rows import json_output
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row as BatchRow
from vouching.rows.read import open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.checker import Checker
    from vouching.evolve.records import Accuracy, Reflection

app = typer.Typer()

_Input = Annotated[
    Path,
    typer.Option("--input", metavar="ROWS", help="Rows with claim, source, label; error_type and set if known."),
]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="The reflection: .json.")]
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The verifier: embedded, embedded:rules, embedded:FOLDER (a round of vouch evolve), a scorer, or a "
        "language model such as http://host:8000/v1#name.",
    ),
]
_Method = Annotated[
    Literal["structured", "label"] | None,
    typer.Option(help="How a language model is asked: for the whole record (which has error types), or a label."),
]
_Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of a language model's sampling.")]
_MaxTokens = Annotated[int | None, typer.Option(metavar="N", min=1, help="Length of a language model's reply. (1024)")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON in place of tables.")]
_AGAIN = "start again: what was answered is kept"

_EPILOG = """
**Example**

vouch evolve reflect --input dev.jsonl --output reflection.json

**Exit status**: 0 done; 2 the command line, the input or an output cannot be used; 3 some rows could not be used, or
the model was not reached: start again.
"""


@app.command("reflect", epilog=_EPILOG)
def reflect_command(
    input: _Input,
    output: _Output,
    model: _Model = "embedded",
    method: _Method = None,
    seed: _Seed = None,
    max_tokens: _MaxTokens = None,
    as_json: _Json = False,
) -> None:
    """Find a verifier's weaknesses: accuracy by error type and by set, the weights of the next probes, and rules.

    Take rows that may guide training, never those of a test. vouch data perturb makes rows of known type. The answers
    are kept beside the output, as NAME.judged.jsonl.
    """
    from vouching.checker import Checker
    from vouching.evolve.records import Reflection, read_answers, read_record, write_record
    from vouching.evolve.reflect import reflect

    with usage_errors():
        json_output(output, lambda path: read_record(path, Reflection), "reflection")
        checker = Checker(model, method=method, seed=seed, max_tokens=max_tokens)
        answers = output.with_suffix(".judged.jsonl")
        settings = {
            "command": "evolve reflect", "model": model, "method": method, "seed": seed, "max_tokens": max_tokens,
            "vouching": __version__, **(checker.decoding or {}),
        }  # fmt: skip
        with open_rows(str(input)) as reader, open_journal(str(answers), settings, resume=answers.exists()) as journal:
            work = Waiting(lambda: _Judge(checker, input), checker.aclose, rows_at_once=1 if checker.embedded else 256)
            summary = run_rows(reader, journal, work, _look, again=_AGAIN)
        if summary.stopped is not None:
            write_error(f"stopped: {summary.stopped}; {_AGAIN}")
            raise typer.Exit(Exit.INCOMPLETE)
        judged = read_answers(answers)
        if not judged:
            raise InputError(f"{input} has no row that can be used: wanted a claim, a source and a label in each line")
        found = reflect(judged)
        try:
            write_record(output, found)
        except OSError as error:
            raise InputError(f"{output} cannot be written: {error.strerror or error}") from None
    if as_json:
        write_result(output.read_text(encoding="utf-8"))
    else:
        write_result("\n".join(told(found)) + "\n")
    raise typer.Exit(_ended(summary))


def _ended(summary: BatchSummary) -> Exit:
    if summary.problems:
        write_error(f"{summary.problems:,} rows cannot be used")
    return Exit.INCOMPLETE if summary.problems else Exit.OK


@dataclass(frozen=True, slots=True)
class _Judge:
    """The work on a row: a line of the answers."""

    checker: Checker
    input: Path

    async def __call__(self, row: BatchRow) -> str:
        from vouching.evolve.records import judged_as, to_json
        from vouching.evolve.rows import row_of, set_name

        try:
            if row.fields is None:
                raise InputError(row.problem or "it cannot be read")
            asked = row_of(row.fields, row.name, set_name(self.input))
            outcome = await self.checker.acheck(asked.claim, asked.source)
        except InputError as error:
            return json.dumps({"row": {"id": row.name}, "problem": f"{row.place}: {error}"}, ensure_ascii=False)
        return to_json(judged_as(asked, outcome))


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    problem = line.get("problem")
    return Seen(line["row"]["id"], f"{input_name}, {problem}" if problem else None)


def told(found: Reflection) -> Iterator[str]:
    """A reflection as lines for a terminal."""
    yield f"{'error type':24}{'type is':11}{'rows':>6}{'right':>8}  {'95 % interval':18}{'weight':>7}{'smoothed':>10}"
    for one in found.types:
        yield (
            f"{one.error_type:24}{one.basis:11}{one.found.rows:>6,}{_percent(one.found):>8}  {_interval(one.found):18}"
            f"{one.weight:>7.3f}{one.smoothed:>10.3f}"
        )
    yield ""
    yield f"{'set':35}{'rows':>6}{'right':>8}  {'95 % interval':18}{'not verified':>12}"
    for name, one in found.sets.items():
        yield f"{name:35}{one.rows:>6,}{_percent(one):>8}  {_interval(one):18}{one.unverified:>12,}"
    for title, lines in (("Rules", found.rules), ("Notes", found.notes)):
        if lines:
            yield ""
            yield title
            yield from (f"- {line}" for line in lines)


def _percent(one: Accuracy) -> str:
    estimate = one.accuracy["estimate"]
    return "-" if estimate is None else f"{100 * estimate:.1f} %"


def _interval(one: Accuracy) -> str:
    low, high = one.accuracy["low"], one.accuracy["high"]
    return "none" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f} %"
