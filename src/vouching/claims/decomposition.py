"""Split a response into claims.

A response is split into sentences, then clauses; what states nothing is set aside with a reason. Claims keep the words
of the response. A clause that shares its subject with the one before it gets that subject put in front; what a pronoun
stands for, and the question of a short answer, are added in square brackets. Not supported: other rewriting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from vouching.claims.abstentions import abstention_in, without_facts
from vouching.claims.antecedents import Discourse
from vouching.claims.no_claims import why_no_claim
from vouching.claims.short_answers import claim_of_answer, is_short_answer, needs_question
from vouching.models.base import spoken, thoughts
from vouching.reading.plain import PlainText
from vouching.reading.spanning_cells import with_whole_rows
from vouching.text.clauses import Clause, finite_verb, split_clauses, subject_of
from vouching.text.clauses import states as is_statement
from vouching.text.coordinations import shares
from vouching.text.layout import as_markdown
from vouching.text.sentences import FOOTNOTE, LABEL, LIST_MARKER, sentence_spans
from vouching.text.structures import Piece, named, structured_pieces
from vouching.types import Claim, NonClaim, Span

_PRONOUN = re.compile(r"[\"“'‘*_(]*(?:he|she|it|they|this|these|his|her|its|their)\b", re.IGNORECASE)
_LONGEST_KEY = 4
"""In words."""
_NAME = re.compile(r"(?:[A-Z][\w.'’-]*|\d+)(?:\s+(?:of\s+|the\s+|de\s+|van\s+)?[A-Z0-9][\w.'’-]*)*")
_LABEL_LINE = re.compile(r"^[ \t]*[*_]{0,3}[^\W\d_][^\n:*]{0,60}:[*_]{0,3}(?=[ \t]+\S)", re.MULTILINE)
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


def decompose(response: str, question: str | None = None, most: int | None = None) -> Decomposition:
    """Split a response into claims and the rest.

    Sentences and list items are claims; English compound sentences are split where both halves are complete clauses,
    and a sentence with "respectively" is a claim for each of its subjects. A sentence with a verb and a number or a
    name is always a claim, as is a short answer that is the whole response, except a "Yes." or "No." without its
    question. In doubt, text is a claim.

    Args:
        response: the answer.
        question: what it answers. A short answer ("Four.", "Yes.") becomes one claim with it; one that does not fit
            the question is no claim.
        most: end with the sentence after which there are more claims than this; None for the whole response.

    Returns:
        Claims and non-claims. Their spans do not overlap, and everything outside them is white space, list markers,
        and the conjunctions, commas and semicolons between clauses. ``claim.text`` is the text of its span, except
        that "respectively" is resolved (the context is then the sentence), that a clause without its own subject
        starts with the one it shares, and that words in square brackets say what a pronoun stands for or what was
        asked. Such additions are the claim's ``context``; the context of a claim whose pronoun has no sure antecedent
        is the subject last named.

        >>> parts = decompose("Sure! Ann Lee was born in 1912 and moved to Paris in 1930. Is that all?")
        >>> [claim.text for claim in parts.claims]
        ['Ann Lee was born in 1912', 'Ann Lee moved to Paris in 1930.']
        >>> [(other.span.text, other.reason) for other in parts.non_claims]
        [('Sure!', 'greeting'), ('Is that all?', 'question')]
        >>> [claim.text for claim in decompose("Four. She lived in Rome.", "How many sons did Ann Lee have?").claims]
        ['[Ann Lee had] four [sons].', 'She [Ann Lee] lived in Rome.']
    """
    thought = [(start, end) for start, end in thoughts(response) if response[start:end].strip()]
    whole = with_whole_rows(spoken(response))
    shown = as_markdown(whole.text)
    pieces = list(_pieces(shown))
    asked = (question or "").strip()
    labels = Counter(named(label.group()).lower() for label in _LABEL_LINE.finditer(shown))
    found = _Found(shown, asked, Discourse(asked), frozenset(label for label, times in labels.items() if times > 1))
    for index, piece in enumerate(pieces):
        following = pieces[index + 1] if index + 1 < len(pieces) else None
        found.add(piece, following, is_whole=len(pieces) == 1)
        if most is not None and len(found.claims) > most:
            break
    claims = [replace(claim, span=_as_in(response, claim.span, whole)) for claim in found.claims]
    others = [
        replace(
            other,
            span=_as_in(response, other.span, whole),
            topic=other.topic and _as_in(response, other.topic, whole),
        )
        for other in found.non_claims
    ]
    others += [NonClaim(Span(response[start:end], start, end), "thought") for start, end in thought]
    return Decomposition(tuple(claims), tuple(sorted(others, key=lambda other: other.span.start)))


def _as_in(response: str, span: Span | None, whole: PlainText) -> Span:
    """A stretch of what was read with the words that the response has there."""
    assert span is not None
    start, end = whole.origin(span.start, span.end)
    return Span(response[start:end], start, end)


@dataclass(slots=True)
class _Found:
    """The claims of a response so far, and what is needed to read its next sentence."""

    response: str
    question: str
    discourse: Discourse
    repeated: frozenset[str] = frozenset()
    """Labels that open more than one line, so that each belongs to the heading above it."""
    heading: str = ""
    """The heading last read."""
    claims: list[Claim] = field(default_factory=list[Claim])
    non_claims: list[NonClaim] = field(default_factory=list[NonClaim])
    named: str = ""
    """The subject last named."""
    above: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """The items that are above the next one, or the sentence that leads it in, each with its indent."""

    def add(self, piece: Piece, following: Piece | None, *, is_whole: bool) -> None:
        """Add the claims of a piece; the next one says whether it stands alone and whether items follow below it."""
        response, start, end = self.response, piece.start, piece.end
        if piece.kind == "field":
            context = f"[{piece.context}:] " if piece.context else ""
            self._state(Span(response[start:end], start, end), f"{context}{piece.text or response[start:end]}", context)
            return
        if piece.kind != "prose":
            self.non_claims.append(NonClaim(Span(response[start:end], start, end), piece.kind))
            return
        next_start = following.start if following else len(response)
        indent = _indent(response, start)
        below = _indent(response, next_start) if following and following.kind == "prose" else None
        self.above = [(depth, words) for depth, words in self.above if indent is not None and depth < indent]
        if below is not None and (below > indent if indent is not None else response[end - 1] in ":："):
            self._head(start, end, indent)
            return
        self.read(start, end, is_whole=is_whole, stands_alone=following is None or "\n" in response[end:next_start])

    def _head(self, start: int, end: int, indent: int | None) -> None:
        """Remember what the items below belong to; it is a claim as well if it states something."""
        marker = LIST_MARKER.match(self.response, start, end) if indent is not None else None
        words = named(self.response[marker.end() if marker else start : end])
        states = bool(finite_verb(words))
        if states and why_no_claim(words, is_item=True, whole=True, ends_line=True):
            words = ""  # "Here are the main points:" is no part of them
        counts = re.search(r"\d", words) is not None
        if (counts and is_statement(words)) or (indent is not None and (states or self.above or counts)):
            self.read(start, end, is_whole=False, stands_alone=True)
        else:
            self.read(start, end, is_whole=False, stands_alone=True, is_heading=True)
        if words and (states or indent is not None):
            self.above.append((-1 if indent is None else indent, words))

    def _state(self, span: Span, text: str, context: str) -> None:
        self.claims.append(Claim(text, f"claim-{len(self.claims) + 1}", span, context=context.strip("[]: ")))

    def read(self, start: int, end: int, *, is_whole: bool, stands_alone: bool, is_heading: bool = False) -> None:
        """Add the claims of one sentence, or the reason why it has none."""
        response = self.response
        marker = LIST_MARKER.match(response, start, end)
        is_item = marker is not None and _opens_line(response, start)
        start = marker.end() if marker and is_item else start
        label = _label(response, start, end)
        if label:
            if is_statement(label.text):
                self._split(label)
            else:
                self.non_claims.append(NonClaim(label, "heading"))
            start = end - len(response[label.end : end].lstrip())
        sentence = Span(response[start:end], start, end)
        if is_heading and not label:
            self.non_claims.append(NonClaim(sentence, "heading"))
            return
        answers = bool(self.question) and not (self.claims or is_item or label) and is_short_answer(sentence.text)
        reason = why_no_claim(
            sentence.text, is_item=is_item or bool(label), whole=is_whole or answers, ends_line=stands_alone
        )
        if sentence.text.startswith("#"):
            self.heading = named(sentence.text.lstrip("# "))
        if reason != "question" and abstention_in(sentence.text):
            self._split(sentence)
            return
        is_yes = reason == "greeting" and needs_question(sentence.text)  # "Sure!", which may be a greeting
        answered = claim_of_answer(self.question, sentence.text) if answers and (not reason or is_yes) else None
        if answered:
            self.claims.append(Claim(answered, "claim-1", sentence, context=self.question))
        elif reason or (not label and needs_question(sentence.text)):
            self.heading = named(sentence.text.lstrip("# ")) if reason == "heading" else self.heading
            self.non_claims.append(NonClaim(sentence, reason or "fragment"))
        elif (head := self._belongs_to(label, is_item)) and _is_field(sentence.text):
            self._state(sentence, f"[{head}:] {sentence.text}", head)
        else:
            self._split(sentence)

    def _belongs_to(self, label: Span | None, is_item: bool) -> str:
        """What an item or the value of a label belongs to; "" for a sentence of its own, or the label of a step."""
        heads = [words for _, words in self.above[-1:]] if is_item else []
        if label and not re.match(r"\W*step\b", label.text, re.IGNORECASE):
            name = named(label.text.rstrip("–—- "))
            heads += [self.heading] if not heads and self.heading and name.lower() in self.repeated else []
            heads.append(name)
        return ", ".join(heads)

    def _split(self, sentence: Span) -> None:
        for first, last in without_facts(sentence.text):
            self._add_clauses(Span(sentence.text[first:last], sentence.start + first, sentence.start + last))

    def _add_clauses(self, sentence: Span) -> None:
        whole = [Clause(0, len(sentence.text))]
        clauses = whole if abstention_in(sentence.text) else split_clauses(sentence.text)
        for clause in clauses:
            text = sentence.text[clause.start : clause.end]
            span = Span(text, sentence.start + clause.start, sentence.start + clause.end)
            if abstention := abstention_in(text):
                topic = abstention.topic and _moved(abstention.topic, span.start)
                self.non_claims.append(NonClaim(span, "abstained", topic))
                continue
            reason = why_no_claim(text, is_item=False, whole=True, ends_line=False) if len(clauses) > 1 else None
            if reason in ("greeting", "instruction"):
                self.non_claims.append(NonClaim(span, reason))
                continue
            for claim in self._shared(span) or [_claim(span, clause.subject, self.named, self.discourse)]:
                self.claims.append(replace(claim, id=f"claim-{len(self.claims) + 1}"))
            self.named = _named_subject(text, clause.subject) or self.named

    def _shared(self, span: Span) -> list[Claim]:
        """A claim for each subject of a clause with "respectively"."""
        stated = [
            (share, _moved(Span(span.text[share.start : share.end], share.start, share.end), span.start))
            for share in shares(span.text)
        ]
        return [Claim(self.discourse.complete(share.text)[0], span=place, context=span.text) for share, place in stated]


def _pieces(response: str) -> Iterator[Piece]:
    """The sentences, the fields and the markup of a response, in order."""
    done = 0
    for piece in (*structured_pieces(response), Piece(len(response), len(response), "prose")):
        yield from _prose(response, done, piece.start)
        if piece.kind == "prose":
            yield from _prose(response, piece.start, piece.end)
        else:
            yield piece
        done = piece.end


def _prose(response: str, start: int, end: int) -> Iterator[Piece]:
    """The sentences of a stretch; the mark of a footnote is no part of its sentence."""
    for first, last in sentence_spans(response[start:end]):
        first, last = start + first, start + last
        footnote = FOOTNOTE.match(response, first, last) if _opens_line(response, first) else None
        if footnote and finite_verb(response[footnote.end() : last]):
            yield Piece(first, first + len(footnote.group().rstrip()), "fragment")
            yield Piece(footnote.end(), last, "prose")
        else:
            yield Piece(first, last, "fragment" if footnote else "prose")


def _is_field(text: str) -> bool:
    """Whether an item is a phrase or opens with a key ("Music: not allowed"), and so needs what it belongs to."""
    key, colon, _ = text.partition(": ")
    return not finite_verb(text) or bool(colon and len(key.split()) <= _LONGEST_KEY and not finite_verb(key))


def _indent(response: str, start: int) -> int | None:
    """How far a list item at the offset is indented; None if there is none."""
    line = max(response.rfind("\n", 0, start), response.rfind("\r", 0, start)) + 1
    is_item = LIST_MARKER.match(response, start) and not response[line:start].strip()
    return len(response[line:start].expandtabs(4)) if is_item else None


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


def _claim(span: Span, subject: str, named: str, discourse: Discourse) -> Claim:
    """The claim for a clause, given the subject it shares, the subject last named and what was said before."""
    text = f"{subject[0].upper()}{subject[1:]} {span.text}" if subject else span.text
    text, antecedent = discourse.complete(text)
    if subject:
        context = antecedent or (named if _PRONOUN.fullmatch(subject) else "") or subject
    else:
        context = antecedent or (named if _PRONOUN.match(span.text) else "")
    return Claim(text, span=span, context=context)


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
