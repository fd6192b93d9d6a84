"""Split a response into claims, and report on their verdicts.

A response is split into sentences, then clauses; what states nothing is set aside with a reason. Claims keep the words
of the response; only a clause that shares its subject with the one before it gets that subject put in front. A pronoun
stays, and the name it refers to goes into the claim's context. Not supported: rewriting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vouching.text.clauses import finite_verb, split_clauses, subject_of
from vouching.text.sentences import FOOTNOTE, LABEL, LIST_MARKER, markup_spans, sentence_spans
from vouching.types import (
    Claim,
    NonClaim,
    Report,
    Source,
    Span,
    Totals,
    Unverified,
    Verdict,
    VerdictWarning,
    total_usage,
)

_Reason = Literal["greeting", "question", "heading", "opinion", "instruction", "fragment"]

_GREETING = re.compile(
    r"""(?:(?:sure(?:\ thing)?|certainly|of\ course|absolutely|definitely|got\ it|no\ problem|okay|ok|great|
        (?:hello|hi|hey|greetings|good\ (?:morning|afternoon|evening|day))(?:\ (?:there|everyone|all))?|welcome|
        (?:great|good|excellent|interesting)\ question|thanks|thank\ you(?:\ (?:so|very)\ much)?|you['’]re\ welcome|
        good\ luck|enjoy|(?:best|kind)\ regards|cheers|have\ a\ (?:great|nice|good|lovely)\ (?:day|evening|weekend)
      )[\s!.,:;–—-]*$
      | (?:i\ )?hope\ (?:this|that|it|these)\ (?:helps?|answers|clarifies|is\ helpful|was\ helpful|information)\b
      | (?:please\ )?(?:let\ me\ know|feel\ free\ to)\b
      | if\ you\ (?:have|need|want|would\ like)\ (?:any|more|further|other|additional)\b.*
        \b(?:questions?|help|assistance|information|details|ask|let\ me\ know)\b
      | (?:i['’](?:m|d\ be)|i\ am|i\ would\ be)\ (?:happy|glad)\ to\b
      | i\ can\ (?:certainly\ )?help\b)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ANNOUNCEMENT = re.compile(
    r"(?:[^:]*[\s,!])?(?:here(?:['’]s|\s+is|\s+are)|(?:the\s+)?following\s+(?:is|are)|below\s+(?:is|are))\b[^:]*:\W*$",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?:please(?!\s+note)|(?:always\s+)?(?:consult|contact|ask)\s+(?:a|an|your|with)\b|seek\s+(?:medical|legal|professional)|"
    r"see\s+(?:above|below)|refer\s+to|check\s+out|make\s+sure\s+to|remember\s+to|try\s+to|"
    r"(?:do\s+not|don['’]t)\s+(?:hesitate|forget))\b",
    re.IGNORECASE,
)
_ABSTENTION = re.compile(
    r"""(?:(?:sorry|apologies|unfortunately),?\s+(?:but\s+)?)?(?:
        i(?:['’]m|\ am)\ (?:not\ sure|unsure|unable|sorry|afraid)|i\ (?:do\ not|don['’]t|cannot|can['’]t|could\ not|
        couldn['’]t)\ (?:know|have|find|answer|determine|provide|say|tell)|i\ apologi[sz]e|
        unable\ to\ (?:answer|determine)|cannot\ (?:answer|be\ (?:answered|determined))|
        (?:not\ enough|insufficient)\ information|no\ answer|unanswerable|as\ an\ ai\b|unknown[.!]*$|n/a[.!]*$)""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTHING_FOUND = re.compile(
    r"""(?:(?:i['’]?m\ |i\ am\ )?(?:sorry|afraid|apologies|unfortunately),?\s+(?:but\s+)?)?
        (?:the|these|this|your|those)\s+(?:(?:provided|given|supplied|available|retrieved|above)\s+)*
        (?:documents?|sources?|passages?|contexts?|texts?|articles?|excerpts?|information|search\s+results?)
        (?:\s+(?:provided|given|supplied|available|above))?\s+(?:do(?:es)?\s+not|don['’]t|doesn['’]t)\s+
        (?:contain|include|provide|give|have|offer|mention)\s+
        (?:(?:any|enough|sufficient|relevant|specific|the|an|direct)\s+)*(?:information|details?|answers?|data)\b
        [^,;:.!?]*[.!]?$""",
    re.VERBOSE | re.IGNORECASE,
)
_OPINION = re.compile(
    r"(?:i\s+(?:personally\s+)?(?:think|believe|feel|guess|suppose|love|like|hope|wish)|in\s+my\s+(?:humble\s+)?opinion|"
    r"personally|what\s+a|how\s+\w+[!.]*$)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"[\"“'‘*_(]*(?:he|she|it|they|this|these|his|her|its|their)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:[A-Z][\w.'’-]*|\d+)(?:\s+(?:of\s+|the\s+|de\s+|van\s+)?[A-Z0-9][\w.'’-]*)*")
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*]+\*\*:?$|__[^_]+__:?$")
_AFTER_OPENING = re.compile(r"(?:\bthat\b|[:,])\s+(.+)", re.DOTALL)
_MIN_STATED = 3
_TO_THE_READER = frozenset(str.split("you your me i i'll i'd us let please questions help assist"))
_REFERENCE = re.compile(r"[(\[][^()\[\]]{1,30}[)\]]\.?")
_CLOSING = "\"'”’»)]}*_` \t"
_DECORATION = "*_\"“'‘`#> \t"
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


def decompose(response: str) -> Decomposition:
    """Split a response into claims and the rest.

    Sentences and list items are claims; English compound sentences are split where both halves are complete clauses. A
    sentence with a verb and a number or a name is always a claim, as is a short answer that is the whole response. In
    doubt, text is a claim.

    Returns:
        Claims and non-claims. Their spans do not overlap, and everything outside them is white space, list markers,
        and the conjunctions, commas and semicolons between clauses. ``claim.text`` is the text of its span, except
        that a clause without its own subject starts with the one it shares; that subject is its ``context``. The
        context of a claim that opens with a pronoun is the subject last named.

        >>> parts = decompose("Sure! Ann Lee was born in 1912 and moved to Paris in 1930. Is that all?")
        >>> [claim.text for claim in parts.claims]
        ['Ann Lee was born in 1912', 'Ann Lee moved to Paris in 1930.']
        >>> [(other.span.text, other.reason) for other in parts.non_claims]
        [('Sure!', 'greeting'), ('Is that all?', 'question')]
    """
    pieces = list(_pieces(response))
    claims: list[Claim] = []
    non_claims: list[NonClaim] = []
    named = ""
    for index, (start, end, markup) in enumerate(pieces):
        if markup:
            non_claims.append(NonClaim(Span(response[start:end], start, end), markup))
            continue
        marker = LIST_MARKER.match(response, start, end)
        is_item = marker is not None and _opens_line(response, start)
        start = marker.end() if marker and is_item else start
        next_start = pieces[index + 1][0] if index + 1 < len(pieces) else len(response)
        stands_alone = "\n" in response[end:next_start] or index + 1 == len(pieces)
        label = _label(response, start, end)
        if label:
            non_claims.append(NonClaim(label, "heading"))
            start = end - len(response[label.end : end].lstrip())
        sentence = response[start:end]
        reason = _why_no_claim(sentence, is_item=is_item or bool(label), whole=len(pieces) == 1, ends_line=stands_alone)
        if reason:
            non_claims.append(NonClaim(Span(sentence, start, end), reason))
            continue
        for clause in split_clauses(sentence):
            span = Span(sentence[clause.start : clause.end], start + clause.start, start + clause.end)
            claim = _claim(span, clause.subject, named, f"claim-{len(claims) + 1}")
            claims.append(claim)
            named = _named_subject(span.text, clause.subject) or named
    return Decomposition(tuple(claims), tuple(non_claims))


def _pieces(response: str) -> Iterator[tuple[int, int, _Reason | None]]:
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


def _claim(span: Span, subject: str, named: str, claim_id: str) -> Claim:
    """The claim for a clause, given the subject it shares and the subject last named."""
    if subject:
        text = f"{subject[0].upper()}{subject[1:]} {span.text}"
        return Claim(text, claim_id, span, context=(named if _PRONOUN.fullmatch(subject) else "") or subject)
    return Claim(span.text, claim_id, span, context=named if _PRONOUN.match(span.text) else "")


def _named_subject(text: str, inherited: str) -> str:
    """The name of what a claim is about: its subject, else the first run of capitalised words; "" without one."""
    if inherited or _PRONOUN.match(text):
        return ""
    subject = subject_of(text)
    if subject:
        return subject
    names = (match.group() for match in _NAME.finditer(text) if not text.startswith(",", match.end()) or match.start())
    return next((name.rstrip(".") for name in names if name[0].isupper() and name.lower() not in _FIRST_WORDS), "")


def _why_no_claim(sentence: str, *, is_item: bool, whole: bool, ends_line: bool) -> _Reason | None:
    """Why a sentence states nothing that could be checked; None if it is a claim."""
    bare = sentence.strip(_DECORATION)
    words = bare.split()
    if not any(character.isalnum() for character in bare):
        return "fragment"
    if (_GREETING.match(bare) and not _states_more(bare)) or _ANNOUNCEMENT.match(bare):
        return "greeting"
    if sentence.rstrip(_CLOSING)[-1:] in ("?", "？", "؟"):
        return "question"
    if _NOTHING_FOUND.match(bare) or (_ABSTENTION.match(bare) and not _checkable(bare) and not _states_more(bare)):
        return "opinion"
    set_aside = not any(character.isdigit() for character in bare) and not _states_more(bare)
    if not is_item and _INSTRUCTION.match(bare) and set_aside:
        return "instruction"
    if _OPINION.match(bare) and not _checkable(bare) and not _states_more(bare):
        return "opinion"
    if whole:
        return None
    if _is_heading(sentence, bare, ends_line and not is_item):
        return "heading"
    if _REFERENCE.fullmatch(sentence) and not finite_verb(bare):
        return "fragment"
    return "fragment" if len(words) == 1 and not is_item and bare[0] < "\u2e80" else None


def _is_heading(sentence: str, bare: str, alone: bool) -> bool:
    if sentence.startswith("#"):
        return True
    if _HEADING.match(sentence) or bare.endswith((":", "：")):
        return not (finite_verb(bare) and _checkable(bare))
    ends_open = bare[-1] not in ".!?…。！।۔|" and bare[0] < "\u2e80"
    return alone and ends_open and len(bare.split()) <= 8 and not finite_verb(bare) and not re.search(r"\d", bare)


def _states_more(bare: str) -> bool:
    """Whether something is stated after a polite or personal opening: "I am happy to confirm that smoking is safe"."""
    rest = _AFTER_OPENING.search(bare)
    words = rest.group(1).lower().split() if rest else []
    return len(words) >= _MIN_STATED and not _TO_THE_READER & {word.strip(".,;:!?'’") for word in words}


def _checkable(bare: str) -> bool:
    """Whether the text has a number or, after the first word, a name."""
    return bool(re.search(r"\d|\s[\"“(]?(?!I\b|I['’]|AI\b)[A-Z]", bare))


def claims_report(
    response: str,
    sources: tuple[Source, ...],
    outcomes: Sequence[Verdict | Unverified],
    decomposition: Decomposition,
    support: float | None = None,
    question: str | None = None,
) -> Report:
    """The report on a response whose claims were judged."""
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    failed = len(outcomes) - len(verdicts)
    return Report(
        response=response,
        sources=sources,
        findings=tuple(outcomes),
        question=question,
        non_claims=decomposition.non_claims,
        coverage=_coverage(response, decomposition.claims, decomposition.non_claims),
        totals=_totals(verdicts, failed),
        score=None if failed else _response_score(verdicts, support),
        warnings=_shared_warnings(verdicts),
        usage=total_usage(outcomes),
    )


def _coverage(response: str, claims: Sequence[Claim], non_claims: Sequence[NonClaim]) -> float:
    """Share of the response's non-space characters that are in a claim or a non-claim."""
    spans = [c.span for c in claims if c.span is not None] + [n.span for n in non_claims]
    seen = sum(len("".join(span.text.split())) for span in spans)
    return min(1.0, seen / max(1, len("".join(response.split()))))


def _response_score(verdicts: Sequence[Verdict], support: float | None) -> float | None:
    """Mean of the claims' scores and, if the verifier measures it, of the support of the whole text.

    Chosen among ten such scores on training sets: ``recipes/embedded/response_score.py``. There is no score if a judge
    failed: a mean over the other claims would be too high where it failed on wrong ones.
    """
    if not verdicts:
        return None
    mean = sum(verdict.score for verdict in verdicts) / len(verdicts)
    return mean if support is None else (mean + support) / 2


def _totals(verdicts: Sequence[Verdict], failed: int) -> Totals:
    types = Counter(verdict.error_type for verdict in verdicts if verdict.error_type)
    return Totals(
        attributable=sum(verdict.attributable for verdict in verdicts),
        not_attributable=sum(not verdict.attributable for verdict in verdicts),
        unverified=failed,
        by_error_type=tuple(types.most_common()),
    )


def _shared_warnings(verdicts: Sequence[Verdict]) -> tuple[VerdictWarning, ...]:
    """Warnings about the sources and the judge, which every verdict repeats, once."""
    kinds = ("injection", "unread", "uncalibrated")
    return tuple(dict.fromkeys(w for verdict in verdicts for w in verdict.warnings if w.kind in kinds))
