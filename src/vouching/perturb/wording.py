"""Negation with the right auxiliary, opposites, and synonyms from short lists.

Not supported: negating a claim that has a negation or a quantified subject, whose denial need not contradict; words
that change under negation ("some" and "any"), unless the change is one word; words with several senses.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, in_case_of, removal
from vouching.perturb.scene import ParsedText, Scene
from vouching.perturb.verbs import is_finite, lexicon_lines, verb_in
from vouching.text.cues import is_negated
from vouching.text.words import find_words

_QUANTIFIED = frozenset(
    str.split("some many several few most all every each any both none only one other such half another")
)
_ODD_UNDER_NEGATION = frozenset(
    str.split("""some somewhat somehow someone something also too already still several only even just until unless both
    yet barely hardly rather instead eventually once always never neither nor no not without""")
)
_AUXILIARY = re.compile(
    r"\b(?P<auxiliary>is|are|was|were|has|have|had|can|could|will|would|should|must|may|might|do|does|did)"
    r"(?: ?n['’]t| not|(?<=can)not)\b(?! (?:only|just|merely|yet|even|all|every|necessarily|until|any)\b)",
    re.IGNORECASE,
)
_NEGATIVE_POLARITY = frozenset(str.split("any anyone anything ever yet either anymore longer but until at instead nor"))


def negation_added(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Deny the main verb: "was" -> "was not", "opened" -> "did not open"."""
    claim = scene.claim
    verb = claim.main_verb
    if verb is None or claim.negations or _ODD_UNDER_NEGATION & claim.lower_set:
        return
    subject = claim.between(verb.subject_start, verb.subject_end)
    if not subject or subject[0].lower in _QUANTIFIED or subject[-1].lower.endswith("ly"):
        return
    written = claim.text[verb.start : verb.end]
    if verb.kind == "auxiliary":
        denied = "cannot" if written == "can" else f"{written} not"
    elif verb.verb is None or (verb.following in ("to", "better") and verb.verb.base == "have"):
        return
    else:
        denied = f"{ {'past': 'did', 'third': 'does', 'base': 'do'}[verb.kind] } not {verb.verb.base}"
    yield Draft((Edit(verb.start, verb.end, denied),))


def negation_removed(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Remove the only negation: "did not open" -> "opened", "is not" -> "is", "never won" -> "won"."""
    claim = scene.claim
    if len(claim.negations) != 1 or not claim.is_one_sentence:
        return
    cue = claim.negations[0]
    if claim.text[cue.start : cue.end][1:2].islower() and claim.text[cue.start].isupper() and cue.start:
        return  # "Do Not Go Gentle": a title
    if _NEGATIVE_POLARITY & {word.lower for word in claim.words if word.start >= cue.start}:
        return
    if claim.text[cue.start : cue.end].lower() == "never":
        before = [word.lower for word in claim.words if word.end <= cue.start][-1:]
        following = [word.lower for word in claim.words if word.start >= cue.end][:1]
        if (
            before
            and following
            and (before[0] in ("has", "have", "had", "was", "were", "is") or is_finite(following[0]))
        ):
            yield Draft((removal(claim.text, cue.start, cue.end),))
        return
    match = _AUXILIARY.search(claim.text)
    if match is None or not match.start() <= cue.start < match.end():
        return
    auxiliary = match["auxiliary"]
    if auxiliary.lower() not in ("do", "does", "did"):
        yield Draft((Edit(match.start(), match.end(), auxiliary),))
        return
    following = next(iter(find_words(claim.text, match.end())), None)
    verb = verb_in(following.lower, "base") if following else None
    if following and verb and claim.text[match.end() : following.start] == " ":
        form = {"did": verb.past, "does": verb.third, "do": verb.base}[auxiliary.lower()]
        yield Draft((Edit(match.start(), following.end, form),))


def opposite(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Replace a word with its opposite from the shipped table: "won" -> "lost"."""
    for edit in replacements(scene.claim, read_table("opposites.txt"), rng):
        if not is_negated(edit.start, scene.claim.negations):
            yield Draft((edit,))


@cache
def read_table(name: str) -> dict[str, tuple[str, ...]]:
    """A shipped table of "left > right" and "left = right" lines as replacements."""
    table: dict[str, tuple[str, ...]] = {}
    for line in lexicon_lines(name):
        sign = " = " if " = " in line else " > "
        left, right = line.split(sign)
        table[left] = (*table.get(left, ()), right)
        if sign == " = ":
            table[right] = (*table.get(right, ()), left)
    return table


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w'’-])", re.IGNORECASE)


def replacements(claim: ParsedText, table: dict[str, tuple[str, ...]], rng: random.Random) -> Iterator[Edit]:
    """An edit for each phrase of a table outside names, with its case kept."""
    for match in _pattern(tuple(table)).finditer(claim.text):
        found = match.group()
        written = found if found in table else found[:1].lower() + found[1:]
        if written in table and not (written[0].islower() and claim.in_name(*match.span())):
            chosen = rng.choice(table[written])
            yield Edit(*match.span(), chosen if written[0].isupper() else in_case_of(found, chosen))


def synonym(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Replace each listed word, and all of them together where there are several: "purchased" -> "bought"."""
    claim = scene.claim
    edits = [edit for edit in replacements(claim, read_table("synonyms.txt"), rng) if _fits(claim.text, edit)]
    if len(edits) > 1:
        yield Draft(tuple(edits))
    for edit in edits:
        yield Draft((edit,))


def _fits(text: str, edit: Edit) -> bool:
    """Whether articles agree: "the Second World War" must not follow another article."""
    before = text[: edit.start].rstrip().rpartition(" ")[2].lower()
    if re.match(r" (?:\w+ing|be)\b", text[edit.end :]):
        return False  # "frequently occurring", "due to be released"
    return not (edit.replacement.lower().startswith("the ") and before in ("the", "a", "an", "post", "pre", "during-"))
