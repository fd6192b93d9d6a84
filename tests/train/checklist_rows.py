"""Rows for trials of the checklist game: instructions with rules in words as their items, and labelled items."""

from __future__ import annotations

from typing import Any

WORDS = ("bridge", "tower", "river", "city", "mill", "road")
CHECKLISTS: list[dict[str, Any]] = [
    {
        "id": word,
        "prompt": f"Write about a {word}.",
        "instruction_id_list": ["keywords:existence"],
        "kwargs": [{"keywords": [word]}],
    }
    for word in WORDS
]
GOLD_ROWS: list[dict[str, Any]] = [
    {
        "id": f"{word}-{right}",
        "x": f"Write about a {word}.",
        "y": f"The {word if right else 'sea'} is old.",
        "c": f"Does the response contain {word}?",
        "l": int(right),
        "by": "rule",
    }
    for word in WORDS
    for right in (True, False)
]
