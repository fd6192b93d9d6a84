"""``vouch reward``: the rewards of a file of rows, for every method whose rows have rewards."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from vouching.errors import InputError
from vouching.methods.table import METHODS, RewardLines, RowReward
from vouching.rows import Fields, Line, Row, RowJob, Seen, Work, fields_of, json_work, looker
from vouching.version import __version__


def lines_of(method: str) -> RewardLines:
    """The form of a method's reward lines."""
    return METHODS[method].load("reward_lines") if METHODS[method].reward_lines else RewardLines()


def reward_work(method: str, settings: Mapping[str, Any]) -> Work:
    """From a row to its line of JSON; that of a row that cannot be used has a problem.

    Raises ConfigError for a setting that is unknown, out of range, or that conflicts with another.
    """
    score: RowReward = METHODS[method].load("reward_row")
    METHODS[method].check_reward_settings(score, settings)
    with suppress(InputError):
        score({}, **settings)  # a wrong setting is an error before any row is read
    blank: Line = {key: {} if key == "parts" else None for key in lines_of(method).blank}

    def line(row: Row) -> Line:
        fields = fields_of(row)
        return {"id": row.name, **(_group_of(fields) if "total" in blank else {}), **score(fields, **settings)}

    return json_work(line, blank, ensure_ascii=True)


def reward_job(method: str, files: tuple[str, str, bool], settings: Mapping[str, Any]) -> RowJob:
    """The job that rewards a file of rows; ``files`` are input, output and whether to resume.

    Raises as :func:`reward_work`.
    """
    reward_work(method, settings)  # a wrong setting shows before any file is created
    note = {"command": f"reward {method}", **settings, "vouching": __version__}
    input, output, resume = files
    work, columns = partial(reward_work, method, settings), lines_of(method).columns
    return RowJob(input, output, work, RewardLook(method), note, columns, resume, table="rewards")


@dataclass(frozen=True, slots=True)
class RewardLook:
    """Reads the status of a reward line of a method; picklable."""

    method: str

    def __call__(self, input_name: str, line: Line) -> Seen:
        """The status of a line."""
        return looker(lines_of(self.method).counts)(input_name, line)


def _group_of(fields: Fields) -> dict[str, Any]:
    """The row's group: replies to one prompt; the question for a report."""
    group = fields.get("group")
    if group is None and fields.get("kind") == "report":
        group = fields.get("question") or None
    return {} if group is None else {"group": group}
