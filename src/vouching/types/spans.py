"""The closed vocabularies of a verdict, in SEVA's words (section 2.2, App. H, Table 20).

Also pieces of text with their places: spans, claims, sources, passages, labelled examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Label: TypeAlias = Literal["Attributable", "Not Attributable"]
"""Whether the sources support the whole claim. "Attributable" does not mean "true"."""

Relation: TypeAlias = Literal["supported", "contradicted", "not_found", "conflicting"]
"""How the sources relate to the claim; only the first is Attributable. In a conflict, one place supports the claim and
another contradicts it."""

Status: TypeAlias = Literal["match", "mismatch", "not_found"]
"""How one part of the claim compares with its counterpart in a source."""

Judgment: TypeAlias = Literal["supported", "not_supported", "partially_supported"]
"""The conclusion of one reasoning step."""

ErrorType: TypeAlias = Literal[
    "numerical_exaggeration", "temporal_shift", "negation_flip", "entity_substitution", "scope_inflation", "fabrication"
]
"""What is wrong with a claim that is Not Attributable, in order of precedence: where two fit, the earlier is
reported (``vouching.embedded.diagnosis`` explains why)."""

FindingStatus: TypeAlias = Literal["match", "mismatch", "not_found", "unverified"]
"""Whether a finding is good (match), bad (mismatch, not_found), or missing because the judge failed (unverified)."""

SIGNS: dict[str, str] = {"match": "✓", "mismatch": "✗", "not_found": "∅", "unverified": "?"}
"""One sign per status, so that nothing depends on colour."""

ERROR_TYPES: tuple[ErrorType, ...] = get_args(ErrorType)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text and its place in the unchanged string it was taken from.

    Raises ValueError for offsets that do not satisfy ``0 <= start <= end``.

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
    """Id of its source; None for a span of a claim or a response."""

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
    """Its place in the response; None for a separate claim."""
    context: str = ""
    """Words of the response that it depends on (the subject of a split sentence); may be empty."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document to check claims against.

    >>> Source("The bridge opened in 1973.", id="bridge.txt", title="The bridge").id
    'bridge.txt'
    """

    text: str
    """The document's text, unchanged."""
    id: str = "source-1"
    """Name of the source within its call; spans refer to it."""
    title: str = ""
    """May be empty. Not quoted as evidence, but its names count as known."""
    url: str = ""
    """Origin of the document; informative only, never fetched."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a source returned by a search."""

    span: Span
    """The piece, with its offsets in the source it names."""
    score: float
    """Relevance; higher is better, on a scale of the search."""
    title: str = ""
    """Title of its document, if any."""
    url: str = ""
    """Where the document is: a URL, or the path of a file."""
    origin: str = ""
    """Who found it, e.g. "index:wiki" or "web:searxng"; several are joined by "+"."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled claim with its sources, for training and evaluation."""

    id: str
    """Name of the row in its data set."""
    claim: str
    """The statement."""
    sources: tuple[Source, ...]
    """What to check it against."""
    label: Label
    """Gold label."""
    question: str | None = None
    """The question that the claim answers, if any."""
    group: str | None = None
    """Rows of one group share a document and must not be split between training and evaluation."""
    error_type: ErrorType | None = None
    """Gold error type, if any."""
