"""Decode the bytes of a text file, or say why they are not text. The text itself is never altered.

A byte order mark is removed, since it belongs to the encoding; every other character stays. Not supported: guessing
among the encodings of other scripts (Shift-JIS, KOI8-R, Big5 and so on), UTF-16 without a byte order mark, and
extracting the text of HTML or documents.
"""

from __future__ import annotations

import codecs
import re

from vouching.errors import InputError

MAX_CONTROL_SHARE = 0.05
"""Maximum share of control characters in a text; above it, the bytes are taken to be binary."""

_SIGNATURES = (
    (b"%PDF-", "a PDF; extract its text first, e.g. with pdftotext"),
    (b"PK\x03\x04", "a ZIP archive or an Office document (DOCX, XLSX, ODT); unpack it or save it as text first"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image; run OCR on it first, e.g. with tesseract"),
    (b"\xff\xd8\xff", "a JPEG image; run OCR on it first, e.g. with tesseract"),
    (b"GIF8", "a GIF image; run OCR on it first, e.g. with tesseract"),
    (b"\x1f\x8b", "gzip data; decompress it first, e.g. with gunzip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a legacy Office document (DOC, XLS, PPT); save it as text first"),
    (b"{\\rtf", "an RTF document; save it as plain text first"),
    (b"\x7fELF", "a program; pass a text file"),
)

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # Before UTF-16: its mark begins with that of UTF-16.
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HTML = re.compile(
    r"\A\s*<(?:!doctype\s+html|\?xml[^>]{0,200}\?>\s*<(?:!doctype\s+)?html|html)\b"
    r"|<(?:head|body|div|span|p|br|table|tr|td|ul|ol|li|h[1-6]|script|style|a\s+href)\b[^<>]{0,300}>",
    re.IGNORECASE,
)
_MIN_TAGS = 3
_TAGS_SEARCHED = 100_000


def decode_text(raw: bytes, name: str) -> tuple[str, str | None]:
    r"""Decode the bytes of a text file without losing or changing a character.

    Tried in this order: the encoding of a byte order mark (UTF-8, UTF-16, UTF-32), UTF-8, Windows-1252, Latin-1. The
    last two are guesses, so they come with a warning.

    Args:
        raw: all bytes of the file.
        name: name of the file, for messages.

    Returns:
        The text, and a warning or None.

    Raises:
        InputError: not text (a PDF, an archive, an image, NUL bytes, more than 5 % control characters), or not in the
            encoding of its byte order mark.

    >>> decode_text("caf\u00e9".encode(), "menu.txt")
    ('café', None)
    >>> text, warning = decode_text(b"caf\xe9", "menu.txt")
    >>> print(text, "|", warning)
    café | menu.txt is not UTF-8; it was read as Windows-1252 (cp1252), so check its accented letters and quotes
    """
    for signature, advice in _SIGNATURES:
        if raw.startswith(signature):
            raise InputError(f"{name} looks like {advice}")
    mark, encoding = next(((mark, of) for mark, of in _BYTE_ORDER_MARKS if raw.startswith(mark)), (b"", ""))
    if encoding:
        text, warning = _decode_marked(raw[len(mark) :], name, encoding), None
    else:
        if b"\x00" in raw:
            raise InputError(
                f"{name} has a NUL byte at offset {raw.index(0)}, so it is binary, or UTF-16 without a byte order "
                "mark; save it as UTF-8 text"
            )
        text, warning = _decode_unmarked(raw, name)
    controls = len(_CONTROL.findall(text))
    if controls > MAX_CONTROL_SHARE * len(text):
        raise InputError(
            f"{name} is not text: {controls} of its {len(text)} characters are control characters; pass a text file"
        )
    return text, warning


def looks_like_html(text: str) -> bool:
    """Whether the first 100 000 characters are a web page or contain at least three HTML tags.

    >>> looks_like_html("<!DOCTYPE html><html><body>Oslo</body></html>")
    True
    >>> looks_like_html("If a < b and b > c, then <see above>.")
    False
    """
    for tags, tag in enumerate(_HTML.finditer(text, 0, _TAGS_SEARCHED), start=1):
        if tags == _MIN_TAGS or "html" in tag.group().lower():
            return True
    return False


def _decode_marked(raw: bytes, name: str, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} starts with a byte order mark of {encoding.upper()}, but byte {error.start} is invalid "
            f"({error.reason}); save the file as UTF-8 text"
        ) from error


def _decode_unmarked(raw: bytes, name: str) -> tuple[str, str | None]:
    for encoding, label in (("utf-8", ""), ("cp1252", "Windows-1252 (cp1252)"), ("latin-1", "Latin-1 (ISO 8859-1)")):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not label:
            return text, None
        return text, f"{name} is not UTF-8; it was read as {label}, so check its accented letters and quotes"
    raise AssertionError("Latin-1 decodes any bytes")
