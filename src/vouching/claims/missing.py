"""Whether the sources have what an abstention says is missing: "The context does not mention bicycles".

They do if one sentence has all of it in a way that settles the matter, and do not if they have no word of it, nor a
synonym of one. Otherwise it stays open: whether a text says something in other words is for a reader. Only rules
decide, so verdicts on such claims have fixed scores. Not supported: claims that the sources do mention something,
other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vouching.claims.abstentions import Abstention, abstention_in
from vouching.claims.asked import answers
from vouching.judging.verifier import Outcome
from vouching.reading.language import looks_english
from vouching.text.injection import find_injections
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words, synonym_groups
from vouching.types import (
    NOT_FOUND,
    Alignment,
    NonClaim,
    ReasoningStep,
    Source,
    Span,
    Verdict,
    VerdictWarning,
)

_SUPPORTED, _OPEN, _CONTRADICTED = 0.9, 0.5, 0.1
"""Scores; set, not fitted."""
_BEGINNING = 4_000
"""Characters by which the language of a source is known."""
_DENIAL = re.compile(r"\b(?:no|not|never|nor|neither|without|nothing|cannot|\w+n['’]t)\b", re.IGNORECASE)


def looked_up(non_claims: Iterable[NonClaim], sources: Sequence[Source]) -> tuple[NonClaim, ...]:
    """The passages, with what the sources have of the topic of each abstention."""
    return tuple(_looked_up(one, sources) if one.topic and sources else one for one in non_claims)


def _looked_up(passage: NonClaim, sources: Sequence[Source]) -> NonClaim:
    abstention = abstention_in(passage.span.text)
    if abstention is None:
        return passage
    in_sources, place = _in_sources(abstention, passage.span.text, sources)
    return replace(passage, in_sources=in_sources, place=place)


def about_sources(outcomes: Iterable[Outcome], sources: Sequence[Source]) -> list[Outcome]:
    """The outcomes, with those of abstentions decided by what the sources mention, or left open.

    Without any words in the sources there is nothing to check against, and no kind of error.
    """
    if not any(character.isalnum() for source in sources for character in source.text):
        return [_without_evidence(outcome) for outcome in outcomes]
    return [_decided(outcome, sources) for outcome in outcomes]


def _without_evidence(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Verdict):
        return outcome
    why = "There is nothing to check against: the sources are empty."
    step = ReasoningStep(outcome.claim.text, NOT_FOUND, "not_supported", why)
    return replace(outcome, relation="not_found", error_type=None, evidence_alignment=(), reasoning_chain=(step,))


def _decided(outcome: Outcome, sources: Sequence[Source]) -> Outcome:
    claim = outcome.claim
    abstention = abstention_in(claim.text)
    if abstention is None or not isinstance(outcome, Verdict):
        return outcome
    if any(abstention_in(sentence.text) for sentence in _sentences(sources)):  # a source that speaks so may be quoted
        return outcome
    in_sources, place = _in_sources(abstention, claim.text, sources)
    return _verdict(outcome, abstention.topic, in_sources, place)


def _in_sources(abstention: Abstention, said: str, sources: Sequence[Source]) -> tuple[bool | None, Span | None]:
    """Whether the sources have the topic (None: open), and the sentence that has it."""
    if abstention.topic is None:
        return None, None
    sentences = [*_sentences(sources)]
    telling = [one for one in sentences if not abstention_in(one.text)]
    place = next((one for one in telling if _settles(abstention, one.text)), None)
    if place is None:
        answer = answers(abstention.topic.text, [one.text for one in telling])
        place = telling[answer] if answer is not None else _under_its_subject(abstention.topic.text, telling)
    if place is not None:
        return True, place
    known = {key for sentence in sentences for word in find_words(sentence.text) for key in _keys(word.stem)}
    is_english = looks_english(said) and all(looks_english(source.text[:_BEGINNING]) for source in sources)
    is_open = not sentences or not is_english or any(_keys(word) & known for word in abstention.stems)
    return (None if is_open else False), None


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


def _settles(missing: Abstention, sentence: str) -> bool:
    """Whether a sentence clearly has what is said to be missing."""
    words = find_words(sentence)
    stems = [word.stem for word in words if word.is_content]
    if not set(missing.stems) <= set(stems):
        return False
    if missing.kind == "mention":
        return True
    together = " ".join(missing.stems)
    if missing.kind == "statement":
        opening = missing.topic.text.split()[0].lower() if missing.topic else ""
        answered = opening in ("whether", "if") or (opening == "that" and not _DENIAL.search(sentence))
        return answered and f" {together} " in f" {' '.join(stems)} "
    assert missing.topic is not None
    # "The fare is 6 euros": the subject is the topic alone, and something is said of it
    named = rf"(?:the|a|an|its|their)?\s*{re.escape(missing.topic.text.removeprefix('the ').strip())}"
    return bool(re.match(rf"\W*{named}\s*(?::|\b(?:is|are|was|were|costs?|amounts?\s+to)\b)\s*\S*\d", sentence, re.I))


_OF = re.compile(r"(?:the |an? )?(?P<head>[^,]+?) (?:of|for) (?:the )?(?P<name>[A-Z][\w'’-]*)")


def _under_its_subject(topic: str, sentences: Sequence[Span]) -> Span | None:
    """The sentence that has "side effects" where "the side effects of Sertalin" are missing, if Sertalin is named last.

    >>> text = ["Sertalin is a drug.", "The side effects are mild."]
    >>> _under_its_subject("the side effects of Sertalin", [Span(one, 0, 0) for one in text]).text
    'The side effects are mild.'
    """
    asked = _OF.fullmatch(topic)
    if asked is None:
        return None
    head = " ".join(word.stem for word in find_words(asked["head"]) if word.is_content)
    named = ""
    for sentence in sentences:
        stems = " ".join(word.stem for word in find_words(sentence.text) if word.is_content)
        others = re.findall(r"(?<=\w )[A-Z][\w'’-]*", sentence.text)
        if head and f" {head} " in f" {stems} " and named == asked["name"] and not others:
            return sentence
        again = re.search(rf"\b{re.escape(asked['name'])}\b", sentence.text)
        named = asked["name"] if again else (others or [named])[-1]
    return None


def _verdict(judged: Verdict, topic: Span | None, in_sources: bool | None, place: Span | None) -> Verdict:
    """The verdict: contradicted by a sentence, supported without one, or open."""
    score = _OPEN if in_sources is None else _CONTRADICTED if in_sources else _SUPPORTED
    attributable = score >= judged.threshold
    note = "The claim is about the sources: rules decided by the words that they have, and the score is a fixed one."
    named = topic.text if topic else ""
    if in_sources is None:
        step = None
        about = f'and the sources may have "{named}"' if named else "of nothing by name"
        note = f"The claim is an abstention, {about}: compare it with the sources."
    elif place is None:
        step = ReasoningStep(named, NOT_FOUND, "supported", f'No source has a word of "{named}".')
    else:
        reason = "The claim says that the sources do not have it, but this sentence does."
        step = ReasoningStep(named, place.text, "not_supported", reason)
    return replace(
        judged,
        label="Attributable" if attributable else "Not Attributable",
        score=score,
        confidence=max(score, 1 - score),
        relation="contradicted" if place else "supported" if attributable else "not_found",
        evidence_alignment=(Alignment(topic, place, "mismatch" if place else "match"),) if topic and step else (),
        reasoning_chain=(step,) if step else (),
        error_type="negation_flip" if place and not attributable else None,
        fix_suggestion=None,
        revised_claim=None,
        warnings=(
            *(w for w in judged.warnings if w.kind not in ("conflict", "inconsistency")),
            VerdictWarning("uncalibrated", note),
        ),
    )
