"""What rounds did to sets: changes with intervals, how different they are, and where gains end."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evolve.boats import right, row, said, wrong
from vouching.bench.intervals import Figure
from vouching.errors import InputError
from vouching.evolve.fingerprint import MEAN, Fingerprint, alike, fingerprint_of, spread_of
from vouching.evolve.gate import gate
from vouching.evolve.page import tables_of, write_fingerprint
from vouching.evolve.records import Judged, read_record

ROWS = [
    row(number, "Attributable" if number % 2 else "Not Attributable", name)
    for name in ("a", "b", "c")
    for number in range(60)
]


def judged(rates: dict[str, float], seed: int) -> list[Judged]:
    """Answers that are right this often in each set."""
    draw = random.Random(seed)
    return [said(one, one.attributable == (draw.random() < rates[one.data_set])) for one in ROWS]


def rounds(*rates: dict[str, float]) -> Fingerprint:
    bases = [None, *range(len(rates) - 1)]
    answers = [judged(one, seed) for seed, one in enumerate(rates)]
    return fingerprint_of(answers, bases, [True] * len(rates), 500)


def figure(estimate: float, half: float) -> Figure:
    return {"estimate": estimate, "low": estimate - half, "high": estimate + half, "why_not": None}


def test_a_round_that_helps_one_set_and_harms_another_has_a_spread() -> None:
    flat = {"a": 0.7, "b": 0.7, "c": 0.7}
    found = rounds(flat, {"a": 1.0, "b": 0.3, "c": 0.7})
    [spread] = found.spreads
    assert spread.gained == ("a",)
    assert spread.lost == ("b",)
    # True changes of +.3, -.4 and 0 have a standard deviation of about .35.
    assert spread.spread == pytest.approx(0.35, abs=0.12)
    assert spread.heterogeneity is not None
    assert spread.heterogeneity > 0.8


def test_sets_that_change_alike_have_no_spread() -> None:
    """The same change everywhere: Q = 0, which is less than the k - 1 = 2 that chance alone gives on average."""
    found = spread_of({name: (figure(0.1, 0.05), 50) for name in "abc"})
    assert (found.spread, found.heterogeneity, found.gained) == (0.0, 0.0, ("a", "b", "c"))


def test_the_spread_is_that_of_dersimonian_and_laird() -> None:
    """Weights are 1 / (.098 / 1.96)^2 = 400, the mean 0, Q = 400 (.04 + .04) = 32; tau^2 = (32 - 2) / (1200 - 400)."""
    found = spread_of({"a": (figure(0.2, 0.098), 99), "b": (figure(-0.2, 0.098), 99), "c": (figure(0.0, 0.098), 99)})
    assert found.spread == pytest.approx((30 / 800) ** 0.5, abs=1e-4)
    assert found.heterogeneity == pytest.approx(1 - 2 / 32, abs=1e-4)


def test_a_set_without_an_interval_counts_only_if_nothing_changed_there() -> None:
    none: Figure = {"estimate": 0.3, "low": None, "high": None, "why_not": "9 groups"}
    same: Figure = {"estimate": 0.0, "low": None, "high": None, "why_not": "every resample gives the same value"}
    changes = {"a": (figure(0.1, 0.1), 50), "b": (figure(0.1, 0.1), 50)}
    assert spread_of({**changes, "c": (none, 50)}).spread is None
    assert spread_of({**changes, "c": (same, 50)}).sets == 3


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 0.5)), min_size=3, max_size=12), st.floats(0.1, 10))
def test_a_spread_is_never_negative_and_scales_with_the_unit(pairs: list[tuple[float, float]], unit: float) -> None:
    rows = 10**9  # so that no interval is narrower than one row
    plain = spread_of({str(k): (figure(*pair), rows) for k, pair in enumerate(pairs)})
    scaled = spread_of({str(k): (figure(x * unit, half * unit), rows) for k, (x, half) in enumerate(pairs)})
    assert plain.spread is not None
    assert scaled.spread is not None
    assert plain.spread >= 0
    assert scaled.spread == pytest.approx(plain.spread * unit, abs=2e-4 * max(1, unit))
    assert scaled.heterogeneity == pytest.approx(plain.heterogeneity, abs=1e-3)


def test_gains_end_with_the_last_round_whose_mean_is_above_the_one_it_started_from() -> None:
    levels = (0.6, 0.9, 0.9, 0.9)
    found = rounds(*(dict.fromkeys("abc", level) for level in levels))
    assert found.saturated_after == 1
    down = rounds(*(dict.fromkeys("abc", level) for level in (0.9, 0.8, 0.6)))
    assert down.saturated_after == 0


def test_changes_are_those_that_the_gate_measures() -> None:
    found = rounds({"a": 0.7, "b": 0.6, "c": 0.9}, {"a": 0.8, "b": 0.7, "c": 0.6})
    before, after = judged({"a": 0.7, "b": 0.6, "c": 0.9}, 0), judged({"a": 0.8, "b": 0.7, "c": 0.6}, 1)
    decided = {one.data_set: one for one in gate(before, after, resamples=500).changes}
    for name in "abc":
        line = found.line(name)
        assert line.changes[0]["estimate"] == decided[name].difference["estimate"]
        assert line.levels == (decided[name].before, decided[name].after)
    means = [sum(found.line(name).levels[k] or 0 for name in "abc") / 3 for k in (0, 1)]
    assert found.line(MEAN).levels == pytest.approx(means, abs=1e-4)


def test_evolutions_that_do_the_same_are_alike_and_those_that_do_the_opposite_are_not() -> None:
    flat = {"a": 0.7, "b": 0.7, "c": 0.7}
    one = rounds(flat, {"a": 1.0, "b": 0.4, "c": 0.7})
    other = rounds(flat, {"a": 0.4, "b": 1.0, "c": 0.7})
    assert alike(one, one, 1) == 1.0
    assert (alike(one, other, 1) or 0) < -0.8
    same = rounds(flat, flat)
    nothing = fingerprint_of([judged(flat, 0), judged(flat, 0)], [None, 0], [True, True], 500)
    assert alike(same, nothing, 1) is None


def test_a_row_that_a_round_did_not_answer_is_in_no_figure() -> None:
    answers = [judged({"a": 0.7, "b": 0.7, "c": 0.7}, seed) for seed in (0, 1)]
    answers[1][0] = Judged(ROWS[0], unverified="backend: out of reach")
    found = fingerprint_of(answers, [None, 0], [True, True], 500)
    assert found.excluded == 1
    assert found.line("a").rows == 59


def test_errors_of_a_type_are_counted_beside_their_share() -> None:
    errors = [row(n, "Not Attributable", error_type="temporal_shift" if n < 3 else None) for n in range(12)]
    found = fingerprint_of([wrong(errors), right(errors)], [None, 0], [True, True], 500)
    assert (found.type_rows, found.types) == ({"temporal_shift": 3}, {"temporal_shift": (0.0, 1.0)})
    [table] = [one for one in tables_of(found) if one.heading.startswith("Share of errors found")]
    assert table.rows[0][:2] == ("temporal_shift", "3")


def test_rounds_have_one_scale_and_the_mean_is_also_shown_without_the_inserted_errors(
    tmp_path: Path,
) -> None:
    rows = [*ROWS, *(row(n, "Not Attributable", "typed", "temporal_shift") for n in range(40))]
    answers = [[said(one, one.attributable == (k % part > 0)) for k, one in enumerate(rows)] for part in (3, 4, 9)]
    found = fingerprint_of(answers, [None, 0, 1], [True] * 3, 200)
    tables = {table.heading: {line[0]: line for line in table.rows} for table in tables_of(found)}
    levels = tables["Macro F1 (accuracy for sets with one class)"]
    natural = [sum(found.line(name).levels[k] or 0 for name in "abc") / 3 for k in range(3)]
    assert levels["mean of sets without typed"][1:] == ("180", *(f"{level:.3f}" for level in natural))
    changes = tables["Macro F1 (accuracy for sets with one class): change since round 0, with 95 % interval"]
    assert changes["mean of sets without typed"][2] == f"{natural[2] - natural[0]:+.3f}"
    write_fingerprint(tmp_path, found, "What evolved")
    page = (tmp_path / "fingerprint.html").read_text(encoding="utf-8")
    drawn = [
        re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', part)
        for part in page.split("<title>Change from round 0 to round ")[1:3]
    ]
    ends = [[tick for tick in one if tick.startswith(("+", "-"))] for one in drawn]
    assert ends[0]
    assert ends[0] == ends[1][: len(ends[0])]
    assert "contains only inserted errors" in page


def test_answers_to_other_rows_are_refused() -> None:
    answers = judged({"a": 0.7, "b": 0.7, "c": 0.7}, 0)
    with pytest.raises(InputError, match="answers to the same rows"):
        fingerprint_of([answers, answers[1:]], [None, 0], [True, True], 500)
    with pytest.raises(InputError, match="at least one"):
        fingerprint_of([[], []], [None, 0], [True, True], 500)


def test_the_page_has_every_set_and_fetches_nothing(tmp_path: Path) -> None:
    found = rounds(*(dict.fromkeys("abc", level) for level in (0.6, 0.8, 0.9)))
    write_fingerprint(tmp_path, found, "boats <b>")
    assert read_record(tmp_path / "fingerprint.json", Fingerprint) == found
    page = (tmp_path / "fingerprint.html").read_text(encoding="utf-8")
    assert "boats &lt;b&gt;" in page
    assert page.count("<svg") >= 3
    assert not [
        mark for mark in ("http://", "https://", "src=") if mark in page.replace("http://www.w3.org/2000/svg", "")
    ]
    tables = [*tables_of(found)]
    cells = list(itertools.chain.from_iterable(line for table in tables for line in table.rows))
    assert {"a", "b", "c", MEAN} <= {*cells}
