"""Probes that a language model writes, for what the strategies of ``vouching.perturb`` cannot make enough of.

SEVA's authors had all their probes written. One claim is asked for at a time; what comes back has to differ from the
original, be of like length and pass the filters of form. Whether it is wrong, and wrong in the way asked for, only the
second verifier says, so that it is never learned from unchecked. Left out: safe rows; and second attempts, another row
does as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from vouching.errors import ModelError
from vouching.evolve.probe import Write
from vouching.evolve.records import Probe, Row
from vouching.judging.fences import fenced
from vouching.models.base import Message, Model, Sampling, spoken
from vouching.models.running import all_of, run
from vouching.perturb.filters import fluent, visible
from vouching.prompts import load_prompt
from vouching.train.encoder_rows import changed_spans
from vouching.types import Span
from vouching.types.spans import ErrorType

WRITTEN = "written"
_ERRORS: Mapping[ErrorType, str] = MappingProxyType(
    {
        "numerical_exaggeration": "a number is another one, or its unit, scale or bound is",
        "temporal_shift": "a date, a length of time or the order of events is another one",
        "negation_flip": "something that the source affirms is denied, or the other way round",
        "entity_substitution": "a person, place, thing or organisation is another one",
        "scope_inflation": "the claim is wider or surer than the source: all for some, always for often, will for may",
        "fabrication": "a detail is added that the source says nothing of",
    }
)
_TOKENS = 512
_LONGEST_SOURCE = 8_000
"""Characters of a source that are shown; a longer one is passed over, since what is cut off may say otherwise."""
_CLAIM = re.compile(r"<claim>(.*?)</claim>\s*\Z", re.DOTALL)


async def write_probes(model: Model, kind: ErrorType, rows: Iterable[Row], count: int, seed: int = 0) -> list[Probe]:
    """At most ``count`` probes of a type, one of each row, in the order of the rows.

    Rows are asked about, as many at once as are missing, until there are enough or none is left. A row whose answer
    cannot be used gives none.

    Raises:
        ModelError: the model is out of reach, and the same call may succeed later.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> row = Row("1", "It opened in 1973.", "The bridge opened in 1973.", "Attributable")
    >>> model = ScriptedModel(["A later year. <claim>It opened in 1983.</claim>"])
    >>> [probe] = asyncio.run(write_probes(model, "temporal_shift", [row], 1))
    >>> probe.claim, probe.strategy, [span.text for span in probe.spans]
    ('It opened in 1983.', 'written', ['1983.'])
    """
    waiting = iter(row for row in rows if len(row.source) <= _LONGEST_SOURCE)
    made: list[Probe] = []
    while len(made) < count:
        asked = [*islice(waiting, count - len(made))]
        if not asked:
            break
        claims = await all_of(_asked(model, kind, row, seed) for row in asked)
        made += _probes(kind, zip(asked, claims, strict=True))
    return made


def writer(model: Model, seed: int = 0) -> Write:
    """The same for ``make_probes``, which is not asynchronous."""

    def write(kind: ErrorType, rows: Sequence[Row], count: int) -> list[Probe]:
        return run(write_probes(model, kind, rows, count, seed))

    return write


async def _asked(model: Model, kind: ErrorType, row: Row, seed: int) -> str | None:
    """What the model makes of a claim; None where that is nothing usable."""
    system = load_prompt("vouching.evolve", "written").fill(error=_ERRORS[kind]).strip()
    messages = (Message("system", system), Message("user", fenced({"source": row.source, "claim": row.claim})))
    try:
        [said] = await model.generate(messages, Sampling(max_tokens=_TOKENS, temperature=0.7, seed=seed))
    except ModelError as error:
        if error.can_retry:
            raise
        return None
    found = _CLAIM.search(spoken(said.text)) if said.finish_reason != "length" else None
    claim = " ".join(found[1].split()) if found else ""
    usable = claim and visible(row.claim, claim) and fluent(row.claim, claim)
    return claim if usable else None


def _probes(kind: ErrorType, written: Iterable[tuple[Row, str | None]]) -> Iterator[Probe]:
    for row, claim in written:
        if claim is not None:
            spans = tuple(Span(claim[start:end], start, end) for start, end in changed_spans(row.claim, claim))
            yield Probe(
                f"{row.id}/{WRITTEN}-{kind}", claim, row.source, "Not Attributable", kind, WRITTEN, row.claim, spans,
                row.group or row.id, row.id, row.data_set,
            )  # fmt: skip
