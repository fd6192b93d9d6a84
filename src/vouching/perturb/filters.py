"""Filters for drafts: the change must be visible, fluent and of its type, and must not repeat another.

The comparators of ``vouching.text`` read the values of a changed claim again. There is no general judge of fluency: the
rules cover the typical faults of these strategies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Literal, get_args

from rapidfuzz import fuzz

from vouching.perturb.names import is_new
from vouching.perturb.records import ERROR_TYPE_OF, Draft, Edit, Perturbation, Strategy, article_for
from vouching.perturb.scene import Scene
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.cues import compare_qualifiers, find_qualifiers
from vouching.text.dates import find_dates
from vouching.text.entities import same_entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.quantities import find_quantities
from vouching.text.words import find_words, lower_words, stem

Filter = Literal["visible", "fluent", "on_type", "near_duplicate"]
FILTERS: tuple[Filter, ...] = get_args(Filter)
"""In the order they are applied."""
NEAR_DUPLICATE = 0.85
"""Similarity above which one of two perturbations is dropped (SEVA, App. F)."""
_SHORTEST, _LONGEST = 0.4, 2.5
_SIGNS = re.compile(r"[$£€%°]")
_ARTICLE = re.compile(r"(?<![\w'’.-])(an?) ([A-Za-z0-9]+)", re.IGNORECASE)
_DISAGREEING = re.compile(
    r"\b(?:(?:they|we|these|those|people) (?:is|was|has|does)|(?:he|she|it) (?:are|were|have|do)|one \w+s (?:are|were)|"
    r"did not \w+ed|(?:is|are|was|were) (?:is|are|was|were)|the (?:the|a|an)|an? (?:the|an?)) ",
    re.IGNORECASE,
)
_SPACING = re.compile(r"  |,,|\(\s|\s\)")
_MAY_DOUBLE = frozenset(("had", "that"))


def visible(original: str, claim: str) -> bool:
    """Whether a reader sees a difference beyond spelling and space."""
    return _reader_key(original) != _reader_key(claim)


def _reader_key(text: str) -> tuple[list[str], list[str]]:
    return [stem(word) if len(word) > 3 else word for word in lower_words(text)], _SIGNS.findall(text)


def fluent(original: str, claim: str) -> bool:
    """Whether the claim has no new fault of form.

    Checks doubled words, articles, agreement of pronoun and verb, brackets and quotation marks, the last word, spaces,
    and a length of 0.4 to 2.5 times the original.
    """
    before, after = lower_words(original), lower_words(claim)
    if not after or not _SHORTEST <= len(after) / max(1, len(before)) <= _LONGEST:
        return False
    faults = [_faults(text, words) for text, words in ((original, before), (claim, after))]
    return not faults[1] - faults[0]


def _faults(text: str, words: list[str]) -> Counter[str]:
    found = Counter[str]()
    found["doubled"] = sum(one == other and one not in _MAY_DOUBLE for one, other in pairwise(words))
    found["article"] = sum(article_for(match[2]) != match[1].lower() for match in _ARTICLE.finditer(text))
    found["agreement"] = len(_DISAGREEING.findall(text))
    found["spacing"] = len(_SPACING.findall(text))
    found["pairs"] = sum(text.count(mark) % 2 for mark in '"') + sum(
        text.count(a) != text.count(b) for a, b in ("()", "[]", "“”")
    )
    found["small start"] = text[:1].islower()
    found["end"] = (
        words[-1] in ("the", "a", "an", "of", "in", "on", "at", "by", "to", "and", "or", "with", "for") if words else 0
    )
    return found


def on_type(scene: Scene, strategy: Strategy, draft: Draft, claim: str) -> bool:
    """Whether the change is the intended one.

    A new value must differ from the old beyond rounding and agree with no value of the source; a new name must not
    occur in the source; a stronger qualifier must not be the source's own; a preserved value must be equal.
    """
    source = scene.source.text.lower()
    if ERROR_TYPE_OF[strategy] is not None and (claim.lower() in source or (draft.new and draft.new.lower() in source)):
        return False
    check = _CHECKS.get(strategy)
    return check is None or check(scene, draft, claim)


def near_duplicate(
    made: Perturbation, edits: Iterable[Edit], others: Iterable[tuple[Perturbation, Iterable[Edit]]]
) -> bool:
    """Whether another perturbation of the same claim is nearly the same.

    That is: the same text, or the same strategy at the same place with a similarity above 0.85. Edits of different
    words are not compared: any two are that similar.
    """
    for other, other_edits in others:
        if other.claim == made.claim:
            return True
        same_place = any(a.start <= b.end and b.start <= a.end for a in edits for b in other_edits)
        alike = other.strategy == made.strategy and same_place
        if alike and fuzz.ratio(made.claim, other.claim) > 100 * NEAR_DUPLICATE:
            return True
    return False


def _changed_quantity(scene: Scene, draft: Draft, claim: str) -> tuple[Quantity, Quantity] | None:
    edit = draft.edits[0]
    shift = len(edit.replacement) - (edit.end - edit.start)
    old = [q for q in scene.claim.quantities if q.hedge_start <= edit.end and edit.start <= q.end]
    if not old:
        return None
    dates = find_dates(claim)
    found = find_quantities(claim, dates)
    new = [q for q in found if abs(q.end - old[0].end - shift) <= 1 or q.start <= edit.start < q.end]
    return (old[0], new[0]) if new else None


def _number_differs(scene: Scene, draft: Draft, claim: str) -> bool:
    pair = _changed_quantity(scene, draft, claim)
    if pair is None or compare_quantities(pair[1], pair[0]) not in ("differs", "incomparable"):
        return False
    return not any(compare_quantities(pair[1], q) in ("equal", "close") for q in scene.source.quantities)


def _bound_differs(scene: Scene, draft: Draft, claim: str) -> bool:
    """Every amount of the source that fits the old bound must contradict the new one; there must be one."""
    pair = _changed_quantity(scene, draft, claim)
    if pair is None:
        return False
    fitting = [q for q in scene.source.quantities if compare_quantities(pair[0], q) in ("equal", "close")]
    return bool(fitting) and all(compare_quantities(pair[1], q) == "differs" for q in fitting)


def _number_equals(scene: Scene, draft: Draft, claim: str) -> bool:
    pair = _changed_quantity(scene, draft, claim)
    if pair is None:
        return _date_equals(scene, draft, claim)
    return compare_quantities(pair[1], pair[0]) == "equal"


def _changed_date(scene: Scene, draft: Draft, claim: str) -> tuple[DateMention, DateMention] | None:
    edit = draft.edits[0]
    shift = len(edit.replacement) - (edit.end - edit.start)
    old = next((d for d in scene.claim.dates if d.start <= edit.start and edit.end <= d.end + 1), None)
    if old is None:
        return None
    new = next((d for d in find_dates(claim) if d.start == old.start and abs(d.end - old.end - shift) <= 1), None)
    return (old, new) if new else None


def _date_differs(scene: Scene, draft: Draft, claim: str) -> bool:
    pair = _changed_date(scene, draft, claim)
    if pair is None or compare_dates(pair[1], pair[0]) != "differs":
        return False
    agreeing = ("equal", "compatible", "more_specific")
    return not any(compare_dates(pair[1], other) in agreeing for other in scene.source.dates)


def _date_equals(scene: Scene, draft: Draft, claim: str) -> bool:
    pair = _changed_date(scene, draft, claim)
    return pair is not None and compare_dates(pair[1], pair[0]) == "equal"


def _name_is_new(scene: Scene, draft: Draft, claim: str) -> bool:
    return is_new(draft.new, scene)


def _names_differ(scene: Scene, draft: Draft, claim: str) -> bool:
    return not any(same_entity(scene.claim.text[e.start : e.end], e.replacement) for e in draft.edits)


def _is_stronger(scene: Scene, draft: Draft, claim: str) -> bool:
    """The added qualifiers and phrase must not occur in the part of the source about the claim."""
    added = " ".join(edit.replacement for edit in draft.edits).strip().lower()
    if added and f" {added} " in f" {scene.home.text.lower()} ":
        return False
    return all(
        compare_qualifiers(q, scene.home.qualifiers) in ("stronger", "absent")
        for q in find_qualifiers(find_words(added))
    )


_CHECKS: dict[Strategy, Callable[[Scene, Draft, str], bool]] = {
    "number_change": _number_differs,
    "unit_change": _number_differs,
    "bound_change": _bound_differs,
    "date_shift": _date_differs,
    "opposite": _is_stronger,
    "entity_swap": _name_is_new,
    "entity_graft": _names_differ,
    "role_swap": _names_differ,
    "qualifier_strengthened": _is_stronger,
    "hedge_dropped": _is_stronger,
    "intensifier_added": _is_stronger,
    "exclusivity_added": _is_stronger,
    "number_format": _number_equals,
    "number_rounded": _number_equals,
    "unit_converted": _number_equals,
    "date_format": _date_equals,
}
