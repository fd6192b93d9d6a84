"""TaxCalcBench: nineteen lines of Form 1040 for 51 returns of 2024 (Bock et al. 2025), read from its folder.

A case is ``<case>/input.json`` and ``<case>/output.xml``. Only the nineteen elements of the XML are read; document
types and entities are rejected, size and depth limited. A line of an answer is ``Line N: Description | explanation |
amount``. Line ids are matched exactly, so that 9 does not match 19. Not supported: downloading the set
(github.com/column-tax/tax-calc-bench); cents in an expected amount.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn, cast
from xml.parsers import expat

from vouching.bench.rows import Fault, Split
from vouching.errors import InputError
from vouching.methods.assurance.values import read_amount, read_data
from vouching.text.encoding import decode_text
from vouching.types.visible import shown_json

_LINE = re.compile(r"^[\s>*#-]*line\s+(?P<id>\d{1,2}[a-z]?)\b[\s*]*:?(?P<rest>.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of Form 1040."""

    id: str
    """Its number on the form, such as "25d"."""
    element: str
    """Its element below /Return/ReturnData/IRS1040."""
    description: str
    depends_on: tuple[str, ...] = ()
    """Ids of the earlier lines that it is computed from."""


LINES: tuple[Line, ...] = (
    Line("1a", "WagesAmt", "Total amount from Form(s) W-2, box 1"),
    Line("9", "TotalIncomeAmt", "Total income", ("1a",)),
    Line("10", "TotalAdjustmentsAmt", "Adjustments to income from Schedule 1", ("9",)),
    Line("11", "AdjustedGrossIncomeAmt", "Adjusted gross income", ("9", "10")),
    Line("12", "TotalItemizedOrStandardDedAmt", "Standard deduction"),
    Line("15", "TaxableIncomeAmt", "Taxable income", ("11", "12")),
    Line("16", "TaxAmt", "Tax", ("15",)),
    Line("19", "CTCODCAmt", "Child tax credit or credit for other dependents", ("11", "16")),
    Line("24", "TotalTaxAmt", "Total tax", ("16", "19")),
    Line("25d", "WithholdingTaxAmt", "Federal income tax withheld"),
    Line("26", "EstimatedTaxPaymentsAmt", "Estimated tax payments and amount applied from the 2023 return"),
    Line("27", "EarnedIncomeCreditAmt", "Earned income credit (EIC)", ("1a", "11")),
    Line("28", "AdditionalChildTaxCreditAmt", "Additional child tax credit", ("1a", "11", "19", "27")),
    Line("29", "RefundableAmerOppCreditAmt", "American opportunity credit"),
    Line("32", "RefundableCreditsAmt", "Total other payments and refundable credits", ("27", "28", "29")),
    Line("33", "TotalPaymentsAmt", "Total payments", ("25d", "26", "32")),
    Line("34", "OverpaidAmt", "Amount overpaid", ("24", "33")),
    Line("35a", "RefundAmt", "Amount to be refunded", ("34",)),
    Line("37", "OwedAmt", "Amount you owe", ("24", "33")),
)
"""In the order of the form."""
BY_ID: Mapping[str, Line] = {line.id: line for line in LINES}


def parse_return(text: str) -> dict[str, Decimal]:
    r"""The amounts of an answer by line; the last of duplicate lines counts, unknown lines are ignored.

    >>> parse_return("Line 9: Total income | 1a + 2b | $50,100\nLine 16: Tax | unclear | see above")
    {'9': Decimal('50100')}
    """
    found: dict[str, Decimal] = {}
    for row in text.splitlines():
        match = _LINE.match(row)
        if match is None or "|" not in match["rest"] or match["id"].lower() not in BY_ID:
            continue
        amount = read_amount(match["rest"].rpartition("|")[2].strip(" *`"))
        if amount is not None:
            found[match["id"].lower()] = amount
    return found


NAME = "taxcalcbench"
"""Name of the set, and of its folder."""
_MAX_BYTES = 5_000_000
_MAX_DEPTH = 100
_PLACE = ("Return", "ReturnData", "IRS1040")
_LINE_OF = {line.element: line.id for line in LINES}


@dataclass(frozen=True, slots=True)
class TaxCase:
    """A return: its input, and the expected nineteen lines."""

    name: str
    """Name of its folder."""
    record: Mapping[str, Any] = field(hash=False)
    """The content of input.json."""
    expected: Mapping[str, Decimal] = field(hash=False)
    """All nineteen lines; 0 for those missing in output.xml."""

    @property
    def id(self) -> str:
        """Same as ``name``."""
        return self.name


def read_output(content: bytes) -> dict[str, Decimal]:
    """The nineteen lines of a return in the IRS's XML, in any namespace. Raises InputError.

    >>> read_output(b"<Return><ReturnData><IRS1040><WagesAmt>12</WagesAmt></IRS1040></ReturnData></Return>")["1a"]
    Decimal('12')
    """
    if len(content) > _MAX_BYTES:
        raise InputError(f"the XML must have at most {_MAX_BYTES:,} bytes, got {len(content):,}")
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(f"invalid XML: {error}") from None
    if not reader.seen:
        raise InputError(f"the XML has no element /{'/'.join(_PLACE)}")
    return {line.id: reader.found.get(line.id, Decimal(0)) for line in LINES}


def _refuse(*_: object) -> NoReturn:
    raise InputError("the XML declares a document type or entities, which are not allowed: remove them")


class _Reader:
    """The parser's position in the document, and the amounts so far."""

    def __init__(self) -> None:
        self.found: dict[str, Decimal] = {}
        self.seen = False
        self._path: list[str] = []
        self._text: list[str] = []

    def start(self, name: str, _: Mapping[str, str]) -> None:
        """An element begins."""
        self._path.append(name.rpartition(":")[2])
        self._text.clear()
        self.seen |= tuple(self._path) == _PLACE
        if len(self._path) > _MAX_DEPTH:
            raise InputError(f"the XML elements are nested more than {_MAX_DEPTH} levels deep")

    def text(self, data: str) -> None:
        """Text of an element."""
        self._text.append(data)

    def end(self, _: str) -> None:
        """An element ends."""
        place = tuple(self._path)
        line = _LINE_OF.get(place[-1]) if place[:-1] == _PLACE else None
        if line is not None:
            text = "".join(self._text).strip()
            amount = read_amount(text) if text else Decimal(0)
            if amount is None:
                raise InputError(f"/{'/'.join(place)} must be an amount, got {text!r:.60}")
            if line in self.found:
                raise InputError(f"/{'/'.join(place)} must occur once, got two amounts")
            self.found[line] = amount
        self._path.pop()
        self._text.clear()


def read_input(content: bytes, name: str = "the input") -> dict[str, Any]:
    """The content of an input.json. Raises InputError if it is too large or not a JSON object of finite numbers."""
    if len(content) > _MAX_BYTES:
        raise InputError(f"{name} must have at most {_MAX_BYTES:,} bytes, got {len(content):,}")
    record = read_data(decode_text(content, name)[0], name, yaml=False)
    if not isinstance(record, dict):
        raise InputError(f"{name} must be a JSON object, got {shown_json(record)}")
    return cast("dict[str, Any]", record)


def read_case(folder: Path) -> TaxCase:
    """Read a case. Raises InputError, naming the file that is missing or invalid."""
    contents: list[bytes] = []
    for name in ("input.json", "output.xml"):
        path = folder / name
        if not path.is_file():
            raise InputError(f"missing file {path}")
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} must have at most {_MAX_BYTES:,} bytes, got {path.stat().st_size:,}")
        contents.append(path.read_bytes())
    try:
        return TaxCase(folder.name, read_input(contents[0], "input.json"), read_output(contents[1]))
    except InputError as error:
        raise InputError(f"{folder.name}: {error}") from None


def tax_cases(paths: Sequence[Path], split: Split) -> Iterator[TaxCase | Fault]:
    """The cases by name, and faults in place of unusable ones."""
    for path in sorted(paths, key=lambda path: path.parent.name):
        try:
            yield read_case(path.parent)
        except InputError as error:
            yield Fault(path.parent.name, str(error).removeprefix(f"{path.parent.name}: "))


def split_cases(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paper's split: names sorted, shuffled by ``Random(42)``, the first 80 % for training.

    >>> train, test = split_cases([f"case-{i:02}" for i in range(51)])
    >>> len(train), len(test)
    (41, 10)
    """
    order = sorted(names)
    random.Random(42).shuffle(order)
    cut = round(0.8 * len(order))
    return order[:cut], order[cut:]
