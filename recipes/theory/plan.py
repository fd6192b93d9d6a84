"""Plan how to ask a verifier in training, from labelled completions (Soft-RLVR, section 6.3).

    python recipes/theory/plan.py --labels examples/judged.jsonl --report plan.html

The plan is printed as tables, and written as a page with charts. Not supported: single completions; the rows have them.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.theory.judged import join_judged, read_judged
from recipes.theory.planning import VerificationPlan, plan_verification
from recipes.theory.rates import JudgedCompletion
from recipes.theory.rewards import end_of, report_problems
from vouching.cli.options import refuse_second_stdin
from vouching.cli.streams import Exit, draw_tables, write_error, write_json
from vouching.errors import InputError, VouchError
from vouching.metrics.intervals import Interval
from vouching.report import charts
from vouching.report.figures import Chart, Table, figure
from vouching.report.skeleton import TEMPLATES, page_target, write_page
from vouching.rows import STDIN

NAMES = {
    "p": "p, successes found",
    "q": "q, failures found",
    "p_item": "p', satisfied items found",
    "q_item": "q', unsatisfied items found",
}
"""The rates of a verifier in words."""
_ERRORS = {"single": "one overall judgment", "checklist": "share of items passed", "difference": "difference"}


def plan_tables(plan: VerificationPlan) -> Iterator[Table]:
    """The tables of a plan."""
    yield Table("What to do", ("", ""), [*advice(plan)])
    yield Table("MSE against strict success", ("", "measured", "95 %", "predicted by theory"), [*_errors(plan)])
    yield _table_2(plan)
    head = ("", "share", "95 % Wilson", "95 % by prompt", "judgments")
    yield Table("How often the verifier is right", head, [*_rates(plan)])
    if len(plan.by_votes) > 1:
        lines = [(f"{line.votes}", figure(line.single), figure(line.checklist)) for line in plan.by_votes]
        yield Table("Measured MSE by votes per question", ("votes", "whole", "items"), lines)
    yield Table("Where the checklist is no more biased (Proposition 4)", ("", "completions", "share"), [*_where(plan)])
    yield Table("The completions", ("", ""), [*_completions(plan)])
    lengths = [(f"{items}", figure(prompts)) for items, prompts in plan.lengths.items()]
    yield Table("Lengths of the checklists", ("items", "prompts"), lengths)


def advice(plan: VerificationPlan) -> Iterator[tuple[str, str]]:
    """Recommendations from the figures, in words."""
    undecided = plan.measured["difference"].why_not or "the interval of the difference contains 0"
    choices = {"holistic": "whole response", "checklist": "checklist", "undecided": f"undecided: {undecided}"}
    way = choices[plan.choice]
    guessed = {"holistic": not plan.informed[0], "checklist": not plan.informed[1], "undecided": False}
    yield "verification", f"none: the smaller MSE ({way}) comes from guessing" if guessed[plan.choice] else way
    informed = ("yes" if one else "not significantly" for one in plan.informed)
    yield "better than guessing (whole, items)", ", ".join(informed)
    for name, votes, place in (("whole", plan.votes[0], 0), ("item", plan.votes[1], 1)):
        cast = sum((line.single, line.checklist)[place] is not None for line in plan.by_votes)
        yield f"votes needed on {'the whole' if name == 'whole' else 'an item'}", f"{votes} of {cast}"
    yield "fewest items whose MSE is not larger", _size(plan.items_needed, "none")
    yield "items beyond which gains are small", _size(plan.items_enough, "–")


def _size(items: float, without: str) -> str:
    return f"{items:,.0f}" if math.isfinite(items) else without


def _errors(plan: VerificationPlan) -> Iterator[tuple[str, ...]]:
    single, checklist = plan.predicted
    predicted = (single, checklist, single - checklist)
    for (name, words), value in zip(_ERRORS.items(), predicted, strict=True):
        found = plan.measured[name]
        yield words, figure(found.estimate), range_words(found), figure(value)
    for words, value in zip(("whole", "items"), plan.association, strict=True):
        yield f"correlation with success, {words}", figure(value), "", ""


def _rates(plan: VerificationPlan) -> Iterator[tuple[str, ...]]:
    for name, words in NAMES.items():
        rate = plan.rates[name]
        yield (
            words,
            figure(rate.share.estimate),
            range_words(rate.share),
            range_words(rate.by_group),
            figure(rate.judgments),
        )
    yield "correlation of item errors", figure(plan.correlation.estimate), "", range_words(plan.correlation), ""


def _table_2(plan: VerificationPlan) -> Table:
    """The row of the paper's Table 2 for this verifier."""
    quality = plan.quality
    rates = (quality.p, quality.p_item, quality.q, quality.q_item)
    gains = (quality.p_item - quality.p, quality.q_item - quality.q)
    line = (*map(figure, rates), *(f"{gain:+.3f}" for gain in gains), figure(quality.alpha), figure(quality.alpha_item))
    head = ("", "p", "p'", "q", "q'", "p' - p", "q' - q", "alpha", "alpha'", "bias cond.")
    return Table("As in Table 2 of the paper", head, [("here", *line, f"{100 * plan.condition_share:.1f} %")])


def _where(plan: VerificationPlan) -> Iterator[tuple[str, ...]]:
    words = {
        "success, met": "strict successes, p' >= p",
        "success, not met": "strict successes, p' < p",
        "failure, met": "failures, alpha' Delta <= q' - q",
        "failure, not met": "failures, alpha' Delta > q' - q",
    }
    for name, count in plan.condition.items():
        yield words[name], figure(count), figure(count / plan.completions)
    yield "MSE not larger by Theorem 1", "", figure(plan.promised)


def _completions(plan: VerificationPlan) -> Iterator[tuple[str, str]]:
    yield "completions", figure(plan.completions)
    yield "prompts", figure(plan.groups)
    yield "mean number of items", figure(plan.items, 2)
    yield "share of strict successes", figure(plan.success)
    yield "mean relaxation gap of the failures", figure(plan.gap)
    yield "successes with an unsatisfied item", figure(plan.spurious)
    yield "failures with all items satisfied", figure(plan.missing)
    yield "share of unclear votes, whole", figure(plan.unclear[0])
    yield "share of unclear votes, items", figure(plan.unclear[1])


def range_words(interval: Interval) -> str:
    """The bounds of an interval; a dash if it is not available."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{figure(interval.low)} to {figure(interval.high)}"


def write_plan(path: str | Path, title: str, plan: VerificationPlan) -> None:
    """Write the page, replacing the file. Raises InputError if it cannot be written."""
    single, checklist = (plan.measured[name].estimate for name in ("single", "checklist"))
    errors = f"MSE {figure(checklist)} by checklist, {figure(single)} by one judgment"
    write_page(
        path,
        "rewards.html.jinja",
        TEMPLATES,
        title=title,
        lead=f"{plan.completions:,} completions to {plan.groups:,} prompts: {errors}",
        tables=[*plan_tables(plan)],
        charts=[*_charts(plan)],
    )


def _charts(plan: VerificationPlan) -> Iterator[Chart]:
    title = "MSE by number of items"
    note = (
        "Predicted by theory for the rates and relaxation gaps of these completions; finer checklists would have other "
        f"rates and gaps. These checklists have {plan.items:.1f} items on average."
    )
    yield Chart(title, _size_plot(plan, title), note)
    if len(plan.by_votes) > 1:
        title = "Measured MSE by votes"
        yield Chart(title, _votes_plot(plan, title))
    title = "Bias condition"
    counts = {
        f"{kind}, {words}": plan.condition[f"{kind}, {words}"]
        for words in ("met", "not met")
        for kind in ("success", "failure")
    }
    tones: dict[str, charts.Tone] = {
        "success, met": "match",
        "failure, met": "accent",
        "success, not met": "not-found",
        "failure, not met": "mismatch",
    }
    note = "Met: on average, the checklist's reward is no more biased than one judgment (Proposition 4)."
    yield Chart(title, charts.share_bar(counts, title=title, tones=tones), note)
    title = "Lengths of the checklists"
    lengths = {f"{items} item{'s' * (items != 1)}": prompts for items, prompts in plan.lengths.items()}
    yield Chart(title, charts.bar_chart(lengths, title=title), "Number of prompts by the length of their checklist.")
    title = "How often the verifier is right"
    rows = [
        charts.ForestRow(NAMES[name], rate.share.estimate, rate.share.low, rate.share.high)
        for name, rate in plan.rates.items()
    ]
    drawn = charts.forest_plot(rows, title=title, name="share, with its 95 % interval (Wilson)", reference=None)
    yield Chart(title, drawn)


def _size_plot(plan: VerificationPlan, title: str) -> str:
    curves = {
        "one overall judgment": [(float(point.items), point.single) for point in plan.curve],
        "checklist, errors independent": [(float(point.items), point.independent) for point in plan.curve],
    }
    if math.isfinite(plan.correlation.estimate):
        words = f"checklist, errors correlated by {max(0.0, plan.correlation.estimate):.2f}"
        curves[words] = [(float(point.items), point.checklist) for point in plan.curve]
    ends = (1.0, float(plan.curve[-1].items))
    return charts.line_plot(curves, title=title, names=("items", "MSE"), x_range=ends, y_top=_top(curves))


def _votes_plot(plan: VerificationPlan, title: str) -> str:
    curves = {
        "whole": [(float(line.votes), line.single) for line in plan.by_votes if line.single is not None],
        "items": [(float(line.votes), line.checklist) for line in plan.by_votes if line.checklist is not None],
    }
    ends, names = (1.0, float(plan.by_votes[-1].votes)), ("votes per question", "MSE")
    return charts.line_plot(curves, title=title, names=names, x_range=ends, y_top=_top(curves))


def _top(curves: charts.Curves) -> float:
    """The highest point, rounded up to a tenth."""
    highest = max(y for points in curves.values() for _, y in points)
    return max(0.1, math.ceil(10 * highest) / 10)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the plan; 0, 2 for wrong options or files, or 3 if some rows could not be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, words in _FILES:
        parser.add_argument(name, metavar="ROWS", help=words, required=name == "--labels")
    parser.add_argument("--tau", type=float, default=0.5, help="minimum share of yes votes for a judgment of yes")
    parser.add_argument("--seed", type=int, default=0, help="seed for the intervals")
    parser.add_argument("--report", type=Path, help="also write a page with charts: .html")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args(arguments)
    try:
        if (given.items is None) != (given.whole is None):
            raise InputError("--items and --whole require each other and --labels: pass all three, or --labels alone")
        refuse_second_stdin(given.items, given.whole, given.labels)
        if given.report is not None:
            page_target(given.report)
        rows, problems = _read(given.items, given.whole, given.labels)
        plan = plan_verification(rows, given.tau, given.seed)
        if given.report is not None:
            write_plan(given.report, "standard input" if given.labels == STDIN else Path(given.labels).name, plan)
    except VouchError as error:
        write_error(str(error))
        return Exit.USAGE
    if given.json:
        write_json(asdict(plan) | {"condition_share": plan.condition_share, "informed": plan.informed})
    else:
        draw_tables(plan_tables(plan))
    return end_of(problems)


def _read(items: str | None, whole: str | None, labels: str) -> tuple[list[JudgedCompletion], list[str]]:
    """The judged completions of one file, or of three that are joined, and the problems of the others, reported."""
    rows, problems = join_judged(items, whole, labels) if items and whole else read_judged(labels)
    report_problems(problems)
    if items and whole:
        excluded = f"; {len(problems):,} excluded" if problems else ""
        write_error(f"{len(rows):,} response{'s' * (len(rows) != 1)} judged both ways{excluded}")
    return rows, problems


_FILES = (
    ("--labels", "reports of --method rules, or rows with id and one label per item; alone: labels and votes"),
    ("--items", "reports of vouch follow --method checklist"),
    ("--whole", "with --items: reports of vouch follow --method holistic"),
)


if __name__ == "__main__":
    sys.exit(main())
