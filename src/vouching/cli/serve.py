"""``vouch serve``: the HTTP API; ``vouch serve keys``: who may call it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from vouching.cli.options import AGAINST, HOW, Json, panel
from vouching.cli.streams import Exit, usage_errors, write_error, write_json, write_result
from vouching.errors import needed

app = typer.Typer()
keys_app = typer.Typer(help="Add, list and revoke API keys.")
app.add_typer(keys_app, name="keys")

_SERVER = "Server"

_SERVE_EPILOG = """
**Examples**

vouch serve

vouch serve --config vouch.toml

vouch serve --ledger verdicts.db --index notes

vouch serve --address 0.0.0.0:8400 --workers 4 --keys keys.json

vouch serve keys add "search team" --keys keys.json --scope check

**Exit status**: 0 stopped; 2 invalid command line or policy file.
"""

_Config = Annotated[
    Path | None, panel(_SERVER, "--config", metavar="PATH", help="Policy file, TOML: see docs/operations.md.")
]
_Address = Annotated[
    str | None,
    panel(
        _SERVER, "--address", metavar="HOST:PORT", help="Where to listen; default: 127.0.0.1:8400. Port 0: a free one."
    ),
]
_Workers = Annotated[
    int | None, panel(_SERVER, "--workers", metavar="N", min=1, help="Number of processes; default: 1.")
]
_Keys = Annotated[
    Path | None,
    panel(
        _SERVER, "--keys", metavar="PATH", help="File with API keys, required where other machines reach the address."
    ),
]
_Ledger = Annotated[
    str | None,
    panel(
        _SERVER,
        "--ledger",
        metavar="TARGET",
        envvar="VOUCH_LEDGER",
        help="Keep every result before it is answered: a path, or an address of PostgreSQL.",
    ),
]
_Index = Annotated[
    list[str] | None,
    panel(
        AGAINST,
        "--index",
        metavar="PATH",
        help="Index of your documents that the default judge searches, or opensearch:URL. Can be repeated.",
    ),
]
_Model = Annotated[
    str | None,
    panel(HOW, "--model", metavar="NAME", envvar="VOUCH_MODEL", help="The default judge, as for vouch check."),
]


@app.callback(invoke_without_command=True, epilog=_SERVE_EPILOG)
def serve_command(
    context: typer.Context,
    config: _Config = None,
    address: _Address = None,
    workers: _Workers = None,
    keys: _Keys = None,
    ledger: _Ledger = None,
    index: _Index = None,
    model: _Model = None,
) -> None:
    """Serve the checks over HTTP. Options take precedence over the policy file.

    The paths are /v1/check, /v1/check-response and others; /openapi.json describes them.
    """
    if context.invoked_subcommand is not None:
        return
    from vouching.serve import read_policy
    from vouching.serve.listening import open_socket, url_of

    with usage_errors():
        given = {"address": address, "workers": workers, "keys": keys and str(keys.absolute()), "ledger": ledger}
        policy = read_policy(config, [f"serve.{name}={value}" for name, value in given.items() if value is not None])
        default = policy.judges["default"]
        if model is not None:
            default = replace(default, model=model)
        if index:
            searched = tuple(one if one.startswith("opensearch:") else f"index:{one}" for one in index)
            default = replace(default, search=searched)
        policy = replace(policy, judges={**policy.judges, "default": default})
        needed("uvicorn", "serve", "vouch serve")
        from vouching.serve.workers import serve

        with open_socket(policy.serve.address) as listening:
            serve(policy, listening, lambda: write_error(f"serving at {url_of(listening)}"))
    raise typer.Exit(Exit.OK)


_KeyFile = Annotated[
    Path, typer.Option("--keys", metavar="PATH", help="The file with the keys; made if it is missing.")
]


_EXIT = "**Exit status**: 0 done; 2 invalid command line or file of keys."
_ADD_EPILOG = f"""
**Example**

vouch serve keys add "search team" --scope check --per-minute 600

{_EXIT}
"""
_LIST_EPILOG = f"""
**Example**

vouch serve keys list --keys keys.json

{_EXIT}
"""
_REVOKE_EPILOG = f"""
**Example**

vouch serve keys revoke 3f9a01bc

{_EXIT}
"""


@keys_app.command("add", epilog=_ADD_EPILOG)
def add_command(
    name: Annotated[str, typer.Argument(help="Whose key it is; shown in the log.")],
    keys: _KeyFile = Path("keys.json"),
    scope: Annotated[
        list[str], typer.Option(help="What it may do: check, reward, read, review or metrics. Repeatable.")
    ] = ["check"],  # noqa: B006
    per_minute: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Requests per minute; default: the server's limit.")
    ] = None,
) -> None:
    """Add a key and print it. It is stored nowhere: the file has its digest only.

    Running servers accept it at once.
    """
    from vouching.serve.keys import KeyFile

    with usage_errors():
        secret, key = KeyFile(keys).add(name, scope, per_minute)
    write_error(f"added the key {key.id} with the scopes {', '.join(key.scopes)} to {keys}; it is shown only once")
    write_result(f"{secret}\n")


@keys_app.command("list", epilog=_LIST_EPILOG)
def list_command(keys: _KeyFile = Path("keys.json"), as_json: Json = False) -> None:
    """List the keys of a file, without their secrets."""
    from vouching.serve.keys import KeyFile, shown

    with usage_errors():
        found = [*KeyFile(keys).keys.values()]
    if as_json:
        write_json([shown(key) for key in found])
        return
    for key in found:
        limit = f", {key.requests_per_minute:,} requests per minute" if key.requests_per_minute else ""
        state = f"revoked {key.revoked}" if key.revoked else f"since {key.created}"
        write_result(f"{key.id}  {key.name}  {', '.join(key.scopes)}{limit}  {state}\n")


@keys_app.command("revoke", epilog=_REVOKE_EPILOG)
def revoke_command(
    id: Annotated[str, typer.Argument(help="The id of the key, as vouch serve keys list shows it.")],
    keys: _KeyFile = Path("keys.json"),
) -> None:
    """Revoke a key. Running servers refuse it from their next request on."""
    from vouching.serve.keys import KeyFile

    with usage_errors():
        key = KeyFile(keys).revoke(id)
    write_error(f"revoked the key {key.id} of {key.name}")
