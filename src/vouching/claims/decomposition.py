"""Split a response into claims.

A response is split into sentences, then clauses; what states nothing is set aside with a reason. Claims keep the words
of the response. A clause that shares its subject with the one before it gets that subject put in front; what a pronoun
stands for, and the question of a short answer, are added in square brackets. Not supported: other rewriting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from vouching.claims.abstentions import abstention_in, without_facts
from vouching.claims.antecedents import Discourse
from vouching.claims.no_claims import Reason, why_no_claim
from vouching.claims.short_answers import claim_of_answer, is_short_answer, needs_question
from vouching.models.base import spoken, thoughts
from vouching.text.clauses import Clause, finite_verb, split_clauses, subject_of
from vouching.text.sentences import FOOTNOTE, LABEL, LIST_MARKER, markup_spans, sentence_spans
from vouching.types import Claim, NonClaim, Span

_PRONOUN = re.compile(r"[\"“'‘*_(]*(?:he|she|it|they|this|these|his|her|its|their)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:[A-Z][\w.'’-]*|\d+)(?:\s+(?:of\s+|the\s+|de\s+|van\s+)?[A-Z0-9][\w.'’-]*)*")
_FIRST_WORDS = frozenset(
    str.split("""the a an in on at for this that these those it he she they his her its their we i according
        based with however despite finally overall""")
)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A response split into claims."""

    claims: tuple[Claim, ...]
    """In the response's order, with the ids "claim-1", "claim-2" and so on."""
    non_claims: tuple[NonClaim, ...]
    """What states nothing that could be checked, in the response's order."""


def decompose(response: str, question: str | None = None) -> Decomposition:
    """Split a response into claims and the rest.

    Sentences and list items are claims; English compound sentences are split where both halves are complete clauses. A
    sentence with a verb and a number or a name is always a claim, as is a short answer that is the whole response,
    except a "Yes." or "No." without its question. In doubt, text is a claim.

    Args:
        response: the answer.
        question: what it answers. A short answer ("Four.", "Yes.") becomes one claim with it; one that does not fit
            the question is no claim.

    Returns:
        Claims and non-claims. Their spans do not overlap, and everything outside them is white space, list markers,
        and the conjunctions, commas and semicolons between clauses. ``claim.text`` is the text of its span, except
        that a clause without its own subject starts with the one it shares, and that words in square brackets say what
        a pronoun stands for or what was asked. Such additions are the claim's ``context``; the context of a claim whose
        pronoun has no sure antecedent is the subject last named.

        >>> parts = decompose("Sure! Ann Lee was born in 1912 and moved to Paris in 1930. Is that all?")
        >>> [claim.text for claim in parts.claims]
        ['Ann Lee was born in 1912', 'Ann Lee moved to Paris in 1930.']
        >>> [(other.span.text, other.reason) for other in parts.non_claims]
        [('Sure!', 'greeting'), ('Is that all?', 'question')]
        >>> [claim.text for claim in decompose("Four. She lived in Rome.", "How many sons did Ann Lee have?").claims]
        ['[Ann Lee had] four [sons].', 'She [Ann Lee] lived in Rome.']
    """
    thought = [(start, end) for start, end in thoughts(response) if response[start:end].strip()]
    whole, response = response, spoken(response)
    pieces = list(_pieces(response))
    asked = (question or "").strip()
    found = _Found(response, asked, Discourse(asked))
    for index, (start, end, markup) in enumerate(pieces):
        if markup:
            found.non_claims.append(NonClaim(Span(response[start:end], start, end), markup))
            continue
        next_start = pieces[index + 1][0] if index + 1 < len(pieces) else len(response)
        stands_alone = "\n" in response[end:next_start] or index + 1 == len(pieces)
        found.read(start, end, is_whole=len(pieces) == 1, stands_alone=stands_alone)
    found.non_claims += [NonClaim(Span(whole[start:end], start, end), "thought") for start, end in thought]
    return Decomposition(tuple(found.claims), tuple(sorted(found.non_claims, key=lambda one: one.span.start)))


@dataclass(slots=True)
class _Found:
    """The claims of a response so far, and what is needed to read its next sentence."""

    response: str
    question: str
    discourse: Discourse
    claims: list[Claim] = field(default_factory=list[Claim])
    non_claims: list[NonClaim] = field(default_factory=list[NonClaim])
    named: str = ""
    """The subject last named."""

    def read(self, start: int, end: int, *, is_whole: bool, stands_alone: bool) -> None:
        """Add the claims of one sentence, or the reason why it has none."""
        response = self.response
        marker = LIST_MARKER.match(response, start, end)
        is_item = marker is not None and _opens_line(response, start)
        start = marker.end() if marker and is_item else start
        label = _label(response, start, end)
        if label:
            self.non_claims.append(NonClaim(label, "heading"))
            start = end - len(response[label.end : end].lstrip())
        sentence = Span(response[start:end], start, end)
        answers = bool(self.question) and not self.claims and not is_item and is_short_answer(sentence.text)
        reason = why_no_claim(
            sentence.text, is_item=is_item or bool(label), whole=is_whole or answers, ends_line=stands_alone
        )
        if reason not in ("question", "greeting") and abstention_in(sentence.text):
            self._split(sentence)
            return
        answered = claim_of_answer(self.question, sentence.text) if answers and not reason else None
        if answered:
            self.claims.append(Claim(answered, "claim-1", sentence, context=self.question))
        elif reason or answers or needs_question(sentence.text):
            self.non_claims.append(NonClaim(sentence, reason or "fragment"))
        else:
            self._split(sentence)

    def _split(self, sentence: Span) -> None:
        for first, last in without_facts(sentence.text):
            self._add_clauses(Span(sentence.text[first:last], sentence.start + first, sentence.start + last))

    def _add_clauses(self, sentence: Span) -> None:
        for clause in [Clause(0, len(sentence.text))] if abstention_in(sentence.text) else split_clauses(sentence.text):
            text = sentence.text[clause.start : clause.end]
            span = Span(text, sentence.start + clause.start, sentence.start + clause.end)
            if abstention := abstention_in(text):
                topic = abstention.topic and _moved(abstention.topic, span.start)
                self.non_claims.append(NonClaim(span, "abstained", topic))
                continue
            self.claims.append(
                _claim(span, clause.subject, self.named, self.discourse, f"claim-{len(self.claims) + 1}")
            )
            self.named = _named_subject(text, clause.subject) or self.named


def _pieces(response: str) -> Iterator[tuple[int, int, Reason | None]]:
    """The sentences and the markup of a response, each with the reason if it is not a claim."""
    done = 0
    for start, end, kind in (*markup_spans(response), (len(response), len(response), None)):
        for first, last in sentence_spans(response[done:start]):
            first, last = done + first, done + last
            footnote = FOOTNOTE.match(response, first, last) if _opens_line(response, first) else None
            if footnote and finite_verb(response[footnote.end() : last]):
                yield first, first + len(footnote.group().rstrip()), "fragment"
                first = footnote.end()
            yield first, last, "fragment" if footnote and first != footnote.end() else None
        if kind:
            yield start, end, kind
        done = end


def _label(response: str, start: int, end: int) -> Span | None:
    """The label at the start of a sentence ("**Price:**", "Step 1:"), without the blanks after it."""
    found = LABEL.match(response, start, end)
    if not found or not any(character.isalnum() for character in response[found.end() : end]):
        return None
    text = found.group().rstrip()
    return Span(text, start, start + len(text))


def _opens_line(response: str, start: int) -> bool:
    """Whether only blanks precede the offset in its line."""
    before = response[:start].rstrip(" \t\u00a0") if start < 80 else response[start - 80 : start].rstrip(" \t\u00a0")
    return not before or before[-1] in "\n\r\f\v\x85\u2028\u2029"


def _claim(span: Span, subject: str, named: str, discourse: Discourse, claim_id: str) -> Claim:
    """The claim for a clause, given the subject it shares, the subject last named and what was said before."""
    text = f"{subject[0].upper()}{subject[1:]} {span.text}" if subject else span.text
    text, antecedent = discourse.complete(text)
    if subject:
        context = antecedent or (named if _PRONOUN.fullmatch(subject) else "") or subject
    else:
        context = antecedent or (named if _PRONOUN.match(span.text) else "")
    return Claim(text, claim_id, span, context)


def _moved(span: Span, by: int) -> Span:
    return Span(span.text, span.start + by, span.end + by)


def _named_subject(text: str, inherited: str) -> str:
    """The name of what a claim is about: its subject, else the first run of capitalised words; "" without one."""
    if inherited or _PRONOUN.match(text):
        return ""
    subject = subject_of(text)
    if subject:
        return subject
    names = (match.group() for match in _NAME.finditer(text) if not text.startswith(",", match.end()) or match.start())
    return next((name.rstrip(".") for name in names if name[0].isupper() and name.lower() not in _FIRST_WORDS), "")
