"""``vouch mcp`` and ``vouch proxy``: checks where agents and applications already are."""

from __future__ import annotations

from typing import Annotated

import typer

from vouching.cli.options import AGAINST, HOW, panel
from vouching.cli.streams import Exit, usage_errors, write_error

app = typer.Typer()

_SERVER = "Server"

_MCP_EPILOG = """
**Examples**

vouch mcp

vouch mcp --index notes --model http://localhost:8000/v1#qwen

vouch mcp --http 127.0.0.1:8765

**Exit status**: 0 done; 2 invalid command line; 3 the judge could not be reached; 130 interrupted.
"""

_Model = Annotated[
    str, panel(HOW, metavar="NAME", envvar="VOUCH_MODEL", help="The judge of claims, as for vouch check.")
]
_Threshold = Annotated[
    float, panel(HOW, "--threshold", help="Minimum score, from 0 to 1, for a claim to be attributable.")
]
_Index = Annotated[
    list[str] | None,
    panel(AGAINST, metavar="PATH", help="Index to search where a call has no sources (see vouch index). Repeatable."),
]
_Web = Annotated[
    list[str] | None,
    panel(AGAINST, metavar="ENGINE", help="Web engine to search where a call has no sources. Repeatable."),
]
_Http = Annotated[
    str | None,
    panel(
        _SERVER,
        metavar="HOST:PORT",
        help="Serve streamable HTTP at /mcp instead of standard input; port 0: a free one.",
    ),
]


@app.command("mcp", epilog=_MCP_EPILOG)
def mcp_command(
    model: _Model = "embedded",
    threshold: _Threshold = 0.5,
    index: _Index = None,
    web: _Web = None,
    http: _Http = None,
) -> None:
    """Offer the checks to agents as tools, by the Model Context Protocol.

    The tools are verify_claim, verify_response, check_instructions, audit_numbers and find_evidence.
    """
    from vouching.serve.listening import open_socket, run_app, url_of
    from vouching.serve.mcp_server import McpConfig, mcp_app, run_mcp

    with usage_errors():
        search = (*(f"index:{path}" for path in index or ()), *(web or ()))
        config = McpConfig(model, threshold, search)
        if http is None:
            run_mcp(config)
        else:
            with open_socket(http) as listening:
                served = mcp_app(config, http.rpartition(":")[0])
                write_error(f"MCP at {url_of(listening)}/mcp")
                run_app(served, listening)
    raise typer.Exit(Exit.OK)
