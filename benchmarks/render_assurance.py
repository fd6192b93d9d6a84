"""The section of docs/figures.md on challenged tax returns."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, number, origin, table

from vouching.metrics.intervals import wilson

NOTE = """
There are {returns:,} correct returns with {lines:,} lines; the engine and a second implementation differ on
{differing} of these lines, and the rules challenge {challenged} of them. Checking a return takes {median} ms
(median) and at most {slowest} ms. The named mistakes are those of
[tax returns](../recipes/taxes/README.md); the random corruptions were added after the rules, which were not changed
for them. The first wrong line is the line on which the mistake was made.

**Every first wrong line is challenged by construction**: each line has a rule that determines its only correct
value, and the lines before the first wrong one are correct, so any wrong value differs. This shows that rules,
engine and parser work together; it is not a detection rate to expect elsewhere. With half of the rules, the rate is
lower, as shown below. A line that follows correctly from a wrong one is not a case, so most wrong lines are not
challenged.

**False cases**: {false:,} of {right:,} correct lines in wrong proposals ({share}) are challenged; these are cases 2
and 3 of the paper. Each of these lines is correct according to the gold return, but does not follow from the wrong
line submitted before it; if the wrong line is repaired first, as in the game below, no false case remains. In
correct proposals, {challenged} lines are challenged."""
INCOMPLETE = """
The wrong returns are the same, but each is checked with {kept} rules, drawn at random from the {rules}; no model is
asked, so the other lines are undecided and the exit status is 3. Of the {returns:,} wrong returns, {found} are
challenged (95 % Wilson interval {low} to {high}): {first} at the first wrong line, which is every return for which
the rule for that line was kept, and {elsewhere} only at a later line that contradicts it. The remaining {missed:,}
returns are not challenged; if the lines after a mistake follow from it, only the rule for the mistaken line reveals
it. Of the {right:,} correct lines, {false:,} are challenged."""
GAME = """
The game was played with a generator that offers its draft, the amount of another line, and the correction from the
case; the rules, never the gold values, choose among these. Of {lines:,} lines, {before:,} were correct before the
game and {after:,} after it; of {count:,} returns, {returns:,} then had all nineteen lines correct. By the paper's
taxonomy, the lines belong to {cases}. The mean quality of a case (Q_SAC) is {named} for named mistakes and {random}
for random ones. These figures show that rules, engine and game work together; they do not measure a language
model."""


def assurance_lines(record: Figures) -> Iterator[str]:
    """The section, a row for each kind of mistake."""
    yield from ("## Challenged tax returns", "", origin(record))
    rows = [
        (
            kind.replace("_", " "),
            one["proposals"],
            f"{one['first_wrong_line_detected']}",
            f"{one['wrong_lines_challenged']} of {one['wrong_lines']}",
            f"{one['consistent_lines_challenged']}",
            f"{one['right_lines_challenged']} of {one['right_lines']:,}",
        )
        for kind, one in record["wrong_returns"].items()
    ]
    head = (
        "mistake",
        "returns >",
        "first wrong line challenged >",
        "wrong lines challenged >",
        "consistent lines challenged >",
        "correct lines challenged >",
    )
    yield from table(head, rows)
    right, times, quality = (record[key] for key in ("right_returns", "milliseconds_per_return", "quality_of_cases"))
    yield NOTE.format(
        returns=right["returns"],
        lines=right["lines"],
        challenged=right["lines_challenged"],
        differing=right["lines_apart_from_second_implementation"],
        **times,
        **false_cases(record),
    )
    games = record["games"].values()
    totals = {key: sum(game.get(key, 0) for game in games) for key in sorted({key for game in games for key in game})}
    cases = " and ".join(f"{key} ({count:,} lines)" for key, count in totals.items() if "case " in key)
    yield GAME.format(
        lines=totals["lines"],
        before=totals["right_before"],
        after=totals["right_after"],
        cases=cases,
        count=sum(one["proposals"] for one in record["wrong_returns"].values()),
        returns=totals["returns_right_after"],
        named=number(quality["named"]),
        random=number(quality["random"]),
    )


def false_cases(record: Figures) -> Figures:
    """How many right lines of wrong proposals are challenged, of how many, and their share."""
    kinds = record["wrong_returns"].values()
    false, right = (sum(one[key] for one in kinds) for key in ("right_lines_challenged", "right_lines"))
    return {"false": false, "right": right, "share": percent(false / right)}


def incomplete_lines(record: Figures) -> Iterator[str]:
    """The section on half of the rules."""
    yield from ("### With half of the rules", "", origin(record))
    kinds = record["wrong_returns"]
    keys = ("returns", "first_wrong_line_challenged", "challenged_elsewhere", "nothing_challenged")
    head = ("mistake", "returns >", "first wrong line challenged >", "only a later line challenged >", "no case >")
    yield from table(head, [(kind.replace("_", " "), *(one[key] for key in keys)) for kind, one in kinds.items()])
    returns, first, elsewhere, missed = (sum(one[key] for one in kinds.values()) for key in keys)
    found = wilson(first + elsewhere, returns)
    yield INCOMPLETE.format(
        kept=record["rules_kept"],
        rules=record["rules"],
        returns=returns,
        found=percent(found.estimate),
        low=percent(found.low),
        high=percent(found.high),
        first=percent(first / returns),
        elsewhere=percent(elsewhere / returns),
        missed=missed,
        **false_cases(record),
    )


def percent(share: float | None) -> str:
    """A share in percent, with one decimal; nothing for none."""
    return "" if share is None else f"{100 * share:.1f} %"
