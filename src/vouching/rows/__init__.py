"""Run many rows through one function: in order, on one process or several, with a resumable output.

Callers pass a :class:`RowJob` with a factory of functions from a row to a line of JSON to :func:`run_rows`.
"""

from vouching.rows.lines import (
    Line,
    LookIn,
    Seen,
    async_work,
    count_retryable,
    fields_of,
    json_work,
    looker,
    problem_fields,
    record_work,
)
from vouching.rows.outputs import (
    Made,
    MadeFiles,
    RunJob,
    journal_beside,
    json_output,
    new_output,
    read_lines,
    write_lines,
)
from vouching.rows.pool import ROWS_AT_ONCE, AsyncWorkFactory
from vouching.rows.read import STDIN, RowReader, open_rows, read_as, read_rows
from vouching.rows.row import Fields, Row
from vouching.rows.run import BatchSummary, Progress, RowJob, run_rows
from vouching.rows.worker import Work

__all__ = [
    "ROWS_AT_ONCE",
    "STDIN",
    "BatchSummary",
    "Fields",
    "Line",
    "LookIn",
    "Made",
    "MadeFiles",
    "Progress",
    "Row",
    "RowJob",
    "RowReader",
    "RunJob",
    "Seen",
    "AsyncWorkFactory",
    "Work",
    "fields_of",
    "journal_beside",
    "json_output",
    "json_work",
    "looker",
    "count_retryable",
    "new_output",
    "open_rows",
    "read_as",
    "read_lines",
    "read_rows",
    "problem_fields",
    "record_work",
    "run_rows",
    "async_work",
    "write_lines",
]
