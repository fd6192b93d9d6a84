"""Perturbations, the table from strategies to error types, and edits of a claim.

Edits are replacements at offsets, applied together; the article before each is adapted. Not supported: agreement of
verbs with a replacement; a strategy keeps the grammatical number of what it changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias, get_args

from vouching.text.words import FUNCTION_WORDS
from vouching.types import ErrorType, Label, Span

_ARTICLE = re.compile(r"(?<![^\W_])([Aa])(n?)\Z")
_FIRST_WORD = re.compile(r"[\s\"'“‘(]*([^\W_]+)")
_AN_DESPITE_CONSONANT = re.compile(r"(?:hour|honou?r|honest|heir)|[FHLMNRSX](?:[A-Z0-9]|\b)|8|11(?!\d)|18(?!\d)")
_A_DESPITE_VOWEL = re.compile(r"(?:uni(?!n|m)|us[aeiu]|eu|ut[ei]|one|once|ub[ei])|U[A-Z]?(?![a-z])", re.IGNORECASE)


class Edit(NamedTuple):
    """One replacement in a claim. An insertion has an empty stretch, a removal an empty replacement."""

    start: int
    end: int
    replacement: str


def apply_edits(claim: str, edits: Iterable[Edit]) -> tuple[str, tuple[Span, ...]]:
    """The claim with non-overlapping edits applied, and the spans of the replacements.

    "a" and "an" before a replacement follow its sound; a new first word is capitalised if the claim began with a
    capital. A removal leaves an empty span at the cut.
    """
    text, last, spans = "", 0, list[tuple[int, int]]()
    for edit in sorted(edits):
        text += claim[last : edit.start]
        text = _with_article(text, edit.replacement or claim[edit.end : edit.end + 24].lstrip())
        spans.append((len(text), len(text) + len(edit.replacement)))
        text += edit.replacement
        last = edit.end
    text += claim[last:]
    if claim[:1].isupper() and text[:1].islower():
        text = text[0].upper() + text[1:] if len(text[0].upper()) == 1 else text
    return text, tuple(Span(text[start:end], start, end) for start, end in spans)


def _with_article(text: str, following: str) -> str:
    """The text with its final article, if any, adapted to what follows."""
    body = text.rstrip(" ")
    article = _ARTICLE.search(body) if body != text else None
    word = _FIRST_WORD.match(following)
    if article is None or word is None:
        return text
    fitting = article_for(word[1])
    return text if fitting == article[0].lower() else f"{body[: article.start()]}{article[1]}{fitting[1:]} "


def article_for(word: str) -> str:
    """The article, "a" or "an", by the first sound of the word.

    >>> [article_for(word) for word in ("owl", "unit", "hour", "FBI", "80", "US")]
    ['an', 'a', 'an', 'an', 'an', 'a']
    """
    if _AN_DESPITE_CONSONANT.match(word):
        return "an"
    vowel = word[:1].lower() in "aeiou" and word[:1] != ""
    return "an" if vowel and not _A_DESPITE_VOWEL.match(word) else "a"


def removal(text: str, start: int, end: int) -> Edit:
    """The edit that removes a stretch and one of the blanks around it."""
    if text[end : end + 1] == " ":
        return Edit(start, end + 1, "")
    return Edit(start - 1, end, "") if text[max(0, start - 1) : start] == " " else Edit(start, end, "")


def in_case_of(model: str, words: str) -> str:
    """``words`` with the first letter in the case of the first letter of ``model``: "Some", "all" -> "All"."""
    return words[:1].upper() + words[1:] if model[:1].isupper() and not model[:2].isupper() else words


def lowered(sentence: str) -> str:
    """A sentence for use within another one: an ordinary first word loses its capital."""
    first = _FIRST_WORD.match(sentence)
    known = first is not None and first[1] != "I" and first[1].lower() in FUNCTION_WORDS
    return sentence[:1].lower() + sentence[1:] if known else sentence


Strategy: TypeAlias = Literal[
    "number_change",
    "unit_change",
    "bound_change",
    "date_shift",
    "order_flip",
    "negation_added",
    "negation_removed",
    "opposite",
    "entity_swap",
    "entity_graft",
    "role_swap",
    "qualifier_strengthened",
    "hedge_dropped",
    "intensifier_added",
    "exclusivity_added",
    "fact_graft",
    "presupposition",
    "detail_added",
    "number_format",
    "number_rounded",
    "unit_converted",
    "date_format",
    "synonym",
    "qualifier_weakened",
    "time_moved",
    "voice_changed",
    "sentences_joined",
    "sentence_split",
    "detail_dropped",
]
"""How a claim is changed."""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""Every strategy, in the order of the error types; the meaning-preserving ones last."""

_OF_ERROR: dict[ErrorType, tuple[Strategy, ...]] = {
    "numerical_exaggeration": ("number_change", "unit_change", "bound_change"),
    "temporal_shift": ("date_shift", "order_flip"),
    "negation_flip": ("negation_added", "negation_removed", "opposite"),
    "entity_substitution": ("entity_swap", "entity_graft", "role_swap"),
    "scope_inflation": ("qualifier_strengthened", "hedge_dropped", "intensifier_added", "exclusivity_added"),
    "fabrication": ("fact_graft", "presupposition", "detail_added"),
}
ERROR_TYPE_OF: Mapping[Strategy, ErrorType | None] = MappingProxyType(
    {strategy: next((e for e, group in _OF_ERROR.items() if strategy in group), None) for strategy in STRATEGIES}
)
"""The error that a strategy makes; None if the result means the same, or less, and stays Attributable."""


class Draft(NamedTuple):
    """A proposal of a strategy, before the filters."""

    edits: tuple[Edit, ...]
    new: str = ""
    """Words that the source must not have: the new name, the grafted fact; may be empty."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A perturbed claim, with its changes and gold label.

    >>> made = Perturbation("It opened in 1937.", "It opened in 1973.", "It opened in 1973.", (Span("1937", 13, 17),),
    ...     "date_shift")
    >>> made.label, made.error_type
    ('Not Attributable', 'temporal_shift')
    """

    claim: str
    original: str
    """The claim before, which the source supports."""
    source: str
    spans: tuple[Span, ...]
    """The changes, with offsets in ``claim``; empty spans for removed words."""
    strategy: Strategy
    id: str = ""
    """Name of the row, the strategy and a number."""
    group: str = ""
    """Document, or else row, of origin; perturbations of one group must not be split."""

    @property
    def error_type(self) -> ErrorType | None:
        """None if the claim stays Attributable."""
        return ERROR_TYPE_OF[self.strategy]

    @property
    def label(self) -> Label:
        """Gold label against ``source``."""
        return "Attributable" if self.error_type is None else "Not Attributable"


def to_json(made: Perturbation) -> str:
    """A perturbation as one line of JSON: a row with claim, source and label.

    >>> to_json(Perturbation("A b.", "A c.", "A c.", (Span("b", 2, 3),), "opposite", "r/opposite-1", "r"))[:62]
    '{"id": "r/opposite-1", "claim": "A b.", "source": "A c.", "lab'
    """
    record = {
        "id": made.id,
        "claim": made.claim,
        "source": made.source,
        "label": made.label,
        "error_type": made.error_type,
        "strategy": made.strategy,
        "original": made.original,
        "spans": [{"text": span.text, "start": span.start, "end": span.end} for span in made.spans],
        "group": made.group,
    }
    return json.dumps(record, ensure_ascii=False)
