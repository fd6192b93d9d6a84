"""Perturbations of a folder of rows, block by block: each block is perturbed by itself.

The names and facts that are grafted come from the same block, so the result does not depend on who works on it. Not
supported: a limit on the number of perturbations; balancing strategies over blocks.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from vouching.errors import InputError
from vouching.inputs import SeenRows, labelled_row
from vouching.perturb import Strategy, Tally, to_json
from vouching.perturb.run import check_strategies, perturb_each
from vouching.rows import Line, MadeFiles, Row, RunJob, Seen, read_lines, write_lines
from vouching.rows.pool import StreamWorkFactory
from vouching.text.json_values import parse_json
from vouching.types import Example
from vouching.version import __version__

_Waiting: TypeAlias = deque[tuple[Row, str]]
"""Rows that were read, each with its label, "none", or why it cannot be used."""


@dataclass(frozen=True, slots=True)
class Perturbing:
    """How rows are perturbed; opens the work, also in another process."""

    strategies: tuple[Strategy, ...]
    per_row: int = 4
    seed: int = 0

    def __call__(self) -> StreamWorkFactory:
        """The work on the rows of a block."""
        return StreamWorkFactory(self.lines)

    def lines(self, rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
        """Every row with its line: the perturbations, and how many drafts were dropped, and why.

        >>> row = Row(1, "line 1", {"id": "a", "claim": "It opened in 1973.", "source": "It opened in 1973."})
        >>> [json.loads(line)["made"][0]["id"] for _, line in Perturbing(("date_shift",)).lines([row])]
        ['a/date_shift-1']
        """
        waiting, tally = _Waiting(), Tally()
        each = perturb_each(
            _examples(rows, waiting), self.strategies, per_row=self.per_row, seed=self.seed, tally=tally
        )
        for example, made in each:
            yield from _unusable(waiting)
            row, label = waiting.popleft()
            assert example.id == row.name
            yield (
                row,
                json.dumps(
                    {
                        "id": row.name,
                        "label": label,
                        "made": [parse_json(to_json(one)) for one in made],
                        "drafted": dict(tally.drafted),
                        "kept": dict(tally.kept),
                        "dropped": {" ".join(which): count for which, count in tally.dropped.items()},
                    },
                    ensure_ascii=False,
                ),
            )
            for counts in (tally.drafted, tally.kept, tally.dropped):
                counts.clear()
        yield from _unusable(waiting)


def _examples(rows: Iterable[Row], waiting: _Waiting) -> Iterator[Example]:
    for row in rows:
        try:
            found = labelled_row(row)
        except InputError as error:
            waiting.append((row, f"{_FAULT}{row.place}: {error}"))
            continue
        waiting.append((row, found.gold or "none"))
        yield Example(row.name, found.claim.text, found.sources, found.gold or "Attributable", group=found.group)


_FAULT = "unusable: "


def _unusable(waiting: _Waiting) -> Iterator[tuple[Row, str]]:
    """The lines of the rows that cannot be used, up to the next one that can."""
    while waiting and waiting[0][1].startswith(_FAULT):
        row, fault = waiting.popleft()
        yield row, json.dumps({"id": row.name, "problem": fault.removeprefix(_FAULT)}, ensure_ascii=False)


def seen_perturbed(input_name: str, line: Line) -> Seen:
    """The counts of a line, by label, and by strategy and filter."""
    if "problem" in line:
        return Seen(line["id"], f"{input_name}, {line['problem']}")
    counts: dict[str, int] = {f"label {line['label']}": 1}
    for kind in ("drafted", "kept", "dropped"):
        counts |= {f"{kind} {name}": count for name, count in line[kind].items()}
    return Seen(line["id"], counts=counts)


def perturb_files(files: MadeFiles, how: Perturbing, run: RunJob) -> tuple[SeenRows, Tally, bool]:
    """Perturb the rows of a folder, and write the perturbations to one file.

    Returns:
        The rows by label, the drafts by strategy, and whether every row is finished.

    Raises:
        InputError: the input or the output cannot be used.
        ConfigError: a strategy is unknown.
    """
    check_strategies(how.strategies)
    settings: dict[str, Any] = {
        "command": "data perturb",
        "strategies": ",".join(how.strategies),
        "per_row": how.per_row,
        "seed": how.seed,
        "vouching": __version__,
    }
    summary = run(files.job(how(), seen_perturbed, settings, ("claim",), open_work=how, waits=None))
    write_lines(files.output, (made for line in read_lines(files.journal()) for made in line.get("made", ())))
    seen, tally = SeenRows(broken=summary.problems), Tally()
    for name, count in summary.counts.items():
        kind, _, about = name.partition(" ")
        if kind == "label":
            seen.counts[about] += count
        elif kind == "dropped":
            strategy, _, reason = about.partition(" ")
            tally.dropped[strategy, reason] += count  # type: ignore[index]
        else:
            getattr(tally, kind)[about] += count
    return seen, tally, summary.stopped is None
