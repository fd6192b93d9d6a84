"""The figures of docs/small-models.md: small language models as judges, and a small training run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from render_tables import Figures, interval, origin, table

WINDOW = 10
"""Steps of a line."""
SETS = {"contrast": "contrast corpus, part dev"}


def judge_lines(records: Sequence[Figures]) -> Iterator[str]:
    """A table for each model."""
    for record in records:
        name, figures = Path(record["model"]).stem, record["figures"]
        yield from (f"### {name}", "", origin({**record, "model": name}))
        rows = [
            (
                SETS.get(one["set"], one["set"]),
                one["form"],
                share(one, "readable"),
                share(one, "right"),
                f"{one['auroc']:.2f}" if "auroc" in one else "",
                share(one, "calibrated") if "calibrated" in one else "",
                "" if one["said_attributable"] is None else f"{one['said_attributable']:.0%}",
                f"{one['prompt_tokens']:.0f} + {one['completion_tokens']:.0f}",
                f"{one['seconds']:.1f}",
            )
            for one in figures
        ]
        columns = (
            "set",
            "asked",
            "readable",
            "right",
            "AUROC >",
            "right, calibrated",
            "Attributable of the readable >",
            "tokens >",
            "seconds >",
        )
        yield from table(columns, rows)
        yield ""
    figures = [one for record in records for one in record["figures"]]
    sizes = {
        name: dict.fromkeys(one["rows"] for one in figures if one["set"] == name)
        for one in figures
        for name in [one["set"]]
    }
    counts = ", ".join(f"{' and '.join(map(str, rows))} of {SETS.get(name, name)}" for name, rows in sizes.items())
    yield (
        f"Samples by label ({counts}), asked one after another. Shares have Wilson's 95 % "
        "intervals; a reply that cannot be read counts as not right, and a coin would be right half of the time. AUROC "
        "is that of the scores, which are the probability of the label's first token; calibrated: with a line fitted "
        "to the other four fifths of the rows, as by vouch calibrate; both are blank where scores were not kept. Raw: "
        "once, without a schema. Retry: an unreadable reply is asked for once more, with its fault, unless it was cut. "
        f"Schema: the server keeps the reply to the schema. Replies are cut at {records[0]['max_tokens']} tokens, "
        "twice what the label takes, so that one with an explanation before it is not readable either. Tokens (prompt "
        "+ reply) are means, seconds the median, on one core of a machine that other work shared."
    )
    yield ""


def share(figures: Figures, name: str) -> str:
    """A share with its interval, in percent."""
    low, high = figures[f"{name}_interval"]
    return f"{figures[name]:.0%} [{low:.0%}, {high:.0%}]"


def training_run_lines(record: Figures) -> Iterator[str]:
    """What the run of GRPO changed."""
    steps, held = record["steps"]["grpo"], record["held_out"]
    yield from ("### Training the form of a record", "", origin(record))
    rows = [
        (what, *(interval(figures[key]) for figures in held.values()))
        for key, what in (("readable", "readable"), ("oracle/right", "right label"))
    ]
    count = held["sft"]["prompts"]
    after = ("imitation >" if run == "sft" else f"{run.split()[1]} steps of GRPO >" for run in held)
    yield from table((f"{count} held-out prompts, after", *after), rows)
    columns = ("readable", "length/verifier/cut", "reward/verifier/total", "oracle/right", "time/step")
    names = ("readable", "cut", "reward", "right label", "seconds a step")
    means = [
        (f"{start + 1} to {start + WINDOW}", *(f"{fmean(one[key] for one in some):.2f}" for key in columns))
        for start in range(0, len(steps), WINDOW)
        for some in [steps[start : start + WINDOW]]
    ]
    yield from table(("steps of GRPO", *(f"{name} >" for name in names)), means)
    yield ""
