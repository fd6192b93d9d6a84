"""The versions in constraints.txt have no vulnerability that is known, as far as the package index can be asked."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.house.source_tree import ROOT

ACCEPTED: dict[str, str] = {}
"""Vulnerabilities by their id that do not concern this project, each with the reason."""


def test_no_version_that_was_tested_has_a_known_vulnerability() -> None:
    if find_spec("pip_audit") is None:
        pytest.skip("pip-audit is not installed")
    command = [sys.executable, "-m", "pip_audit", "-r", str(ROOT / "constraints.txt"), "--no-deps", "--disable-pip"]
    command += ["-f", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("the index of packages did not answer within five minutes")
    if not done.stdout.startswith("{"):
        pytest.skip(f"the index of packages cannot be asked: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}")
    listed = json.loads(done.stdout)["dependencies"]
    asked = [one for one in listed if "skip_reason" not in one]
    if not asked:
        # A mirror often has the packages only.
        pytest.skip(f"the index of packages says nothing about vulnerabilities: {listed[0]['skip_reason']}")
    found = {bug["id"]: f"{one['name']} {one['version']}" for one in asked for bug in one["vulns"]}
    assert {id: name for id, name in found.items() if id not in ACCEPTED} == {}
    assert len(asked) > 0.9 * len(listed), [one for one in listed if "skip_reason" in one]
