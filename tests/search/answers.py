"""Answers of the engines in the formats of their documentation, and a server on a real socket that gives them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.models.fault_server import Answer, Request, of_json

BRIDGE = ("Bosphorus Bridge", "https://bridges.example/bosphorus", "The Bosphorus Bridge opened in 1973.")
OTHER = ("Bridges", "https://bridges.example/list", "A list of bridges by year.")

SEARXNG: dict[str, Any] = {
    "query": "q",
    "number_of_results": 0,
    "results": [
        {
            "url": url,
            "title": title,
            "content": text,
            "engine": "mojeek",
            "template": "default.html",
            "score": 1.0,
            "parsed_url": ["https", "bridges.example", "/", "", "", ""],
            "engines": ["mojeek"],
            "positions": [1],
            "category": "general",
            "publishedDate": None,
        }
        for title, url, text in (BRIDGE, OTHER)
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["brave", "too many requests"]],
}
WIKIPEDIA: dict[str, Any] = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {
                "pageid": page,
                "ns": 0,
                "title": title,
                "index": index,
                "extract": text,
                "contentmodel": "wikitext",
                "pagelanguage": "en",
                "fullurl": url,
                "canonicalurl": url,
                "length": 9,
                "lastrevid": 1,
            }
            for page, index, (title, url, text) in ((7, 2, OTHER), (9, 1, BRIDGE))
        ]
    },
}
BRAVE: dict[str, Any] = {
    "type": "search",
    "query": {"original": "q", "more_results_available": True},
    "web": {
        "type": "search",
        "family_friendly": True,
        "results": [
            {
                "title": title,
                "url": url,
                "description": text,
                "is_source_local": False,
                "language": "en",
                "type": "search_result",
                "subtype": "generic",
                "meta_url": {"hostname": "bridges.example"},
            }
            for title, url, text in (BRIDGE, OTHER)
        ],
    },
}
TAVILY: dict[str, Any] = {
    "query": "q",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {"title": title, "url": url, "content": text, "score": 0.9, "raw_content": None}
        for title, url, text in (BRIDGE, OTHER)
    ],
    "response_time": 1.2,
    "request_id": "r",
}
SERPER: dict[str, Any] = {
    "searchParameters": {"q": "q", "type": "search", "num": 10, "engine": "google"},
    "organic": [
        {"title": title, "link": url, "snippet": text, "position": rank}
        for rank, (title, url, text) in enumerate((BRIDGE, OTHER), 1)
    ],
    "credits": 1,
}
ANSWERS = {"searxng": SEARXNG, "wikipedia": WIKIPEDIA, "brave": BRAVE, "tavily": TAVILY, "serper": SERPER}
"""One answer of each engine, with the same two results."""


def speaks_searxng(request: Request) -> Answer:
    """What an instance does: JSON on /search with format=json, 403 for a format that is off, HTML for the rest.

    It knows about bridges and nothing else.
    """
    address = urlsplit(request.path)
    asked = parse_qs(address.query)
    if address.path != "/search" or "q" not in asked:
        return Answer(404, b"<html>Page not found</html>", {"content-type": "text/html"})
    form = asked.get("format", ["html"])[0]
    if form == "json":
        known = "bridge" in asked["q"][0].lower()
        found = {} if known else {"results": [], "unresponsive_engines": []}
        return of_json({**SEARXNG, "query": asked["q"][0], **found})
    if form == "html":
        return Answer(body=b"<!DOCTYPE html><html></html>", headers={"content-type": "text/html; charset=utf-8"})
    return Answer(403, b"Forbidden", {"content-type": "text/plain"})
