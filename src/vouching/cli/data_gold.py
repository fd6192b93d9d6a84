"""``vouch data gold``: examples for a verifier, labelled by rule or by a person (Algorithm 1's gold buffer).

A policy answers each instruction several times, and each item of its checklist gives an example (x, y, c, l) for every
answer. An item that names a rule is labelled by it; the others wait in a file for a person, who fills in the labels and
hands it back with --labels. A row whose instruction overlaps with a prompt of an evaluation is refused. The answers are
kept in a journal beside the output, which a run that was cut short goes on from; the other files are written from it
anew each time. Left out: as many examples of each label; the paper does not say how its buffer is balanced.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from vouching.cli.row_progress import AGAIN, run_rows
from vouching.cli.streams import Exit, usage_errors, write_error
from vouching.errors import InputError, ModelError
from vouching.methods.checklist.items import INSTRUCTION_KEYS, as_items, instruction_of, items_json
from vouching.methods.checklist.replay import KnownTexts
from vouching.methods.rules import named_items
from vouching.methods.rules.verify import rule_on
from vouching.models.base import Message, Model, Role, Sampling, spoken
from vouching.rows import journal_beside
from vouching.rows.journal import open_journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Fields, Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.types import ChecklistItem
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[
    str, typer.Option("--input", metavar="ROWS", help="Rows with an instruction and its checklist; - is stdin.")
]
_Output = Annotated[Path, typer.Option("--output", metavar="GOLD", help="Labelled examples: .jsonl.")]
_Model = Annotated[
    str, typer.Option(metavar="NAME", envvar="VOUCH_MODEL", help="The policy, such as http://host:8000/v1#name.")
]
_Samples = Annotated[int, typer.Option(metavar="N", min=1, help="Answers to each instruction.")]
_Labels = Annotated[
    str | None, typer.Option(metavar="PATH", help="Rows with id and l that a person filled in; with --resume.")
]
_Evaluation = Annotated[
    list[str] | None,
    typer.Option(metavar="ROWS", help="Prompts that must not be in it, beside IFEval's in VOUCH_DATA. Repeatable."),
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the sampling.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of an answer.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with a run, or label a finished one.")]

_EPILOG = """
**Examples**

vouch data gold --input checklists.jsonl --model http://localhost:8000/v1#policy --output gold.jsonl

vouch data gold --input checklists.jsonl --model http://localhost:8000/v1#policy --output gold.jsonl --resume
--labels gold.unlabelled.jsonl

**Exit status**: 0 done; 2 the command line, the input or an output cannot be used; 3 some rows could not be used or
were refused, or the run ended early: finish it with --resume.
"""


@dataclass(frozen=True, slots=True)
class GoldOptions:
    """The options of one ``vouch data gold``."""

    input: str
    """Path of the rows, or "-"."""
    output: Path
    """Path of the labelled examples."""
    forbidden: KnownTexts
    """Prompts that must not be in it."""
    samples: int = 1
    """Answers to each instruction."""
    labels: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """What a person said, by the example's id."""
    seed: int = 0
    """Seed of the sampling."""
    max_tokens: int = 1024
    """Length of an answer."""
    resume: bool = False
    """Whether to go on with a run."""

    @property
    def unlabelled(self) -> Path:
        """Path of the examples that wait for a person."""
        return self.output.with_suffix(".unlabelled.jsonl")

    @property
    def rejected(self) -> Path:
        """Path of the rows that were not used."""
        return self.output.with_suffix(".rejected.jsonl")


@app.command("gold", epilog=_EPILOG)
def gold_command(
    input: _Input,
    output: _Output,
    model: _Model,
    samples: _Samples = 1,
    labels: _Labels = None,
    evaluation: _Evaluation = None,
    seed: _Seed = 0,
    max_tokens: _MaxTokens = 1024,
    resume: _Resume = False,
) -> None:
    """Let a policy answer, and label each item of the checklist: examples that a verifier learns from.

    Each line has id, x (the instruction), y (the answer), c (the item), l (1 or 0) and by (rule or person). Items
    without a rule or a person's label go to another file, rows that were not used to a third.
    """
    with usage_errors():
        from vouching.models.open import open_model

        said = read_labels(labels) if labels is not None else {}
        forbidden = forbidden_prompts(evaluation or ())
        options = GoldOptions(input, output, forbidden, samples, said, seed, max_tokens, resume)
        raise typer.Exit(make_gold(options, open_model(model)))


def forbidden_prompts(files: Sequence[str]) -> KnownTexts:
    """The prompts of evaluations: those of the files, and IFEval's where ``VOUCH_DATA`` has them.

    Raises:
        InputError: a file cannot be used, or there is no prompt at all.
    """
    from vouching.bench.catalog import data_folder
    from vouching.bench.ifeval import FILE
    from vouching.errors import ConfigError

    try:
        shipped = data_folder() / FILE
    except ConfigError:
        shipped = Path(FILE)
    paths = [*files, *([str(shipped)] if shipped.is_file() else [])]
    prompts: list[str] = []
    for path in paths:
        with open_rows(path, INSTRUCTION_KEYS) as reader:
            for row in reader:
                if row.fields is None:
                    raise InputError(f"{reader.name}, {row.place}: {row.problem}")
                prompts.append(instruction_of(row.fields))
    if not prompts:
        raise InputError(
            "there is no prompt that must not be trained on: name the evaluation's with --evaluation ROWS, or let "
            f"VOUCH_DATA name the folder that has {FILE}"
        )
    return KnownTexts(prompts)


def read_labels(path: str) -> dict[str, bool]:
    """What a person said: a label for each id. Rows whose label is still null say nothing.

    Raises:
        InputError: a row without an id, with a label that is none, or with another label than an earlier one.
    """
    labels: dict[str, bool] = {}
    with open_rows(path) as reader:
        for row in reader:
            fields = row.fields
            if fields is None or fields.get("id") is None:
                raise InputError(f"{reader.name}, {row.place}: {row.problem or 'it has no id'}")
            given = next((fields[key] for key in ("l", "label") if fields.get(key) is not None), None)
            words = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}
            label = words.get(str(given).strip().lower())
            if given is not None and label is None:
                raise InputError(f"{reader.name}, {row.place}: the label is {given!r:.60}, wanted 1 or 0, yes or no")
            if label is not None and labels.setdefault(row.name, label) != label:
                raise InputError(f"{reader.name}, {row.place}: {row.name!r} has the other label further above")
    return labels


def make_gold(options: GoldOptions, model: Model) -> Exit:
    """Sample answers to the rows of a file, label their items and write the three files.

    Raises:
        InputError: the input or an output cannot be used, or a label belongs to no example.
    """
    journal_path = journal_beside(options.input, options.output, options.unlabelled, options.rejected)
    options = replace(options, labels={**_labels_before(options), **options.labels})
    settings = {
        "command": "data gold", "model": model.name, "samples": options.samples, "seed": options.seed,
        "max_tokens": options.max_tokens, "vouching": __version__,
    }  # fmt: skip
    with ExitStack() as open_files:
        reader = open_files.enter_context(open_rows(options.input, INSTRUCTION_KEYS))
        journal = open_files.enter_context(open_journal(str(journal_path), settings, options.resume))
        work = Waiting(lambda: _Answer(model, options, _numbers(journal_path)), model.aclose)
        summary = run_rows(reader, journal, work, _look, again=AGAIN)
    counts = _write(journal_path, options)
    for line in _told(summary, counts, options):
        write_error(line)
    return Exit.INCOMPLETE if summary.stopped is not None or summary.problems else Exit.OK


@dataclass(frozen=True, slots=True)
class _Answer:
    """The work on a row: a line of the journal."""

    model: Model
    options: GoldOptions
    numbers: dict[str, int]
    """Which row has an id; labels find their examples by it."""

    async def __call__(self, row: Row) -> str:
        options = self.options
        try:
            if row.fields is None:
                raise InputError(str(row.problem))
            if self.numbers.setdefault(row.name, row.number) != row.number:
                raise InputError(f"its id {row.name!r} is that of row {self.numbers[row.name]}, give each row its own")
            instruction, items = instruction_of(row.fields), _items(row.fields)
            known = options.forbidden.find(instruction)
            if known is not None:
                raise InputError(f"it overlaps with a prompt of an evaluation, {known[:80]!r}: leave it out")
            sampling = Sampling(options.max_tokens, temperature=1.0, n=options.samples, seed=options.seed)
            completions = await self.model.generate(_turns(row.fields, instruction), sampling)
        except (InputError, ModelError) as error:
            if error.can_retry:
                raise
            return json.dumps({"id": row.name, "problem": f"{row.place}: {error}"}, ensure_ascii=False)
        # An answer that was cut off is what the policy wrote, and judged as such.
        answers = [spoken(said.text).strip() for said in completions]
        line = {"id": row.name, "x": instruction, "items": items_json(items), "answers": answers}
        return json.dumps(line, ensure_ascii=False)


def _numbers(journal: Path) -> dict[str, int]:
    """Which of the finished rows has an id; the first, if several do."""
    numbers: dict[str, int] = {}
    for number, line in enumerate(journal.read_text(encoding="utf-8").splitlines(), 1):
        numbers.setdefault(json.loads(line)["id"], number)
    return numbers


def _items(fields: Fields) -> tuple[ChecklistItem, ...]:
    if fields.get("checklist") is not None:
        return as_items(fields["checklist"])
    if fields.get("instruction_id_list") is None:
        raise InputError(f'the row has the keys {[*fields]}, wanted "checklist", or "instruction_id_list" and "kwargs"')
    return as_items(named_items(fields))


def _turns(fields: Fields, instruction: str) -> list[Message]:
    """What the policy is asked: the instruction as a user says it, or the turns of the conversation."""
    turns: Any = next((fields[key] for key in INSTRUCTION_KEYS if fields.get(key) is not None), None)
    if isinstance(turns, str):
        return [Message("user", instruction)]
    return [Message(cast("Role", turn["role"]), turn["content"]) for turn in cast("list[dict[str, str]]", turns)]


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    if "problem" in line:
        return Seen(line["id"], f"{input_name}, {line['problem']}")
    return Seen(line["id"], counts={"rows": 1})


def _labels_before(options: GoldOptions) -> dict[str, bool]:
    """What persons said in earlier runs, which the output has kept."""
    if not (options.resume and options.output.exists()):
        return {}
    rows: list[dict[str, Any]] = [json.loads(line) for line in options.output.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: bool(row["l"]) for row in rows if row["by"] == "person"}


def _write(journal: Path, options: GoldOptions) -> Counter[str]:
    """Write the examples, labelled or not, and the rejected rows; how many there are of each label and by whom.

    Raises:
        InputError: a label belongs to no example; nothing is written then.
    """
    lines = [cast("dict[str, Any]", json.loads(line)) for line in journal.read_text(encoding="utf-8").splitlines()]
    examples = [example for line in lines if "problem" not in line for example in _examples(line, options.labels)]
    strange = sorted(options.labels.keys() - {example["id"] for example in examples})
    if strange:
        more = f", nor do {len(strange) - 1:,} others" if strange[1:] else ""
        raise InputError(f"the label for {strange[0]!r} belongs to no example{more}")
    kinds = {
        options.output: [example for example in examples if example["l"] is not None],
        options.unlabelled: [example for example in examples if example["l"] is None],
        options.rejected: [line for line in lines if "problem" in line],
    }
    for path, rows in kinds.items():
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return Counter(key for example in examples for key in (str(example["l"]), str(example["by"])))


def _examples(line: Mapping[str, Any], labels: Mapping[str, bool]) -> Iterator[dict[str, Any]]:
    """The examples of a line: a person's label goes before a rule's."""
    items = as_items(line["items"])
    for i, answer in enumerate(line["answers"]):
        for k, item in enumerate(items):
            name = f"{line['id']}/{i}/{k}"
            label, by = labels.get(name), "person"
            if label is None and item.rule is not None:
                label, by = rule_on(item, answer).passed, "rule"
            yield {
                "id": name, "x": line["x"], "y": answer, "c": item.text,
                "l": None if label is None else int(label), "by": None if label is None else by,
            }  # fmt: skip


def _told(summary: BatchSummary, counts: Counter[str], options: GoldOptions) -> Iterator[str]:
    if summary.stopped is not None:
        yield f"stopped: {summary.stopped}; finish with --resume"
    if summary.problems:
        yield f"{_counted(summary.problems, 'row was', 'rows were')} not used; {options.rejected} says why"
    examples = _counted(counts["1"] + counts["0"], "example", "examples")
    by = f"{counts['rule']:,} by rule, {counts['person']:,} by a person"
    yield f"{examples}: {counts['1']:,} yes, {counts['0']:,} no; {by}"
    if counts["None"]:
        waiting = counts["None"] // 2  # counted once for the label, once for who gave it
        wait = _counted(waiting, "example waits", "examples wait")
        yield f"{wait} for a person: fill in l in {options.unlabelled}, then add --resume --labels {options.unlabelled}"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
