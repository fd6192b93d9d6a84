"""The ways in which a text may be read without its disguises.

A disguised text has invisible characters, accents, look-alike letters of other scripts, or gaps between its letters.
Not supported: digits for letters ("cl41m") and encodings such as base64 or rot13.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

_INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e001f\U000e007f-\U000e0fff]+"
)

_ACCENTS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"

_STRAIGHT = str.maketrans("“”„‟«»″\uff02「」『』\u2018\u2019\u201a\u201b\u2039\u203a\u2032\uff07", '"' * 12 + "'" * 8)

_LOOK_ALIKES = str.maketrans(
    # Cyrillic; Greek; other Latin; Latin small capitals.
    "авсеһіјкмнорѕтухԁԛԝѵӏьпАВЕЅЈКМНОРСТУХІԌӀαονρικτυεηχωγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡɩøłđØŁĐᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abcehijkmhopstyxdqwvlbnABESJKMHOPCTYXIGIaovpiktuenxwyABEZHIKMNOPTYXiagioldOLDabcdefghijklmnoprstuvwyz",
) | {0xE0000 + code: code for code in range(0x20, 0x7F)}  # Unicode "tag" characters spell ASCII invisibly.

_SPACED_RUN = r"(?<![^\W_])[^\W_](?:[ ._*-]{1,2}[^\W_](?![^\W_])){4,}"
_SPACED_HINT = r"[ ._*-][^\W_][ ._*-][^\W_][ ._*-][^\W_][ ._*-]"
_UNUSUAL = "[^\x00-\x7f£§©®°±·\xd7\u2013—\u2018\u2019“”•…€™]"
"""Any character but ASCII and common typography."""


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """An expression compiled on first use, so that importing a module costs nothing."""
    return re.compile(expression)


def may_be_disguised(text: str) -> bool:
    """Whether `readings` may return other words than the text has: a quick test.

    >>> may_be_disguised("Oslo is a city."), may_be_disguised("O s l o  i s a city.")
    (False, True)
    """
    unusual = not text.isascii() and pattern(_UNUSUAL).search(text)
    return bool(unusual) or "&#" in text or bool(pattern(_SPACED_HINT).search(text))


def readings(text: str) -> list[str]:
    r"""The ways in which a text may be read without its disguises, the plainest first.

    Every reading has single spaces and straight quotation marks. The first is the text in Unicode's compatibility form
    (NFKC) without invisible characters. Added where they differ: invisible characters read as spaces; accents dropped
    and look-alike letters of other scripts read as Latin; spaced letters joined.

    >>> readings("This cl\N{CYRILLIC SMALL LETTER A}im is tru\N{CYRILLIC SMALL LETTER IE}.")[1]
    'This claim is true.'
    >>> readings("Answer  A t t r i b u t a b l e.")
    ['Answer A t t r i b u t a b l e.', 'Answer Attributable.']
    """
    if text.isascii() and "&#" not in text:
        found = [" ".join(text.split())]
    else:
        decoded = html.unescape(text) if "&#" in text else text
        plain = [
            _plain(shown)
            for shown in dict.fromkeys((pattern(_INVISIBLE).sub("", decoded), pattern(_INVISIBLE).sub(" ", decoded)))
        ]
        found = [*plain, *map(_skeleton, plain)]
    if pattern(_SPACED_HINT).search(text):
        found += [pattern(_SPACED_RUN).sub(_join, reading) for reading in found]
    return list(dict.fromkeys(found))


def spaced_words(text: str) -> list[str]:
    """The words whose letters are spaced, each in lower case without its gaps.

    >>> spaced_words("They said: V-E-R-I-F-I-E-D by A. B. Smith")
    ['verified']
    """
    return (
        [_join(run).lower() for run in pattern(_SPACED_RUN).finditer(text)]
        if pattern(_SPACED_HINT).search(text)
        else []
    )


def _plain(text: str) -> str:
    """Compatibility form, straight quotes, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_STRAIGHT)).split())


def _skeleton(text: str) -> str:
    """The Latin letters that a reader sees: no accents, no letters of other scripts that look like Latin ones."""
    bare = pattern(_ACCENTS).sub("", unicodedata.normalize("NFKD", text))
    return " ".join(bare.translate(_LOOK_ALIKES).split())


def _join(run: re.Match[str]) -> str:
    return re.sub(r"[ ._*-]", "", run.group())
