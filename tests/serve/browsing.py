"""Pages of a server in a real browser: what the tests of each page share."""

from __future__ import annotations

from typing import Any

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
GRAVE = ("serious", "critical")
ATTACKS = [
    "<img src=x onerror=hit()>",
    "</script><script>hit()</script>",
    '"><svg onload=hit()>',
    "{{ 7*7 }}",
    "<iframe srcdoc='<script>parent.hit()</script>'>",
    "javascript:hit()",
    "<style>*{display:none}</style>",
    "' autofocus onfocus='hit()",
]
"""Texts that are markup."""


def opened(browser: Any, address: str, path: str = "", name: str = "", **settings: Any) -> Any:
    """A page in a context of its own; its reader is signed in as ``name`` if one is given."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
    context.set_default_timeout(60_000)
    context.add_init_script("window.hit = () => { window.wasHit = true; };")
    if name:
        answer = context.request.post(f"{address}/v1/session", data={"name": name}, headers={"origin": address})
        assert answer.status == 201
    shown = context.new_page()
    shown.goto(address + path)
    return shown


def faults_of_access(page: Any) -> list[tuple[str, list[str]]]:
    """What axe finds that is serious: the rule and the elements."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["html"][:90] for node in one["nodes"]]) for one in found if one["impact"] in GRAVE]
