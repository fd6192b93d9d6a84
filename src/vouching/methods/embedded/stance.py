"""What a statement does with its content: asserts or denies it, demands, allows or forbids it, expects or doubts it.

A sentence is cut into statements at the places where the scope of a negation or of a modal verb ends. Each has a force
(required, allowed, forbidden ...; "must", "is entitled to", "off limits"), a certainty (open, expected, settled; "is
being considered", "is planned", "was completed") and is denied or not; two denials cancel out. Exceptions ("except on
Sundays"; "not until noon") are cut out, since what the statement says does not hold there. Not supported: the scope of
several quantifiers, irony, and denials by words that are not in the lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from vouching.methods.embedded.modality import (
    ALL,
    CHANCE,
    EXPECTED,
    FORCE,
    MAY,
    ONLY_SOME,
    OPEN,
    PROMISE,
    REALISED,
    REGARDLESS,
    SETTLED,
    SOME,
    TENTATIVE,
    UNREALISED,
    USUALLY,
    Force,
    any_of,
)

Stretch = tuple[int, int]
"""Start and end of a stretch of the text."""

_END = re.compile(
    r"[;:!?()\[\]—]|\.(?!\w)| [–-] |,\s+yet\b|,?\s+(?:but(?! not (?!yet|only|until))|although|though|however|because|"
    r"whereas|while|since|so that)\b|,\s+(?:and|so|which|who|where|whose|as|or|then|nor|none|neither)\b|"
    r"\band\s+(?=(?:must|may|can|cannot|need|should|is|are|was|were|will|has|have|had|do|does|did|not|never|no)\b)"
)
"""Where the scope of a modal verb or a negation ends."""
_BUT_IS_EXCEPT = re.compile(
    r"\b(?:all|every|each|any|no|nobody|nothing|none|every(?:one|body|thing)|any(?:one|body|thing))\b(?: \w+){0,4} but$"
)
_EXCEPTION = re.compile(
    any_of(
        "except(?:ing|ed)?(?: for| that| in| on| at| when| if)?|apart from|aside from|other than|excluding|save for",
        "with the exceptions? of|rather than|instead of|in place of|as opposed to",
    )
    + r"|(?:\bbut|,) not (?!yet|only|until|before|to mention|least|even)|"
    r"(?<= )but(?= (?:the|for|one|two|those|\w+ ?\w*$))"
)
_UNLESS = re.compile(any_of("unless|until|till|without|before"))
"""Makes an exception in a statement that is denied; "unless" in any."""
_CONDITION = re.compile(
    any_of(
        "if|when|whenever|once|provided(?: that)?|as long as|as soon as|after|in case|subject to|on condition|unlike",
        "in contrast to",
    )
)
_VERB = re.compile(
    r" (?:is|are|was|were|has|have|had|can|cannot|may|must|will|should|does|do|did|gets?|needs?|costs?)\b"
)
_RESTRICTING = re.compile(any_of("unless|until|till|without|before|except|other than|apart from"))
_ONLY = re.compile(any_of("only|solely|exclusively|sole|alone"))

_IMPERATIVE = re.compile(
    r"[\W\d]*(?:please\s+)?(?P<cue>(?:do not|don't|never|avoid|refrain from|stay away from|keep away from)\b)"
    r"(?=\s+[a-z])"
)
_NEGATION = re.compile(
    r"(?P<asserting>\bnot (?:only|just|merely|least|to mention|(?:later|less|more|fewer|earlier) than)\b|"
    r"\bno (?:doubt|later|less|fewer|more(?! \w+ing)|earlier|sooner|matter|\w+er than)\b|\b(?:whether )?or not\b|"
    r"^(?:no|yes)\b[,.]|\bsaid no\b|\bno\. ?\d|\bif not\b)|"
    r"(?P<cue>\b(?:not|no longer|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|hardly|barely|"
    r"unable to|fail(?:s|ed|ing)? to|failure to|refus(?:e|es|ed|ing) to|declin(?:e|es|ed|ing) to|"
    r"refrain(?:s|ed|ing)? from|avoid(?:s|ed|ing)?|lack(?:s|ed|ing)?|absence of|yet to|free (?:of|from)|"
    r"exempt(?:ed)? from|excluded from|stop(?:s|ped)? \w+ing|cease[sd]? (?:to|\w+ing)|g[ai]ven? up \w+ing|"
    r"far from)\b|n't\b)"
)
"""Only matches of the group "cue" deny something."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a sentence. All offsets are relative to the sentence."""

    text: str
    """The whole sentence in lower case."""
    start: int
    end: int
    force: Force | None
    """What it demands or allows; None where it only states."""
    force_cue: Stretch | None
    """What shows the force, with its denial."""
    denied: bool
    """Whether an odd number of cues deny it. A denied force is another one: "must not" is forbidden, not denied."""
    denials: tuple[Stretch, ...]
    """The cues that deny it or its force."""
    certainty: int
    """1 open ("might", "is being considered"), 2 expected ("is planned"), 3 settled."""
    doubt: Stretch | None
    """What makes it less than settled."""
    exceptions: tuple[Stretch, ...]
    """Where it does not hold: after "except", or after "until" in a denied statement."""
    conditions: tuple[Stretch, ...]
    """After "if", "when", "provided that" ..."""

    @property
    def cues(self) -> list[Stretch]:
        """What shows the stance and is not content."""
        return [cue for cue in (*self.denials, self.force_cue, self.doubt) if cue is not None]

    @property
    def is_negative(self) -> bool:
        """Whether it speaks against its content."""
        return self.denied if self.force is None else self.force in ("forbidden", "discouraged")

    @property
    def is_not_yet(self) -> bool:
        """Whether what it denies may still come."""
        return " yet" in self.text[self.start : self.end]

    @property
    def restricted(self) -> bool:
        """Whether it holds only under a condition or for some ("only", "not until")."""
        restricting = self.denials and _RESTRICTING.search(self.text, self.start, self.end)
        return bool(restricting or _ONLY.search(self.text, self.start, self.end))

    @property
    def limits(self) -> Stretch | None:
        """Its first exception or condition, or the word "only"."""
        return next(iter((*self.exceptions, *self.conditions)), self._find(_ONLY))

    @property
    def regardless(self) -> Stretch | None:
        """What says that it holds under all conditions ("even", "without exception")."""
        return self._find(REGARDLESS)

    @property
    def usually(self) -> Stretch | None:
        """What says that it mostly holds."""
        return self._find(USUALLY)

    @property
    def settled(self) -> bool:
        """Whether it says explicitly that something has happened or holds now."""
        return any(self._states(m.start()) for m in SETTLED.finditer(self.text, self.start, self.end))

    @property
    def realised(self) -> bool:
        """Whether it says that an event is over."""
        return self._find(REALISED) is not None

    @property
    def unrealised(self) -> Stretch | None:
        """What says that an event is still to come."""
        return self._find(UNREALISED)

    @property
    def distancing(self) -> list[Stretch]:
        """The words that keep a distance to its content ("according to", "the idea of")."""
        return [found.span() for found in TENTATIVE.finditer(self.text, self.start, self.end)]

    @property
    def promise(self) -> Stretch | None:
        """The word "will"."""
        return self._find(PROMISE)

    @property
    def may(self) -> Stretch | None:
        """The word "may"."""
        return self._find(MAY)

    @property
    def all(self) -> Stretch | None:
        """The word that says that all are meant."""
        return None if self._find(ONLY_SOME) else self._find(ALL)

    @property
    def some(self) -> Stretch | None:
        """What says that not all need be meant ("most", "91 percent of")."""
        return self._find(SOME)

    @property
    def only_some(self) -> Stretch | None:
        """What says that not all are meant."""
        return self._find(ONLY_SOME)

    def excepts(self, offset: int) -> bool:
        """Whether the word at ``offset`` is in one of the exceptions."""
        return any(start <= offset < end for start, end in self.exceptions)

    def _find(self, pattern: re.Pattern[str]) -> Stretch | None:
        found = pattern.search(self.text, self.start, self.end)
        return found.span() if found else None

    def _states(self, offset: int) -> bool:
        return not any(start <= offset < end for start, end in (*self.exceptions, *self.conditions))


_MAY = re.compile(r"(?<=\w )May\b")
"""The month; in lower case, it would be the verb."""


@lru_cache(maxsize=4_000)
def read_statements(sentence: str) -> tuple[Statement, ...]:
    """The statements of a sentence, in order.

    >>> [(s.force, s.denied) for s in read_statements("You may swim here, but you must not dive")]
    [('allowed', False), ('forbidden', False)]
    >>> read_statements("A film is planned")[0].certainty
    2
    """
    text = _MAY.sub("mai", sentence.replace("’", "'")).lower()
    text = text if len(text) == len(sentence) else sentence
    ends = (m for m in _END.finditer(text) if not (m[0] == " but" and _BUT_IS_EXCEPT.search(text[: m.end()])))
    limits = pairwise([0, *(m.start() for m in ends), len(text)])
    return tuple(_statement(text, start, end) for start, end in limits if text[start:end].strip(" .,;:)"))


def _statement(text: str, start: int, end: int) -> Statement:
    negations = [m.span() for m in _NEGATION.finditer(text, start, end) if m["cue"]]
    if any(text[slice(*span)] == "neither" for span in negations):  # "neither ... nor" denies once
        negations = [span for span in negations if text[slice(*span)] != "nor"]
    exceptions = [*_stretches(_EXCEPTION, text, start, end)]
    exceptions += [s for s in _stretches(_UNLESS, text, start, end) if negations or text.startswith("unless", s[0])]
    conditions = [*_stretches(_CONDITION, text, start, end)]
    limits = [*exceptions, *conditions]

    def is_stated(offset: int) -> bool:
        return not any(low <= offset < high for low, high in limits)

    denials = tuple(span for span in negations if is_stated(span[0]))
    forces = [
        m for m in FORCE.finditer(text, start, end)
        if is_stated(m.start()) and not CHANCE.match(text, m.start())
    ]  # fmt: skip
    force, cue = _force(forces, denials)
    imperative = _IMPERATIVE.match(text, start, end)
    if imperative and force is None:
        force, cue = "forbidden", imperative.span("cue")
    opens = [m.span() for p in (OPEN, CHANCE) for m in p.finditer(text, start, end) if is_stated(m.start())]
    doubts = opens or [m.span() for m in EXPECTED.finditer(text, start, end) if is_stated(m.start())]
    return Statement(
        text=text, start=start, end=end, force=force, force_cue=cue,
        denied=force is None and len(denials) % 2 == 1, denials=denials,
        certainty=1 if opens else 2 if doubts else 3, doubt=min(doubts, default=None),
        exceptions=tuple(exceptions), conditions=tuple(conditions),
    )  # fmt: skip


def _stretches(marker: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Stretch]:
    """From each marker to the next comma, or the verb that follows an excepted name, or the end of the statement."""
    for match in marker.finditer(text, start, end):
        if not text[start : match.start()].strip(" ,") and match[0] == "but":
            continue
        comma = text.find(",", match.end(), end)
        clause = marker is not _EXCEPTION or match[0].endswith(("when", "if", "that"))
        verb = None if clause else _VERB.search(text, match.end(), end)
        yield match.start(), min(comma if comma >= 0 else end, verb.start() if verb else end)


_DENIED_FORCE: dict[Force, Force] = {
    "allowed": "forbidden", "forbidden": "allowed", "optional": "required", "required": "optional",
    "recommended": "discouraged", "discouraged": "recommended",
}  # fmt: skip
_LONGEST_CUE = 40
"""In characters."""


def _force(cues: list[re.Match[str]], denials: tuple[Stretch, ...]) -> tuple[Force | None, Stretch | None]:
    """The force, with what denies it, and where it is shown."""
    if not cues:
        return None, None
    names: list[Force] = [match.lastgroup for match in cues]  # pyright: ignore[reportAssignmentType]
    place = names.index("forbidden") if "forbidden" in names and names[0] != "optional" else 0
    force, first = names[place], cues[place]
    span = first.span()
    if len(denials) % 2 == 0:
        return force, span
    joined = min(span[0], denials[0][0]), max(span[1], denials[0][1])
    span = joined if len(denials) == 1 and joined[1] - joined[0] <= _LONGEST_CUE else span
    denied_before = any(denial[0] <= first.start() + 4 for denial in denials)
    must = first[0].startswith("must") or not (denied_before or first[0].startswith("need"))
    return ("forbidden" if force == "required" and must else _DENIED_FORCE[force]), span
