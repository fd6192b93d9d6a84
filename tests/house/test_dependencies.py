"""The documented installation is resolved by pip, without installing anything: the extras fit together."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = {
    one.name.lower(): str(one.specifier).removeprefix("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
    for one in [Requirement(line)]
}
FIRST = "torch==2.13.0"
"""What the documents say to install before the extra "train"."""


def required(*extras: str) -> list[str]:
    """What the project asks for, with extras that name others of its own written out."""
    found = [*PROJECT["dependencies"]]
    for extra in extras:
        for line in PROJECT["optional-dependencies"][extra]:
            one = Requirement(line)
            found += required(*sorted(one.extras)) if one.name == PROJECT["name"] else [line]
    return sorted({*found})


def resolved(out: Path, *arguments: str) -> list[dict[str, Any]]:
    """What pip would install, by its resolver. Skips the test if pip reaches no index."""
    report = out / "report.json"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "--retries",
        "0",
        "--report",
        str(report),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode and re.search("NewConnectionError|ConnectTimeout|from versions: none", done.stderr):
        pytest.skip("pip reaches no index of packages here")
    assert not done.returncode, done.stderr[-2000:]
    return [one["metadata"] for one in json.loads(report.read_text(encoding="utf-8"))["install"]]


def test_torch_first_and_then_the_extra_train_keeps_that_torch(tmp_path: Path) -> None:
    # What is installed counts as found, so in an environment with the constraints nothing is fetched.
    if find_spec("torch") is None:
        pytest.skip("the extra train (torch) is not installed")
    new = resolved(tmp_path, "-c", str(ROOT / "constraints.txt"), FIRST, *required("train"))
    assert not [one["name"] for one in new if one["name"].lower() in ("torch", "trl", "transformers")]


def test_core_and_every_extra_but_vllm_fit_together(tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("the extra train (torch) is not installed")
    everything = required("all")
    for extra in PROJECT["optional-dependencies"].keys() - {"all", "dev", "vllm"}:
        assert {*required(extra)} <= {*everything}, extra
    assert not [line for line in everything if Requirement(line).name == "vllm"]
    resolved(tmp_path, "-c", str(ROOT / "constraints.txt"), *everything)


def test_the_vllm_that_is_named_wants_the_torch_and_the_transformers_of_the_extra_train(tmp_path: Path) -> None:
    # Only its metadata is read: the package has gigabytes, and its other needs are CUDA's.
    [vllm] = resolved(tmp_path, "--no-deps", "--ignore-installed", *PROJECT["optional-dependencies"]["vllm"])
    assert Requirement(f"vllm=={vllm['version']}").specifier.contains("0.28.0")
    wanted = [
        one
        for line in vllm["requires_dist"]
        for one in [Requirement(line)]
        if one.marker is None or one.marker.evaluate({"extra": ""})
    ]
    pinned = {one.name.lower(): str(one.specifier) for one in wanted}
    assert pinned["torch"] == "==2.13.0"
    assert f"torch{pinned['torch']}" == FIRST
    assert "transformers" in pinned
    unfit = {
        one.name
        for one in wanted
        if (version := CONSTRAINTS.get(one.name.lower())) is not None
        and not one.specifier.contains(version, prereleases=True)
    }
    # It asks for an older FastAPI than the extra "serve": docs/training.md says so.
    assert unfit <= {Requirement(line).name for line in required("serve")} - {
        Requirement(line).name for line in required("train")
    }


def test_the_documents_install_torch_by_its_version_before_the_extra_that_needs_it() -> None:
    for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"):
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"```(?:bash|sh)\n(.*?)```", text, re.DOTALL):
            if re.search(r"pip install .*vouching\[[^\]]*\b(?:train|all|vllm)\b", block):
                assert FIRST in block.split("vouching[")[0], path.name
