"""The files in deploy/ fit the program: settings, options and paths that they name exist."""

from __future__ import annotations

import configparser
import re
import tomllib

import pytest
import yaml

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from benchmarks.faults import render, results
from tests.house.source_tree import ROOT
from vouching.serve.policy import Policy, read_policy

DEPLOY = ROOT / "deploy"


def test_the_policy_of_the_container_can_be_read_and_asks_for_keys() -> None:
    policy = read_policy(DEPLOY / "vouch.toml")
    assert policy.serve.keys == str(DEPLOY / "keys.json")
    assert set(policy.judges) == {"default", "fast"}


def test_every_default_in_the_guide_is_the_program_s() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    shown = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    defaults = Policy()
    for table in ("serve", "limits"):
        settings = getattr(defaults, table)
        own = {name: getattr(settings, name) for name in settings.__slots__}
        assert {name: tuple(v) if isinstance(v, list) else v for name, v in shown[table].items()} == own
    judge = defaults.judges["default"]
    assert {name: shown["judges"]["default"][name] for name in ("model", "threshold", "min_confidence")} == {
        name: getattr(judge, name) for name in ("model", "threshold", "min_confidence")
    }


def test_the_compose_file_mounts_what_the_policy_names_and_publishes_to_this_machine_only() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    vouch = services["vouch"]
    assert (ROOT / "deploy" / vouch["build"]["context"] / vouch["build"]["dockerfile"]).is_file()
    assert vouch["ports"] == ["127.0.0.1:8400:8400"]
    assert {mount.split(":")[1] for mount in vouch["volumes"]} == {"/etc/vouch/vouch.toml", "/etc/vouch/keys.json"}
    assert "POSTGRES_PASSWORD" not in (services["postgres"]["environment"].keys() - {"POSTGRES_PASSWORD_FILE"})


def test_the_container_copies_files_that_exist_and_does_not_run_as_root() -> None:
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert [word for word in copied if not (ROOT / word).exists()] == []
    assert lines.index("USER 10001") < next(n for n, line in enumerate(lines) if line.startswith("ENTRYPOINT"))


def test_the_unit_runs_the_command_and_stops_later_than_the_server() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(DEPLOY / "vouch.service", encoding="utf-8")
    assert "vouch serve --config" in unit["Service"]["ExecStart"]
    assert int(unit["Service"]["TimeoutStopSec"]) > Policy().serve.shutdown_seconds


def test_the_table_of_faults_in_the_guide_is_that_of_the_results() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    found = results()
    assert render(page, found) == page
    rows = {} if found is None else found["rows"]
    assert {row["result"].partition(":")[0] for row in rows.values()} <= {"passed", "skipped"}
