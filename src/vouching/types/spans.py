"""The closed vocabularies of a verdict. The words are SEVA's (section 2.2, App. H, Table 20).

Pieces of text and where they stand: spans, claims, sources, passages, labelled examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Label: TypeAlias = Literal["Attributable", "Not Attributable"]
"""Whether the sources support the whole claim. "Attributable" does not mean "true"."""

Relation: TypeAlias = Literal["supported", "contradicted", "not_found"]
"""How the sources stand to the claim; the last two are both Not Attributable."""

Status: TypeAlias = Literal["match", "mismatch", "not_found"]
"""How one part of the claim compares with its place in a source."""

Judgment: TypeAlias = Literal["supported", "not_supported", "partially_supported"]
"""What one reasoning step concludes."""

ErrorType: TypeAlias = Literal[
    "numerical_exaggeration",
    "temporal_shift",
    "negation_flip",
    "entity_substitution",
    "scope_inflation",
    "fabrication",
]
"""What is wrong with a claim that is Not Attributable. Listed in order of precedence: where two fit, the earlier
one is reported (see ``vouching.methods.embedded.diagnosis`` for the reason)."""

FindingStatus: TypeAlias = Literal["match", "mismatch", "not_found", "unverified"]
"""Whether a finding is good (match), bad (mismatch, not_found), or missing because the judge failed (unverified)."""

SIGNS: dict[str, str] = {"match": "✓", "mismatch": "✗", "not_found": "∅", "unverified": "?"}
"""One sign per status of a part or of a finding, so that nothing depends on colour."""

ERROR_TYPES: tuple[ErrorType, ...] = get_args(ErrorType)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text and its place in the untouched string it was taken from.

    Raises:
        ValueError: offsets that do not satisfy ``0 <= start <= end``.

    >>> source = "The bridge opened in 1973."
    >>> year = Span("1973", 21, 25, source_id="source-1")
    >>> source[year.start : year.end] == year.text
    True
    """

    text: str
    """The characters themselves: ``string[start:end]``."""
    start: int
    """Offset of the first character."""
    end: int
    """Offset after the last character (end-exclusive)."""
    source_id: str | None = None
    """Id of the source the span lies in; None for a span of a claim or a response."""

    def __post_init__(self) -> None:
        if self.start < 0 or self.end < self.start:
            raise ValueError(f"span offsets must satisfy 0 <= start <= end, got {self.start}..{self.end}")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement to verify.

    >>> Claim("The bridge opened in 1973.").id
    'claim-1'
    """

    text: str
    """The statement, as written."""
    id: str = "claim-1"
    """Name of the claim within its call."""
    span: Span | None = None
    """Where the claim stands in the response it was taken from; None for a claim that came alone."""
    context: str = ""
    """Words of the response that the claim leans on (the subject of a split sentence); empty if it stands alone."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document that a claim may rest on.

    >>> Source("The bridge opened in 1973.", id="bridge.txt", title="The bridge").id
    'bridge.txt'
    """

    text: str
    """The document's text, untouched."""
    id: str = "source-1"
    """Name of the source within its call; spans refer to it."""
    title: str = ""
    """Title, if it has one. Evidence may not be quoted from it, but its names count as known."""
    url: str = ""
    """Where the document came from; informative only, never fetched."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a source that a search returned."""

    span: Span
    """The piece, with its offsets in the source it names."""
    score: float
    """Relevance as the search scored it; higher is better, the scale is the search's own."""
    title: str = ""
    """Title of the document it lies in, if it has one."""
    url: str = ""
    """Where the document is: a URL, or the path of a file."""
    origin: str = ""
    """Who found it, e.g. "index:wiki" or "web:searxng"; several are joined by "+"."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled claim with its sources: what training and evaluation read."""

    id: str
    """Name of the row in its data set."""
    claim: str
    """The statement."""
    sources: tuple[Source, ...]
    """What it is to be checked against."""
    label: Label
    """Gold label."""
    question: str | None = None
    """The question the claim answers, where the set has one."""
    group: str | None = None
    """Rows of one group share a document and must not be split between training and evaluation."""
    error_type: ErrorType | None = None
    """Gold error type, where the set has one."""
