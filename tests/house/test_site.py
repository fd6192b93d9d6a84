"""The site of the documentation is built offline, has every page in its tree, and asks nothing of other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house.source_tree import ROOT
from vouching.train import TRAINERS

PAGES = 30
"""The most pages that the tree has besides the reference."""
LINES = 400
"""The longest page that is written by hand, in lines; the cap may only shrink."""
REFERENCE = "Reference"
REQUESTS = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(https?:|//)"""
    r"""|<link[^>]*\srel=["']?(?:stylesheet|preload|preconnect|icon)[^>]*\shref=["']?(https?:|//)"""
    r"""|@import|url\(["']?(https?:|//)"""
)
"""What a browser fetches by itself; a link that a reader may follow is none."""


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose tags name Python objects."""


def tree() -> list[Any]:
    """The tree of pages in mkdocs.yml."""
    return yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)["nav"]


def pages_of(entries: list[Any]) -> Iterator[tuple[str, str]]:
    """The pages of a tree, each with the section of the first level that it is in."""
    for entry in entries:
        [(title, content)] = entry.items()
        if isinstance(content, list):
            yield from ((title, page) for _, page in pages_of(content))
        else:
            yield title, content


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a broken link or anchor fails here."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--site-dir", str(out)], capture_output=True, text=True, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_every_page_is_in_the_tree_once() -> None:
    named = [page for _, page in pages_of(tree())]
    assert len(named) == len({*named})
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= {*named}


def test_the_tree_is_small_and_its_pages_are_short() -> None:
    written = [page for section, page in pages_of(tree()) if section != REFERENCE]
    assert len(written) <= PAGES
    lengths = {
        page: len((ROOT / "docs" / page).read_text(encoding="utf-8").splitlines())
        for page in written
        if (ROOT / "docs" / page).is_file()
    }
    assert {page: lines for page, lines in lengths.items() if lines > LINES} == {}


def test_the_site_asks_nothing_of_other_hosts(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    assert len(files) > PAGES
    asked = {path.name: found[0] for path in files if (found := REQUESTS.search(path.read_text(encoding="utf-8")))}
    assert asked == {}


def test_every_setting_of_training_has_a_row_with_its_meaning(site: Path) -> None:
    page = (site / "settings.html").read_text(encoding="utf-8")
    rows = dict(re.findall(r"<tr>\s*<td><code>([\w.]+)</code></td>(.*?)</tr>", page, re.DOTALL))
    expected = {name for trainer in TRAINERS.values() for name in settings_of(trainer.config)}
    assert expected - rows.keys() == set()
    assert [name for name, row in rows.items() if re.search(r"<td></td>\s*$", row)] == []


def settings_of(place: str) -> Iterator[str]:
    """The settings of a trainer, each with the table that it is in."""
    module, _, kind = place.partition(":")
    for one in fields(getattr(import_module(module), kind)):
        made = None if one.default_factory is MISSING else one.default_factory
        table = made if made is None or isinstance(made, type) else made()
        if is_dataclass(table):
            yield from (f"{one.name}.{inner.name}" for inner in fields(table))
        else:
            yield one.name


def test_examples_in_docstrings_are_code_and_not_links(site: Path) -> None:
    api = (site / "api.html").read_text(encoding="utf-8")
    assert '<span class="gp">&gt;&gt;&gt; </span>' in api
    assert "vouching.check_response" in api


def test_a_request_of_a_page_is_found_and_a_link_is_not() -> None:
    assert REQUESTS.search('<script src="https://example.org/x.js"></script>')
    assert REQUESTS.search("@font-face { src: url(https://example.org/a.woff) }")
    assert not REQUESTS.search('<a href="https://example.org">a page</a> <script src="assets/x.js"></script>')
