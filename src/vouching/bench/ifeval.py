"""IFEval (Zhou et al. 2023): 541 prompts with 834 requirements that rules decide, and how far responses follow them.

The prompts are the authors' ``input_data.jsonl``, in ``ifeval`` below the data folder; the responses come from a file.
Four levels, as the authors report them: share of prompts with every requirement followed, and share of requirements,
strictly and loosely. Left out: asking a model for the responses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vouching.bench.intervals import RESAMPLES, Figure, intervals
from vouching.bench.rows import Fault, Record, text_of
from vouching.bench.run import RESULTS, open_folder, rows_path, write_json
from vouching.errors import InputError
from vouching.methods.rules import followed, named_items
from vouching.metrics import mean
from vouching.rows.read import open_rows
from vouching.types import ChecklistItem
from vouching.version import __version__

NAME = "ifeval"
"""What the set is called on the command line."""
FILE = "ifeval/input_data.jsonl"
"""Where its prompts are, below the data folder."""
GET = "take input_data.jsonl of google-research/instruction_following_eval, Apache-2.0"
"""How to obtain them."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and what it requires."""

    id: str
    """Its key."""
    prompt: str
    """The instruction."""
    items: tuple[ChecklistItem, ...]
    """The requirements, at least one."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Which requirements of a prompt one response follows."""

    prompt: Prompt
    """The prompt."""
    response: str
    """The response."""
    strict: tuple[bool, ...]
    """One per requirement."""
    loose: tuple[bool, ...]
    """The same, where a variant of the response may do."""


def prompt_of(record: Record, name: str) -> Prompt:
    """A record of the authors' file. Raises InputError for one that cannot be used.

    >>> prompt_of({"prompt": "No commas!", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}, "7").id
    '7'
    """
    items = named_items(record)
    if not items:
        raise InputError('its "instruction_id_list" is empty, wanted at least one rule')
    return Prompt(str(record.get("key", name)), text_of(record, "prompt"), items)


def prompts(folder: Path) -> Iterator[Prompt | Fault]:
    """The prompts below a data folder, and what is wrong with those that cannot be used.

    Raises:
        InputError: the file is not there.
    """
    path = folder / FILE
    if not path.exists():
        raise InputError(f"{NAME} is not here: wanted {FILE} in {folder}; to get it: {GET}")
    with open_rows(str(path)) as reader:
        for row in reader:
            try:
                if row.fields is None:
                    raise InputError(row.problem or "it cannot be read")
                yield prompt_of(row.fields, row.name)
            except InputError as error:
                yield Fault(f"{reader.name}, {row.place}", str(error))


def about(folder: Path | None) -> str:
    """What the set is, and how to get it if it is not in the data folder.

    >>> print(about(None))
    ifeval: 541 prompts with 834 requirements that rules decide; Zhou et al. 2023; Apache-2.0; run it with --responses
      get  take input_data.jsonl of google-research/instruction_following_eval, Apache-2.0
      as   ifeval/input_data.jsonl
    """
    what = f"{NAME}: 541 prompts with 834 requirements that rules decide; Zhou et al. 2023; Apache-2.0"
    here = folder is not None and (folder / FILE).exists()
    return f"{what}; run it with --responses" + ("" if here else f"\n  get  {GET}\n  as   {FILE}")


def validate(folder: Path) -> Iterator[Fault]:
    """What is wrong with the prompts: those that cannot be used, and those that come twice. Raises InputError."""
    seen: set[str] = set()
    for one in prompts(folder):
        if isinstance(one, Fault):
            yield one
        elif one.prompt in seen:
            yield Fault(f"row {one.id}", "its prompt occurs twice")
        else:
            seen.add(one.prompt)


def responses(path: str, wanted: Mapping[str, Prompt]) -> dict[str, str]:
    """The responses of a file by their prompts.

    Args:
        path: rows with ``prompt`` and ``response``; other rows of other prompts are an error.
        wanted: the prompts, by their text.

    Raises:
        InputError: a row cannot be used, answers no prompt of the set, or one that has been answered.
    """
    found: dict[str, str] = {}
    with open_rows(path, ("response",)) as reader:
        for row in reader:
            place = f"{reader.name}, {row.place}"
            fields = row.fields or {}
            prompt, response = fields.get("prompt"), fields.get("response")
            if not isinstance(prompt, str) or not isinstance(response, str):
                raise InputError(f'{place}: {row.problem or "it has no text"}, wanted "prompt" and "response"')
            if prompt not in wanted:
                raise InputError(f"{place}: its prompt is none of {NAME}'s {len(wanted):,}: give it as it is there")
            if prompt in found:
                raise InputError(f"{place}: its prompt has a response already: give one for each")
            found[prompt] = response
    return found


def levels(rows: Sequence[Followed], resamples: int = RESAMPLES) -> dict[str, Figure]:
    """The four figures with intervals: 95 %, the requirements of one prompt drawn together.

    >>> item = named_items({"instruction_id_list": ["punctuation:no_comma"] * 2, "kwargs": [{}, {}]})
    >>> row = Followed(Prompt("1", "No commas!", item), "Yes.", (True, False), (True, True))
    >>> {name: figure["estimate"] for name, figure in levels([row], 0).items()}
    {'prompt strict': 0.0, 'prompt loose': 1.0, 'instruction strict': 0.5, 'instruction loose': 1.0}
    """
    groups = np.repeat(np.arange(len(rows)), [len(row.strict) for row in rows])
    prompt_level = {
        "prompt strict": partial(mean, [float(all(row.strict)) for row in rows]),
        "prompt loose": partial(mean, [float(all(row.loose)) for row in rows]),
    }
    instruction_level = {
        "instruction strict": partial(mean, [float(passed) for row in rows for passed in row.strict]),
        "instruction loose": partial(mean, [float(passed) for row in rows for passed in row.loose]),
    }
    return {
        **intervals(prompt_level, np.arange(len(rows)), resamples),
        **intervals(instruction_level, groups, resamples),
    }


def by_rule(rows: Sequence[Followed]) -> dict[str, dict[str, int]]:
    """For each rule: how often it is required, and followed strictly and loosely.

    >>> item = named_items({"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]})
    >>> by_rule([Followed(Prompt("1", "No commas!", item), "Yes.", (False,), (True,))])
    {'punctuation:no_comma': {'required': 1, 'strict': 0, 'loose': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        for item, strict, loose in zip(row.prompt.items, row.strict, row.loose, strict=True):
            counts = found.setdefault(str(item.rule), {"required": 0, "strict": 0, "loose": 0})
            for key, value in (("required", 1), ("strict", int(strict)), ("loose", int(loose))):
                counts[key] += value
    return dict(sorted(found.items()))


def run_ifeval(folder: Path, path: str, out: Path, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Check the responses of a file and write rows and figures into a folder.

    Args:
        folder: the folder with the data sets.
        path: the responses.
        out: the folder to write; made if it is not there.
        resamples: of the bootstrap behind the intervals.

    Returns:
        What results.json holds: ``levels``, ``rules``, how many prompts there are and how many were answered.

    Raises:
        InputError: prompts or responses cannot be used, or the folder is that of another run.
        OSError: the disk is full.
    """
    known: dict[str, Prompt] = {}
    for one in prompts(folder):
        if isinstance(one, Fault):
            raise InputError(f"{one}: figures without it would not be those of {NAME}; mend {FILE}")
        known[one.prompt] = one
    found = responses(path, known)
    if not found:
        raise InputError(f"{path} has no row: wanted a response to each of {NAME}'s prompts")
    run: dict[str, Any] = {
        "settings": {"set": NAME, "responses": Path(path).name, "vouching": __version__},
        "data": {"prompts": len(known), "answered": len(found)},
    }
    open_folder(out, run, resume=False)
    rows = [_followed(prompt, found[text]) for text, prompt in known.items() if text in found]
    lines = (json.dumps(_line(row), ensure_ascii=False) + "\n" for row in rows)
    rows_path(out, NAME).write_text("".join(lines), encoding="utf-8")
    results = {**run, "levels": levels(rows, resamples), "rules": by_rule(rows)}
    write_json(out / RESULTS, results)
    return results


def _followed(prompt: Prompt, response: str) -> Followed:
    strict, loose = followed(prompt.items, response)
    return Followed(prompt, response, tuple(strict), tuple(loose))


def _line(row: Followed) -> dict[str, Any]:
    """A row as ``vouch check --method rules`` writes it."""
    return {
        "id": row.prompt.id,
        "prompt": row.prompt.prompt,
        "instruction_id_list": [item.rule for item in row.prompt.items],
        "kwargs": [dict(item.arguments) for item in row.prompt.items],
        "response": row.response,
        "strict": row.strict,
        "loose": row.loose,
    }
