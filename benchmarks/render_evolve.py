"""The section of docs/figures.md on self-evolution: the effect of the rounds on public sets, and generalists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from render_tables import Figures, interval, number, table

MEAN = "mean of sets"
NOTE = """
The table shows macro F1 in round 0, and the change from round 0 to the last round with paired 95 % intervals over
groups of rows; test rows were scored once. The arms "weakness", "random" and "mixed" differ in the source of their
probes. "Bare" is "weakness" with probes in place of replay and a higher learning rate, stopped after two rounds;
"gated" is "random" with a gate, which can refuse a round. Sets with fewer than ten groups have no interval."""
SPREAD_NOTE = """
Spread is the standard deviation of a round's effect between sets, corrected for chance (tau of DerSimonian and
Laird); "beyond chance" is the share of the variation between sets that chance does not explain. "Gained" and "lost"
list the sets whose interval excludes 0; if a round had no effect on any of the {sets} sets, one interval in twenty
would still exclude 0 by chance."""
GENERALIST_NOTE = """
The table compares, on the public sets, the rounds of the weakness arm as specialists, their combinations, and what
a perfect router would reach ("any of them"). The best single round was chosen, and the router fitted, on dev
rows."""


def evolve_lines(record: Figures) -> Iterator[str]:
    """The section on the evolution of the embedded verifier."""
    settings: Figures = record["settings"]
    public, dev = record["public"], record["dev"]
    yield from ("## Self-evolution of the embedded verifier", "")
    yield (
        f"`benchmarks/evolve.py` was run on the arms of `recipes/evolve/arms.sh`: {settings['rounds']} rounds of "
        f"{settings['probes']} probes, {settings['replay']} rows of replay and at most {settings['embedded']['steps']} "
        f"steps each ({record['machine']})."
    )
    rows = [
        (name, lines[0]["rows"], number(lines[0]["levels"][0]), *(interval(one["changes"][-1], "+") for one in lines))
        for name, lines in _by_set(public, False)
    ]
    yield from table(("public set", "rows >", "round 0 >", *(f"{arm} >" for arm in public)), rows)
    yield NOTE
    yield from _means(public, "public sets")
    yield from _means(dev, "development rows")
    yield from _spreads(public)
    yield from table(("arms, last round", *(f"{where} >" for where in record["alike"])), _alike(record["alike"]))
    yield "\nThe similarity of two arms is the correlation of their effects over sets."
    yield from table(("arm", "round", "started from", "gate that allows a loss of .02"), _gates(record["rounds"]))
    yield from _generalists(record["generalists"])


def _by_set(found: Mapping[str, Any], auroc: bool) -> list[tuple[str, list[Figures]]]:
    """Lines of every set, then of the mean, one for each arm."""
    arms = [[line for line in arm["lines"] if (line["metric"] == "auroc") == auroc] for arm in found.values()]
    return [(lines[0]["data_set"], [*lines]) for lines in zip(*arms, strict=True)]


def _means(found: Mapping[str, Any], where: str) -> Iterator[str]:
    rounds = max(len(arm["rounds"]) for arm in found.values())
    rows: list[tuple[object, ...]] = []
    for metric, auroc in (("macro F1", False), ("AUROC", True)):
        [(_, lines)] = [pair for pair in _by_set(found, auroc) if pair[0] == MEAN]
        for arm, line in zip(found, lines, strict=True):
            rows.append((f"{arm}, {metric}", *_levels(line, rounds), interval(line["changes"][-1], "+")))
    if any(line["data_set"] == "typed" for arm in found.values() for line in arm["lines"]):
        for arm, one in found.items():
            [line] = [line for line in one["lines"] if line["data_set"] == "typed"]
            rows.append((f"{arm}, errors found", *_levels(line, rounds), interval(line["changes"][-1], "+")))
    heads = (f"round {number} >" for number in range(rounds))
    yield from table((f"mean of the {where}", *heads, "last minus round 0 >"), rows)


def _levels(line: Figures, rounds: int) -> list[str]:
    """A level for each round; nothing for those that an arm did not have."""
    return [number(level) for level in [*line["levels"], *[None] * (rounds - len(line["levels"]))]]


def _spreads(found: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (
            arm,
            number_of,
            number(one["spread"]),
            number(one["heterogeneity"]),
            ", ".join(one["gained"]),
            ", ".join(one["lost"]),
        )
        for arm, several in found.items()
        for number_of, one in enumerate(several["spreads"], 1)
    ]
    yield from table(("arm", "round >", "spread >", "beyond chance >", "gained", "lost"), rows)
    yield SPREAD_NOTE.format(sets=next(iter(found.values()))["spreads"][0]["sets"])


def _alike(found: Mapping[str, Mapping[str, float | None]]) -> Iterator[tuple[str, ...]]:
    names = next(iter(found.values()))
    return ((name, *(number(one[name], "+") for one in found.values())) for name in names)


def _gates(found: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    for arm, rounds in found.items():
        for one in rounds[1:]:
            refused = "; ".join(f"{name}: {why}" for name, why in one["gate"]["refused"].items())
            yield arm, one["number"], f"round {one['base']}", f"refuses ({refused})" if refused else "accepts"


def _generalists(found: Mapping[str, Any]) -> Iterator[str]:
    for one in found.values():
        rows = [
            (
                line["name"] + (" (best single round)" if line["name"] == one["best"] else ""),
                number(line["mean"]),
                interval(line["difference"], "+"),
            )
            for line in one["contenders"]
        ]
        yield from table(("verifier", "mean of sets >", "minus the best single round >"), rows)
        yield GENERALIST_NOTE
