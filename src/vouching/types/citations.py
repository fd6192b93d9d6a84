"""Citations that an API returned with an answer, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from vouching.types.spans import SIGNS, Span

CitationOutcome: TypeAlias = Literal[
    "supports", "other_source", "no_source", "not_in_source", "unknown_source", "unverified"
]
"""supports: the cited source supports the sentence; other_source: another one does; no_source: none does;
not_in_source: the source does not have the cited text; unknown_source: it is none of the sources; unverified: the
judge failed, or the citation is for nothing that states anything."""

_WORDS: dict[CitationOutcome, tuple[str, str]] = {
    "supports": (SIGNS["match"], "supports it"),
    "other_source": (SIGNS["mismatch"], "does not support it; another source does"),
    "no_source": (SIGNS["mismatch"], "does not support it, and no other source does"),
    "not_in_source": (SIGNS["mismatch"], "does not have the cited text"),
    "unknown_source": (SIGNS["not_found"], "is none of the sources"),
    "unverified": (SIGNS["unverified"], "could not be checked"),
}


@dataclass(frozen=True, slots=True)
class CitationResult:
    """A citation as an API returned it, and whether it holds.

    >>> CitationResult("url_citation", Span("It is red.", 0, 10), "https://a.org", "no_source").words
    '✗ "It is red." · https://a.org does not support it, and no other source does'
    """

    kind: str
    """Its type in the API, such as "url_citation" or "char_location"."""
    place: Span
    """The words of the response that it is for."""
    cited: str
    """What it names: the id of a source, or, if it is none of them, the address, title or file as the API gives it."""
    outcome: CitationOutcome
    """Whether it holds."""
    cited_text: str | None = None
    """The words of the source that it quotes; None if it quotes none."""

    @property
    def words(self) -> str:
        """The outcome in a line."""
        sign, said = _WORDS[self.outcome]
        return f'{sign} "{self.place.text}" · {self.cited} {said}'
