"""The sections of docs/figures.md on training: the engine compared with TRL, the cost of each game, learning."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, table

COST_NOTE = """
107,000 weights, {rollouts_of_a_step} rollouts a step, one core, the same tokens; {rounds} rounds of {steps} steps,
alternating. Bookkeeping: {bookkeeping_ms_per_rollout:.3f} ms per rollout."""
LEARNING_NOTE = """
About 107,000 weights, warmed up by imitation of partly wrong replies. The share of right replies by a
rule, mean over the first and the last {steps_compared} steps, and the lower 95 % bound of the gain. Of
`assurance`: the share of units whose submitted value is right; of `assurance-verifier`, the same runs: of units rightly
challenged or accepted. The tasks, how their settings were chosen, and what did not work: [games.md](games.md)."""
GAMES_NOTE = """
About 107,000 weights, warmed up, one core; medians of {steps} steps. Completions are all that a step samples or
teacher-forces, rows those that it trains on. Bookkeeping: replies, votes, rewards, groups, advantages, arrays, per
completion."""
GPU_NOTE = """
A model in the shape of Qwen2.5-0.5B with random weights, bfloat16, on {device}; medians of {rounds} runs each."""
NOT_MEASURED = """
On a GPU: not measured; `benchmarks/engine_gpu.py` is the script."""


def cost_lines(record: Figures, on_gpu: Figures | None) -> Iterator[str]:
    """CPU time of a step compared with TRL's; tokens a second and memory where a GPU was available."""
    yield from ("## Training engine: what it costs", "", _origin(record))
    pairs = zip(record["seconds_of_a_step"], record["ratios"], strict=True)
    rows = [(at, f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.3f}") for at, ((ours, theirs), ratio) in enumerate(pairs, 1)]
    rows.append(("median", "", "", f"{record['median_ratio']:.3f}"))
    yield from table(("round", "CPU s a step >", "TRL's trainer >", "ratio >"), rows)
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
    yield from ("## Training engine: a step of each game", "", _origin(record))
    rows = [
        (one["game"], f"{one['seconds_of_a_step']:.2f}", sum(one["completions"].values()),
         ", ".join(f"{role} {count}" for role, count in one["completions"].items()), one["trained"],
         f"{one['bookkeeping_ms_per_completion']:.3f}")
        for one in record["games"]
    ]  # fmt: skip
    head = ("game", "CPU s a step >", "completions >", "by role", "rows trained >", "bookkeeping, ms >")
    yield from table(head, rows)
    yield GAMES_NOTE.format(**record)


def _origin(record: Figures) -> str:
    """Command and time; parts of a file may be measured on several days."""
    days = sorted({one["date"] for one in (record.get("runs") or record.get("games") or [record])})
    return f"`{record['command']}`, torch {record['torch']}; {', '.join(days)}."
