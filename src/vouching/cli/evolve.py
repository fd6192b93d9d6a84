"""``vouch evolve``: a verifier that looks at its failures and learns from what they call for.

Each command has a module of its own. Left out here: everything but the group.
"""

from __future__ import annotations

import typer

app = typer.Typer()


@app.callback(invoke_without_command=True)
def evolve(context: typer.Context) -> None:
    """Let a verifier find its weaknesses and learn from probes at them, round by round."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
