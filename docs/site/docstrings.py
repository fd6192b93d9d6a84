"""Extension of mkdocstrings: the examples and references of our docstrings in the form that Markdown has for them."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*|\n(?P=indent) +\S.*)*", re.MULTILINE)
ROLE = re.compile(r":(?:func|class|meth|mod|data):`~?([\w.]+)`")


class Docstrings(griffe.Extension):
    """Rewrites each docstring once, when its object is collected."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the doctests of an object, and turn roles of Sphinx into names."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """A docstring with its doctests in fences, and the names of roles as code.

    >>> print(rewritten("See :func:`vouching.check`." + chr(10) + ">>> [1]" + chr(10) + "[1]"))
    See `vouching.check`.
    <BLANKLINE>
    ```pycon
    >>> [1]
    [1]
    ```
    """

    def fenced(example: re.Match[str]) -> str:
        indent = example["indent"]
        return f"\n{indent}```pycon\n{example[0]}\n{indent}```"

    return ROLE.sub(r"`\1`", EXAMPLE.sub(fenced, text))
