"""Every unit of the table converts as pint converts it."""

from __future__ import annotations

from typing import Any

import pytest

from vouching.text.units import _TABLE, _ZEROS, Unit

pint = pytest.importorskip("pint", reason="needs pint")

PINT = {
    "nm": "nanometer",
    "um": "micrometer",
    "mm": "millimeter",
    "cm": "centimeter",
    "m": "meter",
    "km": "kilometer",
    "inch": "inch",
    "ft": "foot",
    "yard": "yard",
    "mile": "mile",
    "nautical_mile": "nautical_mile",
    "light_year": "light_year",
    "mg": "milligram",
    "g": "gram",
    "kg": "kilogram",
    "tonne": "metric_ton",
    "ton": "short_ton",
    "oz": "ounce",
    "lb": "pound",
    "sq_m": "meter**2",
    "sq_km": "kilometer**2",
    "sq_ft": "foot**2",
    "sq_mile": "mile**2",
    "acre": "4840 yard**2",
    "hectare": "hectare",
    "ml": "milliliter",
    "litre": "liter",
    "cubic_m": "meter**3",
    "pint": "pint",
    "gallon": "gallon",
    "barrel": "oil_barrel",
    "celsius": "degC",
    "fahrenheit": "degF",
    "kelvin": "kelvin",
    "degree": "degree",
    "m_s": "meter/second",
    "km_h": "kilometer/hour",
    "mph": "mile/hour",
    "knot": "knot",
    "w": "watt",
    "kw": "kilowatt",
    "mw": "megawatt",
    "gw": "gigawatt",
    "tw": "terawatt",
    "horsepower": "horsepower",
    "j": "joule",
    "kj": "kilojoule",
    "kcal": "kilocalorie",
    "kwh": "kilowatt_hour",
    "mwh": "megawatt_hour",
    "gwh": "gigawatt_hour",
    "twh": "terawatt_hour",
    "volt": "volt",
    "kv": "kilovolt",
    "hz": "hertz",
    "khz": "kilohertz",
    "mhz": "megahertz",
    "ghz": "gigahertz",
    "byte": "byte",
    "kb": "kilobyte",
    "mb": "megabyte",
    "gb": "gigabyte",
    "tb": "terabyte",
    "pb": "petabyte",
    "mbps": "megabit/second",
    "gbps": "gigabit/second",
    "ms": "millisecond",
    "second": "second",
    "minute": "minute",
    "hour": "hour",
    "day": "day",
    "week": "week",
    "fortnight": "fortnight",
    "month": "month",
    "year": "year",
    "decade": "10 year",
    "century": "century",
    "millennium": "millennium",
}
BASES = {
    "length": "meter",
    "mass": "kilogram",
    "area": "meter**2",
    "volume": "meter**3",
    "temperature": "degC",
    "angle": "degree",
    "speed": "meter/second",
    "power": "watt",
    "energy": "joule",
    "voltage": "volt",
    "frequency": "hertz",
    "data": "byte",
    "data_rate": "bit/second",
    "time": "second",
}
WITHOUT_PINT = {"percentage_point", "currency"}
"""Dimensions that pint does not have: points of a percentage, and money."""
ROWS = [row for row in _TABLE if row[1] not in WITHOUT_PINT]


def quantity(value: float, unit: str) -> Any:
    """A reading as pint has it."""
    registry = pint.get_application_registry()
    if unit[0].isdigit():
        return value * registry.parse_expression(unit)
    return registry.Quantity(value, unit)


@pytest.mark.parametrize(("name", "dimension", "factor"), [row[:3] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_unit_converts_as_pint_converts_it(name: str, dimension: str, factor: float) -> None:
    ours = Unit(name, dimension, factor, _ZEROS.get(name, 0.0))
    for value in (0.0, 1.0, 37.5, -12.25):
        expected = quantity(value, PINT[name]).to(BASES[dimension]).magnitude
        # The table has a knot to six digits.
        assert ours.to_base(value) == pytest.approx(expected, rel=1e-6, abs=1e-12)


DIFFERING = {"acre", "acres", "decade", "decades", "barrel", "barrels", "bbl", "calorie", "calories", "kilos"}
"""Not the same to pint: the US survey acre, the logarithmic decade, the dry barrel, the small calorie, 1000 seconds."""


def test_a_spelling_that_pint_knows_too_means_the_same_unit() -> None:
    registry = pint.get_application_registry()
    compared = 0
    differing: set[str] = set()
    for _, dimension, factor, symbols, words in ROWS:
        if dimension == "temperature":
            continue
        plurals = [f"{word}s" for word in words.split("|")]
        for spelling in filter(None, [*symbols.split("|"), *words.split("|"), *plurals]):
            if spelling.isidentifier() and spelling in registry:
                compared += 1
                theirs = registry.Quantity(1.0, spelling)
                base = registry.Unit(BASES[dimension])
                if not theirs.check(base.dimensionality) or theirs.to(base).magnitude != pytest.approx(
                    factor, rel=1e-6
                ):
                    differing.add(spelling)
    assert compared > 100
    assert differing == DIFFERING
