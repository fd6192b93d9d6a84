"""docs/reproductions.md and its pictures, from the files of results alone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from benchmarks.draw import Point, points_svg
from benchmarks.render_tables import table
from benchmarks.render_wrap import wrapped
from benchmarks.world_words import ARMS_SAY, MEASURES_SAY, in_words
from recipes.worlds.claims import CLAIMS, World
from recipes.worlds.effects import Decision
from recipes.worlds.report import Outcomes, PaperClaim, compared, read_outcomes, table_of
from vouching.train.monitor import alarms
from vouching.train.run_folder import columns_of, read_lines

TITLES: Mapping[str, str] = {
    "facts": "SEVA, in the world of facts",
    "instructions": "Soft-RLVR and Soft-SVeRL, in the world of instructions",
    "documents": "MARCH, in the world of documents",
    "forms": "DPA-GRPO, in the world of forms",
    "answers": "DiVA, in the world of answers",
    "probes": "Self-evolution, in the world of facts",
}
METRICS = ".metrics.jsonl"
REMARKS = "remarks.json"
"""In the folder of results: what people add to the reasons, by world and claim."""
HEAD = """# Reproductions

<!-- written by python benchmarks/worlds.py page -->

What the papers say of rewards and games is tested here with language models of about half a million weights, trained
from scratch in closed worlds whose right answers are known. Hypotheses, metrics, the decision rule and the stopping
rule of the arms are in [design/0011](../design/0011-small-worlds.md), which also says what was changed after the first
results. What holds here need not hold for large models and natural text, and the reverse.

- **holds**: the whole interval of the difference (first arm less second) is above 0, and every seed agrees. For "no"
  (it does not improve, it is no better): the whole interval is below .03. For "leaves as it is": between -.03 and .03.
- **in part**: the interval is above 0, and below .03, the smallest difference that matters here.
- **does not hold here**: the whole interval is below .03; for "no", it is above 0.
- **undecided at this size**: anything else, and fewer than three seeds.
- "Built in" counts the claims whose outcome follows from the world or the arms (a judge that errs at the paper's rates,
  a control that has not learned the task), whatever the decision; they are evidence of nothing else.

The paper's figure is beside ours for orientation: it often has another measure, and always another model. Differences
are paired by seed and prompt. The intervals of 95 % cover other seeds and other prompts; they are wide where seeds
differ much. All arms of a world have one start, and other starts are not covered: a seed
is an order of prompts and a stream of samples. Claims are not corrected for their number.
The arms that were run make one update of
each batch, so that clipping never acts. The outcomes by prompt and the metrics of every step are in
`docs/results/reproductions`, without metrics of the rounds of self-evolution; `recipes/worlds` says how to run the
arms."""
UNIT = {"probes": "probes in the first round"}
"""What a run's length counts, if not steps."""
LEFT = """
## Not done

- What causes the bias to Not Attributable: its arms (normalised, calibration, splits) were not run.
- A horizon at which a policy that judges itself collapses: the paper's falls within 400 steps, these have 150.
- Other starts than one per world, and larger models: nothing was run on a GPU.
- A pilot beyond one run of 20 steps (`process`), which chose the length of the arms by time alone."""

SMOOTHED = 10
"""Steps of a mean along a curve."""
GAINS = {"readable": 0.03, "label": 0.09}
"""The least gain that counts: for labels about two standard errors of such a mean."""
MOVES = f"""Does the format move before the labels? Means of the last {SMOOTHED} steps, of labels among records that can
be read, and the step in which they had made half of their gain: of the format over the start, of labels over the first
{SMOOTHED} steps, if they gain at least {GAINS["label"]:g}, about two standard errors."""
GRADIENTS = """
A softmax policy over made responses to {prompts} instructions has exact gradients, and a judge errs with set rates: p
and q on the whole response, p' and q' on items (`{command}`, seed {seed}, {cpu_seconds:.0f} s of CPU time on {machine},
{date}). The table has the squared error of a response's gradient, measured and by the formula; the share of responses
for which the theorem guarantees a smaller error by checklist; and the share for which it is smaller."""
ADVANTAGES = """
Training sees advantages that are normalised in groups of {group}. Bias and variance are those of an advantage against
right labels of the whole response, over judgments. The cosines are those of the update of all instructions, and of its
mean over many draws, with the gradient of strict success. The theorem's error is no safe guide to them: it counts a
constant bias, which normalisation removes, and a reward with the smaller error need not have the larger cosine."""
SCORES = """
Success after {steps} steps with the share of items passed as the reward, and with scores made of the same judgments by
rates per kind of item: the true ones, or estimates from labelled items, shrunk to their mean. The difference is that to
the share, paired over {seeds} seeds and all instructions. The control is a judge with the same rates for all kinds."""
NO_SCORE = """
No score gives .03 more success than the share of items passed, so `vouch train checklist` has no such setting. A
possible reason, which is not measured here: the mean of judgments already weighs an item by what its judgment says,
since its expectation has the slope alpha'."""


def page(results: Path, arms: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, str]]:
    """The page, and its pictures by file name.

    Args:
        results: with a folder for each world; any may be missing.
        arms: those of each world's experiment.
    """
    remarks, pictures = remarks_of(results), dict[str, str]()
    by_world = {name: read_outcomes(results / name) for name in CLAIMS}
    lines = [HEAD, *_summary(by_world)]
    for name, claims in CLAIMS.items():
        folder, outcomes = results / name, by_world[name]
        lines += ["", f"## {TITLES[name]}", "", *_how(folder), "", table_of(claims, outcomes, remarks.get(name))]
        if drawn := _picture(TITLES[name], claims, outcomes):
            pictures[f"reproductions-{name}.svg"] = drawn
            lines += ["", f"![Differences of arms with their intervals](images/reproductions-{name}.svg)"]
        lines += _in_words(name, claims, outcomes)
        lines += _means(claims, outcomes)
        lines += _order(folder, outcomes) if name == "facts" else ()
        if missing := [arm for arm in arms.get(name, ()) if arm not in outcomes]:
            lines += ["", f"Not run: {', '.join(f'`{arm}`' for arm in missing)}."]
        lines += _monitors(folder)
    noise = results / "noise/noise.json"
    if noise.is_file():
        lines += _noise(json.loads(noise.read_text(encoding="utf-8")))
    lines.append(LEFT)
    return "\n".join([*wrapped(lines), ""]), pictures


def remarks_of(results: Path) -> dict[str, dict[str, str]]:
    """What people add to the reasons, by world and claim."""
    path = results / REMARKS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _summary(by_world: Mapping[World, Outcomes]) -> Iterator[str]:
    """How many claims of each world are decided, and how; what is built into a world is not counted as found."""
    kinds = get_args(Decision)
    rows: list[tuple[str, ...]] = []
    for name, claims in CLAIMS.items():
        done = [(claim, found.decision) for claim in claims if (found := compared(claim, by_world[name]))]
        found = [decision for claim, decision in done if not claim.built_in]
        counts = [*(found.count(kind) for kind in kinds), len(done) - len(found), len(claims) - len(done)]
        rows.append((TITLES[name], *(f"{count or ''}" for count in counts)))
    yield from table(("claims", *(f"{kind} >" for kind in (*kinds, "built in", "not run"))), rows)


def _in_words(name: str, claims: Sequence[PaperClaim], outcomes: Outcomes) -> Iterator[str]:
    """What the arms that were run and the measures are."""
    if said := in_words(ARMS_SAY[name], [*outcomes]):
        measures = [*dict.fromkeys(claim.measure.removeprefix("oracle/") for claim in claims)]
        yield from ("", f"Arms: {said}; `initial`: what they all start from.", "")
        yield f"Measures: {in_words(MEASURES_SAY[name], measures)}."


def _how(folder: Path) -> Iterator[str]:
    """How the results of a world were made."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    if not found:
        yield "No arm has been run."
        return
    trained = [one for one in found if one["steps"]]
    first, last = (pick(one["date"] for one in found) for pick in (min, max))
    days = first if first == last else f"{first} to {last}"
    hours = f"{sum(one['cpu_seconds'] for one in found) / 3600:.1f} hours"
    if any(one.get("resumed", True) for one in found):
        hours = f"at least {hours}"  # of an arm that was resumed, or may have been, the last part is known
    arms = sorted({one["arm"] for one in trained})
    yield (
        f"{len(arms)} arms with "
        f"{_range(len(_seeds(trained, arm)) for arm in arms)} seeds and "
        f"{_range(one['steps'] for one in trained)} {UNIT.get(folder.name, 'steps')} each, judged on "
        f"{_range(len(one['outcomes']) for one in found)} held-out prompts; `python benchmarks/worlds.py arms --world "
        f"{folder.name} --arms {' '.join(arms)}`, {hours} of CPU time on {found[0]['machine']}, {days}."
    )


def _seeds(found: Sequence[Mapping[str, Any]], arm: str) -> set[int]:
    return {one["seed"] for one in found if one["arm"] == arm}


def _range(numbers: Iterable[int]) -> str:
    known = sorted({*numbers}) or [0]
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"


def _picture(title: str, claims: Sequence[PaperClaim], outcomes: Outcomes) -> str | None:
    """The differences of the claims that can be compared, with their intervals."""
    rows: list[tuple[str, list[Point]]] = []
    for number, claim in enumerate(claims, 1):
        if found := compared(claim, outcomes):
            one = found.effect
            rows.append((f"claim {number}", [Point("first arm less second", one.mean, one.low, one.high)]))
    if not rows:
        return None
    ends = [abs(end or 0.0) for _, [point] in rows for end in (point.low, point.high)]
    end = max(0.2, math.ceil(max(ends) * 10 + 0.01) / 10)
    return points_svg(title, (-end, end, end / 2 if end < 0.5 else 0.2), rows, mark=0.0)


def _means(claims: Sequence[PaperClaim], outcomes: Outcomes) -> Iterator[str]:
    """The mean of every arm in every measure of the claims, also of arms that no claim is about."""
    measures = [*dict.fromkeys(claim.measure for claim in claims)]
    rows: list[tuple[str, ...]] = []
    for arm, by_seed in outcomes.items():
        cells = [
            [found[measure] for by_prompt in by_seed.values() for found in by_prompt.values() if measure in found]
            for measure in measures
        ]
        rows.append((arm, str(len(by_seed)), *(f"{sum(cell) / len(cell):.3f}" if cell else "" for cell in cells)))
    if rows:
        yield from ("", "Means of all arms:")
        yield from table(("arm", "seeds >", *(f"{one.removeprefix('oracle/')} >" for one in measures)), rows)


def _order(folder: Path, outcomes: Outcomes) -> Iterator[str]:
    """In which step the format and the labels of each run had made half of their gain."""
    rows: list[tuple[str, ...]] = []
    order: list[bool] = []
    start = [
        found["oracle/readable"] for by_prompt in outcomes.get("initial", {}).values() for found in by_prompt.values()
    ]
    for arm, seed, lines in _logs(folder):
        steps = [line for line in lines if "readable" in line]
        labels = [one["oracle/right"] / one["readable"] for one in steps if one["readable"]]
        if min(len(labels), len(start)) < SMOOTHED:
            continue
        first, format_half = _half_way([one["readable"] for one in steps], GAINS["readable"], sum(start) / len(start))
        second, label_half = _half_way(labels, GAINS["label"])
        rows.append((arm, seed, first, f"{format_half or ''}", second, f"{label_half or ''}"))
        if format_half and label_half:
            order.append(format_half < label_half)
    if rows:
        yield from ("", f"{MOVES} In {sum(order)} of the {len(order)} runs with both, the format was first.")
        yield from table(
            ("arm", "seed >", "readable: start, last", "half in step >", "label: first, last", "half in step >"), rows
        )


def _half_way(curve: Sequence[float], least: float, start: float | None = None) -> tuple[str, int | None]:
    """The first and last value of a curve, and the step in which it had made half of its gain, if that is ``least``.

    Values are means of the last steps. Without a ``start``, the first is the mean of the first steps.
    """
    means = [sum(curve[max(0, at - SMOOTHED) : at]) / min(at, SMOOTHED) for at in range(1, len(curve) + 1)]
    begun = SMOOTHED if start is None else 1
    first, last = means[SMOOTHED - 1] if start is None else start, means[-1]
    half = next((at for at in range(begun, len(means) + 1) if means[at - 1] >= (first + last) / 2), None)
    return f"{first:.2f}, {last:.2f}", half if last - first >= least else None


def _logs(folder: Path) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Arm, seed and metrics of each run."""
    for log in sorted(folder.glob(f"*{METRICS}")):
        arm, _, seed = log.name.removesuffix(METRICS).rpartition("-")
        yield arm, seed, read_lines(log)


def _monitors(folder: Path) -> Iterator[str]:
    """Which monitors fired on which arm, and in which step of which seed."""
    fired: dict[tuple[str, str, str], list[str]] = {}
    logs = [*_logs(folder)]
    for arm, seed, lines in logs:
        records = [
            {key: math.nan if value is None else value for key, value in line.items()}
            for line in lines
            if "scores" not in line
        ]
        for alarm in alarms(columns_of(records)):
            fired.setdefault((arm, alarm.kind, alarm.about), []).append(f"{alarm.step} (seed {seed})")
    if not logs:
        return
    yield ""
    if not fired:
        yield f"No monitor fired in {len(logs)} runs."
        return
    yield f"Monitors that fired in {len(logs)} runs, and in which step:"
    yield from table(
        ("arm", "monitor", "about", "steps"), [(*key, ", ".join(steps)) for key, steps in sorted(fired.items())]
    )


def _noise(found: Mapping[str, Any]) -> Iterator[str]:
    """The noise study."""
    yield from ("", "## Soft-RLVR's Theorem 1: what a judge's errors do to a gradient", "")
    yield GRADIENTS.strip().format(**found)
    yield from table(
        (
            "judge (p, q, p', q')",
            "items >",
            "whole: measured >",
            "formula >",
            "checklist: measured >",
            "formula >",
            "guaranteed >",
            "smaller >",
        ),
        [
            (
                f"{one['judge']} ({', '.join(f'{one[rate]:g}' for rate in ('p', 'q', 'p_item', 'q_item'))})",
                one["items"],
                *(f"{one[way][what]:.3f}" for way in ("single", "checklist") for what in ("measured", "formula")),
                f"{one['guaranteed']:.2f}",
                f"{one['smaller']:.2f}",
            )
            for one in found["gradients"]
        ],
    )
    yield ""
    yield ADVANTAGES.strip().format(**found)
    yield from table(
        ("judge", "items >", "asked about", "bias² >", "variance >", "cosine of an update >", "of the mean >"),
        [
            (
                one["judge"],
                one["items"],
                "the whole" if one["asked"] == "whole" else "items",
                *(f"{one[name]:.3f}" for name in ("bias", "variance", "step", "mean")),
            )
            for one in found["advantages"]
        ],
    )
    yield ""
    yield SCORES.strip().format(**found)
    yield from table(
        ("rates", "score", "labelled items", "success >", "difference [95 %] >", "decision"),
        [
            (one["rates"], one["score"], _labelled(one), f"{one['success']:.3f}", *_effect(one))
            for one in found["scores"]
        ],
    )
    if not any(one.get("decision") in ("holds", "in part") for one in found["scores"]):
        yield NO_SCORE


def _labelled(one: Mapping[str, Any]) -> str:
    if one["score"] == "share":
        return ""
    return "true rates" if one["labelled"] is None else f"{one['labelled']:,}"


def _effect(one: Mapping[str, Any]) -> tuple[str, str]:
    if "effect" not in one:
        return "", ""
    found = one["effect"]
    return f"{found['mean']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]", one["decision"]
