"""``vouch schema``: the JSON Schema of what ``vouch check``, ``rank`` and ``challenge`` print with ``--json``.

Left out: the schemas of training records, which stay inside the library.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from vouching.cli.streams import usage_errors, write_result

app = typer.Typer()

_EPILOG = """
**Example**

vouch schema report > report.schema.json

**Exit status**: 0 done; 2 there is no such record.
"""


@app.command("schema", epilog=_EPILOG)
def schema_command(
    record: Annotated[
        Literal["verdict", "unverified", "report", "ranking", "assurance", "reviewed"],
        typer.Argument(help="Which record."),
    ] = "verdict",
) -> None:
    """Print the JSON Schema of a record.

    A verdict (one claim), unverified (the judge failed), a report, a ranking, an assurance, or a reviewed verdict.
    """
    from vouching.types.serial import json_schema

    with usage_errors():
        write_result(json.dumps(json_schema(record), indent=2, ensure_ascii=False) + "\n")
