"""FEVER (Thorne et al. 2018): claims about Wikipedia with the sentences that decide them.

Claims: id, label (SUPPORTS, REFUTES, NOT ENOUGH INFO), claim, evidence, a list of sets of
[annotation id, evidence id, page, sentence number]. ``wiki-pages/wiki-*.jsonl``: id, text, lines, which are
"number<tab>sentence<tab>links...". Claims and pages write accents in more than one way, so names of pages are compared
in NFC. A row's sources are the named sentences, page by page. Claims without enough information name none and make no
row: what they are to be checked against is not published.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, label_of, list_of, records, text_of
from vouching.errors import InputError

LABELS = {"SUPPORTS": True, "REFUTES": False, "NOT ENOUGH INFO": False}
_MARKS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "-COLON-": ":", "_": " ",
}  # fmt: skip
"""How FEVER writes what could not stand in a page's name."""
_MARK = re.compile("|".join(map(re.escape, _MARKS)))


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """One row per claim with evidence. Only the pages that claims name are kept in memory.

    Args:
        paths: the claims, then the files of pages.
        split: not needed; every split has its own file.
    """
    claims, *pages = paths
    named: set[str] = set()
    for _, claim in records(claims):
        with suppress(InputError):  # told when the claim is converted
            named |= {page for page, _ in _places(claim)}
    wiki = ((_nfc(name), page) for path in pages for name, page in records(path))
    found = {name: _sentences(page) for name, page in wiki if name in named}
    return converted(claims, partial(_row, pages=found))


def _row(record: Record, name: str, *, pages: Mapping[str, Mapping[int, str]]) -> Iterator[BenchRow]:
    claim, attributable = text_of(record, "claim"), label_of(record, "label", LABELS)
    places = sorted(set(_places(record)))
    if not places:
        return
    sources: list[str] = []
    for page in dict.fromkeys(page for page, _ in places):
        if page not in pages:
            raise InputError(f"the page {page!r} of its evidence is in none of the files of pages")
        numbers = [number for named, number in places if named == page]
        missing = [str(number) for number in numbers if number not in pages[page]]
        if missing:
            raise InputError(f"the page {page!r} has no sentence {', '.join(missing)}, which its evidence names")
        sources.append("\n".join([_readable(page), *(pages[page][number] for number in numbers)]))
    yield BenchRow(name, claim, tuple(sources), attributable, part=str(record["label"]).lower())


def _places(record: Record) -> list[tuple[str, int]]:
    """Page and sentence number of all evidence."""
    evidence = list_of(record, "evidence")
    try:
        entries = [(page, number) for evidence_set in evidence for _, _, page, number in evidence_set]
        return [(_nfc(str(page)), int(number)) for page, number in entries if page is not None]
    except (TypeError, ValueError):
        raise InputError('its "evidence" wants sets of [annotation id, evidence id, page, sentence number]') from None


def _sentences(page: Record) -> dict[int, str]:
    """The sentences of a page by number; empty ones left out."""
    cells = (line.split("\t") for line in str(page.get("lines", "")).split("\n"))
    return {int(cell[0]): _readable(cell[1]) for cell in cells if len(cell) > 1 and cell[0].isdigit() and cell[1]}


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _readable(text: str) -> str:
    return _MARK.sub(lambda mark: _MARKS[mark.group()], text)
