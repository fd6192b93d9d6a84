"""The page on which verdicts are reviewed: the claim beside its sources, and a decision with a few keys.

What other reviewers said about a verdict is not shown before the decision, so that agreement means something.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, get_args

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from vouching.report.documents import Mark, pieces_of
from vouching.report.findings import view_of
from vouching.report.page import Entry, workspace_html
from vouching.serve.frame import page, piece
from vouching.serve.history import ledger_of
from vouching.serve.history_page import sources_of_row
from vouching.types import Verdict
from vouching.types.review import Policy, QueueCounts, ReviewItem
from vouching.types.spans import ERROR_TYPES
from vouching.types.visible import visible

if TYPE_CHECKING:
    from vouching.serve.service import Service


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a claim in which characters are counted one by one."""

    start: int
    """Offset in the claim."""
    text: str
    status: str
    """Of the part of the claim that it belongs to; empty for none."""
    length: int
    """Characters of the claim that it stands for."""


def add_review_page(app: FastAPI, service: Service) -> None:
    """Add the page to an application."""

    @app.get("/review", response_class=HTMLResponse, include_in_schema=False)
    async def review(request: Request) -> Response:
        return page(
            request,
            service,
            "review",
            "review.html.jinja",
            title="Review",
            policies=get_args(Policy),
        )


async def item_piece(service: Service, item: ReviewItem | None, counts: QueueCounts) -> HTMLResponse:
    """An item as the page draws it."""
    if item is None:
        return piece("item.html.jinja", item=None, counts=counts)
    sources = item.sources
    if not sources:  # sources that are named by their digest: the server may still have them
        row = await ledger_of(service).reads(lambda ledger: ledger.get(item.id.row))
        sources = tuple(sources_of_row(service, row))
    workspace = await asyncio.to_thread(lambda: workspace_html(Entry(item.verdict, sources)))
    return piece(
        "item.html.jinja",
        item=item,
        counts=counts,
        verdict=item.verdict,
        segments=segments_of(item.verdict),
        workspace=workspace,
        error_types=ERROR_TYPES,
        has_sources=bool(sources),
    )


def segments_of(verdict: Verdict) -> list[Segment]:
    r"""The claim in parts from whose places a browser can count characters: what is written out is its own part.

    >>> from vouching.types import Claim
    >>> verdict = Verdict(Claim("a\u202eb"), "Attributable", 0.9, 0.9, 0.5, "supported")
    >>> [(one.start, one.text, one.length) for one in segments_of(verdict)]
    [(0, 'a', 1), (1, '<U+202E>', 1), (2, 'b', 1)]
    """
    text = verdict.claim.text
    parts = view_of(verdict).parts
    marks = [Mark(span.start, span.end, status) for span, status in parts if text[span.start : span.end] == span.text]
    found: list[Segment] = []
    for one in pieces_of(text, marks):
        statuses = {mark.status for mark in one.marks}
        worst = next((status for status in ("mismatch", "not_found", "match") if status in statuses), "")
        for start, plain, length in _counted(one.text):
            found.append(Segment(one.start + start, plain, worst, length))
    return found


def _counted(text: str) -> Iterator[tuple[int, str, int]]:
    """The parts of a text that keep their length when they are shown, and the characters that do not."""
    at = 0
    for kept, group in groupby(text, key=lambda character: visible(character) == character and character != "\r"):
        part = "".join(group)
        for one in [part] if kept else part:
            yield at, visible(one), len(one)
            at += len(one)
