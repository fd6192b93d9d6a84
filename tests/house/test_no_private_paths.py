"""Nothing in the repository points at one person's machine or at one package server."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.house.source_tree import ROOT

FOLDERS = ("work", "root", "home", "Users", "tmp/venv", "opt/wheels", "opt/pypi")
"""Roots of absolute paths that exist on some machines only."""
SERVERS = ("pypi.org/simple", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com", "index-url")
"""Package servers are the user's choice, made outside the repository."""
PRIVATE = re.compile(
    rf"(?<![\w.~$)}}*:/-])/(?:{'|'.join(FOLDERS)})(?:/|\b(?!\w))|{'|'.join(map(re.escape, SERVERS))}|{'file:' + '//'}"
)


def repository_files() -> list[Path]:
    """Files that are committed or would be."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def private_places(text: str) -> list[str]:
    """Machine paths and package servers named in a text."""
    return [found[0] for found in PRIVATE.finditer(text)]


def test_no_committed_text_names_a_private_path_or_a_package_server() -> None:
    places: dict[str, list[str]] = {}
    for path in repository_files():
        raw = path.read_bytes()
        if path == Path(__file__) or b"\0" in raw:
            continue
        if found := private_places(raw.decode("utf-8", errors="replace")):
            places[str(path.relative_to(ROOT))] = found
    assert places == {}


def test_a_machine_path_is_found_and_an_address_with_the_same_word_is_not() -> None:
    assert private_places("see /home/ann/data and '/root/x'") == ["/home/", "/root/"]
    assert private_places("https://example.org/work/1 src/work/x ~/work/ /working") == []
