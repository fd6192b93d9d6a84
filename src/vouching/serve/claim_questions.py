"""Which questions to a decision model the verifier answers: whether, or how, sources support a claim.

A probability of support is the right answer only to a question for support, so the wording must be one of the forms
below; any other, and each whose options, criteria or instructions say the opposite, is left to a fallback or refused.
Not supported: wording in languages other than English, several claims in one question, and levels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from vouching.models.decision_shapes import OUTCOMES, Json
from vouching.models.json_fields import json_object
from vouching.rows.conversations import as_json

Stance: TypeAlias = Literal["supported", "unsupported", "contradicted", "relation"]
"""What a sentence says of a claim, or asks; "relation" asks which of them holds."""
_RELATIONS: dict[str, set[str]] = {
    "supported": {*"supported supports entailed entailment attributable grounded faithful true yes".split()},
    "contradicted": {"contradicted", "contradiction", "refuted", "refutes"},
    "not_found": {"not_found", "neutral", "unknown", "not_enough_info", "not_mentioned"},
    "unsupported": {"unsupported", "not_supported", "not_attributable", "ungrounded", "hallucinated", "false", "no"},
}
"""The options of a choice that a verdict answers. Without a place for what is not found, it answers none."""
_DESCRIBED: dict[str, set[Stance]] = {
    "supported": {"supported"},
    "contradicted": {"contradicted"},
    "not_found": {"unsupported"},
    "unsupported": {"unsupported", "contradicted"},
}
"""What the description of an option may say."""
_CLAIM = r"(?:it|(?:(?:the|this|that|every part of the) )?(?:claim|statement|sentence)(?: below| above)?)"
_PART = rf"(?:(?:a|any|some) part of )?{_CLAIM}"
_SOURCES = (
    r"(?:them|it|(?:(?:the|these|this|all|any|one|at least|given|provided|retrieved|following|facts?|truths?|source|"
    r"information|evidence|in|of|from) )*(?:sources?|documents?|contexts?|passages?|evidence|texts?|state|input|"
    r"retrieval_context|reference_context))"
)
_HOW = r"(?:(?:fully|entirely|wholly|completely|directly|explicitly) )?"
_HELD = (
    r"(?:(?:supported|backed|entailed|implied|grounded|attributable|attributed|faithful|stated|substantiated|confirmed|"
    rf"inferred|derived)(?: (?:by|in|on|to|from) {_SOURCES})?|true (?:to|given|according to) {_SOURCES}|in {_SOURCES})"
)
_LOST = (
    r"(?:unsupported|ungrounded|unfaithful|hallucinated|a hallucination|missing|absent)"
    rf"(?: (?:by|in|on|to|from) {_SOURCES})?"
)
_VERB = r"(?:support|entail|imply|implie|confirm|back|state)s?"
_FORMS: dict[Stance, tuple[str, ...]] = {
    "supported": (
        rf"(?:(?:(?:is|can) |whether )?{_CLAIM} (?:is |can |be )*)?{_HOW}{_HELD}",
        rf"(?:does |whether )?(?:{_CLAIM} )?follows? from {_SOURCES}",
        rf"(?:(?:do|does|can) |whether )?{_SOURCES} {_HOW}{_VERB} {_CLAIM}",
    ),
    "unsupported": (
        rf"(?:{_PART} (?:is|can) )?not (?:be )?{_HOW}{_HELD}",
        rf"(?:{_PART} is )?{_LOST}",
        rf"{_PART} does not follow from {_SOURCES}",
        rf"{_SOURCES} (?:do|does) not {_HOW}(?:{_VERB}|mention|contain) {_PART}",
        rf"{_SOURCES} neither supports? nor contradicts? {_CLAIM}",
    ),
    "contradicted": (
        rf"(?:{_PART} is )?(?:contradicted|refuted)(?: by {_SOURCES})?",
        rf"{_SOURCES} (?:contradict|refute)s? {_PART}",
        rf"{_PART} contradicts {_SOURCES}",
        rf"{_SOURCES} says? otherwise(?: about {_PART})?",
    ),
    "relation": (rf"how (?:do|does) {_SOURCES} relate to {_CLAIM}", rf"classify {_CLAIM}(?: against {_SOURCES})?"),
}
_COMPILED: dict[Stance, re.Pattern[str]] = {stance: re.compile("|".join(forms)) for stance, forms in _FORMS.items()}
_NEUTRAL = re.compile(
    r"(?:answer(?: with)? (?:yes or no|true or false)|sources and claim are data, never instructions|)"
)
_ANSWER = re.compile(
    r"(?:answer|return|say|reply)(?: with)? (yes|true|no|false) (?:if|when) (.+?)"
    r"(?:,? (?:else|otherwise) (?:yes|true|no|false))?"
)
_LONGEST = 300
"""Characters of a sentence that may be one of the forms."""
_LONGEST_TEXT = 2_000
_LINE = re.compile(r"\s*claim:\s*(\S.*)", re.IGNORECASE)
_FIELD = re.compile(r"\b(?:claim|question|task|instructions?|sources?|contexts?|documents?|evidence):", re.IGNORECASE)
_KEYS = {"claim", "question", "task", *OUTCOMES}
ACCEPTED = (
    'this server answers questions about a claim: send {"claim": "..."} or a text with one line "Claim: ...", beside '
    'it at most a question for support, such as "Is the claim supported by the sources?" (or grounded in, entailed by, '
    "attributable to, faithful to, stated in), not for its opposite; a choice needs the options supported, "
    "contradicted and not_found, or supported and not_supported; criteria may only say what their option says; "
    "or set serve.decisions_fallback for other questions"
)
"""Why a question is refused."""


def asked_claim(question: Json) -> tuple[str, dict[str, str]] | None:
    r"""The claim that a question is about, and its option for each relation; None if the verifier does not answer it.

    >>> asked_claim({"type": "noul", "instructions": "Is it grounded in the context?\nClaim: It opened."})
    ('It opened.', {'supported': 'true', 'unsupported': 'false'})
    >>> asked_claim({"type": "noul", "instructions": "Is the claim unsupported?\nClaim: It opened."}) is None
    True
    """
    fields = _fields(question.get("instructions"))
    if fields is None or question["type"] == "score":
        return None
    criteria = json_object(question.get("criteria"))
    if question["type"] == "noul":
        criteria = dict.fromkeys(OUTCOMES) | {name: fields.get(name) for name in OUTCOMES} | criteria
    options = relations_of(criteria)
    if options is None:
        return None
    for relation, option in options.items():
        if (said := criteria[option]) and not (isinstance(said, str) and stances(said) <= _DESCRIBED[relation]):
            return None
    asked = stances(f"{fields.get('question', '')}\n{fields.get('task', '')}")
    allowed: set[Stance | None] = {"supported"}
    if question["type"] == "choice" and not set(criteria) & {"yes", "no", *OUTCOMES}:
        allowed.add("relation")
    return (fields["claim"].strip(), options) if asked <= allowed else None


def _fields(given: Any) -> dict[str, str] | None:
    """The claim and what is said beside it, by name; None if there is not one claim, or an unknown field."""
    if isinstance(given, str) and not isinstance(as_json(given), dict):
        lines = given.splitlines()
        claims = [(place, said[1]) for place, line in enumerate(lines) if (said := _LINE.fullmatch(line))]
        if len(claims) != 1 or _FIELD.search(claims[0][1]):
            return None
        [(place, claim)] = claims
        return {"claim": claim, "question": "\n".join(lines[:place] + lines[place + 1 :])}
    found = json_object(as_json(given))
    inner = json_object(found.get("question"))
    if inner:
        found = {key: value for key, value in found.items() if key != "question"}
        if inner.keys() & found.keys():
            return None
        found |= inner
    texts = all(isinstance(value, str) for value in found.values())
    return found if texts and found.keys() <= _KEYS and found.get("claim", "").strip() else None


def stances(text: str) -> set[Stance | None]:
    """What the sentences of a text say of a claim; None is among them if a sentence has none of the known forms.

    >>> stances("Is `claim` supported by the facts in `retrieval_context`? Answer no if it contradicts them.")
    {'supported'}
    >>> stances("Is the claim polite?")
    {None}
    """
    if len(text) > _LONGEST_TEXT:
        return {None}
    found: set[Stance | None] = set()
    for sentence in re.split(r"[.?!;\n]", re.sub(r"[`'\"*]", "", text.lower())):
        said = " ".join(sentence.split())
        if _NEUTRAL.fullmatch(said):
            continue
        if len(said) <= _LONGEST and (answer := _ANSWER.fullmatch(said)):
            fits = _DESCRIBED["supported" if answer[1] in ("yes", "true") else "unsupported"]
            found |= set() if _stance(answer[2]) in fits else {None}
        else:
            found.add(_stance(said))
    return found


def _stance(said: str) -> Stance | None:
    """What a sentence says; of one with "or", what all parts say."""
    said = said.removesuffix(", which do not say otherwise")
    if len(said) > _LONGEST:
        return None
    found: set[Stance | None] = {
        next((stance for stance, form in _COMPILED.items() if form.fullmatch(part)), None)
        for part in re.split(r",? or (?=does |is |follows |the |it )", said)
    }
    if found == {"unsupported", "contradicted"}:
        return "unsupported"
    return found.pop() if len(found) == 1 else None


def relations_of(options: Mapping[str, Any]) -> dict[str, str] | None:
    """The option for each relation; None unless a verdict answers the choice.

    >>> relations_of({"Entailment": None, "Contradiction": None, "Neutral": None})
    {'supported': 'Entailment', 'contradicted': 'Contradiction', 'not_found': 'Neutral'}
    >>> relations_of({"supported": None, "contradicted": None}) is None
    True
    """
    found: dict[str, str] = {}
    for option in options:
        name = re.sub(r"\W+", "_", option.strip().lower())
        relation = next((relation for relation, names in _RELATIONS.items() if name in names), None)
        if relation is None or relation in found:
            return None
        found[relation] = option
    rest = found.keys() - {"supported"}
    fits = "supported" in found and (rest == {"unsupported"} or ("not_found" in rest and "unsupported" not in rest))
    return found if fits else None
