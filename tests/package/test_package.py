"""The wheel and the sdist: what is in them, and that the wheel works where nothing else of Vouch is installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT

MEGABYTES = 100
"""The most that a wheel may have: it holds the weights of the built-in verifier."""
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE"}
OTHER_FILES = {
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "README.md",
    "SECURITY.md",
    "action.yml",
    "constraints.txt",
    "mkdocs.yml",
    "pyproject.toml",
}
NO_INDEX = "NewConnectionError|ConnectTimeout|NameResolutionError|from versions: none"
"""What pip says where it reaches no index of packages."""


@dataclass(frozen=True, slots=True)
class Built:
    """The two files of a release."""

    wheel: Path
    """Installed by pip."""
    sdist: Path
    """The sources that the wheel is built from."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The files of a release, built from this working tree; the wheel from the sdist, as ``python -m build`` does."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@cache
def tracked(folder: str) -> frozenset[str]:
    """Files of a folder of the repository that are committed or would be, relative to the folder."""
    command = ["git", "-C", str(ROOT / folder), "ls-files", "--cached", "--others", "--exclude-standard", "-z", "."]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")
    return frozenset(name for name in listed if name and (ROOT / folder / name).is_file())


def test_the_wheel_holds_the_package_and_its_metadata_and_nothing_else(built: Built) -> None:
    names = {name for name in zipfile.ZipFile(built.wheel).namelist() if not name.endswith("/")}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    expected = {f"vouching/{name}" for name in tracked("src/vouching")}
    assert names == expected | {f"vouching-{version}.dist-info/{name}" for name in METADATA}


def test_the_wheel_is_small_and_pure_python(built: Built) -> None:
    assert built.wheel.stat().st_size <= MEGABYTES * 2**20
    assert built.wheel.name.endswith("-py3-none-any.whl")


def test_the_metadata_names_the_licence_the_python_and_every_extra(built: Built) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    archive = zipfile.ZipFile(built.wheel)
    [place] = [name for name in archive.namelist() if name.endswith("/METADATA")]
    said = archive.read(place).decode("utf-8").split("\n\n", 1)[0]
    assert "License-Expression: Apache-2.0" in said
    assert "Requires-Python: >=3.11" in said
    assert {*re.findall(r"^Provides-Extra: (.+)$", said, re.MULTILINE)} == project["optional-dependencies"].keys()
    assert not re.search(r"^Requires-Dist: (torch|transformers)\b(?!.*extra ==)", said, re.MULTILINE)


def test_the_sdist_holds_what_the_tests_and_the_documentation_need(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= OTHER_FILES
    for folder in ("src", "tests", "docs", "design", "examples", "recipes", "benchmarks", "deploy"):
        assert names >= {f"{folder}/{name}" for name in tracked(folder)}, folder
    assert not [name for name in names if name.startswith((".venv", ".git/", "runs", "dist"))]


@pytest.fixture(scope="module")
def clean(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment made for the test, with the wheel and what pip adds to it; skips where pip reaches no index."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    command = [
        str(folder / "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-compile",
        "--retries",
        "0",
        "-c",
        str(ROOT / "constraints.txt"),
        str(built.wheel),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=outside())
    if done.returncode and re.search(NO_INDEX, done.stderr):
        pytest.skip("pip reaches no index of packages here")
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def outside() -> dict[str, str]:
    """The environment of a user: without this checkout on Python's path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("VOUCH_")}


def ran(folder: Path, *command: str, **variables: str) -> str:
    """Output of a command of an environment, run outside the checkout. Fails unless its exit status is 0."""
    environment = {**outside(), "NO_COLOR": "1", **variables}
    run = [str(folder / "bin" / command[0]), *command[1:]]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, env=environment, cwd=folder)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def test_the_wheel_brings_no_torch_and_what_it_brings_fits_together(clean: Path) -> None:
    installed = {one["name"].lower() for one in json.loads(ran(clean, "python", "-m", "pip", "list", "--format=json"))}
    assert installed >= {"vouching", "onnxruntime", "pydantic"}
    assert not installed & {"torch", "transformers", "tensorflow", "pyarrow", "ray", "fastapi"}
    ran(clean, "python", "-m", "pip", "check")


def test_the_installed_command_judges_with_the_shipped_encoder(clean: Path) -> None:
    claim = ["check", "The bridge opened in 1937.", "--source-text", "The bridge opened to traffic in 1973.", "--json"]
    shown = json.loads(ran(clean, "vouch", *claim))
    assert shown["fix_suggestion"] == "Change 1937 to 1973."
    assert shown["provenance"]["model"] == "embedded"
    assert json.loads(ran(clean, "python", "-m", "vouching", *claim))["score"] == shown["score"]


def test_the_installed_command_completes_words_in_the_shells(clean: Path) -> None:
    words = {"COMP_WORDS": "vouch che", "COMP_CWORD": "1", "_VOUCH_COMPLETE": "complete_bash"}
    assert ran(clean, "vouch", **words).split() == ["check"]
    for shell in ("bash", "zsh", "fish"):
        named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # a shell by its name, not that of the caller
        assert "_VOUCH_COMPLETE" in ran(clean, "vouch", "--show-completion", shell, **named)
