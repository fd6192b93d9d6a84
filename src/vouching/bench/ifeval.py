"""IFEval (Zhou et al. 2023): 541 prompts with 834 verifiable instructions, and how well responses follow them.

The prompts are the authors' ``input_data.jsonl``, in ``ifeval`` below the data folder; responses come from a file.
Figures as in the paper: prompt-level and instruction-level accuracy, strict and loose. Not supported: asking a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vouching.bench.intervals import RESAMPLES, Figure, intervals
from vouching.bench.report import interval_words
from vouching.bench.rows import Fault, Record, Split, converted, responses_of, text_of
from vouching.bench.task import DataSet, Line, Task
from vouching.errors import InputError
from vouching.metrics import mean
from vouching.rows.read import Row
from vouching.rules.verify import followed, named_items
from vouching.types import ChecklistItem

NAME = "ifeval"
FILE = "ifeval/input_data.jsonl"
"""Path of its prompts below the data folder."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and its instructions."""

    id: str
    prompt: str
    items: tuple[ChecklistItem, ...]
    """The instructions, at least one."""
    response: str = ""
    """The response to be judged."""


def prompts(paths: Sequence[Path], split: Split) -> Iterator[Prompt | Fault]:
    """The prompts of the authors' file."""
    return converted(paths[0], lambda record, name: [_prompt(record, name)])


def _prompt(record: Record, name: str) -> Prompt:
    items = named_items(record)
    if not items:
        raise InputError('"instruction_id_list" must contain at least one rule')
    return Prompt(str(record.get("key", name)), text_of(record, "prompt"), items)


class IfevalTask(Task[Prompt]):
    """The task of IFEval.

    Args:
        responses: path of the rows with ``prompt``, exactly as in the set, and ``response``.
    """

    headings = ("rule", "required >", "strict >", "loose >")

    def __init__(self, responses: str | None) -> None:
        if responses is None:
            raise InputError(f'{NAME} needs your responses: pass --responses FILE, rows of "prompt" and "response"')
        self._path = responses
        self._prompts = 0
        self.arguments = f"--responses {Path(responses).name}"
        self.settings = {"responses": Path(responses).name}

    def rows(self, data_set: DataSet[Prompt], folder: Path, split: Split) -> Iterator[Prompt]:
        """The prompts with their responses; prompts without one are excluded and counted. Raises InputError."""
        known: dict[str, Prompt] = {}
        for one in data_set.rows(folder, split):
            if isinstance(one, Fault):
                raise InputError(f"{one}; {NAME} requires every row: repair {FILE}")
            known[one.prompt] = one
        found: dict[str, str] = {}
        for place, prompt, response in responses_of(self._path, "prompt"):
            if prompt not in known:
                raise InputError(
                    f"{place}: the prompt is not one of the {len(known):,} prompts of {NAME}: copy it exactly"
                )
            if prompt in found:
                raise InputError(f"{place}: the prompt already has a response: expected one response per prompt")
            found[prompt] = response
        if not found:
            raise InputError(f"{self._path} has no rows: expected one response for each of {NAME}'s prompts")
        self._prompts = len(known)
        yield from (replace(one, response=found[text]) for text, one in known.items() if text in found)

    def work(self) -> Callable[[], Callable[[Row], str]]:
        """The work that scores rows."""
        return lambda: _followed

    def problem(self, line: Line) -> str | None:
        """Every response can be judged."""
        return None

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """Counts of prompts, the four accuracies, and how often each rule was followed."""
        counts = {"prompts": self._prompts, "answered": len(lines)}
        return {**counts, "levels": levels(lines, resamples), "rules": by_rule(lines)}

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        return f"{results['settings']['responses']} on {NAME}", f"{rows:,} responses"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """The figures of a set as table rows."""
        for name, counts in found["rules"].items():
            yield name, *(str(counts[key]) for key in ("required", "strict", "loose"))

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """The four accuracies with their intervals."""
        yield "\nshare followed [95 %]"
        yield from (f"{name:20}{interval_words(figure)}" for name, figure in found["levels"].items())

    def incomplete(self, results: Mapping[str, Any], failed: int) -> str | None:
        """A message about prompts without a response."""
        missing = self._prompts - sum(found["answered"] for found in results["sets"].values())
        message = f"prompts without a response: {missing:,} of {self._prompts:,}; excluded from the figures"
        return message if missing else None

    @staticmethod
    def validate(data_set: DataSet[Prompt], rows: Sequence[Prompt]) -> Iterator[Fault]:
        """Duplicate prompts."""
        seen: set[str] = set()
        for one in rows:
            if one.prompt in seen:
                yield Fault(f"row {one.id}", "another row has the same prompt")
            seen.add(one.prompt)


def _followed(row: Row) -> str:
    """The line of a row, as ``vouch follow`` writes it."""
    assert row.fields
    prompt: Prompt = row.fields["row"]
    strict, loose = followed(prompt.items, prompt.response)
    line = {
        "id": prompt.id,
        "prompt": prompt.prompt,
        "instruction_id_list": [item.rule for item in prompt.items],
        "kwargs": [dict(item.arguments) for item in prompt.items],
        "response": prompt.response,
        "strict": [*strict],
        "loose": [*loose],
    }
    return json.dumps(line, ensure_ascii=False)


def levels(lines: Sequence[Line], resamples: int = RESAMPLES) -> dict[str, Figure]:
    """The four accuracies with 95 % intervals, resampling whole prompts.

    >>> line = {"strict": [True, False], "loose": [True, True]}
    >>> {name: figure["estimate"] for name, figure in levels([line], 0).items()}
    {'prompt strict': 0.0, 'prompt loose': 1.0, 'instruction strict': 0.5, 'instruction loose': 1.0}
    """
    prompt_groups = np.arange(len(lines))
    groups = np.repeat(prompt_groups, [len(line["strict"]) for line in lines])
    ways = ("strict", "loose")
    by_prompt = {f"prompt {way}": partial(mean, [float(all(line[way])) for line in lines]) for way in ways}
    each = {f"instruction {way}": partial(mean, [float(one) for line in lines for one in line[way]]) for way in ways}
    return {**intervals(by_prompt, prompt_groups, resamples), **intervals(each, groups, resamples)}


def by_rule(lines: Sequence[Line]) -> dict[str, dict[str, int]]:
    """How often each rule is required, and followed strictly and loosely."""
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        for rule, strict, loose in zip(line["instruction_id_list"], line["strict"], line["loose"], strict=True):
            counts = found.setdefault(rule, {"required": 0, "strict": 0, "loose": 0})
            for key, value in (("required", 1), ("strict", int(strict)), ("loose", int(loose))):
                counts[key] += value
    return dict(sorted(found.items()))
