"""The npm package of packages/vouching-js: its own tests, in node with the real AI SDK, against ``vouch serve``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT
from tests.serve.test_workers import command as serving

PACKAGE = ROOT / "packages" / "vouching-js"
BINS = [Path(one) for one in os.environ.get("PATH", "").split(os.pathsep) if one.endswith("node_modules/.bin")]
MODULES = next(
    (one for one in (PACKAGE / "node_modules", *(bin.parent for bin in BINS)) if (one / "ai").is_dir()), None
)
NODE = shutil.which("node", path=str(MODULES / ".bin") if MODULES else None) or shutil.which("node")
pytestmark = pytest.mark.skipif(
    MODULES is None or NODE is None,
    reason="node or the npm package ai is missing (npm install in packages/vouching-js)",
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package beside the modules that it is tested with."""
    place = tmp_path_factory.mktemp("npm") / "vouching"
    shutil.copytree(PACKAGE, place, ignore=shutil.ignore_patterns("node_modules"))
    (place / "node_modules").symlink_to(MODULES or "")
    return place


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in a process of its own; its judge "broken" gives answers that cannot be read."""
    config = tmp_path_factory.mktemp("served") / "vouch.toml"
    with chat_server(lambda prompt: "who knows") as name:
        config.write_text(f'[judges.default]\nmodel = "embedded:rules"\n[judges.broken]\nmodel = "{name}"\n')
        with serving("--config", str(config)) as (address, _):
            yield address


def ended(package: Path, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of node in the package."""
    command = [str(NODE), *arguments]
    environment = {**os.environ, "VOUCH_URL": url}
    return subprocess.run(
        command, cwd=package, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def test_the_tests_of_the_package_pass(package: Path, url: str) -> None:
    files = sorted(str(path.relative_to(package)) for path in (package / "test").glob("*.test.js"))
    done = ended(package, url, "--test", *files)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\S+ pass [1-9]", done.stdout, re.MULTILINE), done.stdout


def test_each_example_of_the_readme_prints_what_it_says(package: Path, url: str) -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```js\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```js")
    for code, expected in examples:
        (package / "example.js").write_text(code.replace("http://127.0.0.1:8400", url), encoding="utf-8")
        done = ended(package, url, "example.js")
        assert done.stdout == expected, done.stderr


def test_the_types_are_those_of_the_ai_sdk(package: Path, url: str) -> None:
    compiler = package / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip("the npm package typescript is missing")
    options = ("--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--lib", "es2024,dom")
    done = ended(package, url, str(compiler), *options, "--skipLibCheck", "false", "test/types.ts")
    # The types of the AI SDK need those of Node, which are not installed here.
    ours = [line for line in done.stdout.splitlines() if ": error TS" in line and "node_modules" not in line]
    assert ours == []
    assert done.stderr == ""
