"""The page on which a text is checked: its sources are pasted, uploaded or, where the judge searches, found.

Claims are shown as they arrive; the result is drawn here with the templates of the HTML report: the browser never turns
a text of a claim or a source into markup.

Not supported: pictures of scanned pages; web addresses, which a server would have to open for any caller.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel

from vouching.errors import InputError
from vouching.report.page import workspace_html
from vouching.search.sections import document_sources, kind_of
from vouching.serve.frame import HEADERS, page
from vouching.serve.work import Deadline
from vouching.text.encoding import decode_text
from vouching.types import Report
from vouching.types.serial import from_json

if TYPE_CHECKING:
    from vouching.serve.service import Service


class ReadText(BaseModel):
    """The text of an uploaded file."""

    name: str
    text: str


def add_page(app: FastAPI, service: Service, described: Any) -> None:
    """Add the page and what it calls besides the API."""
    judges = {name: bool(judge.search) for name, judge in service.policy.judges.items()}

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def check(request: Request) -> Response:
        searched = [name for name, searches in judges.items() if searches]
        return page(
            request, service, "check", "check.html.jinja", title="Check a text", judges=[*judges], searched=searched
        )

    @app.post("/v1/page/read", response_model=list[ReadText], **described)
    async def read(request: Request, name: str) -> list[ReadText]:
        """The text of a file (plain text, Markdown, HTML, PDF, Word): one text, or one per page or section."""
        raw = await request.body()
        return await service.judge(partial(_texts, raw, name))

    @app.post("/v1/page/draw", response_class=HTMLResponse, **described)
    async def draw(request: Request) -> Response:
        """A report of /v1/check-response as HTML: its claims beside their sources."""
        raw = await request.body()
        html = await asyncio.to_thread(lambda: workspace_html(from_json(Report, raw)))
        return HTMLResponse(html, headers=HEADERS)


def _texts(raw: bytes, name: str, deadline: Deadline) -> list[ReadText]:
    deadline.look()
    if not raw.strip():
        raise InputError(f"{name} is empty: choose a file with text")
    kind = kind_of(name, raw)
    if kind is None:
        text, _ = decode_text(raw, name)
        return [ReadText(name=name, text=text)]
    return [ReadText(name=source.id, text=source.text) for source in document_sources(raw, kind, name)]
