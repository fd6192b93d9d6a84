"""Responses of a language model to the sets that score responses: what ``--responses`` reads.

IFEval's prompts are asked as they are, as its authors do. MATH-500 and AIME ask for the answer in a box. TaxCalcBench
asks for the nineteen lines of Form 1040 (zero-shot). Requests are asked at the same time, and an interrupted file is
resumed. Sets whose responses are written and judged in one run (RAGTruth, FaithBench, FACTS Grounding, multi-hop
questions) need no file: ``run.py answers`` asks the model itself. Not supported: several turns, tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recipes.bench.problems import MathProblem
from recipes.taxes.taxcalcbench import LINES, TaxCase
from vouching.bench.ifeval import Prompt as IfevalPrompt
from vouching.bench.rows import Fault, Split
from vouching.bench.task import DataSet
from vouching.errors import InputError, ModelError
from vouching.models.base import Message, Model, Sampling, spoken
from vouching.prompts import load_prompt
from vouching.rows import (
    AsyncWorkFactory,
    Line,
    Made,
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
from vouching.version import __version__


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked for one row of a set."""

    id: str
    """Id of the row."""
    prompt: str
    """The user's message."""
    key: Mapping[str, str]
    """What names the row in a file of responses."""


def requests_of(data_set: DataSet[Any], folder: Path, split: Split = "test", limit: int | None = None) -> list[Request]:
    """The requests of a set, in its order, at most ``limit``. Raises InputError for a set without such a task."""
    found: list[Request] = []
    for row in data_set.rows(folder, split):
        if isinstance(row, Fault):
            raise InputError(f"{data_set.name}: {row}; repair the file, or get it again")
        found.append(_request(row, data_set.name))
        if len(found) == limit:
            break
    return found


def _request(row: object, name: str) -> Request:
    match row:
        case IfevalPrompt():
            return Request(row.id, row.prompt, {"prompt": row.prompt})
        case MathProblem():
            asked = load_prompt("recipes.bench", "generate_math").fill(problem=row.problem)
            return Request(row.id, asked.strip(), {"id": row.id})
        case TaxCase():
            lines = "\n".join(f"Line {line.id}: {line.description} | explanation | amount" for line in LINES)
            record = json.dumps(row.record, indent=1, ensure_ascii=False)
            asked = load_prompt("recipes.bench", "generate_taxes").fill(record=record, lines=lines)
            return Request(row.id, asked.strip(), {"id": row.id})
        case _:
            raise InputError(
                f"responses to {name} are written and judged in one run: use  run.py answers {name} --model NAME"
            )


@dataclass(frozen=True, slots=True)
class Writer:
    """How responses are sampled. ``generations`` responses of one request have the seeds seed, seed + 1, ..."""

    model: Model
    generations: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 4096
    seed: int = 0

    @property
    def settings(self) -> dict[str, str | float | int]:
        """The settings of the responses, recorded beside the output."""
        return {
            "command": "bench generate",
            "model": self.model.name,
            "generations": self.generations,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "vouching": __version__,
        }

    def sampling(self, number: int) -> Sampling:
        """The sampling of response ``number`` to a request, from 0."""
        return Sampling(self.max_tokens, self.temperature, top_p=self.top_p, seed=self.seed + number)


def write_responses(
    requests: Sequence[Request], output: Path, writer: Writer, resume: bool = False, run: RunJob = run_rows
) -> Made:
    """Write the responses to ``output``, a line each; requests that failed go to the rejected file.

    The requests are kept beside the output, so that a resumed run asks the same. A response that was cut off is kept
    and counted: its task scores it as it is.
    """
    asked = output.with_suffix(".requests.jsonl")
    lines = [*_lines(requests, writer.generations)]
    if not (resume and asked.exists() and [*read_lines(asked)] == lines):
        write_lines(asked, lines)

    async def write(row: Row) -> Line:
        fields = fields_of(row)
        messages = [Message("user", str(fields["asked"]))]
        try:
            [reply] = await writer.model.generate(messages, writer.sampling(int(fields["number"])))
        except ModelError as error:
            if error.can_retry:  # the run stops, and resumes once the model is there again
                raise
            raise InputError(f"the model did not answer: {error}") from None
        spent = {"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
        response = spoken(reply.text).strip()
        return {
            "id": row.name,
            "key": fields["key"],
            "response": response,
            "finish_reason": reply.finish_reason,
            **spent,
        }

    files = MadeFiles(str(asked), output, resume)
    work = AsyncWorkFactory(lambda: async_work(write), writer.model.aclose)
    summary = run(files.job(work, looker(_counts), writer.settings))
    done = [*read_lines(files.journal())]
    # The key last: several responses of one request share the id of their row.
    named = ({**{name: line[name] for name in line if name != "key"}, **line["key"]} for line in done if "key" in line)
    write_lines(output, named)
    write_lines(files.rejected, (line for line in done if "key" not in line))
    counts = summary.counts
    report = [f"{counts['responses']:,} responses in {output}"]
    report += [f"{counts['cut off']:,} were cut off at {writer.max_tokens:,} tokens"] if counts["cut off"] else []
    report += [f"{summary.problems:,} requests failed; see {files.rejected}"] if summary.problems else []
    return summary.complete, report


def _lines(requests: Sequence[Request], generations: int) -> Iterator[Line]:
    for one in requests:
        for number in range(generations):
            name = one.id if generations == 1 else f"{one.id}#{number}"
            yield {"id": name, "asked": one.prompt, "key": dict(one.key), "number": number}


def _counts(line: Line) -> dict[str, int]:
    return {"responses": 1, "cut off": int(line["finish_reason"] == "length")}
