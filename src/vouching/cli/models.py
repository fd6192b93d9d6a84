"""``vouch models``: what can judge, and how to get it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

from vouching.cli.options import Json
from vouching.cli.streams import usage_errors, write_json, write_result

app = typer.Typer()

_EPILOG = """
**Examples**

vouch models

vouch models --json

**Exit status**: 0 done.
"""
SHIPPED: tuple[dict[str, Any], ...] = (
    {"kind": "embedded", "form": "embedded", "needs": "nothing", "licence": "Apache-2.0", "speed": "fast",
     "gives": "the whole record", "measured": True},
    {"kind": "embedded:rules", "form": "embedded:rules", "needs": "nothing", "licence": "Apache-2.0", "speed": "fast",
     "gives": "the whole record", "measured": True},
    {"kind": "language model", "form": "http://HOST/v1#NAME, openai/NAME, local:PATH or vllm:PATH",
     "needs": "a server, or extra train or vllm", "licence": "that of the model", "speed": "that of the model",
     "gives": "the whole record", "measured": False},
)  # fmt: skip
"""What judges without published weights of a verifier."""


@app.command("models", epilog=_EPILOG)
def models_command(as_json: Json = False) -> None:
    """List what can judge claims: its name on the command line, size, licence, needs, and how to get it.

    Figures are those of the authors, unless a model is marked as measured here (see docs/figures.md).
    """
    from vouching.methods.discriminative.published.catalog import CATALOG

    with usage_errors():
        published = [
            {**asdict(one), "needs": one.needs, "command": one.command, "measured": False} for one in CATALOG.values()
        ]
        if as_json:
            write_json([*SHIPPED, *published])
            return
        write_result("\n".join("\n".join(_lines(one)) + "\n" for one in (*SHIPPED, *published)))


def _lines(one: dict[str, Any]) -> list[str]:
    """A model in a few lines."""
    measured = "measured here: see docs/figures.md" if one["measured"] else "not measured here"
    parts = {
        "name": one["form"], "size": one.get("size"), "licence": one["licence"], "needs": one["needs"],
        "speed": one["speed"], "also gives": one["gives"] if one["gives"] != "nothing" else None,
        "weights": ", ".join(one.get("get", ())) or None, "download": one.get("command"),
        "authors say": one.get("theirs"), "figures": measured,
    }  # fmt: skip
    return [one["kind"], *(f"  {name:<12} {value}" for name, value in parts.items() if value)]
