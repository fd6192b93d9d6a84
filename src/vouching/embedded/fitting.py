"""Words of the source in the form that the claim needs: bounds, parts of dates, articles and endings.

Each function returns None where the words would not fit: another kind or unit, another number, another ending.
"""

from __future__ import annotations

import re
from calendar import month_name

from vouching.reading.parsed import ParsedSentence
from vouching.text.bounds import read_hedge
from vouching.text.mentions import Bound, DateMention, Quantity

_GLUED = re.compile(
    r"['’]|\s*(?:±|:\d|/|%|-?(?:year|month|day|fold)|in \d|out of)|-\w|\s+(?:to|and|or)\s+\d", re.IGNORECASE
)
_LEADS: dict[Bound, str] = {
    "exact": "",
    "at_least": "at least ",
    "more_than": "more than ",
    "at_most": "at most ",
    "less_than": "less than ",
}
_EXCHANGEABLE = re.compile(
    r"(?:(?:about|around|approximately|roughly|nearly|almost|more than|over|at least|at most|up to|no more than|"
    r"no fewer than|no less than|less than|fewer than|under|a minimum of|a maximum of|as many as|as much as)\s+)*",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r" (?:or (?:more|less|fewer|longer|over|above|below)|at (?:the )?(?:least|most|latest|longest))\b"
)
_LIMIT = re.compile(
    r"\b(?:limit|cap|maximum|minimum|ceiling|threshold|most|least|latest|earliest|longest)\b", re.IGNORECASE
)
_ONE = re.compile(r"(?:an?|one|1)\b", re.IGNORECASE)
_YEAR = re.compile(r"\b\d{4}\b")
_MONTHS = {name: number for number, name in enumerate(month_name) if name}
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_DAY = re.compile(r"\b\d{1,2}(?=\b|st\b|nd\b|rd\b|th\b)(?!:)")


def fitting_value(
    claim: str,
    start: int,
    end: int,
    value: Quantity | DateMention,
    source: str,
    rival: Quantity | DateMention,
    in_row: bool,
) -> tuple[int, int, str] | None:
    """Start, end and new text of the stretch of the claim that gets the source's value, with its bound.

    A value in a row of a table has no bound of its own: that is in the head of its column.
    """
    if isinstance(value, DateMention) and isinstance(rival, DateMention) and {value.kind, rival.kind} != {"duration"}:
        written = _date(claim[start:end], value, source[rival.start : rival.end], rival)
        return (start, end, written) if written else None
    if not _alike(value, rival) or _GLUED.match(claim, end) or _GLUED.match(source, rival.end):
        return None
    found = source[rival.start : rival.end]
    if ("-" in found) != ("-" in claim[start:end]):
        return None
    if start == 0 and bool(_ONE.match(found)) != bool(_ONE.match(claim)):
        return None  # the verb would have to agree
    if "-" not in found:
        found = _with_unit(claim[start:end], value, found, rival)
    if found is None:
        return None
    bounds = [(v.bound, v.approximate) for v in (value, rival)]
    if (
        bounds[0] == bounds[1]
        or (in_row and rival.bound == "exact")
        or (value.bound == "exact" and _LIMIT.search(claim))
    ):
        return start, end, found
    ours = read_hedge(claim, start, end)
    trailing = _TRAILING.match(claim, end)
    plain = ours.bound == value.bound and _EXCHANGEABLE.fullmatch(claim, ours.start, start)
    tail = trailing.end() if trailing else end
    if not plain or "-" in found or any(stop > tail for _, stop in value.hedges):
        return None
    about = "" if not rival.approximate else "nearly " if rival.bound == "less_than" else "about "
    return ours.start, tail, (about or _LEADS[rival.bound]) + found


_ROUNDING = 1e-6
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")


def _with_unit(written: str, value: Quantity | DateMention, found: str, rival: Quantity | DateMention) -> str | None:
    """The source's value in the claim's words for its scale and unit, if the source has only the number in a cell."""
    number = _DIGITS.findall(written)
    if not _DIGITS.fullmatch(found) or number == [written]:
        return found
    if len(number) != 1:
        return None
    if isinstance(value, Quantity) and isinstance(rival, Quantity):
        ours, theirs = (float(digits.replace(",", "")) for digits in (number[0], found))
        # Both numbers must be written in the same scale, "million" for instance.
        if (
            not (ours and theirs and rival.base_low)
            or abs(value.base_low / ours * theirs / rival.base_low - 1) > _ROUNDING
        ):
            return None
    return written.replace(number[0], found)


def _alike(value: Quantity | DateMention, rival: Quantity | DateMention) -> bool:
    """Whether both are of one kind and unit, both ranges or neither, and agree in number with what follows."""
    if isinstance(value, DateMention) and isinstance(rival, DateMention):
        return value.unit == rival.unit and (value.first_days is None) == (rival.first_days is None)
    if not isinstance(value, Quantity) or not isinstance(rival, Quantity):
        return False
    if (value.kind, value.unit, value.per) != (rival.kind, rival.unit, rival.per):
        return False
    # "one office", "three offices": the noun would have to change with the number.
    if value.scaled and not rival.scaled and not value.unit and rival.low < 1000:
        return False  # the source's scale may be in the head of its column
    agrees = (value.low == 1) == (rival.low == 1) or bool(value.unit)
    return agrees and (value.low == value.high) == (rival.low == rival.high)


def _date(written: str, value: DateMention, found: str, rival: DateMention) -> str | None:
    """The claim's date with the fields that differ taken from the source's."""
    if value.kind != rival.kind:
        return None
    if value.kind != "date":
        return found
    fields = (("year", _YEAR), ("month", _MONTH), ("day", _DAY))
    given = [name for name, _ in fields if getattr(value, name) is not None]
    if any(getattr(rival, name) is None for name in given) or value.part != rival.part or value.weekday is not None:
        return None
    if [name for name, _ in fields if getattr(rival, name) is not None] == given and rival.weekday is None:
        return found
    for name, pattern in fields:
        if name in given and getattr(value, name) != getattr(rival, name):
            ours, theirs = pattern.findall(written), pattern.findall(found)
            if len(ours) != 1 or len(theirs) != 1:
                return None
            written = written.replace(ours[0], theirs[0])
    return written


_CONVERSE = frozenset(
    str.split("""buy buys bought buying sell sells sold selling purchase purchased acquire acquired lend lends lent
        borrow borrowed give gives gave given receive receives received take takes took teach taught learn learned
        win wins won lose loses lost husband wife parent child before after""")
)
"""Words whose opposite would need other roles in the sentence."""


def fitting_word(word: str, found: str) -> str | None:
    """The source's word with the ending of the claim's ("opens" for "shuts" from "open"); None if that is not regular.

    >>> fitting_word("shuts", "open"), fitting_word("Lower", "higher"), fitting_word("accepted", "decline")
    ('opens', 'Higher', None)
    """
    if {word.lower(), found.lower()} & _CONVERSE:
        return None
    ours, theirs = _ending(word.lower()), _ending(found.lower())
    fitted = found.lower()
    if (ours, theirs) == ("s", "") and not fitted.endswith(("s", "x", "z", "ch", "sh", "o", "y")):
        fitted += "s"
    elif (ours, theirs) == ("", "s") and not fitted.endswith(("es", "ss", "ies")):
        fitted = fitted[:-1]
    elif ours != theirs:
        return None
    return fitted.capitalize() if word[:1].isupper() else fitted


_ENDINGS = ("ing", "ed", "er", "est", "ly", "s")


def _ending(word: str) -> str:
    return next((e for e in _ENDINGS if word.endswith(e) and len(word) > len(e) + 2 and not word.endswith("ss")), "")


def with_article(claim: str, start: int, replacement: str) -> tuple[int, str]:
    """Start and replacement, with the "a" or "an" before the value where it has to change."""
    before = re.search(r"\b(an?) $", claim[:start], re.IGNORECASE)
    if before is None or not replacement[:1].isalpha():
        return start, replacement
    article = "an" if replacement[0].lower() in "aeiou" else "a"
    if before.group(1).lower() == article:
        return start, replacement
    article = article.capitalize() if before.group(1)[0].isupper() else article
    return before.start(1), f"{article} {replacement}"


_AUXILIARY = frozenset(
    str.split("""is are was were has have had can could will would must should may might do does did""")
)
_BETWEEN = frozenset(str.split("""be been being a an the also still already"""))
_DO = ("do", "does", "did")


def denied(reading: ParsedSentence, at: int, source: ParsedSentence, there: int) -> tuple[int, int, str] | None:
    """Start, end and new text of the stretch of a claim that gets the negation of the source.

    ``at`` and ``there`` are the offsets of a word that both have. "Not" goes behind the auxiliary; without one, the
    verb takes the source's "did not" if that fits its tense.
    """
    last, counterpart = reading.word_at(at), source.word_at(there)
    if last is None or counterpart is None:
        return None
    cue = next((n for n in source.negations if n.end <= there and source.text[n.start : n.end].lower() in _NOT), None)
    if cue is None:
        return None
    first = last - 1
    while first >= 0 and reading.words[first].lower in _BETWEEN:
        first -= 1
    helper = reading.words[first] if first >= 0 else None
    if helper is not None and helper.lower in _AUXILIARY:
        written = reading.text[helper.start : helper.end]
        return helper.start, helper.end, "cannot" if helper.lower == "can" else f"{written} not"
    group = [word.lower for word in source.words[max(0, counterpart - 2) : counterpart + 1]]
    verb, base = reading.words[last], source.words[counterpart].lower
    if len(group) == 3 and group[0] in _DO and group[1] == "not" and verb.stem == source.words[counterpart].stem:
        tense = "does" if verb.lower.endswith("s") and not base.endswith("s") else "do" if verb.lower == base else "did"
        if tense == group[0]:
            return verb.start, verb.end, f"{tense} not {base}"
    return None


_NOT = frozenset({"not", "never", "cannot", "no", "don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "weren't"})
