"""What a language model says, apart from what it thinks aloud between <think> and </think> (or <thinking>).

Left out: thoughts in other marks; servers that know a model's own take them out.
"""

from __future__ import annotations

import re

_THOUGHT = re.compile(
    r"\A(?:(?!<think(?:ing)?>).)*</think(?:ing)?>|<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)",
    re.DOTALL,
)


def spoken(text: str) -> str:
    """The text with blanks for all that was thought, so that places stay what they are.

    A thought that begins in the prompt goes to the last </think> before another one; one that was cut off, to the end.

    >>> spoken("<think>1937?</think>In 1973."), spoken("or 1937?</think>In 1973."), spoken("In 1973. <think>or")
    ('                    In 1973.', '                In 1973.', 'In 1973.          ')
    """
    return _THOUGHT.sub(lambda found: " " * len(found[0]), text)
