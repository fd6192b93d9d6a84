"""The sections of docs/figures.md on training: the engine compared with TRL, the cost of each game, learning."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, table

COST_NOTE = """
The model has 107,000 weights; each step has {rollouts_of_a_step} rollouts on one core, with the same tokens for
both trainers, in {rounds} alternating rounds of {steps} steps. Bookkeeping takes {bookkeeping_ms_per_rollout:.3f}
ms per rollout."""
LEARNING_NOTE = """
The models have about 107,000 weights and are warmed up by imitating partly wrong replies. The figures are the share
of replies that are correct according to a rule, averaged over the first and the last {steps_compared} steps, and
the lower 95 % bound of the gain. For `assurance`, the figure is the share of units whose submitted value is
correct; for `assurance-verifier`, from the same runs, it is the share of units correctly challenged or accepted.
[Games](games.md) describes the tasks; the recipes of the games say how settings were chosen, and what did not work."""
GAMES_NOTE = """
The models have about 107,000 weights and are warmed up; figures are medians of {steps} steps on one core. The
column "completions" counts all completions that a step samples or teacher-forces, and "rows trained" counts those
used for the update. Bookkeeping is the time per completion for replies, votes, rewards, groups, advantages and
arrays."""
GPU_NOTE = """
The model has the shape of Qwen2.5-0.5B, with random weights in bfloat16, on {device}; figures are medians of
{rounds} runs each."""
NOT_MEASURED = """
Performance on a GPU was not measured; `benchmarks/engine_gpu.py` is the script for it."""


def cost_lines(record: Figures, on_gpu: Figures | None) -> Iterator[str]:
    """CPU time of a step compared with TRL's; tokens a second and memory where a GPU was available."""
    yield from ("## Training engine: cost compared with TRL", "", _origin(record))
    pairs = zip(record["seconds_of_a_step"], record["ratios"], strict=True)
    rows = [(at, f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.3f}") for at, ((ours, theirs), ratio) in enumerate(pairs, 1)]
    rows.append(("median", "", "", f"{record['median_ratio']:.3f}"))
    yield from table(("round", "CPU s per step >", "TRL's trainer >", "ratio >"), rows)
    yield COST_NOTE.format(**record, rounds=len(record["ratios"]))
    if on_gpu is None:
        yield NOT_MEASURED
        return
    names = ("tokens_per_second", "seconds_of_a_step", "peak_gigabytes")
    rows = [(name.replace("_", " "), on_gpu["vouch"][name], on_gpu["trl"][name]) for name in names]
    yield from table(("on a GPU", "Vouch >", "TRL's trainer >"), rows)
    yield GPU_NOTE.format(**on_gpu)


def learning_lines(record: Figures) -> Iterator[str]:
    """Oracle metric, first and last, per seed."""
    yield from ("## Training engine: whether it learns", "", _origin(record))
    keys = ("first", "last", "gain", "lower_95")
    rows = [(run["game"], run["seed"], *(f"{run[key]:.3f}" for key in keys)) for run in record["runs"]]
    yield from table(("game", "seed >", "first >", "last >", "gain >", "lower bound >"), rows)
    yield LEARNING_NOTE.format(**record)


def games_lines(record: Figures) -> Iterator[str]:
    """What a step of each game costs."""
    yield from ("## Training engine: cost of a step of each game", "", _origin(record))
    rows = [
        (
            one["game"],
            f"{one['seconds_of_a_step']:.2f}",
            sum(one["completions"].values()),
            ", ".join(f"{role} {count}" for role, count in one["completions"].items()),
            one["trained"],
            f"{one['bookkeeping_ms_per_completion']:.3f}",
        )
        for one in record["games"]
    ]
    head = ("game", "CPU s per step >", "completions >", "by role", "rows trained >", "bookkeeping, ms >")
    yield from table(head, rows)
    yield GAMES_NOTE.format(**record)


def _origin(record: Figures) -> str:
    """Command and time; parts of a file may be measured on several days."""
    days = sorted({one["date"] for one in (record.get("runs") or record.get("games") or [record])})
    return f"Measured with `{record['command']}` (torch {record['torch']}) on {', '.join(days)}."
