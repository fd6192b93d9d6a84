"""Labelled examples for training a verifier, labelled by rule or by a person (Algorithm 1's gold buffer).

A policy answers each instruction several times; each item of the checklist and each answer give an example (x, y, c,
l). Items that name a rule are labelled by it; the others are written to a file for a person to label and hand back. A
row whose instruction overlaps with a prompt of an evaluation is rejected: half of the eight-word runs of the shorter
text occur in the other, ignoring case and punctuation; shorter texts must be equal.

Not supported: balancing labels (the paper does not describe how its buffer is balanced), and detecting overlap by
paraphrase or translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from vouching.errors import InputError, ModelError
from vouching.methods.checklist.items import INSTRUCTION_KEYS, as_items, instruction_of, items_json
from vouching.models.base import Message, Model, Role, Sampling, spoken
from vouching.rows import (
    AsyncWorkFactory,
    Fields,
    Line,
    Made,
    MadeFiles,
    Row,
    RunJob,
    async_work,
    fields_of,
    looker,
    open_rows,
    read_lines,
    run_rows,
    write_lines,
)
from vouching.rules.verify import named_items, rule_on
from vouching.text.words import lower_words
from vouching.types import ChecklistItem
from vouching.types.visible import shown_json, shown_keys
from vouching.version import __version__


@dataclass(frozen=True, slots=True)
class GoldOptions:
    """How gold is made."""

    forbidden: KnownTexts
    """Prompts of evaluations, which must not be trained on."""
    samples: int = 1
    """Answers to each instruction."""
    labels: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Labels by a person, by the example's id."""
    seed: int = 0
    max_tokens: int = 1024


def forbidden_prompts(files: Sequence[str]) -> KnownTexts:
    """The prompts of evaluations. Raises InputError if a file cannot be used or there is no prompt."""
    prompts: list[str] = []
    for path in files:
        with open_rows(path, INSTRUCTION_KEYS) as reader:
            for row in reader:
                if row.fields is None:
                    raise InputError(f"{reader.name}, {row.place}: {row.problem}")
                prompts.append(instruction_of(row.fields))
    if not prompts:
        raise InputError(
            "there are no evaluation prompts to exclude from training: pass files with --evaluation ROWS, or set "
            "VOUCH_DATA to the folder that contains ifeval/input_data.jsonl"
        )
    return KnownTexts(prompts)


def read_labels(path: str) -> dict[str, bool]:
    """Labels by a person, by id; rows whose label is null are skipped.

    Raises InputError for a row without an id, an unknown label, or one that contradicts an earlier row.
    """
    labels: dict[str, bool] = {}
    with open_rows(path) as reader:
        for row in reader:
            fields = row.fields
            if fields is None or fields.get("id") is None:
                raise InputError(f"{reader.name}, {row.place}: {row.problem or 'the row has no id'}")
            given = next((fields[key] for key in ("l", "label") if fields.get(key) is not None), None)
            words = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}
            label = words.get(str(given).strip().lower())
            if given is not None and label is None:
                raise InputError(
                    f"{reader.name}, {row.place}: the label must be 1, 0, yes or no, got {shown_json(given)}"
                )
            if label is not None and labels.setdefault(row.name, label) != label:
                raise InputError(f"{reader.name}, {row.place}: {row.name!r} has the opposite label in an earlier row")
    return labels


def make_gold(files: MadeFiles, options: GoldOptions, model: Model, run: RunJob = run_rows) -> Made:
    """Sample answers to the rows of a file and label their items.

    Items without a rule or a person's label go to :func:`unlabelled_path`; unusable rows go to the rejected file.
    Raises InputError if a file cannot be used or a label belongs to no example.
    """
    unlabelled = unlabelled_path(files)
    journal = files.journal(unlabelled)
    labels = {**_labels_before(files), **options.labels}
    settings = {
        "command": "data gold",
        "model": model.name,
        "samples": options.samples,
        "seed": options.seed,
        "max_tokens": options.max_tokens,
        "vouching": __version__,
    }
    work = AsyncWorkFactory(lambda: async_work(_answering(model, options, _numbers(journal))), model.aclose)
    look = looker(lambda line: {"rows": 1})
    summary = run(files.job(work, look, settings, INSTRUCTION_KEYS, unlabelled))
    counts = _write([*read_lines(journal)], files, labels)
    messages: list[str] = []
    if summary.problems:
        messages = [f"{_counted(summary.problems, 'row was', 'rows were')} rejected; see {files.rejected}"]
    return summary.complete, [*messages, *_summary(counts, unlabelled)]


def unlabelled_path(files: MadeFiles) -> Path:
    """Path of the examples that a person has to label."""
    return files.output.with_suffix(".unlabelled.jsonl")


def _answering(model: Model, options: GoldOptions, numbers: dict[str, int]) -> Callable[[Row], Awaitable[Line]]:
    """The function that answers a row; ``numbers`` maps ids to row numbers, since labels find examples by id."""
    sampling = Sampling(options.max_tokens, temperature=1.0, n=options.samples, seed=options.seed)

    async def answer(row: Row) -> Line:
        fields = fields_of(row)
        if numbers.setdefault(row.name, row.number) != row.number:
            raise InputError(
                f"the id {row.name!r} is already used by row {numbers[row.name]}: give each row its own id"
            )
        instruction, items = instruction_of(fields), _items(fields)
        known = options.forbidden.find(instruction)
        if known is not None:
            raise InputError(f"the row overlaps with the evaluation prompt {known[:80]!r}: remove the row")
        try:
            completions = await model.generate(_turns(fields, instruction), sampling)
        except ModelError as error:
            if error.can_retry:
                raise
            raise InputError(str(error)) from error
        # A truncated answer is still what the policy wrote, and is judged like any other.
        answers = [spoken(one.text).strip() for one in completions]
        return {"id": row.name, "x": instruction, "items": items_json(items), "answers": answers}

    return answer


def _numbers(journal: Path) -> dict[str, int]:
    """Row numbers of the finished rows by id; the first row with an id counts."""
    numbers: dict[str, int] = {}
    for number, line in enumerate(read_lines(journal), 1):
        numbers.setdefault(line["id"], number)
    return numbers


def _items(fields: Fields) -> tuple[ChecklistItem, ...]:
    if fields.get("checklist") is not None:
        return as_items(fields["checklist"])
    if fields.get("instruction_id_list") is None:
        raise InputError(f'the row has no value for "checklist" or "instruction_id_list"; {shown_keys(fields)}')
    return as_items(named_items(fields))


def _turns(fields: Fields, instruction: str) -> list[Message]:
    """The instruction as a user's turn, or the turns of the conversation."""
    turns: Any = next((fields[key] for key in INSTRUCTION_KEYS if fields.get(key) is not None), None)
    if isinstance(turns, str):
        return [Message("user", instruction)]
    return [Message(cast("Role", turn["role"]), turn["content"]) for turn in cast("list[dict[str, str]]", turns)]


def _labels_before(files: MadeFiles) -> dict[str, bool]:
    """Labels by a person from earlier runs, read back from the output."""
    if not (files.resume and files.output.exists()):
        return {}
    return {row["id"]: bool(row["l"]) for row in read_lines(files.output) if row["by"] == "person"}


def _write(lines: Sequence[Line], files: MadeFiles, labels: Mapping[str, bool]) -> Counter[str]:
    """Write the examples and the rejected rows, and count the examples by label and by who labelled them.

    Raises InputError, before anything is written, if a label belongs to no example.
    """
    examples = [example for line in lines if "problem" not in line for example in _examples(line, labels)]
    unknown = sorted(labels.keys() - {example["id"] for example in examples})
    if unknown:
        more = f", nor do {len(unknown) - 1:,} other labels" if unknown[1:] else ""
        raise InputError(f"the label for {unknown[0]!r} does not belong to any example{more}")
    write_lines(files.output, (example for example in examples if example["l"] is not None))
    write_lines(unlabelled_path(files), (example for example in examples if example["l"] is None))
    write_lines(files.rejected, (line for line in lines if "problem" in line))
    return Counter(key for example in examples for key in (str(example["l"]), str(example["by"])))


def _examples(line: Mapping[str, Any], labels: Mapping[str, bool]) -> Iterator[dict[str, Any]]:
    """The examples of a line; a person's label takes precedence over a rule's."""
    items = as_items(line["items"])
    for i, answer in enumerate(line["answers"]):
        for k, item in enumerate(items):
            name = f"{line['id']}/{i}/{k}"
            label, by = labels.get(name), "person"
            if label is None and item.rule is not None:
                label, by = rule_on(item, answer).passed, "rule"
            yield {
                "id": name,
                "x": line["x"],
                "y": answer,
                "c": item.text,
                "l": None if label is None else int(label),
                "by": None if label is None else by,
            }


def _summary(counts: Counter[str], unlabelled: Path) -> Iterator[str]:
    examples = _counted(counts["1"] + counts["0"], "example", "examples")
    by = f"{counts['rule']:,} by rule, {counts['person']:,} by a person"
    yield f"{examples}: {counts['1']:,} yes, {counts['0']:,} no; {by}"
    if counts["None"]:
        waiting = counts["None"] // 2  # counted once for the label, once for who gave it
        wait = _counted(waiting, "example needs", "examples need")
        yield f'{wait} a person\'s label: fill in "l" in {unlabelled}, and rerun with --resume --labels {unlabelled}'


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


_RUN = 8
_SHARE = 0.5


class KnownTexts:
    """Texts to search for overlaps."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        self._runs = [_runs(text) for text in self.texts]
        self._where: dict[tuple[str, ...], list[int]] = {}
        for number, runs in enumerate(self._runs):
            for run in runs:
                self._where.setdefault(run, []).append(number)

    def find(self, text: str) -> str | None:
        """The text with the largest overlap; None if none reaches half."""
        runs = _runs(text)
        shared = Counter(number for run in runs for number in self._where.get(run, ()))
        shares = {number: count / min(len(runs), len(self._runs[number])) for number, count in shared.items()}
        best = max(shares, key=lambda number: shares[number], default=None)
        return self.texts[best] if best is not None and shares[best] >= _SHARE else None


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """All runs of eight words; a shorter text is one run."""
    words = lower_words(text)
    if not words:
        return frozenset()
    return frozenset(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))
