"""Docs, messages and docstrings use the field's words: a list of home-made ones, each with what to write instead."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, library_modules

INSTEAD = {
    r"(?:is|are|was|were|be|been|being|gets?) told|told (?:about|apart|of|by|from)": "reported, logged, given",
    r"tells?\b[^.]{0,40}\bapart": "distinguishes",
    r"left out": "Not supported (a limit); skipped, excluded, omitted (rows, words)",
    r"(?:go|goes|going|went) on with": "continue, resume",
    r"mend(?:s|ed|ing)?": "repair, fix",
    r"borne out": "supported",
    r"lessons?": "training example",
    r"(?:take|takes|taken|taking|took)\b[^.]{0,20}\bapart": "split",
    r"(?:stand|stands|kept|keep|keeps|set|sets|put|stay|stays)\b[^.]{0,15} apart": "separate, disjoint",
    r"fence lines?": "delimiter",
    r"election": "majority vote",
    r"let(?:s|ting)? go of": "release, drop",
    r"put again": "retried, asked again",
    r"at hand": "available",
    r"wanted": "expected",
    r"(?<!standard )deviations?": "standard deviation (or, of a strategy, profitable deviation)",
    r"forced (?:text|action|pair)s?": "teacher-forced",
    r"nobody": "no one, or the passive without an agent",
    r"says? nothing": "does not mention, gives no information",
    r"(?:stand|stands|stood) (?:in(?! for)|at|between|beside)": "is in, is at, is between",
    r"(?:lie|lies|lay) (?:in|at|beside|between|there)": "is in, is at, is between",
    r"held against": "compared with",
    r"what becomes? of": "what happens to",
}
"""Pattern, without case and by whole words, and what to write instead."""
WORDS = re.compile("|".join(rf"(?<![\w-])(?:{pattern})(?![\w-])" for pattern in INSTEAD), re.IGNORECASE)
NAMES = re.compile(
    r"_?(?:most|least|fewest)_(?!common\b)\w+|(?:_|\b)(?:told|untold|mended|lesson|fenced|apart)(?:_|\b)"
)
ALLOWED = {"profitable deviation", "profitable deviations"}
TEXTS_OF_OTHERS = {"rules/catalog.py"}
"""Modules whose strings match the texts of others, or are put to models."""
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "design").glob("*.md"),
    *ROOT.glob("recipes/*/*.md"),
]
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def home_made(text: str) -> Iterator[tuple[int, str]]:
    """Home-made words in a text, each with its line, from 0."""
    for found in WORDS.finditer(text):
        before = text[max(0, found.start() - 12) : found.end()].lower()
        if not any(before.endswith(allowed) for allowed in ALLOWED):
            yield text.count("\n", 0, found.start()), found[0]


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module that are written for people, and its comments, each with its first line.

    A string of fewer than four words is a name or a key; patterns of ``re`` and word lists are for the texts of others.
    """
    tree = ast.parse(source)
    patterns = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and (ast.unparse(call.func).startswith("re.") or _is_split(call))
        for inner in ast.walk(call)
    }
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in patterns | parts:
            continue
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "_" for part in node.values)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 4:
            yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _is_split(call: ast.Call) -> bool:
    """Whether a call splits a word list."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "split"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_uses_the_words_of_the_field(page: Path) -> None:
    prose = CODE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    found = [f"{page.name}:{line + 1}: {word}" for line, word in home_made(prose)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("module", library_modules(), ids=lambda module: module.name)
def test_docstrings_messages_and_names_use_the_words_of_the_field(module: object) -> None:
    path: Path = module.path  # type: ignore[attr-defined]
    place = path.relative_to(PACKAGE).as_posix()
    if place in TEXTS_OF_OTHERS:
        pytest.skip("its strings match the texts of others")
    source = path.read_text(encoding="utf-8")
    found = [f"{place}:{first + line}: {word}" for first, text in sentences(source) for line, word in home_made(text)]
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    found += [f"{place}: the name {name}" for name in sorted(names) if NAMES.fullmatch(name)]
    assert not found, "\n".join(found)


def test_a_home_made_word_is_found_in_a_docstring_a_message_and_a_comment() -> None:
    source = (
        '"""Rows that are left out are counted."""\nraise ValueError(f"rows: got {x}, wanted {y} or more")  # nobody\n'
    )
    assert [word for _, text in sentences(source) for _, word in home_made(text)] == ["left out", "wanted", "nobody"]
    assert not [*home_made("A profitable deviation. The standard deviation of mending-free text.")]
    assert not [*sentences('re.compile("nobody says nothing at all here")\nmode = "wanted"\n')]
