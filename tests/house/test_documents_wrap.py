"""Pages wrap at 100 characters, so that a change of one sentence is a change of few lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT

WIDTH = 100
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "design").glob("*.md"),
    *ROOT.glob("recipes/*/*.md"),
]


def too_long(text: str) -> Iterator[tuple[int, str]]:
    """Lines above the width that could be broken: not tables, code blocks, images, or one long word."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif len(line) > WIDTH and not code and not line.startswith(("|", "![")) and " " in line.strip("-* "):
            yield number, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_wraps_at_100_characters(page: Path) -> None:
    long = [f"{page.name}:{number}: {line[:60]}..." for number, line in too_long(page.read_text(encoding="utf-8"))]
    assert not long, "\n".join(long)


def test_long_prose_is_found_and_long_tables_and_code_are_not() -> None:
    words = "word " * 30
    assert [number for number, _ in too_long(f"{words}\n| {words}|\n```\n{words}\n```\n- {words}\n")] == [1, 6]
    assert not [*too_long("- https://example.org/" + "a" * 100)]
