"""The texts that were found for a claim of a finished file of rows, for its page: they are looked for once more.

A verdict says where its evidence stands, and does not hold the text. An index and a recording give the same again; what
an engine on the web found stands in no file but a recording, and is not asked for twice. Left out: reports on answers,
which hold their texts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from vouching.cli.search_options import SearchOptions
from vouching.errors import VouchError
from vouching.models.running import run
from vouching.search.evidence import Searches
from vouching.types import Claim, Source

FindAgain = Callable[[Claim, str | None, tuple[Source, ...]], tuple[Source, ...]]
"""From a claim, its question and the sources that came with it to these and what is found."""


def find_again(search: SearchOptions, threshold: float) -> FindAgain | None:
    """What gives the texts that were found for a claim; None where they cannot be had again.

    Args:
        search: where they were found.
        threshold: of the check, which says when enough was found.

    Raises:
        InputError: an index or a recording cannot be read.
        ConfigError: an index has another format.

    >>> find_again(SearchOptions(web=("wikipedia",)), 0.5) is None
    True
    """
    recorded = search.replay or search.record
    local = replace(search, web=search.web if recorded else (), pages=False, record=None, replay=recorded)
    if not local:
        return None
    from vouching.methods.base import ThresholdConfig
    from vouching.methods.embedded.verify import open_embedded
    from vouching.search.open import as_finder

    finder = as_finder(
        local.engines(), open_embedded("embedded:rules", ThresholdConfig(threshold)).verify, search.queries
    )

    def find(claim: Claim, question: str | None, given: tuple[Source, ...]) -> tuple[Source, ...]:
        with suppress(VouchError):  # what another recording lacks, or an index that is gone: the page is without it
            return run(Searches(finder, question).gather([claim], given))[1]
        return given

    return find
