"""The language of executable rules: the values it gives, what it refuses, and that it ends."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import ends_within
from vouching.errors import InputError
from vouching.methods.assurance.evaluate import MAX_STEPS, Inputs, evaluate
from vouching.methods.assurance.expression import ExpressionError, MissingValueError, parse
from vouching.types import Value

DATA = {"a": 3, "b": -7, "c": 0, "list": [4, -2, 9]}


def worked(text: str, **inputs: object) -> Value:
    return evaluate(parse(text), Inputs(**inputs)).value  # pyright: ignore[reportArgumentType]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """An expression with a whole number as its value, in the syntax that Python and the language share."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["data.a", "data.b", "data.c", "data.list[1]"]) | st.integers(-9, 9).map(str))
    one, two, three = (draw(expressions(depth - 1)) for _ in range(3))
    sign = draw(st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
    test = draw(
        st.sampled_from(
            [f"{one} {sign} {two}", f"{one} < {two} <= {three}", f"not {one} < 3 and {two} > 1 or {three} in [1, 2]"]
        )
    )
    return draw(
        st.sampled_from(
            [
                *(f"({one} {sign} {two})" for sign in ("+", "-", "*", "//", "%")),
                f"(-{one})",
                f"abs({one})",
                f"min({one}, {two})",
                f"max({one}, {two}, 2)",
                f"sum(x * {one} for x in data.list if x > 0)",
                f"max(x - {one} for x in data.list)",
                f"({one} if {test} else {two})",
            ]
        )
    )


@given(expressions())
def test_whole_numbers_come_out_as_in_python(text: str) -> None:
    try:
        # Python's own integers, and nothing else, are what the language is compared with.
        expected = eval(text, {"data": SimpleNamespace(**DATA)})
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="divides by zero"):
            worked(text, data=DATA)
        return
    assert worked(text, data=DATA) == expected


@given(st.fractions(-99, 99, max_denominator=50), st.fractions(1, 99, max_denominator=50))
def test_division_is_right_to_thirty_digits(one: Fraction, other: Fraction) -> None:
    text = f"({one.numerator} / {one.denominator}) / ({other.numerator} / {other.denominator})"
    found = worked(text)
    assert isinstance(found, Decimal)
    assert abs(Fraction(found) - one / other) <= abs(one / other) * Fraction(1, 10**30)


@given(st.decimals(-1000, 1000, places=3), st.integers(0, 2))
def test_halves_are_rounded_away_from_zero(number: Decimal, places: int) -> None:
    # Written with whole numbers: floor of the absolute value times 10^places plus a half, and the sign again.
    size = (abs(Fraction(number)) * 10**places + Fraction(1, 2)) // 1
    expected = (-1 if number < 0 else 1) * Fraction(size, 10**places)
    assert Fraction(worked(f"round({number}, {places})")) == expected  # pyright: ignore[reportArgumentType]


def test_cents_are_cents() -> None:
    assert worked("0.1 + 0.2 == 0.3") is True
    assert worked("sum(data.x)", data={"x": [0.1] * 10}) == 1
    assert worked("amount(data.x) * 2", data={"x": "$1,234.50"}) == Decimal("2469")


def test_a_table_is_looked_up_by_key_and_by_band() -> None:
    table = {
        "rate": {"Oslo": 75},
        "bands": [{"from": 0, "tax": 0}, {"from": 100, "tax": 0.1}, {"from": 500, "tax": 0.2}],
    }
    assert worked("table.rate[data.city]", table=table, data={"city": "Oslo"}) == 75
    # 100 begins a band and belongs to it; 499.99 is still in the second.
    assert [worked(f"band(table.bands, {x}).tax", table=table) for x in (0, 100, 499.99, 500)] == [
        Decimal(0),
        Decimal("0.1"),
        Decimal("0.1"),
        Decimal("0.2"),
    ]
    with pytest.raises(MissingValueError, match="no row for -1"):
        worked("band(table.bands, -1).tax", table=table)
    with pytest.raises(ExpressionError, match=r"table\.bands\[1\]\.from must be a number for band, got a string"):
        worked("band(table.bands, 3).tax", table={"bands": [{"from": 0}, {"from": "high"}]})


def test_dates_have_days_between_them_and_an_order() -> None:
    # Leap year: 29 days in February 2024.
    assert worked('days("2024-03-01", "2024-02-01")') == 29
    assert worked('"2024-02-01" < "2024-03-01"') is True


def test_what_is_missing_is_an_error_unless_a_default_is_given() -> None:
    data = {"w2": [{"wages": None}]}
    for text in ("data.w2[0].wages", "data.w2[1].wages", "data.other.thing", "min(data.w2[0].list)", "1 in data.none"):
        with pytest.raises(MissingValueError):
            worked(text, data=data)
        assert worked(f"default({text}, 5)", data=data) == 5
        assert worked(f"has({text})", data=data) is False


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "data.__class__",
        "().__class__.__bases__",
        "open('x')",
        "lambda: 1",
        "[x for x in data.a]",
        "data.a.b()",
        "(data.a := 1)",
        "f'{data.a}'",
        "2 ** 99",
        "1 if True",
        "",
        "data[0:1]",
        "unit",
        "unit[data.a]",
        "sum(x for x in data.a for y in data.b)",
        "sum(data for data in data.a)",
        "min(*data.a)",
        "round(x=1)",
        "1j",
        "b'x'",
        "None",
        "...",
        "value.real",
        "{1: 2}",
        "exec('1')",
        "data.a\nimport os",
        "await data.a",
        "min()",
        "~1",
        "1 << 9",
        "data.a @ data.b",
        "1 is 1",
        "any(x)",
        "getattr(data, 'a')",
        "\x00",
        "\ud800",
        "data.a if",
    ],
)
def test_what_is_not_part_of_the_language_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        worked(text, data={"a": [1]}, value=Decimal(1))


@pytest.mark.parametrize(
    "text",
    [
        '"12" + 1',
        "True + 1",
        "data.name * 3",
        '1 < "2"',
        "1 == True",
        "not 1",
        "data == data",
        "True < False",
        "data.list and True",
        "sum(data.mixed)",
        "data.list",
        "1 if 1 else 2",
        "data.list[0.5]",
        "data.list['x']",
        "1 in 3",
        "days(3, 4)",
        "amount('1,23')",
        "round(1, 99)",
        "max(data.name)",
    ],
)
def test_values_of_different_types_do_not_mix(text: str) -> None:
    with pytest.raises(ExpressionError):
        worked(text, data={"name": "x", "list": [1], "mixed": [1, "2"]})


@pytest.mark.parametrize(
    "text",
    [
        "9" * 3000,
        "(" * 900 + "1" + ")" * 900,
        "-" * 1500 + "1",
        "1+" * 700 + "1",
        "not " * 450 + "True",
        "9" * 1900,
        "1e999999999",
        "999999999999999.0 * 999999999999999.0 * 999999999999999.0",
        "a." * 900 + "b",
        "[" * 1000,
    ],
)
def test_what_is_too_long_too_deep_or_too_large_is_refused_at_once(text: str) -> None:
    with ends_within(), pytest.raises(ExpressionError):
        worked(text)


def test_loops_in_loops_end_within_the_bound() -> None:
    data = {"x": [*range(2000)]}
    with pytest.raises(ExpressionError, match=f"{MAX_STEPS:,} steps"):
        worked("sum(sum(a * b for b in data.x) for a in data.x)", data=data)


@given(st.text(max_size=60) | st.text("()[]{}.,'\"+-*/%<>=!: dataunitvaluesumifelseforin0123456789_", max_size=80))
def test_any_text_has_a_value_or_is_an_input_error(text: str) -> None:
    try:
        found = worked(text, data={"a": [1, "x", None]}, value=Decimal(1))
    except InputError:
        return
    assert isinstance(found, Decimal | bool | str)


def test_the_inputs_of_the_value_are_recorded_and_no_others() -> None:
    data = {"items": [{"kind": "meal", "amount": 5}, {"kind": "taxi", "amount": 9}], "other": 1}
    text = 'sum(i.amount for i in data.items if i.kind == "meal") + unit["1a"]'
    found = evaluate(parse(text), Inputs(data=data, unit={"1a": Decimal(2)}))
    assert found.value == 7
    assert [*found.reads] == ["data.items[0].kind", "data.items[0].amount", 'unit["1a"]']


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("5 in data.long", {"long": list(range(400_000))}),
        ("count(i for i in data.few if data.one == data.two)", {"few": list(range(1_000)), "one": "x" * 99_999}),
        ("count(i for i in data.few if data.one in data.texts)", {"few": list(range(1_000)), "one": "x" * 99_999}),
    ],
)
def test_steps_are_counted_before_they_are_taken_and_long_texts_take_more_of_them(
    text: str, data: dict[str, Any]
) -> None:
    # 99,999 characters are 1,999 steps beside the comparison's own: a hundred comparisons of them are the bound.
    data = {"two": "".join("x" for _ in range(99_999)), **data}
    with ends_within(), pytest.raises(ExpressionError, match="more than 200,000 steps"):
        worked(text, data={**data, "texts": [data["two"][:-1] + "y"]})


@pytest.mark.parametrize("text", ["amount(data.t)", "days(data.t, data.t)", "data.o[data.t]"])
def test_a_long_text_is_shortened_in_the_message(text: str) -> None:
    with pytest.raises(ExpressionError) as error:
        worked(text, data={"t": "x" * 9_999, "o": {}})
    assert len(str(error.value)) < 200


def test_the_member_that_in_finds_is_among_the_inputs() -> None:
    data = {"drug": "b", "allergies": ["a", "b", "c"]}
    text = 'data.drug in data.allergies and data.drug not in ["x"]'
    assert [*evaluate(parse(text), Inputs(data=data)).reads] == ["data.drug", "data.allergies[1]"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("data.class.x", r'"class" cannot follow a dot, write \["class"\]'),
        ("value = 3", "use == to test equality"),
        ("a == 1 && b != 2", "use and, or, not instead"),
        ("!value", "use and, or, not instead"),
        (" ", "omit the field"),
        ("1 +", "is not an expression: invalid syntax$"),
    ],
)
def test_syntax_of_another_language_gets_a_hint(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError, match=hint):
        parse(text)
