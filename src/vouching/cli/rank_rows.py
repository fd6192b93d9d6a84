"""``vouch rank --input``: each row of a file gives a ranking, in order; a run that was cut short is resumed.

Left out: worker processes; scorers from weights batch rows by themselves, and a language model is waited for.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vouching.cli.files import STDIN
from vouching.cli.rank import NEEDS_NOTHING, RankOptions
from vouching.cli.row_progress import AGAIN, run_rows, tell_stopped
from vouching.cli.streams import Exit, cannot_write, write_error
from vouching.errors import InputError
from vouching.inputs import OR_SEARCH, SOURCE_KEYS, as_sources, check_text, row_sources
from vouching.models.open import is_model
from vouching.rows import may_pass
from vouching.rows.journal import Journal, open_journal
from vouching.rows.pool import ROWS_AT_ONCE, Waiting
from vouching.rows.read import Fields, Row, open_rows
from vouching.rows.run import BatchSummary, Seen
from vouching.types import VERDICT_VERSION, Claim, Source, Unverified
from vouching.types.serial import to_json
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.methods.discriminative.rank import Ranker

_COLUMNS = ("question",)
_AT_ONCE = 8
"""Rows under way where nothing is waited for: enough to fill a batch, few enough that lines come soon."""


def rank_rows(options: RankOptions) -> Exit:
    """Rank the rows of ``options.input``, write a line for each to ``options.output`` and tell how it went.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        ConfigError: a model, an engine or a mode that does not fit.
    """
    assert options.input is not None
    assert options.output is not None
    ranker = options.ranker()  # a wrong setting shows before any file is made
    asked = any(is_model(name or "") for name in (options.score_model, options.search_model)) or options.search.web
    at_once = ROWS_AT_ONCE if asked else _AT_ONCE
    work = rank_work(ranker, needed=not options.search and options.mode not in NEEDS_NOTHING, at_once=at_once)
    try:
        with ExitStack() as open_files:
            reader = open_files.enter_context(open_rows(options.input, _COLUMNS))
            printed = options.output == STDIN
            journal = open_files.enter_context(
                Journal(sys.stdout.buffer)
                if printed
                else open_journal(options.output, _settings(options, ranker), options.resume)
            )
            summary = run_rows(reader, journal, work, look, again="" if printed else AGAIN)
    except OSError as error:
        return cannot_write(error, options.output)
    return _told(summary, options.output)


def rank_work(ranker: Ranker, needed: bool, at_once: int = ROWS_AT_ONCE) -> Waiting:
    """The work of ranking rows.

    Args:
        ranker: what ranks.
        needed: whether a row must have sources, as where nothing is searched.
        at_once: rows under way at the same time.
    """

    async def rank(row: Row) -> str:
        try:
            question, answers, sources = ranked_row(row, needed)
            return to_json(replace(await ranker.rank(question, answers, sources), id=row.name))
        except InputError as error:
            return to_json(Unverified(Claim("", id=row.name), "input", f"{row.place}: {error}"))

    return Waiting(lambda: rank, ranker.aclose, at_once)


def ranked_row(row: Row, needed: bool = True) -> tuple[str, list[str], tuple[Source, ...]]:
    """Question, answers and sources of a row.

    Args:
        row: as it was read.
        needed: whether it must have sources.

    Raises:
        InputError: it cannot be used.

    >>> ranked_row(Row(1, "line 1", {"question": "When?", "answers": ["1937", "1973"], "source": "In 1973."}))[1]
    ['1937', '1973']
    """
    if row.fields is None:
        raise InputError(str(row.problem))
    fields = row.fields
    check_text(str(fields.get("id", "")), "the id")
    for key in ("question", "answers"):
        if fields.get(key) is None:
            raise InputError(f'the row has the keys {[*fields]}, wanted "question" and "answers" (a list of texts)')
    given = fields["answers"]
    if not isinstance(given, list):
        raise InputError(f"its answers are of type {type(given).__name__}, wanted a list of texts")
    answers = [check_text(text, f"answer {n}") for n, text in enumerate(cast("list[object]", given), 1)]
    return check_text(fields["question"], "the question"), answers, _sources(fields, needed)


def look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line.

    >>> look("q.jsonl", {"kind": "ranking", "id": "a", "answers": [1, 2], "unverified": [], "invalid": None}).counts
    {'answers': 2, 'without a score': 0, 'no ranking': 0}
    """
    if record["kind"] == "unverified":
        return Seen(record["claim"]["id"], problem=f"{input_name}, {record['message']}")
    missing = len(record["unverified"])
    counts = {
        "answers": len(record["answers"]) + missing,
        "without a score": missing,
        "no ranking": int(record["invalid"] is not None),
    }
    return Seen(record["id"], counts=counts, again=may_pass(record["unverified"]) + (record["invalid"] is not None))


def _sources(fields: Fields, needed: bool) -> tuple[Source, ...]:
    if not needed and all(fields.get(key) is None for key in SOURCE_KEYS):
        return ()
    return as_sources(row_sources(fields, otherwise=OR_SEARCH))


def _settings(options: RankOptions, ranker: Ranker) -> dict[str, str | float | bool | None]:
    """What makes the lines, for the note beside them."""
    return {
        "command": "rank",
        "mode": ranker.mode,
        "score model": options.score_model,
        "search model": options.search_model,
        **options.search.settings,
        "calibrator": ranker.calibrator,
        "record": VERDICT_VERSION,
        "vouching": __version__,
    }


def _told(summary: BatchSummary, output: str) -> Exit:
    """Say on standard error what became of the rows, and how the command ends."""
    if summary.stopped is not None:
        resumable = output != STDIN and Path(output).is_file()
        tell_stopped(summary.stopped, AGAIN if resumable else "")
    elif summary.found and summary.found == summary.rows:
        write_error(f"nothing to do: {output} is finished")
    counts = summary.counts
    words = [f"{summary.rows:,} row{'s' * (summary.rows != 1)}", f"{counts['answers']:,} answers"]
    words += [f"{counts['without a score']:,} without a score"] if counts["without a score"] else []
    words += [f"{counts['no ranking']:,} rows whose reply is no ranking"] if counts["no ranking"] else []
    broken = f"; {summary.problems:,} of the rows cannot be used, the output says why" if summary.problems else ""
    write_error(f"{', '.join(words)}{broken}")
    incomplete = summary.stopped is not None or summary.problems or counts["without a score"] or counts["no ranking"]
    return Exit.INCOMPLETE if incomplete else Exit.OK
