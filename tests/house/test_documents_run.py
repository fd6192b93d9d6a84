"""Every example in README.md, docs/ and the READMEs of two recipes runs and prints what the page says.

A ```python block runs in the names its page has made so far: as a doctest if it holds ``>>>``, else as a script whose
output must be the ```text block right after it, if there is one. In a ```console block every ``$`` line that calls
``vouch`` or a recipe runs in a shell beside copies of that folder and of examples/, and must print the lines
below it, where ``...`` stands for anything; lines of progress, which a slow machine prints, are left out. Installing
and making are not run.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.house.source_tree import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "recipes/taxes/README.md",
    ROOT / "recipes/theory/README.md",
    *sorted(path for path in (ROOT / "docs").glob("**/*.md") if path.is_file()),
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROGRESS = re.compile(r"^vouch: (?:1 row|[\d,]+ rows, [\d.,]+ per second.*)\n", re.MULTILINE)
SHIM = f"""#!/bin/sh
exec {sys.executable!r} -c 'import sys; sys.argv[0] = "vouch"; from vouching.cli.app import main; sys.exit(main())' "$@"
"""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    language: str
    """The word after the fence."""
    body: str
    """Its lines."""
    line: int
    """Line of the page where the body starts, from 1."""
    output: str | None
    """Body of a ```text block that follows with only blank lines between; else None."""


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = list(FENCE.finditer(page))
    blocks: list[Block] = []
    for block, after in zip(found, [*found, None][1:], strict=True):
        adjoins = after is not None and after[1] == "text" and not page[block.end() : after.start()].strip()
        output = after[2] if after is not None and adjoins else None
        blocks.append(Block(block[1], block[2], page.count("\n", 0, block.start(2)) + 1, output))
    return blocks


def commands_of(body: str) -> Iterator[tuple[str, str]]:
    """Commands of a console block, each with the output shown below it.

    >>> list(commands_of("$ vouch check \\\\\\n    --json\\n{}\\n$ ls\\n"))
    [('vouch check \\\\\\n    --json', '{}\\n'), ('ls', '')]
    """
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*", part)
        assert command
        yield command[0], part[command.end() :].removeprefix("\n")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of examples/, the current one while the test runs, with ``vouch`` on the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for recipe in ("bench", "rank", "structured", "taxes", "theory"):
        shutil.copytree(ROOT / "recipes" / recipe, tmp_path / "recipes" / recipe)
    shim = tmp_path / "bin" / "vouch"
    shim.parent.mkdir()
    for name, text in {"vouch": SHIM, "python": f'#!/bin/sh\nexec {sys.executable!r} "$@"\n'}.items():
        shim.with_name(name).write_text(text, encoding="utf-8")
        shim.with_name(name).chmod(stat.S_IRWXU)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    for name, value in {
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "100",
        "PYTHONIOENCODING": "utf-8",
        "VOUCH_PROGRESS": "600",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_python_of_a_page_prints_what_the_page_says(path: Path, workplace: Path) -> None:
    names: dict[str, Any] = {"__name__": path.stem}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language == "python":
            _run_python(block, names, path.name)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_commands_of_a_page_print_what_the_page_says(path: Path, workplace: Path) -> None:
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language != "console":
            continue
        for command, shown in commands_of(block.body):
            if not re.search(r"\bvouch\b|recipes/(rank|taxes|theory)", command):
                continue
            if "vouch bench run" in command and "VOUCH_DATA" not in os.environ:
                pytest.skip(f"{command!r} needs public data: VOUCH_DATA is not set")
            done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            _assert_same(shown, PROGRESS.sub("", done.stdout), f"{path.name}:{block.line}: $ {command}")


def test_a_page_with_a_wrong_output_is_found() -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    with pytest.raises(AssertionError, match="page:2"):
        _run_python(blocks_of(page)[0], {}, "page")


def _run_python(block: Block, names: dict[str, Any], page: str) -> None:
    place = f"{page}:{block.line}"
    if ">>>" in block.body:
        example = doctest.DocTestParser().get_doctest(block.body, {}, place, page, block.line)
        example.globs = names
        told = io.StringIO()
        failed = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=told.write, clear_globs=False).failed
        assert not failed, told.getvalue()
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.body, place, "exec"), names)
    if block.output is not None:
        _assert_same(block.output, printed.getvalue(), place)


def _assert_same(shown: str, printed: str, place: str) -> None:
    """Fail unless the output is the one shown, with ``...`` for anything and layout spaces disregarded."""
    checker = doctest.OutputChecker()
    assert checker.check_output(shown, printed, FLAGS), f"{place}\nshown:\n{shown}\nprinted:\n{printed}"
