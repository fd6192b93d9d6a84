"""Language models measured as papers do: one greedy answer, no schema, no repairs, no second question, no screening.

The reply is parsed as in SEVA's Algorithm 1: one JSON object, and one of the two labels. A reply that cannot be parsed
has no score, and R_a and R_c of 0. Not supported: sources longer than the model's context.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from vouching import metrics
from vouching.bench.intervals import intervals
from vouching.bench.rows import BenchRow, unread
from vouching.bench.score import Scored, group_numbers, unscored
from vouching.errors import ConfigError, InputError, ModelError
from vouching.judging.ask import ReplyError
from vouching.judging.windows import ScreenedSources
from vouching.methods.structured.prompt import Style, Wording, structured_prompt
from vouching.methods.structured.reply import read_object
from vouching.methods.structured.reward import alignment_quality, chain_quality
from vouching.models.base import Model, Sampling
from vouching.rows.pool import AsyncWork
from vouching.rows.read import Row
from vouching.types import Claim, Source

UNPARSED = "unparsed: "
"""Prefix of the reason why a reply has no score."""
_EVERYTHING = 10**9
_LABELS = {"Attributable": True, "Not Attributable": False}


@dataclass(frozen=True, slots=True)
class Asking:
    """How a run on claims judges, besides its model."""

    method: str | None = None
    """None for what suits the model."""
    wording: Wording | None = None
    """The prompt of a language model."""
    max_tokens: int | None = None
    raw: bool = False
    """Whether a language model is asked once, see :mod:`vouching.bench.raw`."""
    tune: float | None = None
    """Share of the rows on which a threshold is tuned. Raises InputError unless it is between 0 and 1."""

    def __post_init__(self) -> None:
        if self.tune is not None and not 0 < self.tune < 1:
            raise InputError(f"--tune-threshold must be a share between 0 and 1, got {self.tune:g}")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the method that were given."""
        given = {"prompt": self.wording, "max_tokens": self.max_tokens}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def arguments(self) -> str:
        """The options on the command line."""
        given = {
            "--method": self.method,
            "--wording": self.wording,
            "--max-tokens": self.max_tokens,
            "--tune-threshold": self.tune,
        }
        words = "".join(f" {name} {value}" for name, value in given.items() if value is not None)
        return f"{words}{' --raw' if self.raw else ''}"


@dataclass(frozen=True, slots=True)
class RawJudge:
    """A language model that is asked once for each row.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> judge = RawJudge(ScriptedModel(['{"label": "Attributable", "confidence": 0.9}', "Yes."]), "label")
    >>> row = BenchRow("1", "It opened in 1973.", ("It opened in 1973.",), True)
    >>> line = asyncio.run(judge.score(row))
    >>> line["label"], line["score"], line["unverified"]
    (True, 0.9, None)
    >>> asyncio.run(judge.score(row))["unverified"]
    'unparsed: the reply contains no JSON object that can be read without repairs'
    """

    model: Model
    style: Style = "structured"
    wording: Wording = "ours"
    max_tokens: int = 1024

    @property
    def settings(self) -> Mapping[str, Any]:
        """What determines the lines, for the record of a run."""
        digest = structured_prompt(self.style, self.wording).digest
        return {"method": self.style, "raw": True, "temperature": 0.0, "max_tokens": self.max_tokens, "prompt": digest}

    async def score(self, row: BenchRow) -> Scored:
        """The line of a row; see :func:`~vouching.bench.score.score_row`. Raises ModelError if a retry can help."""
        sources = [Source(text, f"source-{number}") for number, text in enumerate(row.sources, 1)]
        window = ScreenedSources(sources, screen=False).only_window(_EVERYTHING)
        if window is None:
            return unscored(row, "input: the sources are empty")
        asked = structured_prompt(self.style, self.wording).messages(Claim(row.text), window)
        try:
            [reply] = await self.model.generate(asked, Sampling(self.max_tokens, 0.0))
        except ModelError as error:
            if error.can_retry:
                raise
            return unscored(row, f"backend: {error}")
        return {**unscored(row, None), **_read(reply.text)}

    def work(self) -> AsyncWork:
        """The function from a row to its line of JSON."""

        async def work(row: Row) -> str:
            if row.fields is None:
                line = unscored(BenchRow(row.name, "", (), None), unread(row))
            else:
                line = await self.score(BenchRow(**row.fields))
            return json.dumps(line, ensure_ascii=False)

        return work


def _read(text: str) -> Scored:
    """The fields of a line that depend on the reply."""
    try:
        record = read_object(text, strict=True)
    except ReplyError as error:
        return {"unverified": f"{UNPARSED}{error}"}
    label = record.get("label")
    if label not in _LABELS:
        return {"unverified": f"{UNPARSED}the label is neither Attributable nor Not Attributable"}
    given = record.get("confidence")
    sure = float(given) if isinstance(given, int | float) and 0 <= given <= 1 else 1.0
    error = record.get("error_type")
    return {
        "label": _LABELS[label],
        "score": sure if _LABELS[label] else 1 - sure,
        "error_types": [error] if isinstance(error, str) and not _LABELS[label] else [],
        "raw": {
            "alignment": alignment_quality(record.get("evidence_alignment")),
            "chain": chain_quality(record.get("reasoning_chain")),
        },
    }


def raw_figures(rows: Sequence[Scored], resamples: int) -> dict[str, Any]:
    """Parse rate, accuracy with unparsed replies counted as wrong, and R_a and R_c, each with its interval.

    R_a and R_c are means over all replies, where those that cannot be parsed count as 0, and over the parsed ones:
    SEVA's .917 at a format rate of 72 % (Table 5) can only be of these.
    """
    asked = [row for row in rows if row["score"] is not None or (row["unverified"] or "").startswith(UNPARSED)]
    if not asked:
        return {"replies": 0}
    parts: list[Mapping[str, float]] = [row.get("raw") or {} for row in asked]
    values = {
        "parse_rate": [float(row["score"] is not None) for row in asked],
        **{name: [one.get(name, 0.0) for one in parts] for name in ("alignment", "chain")},
    }
    found = intervals(
        {name: partial(metrics.mean, each) for name, each in values.items()}, group_numbers(asked), resamples
    )
    parsed = [row for row in asked if row["score"] is not None]
    if parsed:
        shares = {
            f"{name}_parsed": [
                one.get(name, 0.0) for one, row in zip(parts, asked, strict=True) if row["score"] is not None
            ]
            for name in ("alignment", "chain")
        }
        found |= intervals(
            {name: partial(metrics.mean, each) for name, each in shares.items()}, group_numbers(parsed), resamples
        )
    known = [row for row in asked if row["attributable"] is not None]
    right = [float(row["label"] == row["attributable"]) for row in known]
    if known:
        found |= intervals({"strict_accuracy": partial(metrics.mean, right)}, group_numbers(known), resamples)
    return {"replies": len(asked), **found}


def refuse_raw(method: str | None, embedded: bool) -> None:
    """Raise ConfigError unless the settings of a raw run fit together."""
    if embedded or method not in ("structured", "label"):
        raise ConfigError("--raw requires a language model and --method structured or label")
