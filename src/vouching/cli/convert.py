"""``vouch data convert``: rows of other tools and data sets as rows of ours."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from vouching.cli.streams import Exit, cannot_write, usage_errors, write_error
from vouching.rows import new_output

_RowLimit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after N rows.")]
_Foreign = Annotated[
    str,
    typer.Option(
        "--input",
        metavar="ROWS",
        help="Rows as another tool or a data set has them: .json, .jsonl, .jsonl.gz, .csv or .parquet, - for standard "
        "input, or a data set of the Hugging Face hub, hf:OWNER/NAME:SPLIT.",
    ),
]
_Pages = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="For FEVER: the unpacked wiki-pages, which have the evidence.")
]
_Converted = Annotated[
    str, typer.Option("--output", metavar="PATH", help="New file for the converted rows: .jsonl; - prints them.")
]


CONVERT_EXAMPLES = (
    "vouch data convert --input ragas.csv --output rows.jsonl",
    "vouch data convert --input hf:lytang/LLM-AggreFact:test --output - --limit 2",
    "vouch data convert --input train.jsonl --pages wiki-pages --output fever.jsonl",
)


def convert_command(
    input: _Foreign,
    output: _Converted = "-",
    pages: _Pages = None,
    limit: _RowLimit = None,
) -> None:
    """Show how rows of other tools and of training sets are read, and write them as rows of ours.

    Rows to check: those of ragas, DeepEval, TruLens, LettuceDetect, MiniCheck and LLM-AggreFact, promptfoo, OpenAI's
    Evals, and chats of OpenAI with documents; commands that check rows read them without this step. Rows to train on:
    ANLI, FEVER, Nemotron's instructions, HotpotQA, 2WikiMultihopQA, MuSiQue and BioASQ.
    """
    from vouching.bench.training_sets import converted_rows

    counts: Counter[str] = Counter()
    broken = 0
    with usage_errors(), ExitStack() as open_files:
        try:
            sink = open_files.enter_context(new_output(output))
            for one in converted_rows(input, pages, limit):
                if one.problem:
                    broken += 1
                    write_error(one.problem)
                    continue
                counts[one.how] += len(one.rows)
                for fields in one.rows:
                    sink.write(f"{json.dumps(fields, ensure_ascii=False, default=str)}\n".encode())
            sink.flush()
        except OSError as error:
            raise typer.Exit(cannot_write(error, output, "free some space and start again")) from None
    for words, count in counts.items():
        write_error(f"{_count(count)}: {words}")
    if broken:
        write_error(f"{_count(broken)} could not be used")
    raise typer.Exit(Exit.INCOMPLETE if broken else Exit.OK)


def _count(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"
