"""The section of docs/figures.md on challenged tax returns."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, number, origin, table

NOTE = """
Right returns: {returns:,}, with {lines:,} lines; the engine and a second implementation differ on {apart} of them, the
rules challenge {challenged}. A return takes {median} ms (median; slowest {slowest} ms). Named mistakes are those of
[taxes.md](taxes.md); the random corruptions were made after the rules, which were not changed for them. The first
wrong line is the one where the mistake was made. A line that follows well from a wrong one is no case of its own, so
most wrong lines are let pass; and a line that is right but does not follow from a wrong one before it is challenged,
which is the last column."""
GAME = """
Played with a generator that offers its draft, another line's amount and the case's correction, of which one is chosen
by the rules, never by gold: of {lines:,} lines {before:,} were right before and {after:,} after, of {count:,} returns
all nineteen lines of {returns:,}. Cases of the paper's taxonomy: {cases}. Mean Q_SAC of all cases: {named} on named
mistakes, {random} on random ones. These figures say that rules, engine and game fit together; they say nothing of a
language model."""


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
    head = ("mistake", "returns >", "first wrong line challenged >", "wrong lines challenged >",
            "lines that follow challenged >", "right lines challenged >")  # fmt: skip
    yield from table(head, rows)
    right, times, quality = (record[key] for key in ("right_returns", "milliseconds_per_return", "quality_of_cases"))
    yield NOTE.format(
        returns=right["returns"], lines=right["lines"], challenged=right["lines_challenged"],
        apart=right["lines_apart_from_second_implementation"], **times,
    )  # fmt: skip
    games = record["games"].values()
    totals = {key: sum(game.get(key, 0) for game in games) for key in sorted({key for game in games for key in game})}
    cases = ", ".join(f"{key.removeprefix('case ')}: {count:,}" for key, count in totals.items() if "case " in key)
    yield GAME.format(
        lines=totals["lines"], before=totals["right_before"], after=totals["right_after"], cases=cases,
        count=sum(one["proposals"] for one in record["wrong_returns"].values()),
        returns=totals["returns_right_after"], named=number(quality["named"]), random=number(quality["random"]),
    )  # fmt: skip
