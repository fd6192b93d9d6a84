"""What the heads of a table say about its cells: the unit, scale and period of a bare number.

"45" under "Latency (ms)" is 45 milliseconds, "41.3" under "Failed writes (million)" is 41,300,000, and "40,000" under
"Calls per day" is a rate. Not supported: units that only a caption or the text around a table gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vouching.reading.parsed import ParsedSentence
from vouching.text.layout import Row
from vouching.text.mentions import DateMention, Quantity
from vouching.text.units import COUNT, Unit, unit_called

_IN_HEAD = re.compile(r"[(\[](?:in )?(?P<inside>[^()\[\]]{1,30})[)\]]|(?:,| in) (?P<after>[^\s,()][^,()]{0,24})\Z")
_SCALE = re.compile(r"\b(?P<scale>thousand|million|billion|[mk])s?\b")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "k": 1e3, "m": 1e6}
_PER = re.compile(r"(?:\bper |/ ?)(?P<period>second|minute|hour|day|week|month|year)\b")
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class _Measure:
    unit: Unit
    scale: float
    per: str


def with_measures(reading: ParsedSentence, row: Row, document: str, start: int) -> ParsedSentence:
    """The reading of a row, which starts at ``start`` of its document, with the measures of its heads."""
    if row.is_head or not reading.quantities:
        return reading
    quantities: list[Quantity] = []
    dates = list(reading.dates)
    for quantity in reading.quantities:
        measure = _measure(document, row, start + quantity.start) if quantity.unit == "" else None
        if measure is None or quantity.dimension != "count":
            quantities.append(quantity)
            continue
        measured = _measured(quantity, measure)
        if measured.dimension == "time":
            dates.append(_duration(measured))
        else:
            quantities.append(measured)
    dates.sort(key=lambda date: date.start)
    return replace(reading, quantities=quantities, dates=dates)


def _measure(document: str, row: Row, offset: int) -> _Measure | None:
    """What the head of a cell's column, or else the first cell of its row, says about its unit."""
    cell = row.cell_at(offset)
    if cell is None or cell is row.cells[0]:
        return None
    return next(_measures(document, [cell.column, (row.cells[0].start, row.cells[0].end)]), None)


def _measures(document: str, heads: list[tuple[int, int]]) -> Iterator[_Measure]:
    for start, end in heads:
        head = document[start:end]
        found = _IN_HEAD.search(head)
        period = _PER.search(head)
        per = period["period"] if period else ""
        if found:
            phrase = (found["inside"] or found["after"]).strip()
            unit = unit_called(phrase)
            scale = None if unit else _SCALE.search(phrase)
            rest = phrase[: scale.start()] + phrase[scale.end() :] if scale else phrase
            unit = unit or unit_called(_PER.sub("", rest).strip())
            if unit or scale:
                yield _Measure(unit or COUNT, _SCALES[scale["scale"]] if scale else 1.0, per)
        elif per:
            yield _Measure(COUNT, 1.0, per)


def _measured(quantity: Quantity, measure: _Measure) -> Quantity:
    low, high = quantity.low * measure.scale, quantity.high * measure.scale
    unit = measure.unit
    return replace(
        quantity,
        low=low,
        high=high,
        base_low=unit.to_base(low),
        base_high=unit.to_base(high),
        base_rounding=quantity.base_rounding * measure.scale * unit.factor,
        unit=unit.name,
        dimension=unit.dimension,
        kind="currency" if unit.dimension == "currency" else "percent" if unit.name == "percent" else quantity.kind,
        scaled=quantity.scaled or measure.scale > 1,
        per=quantity.per or measure.per,
    )


def _duration(quantity: Quantity) -> DateMention:
    first, last = quantity.base_low / _DAY, quantity.base_high / _DAY
    ends = (first, last) if first < last else (None, None)
    return DateMention(
        quantity.start,
        quantity.end,
        "duration",
        days=(first + last) / 2,
        unit=quantity.unit,
        first_days=ends[0],
        last_days=ends[1],
        approximate=quantity.approximate or first < last,
        bound=quantity.bound,
        hedge_start=quantity.hedge_start,
        hedges=quantity.hedges,
    )
