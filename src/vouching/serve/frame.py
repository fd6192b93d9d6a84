"""The frame of the pages: links between them, who is signed in, and what strangers see instead.

A page is one file that loads nothing; it calls the API of the server that sent it, as whoever signed in (see
:mod:`vouching.serve.sessions`). Its content security policy names its styles and scripts by their hashes, so that no
other takes effect. What it shows of a text is drawn by templates that escape it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from fastapi import Request
from fastapi.responses import HTMLResponse

from vouching.client.problems import Problem
from vouching.report.skeleton import TEMPLATES, environment
from vouching.serve.keys import Key, Scope
from vouching.types.ledger import LedgerRow

if TYPE_CHECKING:
    from jinja2 import Environment

    from vouching.serve.service import Service
    from vouching.serve.sessions import Session

_FOLDER = TEMPLATES.parents[1] / "serve/templates"
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""The rest of the policy is in the page itself, with the hashes of its styles and scripts."""
_PAGES: tuple[tuple[str, str, Scope], ...] = (
    ("/", "Check", "check"),
    ("/history", "History", "read"),
    ("/review", "Review", "review"),
)


@cache
def templates() -> Environment:
    """The templates of the pages."""
    made = environment(_FOLDER)
    made.filters["moment"] = moment
    return made


def page(request: Request, service: Service, scope: Scope, template: str, **values: Any) -> HTMLResponse:
    """A page for whoever may see it; for others, the form to sign in, or which scope their key lacks."""
    key = cast("Key", request.state.key)
    session = request.state.session
    anonymous = service.keys is None and session is None and scope == "review"
    state = _state(service, request.url.path, key, session)
    if not key.allows(scope) or anonymous:
        stranger = session is None
        refusal = "" if stranger else f"Your key has the scopes {', '.join(key.scopes)}, but this page needs {scope}."
        html = templates().get_template("sign_in.html.jinja").render(**state, title="Sign in", refusal=refusal)
        return HTMLResponse(html, 401 if stranger else 403, headers=HEADERS)
    if not _is_there(service, scope):
        html = templates().get_template("no_ledger.html.jinja").render(**state, title="No ledger")
        return HTMLResponse(html, 404, headers=HEADERS)
    return HTMLResponse(templates().get_template(template).render(**state, **values), headers=HEADERS)


def _state(service: Service, path: str, key: Key | None, session: Session | None) -> dict[str, Any]:
    """What the frame shows: the pages that a reader may open, and who that is."""
    shown = [] if key is None else [one for one in _PAGES if key.allows(one[2]) and _is_there(service, one[2])]
    return {
        "links": [(at, name) for at, name, _ in shown],
        "here": _section(path),
        "who": session.name if session is not None else "",
        "keyed": service.keys is not None,
        "connects": True,
        "lead": "",
    }


def _section(path: str) -> str:
    return "/" + path.split("/")[1]


def wants_page(scope: Mapping[str, Any]) -> bool:
    """Whether a browser asks for a page: errors are then answered as one."""
    accepts = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return scope["method"] == "GET" and b"text/html" in accepts and not scope["path"].startswith("/v1/")


def problem_page(service: Service, scope: Mapping[str, Any], problem: Problem) -> tuple[bytes, dict[str, str]]:
    """A problem as a page that says what to do, and its headers."""
    known, path = scope.get("state", {}), str(scope["path"])
    section = next((one for one in _PAGES if one[0] == _section(path) and one[0] != path), None)
    back = (section[0], section[1]) if section is not None else ("/", "Start page")
    html = (
        templates()
        .get_template("problem.html.jinja")
        .render(
            **_state(service, path, known.get("key"), known.get("session")),
            problem=problem,
            back=back,
            title="Not found" if problem.status == HTTPStatus.NOT_FOUND else problem.title,
        )
    )
    headers = {**HEADERS, "content-type": "text/html; charset=utf-8"}
    if problem.retry_after is not None:
        headers["retry-after"] = str(max(1, round(problem.retry_after)))
    return html.encode(), headers


def piece(template: str, **values: Any) -> HTMLResponse:
    """A part of a page, which the page's script puts in its place."""
    return HTMLResponse(templates().get_template(template).render(**values), headers=HEADERS)


def moment(at: str) -> str:
    """A time of the ledger as it is shown.

    >>> moment("2026-05-04T07:30:12.123456+00:00")
    '2026-05-04 07:30'
    """
    return at[:16].replace("T", " ")


def json_text(row: LedgerRow) -> str:
    """Inputs and record of a row as JSON on several lines, for those who ask."""
    return json.dumps({"inputs": row.inputs, "record": row.record}, indent=1, ensure_ascii=False)


def _is_there(service: Service, needed: Scope) -> bool:
    return needed == "check" or service.recorder is not None
