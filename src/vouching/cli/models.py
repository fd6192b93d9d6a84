"""``vouch models``: what can judge, how to get it, and a test of a language model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vouching.cli.options import HOW, Json, panel
from vouching.cli.streams import Exit, line_seconds, usage_errors, write_error, write_json, write_result
from vouching.errors import ConfigError

if TYPE_CHECKING:
    from vouching.cli.models_trial import ModelTest, Trial
    from vouching.models.base import Model

app = typer.Typer()

_EPILOG = """
**Examples**

vouch models

vouch models --json

vouch models test http://localhost:8080/v1#qwen

**Exit status**: 0 done.
"""
_TEST_EPILOG = """
**Examples**

vouch models test http://localhost:8080/v1#qwen

vouch models test http://localhost:11434/v1#llama3.2 --method structured --json

vouch models test local:model.gguf --max-tokens 300

**Exit status**: 0 done; 2 invalid command line, or a wrong address, name or key; 3 the model could not be reached, or
none of its replies to the ten claims could be read.
"""
SHIPPED: tuple[dict[str, Any], ...] = (
    {
        "kind": "embedded",
        "form": "embedded",
        "needs": "nothing",
        "licence": "Apache-2.0",
        "speed": "fast",
        "gives": "the whole record",
        "measured": True,
    },
    {
        "kind": "embedded:small",
        "form": "embedded:small",
        "needs": "nothing",
        "licence": "Apache-2.0",
        "speed": "fast",
        "gives": "the whole record",
        "measured": True,
    },
    {
        "kind": "embedded:rules",
        "form": "embedded:rules",
        "needs": "nothing",
        "licence": "Apache-2.0",
        "speed": "fast",
        "gives": "the whole record",
        "measured": True,
    },
    {
        "kind": "language model",
        "form": "http://HOST/v1#NAME, openai/NAME, local:PATH or vllm:PATH",
        "needs": "a server, or extra train or vllm",
        "licence": "that of the model",
        "speed": "that of the model",
        "gives": "the whole record",
        "measured": False,
    },
    {
        "kind": "decision",
        "form": "decision:ADDRESS#MODEL, or openai, typesafe, gemini, openrouter, perplexity or ollama for ADDRESS",
        "needs": "a server",
        "licence": "that of the model",
        "speed": "that of the model",
        "gives": "nothing",
        "measured": False,
    },
)
"""What judges without published weights of a verifier."""


@app.callback(invoke_without_command=True, epilog=_EPILOG)
def models_command(context: typer.Context, as_json: Json = False) -> None:
    """List what can judge claims: its name on the command line, size, licence, needs, and how to get it.

    Figures are those of the authors, unless a model is marked as measured here (see docs/figures.md).
    """
    if context.invoked_subcommand is not None:
        return
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
        "name": one["form"],
        "size": one.get("size"),
        "licence": one["licence"],
        "needs": one["needs"],
        "speed": one["speed"],
        "also gives": one["gives"] if one["gives"] != "nothing" else None,
        "weights": ", ".join(one.get("get", ())) or None,
        "download": one.get("command"),
        "authors say": one.get("theirs"),
        "figures": measured,
    }
    return [one["kind"], *(f"  {name:<12} {value}" for name, value in parts.items() if value)]


@app.command("test", epilog=_TEST_EPILOG)
def trial_command(
    model: Annotated[str, typer.Argument(help="The language model, such as http://localhost:8080/v1#name.")],
    method: Annotated[
        Literal["label", "structured"], panel(HOW, help="What the ten claims ask for: the label, or the whole record.")
    ] = "label",
    max_tokens: Annotated[
        int | None,
        panel(HOW, metavar="N", min=1, help="Maximum length of a reply in tokens; default: as its form needs."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test a language model: what its server supports, whether its replies can be read, and how fast they are.

    Judges ten claims about a built-in text, half of them supported, and tries each method once: about 20 calls. Then
    it says what to set. Ten labels are a first impression: vouch bench measures how good a model is.
    """
    from vouching.models.open import is_model, nearest_name, open_model
    from vouching.models.running import run

    with usage_errors("MODEL"):
        if not is_model(model):
            raise ConfigError(
                f"{model!r} is not a language model: expected a name such as http://localhost:8080/v1#name"
                f"{nearest_name(model)}"
            )
        opened = open_model(model, attempts=_ATTEMPTS, cache="")
        found = run(_test(opened, method, max_tokens))
        write_json(found.fields) if as_json else write_result("\n".join(_shown(found)) + "\n")
    raise typer.Exit(Exit.OK if found.judged else Exit.INCOMPLETE)


_ATTEMPTS = 2
"""Calls while a server is unavailable: somebody waits for the answer."""


async def _test(model: Model, style: Literal["label", "structured"], max_tokens: int | None) -> ModelTest:
    from vouching.cli.models_trial import try_model
    from vouching.judging.probe import served_by

    try:
        return await try_model(model, style, max_tokens, _occasionally())
    except ConfigError as error:
        if others := await served_by(model):
            raise ConfigError(f"{error}; the server has {', '.join(others[:20])}") from None
        raise
    finally:
        await model.aclose()


def _occasionally() -> Callable[[str], None]:
    """Shows the step that begins, if it is a while since the last one that was shown."""
    last, every = time.monotonic(), line_seconds()

    def show(step: str) -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            write_error(f"testing {step}")
            last = time.monotonic()

    return show


def _shown(found: ModelTest) -> list[str]:
    """A test as lines of text."""
    support, count = found.support, len(found.claims)
    seen = {True: "yes", False: "no", None: "unknown"}
    context = "not reported" if support.context is None else f"{support.context:,} tokens"
    tokens = " + ".join(
        f"{sum(getattr(one.usage, name) for one in found.claims) / count:,.0f}"
        for name in ("prompt_tokens", "completion_tokens")
    )
    labels = ", ".join(f"{number} {label}" for label, number in found.labels.most_common())
    lines = [
        found.model,
        "server",
        f"  context      {context}",
        f"  calls        {'not reported' if support.slots is None else f'{support.slots} at once'}",
        f"  schema       {'enforced' if support.schema else 'not enforced'}",
        f"  logprobs     {seen[support.logprobs]}",
        f"  system role  {seen[support.system]}",
        *([f"  refused      {', '.join(found.refused)}"] if found.refused else ()),
        f"ten claims, method {found.style}",
        f"  readable     {len(found.judged)} of {count}, {found.by_first} by the first reply",
        f"  right        {found.right} of {count}{f' ({labels})' if labels else ''}",
        *([] if found.ranked is None else [f"  ranked       AUROC {found.ranked:.2f} by the scores"]),
        f"  cost         {found.seconds:.1f} s and {tokens} tokens a claim",
        *(f"  {fault}" for fault in dict.fromkeys(one.fault for one in found.claims) if fault),
        "methods, a task of each",
        *map(_method_line, found.methods),
    ]
    advice = [f"  {what}: {why}" for what, why in found.advice()]
    return [*lines, "what to set", *(advice or ["  nothing: the defaults fit"])]


def _method_line(one: Trial) -> str:
    result = {True: "right", False: "wrong", None: f"no result: {one.fault}"}[one.right]
    return f"  {one.name:<12} {one.usage.seconds:.1f} s, {one.usage.completion_tokens:,} tokens, {result}"
