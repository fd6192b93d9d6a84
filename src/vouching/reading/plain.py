"""A text as the rules read it: spaces single and ordinary, hyphens and quotation marks of ASCII, no invisible marks.

How a text is typeset does not matter: a no-break space, a soft hyphen, two spaces in place of one, a ligature of a PDF
or an accent written as a character of its own. A word that is hyphenated at the end of a line is one word, unless its
first half usually makes compounds ("well-known"). Offsets map back to the text as it was.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " "),
        **dict.fromkeys(range(0x2000, 0x200B), " "),
        **dict.fromkeys("\u2010\u2011\u2043", "-"),
        **dict.fromkeys("’‘‛ʼ＇", "'"),
        **dict.fromkeys("“”„‟＂", '"'),
        **{0xFF10 + n: 0x30 + n for n in range(10)},
        **{0xFF21 + n: 0x41 + n for n in range(26)},
        **{0xFF41 + n: 0x61 + n for n in range(26)},
    }
)
"""Characters read as others; each takes the place of one."""
_COMPOUNDS = (
    r"(?<!\bwell)(?<!\bself)(?<!\blong)(?<!\bhigh)(?<!\bfull)(?<!\bpart)(?<!\bhalf)(?<!\bshort)(?<!\blow)(?<!\bnon)"
    r"(?<!\byear)(?<!\bcross)(?<!\btwo)(?<!\bthree)(?<!\bfour)(?<!\bfive)(?<!\bsix)(?<!\bten)(?<!\bup)(?<!\bof)(?<!\bto)"
)
_UNEVEN = re.compile(
    rf"(?P<gap>(?<=[^\s{_INVISIBLE}])[{_INVISIBLE}]*+[ {_SPACES}][ {_SPACES}{_INVISIBLE}]++(?=\S))"
    rf"|(?P<dropped>\u00ad[ \t]*\r?\n[ \t{_SPACES}]*|[{_INVISIBLE}]+)"
    rf"|(?P<broken>(?<=[^\W\d_][^\W\d_]){_COMPOUNDS}-\r?\n[ \t]*(?=[a-z][a-z]))"
    r"|[^\W\d_][\u0300-\u036f]+|[\ufb00-\ufb06]"
)
"""What becomes shorter or longer."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text in plain form, and where its characters were."""

    text: str
    pieces: tuple[tuple[int, int, int, int], ...] = ()
    """Start and end of each stretch whose length changed, in ``text`` and in the original; in order."""
    before: PlainText | None = None
    """What it was made from, if that is not the original itself."""

    def origin(self, start: int, end: int) -> tuple[int, int]:
        r"""The stretch of the original that ``start..end`` of the plain text was.

        >>> found = as_plain("a  co\N{SOFT HYPHEN}op")
        >>> found.text, found.origin(2, 6)
        ('a coop', (3, 8))
        """
        if self.pieces:
            start, end = self._shifted(start, end)
        return self.before.origin(start, end) if self.before else (start, end)

    def _shifted(self, start: int, end: int) -> tuple[int, int]:
        first = bisect_right(self.pieces, start, key=lambda piece: piece[0]) - 1
        if first >= 0:
            _, after, old, old_after = self.pieces[first]
            start = old if start < after else old_after + start - after
        last = bisect_left(self.pieces, end, key=lambda piece: piece[0]) - 1
        if last >= 0:
            _, after, _, old_after = self.pieces[last]
            end = old_after + max(0, end - after)
        return start, max(start, end)


def as_plain(text: str) -> PlainText:
    r"""Put a text into plain form. Time is linear in the length of the text.

    >>> as_plain("10\N{NO-BREAK SPACE}km  of ‘rail’").text
    "10 km of 'rail'"
    >>> as_plain("The sci-\nentists saw a well-\nknown lake").text
    'The scientists saw a well-\nknown lake'
    """
    if text.isascii() and "  " not in text and "-\n" not in text and "-\r" not in text:
        return PlainText(text)
    parts: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    done = length = 0
    for found in _UNEVEN.finditer(text):
        kind = found.lastgroup
        new = (
            " "
            if kind == "gap"
            else ""
            if kind in ("dropped", "broken")
            else unicodedata.normalize("NFKC", found.group())
        )
        parts += (text[done : found.start()], new)
        length += found.start() - done + len(new)
        pieces.append((length - len(new), length, *found.span()))
        done = found.end()
    return PlainText("".join([*parts, text[done:]]).translate(_ALIKE), tuple(pieces))
