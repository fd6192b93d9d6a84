"""Claims about the sources themselves: "The context does not mention bicycles" is no claim about bicycles.

Such a claim is supported if no source has a word of what it says is missing, or a synonym of one, and contradicted if
one sentence has all of it in a way that settles the matter. Otherwise it stays open: whether a text says something in
other words is for a reader. Only rules decide, so these verdicts have fixed scores. Not supported: claims that the
sources do mention something, other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from vouching.methods.base import Outcome
from vouching.reading.language import looks_english
from vouching.text.framing import DOCUMENT_NAMED
from vouching.text.injection import find_injections
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words, synonym_groups
from vouching.types import NOT_FOUND, Alignment, ReasoningStep, Source, Span, Unverified, Verdict, VerdictWarning

_SUPPORTED, _CONTRADICTED = 0.9, 0.1
"""Scores; set, not fitted."""
_BEGINNING = 4_000
"""Characters by which the language of a source is known."""
Kind = Literal["mention", "value", "statement"]
"""What is said to be missing: any mention of a thing, its value ("does not specify the fare"), or a statement."""

_GENERAL = r"""(?:the|this|these|your|any\s+of\s+the)\s+
    (?:(?:provided|given|supplied|available|retrieved|above|source|search)\s+)*
    (?:contexts?|documents?|texts?|passages?|sources?|articles?|excerpts?|snippets?|materials?|results?|information)
    (?:\s+(?:provided|given|supplied|available|above))?"""
"""The sources in general: "the provided context". Of these alone "does not include" speaks of what they say."""
_SOURCE = rf"(?:{_GENERAL}|{DOCUMENT_NAMED})"
_INFORMATION = r"""(?:(?:further|specific|explicit|direct|more)\s+)?
    (?:information|details?|mention|reference|data|indication|word)"""
_ABOUT = r"(?:about|on|of|to|regarding|concerning|as\s+to|for)"
_BE_NOT = r"(?:is|are|was|were)(?:\s+not|n['’]t)(?:\s+\w+ly)?"
_DO_NOT = r"(?:(?:do|does|did)(?:\s+not|n['’]t)|never)(?:\s+(?:\w+ly|also|even))?"
_SAY = r"(?:mention|discuss|address|specify|state|say|indicate|clarify|describe|reveal|explain)"
_MENTION = r"(?:mention|discuss|address|describe|refer\s+to|talk\s+about|touch\s+on)"
_GIVE = r"(?:cover|give|note|list|provide|include|contain|tell\s+(?:us|me|you))"
_WITHIN = rf"(?:\s+(?:in|by|within|anywhere\s+in)\s+{_SOURCE})"
_TOPIC = r"(?P<topic>.+?)"
_ASKED = r"(?P<topic>(?:that|whether|if|how|when|where|why|who|what|which)\b.+?)"
_MADE = r"(?:given|provided|available|included|made|found)"
_WORDINGS: tuple[tuple[str, Kind], ...] = (
    (rf"{_SOURCE}\s+{_DO_NOT}\s+\w+\s+(?:any\s+)?(?:{_INFORMATION}|anything)\s+{_ABOUT}\s+{_TOPIC}", "mention"),
    (rf"{_SOURCE}\s+\w+s?\s+(?:nothing|no\s+{_INFORMATION})\s+{_ABOUT}\s+{_TOPIC}", "mention"),
    (rf"there(?:\s+is|\s+are|['’]s)\s+no\s+{_INFORMATION}(?:\s+{_MADE})?{_WITHIN}?\s+{_ABOUT}\s+{_TOPIC}{_WITHIN}?",
     "mention"),
    (rf"no\s+{_INFORMATION}\s+(?:is|are|was|were|has\s+been)\s+{_MADE}{_WITHIN}?\s+{_ABOUT}\s+{_TOPIC}{_WITHIN}?",
     "mention"),
    (rf"{_TOPIC}\s+{_BE_NOT}\s+(?:mentioned|discussed|addressed){_WITHIN}", "mention"),
    (rf"{_TOPIC}\s+{_BE_NOT}\s+(?:specified|stated|given){_WITHIN}", "value"),
    (rf"it\s+{_BE_NOT}\s+(?:mentioned|specified|stated)\s+{_ASKED}{_WITHIN}?", "statement"),
    (rf"{_SOURCE}\s+{_DO_NOT}\s+{_SAY}\s+{_ASKED}", "statement"),
    (rf"{_SOURCE}\s+{_DO_NOT}\s+{_MENTION}\s+{_TOPIC}", "mention"),
    (rf"{_SOURCE}\s+{_DO_NOT}\s+{_SAY}\s+{_TOPIC}", "value"),
    (rf"{_GENERAL}\s+{_DO_NOT}\s+{_GIVE}\s+{_TOPIC}", "value"),
)  # fmt: skip
_DENIAL = re.compile(r"\b(?:no|not|never|nothing)\b|n['’]t\b", re.IGNORECASE)
"""What every wording has."""
_NO_TOPIC = frozenset(
    str.split("""information detail details data answer answers question questions anything enough sufficient relevant
        specific further more exact exactly explicit direct such topic subject context document text that whether if how
        when where why who what which""")
)
_DENIED = re.compile(r"\b(?:no|not|never|nor|neither|without|\w+n['’]t)\b", re.IGNORECASE)


@cache
def _forms() -> list[tuple[re.Pattern[str], Kind]]:
    """The wordings as patterns, compiled only for a claim that denies something: that takes 30 ms."""
    start = r"\s*(?:(?:unfortunately|however|but|sorry)[,\s]+)*"
    return [(re.compile(rf"{start}{form}\W*$", re.VERBOSE | re.IGNORECASE), kind) for form, kind in _WORDINGS]


@dataclass(frozen=True, slots=True)
class Missing:
    """What a claim says that the sources do not have."""

    topic: Span
    """The words of the claim for it."""
    kind: Kind
    stems: tuple[str, ...]
    """Its content words."""


def missing_in(claim: str) -> Missing | None:
    """What a claim says that the sources do not mention; None for a claim about anything else.

    >>> missing_in("The context does not mention the ferry.").topic.text, missing_in("The ferry does not mention it.")
    ('the ferry', None)
    """
    for form, kind in _forms() if _DENIAL.search(claim) else ():
        if found := form.match(claim):
            topic = found.group("topic")
            stems = tuple(w.stem for w in find_words(topic) if w.is_content and w.lower not in _NO_TOPIC)
            return Missing(Span(topic, *found.span("topic")), kind, stems) if stems else None
    return None


def about_sources(outcomes: Iterable[Outcome], sources: Sequence[Source]) -> list[Outcome]:
    """The outcomes, with those of claims about the sources decided by what the sources mention, or left open."""
    return [_decided(outcome, sources) for outcome in outcomes]


def _decided(outcome: Outcome, sources: Sequence[Source]) -> Outcome:
    claim = outcome.claim
    missing = missing_in(claim.text)
    if missing is None or not isinstance(outcome, Verdict):
        return outcome
    sentences = [*_sentences(sources)]
    if any(missing_in(sentence.text) for sentence in sentences):  # a source that speaks so may be quoted
        return outcome
    place = next((one for one in sentences if _settles(missing, one.text)), None)
    if place is not None:
        return _verdict(outcome, missing, place)
    known = {key for sentence in sentences for word in find_words(sentence.text) for key in _keys(word.stem)}
    shared = [word for word in missing.stems if _keys(word) & known]
    is_english = looks_english(claim.text) and all(looks_english(source.text[:_BEGINNING]) for source in sources)
    if not shared and sentences and is_english:
        return _verdict(outcome, missing, None)
    return Unverified(claim, "undecided", _open_message(missing, shared), outcome.warnings, outcome.usage)


def _sentences(sources: Sequence[Source]) -> Iterable[Span]:
    """The sentences of the sources that may be evidence."""
    for source in sources:
        spans = sentence_spans(source.text)
        excluded = [(found.start, found.end) for found in find_injections(source.text, spans)]
        for start, end in spans:
            if not any(first < end and start < last for first, last in excluded):
                yield Span(source.text[start:end], start, end, source.id)


def _keys(word: str) -> frozenset[str | int]:
    """A stem with the numbers of its groups of synonyms."""
    return frozenset((word, *synonym_groups().get(word, ())))


def _settles(missing: Missing, sentence: str) -> bool:
    """Whether a sentence clearly has what is said to be missing."""
    words = find_words(sentence)
    stems = [word.stem for word in words if word.is_content]
    if not set(missing.stems) <= set(stems):
        return False
    if missing.kind == "mention":
        return True
    together = " ".join(missing.stems)
    if missing.kind == "statement":
        states = missing.topic.text.split()[0].lower() in ("that", "whether", "if")
        return states and f" {together} " in f" {' '.join(stems)} " and not _DENIED.search(sentence)
    # "The fare is 6 euros": the subject is the topic alone, and something is said of it
    named = rf"(?:the|a|an|its|their)?\s*{re.escape(missing.topic.text.removeprefix('the ').strip())}"
    return bool(re.match(rf"\W*{named}\s*(?::|\b(?:is|are|was|were|costs?|amounts?\s+to)\b)\s*\S*\d", sentence, re.I))


def _verdict(judged: Verdict, missing: Missing, place: Span | None) -> Verdict:
    """The verdict: contradicted by a sentence, or supported without one."""
    score = _SUPPORTED if place is None else _CONTRADICTED
    attributable = score >= judged.threshold
    if place is None:
        step = ReasoningStep(
            missing.topic.text, NOT_FOUND, "supported", f'No source has a word of "{missing.topic.text}".'
        )
    else:
        reason = "The claim says that the sources do not have it, but this sentence does."
        step = ReasoningStep(missing.topic.text, place.text, "not_supported", reason)
    note = "The claim is about the sources: rules decided by the words that they have, and the score is a fixed one."
    return replace(
        judged,
        label="Attributable" if attributable else "Not Attributable",
        score=score,
        confidence=score if attributable else 1 - score,
        relation="supported" if place is None else "contradicted",
        evidence_alignment=(Alignment(missing.topic, place, "match" if place is None else "mismatch"),),
        reasoning_chain=(step,),
        error_type=None if attributable or place is None else "negation_flip",
        fix_suggestion=None,
        revised_claim=None,
        warnings=(
            *(w for w in judged.warnings if w.kind not in ("conflict", "inconsistency")),
            VerdictWarning("uncalibrated", note),
        ),
    )


def _open_message(missing: Missing, shared: Sequence[str]) -> str:
    words = [w.lower for w in find_words(missing.topic.text) if w.stem in shared]
    named = ", ".join(f'"{word}"' for word in dict.fromkeys(words))
    seen = f"they have {named} or a synonym" if named else "rules cannot tell"
    return f'The claim is that the sources do not have "{missing.topic.text}": {seen}, so a reader has to decide.'
