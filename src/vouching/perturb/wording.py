"""Words exchanged for others of the same meaning, from a short shipped list.

Left out: words with several senses; a thesaurus would put a wrong sense into every third sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

from vouching.perturb.polarity import read_table, replacements
from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit
from vouching.perturb.scene import Scene


def synonym(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Each listed word exchanged, and all of them together where there are several: "purchased" -> "bought"."""
    claim = scene.claim
    edits = [edit for edit in replacements(claim, synonyms(), rng) if _fits(claim.text, edit)]
    if len(edits) > 1:
        yield Draft(tuple(edits))
    for edit in edits:
        yield Draft((edit,))


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """What may stand for a word or phrase with the same meaning.

    >>> synonyms()["prior to"]
    ('before',)
    """
    return read_table("synonyms.txt")


def _fits(text: str, edit: Edit) -> bool:
    """Whether articles agree: "the Second World War" must not follow another article."""
    before = text[: edit.start].rstrip().rpartition(" ")[2].lower()
    if re.match(r" (?:\w+ing|be)\b", text[edit.end :]):
        return False  # "frequently occurring", "due to be released"
    return not (edit.replacement.lower().startswith("the ") and before in ("the", "a", "an", "post", "pre", "during-"))
