"""Hints about prose, for ``make check``: home-made words and lines of pages above 100 characters. They never fail it.

python -m tests.house.prose
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator

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
WIDTH = 100
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
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "_" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 4:
            yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _is_split(call: ast.Call) -> bool:
    """Whether a call splits a word list."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "split"


def too_long(text: str) -> Iterator[tuple[int, str]]:
    """Lines above the width that could be broken: not tables, code blocks, images, or one long word."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif len(line) > WIDTH and not code and not line.startswith(("|", "![")) and " " in line.strip("-* "):
            yield number, line


def hints() -> Iterator[str]:
    """A line for each place, with what to write instead."""
    for page in PAGES:
        name, text = page.relative_to(ROOT), page.read_text(encoding="utf-8")
        prose = CODE.sub(lambda block: "\n" * block[0].count("\n"), text)
        yield from (f"{name}:{line + 1}: {word!r}: {instead(word)}" for line, word in home_made(prose))
        yield from (f"{name}:{number}: longer than {WIDTH} characters" for number, _ in too_long(text))
    for module in library_modules():
        place = module.path.relative_to(PACKAGE)
        source = module.path.read_text(encoding="utf-8")
        if place.as_posix() in TEXTS_OF_OTHERS:
            continue
        for first, text in sentences(source):
            yield from (f"{place}:{first + line}: {word!r}: {instead(word)}" for line, word in home_made(text))
        names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        yield from (f"{place}: the name {name!r}" for name in sorted(names) if NAMES.fullmatch(name))


def instead(word: str) -> str:
    """What to write instead of a home-made word."""
    return next(text for pattern, text in INSTEAD.items() if re.fullmatch(pattern, word, re.IGNORECASE))


if __name__ == "__main__":
    sys.stdout.writelines(f"hint: {hint}\n" for hint in hints())
