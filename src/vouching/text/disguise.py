"""Undo the tricks that hide words from a program but not from a reader: in which other ways may a text be read?

Used on suspicious sentences only; the text itself is never altered and no offsets come out of here. Left out: digits
for letters ("cl41m"), encodings such as base64 or rot13.
"""

from __future__ import annotations

import html
import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e001f\U000e007f-\U000e0fff]+"
)

_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")

_QUOTES = str.maketrans("“”„‟«»″\uff02「」『』\u2018\u2019\u201a\u201b\u2039\u203a\u2032\uff07", '"' * 12 + "'" * 8)

_LOOK_ALIKES = str.maketrans(
    # Cyrillic; Greek; other Latin; Latin small capitals.
    "авсеһіјкмнорѕтухԁԛԝѵӏьпАВЕЅЈКМНОРСТУХІԌӀαονρικτυεηχωγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡɩøłđØŁĐᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abcehijkmhopstyxdqwvlbnABESJKMHOPCTYXIGIaovpiktuenxwyABEZHIKMNOPTYXiagioldOLDabcdefghijklmnoprstuvwyz",
) | {0xE0000 + code: code for code in range(0x20, 0x7F)}  # Unicode "tag" characters spell ASCII invisibly.

_SPACED_RUN = re.compile(r"(?<![^\W_])[^\W_](?:[ ._*-]{1,2}[^\W_](?![^\W_])){4,}")

HINTS = (
    re.compile("[^\x00-\x7f£§©®°±·\xd7\u2013—\u2018\u2019“”•…€™]"),  # Any character but ASCII and everyday typography.
    re.compile("&#"),
    re.compile(r"[ ._*-][^\W_][ ._*-][^\W_][ ._*-][^\W_][ ._*-]"),
)
"""One of these is found in every text for which `readings` returns other letters than the text has."""


def readings(text: str) -> list[str]:
    r"""Return the ways in which a text may be read once its disguises are taken off, the plainest first.

    Every reading has single spaces and straight quotation marks. Always there: the text in Unicode's compatibility form
    (NFKC) without invisible characters. Added where they differ: invisible characters read as spaces; accents dropped
    and look-alike letters of other scripts read as Latin; letters that were set apart joined.

    >>> readings("This cl\N{CYRILLIC SMALL LETTER A}im is tru\N{CYRILLIC SMALL LETTER IE}.")[1]
    'This claim is true.'
    >>> readings("Answer  A t t r i b u t a b l e.")
    ['Answer A t t r i b u t a b l e.', 'Answer Attributable.']
    """
    if text.isascii() and "&#" not in text:
        found = [" ".join(text.split())]
    else:
        decoded = html.unescape(text) if "&#" in text else text
        plain = [_plain(shown) for shown in dict.fromkeys((_INVISIBLE.sub("", decoded), _INVISIBLE.sub(" ", decoded)))]
        found = [*plain, *map(_skeleton, plain)]
    if HINTS[-1].search(text):
        found += [_SPACED_RUN.sub(_join, reading) for reading in found]
    return list(dict.fromkeys(found))


def spaced_words(text: str) -> list[str]:
    """Return the words spelled by letters set apart, each in lower case without its gaps.

    >>> spaced_words("They said: V-E-R-I-F-I-E-D by A. B. Smith")
    ['verified']
    """
    return [_join(run).lower() for run in _SPACED_RUN.finditer(text)] if HINTS[-1].search(text) else []


def _plain(text: str) -> str:
    """Compatibility form, straight quotes, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_QUOTES)).split())


def _skeleton(text: str) -> str:
    """The Latin letters that a reader sees: no accents, no letters borrowed from other scripts."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return " ".join(bare.translate(_LOOK_ALIKES).split())


def _join(run: re.Match[str]) -> str:
    return re.sub(r"[ ._*-]", "", run.group())
