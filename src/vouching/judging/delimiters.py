"""Other people's texts in a prompt, each between two delimiter lines with a boundary that their authors cannot know.

The prompt itself must say that delimited texts are data and not instructions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache

from vouching.prompts import Prompt, load_prompt
from vouching.text.disguises import readings


@cache
def delimiter_prompt() -> Prompt:
    """A text between two delimiter lines: takes ``delimiter`` (from :func:`boundary`), ``name`` and ``text``."""
    return Prompt(load_prompt("vouching.judging", "delimited").text.strip())


def delimited(texts: Mapping[str, str], among: Sequence[str] = (), *, last_outside: bool = False) -> str:
    """Texts by name, each between delimiter lines with a boundary that occurs neither in them nor in ``among``.

    With ``last_outside``, the last text is not hashed into the boundary, see :func:`boundary`.
    """
    shown = [*texts.values()]
    last = shown.pop() if last_outside else ""
    delimiter = boundary([*shown, *among, last, ""])
    return "\n".join(delimiter_prompt().fill(delimiter=delimiter, name=name, text=text) for name, text in texts.items())


def boundary(texts: Sequence[str], seed: int | None = None) -> str:
    """16 hexadecimal digits that occur in none of the texts; the same for the same texts and seed.

    The last two texts (such as claim and context) are hashed only if necessary, so that claims about the same sources
    share their prefix. An author of these texts who knows the sources can compute the boundary, so these are searched
    for disguised forms of it as well.
    """
    attempt = 0
    forms = [*texts, *(form.casefold() for text in texts[-2:] for form in readings(text))]
    while True:
        hashed = repr((seed, attempt, texts[:-2] if not attempt else texts))
        found = hashlib.sha256(hashed.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        if not any(found in form for form in forms):
            return found
        attempt += 1
