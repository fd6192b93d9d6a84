"""Units of measure and currencies: how they are spelled, what they measure and how they convert.

Not supported: prefixes and spellings that clash with everyday words ("in" for inch, "stone", "C" without a degree
sign), exchange rates, and the imperial/US difference of gallon, pint and ton (the US values are used).
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit with its conversion to the base unit of its dimension."""

    name: str
    """Normalised, for example ``"km"``."""
    dimension: str
    """What it measures, for example ``"length"``; units of one dimension can be compared."""
    factor: float
    """Base units in one of this unit (1 km is 1000 base metres)."""
    zero: float = 0.0
    """Reading of this unit that means zero in the base unit (32 for Fahrenheit, whose base is Celsius)."""

    def to_base(self, value: float) -> float:
        """Convert a reading in this unit to the base unit.

        >>> Unit("km", "length", 1000.0).to_base(5)
        5000.0
        """
        return (value - self.zero) * self.factor


COUNT = Unit("", "count", 1.0)
"""The unit of a bare number."""
PERCENT = Unit("percent", "ratio", 0.01)
"""Hundredths; the base is the plain ratio, so a third and 33 % are comparable."""
RATIO = Unit("", "ratio", 1.0)
"""The unit of a fraction such as "one-third"."""
ORDINAL = Unit("", "ordinal", 1.0)
"""The unit of a rank such as "third"."""
MULTIPLE = Unit("", "multiple", 1.0)
"""The unit of a factor such as "threefold"."""

_DAY = 86_400.0
_YEAR = 365.25 * _DAY

# One line per unit: name, dimension, factor to the base unit, symbols (exact case), words (any case).
_TABLE: tuple[tuple[str, str, float, str, str], ...] = (
    ("percentage_point", "percentage_point", 1.0, "pp", "percentage point|percentage points"),
    ("basis_point", "percentage_point", 0.01, "bp|bps", "basis point|basis points"),
    ("nm", "length", 1e-9, "nm", "nanometre|nanometer"),
    ("um", "length", 1e-6, "µm|μm", "micrometre|micrometer|micron"),
    ("mm", "length", 0.001, "mm", "millimetre|millimeter"),
    ("cm", "length", 0.01, "cm", "centimetre|centimeter"),
    ("m", "length", 1.0, "m", "metre|meter"),
    ("km", "length", 1000.0, "km|kms", "kilometre|kilometer"),
    ("inch", "length", 0.0254, "″", "inch|inches"),
    ("ft", "length", 0.3048, "ft|′", "foot|feet"),
    ("yard", "length", 0.9144, "yd|yds", "yard"),
    ("mile", "length", 1609.344, "mi", "mile"),
    ("nautical_mile", "length", 1852.0, "nmi", "nautical mile"),
    ("light_year", "length", 9.4607304725808e15, "ly", "light year"),
    ("mg", "mass", 1e-6, "mg", "milligram|milligramme"),
    ("g", "mass", 0.001, "g", "gram|gramme"),
    ("kg", "mass", 1.0, "kg|kgs", "kilogram|kilogramme|kilo"),
    ("tonne", "mass", 1000.0, "", "tonne|metric ton|metric tonne"),
    ("ton", "mass", 907.18474, "", "ton|short ton"),
    ("oz", "mass", 0.028349523125, "oz", "ounce"),
    ("lb", "mass", 0.45359237, "lb|lbs", "pound"),
    ("sq_m", "area", 1.0, "m²|m2|sqm", "square metre|square meter"),
    ("sq_km", "area", 1e6, "km²|km2", "square kilometre|square kilometer|sq km"),
    ("sq_ft", "area", 0.09290304, "ft²|sqft", "square foot|square feet|sq ft"),
    ("sq_mile", "area", 2_589_988.110336, "mi²", "square mile|sq mi"),
    ("acre", "area", 4046.8564224, "", "acre"),
    ("hectare", "area", 10_000.0, "ha", "hectare"),
    ("ml", "volume", 1e-6, "ml|mL", "millilitre|milliliter"),
    ("litre", "volume", 0.001, "l|L", "litre|liter"),
    ("cubic_m", "volume", 1.0, "m³|m3", "cubic metre|cubic meter"),
    ("pint", "volume", 0.000473176473, "", "pint"),
    ("gallon", "volume", 0.003785411784, "gal", "gallon"),
    ("barrel", "volume", 0.158987294928, "bbl", "barrel"),
    (
        "celsius",
        "temperature",
        1.0,
        "°C",
        "degree celsius|degrees celsius|degrees c|celsius|degrees centigrade|centigrade",
    ),
    ("fahrenheit", "temperature", 5 / 9, "°F", "degree fahrenheit|degrees fahrenheit|degrees f|fahrenheit"),
    ("kelvin", "temperature", 1.0, "", "kelvin"),
    ("degree", "angle", 1.0, "°", "degree"),
    ("m_s", "speed", 1.0, "m/s", "metres per second|meters per second"),
    ("km_h", "speed", 1 / 3.6, "km/h|kph|kmh", "kilometres per hour|kilometers per hour|km per hour"),
    ("mph", "speed", 0.44704, "mph", "miles per hour|miles an hour|mile per hour"),
    ("knot", "speed", 0.514444, "kn|kt", "knot"),
    ("w", "power", 1.0, "W", "watt"),
    ("kw", "power", 1e3, "kW", "kilowatt"),
    ("mw", "power", 1e6, "MW", "megawatt"),
    ("gw", "power", 1e9, "GW", "gigawatt"),
    ("tw", "power", 1e12, "TW", "terawatt"),
    ("horsepower", "power", 745.69987, "hp", "horsepower"),
    ("j", "energy", 1.0, "J", "joule"),
    ("kj", "energy", 1e3, "kJ", "kilojoule"),
    ("kcal", "energy", 4184.0, "kcal", "kilocalorie|calorie"),
    ("kwh", "energy", 3.6e6, "kWh", "kilowatt hour"),
    ("mwh", "energy", 3.6e9, "MWh", "megawatt hour"),
    ("gwh", "energy", 3.6e12, "GWh", "gigawatt hour"),
    ("twh", "energy", 3.6e15, "TWh", "terawatt hour"),
    ("volt", "voltage", 1.0, "V", "volt"),
    ("kv", "voltage", 1e3, "kV", "kilovolt"),
    ("hz", "frequency", 1.0, "Hz", "hertz"),
    ("khz", "frequency", 1e3, "kHz", "kilohertz"),
    ("mhz", "frequency", 1e6, "MHz", "megahertz"),
    ("ghz", "frequency", 1e9, "GHz", "gigahertz"),
    ("byte", "data", 1.0, "", "byte"),
    ("kb", "data", 1e3, "KB|kB", "kilobyte"),
    ("mb", "data", 1e6, "MB", "megabyte"),
    ("gb", "data", 1e9, "GB", "gigabyte"),
    ("tb", "data", 1e12, "TB", "terabyte"),
    ("pb", "data", 1e15, "PB", "petabyte"),
    ("mbps", "data_rate", 1e6, "Mbps|Mbit/s", "megabits per second"),
    ("gbps", "data_rate", 1e9, "Gbps|Gbit/s", "gigabits per second"),
    ("ms", "time", 0.001, "ms", "millisecond"),
    ("second", "time", 1.0, "s", "second|sec|secs"),
    ("minute", "time", 60.0, "min|mins", "minute"),
    ("hour", "time", 3600.0, "h|hr|hrs", "hour"),
    ("day", "time", _DAY, "", "day"),
    ("week", "time", 7 * _DAY, "", "week"),
    ("fortnight", "time", 14 * _DAY, "", "fortnight"),
    ("month", "time", _YEAR / 12, "", "month"),
    ("year", "time", _YEAR, "yr|yrs", "year"),
    ("decade", "time", 10 * _YEAR, "", "decade"),
    ("century", "time", 100 * _YEAR, "", "century|centuries"),
    ("millennium", "time", 1000 * _YEAR, "", "millennium|millennia"),
    ("USD", "currency", 1.0, "$|USD|US$", "dollar|us dollar|american dollar"),
    ("USD", "currency", 0.01, "¢", "cent"),
    ("EUR", "currency", 1.0, "€|EUR", "euro"),
    ("GBP", "currency", 1.0, "£|GBP", "pounds sterling|british pound"),
    ("GBP", "currency", 0.01, "", "pence|penny|p"),
    ("JPY", "currency", 1.0, "¥|JPY", "yen|japanese yen"),
    ("INR", "currency", 1.0, "₹|INR|Rs|Rs.", "rupee|indian rupee"),
    ("CNY", "currency", 1.0, "CNY|RMB", "yuan|renminbi"),
    ("CHF", "currency", 1.0, "CHF", "swiss franc"),
    ("CHF", "currency", 0.01, "", "rappen"),
    ("AUD", "currency", 1.0, "A$|AUD", "australian dollar"),
    ("CAD", "currency", 1.0, "C$|CAD", "canadian dollar"),
    ("HKD", "currency", 1.0, "HK$|HKD", "hong kong dollar"),
)
_ZEROS = {"fahrenheit": 32.0, "kelvin": 273.15}


def _index_units() -> tuple[dict[str, Unit], dict[str, Unit]]:
    symbols: dict[str, Unit] = {"%": PERCENT}
    words: dict[str, Unit] = dict.fromkeys(("percent", "per cent", "pct"), PERCENT)
    for name, dimension, factor, symbol_list, word_list in _TABLE:
        unit = Unit(name, dimension, factor, _ZEROS.get(name, 0.0))
        symbols.update(dict.fromkeys(filter(None, symbol_list.split("|")), unit))
        for word in filter(None, word_list.split("|")):
            for spelling in (word, f"{word}s", word.replace(" per ", " a "), word.replace(" per ", " an ")):
                words[spelling] = unit
    return symbols, words


_SYMBOLS, _WORDS = _index_units()
_AFTER_NUMBER = re.compile(
    r"[ \u00a0\u2009\u202f-]?"
    r"(°[ ]?[CF]\b|[%°¢′″]|[€£¥₹$](?!\d)"
    r"|[^\W\d_]{1,20}(?![^\W_])(?:[ /-][^\W\d_]{1,20}(?![^\W_])){0,2}|[kcm]?m[23](?!\w))"
)
_BEFORE_NUMBER = re.compile(r"(?:(?<![^\W_])(?:US|HK|A|C)?\$|[€£¥₹]|(?<![^\W_])(?:[A-Z]{3}|Rs\.?)[ \u00a0]?)[ ]?\Z")

_MOVE = (
    r"(?:rise|(?:in|de)crease|drop|fall|decline|change|difference|gain|jump|reduction|anomaly|swing|warming|cooling)s?"
)
_MOVED = r"(?:r[oi]s(?:e|en|ing)|fell|f[ae]llen|dropped|warmed|cooled|climbed|jumped|gained|(?:in|de)creased|declined)"
_HEDGES = (
    r"(?:(?:about|around|some|nearly|almost|only|just|over|another|at least|(?:more|less) than|up to|\w+ly) ){0,2}"
)
_MOVED_BY = re.compile(
    rf"\b(?:by|{_MOVE} of|{_MOVED}|limit\w* [^.;,]{{0,30}}{_MOVE} (?:to|at)) {_HEDGES}\Z", re.IGNORECASE
)
_COMPARED = re.compile(
    rf"[ -](?:(?:of )?{_MOVE}\b|(?:warm|cool|hott|cold|high|low)er\b|(?:more|less) than|(?:above|below) (?!zero\b))",
    re.IGNORECASE,
)


def is_difference(text: str, start: int, end: int) -> bool:
    """Whether the temperature at these offsets is a change or a distance, for which no scale has another zero.

    >>> is_difference("It rose by 2 °C", 11, 15), is_difference("It rose to 2 °C", 11, 15)
    (True, False)
    """
    return bool(_MOVED_BY.search(text, max(0, start - 80), start) or _COMPARED.match(text, end))


def unit_called(name: str) -> Unit | None:
    """The unit of a symbol (exact case) or of a word or short phrase (any case).

    >>> unit_called("kilometres").name, unit_called("MW").name, unit_called("people")
    ('km', 'mw', None)
    """
    return _SYMBOLS.get(name) or _WORDS.get(name.lower().replace("-", " "))


def unit_after(text: str, end: int) -> tuple[Unit, int] | None:
    """The unit directly after a number, longest spelling first, and the offset after it; None if there is none.

    >>> unit_after("5 miles per hour", 1)[0].name
    'mph'
    """
    found = _AFTER_NUMBER.match(text, end)
    if not found:
        return None
    phrase = found.group(1)
    start = found.start(1)
    while phrase:
        unit = unit_called(phrase.replace("° ", "°"))
        if unit:
            return unit, start + len(phrase)
        phrase = phrase[: max(phrase.rfind(" "), phrase.rfind("-"), phrase.rfind("/"), 0)]
    return None


def currency_before(text: str, start: int) -> tuple[Unit, int] | None:
    """The currency sign or code directly before a number, and the offset where it begins; None if there is none.

    >>> currency_before("cost US$5", 8)[0].name
    'USD'
    """
    found = _BEFORE_NUMBER.search(text, max(0, start - 6), start)
    unit = _SYMBOLS.get(found.group().strip()) if found else None
    return (unit, found.start()) if found and unit and unit.dimension == "currency" else None
