"""Asks the reader 200 derivations and their wrong twins: what a text does not say but what follows from its numbers.

    python recipes/reader/mirror.py embedded:runs/reader

Each pair is a value that follows from the text and the same sentence with a wrong value. Prints how many pairs have
both right, how many have the right one higher, by kind. Texts, names and numbers are drawn with a seed and are in no
corpus.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from vouching.embedded.verify import open_embedded
from vouching.types import Claim, Source

Pair = tuple[str, str, str]
"""A text, what follows from it, and what does not."""
PLACES = ("Alverden", "Brosk", "Calthorpe", "Dunmere", "Estrand", "Fenwick", "Gorsby", "Hollin")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def sums(draw: random.Random) -> Pair:
    """A total of three counts."""
    a, b, c = (draw.randrange(11, 90) for _ in range(3))
    text = f"The depot in {draw.choice(PLACES)} holds {a} bicycles, {b} scooters and {c} trailers."
    total = a + b + c
    return (
        text,
        f"The depot holds {total} vehicles in total.",
        f"The depot holds {total + draw.randrange(3, 20)} vehicles in total.",
    )


def differences(draw: random.Random) -> Pair:
    """A change between two years."""
    before, more = draw.randrange(400, 900), draw.randrange(20, 200)
    text = f"The library of {draw.choice(PLACES)} lent {before} books in May and {before + more} in June."
    return (
        text,
        f"It lent {more} more books in June than in May.",
        f"It lent {more + draw.randrange(10, 60)} more books in June than in May.",
    )


def shares(draw: random.Random) -> Pair:
    """A percentage of a total."""
    percent, total = draw.choice((10, 20, 25, 40, 50, 75)), 20 * draw.randrange(5, 40)
    part = total * percent // 100
    wrong = draw.choice([p for p in (10, 20, 25, 40, 50, 75) if p != percent])
    text = f"Of the {total} members of the rowing club, {part} voted for the new boathouse."
    return text, f"{percent} % of the members voted for it.", f"{wrong} % of the members voted for it."


def ratios(draw: random.Random) -> Pair:
    """One value as a multiple of another."""
    times, base = draw.choice((("twice", 2), ("three times", 3), ("four times", 4))), draw.randrange(12, 60)
    wrong = draw.choice([name for name, _ in (("twice", 2), ("three times", 3), ("four times", 4)) if name != times[0]])
    a, b = draw.sample(PLACES, 2)
    text = f"The pump in {a} moves {base * times[1]} litres a minute; the one in {b} moves {base}."
    return (
        text,
        f"The pump in {a} moves {times[0]} as much as the one in {b}.",
        f"The pump in {a} moves {wrong} as much as the one in {b}.",
    )


def products(draw: random.Random) -> Pair:
    """A price for several."""
    count, price = draw.randrange(3, 12), draw.randrange(7, 40)
    text = f"A berth in the harbour of {draw.choice(PLACES)} costs {price} euros a night."
    wrong = count * price + draw.choice((price, -price, 10))
    return (
        text,
        f"A berth costs {count * price} euros for {count} nights.",
        f"A berth costs {wrong} euros for {count} nights.",
    )


def durations(draw: random.Random) -> Pair:
    """The time between two clock times."""
    start, minutes = 60 * draw.randrange(7, 15), 5 * draw.randrange(5, 30)
    end = start + minutes
    clock = ["{:02}:{:02}".format(*divmod(at, 60)) for at in (start, end)]
    text = f"The ferry to {draw.choice(PLACES)} leaves at {clock[0]} and arrives at {clock[1]}."
    return (
        text,
        f"The crossing takes {minutes} minutes.",
        f"The crossing takes {minutes + draw.choice((15, 25, -20))} minutes.",
    )


def weekdays(draw: random.Random) -> Pair:
    """The weekday some days later."""
    day, later = draw.randrange(7), draw.randrange(2, 6)
    text = f"The parcel for {draw.choice(PLACES)} is sent on {DAYS[day]} and arrives {later} days later."
    right, wrong = (DAYS[(day + later + shift) % 7] for shift in (0, draw.randrange(1, 6)))
    return text, f"The parcel arrives on a {right}.", f"The parcel arrives on a {wrong}."


def dates(draw: random.Random) -> Pair:
    """A date some days after another."""
    first, days = date(2025, draw.randrange(1, 12), draw.randrange(1, 28)), draw.randrange(10, 40)
    last = first + timedelta(days)
    wrong = last + timedelta(draw.choice((5, 9, -6)))
    text = f"The exhibition in {draw.choice(PLACES)} opens on {first:%-d %B %Y} and closes {days} days later."
    return text, f"The exhibition closes on {last:%-d %B %Y}.", f"The exhibition closes on {wrong:%-d %B %Y}."


def conversions(draw: random.Random) -> Pair:
    """A length in another unit."""
    metres = 100 * draw.randrange(12, 90)
    text = f"The tunnel under {draw.choice(PLACES)} is {metres:,} metres long."
    wrong = metres + draw.choice((1500, 700, 2300))
    return text, f"The tunnel is {metres / 1000:g} km long.", f"The tunnel is {wrong / 1000:g} km long."


def ranks(draw: random.Random) -> Pair:
    """The largest of a table."""
    names, values = draw.sample(PLACES, 4), draw.sample(range(120, 980), 4)
    order = [name for _, name in sorted(zip(values, names, strict=True), reverse=True)]
    rows = "".join(f"| {name} | {value} |\n" for name, value in zip(names, values, strict=True))
    text = f"| Station | Passengers |\n|---|---|\n{rows}"
    return text, f"{order[0]} has the most passengers.", f"{order[draw.randrange(1, 4)]} has the most passengers."


def ranges(draw: random.Random) -> Pair:
    """Whether a case is in a range."""
    low, high = draw.randrange(10, 30), draw.randrange(50, 90)
    case, other = draw.randrange(low + 2, high - 2), draw.choice((low - 5, high + 12))
    text = f"Parcels of {low} to {high} kg are accepted at the counter in {draw.choice(PLACES)}; others are refused."
    return (
        text,
        f"A parcel of {case} kg is accepted at the counter.",
        f"A parcel of {other} kg is accepted at the counter.",
    )


def counts(draw: random.Random) -> Pair:
    """The number of items of a list."""
    number = draw.randrange(3, 8)
    names = draw.sample(PLACES, number)
    text = "The line stops at:\n" + "".join(f"- {name}\n" for name in names)
    return text, f"The line has {number} stops.", f"The line has {number + draw.choice((1, 2, -1))} stops."


KINDS: tuple[Callable[[random.Random], Pair], ...] = (
    sums,
    differences,
    shares,
    ratios,
    products,
    durations,
    weekdays,
    dates,
    conversions,
    ranks,
    ranges,
    counts,
)


def pairs(number: int, seed: int) -> Iterator[tuple[str, Pair]]:
    """The kind and the pair, kinds in turn."""
    draw = random.Random(seed)
    for at in range(number):
        kind = KINDS[at % len(KINDS)]
        yield kind.__name__, kind(draw)


def main() -> None:
    """Judge the pairs and print what was right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verifier", nargs="?", default="embedded")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    verifier = open_embedded(options.verifier)
    by_kind: dict[str, list[tuple[bool, bool]]] = {}
    for kind, (text, right, wrong) in pairs(options.pairs, options.seed):
        one, other = verifier.judge_all([Claim(right), Claim(wrong)], [Source(text)])
        by_kind.setdefault(kind, []).append((one.attributable and not other.attributable, one.score > other.score))
    every = [entry for entries in by_kind.values() for entry in entries]
    figures = {
        kind: {"pairs": len(e), "both_right": sum(a for a, _ in e), "right_one_higher": sum(b for _, b in e)}
        for kind, e in {**by_kind, "all": every}.items()
    }
    print(json.dumps({"verifier": options.verifier, "seed": options.seed, "figures": figures}, indent=1))


if __name__ == "__main__":
    main()
