"""Inflected forms of the verbs of the shipped list, and the verbs that a form may belong to.

Left out: any verb that is not in the list; where one would be needed, the strategy proposes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

VerbForm = Literal["base", "third", "past", "participle"]
_IRREGULAR_THIRD = {"have": "has", "be": "is", "do": "does", "go": "goes"}


class Verb(NamedTuple):
    """A verb with its forms."""

    base: str
    """Infinitive: "write"."""
    past: str
    """Past tense: "wrote"."""
    participle: str
    """Past participle: "written"."""

    @property
    def third(self) -> str:
        """Third person of the present.

        >>> Verb("carry", "carried", "carried").third
        'carries'
        """
        if self.base in _IRREGULAR_THIRD:
            return _IRREGULAR_THIRD[self.base]
        if self.base.endswith(("s", "x", "z", "ch", "sh")):
            return f"{self.base}es"
        return f"{self.base[:-1]}ies" if _ends_in_consonant_y(self.base) else f"{self.base}s"


@cache
def verb_forms() -> Mapping[str, tuple[tuple[Verb, VerbForm], ...]]:
    """The verbs and forms that a lower-case word may be.

    >>> [(verb.base, form) for verb, form in verb_forms()["wrote"]]
    [('write', 'past')]
    """
    forms: dict[str, tuple[tuple[Verb, VerbForm], ...]] = {}
    for verb in _listed():
        named: tuple[tuple[str, VerbForm], ...] = (
            (verb.base, "base"), (verb.third, "third"), (verb.past, "past"), (verb.participle, "participle"),
        )  # fmt: skip
        for form, name in named:
            if (verb, name) not in forms.get(form, ()):
                forms[form] = (*forms.get(form, ()), (verb, name))
    return forms


def verb_in(word: str, form: VerbForm) -> Verb | None:
    """The verb that a lower-case word is, if it can be this form of one.

    >>> verb_in("won", "past").base, verb_in("table", "past")
    ('win', None)
    """
    return next((verb for verb, name in verb_forms().get(word, ()) if name == form), None)


def lexicon_lines(name: str) -> Iterator[str]:
    """Lines of a shipped word list, without comments and blank ones."""
    text = files("vouching.perturb").joinpath("lexicon", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def _listed() -> Iterator[Verb]:
    for line in lexicon_lines("verbs.txt"):
        forms = line.split()
        regular = _regular_past(forms[0])
        yield Verb(*forms) if len(forms) == 3 else Verb(forms[0], regular, regular)


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    return f"{base[:-1]}ied" if _ends_in_consonant_y(base) else f"{base}ed"


def _ends_in_consonant_y(base: str) -> bool:
    return base.endswith("y") and base[-2:-1] not in "aeiou"
