"""Who has a title or a task: "Chair: Ann Lee", "Ann Lee (treasurer)", "the director, Ann Lee", "the chef is Ann Lee".

A name of the claim differs if the sources give its title to exactly one other name. Not supported: titles that several
people have, and titles in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vouching.methods.embedded.findings import Finding
from vouching.methods.embedded.parts import is_name
from vouching.methods.embedded.scene import Scene
from vouching.reading.parsed import ParsedSentence
from vouching.text.entities import Entity, same_entity
from vouching.text.words import find_words, stem

_WORDS = r"[A-Za-z][\w-]*(?: [\w-]+){0,5}?"
_THE = r"(?<!of )(?<!for )(?<!in )(?<!to )(?<!by )(?:[Tt]he|[Oo]ur|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er)"
_BEFORE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:^|[^\w ] ?)(?P<title>{_WORDS})\W{{0,4}}:\W{{1,6}}\Z",
        rf"\b{_THE} (?P<title>{_WORDS}) (?:is|was|remains)(?: called| named)? \Z",
    )
)
_APPOSITION = re.compile(rf"\b(?:[Tt]he|[Oo]ur|[Ii]ts|[Tt]heir) (?P<title>{_WORDS}), \Z")
_CLOSED = re.compile(r"[,.;)]|\Z")
_AFTER = tuple(
    re.compile(pattern)
    for pattern in (
        rf" \((?P<title>{_WORDS})\)",
        rf" (?:is|was|remains|acts as|serves as) {_THE} (?P<title>{_WORDS})(?=[.,;]|\Z| (?:since|until|in|at)\b)",
        rf", {_THE} (?P<title>{_WORDS})(?=[.,;]|\Z)",
    )
)
_REACH = 70
"""Characters around a name that are searched."""
_OTHER_TITLES = frozenset("former deputy vice previous acting first second new old co until".split())
_MAX_SENTENCES = 12


@dataclass(frozen=True, slots=True)
class Title:
    """A name with the title that a text gives it."""

    stems: frozenset[str]
    head: str
    """Stem of its last word before "of" or "for"."""
    marks: frozenset[str]
    """Words that make it another title ("deputy")."""
    name: Entity
    listed: bool
    """Whether it stands before a colon or in brackets, as in a list."""


def find_titles(reading: ParsedSentence) -> Iterator[Title]:
    """The names of a sentence with their titles."""
    text = reading.text
    if text.startswith("#"):
        return
    for name in reading.entities:
        if name.kind == "title" or not is_name(name):
            continue
        found = [pattern.search(text, max(0, name.start - _REACH), name.start) for pattern in _BEFORE]
        if _CLOSED.match(text, name.end):
            found.append(_APPOSITION.search(text, max(0, name.start - _REACH), name.start))
        found += [pattern.match(text, name.end) for pattern in _AFTER]
        for match in found:
            title = match and _title(match["title"], name, match.re in (_BEFORE[0], _AFTER[0]))
            if title:
                yield title


def _title(text: str, name: Entity, listed: bool) -> Title | None:
    words = find_words(text)
    content = [word for word in words if word.is_content]
    core = next((at for at, word in enumerate(words) if word.lower in ("of", "for", "by", "under")), len(words))
    head = [word.stem for word in words[:core] if word.is_content and word.lower not in _OTHER_TITLES]
    if not head or any(word.lower[0].isdigit() for word in content):
        return None
    marks = frozenset(word.lower for word in content if word.lower in _OTHER_TITLES)
    return Title(frozenset(word.stem for word in content), head[-1], marks, name, listed)


def mistitled(scene: Scene) -> Iterator[Finding]:
    """The names of the claim whose title the sources give to one other name only."""
    if scene.claim.negations:
        return
    yield from _misfiled(scene)
    for ours in find_titles(scene.claim):
        holders = [
            (sentence, theirs.name)
            for sentence in scene.index.postings.get(ours.head, ())[:_MAX_SENTENCES]
            for theirs in find_titles(scene.index.read(sentence))
            if _is_the_same(ours, theirs)
        ]
        if not holders or any(same_entity(ours.name.text, name.text) for _, name in holders):
            continue
        sentence, name = holders[0]
        if all(same_entity(name.text, other.text) for _, other in holders) and ours.name.kind == name.kind:
            yield Finding(ours.name.start, ours.name.end, "differs", sentence, name.start, name.end)


def _misfiled(scene: Scene) -> Iterator[Finding]:
    """The only name of the claim if a list gives it another title, and the title that the claim has to another name."""
    names = [name for name in scene.claim.entities if is_name(name) and name.kind != "title"]
    if len(names) != 1 or " " not in names[0].key:
        return
    (name,) = names
    own = frozenset(stem(word) for word in name.key.split())
    words = frozenset(scene.claim.words[at].stem for at in scene.claim.content()) - own
    sentences = dict.fromkeys((*scene.focus.sentences, *scene.index.postings.get(stem(name.key.split()[-1]), ())))
    listed = [
        (sentence, title) for sentence in sentences for title in find_titles(scene.index.read(sentence)) if title.listed
    ]
    holders = [
        (sentence, title.name) for sentence, title in listed
        if title.stems <= words and not title.marks and " " in title.name.key
    ]  # fmt: skip
    ours = [title for _, title in listed if same_entity(title.name.text, name.text)]
    others = {other.key: (sentence, other) for sentence, other in holders}
    if not ours or any(title.stems & words for title in ours) or len(others) != 1:
        return
    ((sentence, other),) = others.values()
    if not same_entity(other.text, name.text):
        yield Finding(name.start, name.end, "differs", sentence, other.start, other.end)


def _is_the_same(one: Title, other: Title) -> bool:
    """Whether two titles are one: the same head and marks, and one has all the words of the other."""
    nested = one.stems <= other.stems or other.stems <= one.stems
    return one.head == other.head and one.marks == other.marks and nested
