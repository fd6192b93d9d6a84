"""``vouch mcp`` and ``vouch proxy``: checks where agents and applications already are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from vouching.cli.keeping import LedgerTarget
from vouching.cli.options import AGAINST, HOW, panel
from vouching.cli.streams import Exit, usage_errors, write_error, write_result

app = typer.Typer()
policy_app = typer.Typer(help="Check the policy file of the servers, and print its schema.", no_args_is_help=True)

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

_CallSeconds = Annotated[
    float | None,
    panel(
        _SERVER,
        metavar="SECONDS",
        help="Longest time for a call, waiting included. Default: 60; 600 where a language model judges.",
    ),
]
_SECONDS_OF_MODELS = 600.0
"""A language model may take a minute for one claim."""


@app.command("mcp", epilog=_MCP_EPILOG)
def mcp_command(
    model: _Model = "embedded",
    threshold: _Threshold = 0.5,
    index: _Index = None,
    web: _Web = None,
    http: _Http = None,
    call_seconds: _CallSeconds = None,
    ledger: LedgerTarget = None,
) -> None:
    """Offer the checks to agents as tools, by the Model Context Protocol.

    The tools are verify_claim, verify_response, verify_conversation, check_context, check_instructions, audit_numbers
    and find_evidence.
    """
    from vouching.embedded.verify import is_embedded
    from vouching.serve.listening import open_socket, run_app, url_of
    from vouching.serve.mcp_server import mcp_app, run_mcp
    from vouching.serve.mcp_tools import McpConfig

    with usage_errors():
        search = (*(f"index:{path}" for path in index or ()), *(web or ()))
        config = McpConfig(model, threshold, search, ledger=ledger)
        seconds = _SECONDS_OF_MODELS if call_seconds is None and not is_embedded(model) else call_seconds
        if seconds is not None:
            config = replace(config, timeout_seconds=seconds)
        if http is None:
            run_mcp(config)
        else:
            with open_socket(http) as listening:
                served = mcp_app(config, http.rpartition(":")[0])
                write_error(f"MCP at {url_of(listening)}/mcp")
                run_app(served, listening)
    raise typer.Exit(Exit.OK)


_PROXY_EPILOG = """
**Examples**

vouch proxy --upstream http://127.0.0.1:8000/v1 --action repair

vouch proxy --upstream http://127.0.0.1:8000/v1 --documents user --documents documents --action block --stream held

vouch proxy --config vouch.toml

**Exit status**: 0 stopped; 2 invalid command line or policy file.
"""
_CHECK_EPILOG = """
**Example**

vouch policy check vouch.toml

**Exit status**: 0 valid; 2 invalid, with the reason.
"""
_SCHEMA_EPILOG = """
**Example**

vouch policy schema > vouch.schema.json

**Exit status**: 0 done.
"""
_Config = Annotated[
    Path | None, panel(_SERVER, "--config", metavar="PATH", help="Policy file, TOML: its tables proxy and judges.")
]
_Upstream = Annotated[
    str | None, panel(_SERVER, "--upstream", metavar="URL", help="The server to forward to, with its /v1.")
]
_Address = Annotated[
    str | None,
    panel(
        _SERVER, "--address", metavar="HOST:PORT", help="Where to listen; default: 127.0.0.1:8401. Port 0: a free one."
    ),
]
_Action = Annotated[
    Literal["annotate", "repair", "block"] | None,
    panel(HOW, "--action", help="What happens to an unsupported answer; default: annotate."),
]
_Unverified = Annotated[
    Literal["pass", "block"] | None,
    panel(
        HOW,
        "--unverified",
        help="What happens to an answer that could not be judged; default: block if the action is, else pass.",
    ),
]
_From = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--documents",
        metavar="documents|tool|system|context|user",
        help="Where a request has its documents: in its field, in messages of a role, or in the marked context of a "
        "user's message; default: all but user. With user, whatever the user asserts supports the answer. Repeat it "
        "for each; others do not count.",
    ),
]
_Undocumented = Annotated[
    Literal["pass", "block"] | None,
    panel(HOW, "--undocumented", help="What happens to an answer to a request without documents; default: pass."),
]
_Abstained = Annotated[
    Literal["pass", "block"] | None,
    panel(HOW, "--abstained", help="What happens to an answer that only says that it does not know; default: pass."),
]
_Unclaimed = Annotated[
    Literal["pass", "block"] | None,
    panel(HOW, "--unclaimed", help="What happens to any other answer without a claim; default: pass."),
]
_Stream = Annotated[
    Literal["after", "held"] | None,
    panel(HOW, "--stream", help="Streams end with the verdict (after), or are held until checked; default: after."),
]
_ProxyModel = Annotated[
    str | None, panel(HOW, "--model", metavar="NAME", envvar="VOUCH_MODEL", help="The judge, as for vouch check.")
]
_Ledger = Annotated[
    str | None,
    panel(
        _SERVER,
        "--ledger",
        metavar="TARGET",
        envvar="VOUCH_LEDGER",
        help="Keep the results, to be reviewed: a path, or an address of PostgreSQL.",
    ),
]


@app.command("proxy", epilog=_PROXY_EPILOG)
def proxy_command(
    config: _Config = None,
    upstream: _Upstream = None,
    address: _Address = None,
    documents: _From = None,
    action: _Action = None,
    unverified: _Unverified = None,
    undocumented: _Undocumented = None,
    abstained: _Abstained = None,
    unclaimed: _Unclaimed = None,
    stream: _Stream = None,
    model: _ProxyModel = None,
    ledger: _Ledger = None,
) -> None:
    """Guard the answers of an OpenAI-compatible server, by the documents of each request.

    Options take precedence over the policy file.
    """
    from vouching.serve.listening import open_socket, run_app, url_of
    from vouching.serve.policy import read_policy
    from vouching.serve.proxy import build_proxy

    with usage_errors():
        given = {
            "upstream": upstream,
            "address": address,
            "action": action,
            "unverified": unverified,
            "stream": stream,
            "undocumented": undocumented,
            "abstained": abstained,
            "unclaimed": unclaimed,
            "documents": json.dumps(documents) if documents else None,
        }
        overrides = [f"proxy.{name}={value}" for name, value in given.items() if value is not None]
        policy = read_policy(config, [*overrides, *([] if ledger is None else [f"serve.ledger={ledger}"])])
        if model is not None:
            judge = replace(policy.judges[policy.proxy.judge], model=model)
            policy = replace(policy, judges={**policy.judges, policy.proxy.judge: judge})
        served = build_proxy(policy)
        with open_socket(policy.proxy.address) as listening:
            write_error(f"proxy at {url_of(listening)} for {policy.proxy.upstream}")
            for warning in filter(None, (served.state.warning, *policy.proxy.gaps)):
                write_error(f"warning: {warning}")
            run_app(served, listening, policy.limits)
    raise typer.Exit(Exit.OK)


@policy_app.command("check", epilog=_CHECK_EPILOG)
def check_command(file: Annotated[Path, typer.Argument(help="The policy file.")]) -> None:
    """Check the policy file of vouch serve and vouch proxy, and open its judges."""
    from vouching.serve.policy import check_policy, read_policy

    with usage_errors():
        names = check_policy(file)
        policy = read_policy(file)
    write_error(f"{file} is valid; judges: {', '.join(names)}")
    if policy.proxy.blocks and not policy.serve.ledger:
        write_error(
            "warning: the proxy blocks answers, but no ledger is set (serve.ledger), so nothing can be reviewed"
        )
    for warning in policy.proxy.gaps:
        write_error(f"warning: {warning}")


@policy_app.command("schema", epilog=_SCHEMA_EPILOG)
def schema_command() -> None:
    """Print the JSON Schema of the policy file, for editors."""
    from pydantic import TypeAdapter

    from vouching.serve.policy import Policy

    write_result(json.dumps(TypeAdapter(Policy).json_schema(), indent=2) + "\n")
