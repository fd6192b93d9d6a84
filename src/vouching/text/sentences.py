"""Sentence splitting with exact offsets: one regular expression finds candidate stops, one function decides each.

Not supported: languages that separate sentences only by spaces (Thai, Lao), and sentences that begin in lower case
after an ordinary stop ("he left. she stayed"), which stay together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

_Markup: TypeAlias = tuple[int, int, Literal["heading", "fragment"]]

MAX_SENTENCE = 2_000
"""Maximum length in characters; a longer stretch without a stop is cut, so that later steps are bounded."""

LIST_MARKER = re.compile(
    r"(?:[•◦▪‣]|(?:[-*+·–>]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|[a-z]\.)(?=[^\S\r\n]))[^\S\r\n]*+(?=\S)",
)
"""The marker of a bulleted or numbered line with the blanks after it; match it at the start of a line."""

LABEL = re.compile(
    r"(?:\*\*Step[ ]\d{1,3}(?::\*\*|\*\*:)|Step[ ]\d{1,3}:"
    r"|\*\*[^\s*:|]{1,30}(?:[ ][^\s*:|]{1,30}){0,5}(?::\*\*|\*\*:|\*\*[ ][–—-])"
    r"|__[^\s_:|]{1,30}(?:[ ][^\s_:|]{1,30}){0,5}(?::__|__:|__[ ][–—-]))[^\S\r\n]+(?=\S)",
    re.IGNORECASE,
)
"""What introduces a sentence, with the blanks after it: one to six bold words with a colon or a dash, or "Step 1:"."""

_LINE = re.compile(r"[^\r\n]++")
_FENCE = re.compile(r"[ \t]*(`{3,}+(?=[^`]*$)|~{3,}+)[ \t]*([\w+-]*)")
_INDENTED = 4
"""Blanks before a fence that is one only in the item of a list."""
_PROSE = frozenset(("text", "txt", "plain", "plaintext", "markdown", "md"))
_DEFINITION = re.compile(
    r"[ ]{0,3}\[(?!\^)[^\[\]]{1,80}\]:[ \t]*(?:<[^<>]*>|(?:\w+://\S|mailto:|www\.|[/#.])\S*)"
    r"[ \t]*(?:\"[^\"]*\"|'[^']*'|\([^()]*\))?[ \t]*$",
    re.IGNORECASE,
)
FOOTNOTE = re.compile(r"[ ]{0,3}\[\^[^\[\]\s]{1,40}\]:[ \t]*")
"""The mark that opens a footnote."""

_CANDIDATE = re.compile(
    r"""
    (?P<stop> [.!?…]++ (?: \[\^[^\[\]\s]{1,40}\](?!:) | \[\d{1,3}(?:[ ]?[,;–-][ ]?\d{1,3})*\] | 【[^【】\n]{1,40}】
      | ["'”’»)\]}*_`] | [ ](?:''|-RRB-|[)\]”])(?!\w) )*+ )
  | (?P<wide> [。！？｡؟۔।॥։።။។]++ [」』）】》〉”’"')\]]*+ )
  | (?P<line> [\n\r\f\x0b\x85\u2028\u2029] \s*+ )
    """,
    re.VERBOSE,
)
_OPENERS = "\"'“‘«‹„([{¿¡*_`<–—-"
_AHEAD = re.compile(r"[\s" + re.escape(_OPENERS) + r"]*+")
_BLANKS = re.compile(r"\s++")
_NEXT_WORD = re.compile(r"[^\W\d_]++(?!\.)")
_DOTTED = re.compile(r"(?:[a-z]\.)+[a-z]")
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]+\*\*:?\s*(?:\n|$)|[-=*_]{3,}\s*(?:\n|$)|\|")

_NEVER_FINAL = frozenset(
    str.split("""dr mr mrs ms mx prof gen col lt sgt capt cpt cmdr maj adm rev fr hon sen rep gov pres supt
        messrs mt ft vs v e.g i.e cf viz approx incl esp resp""")
)
_BEFORE_NUMBER = frozenset(
    str.split("""no nos nr fig figs p pp vol vols ch chap sec sect art arts eq eqs ca c b d r est ver op par tab
        ref refs max min""")
)
_SOMETIMES_FINAL = frozenset(
    str.split("""st ave blvd rd inc ltd co corp bros jr sr dept univ assn ph.d m.sc b.sc etc al ed eds trans jan
        feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun oz lb
        lbs ibid bhd plc llc""")
)
_LABELLED = frozenset(
    str.split("""vitamin hepatitis plan type grade group class part section appendix option phase team""")
)
_STARTERS = frozenset(
    str.split("""the this that these those he she it they we you his her its their our my your a an in on at as
        by for from with to of and but or so yet if when while after before since until during although
        though because however also then there here some many most both each another other such not what
        who how why where today meanwhile despite according later additionally moreover furthermore
        overall under between over""")
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences.

    A stop ends a sentence unless it belongs to an abbreviation, an initial, a number or a name such as
    ``example.com``, or unless lower case follows. A blank line always ends one; a single line break does so next to
    list items, headings and table rows, and after a stop or a colon. List markers stay inside their sentence.

    Returns:
        ``(start, end)`` offsets in order, without overlap, trimmed and non-empty, each at most ``MAX_SENTENCE``
        characters long; between them is only white space. Time is linear in the length of the text.

        >>> text = "Dr. Smith paid $3.50. He left at 5 p.m. on Monday."
        >>> [text[start:end] for start, end in sentence_spans(text)]
        ['Dr. Smith paid $3.50.', 'He left at 5 p.m. on Monday.']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*_ends(text), len(text)):
        piece = text[start:end]
        body = piece.strip()
        if body:
            first = start + len(piece) - len(piece.lstrip())
            spans.extend(_bounded(text, first, first + len(body)))
        start = end
    return spans


def markup_spans(text: str) -> list[_Markup]:
    r"""The stretches of a Markdown text that are not prose: fenced code, table headers, link definitions.

    Returns:
        ``(start, end, kind)`` in order, without overlap and surrounding white space: "heading" for the header row of
        a table, "fragment" for the rest. Of a fence around prose ("markdown", or around the whole text) and of one
        that is never closed, only the fence itself counts.

        >>> text = "| Fact | Value |\n|---|---|\n| Sites | 12 |"
        >>> [(text[start:end], kind) for start, end, kind in markup_spans(text)]
        [('| Fact | Value |', 'heading'), ('|---|---|', 'fragment')]
    """
    lines = [(m.start(), m.end(), m.group()) for m in _LINE.finditer(text) if m.group().strip()]
    fences = _fences(lines)
    closed_by = _closing_fences(fences, lines)
    found: list[_Markup] = []
    number = 0
    while number < len(lines):
        start, end, line = lines[number]
        last = closed_by.get(number)
        if last is not None:
            whole = number == 0 and last == len(lines) - 1 and not fences[number][2]
            if whole or fences[number][2].lower() in _PROSE:
                found.append((start, end, "fragment"))
                found.append((lines[last][0], lines[last][1], "fragment"))
            else:
                found.append((start, lines[last][1], "fragment"))
            number = last
        elif (number in fences and not line.strip("`~ \t\r")) or _DEFINITION.match(line):
            found.append((start, end, "fragment"))
        elif "|" in line and "-" in line and not line.strip("|-: \t"):
            before = lines[number - 1] if number else (0, 0, "")
            if "|" in before[2] and (not found or found[-1][1] <= before[0]):
                found.append((before[0], before[1], "heading"))
            found.append((start, end, "fragment"))
        number += 1
    return sorted(_trimmed(text, start, end, kind) for start, end, kind in found)


def _fences(lines: list[tuple[int, int, str]]) -> dict[int, re.Match[str]]:
    """The lines that may open or close a code block; one that is indented by more may only in the item of a list."""
    found: dict[int, re.Match[str]] = {}
    in_item = False
    for number, (_, _, line) in enumerate(lines):
        spread = line.expandtabs(_INDENTED)
        bare = spread.lstrip()
        indent = len(spread) - len(bare)
        in_item = bool(LIST_MARKER.match(bare)) or (in_item and indent > 0)
        if (fence := _FENCE.match(line)) and (indent < _INDENTED or in_item):
            found[number] = fence
    return found


def _closing_fences(fences: dict[int, re.Match[str]], lines: list[tuple[int, int, str]]) -> dict[int, int]:
    """For each line that opens a code block, the line that closes it."""
    closed_by: dict[int, int] = {}
    opening = -1
    for number, fence in fences.items():
        if opening < 0:
            opening = number
        elif fence[1].startswith(fences[opening][1]) and not lines[number][2].strip("`~ \t"):
            closed_by[opening] = number
            opening = -1
    return closed_by


def _trimmed(text: str, start: int, end: int, kind: Literal["heading", "fragment"]) -> _Markup:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip()), kind


def _ends(text: str) -> Iterator[int]:
    """Offsets at which a sentence ends, in order."""
    line_start = len(text) - len(text.lstrip())
    for match in _CANDIDATE.finditer(text):
        if match.lastgroup == "line":
            if _line_ends(text, line_start, match):
                yield match.start()
            line_start = match.end()
        elif match.lastgroup == "wide":
            # 「…。」と言った: the sentence continues with who said the quotation.
            if not (text.startswith("と", match.end()) and text[match.end() - 1] in "」』"):
                yield match.end()
        elif _stop_ends(text, line_start, match):
            yield match.end()


def _line_ends(text: str, line_start: int, gap: re.Match[str]) -> bool:
    """Whether the line break that opens ``gap`` (a run of white space) ends a sentence."""
    breaks = gap.group()
    if (
        breaks.count("\n") > 1
        or breaks.count("\r") > max(1, breaks.count("\n"))
        or "\f" in breaks
        or "\u2029" in breaks
    ):
        return True
    following = gap.end()
    if any(opening.match(text, following) for opening in (LIST_MARKER, LABEL, _HEADING)) or _HEADING.match(
        text, line_start
    ):
        return True
    if text[following : following + 1].islower():
        return False  # a wrapped line, even of a list item
    return bool(LIST_MARKER.match(text, line_start)) or text[line_start : gap.start()].rstrip()[-1:] == ":"


def _stop_ends(text: str, line_start: int, stop: re.Match[str]) -> bool:
    """Whether a run of stops (with the closing quotes and brackets after it) ends a sentence."""
    start, end = stop.span()
    if end == len(text):
        return True
    if not text[end].isspace():
        return text[start] in "!?" and text[end] >= "\u2e80"  # CJK text with western marks
    following = _skip(_AHEAD, text, end)
    head = text[following : following + 2]
    if not head or head[0] in ".!?…,;:)]}”":
        return False
    wrapped = "\n" in text[end:following]
    is_code = text[following - 1] == "`"  # `open()` may open a sentence, as "iPhone" and "eBay" may
    continues = head[0].islower() and not head[1:].isupper() and not is_code
    if text[start] != "." or text.startswith("..", start):
        return wrapped or not continues
    if start == 0 or text[start - 1].isspace():
        return True  # tokenised text has a space before the stop
    marker = LIST_MARKER.match(text, line_start)
    if marker and start < marker.end():
        return False
    if continues and not wrapped:
        return False
    return not abbreviates(text[max(line_start, start - 40) : start], text[following : following + 40])


def abbreviates(before: str, after: str) -> bool:
    """Whether a full stop after ``before`` marks an abbreviation within a sentence that continues with ``after``.

    >>> abbreviates("He met Dr", "Smith there"), abbreviates("at 5 p.m", "The next day"), abbreviates("It was", "No")
    (True, False, False)
    >>> abbreviates("by J. R", "Tolkien"), abbreviates("take vitamin C", "Smith did")
    (True, False)
    >>> abbreviates("for at least min", "30 kg"), abbreviates("It took 5 min", "30 people left")
    (True, False)
    """
    words = before.split()[-2:]
    word = words[-1].lstrip(_OPENERS)
    key = word.lower()
    if key in _NEVER_FINAL:
        return True
    initial = len(word) == 1 and word.isupper() and words[0].lower() not in _LABELLED
    if key in _BEFORE_NUMBER and (after[:1].isdigit() or not initial):
        is_unit = key == "min" and words[0][-1:].isdigit()
        return after[:1].isdigit() and not is_unit
    if not (initial or key in _SOMETIMES_FINAL or _DOTTED.fullmatch(key)):
        return False
    following_word = _NEXT_WORD.match(after)
    return not (following_word and following_word.group().lower() in _STARTERS)


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span, cut into pieces of at most ``MAX_SENTENCE`` characters."""
    while end - start > MAX_SENTENCE:
        limit = start + MAX_SENTENCE
        late = limit - MAX_SENTENCE // 3
        mark = text.rfind("; ", late, limit)
        if mark < 0:
            mark = text.rfind(", ", late, limit)
        cut = mark + 1 if mark >= 0 else max(text.rfind(blank, start, limit) for blank in " \n\t\u00a0\u3000")
        if cut <= start:
            cut = limit
        yield start, start + len(text[start:cut].rstrip())
        start = _skip(_BLANKS, text, cut)
    yield start, end


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Offset after what ``pattern`` matches at ``at``; ``at`` itself if it does not match."""
    match = pattern.match(text, at)
    return match.end() if match else at
