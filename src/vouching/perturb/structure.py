"""The same statement in another form: time moved, voice changed, sentences joined or split, a detail dropped.

Applied only where short patterns are unambiguous. Not supported: clefts, nominalisations, and pronouns as subject or
object of a changed voice, whose form would have to change.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, lowered
from vouching.perturb.scene import ParsedText, Scene
from vouching.perturb.scope import is_upward
from vouching.perturb.verbs import AUXILIARIES, find_main_verb, is_finite, verb_in
from vouching.text.clauses import split_clauses, subject_of
from vouching.text.mentions import DateMention
from vouching.text.words import find_words

_TIME_BEFORE = re.compile(r" (in|on|during)(?: the)?(?: early| late)?\Z")
_SUBORDINATE = re.compile(
    r"\b(?:who|which|that|whose|where|when|while|if|because|although|though|since|until|unless|than|to|after|before|"
    r"not|never|only|and|or|but|said|says|named|called)\b|[,;:\"“]"
)
_VOICED = frozenset(
    str.split("""found direct write defeat beat acquire buy discover invent design produce publish release appoint elect
    nominate succeed replace portray kill arrest sue sign compose paint build create develop host praise support
    record launch edit establish organize sponsor award hire train film conquer capture rescue assist murder""")
)
_TAIL = re.compile(r"(?: (?:in|on|at|during|to|as|for|from)\b[^,;]*)?\Z")
_PRONOUN = re.compile(r"(?:i|he|she|it|they|we|you|him|her|them|us|this|these|that|there|who)\b", re.IGNORECASE)
_APPOSITIVE = re.compile(r", (?P<inner>(?:an?|the) [^,.;:()]{3,70}),(?= (?P<next>[a-z]+))")
_BRACKETED = re.compile(r"(?<=[a-z0-9]) \([^()]{2,80}\)(?! ?['’])")
_CONTRAST = re.compile(r"but|while|whereas|though")
_STOP = re.compile(r" ?\.\s+(?=[\"“]?[A-Z])")


def time_moved(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Move the time to the front or to the end: "It opened in 1973." -> "In 1973, it opened"."""
    claim = scene.claim
    found = _final_time(claim)
    if found is not None:
        start, _ = found
        body, time = claim.text[:start], claim.text[start + 1 : claim.body_end]
        first = _within(scene, body)
        if first is not None:
            yield Draft((Edit(0, claim.body_end, f"{time[0].upper()}{time[1:]}, {first}"),))
        return
    head = re.match(r"(In|On|During) ([^,]{3,40}),? ", claim.text)
    date = claim.dates[0] if claim.dates else None
    if head is None or date is None or not claim.is_one_sentence or len(claim.dates) != 1:
        return
    rest = claim.text[head.end() : claim.body_end]
    whole_date = date.end >= head.end() - 2 and date.kind in ("date", "decade", "century")
    verb = claim.main_verb
    if (
        verb
        and whole_date
        and "," in head.group()[-2:]
        and not _SUBORDINATE.search(rest)
        and verb.kind in ("past", "auxiliary")
    ):
        moved = f"{rest} {head[1].lower()} {head[2]}"
        yield Draft((Edit(0, claim.body_end, moved[0].upper() + moved[1:]),))


def _within(scene: Scene, body: str) -> str | None:
    """The beginning of the claim for use within a sentence; None if its capital may or may not be a name's."""
    low = lowered(body)
    first = next((entity for entity in scene.claim.entities if entity.start == 0), None)
    if low != body or first is None or first.certain:
        return low
    return body if any(e.certain and e.text == first.text for e in scene.source.entities) else None


def _final_time(claim: ParsedText) -> tuple[int, DateMention] | None:
    """Start and date of the time that ends a single-clause claim and modifies its verb."""
    verb = claim.main_verb
    if not claim.is_one_sentence or not claim.dates or verb is None or verb.subject_start:
        return None
    date = claim.dates[-1]
    before = _TIME_BEFORE.search(claim.text[: date.start].rstrip())
    if date.end != claim.body_end or before is None or date.kind not in ("date", "decade", "century"):
        return None
    body = claim.text[: before.start()]
    if _SUBORDINATE.search(body) or any(other.end <= before.start() for other in claim.dates):
        return None
    passive = claim.text[verb.start : verb.end] in ("was", "were") and (
        verb.following == "born" or verb_in(verb.following, "participle") is not None
    )
    return (before.start(), date) if (verb.kind == "past" or passive) and before.start() >= verb.end else None


def voice_changed(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Passive to active and the reverse, between two names: "B was founded by A" -> "A founded B"."""
    claim, verb = scene.claim, scene.claim.main_verb
    if not claim.is_one_sentence or verb is None or verb.subject_start or claim.negations:
        return
    subject = claim.text[: verb.subject_end]
    if _PRONOUN.match(subject) or _SUBORDINATE.search(subject):
        return
    if claim.text[verb.start : verb.end] in ("was", "were"):
        yield from _made_active(scene, subject, verb.end)
    elif verb.kind == "past" and verb.verb and verb.verb.base in _VOICED:
        yield from _made_passive(claim, subject, verb.end, verb.verb.participle)


def _made_active(scene: Scene, subject: str, end: int) -> Iterator[Draft]:
    claim = scene.claim
    found = re.match(r" (\w+)((?: (?:to|as|for) [^,]{2,60}?)?) by ", claim.text[end:])
    verb = verb_in(found[1], "participle") if found else None
    if found is None or verb is None or verb.base not in _VOICED:
        return
    start = end + found.end()
    agent = next((e for e in claim.entities if e.start == start and e.certain and e.kind != "title"), None)
    rest = claim.text[agent.end : claim.body_end] if agent else ","
    patient = _within(scene, subject)
    if agent and patient and _TAIL.fullmatch(rest) and not re.search(r"\b(?:and|or|who|which|that)\b", rest):
        yield Draft((Edit(0, claim.body_end, f"{agent.text} {verb.past} {patient}{found[2]}{rest}"),))


def _made_passive(claim: ParsedText, subject: str, end: int, participle: str) -> Iterator[Draft]:
    names = [e for e in claim.entities if e.start in (0, 4)]
    patient = next((e for e in claim.entities if e.start == end + 1 and e.certain and e.kind != "title"), None)
    rest = claim.text[patient.end : claim.body_end] if patient else ","
    if (
        not names
        or patient is None
        or not _TAIL.fullmatch(rest)
        or re.search(r"\b(?:and|or|to|who|which|that)\b", rest)
    ):
        return
    if subject != claim.text[names[0].start : names[0].end] or patient.text.endswith("s"):
        return
    yield Draft((Edit(0, claim.body_end, f"{patient.text} was {participle} by {subject}{rest}"),))


def sentences_joined(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Join two sentences: "It opened. It is long." -> "It opened, and it is long"."""
    claim = scene.claim
    for (start, end), (following, last) in zip(claim.sentences, claim.sentences[1:], strict=False):
        one, other = claim.text[start:end], claim.text[following:last]
        body = one.rstrip(" .")
        plain = one.endswith(".") and other.endswith(".") and "?" not in one + other and body[-1:].isalnum()
        if (
            plain
            and 3 <= len(one.split()) <= 25
            and ParsedText(one).main_verb
            and ParsedText(other).main_verb
            and " and " not in one
        ):
            begins = other.split()[0]
            head = lowered(begins)
            if head == begins or head in ("but", "and", "however", "so", "yet"):
                continue  # the capital may only mark the start of the sentence
            yield Draft((Edit(start + len(body), following + len(begins), f", and {head}"),))


def sentence_split(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Split clauses into sentences: "Ann was born here and moved away" -> "Ann was born here. Ann moved away"."""
    for start, end in scene.claim.sentences:
        sentence = scene.claim.text[start:end]
        clauses = split_clauses(sentence)
        if len(clauses) != 2:
            continue
        one, other = clauses
        left, first = sentence[: one.end], sentence[other.start :].split()[0]
        verb = find_main_verb(sentence, find_words(sentence, 0, one.end))
        own = verb is not None and sentence[verb.subject_start : verb.subject_end] == other.subject
        # "She won and they left and cheered": it is unclear who cheered. Two parses of the subject must agree.
        unsure = other.subject and (not own or re.search(r"\b(?:he|she|they|we|who)\b|\bborn\Z", left))
        if unsure or _PRONOUN.match(other.subject) or _CONTRAST.search(sentence, one.end, other.start):
            continue
        subject = other.subject[:1].upper() + other.subject[1:]
        words = f"{subject} {first}" if subject else first[0].upper() + first[1:]
        yield Draft((Edit(start + one.end, start + other.start + len(first), f". {words}"),))


def detail_dropped(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Drop a bracket, an apposition, the final time, the day of a date, or the second of two clauses."""
    claim = scene.claim
    for match in _BRACKETED.finditer(claim.text):
        yield Draft((Edit(*match.span(), ""),))
    names = {entity.end for entity in claim.entities if entity.certain}
    for match in _APPOSITIVE.finditer(claim.text):
        finite = match["next"] in AUXILIARIES or is_finite(match["next"])
        if match.start() in names and finite and not _SUBORDINATE.search(match["inner"]):
            yield Draft((Edit(match.start(), match.end("inner") + 1, ""),))
    if not is_upward(claim):
        return
    if (found := _final_time(claim)) and claim.text[: found[0]].count(" ") >= 2 and _says_enough(claim, found[0]):
        yield Draft((Edit(found[0], claim.body_end, ""),))
    for date in claim.dates:
        full = re.fullmatch(r"(?:[A-Z][a-z]+ \d{1,2},?|\d{1,2} [A-Z][a-z]+) (\d{4})", claim.text[date.start : date.end])
        on = re.search(r"\b([Oo]n) \Z", claim.text[: date.start])
        if full and on and date.year is not None:
            word = "In" if on[1] == "On" else "in"
            yield Draft((Edit(on.start(), date.end, f"{word} {full[1]}"),))
    clauses = split_clauses(claim.text[: claim.body_end]) if claim.is_one_sentence else []
    if len(clauses) == 2 and len(claim.text[: clauses[0].end].split()) >= 4 and subject_of(claim.text):
        yield Draft((Edit(clauses[0].end, claim.body_end, ""),))


def _says_enough(claim: ParsedText, end: int) -> bool:
    """Whether the words before the time are a full statement: "was released", but not "took place"."""
    after = [word for word in claim.words if claim.main_verb and claim.main_verb.end <= word.start < end]
    return len(after) >= 2
