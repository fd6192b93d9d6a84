"""Overstatement: stronger qualifiers, dropped hedges, claims of uniqueness. Also weaker qualifiers.

A stronger qualifier implies a weaker one ("most" -> "many", "significantly" dropped), so the claim stays Attributable;
negation, condition, comparison or "only" reverse this, so such claims are skipped. Hedges are never added: a plain fact
implies "may", but readers take it as doubt.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, removal
from vouching.perturb.scene import ParsedText, Scene
from vouching.perturb.verbs import verb_forms, verb_in
from vouching.perturb.wording import read_table, replacements
from vouching.text.cues import QUALIFIERS, is_negated
from vouching.text.number_forms import NUMBER_WORDS

_ADJECTIVE_BEFORE = re.compile(r"\b(?:an?|the|its|their|his|her|more|most|is|are|was|were) \Z", re.IGNORECASE)
"""Where "likely" is an adjective, which "certainly" cannot replace."""
_DROPPED_HEDGES = frozenset(("reportedly", "allegedly", "supposedly", "purportedly", "perhaps"))
_CHANGES = frozenset(
    str.split("""increase reduce improve lower boost affect influence expand decrease contribute strengthen weaken harm
    change enhance grow rise fall decline drop""")
)
_NOUNS_IN_S = frozenset(str.split("increases boosts decreases influences harms changes rises falls declines drops"))
_INTRANSITIVE = frozenset(("grow", "rise", "fall", "decline", "drop"))
_NO_DEGREE_BEFORE = re.compile(r" (?:up|out|off|\d|one|two|three|four|five|ten|twenty|million|measures)\b|-| -")
_INTENSIFIERS = ("significantly", "dramatically", "substantially", "considerably")
_GRADABLE = frozenset(
    str.split("""popular successful important famous influential large small rare difficult easy effective expensive
    cheap dangerous safe useful powerful rich poor healthy strong weak fast slow similar controversial beneficial
    harmful beautiful complex violent aggressive sensitive efficient profitable reliable notable diverse interested
    active happy sad""")
)
_STRENGTHENERS = ("extremely", "exceptionally", "remarkably")
_NO_ONLY_BEFORE = re.compile(
    r"(?:part|member|number|lot|few|couple|variety|series|result|type|kind|form|group|total|little|bit|way|long|very|"
    r"good|great|much|more|less|\w+-year|\d|hundred|thousand|million|fan|native|resident|\w+ed|half|third|quarter|range|"
    r"set|pair|piece|subject|victim|descendant|\w+est|while|short|huge|big|large)\b"
)
_UNIQUE = re.compile(r"\b(?:is|was|are|were|became|becomes|remains) (?P<article>an?) (?P<noun>\w+)")
_AMONG = re.compile(r" (?:of|in|on|at|from|for|to|with|by|that|which|who|where|whose) ")
"""Names the set in which it is the only one; nothing is "the only film"."""
_ONLY_AFTER = frozenset(
    str.split("""support contain include use sell produce play speak offer feature provide serve accept cover eat
    require need attract own publish teach operate host""")
)
_BEFORE_QUANTIFIED = frozenset(("throughout", "like", "that", "because"))
"""Words after which "all" can replace "many"; after most verbs it cannot ("there are all cases")."""
_PLACES = frozenset(
    str.split("regions fields parts areas countries cases ways places languages cities industries states contexts")
)
_BEFORE_NO_ADVERB = frozenset(str.split("as how so too more most very almost nearly"))
_PLURALS = frozenset(("people", "men", "women", "children"))
_MAX_OF = re.compile(r" (?:the|its|their|his|her|these|those) (?:\w+ )?\w+[^us\W]s\b")
_TURNING = frozenset(
    str.split("""not no never none without if unless whether only least fewer less than rather except until when
    whenever wherever few rarely seldom hardly barely first last exactly any""")
)


def qualifier_strengthened(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A stronger quantifier or adverb: "some" -> "all", "often" -> "always", "mainly" -> "exclusively"."""
    claim = scene.claim
    for edit in replacements(claim, read_table("stronger.txt"), rng):
        old = claim.text[edit.start : edit.end].lower()
        twice = claim.text.lower().count(old) > 1
        if not twice and not is_negated(edit.start, claim.negations) and _stands_free(claim, edit, old):
            yield Draft((edit,))


def _stands_free(claim: ParsedText, edit: Edit, old: str) -> bool:
    """Whether a stronger quantifier reads well in its place; not in "the most common", "as many as", "some 500"."""
    before = next((word.lower for word in reversed(claim.words) if word.end <= edit.start), "")
    following = next((word.lower for word in claim.words if word.start >= edit.end), "")
    if old in ("some", "several", "many", "most", "numerous", "various"):
        plural = (following.endswith("s") and not following.endswith(("ss", "us", "is"))) or following in _PLURALS
        where = before in _BEFORE_QUANTIFIED or (before in ("in", "around", "across") and following in _PLACES)
        return plural and (any(start == edit.start for start, _ in claim.sentences) or where)
    if old == "most of":
        return _MAX_OF.match(claim.text, edit.end) is not None
    return before not in _BEFORE_NO_ADVERB and following != "not" and not following.endswith("ing")


def hedge_dropped(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Certainty for a guess: "may" -> "will", "appears to be" -> "is", "reportedly" dropped."""
    claim = scene.claim
    for edit in replacements(claim, read_table("certain.txt"), rng):
        is_month = claim.text[edit.start : edit.end] == "May"
        hindered = claim.text[edit.end : edit.end + 5].startswith((" not", " as "))
        if is_month or is_negated(edit.start, claim.negations) or hindered:
            continue
        is_likely = claim.text[edit.start : edit.end].lower() == "likely"
        if is_likely and _ADJECTIVE_BEFORE.search(claim.text[: edit.start]):
            continue
        yield Draft((edit,))
    for word in claim.words:
        if word.lower in _DROPPED_HEDGES and word.start:
            yield Draft((removal(claim.text, word.start, word.end),))


def intensifier_added(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """An unsupported degree: "reduced" -> "significantly reduced", "popular" -> "extremely popular"."""
    claim = scene.claim
    if claim.negations:
        return
    for at, word in enumerate(claim.words):
        if not at or is_negated(word.start, claim.negations) or claim.in_name(word.start, word.end):
            continue
        before = claim.words[at - 1].lower
        if _NO_DEGREE_BEFORE.match(claim.text, word.end):
            continue
        forms = verb_forms().get(word.lower, ()) if word.lower not in _NOUNS_IN_S else ()
        if any(verb.base in _CHANGES and form in ("past", "third", "participle") for verb, form in forms):
            found = _degree(before, rng)
            goes_after = any(verb.base in _INTRANSITIVE and form == "past" for verb, form in forms)
            if found and goes_after and claim.text[word.end : word.end + 4] in (" by ", " fro", "."):
                yield Draft((Edit(word.end, word.end, f" {found}"),), found)
            elif found and not goes_after:
                yield Draft((Edit(word.start, word.start, f"{found} "),), found)
        elif word.lower in _GRADABLE and before in ("is", "are", "was", "were", "a", "an", "became"):
            yield Draft((Edit(word.start, word.start, f"{rng.choice(_STRENGTHENERS)} "),))


def _degree(before: str, rng: random.Random) -> str | None:
    """An intensifier for a verb; None after another one, or where the word is an adjective."""
    if (
        before in QUALIFIERS
        or before.endswith("ly")
        or before in ("the", "a", "an", "of", "in", "and", "be", "by", "its", "his")
    ):
        return None
    return rng.choice(_INTENSIFIERS)


def exclusivity_added(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Unsupported uniqueness: "is a cable network" -> "is the only cable network", "sells" -> "sells only"."""
    claim = scene.claim
    if claim.negations or claim.lower_set & {"only", "sole", "solely", "exclusively", "first", "last", "one", "also"}:
        return
    verb = claim.main_verb
    if verb is None or claim.text[verb.subject_start : verb.subject_end].lower() in ("this", "that", "there"):
        return
    copula = _UNIQUE.match(claim.text, verb.start)
    if copula and not _NO_ONLY_BEFORE.match(copula["noun"]) and _AMONG.search(claim.text, copula.end()):
        yield Draft((Edit(copula.start("article"), copula.end("article"), "the only"),))
    elif verb.verb and verb.verb.base in _ONLY_AFTER and not _is_amount(verb.following):
        yield Draft((Edit(verb.end, verb.end, " only"),))


def _is_amount(word: str) -> bool:
    """Whether "only" before a word would belittle ("sold only 50") or follow a particle, not exclude."""
    return (
        word[:1].isdigit()
        or word in NUMBER_WORDS
        or word in str.split("up out as for a an the to over about more less")
    )


def qualifier_weakened(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A weaker qualifier, implied by the stronger: "most" -> "many", "significantly" dropped."""
    claim = scene.claim
    if not is_upward(claim):
        return
    for edit in replacements(claim, read_table("weaker.txt"), rng):
        if _stands_free(claim, edit, claim.text[edit.start : edit.end].lower()):
            yield Draft((edit,))
    for at, word in enumerate(claim.words):
        strong = QUALIFIERS.get(word.lower)
        if (
            strong
            and strong[0] == "degree"
            and strong[1] >= 0.8
            and word.lower.endswith("ly")
            and 0 < at < len(claim.words) - 1
        ):
            before, following = claim.words[at - 1].lower, claim.words[at + 1].lower
            modifies = _is_verb_form(following) or (
                before in ("is", "are", "was", "were", "a") and following in _GRADABLE
            )
            if modifies and before not in ("and", "more", "most", "very"):
                yield Draft((removal(claim.text, word.start, word.end),))


def is_upward(claim: ParsedText) -> bool:
    """Whether weakening keeps a claim true: no negation, condition, comparison or superlative.

    >>> is_upward(ParsedText("Most of them left.")), is_upward(ParsedText("If limit left, it closed."))
    (True, False)
    """
    words = claim.lower_set
    superlative = any(w.endswith("est") and len(w) > 5 and w not in _EST_NOUNS for w in words)
    return not (claim.negations or words & _TURNING or superlative or "?" in claim.text)


_EST_NOUNS = frozenset(
    str.split("interest request forest protest contest harvest conquest suggest arrest invest honest midwest")
)


@cache
def _is_verb_form(word: str) -> bool:
    return verb_in(word, "past") is not None or verb_in(word, "participle") is not None
