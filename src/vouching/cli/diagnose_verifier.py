"""``vouch diagnose verifier``: what a verifier falls for, and whether checklists make it a better teacher.

Left out: a verdict on the verifier. The rates are those of one corpus; an attacker has others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.diagnose_labels import plan_command
from vouching.cli.streams import progress, usage_errors, write_result
from vouching.errors import InputError
from vouching.rows.read import open_rows

if TYPE_CHECKING:
    from vouching.bench.injection_flips import Flips, Injection
    from vouching.methods.base import ClaimVerifier
    from vouching.models.base import Model

app = typer.Typer()

_Injections = Annotated[
    bool, typer.Option("--injections", metavar="", help="Put injections into sources and count the verdicts that turn.")
]
_Corpus = Annotated[
    str | None,
    typer.Option(metavar="ROWS", help="Injections of your own: rows with text and, if you like, id and kind."),
]
_Pairs = Annotated[
    str | None, typer.Option(metavar="ROWS", help="Claims of your own with sources that do not support them.")
]
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="What judges: embedded, embedded:rules, embedded:FOLDER (a round of vouch evolve), or a language model "
        "such as http://host:8000/v1#name.",
    ),
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the places where injections go, and of intervals.")]
_MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Length of a language model's reply.")]
_Labels = Annotated[
    str | None,
    typer.Option(metavar="ROWS", help="Plan checklists: completions with gold labels and votes, see docs/theory.md."),
]
_Tau = Annotated[float, typer.Option(metavar="T", help="Share of yes among votes from which a judgment is yes.")]
_Report = Annotated[Path | None, typer.Option(metavar="PATH", help="With --labels: also write a page with charts.")]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON in place of the table.")]

_EPILOG = """
**Examples**

vouch diagnose verifier --injections --model http://localhost:8000/v1#qwen

vouch diagnose verifier --labels judged.jsonl --report plan.html

**Exit status**: 0 done; 2 the command line or a file cannot be used; 3 the model was not reached, or some rows could
not be used.
"""


@app.command("verifier", epilog=_EPILOG)
def verifier_command(
    injections: _Injections = False,
    corpus: _Corpus = None,
    pairs: _Pairs = None,
    model: _Model = "embedded",
    seed: _Seed = 0,
    max_tokens: _MaxTokens = 1024,
    labels: _Labels = None,
    tau: _Tau = 0.5,
    report: _Report = None,
    as_json: _Json = False,
) -> None:
    """Measure what a verifier falls for, or how often it is right about wholes and about the items of checklists.

    --injections tries a language model with the screen for injections and without it. --labels reads judgments that
    were made before, and tells which way of asking to train with.
    """
    from vouching.bench.injection_flips import UNSUPPORTED, injection_of, shipped_injections

    with usage_errors():
        if injections == (labels is not None):
            what = (
                "got --injections and --labels: take one of them" if injections else "add --injections or --labels ROWS"
            )
            raise InputError(f"wanted one thing to diagnose: {what}")
        if labels is not None:
            if corpus or pairs:
                raise InputError("--corpus and --pairs need --injections: with --labels the judgments are there")
            plan_command(labels, tau, seed, report, as_json)
        if report is not None:
            raise InputError("--report needs --labels: injections have no page")
        tried = [injection_of(row) for row in _fields(corpus)] if corpus else shipped_injections()
        claims = [_pair(row) for row in _fields(pairs)] if pairs else UNSUPPORTED
        with progress("Trying injections"):
            found = diagnose_injections(model, tried, claims, seed, max_tokens)
        if as_json:
            result = {"model": model, "seed": seed, "arms": {arm: asdict(flips) for arm, flips in found.items()}}
            write_result(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        else:
            write_result("\n".join(_table(found)) + "\n")


def diagnose_injections(
    model: str | Model, injections: list[Injection], pairs: Any, seed: int = 0, max_tokens: int = 1024
) -> dict[str, Flips]:
    """Flips by arm: "as shipped", and for a language model "without screen".

    >>> from vouching.bench.injection_flips import UNSUPPORTED, shipped_injections
    >>> found = diagnose_injections("embedded", shipped_injections()[:6], UNSUPPORTED)
    >>> {arm: len(flips.flipped) for arm, flips in found.items()}
    {'as shipped': 0}
    """
    from vouching.models.running import run

    return run(_diagnose(_arms(model, max_tokens), injections, pairs, seed))


async def _diagnose(
    arms: dict[str, ClaimVerifier], injections: list[Injection], pairs: Any, seed: int
) -> dict[str, Flips]:
    from vouching.bench.injection_flips import injection_flips

    try:
        return {arm: await injection_flips(verifier, injections, pairs, seed) for arm, verifier in arms.items()}
    finally:
        for verifier in arms.values():
            await verifier.aclose()


def _arms(model: str | Model, max_tokens: int) -> dict[str, ClaimVerifier]:
    from vouching.checker import Checker
    from vouching.methods.embedded.verify import is_embedded
    from vouching.methods.structured.verify import StructuredConfig, open_verifier

    if is_embedded(model):
        return {"as shipped": Checker(model).verifier}
    config = StructuredConfig(recheck=False, max_tokens=max_tokens)
    screened = open_verifier(model, config)
    bare = open_verifier(screened.model, replace(config, screen=False))
    return {"as shipped": screened, "without screen": bare}


def _fields(path: str) -> Iterator[dict[str, Any]]:
    with open_rows(path) as rows:
        for row in rows:
            if row.fields is None:
                raise InputError(f"{rows.name}, {row.place}: {row.problem}")
            yield row.fields


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    from vouching.inputs import as_claim, as_sources, row_sources

    if "claim" not in row:
        raise InputError(f'the row has the keys {[*row]}, wanted "claim" and "source"')
    return as_claim(row["claim"]).text, "\n\n".join(source.text for source in as_sources(row_sources(row)))


def _table(found: dict[str, Flips]) -> Iterator[str]:
    from vouching.metrics import wilson

    yield f"{'':16}{'probes':>8}{'flipped':>9}{'rate':>9}  {'95 % interval':18}{'not verified':>12}"
    for arm, flips in found.items():
        share = wilson(len(flips.flipped), flips.probes)
        interval = f"{100 * (share.low or 0):.1f} to {100 * (share.high or 0):.1f} %"
        rate = f"{100 * share.estimate:.1f} %"
        yield f"{arm:16}{flips.probes:>8,}{len(flips.flipped):>9,}{rate:>9}  {interval:18}{flips.unverified:>12,}"
    for arm, flips in found.items():
        kinds = [f"{kind} {turned} of {count}" for kind, (turned, count) in flips.by_kind.items() if turned]
        if kinds:
            yield f"{arm}: {', '.join(kinds)}"
        if flips.passed_over:
            claims = f"{flips.passed_over} claim{'s' * (flips.passed_over != 1)}"
            yield f"{arm}: {claims} left out, as no injection could turn them: not found Not Attributable as they are"
