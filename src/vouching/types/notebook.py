"""Pieces of HTML for a notebook, with the standard library only: a frame with its style, and text with marks.

Foreign text is escaped: neither its markup nor its control characters take effect. For whole pages, see
``vouching.report``.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from textwrap import dedent

from vouching.types.spans import Span
from vouching.types.visible import visible

# Translucent colours on the page's own text colour are readable in light and dark notebooks.
_STYLE = """<style>
.vouch{font:14px/1.5 system-ui,sans-serif;color:inherit;max-width:64em;margin:.4em 0}
.vouch .head{font-weight:600}
.vouch .finding{margin-top:.6em;padding-left:.8em;border-left:3px solid #8886}
.vouch .finding.supported{border-color:#2a9d5c}
.vouch .finding.unsupported{border-color:#d9534f}
.vouch .claim{margin:.2em 0}
.vouch mark{color:inherit;padding:0 .15em;border-radius:.2em;background:#8883}
.vouch mark.match{background:#2a9d5c40;border-bottom:2px solid #2a9d5c}
.vouch mark.mismatch{background:#d9534f40;border-bottom:2px solid #d9534f}
.vouch mark.not_found{background:#d08a1e40;border-bottom:2px dashed #d08a1e}
.vouch table{border-collapse:collapse;margin:.3em 0;font-size:.93em;color:inherit}
.vouch th,.vouch td{text-align:left;vertical-align:top;padding:.15em 1em .15em 0;border:0;background:none}
.vouch th{font-weight:400;opacity:.65}
.vouch .note{opacity:.8}
.vouch pre{white-space:pre-wrap;font:inherit;margin:.2em 0}
</style>"""


def framed(body: str) -> str:
    """The HTML of a record with its style."""
    return f"{_STYLE}<div class='vouch'>{body}</div>"


def plain_body(text: str) -> str:
    """A record without marked parts: its lines, the first in bold."""
    first, _, rest = text.partition("\n")
    return f"<div class='finding'><div class='head'>{shown(first)}</div><pre>{shown(dedent(rest))}</pre></div>"


def notes(messages: Iterable[str]) -> str:
    """A line for each warning."""
    return "".join(f"<div class='note'>! {shown(message)}</div>" for message in messages)


def shown(text: str) -> str:
    """Foreign text as HTML."""
    return escape(visible(text))


def marked(text: str, spans: Iterable[tuple[Span, str]]) -> str:
    """``text`` as HTML with spans marked by their status; spans that overlap an earlier one are skipped."""
    out: list[str] = []
    done = 0
    for span, status in sorted(spans, key=lambda pair: pair[0].start):
        if span.start >= done:
            out.append(shown(text[done : span.start]))
            out.append(f"<mark class='{escape(status)}'>{shown(text[span.start : span.end])}</mark>")
            done = span.end
    out.append(shown(text[done:]))
    return "".join(out)
