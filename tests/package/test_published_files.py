"""Files that registries, agents and dashboards read: they name what there is."""

from __future__ import annotations

import json
import re
import tomllib

import typer.main
import yaml

from tests.house.source_tree import ROOT
from vouching.cli.app import app

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SKILL = (ROOT / "skills/vouch/SKILL.md").read_text("utf-8")


def test_the_entry_for_mcp_registries_fits_the_package() -> None:
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    [package] = entry["packages"]
    assert (package["identifier"], package["version"]) == (PROJECT["name"], PROJECT["version"])
    assert entry["version"] == PROJECT["version"]
    assert len(entry["description"]) <= 100
    # PyPI proves who owns the name by this line of the README.
    assert f"mcp-name: {entry['name']} " in (ROOT / "README.md").read_text("utf-8")
    assert [one["value"] for one in package["packageArguments"]] == ["mcp"]
    assert PROJECT["name"] in PROJECT["scripts"]  # `uvx vouching mcp` starts a script of the package's name


def test_the_skill_has_the_fields_of_its_format() -> None:
    _, head, body = SKILL.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert fields["name"] == "vouch"
    assert len(fields["description"]) <= 1024
    assert len(fields["compatibility"]) <= 500
    assert len(body.splitlines()) < 500


def test_the_skill_names_options_of_the_command() -> None:
    tree = typer.main.get_command(app)
    commands = re.findall(r"^vouch (\w+) (.*)$", SKILL, re.MULTILINE)
    assert len(commands) >= 3
    for name, rest in commands:
        command = tree.get_command(None, name)  # type: ignore[attr-defined,arg-type]
        known = {option for one in command.params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known, name


def test_the_dashboard_shows_numbers_that_the_server_has() -> None:
    from vouching.serve.measures import Measures

    measured = set(re.findall(rb"^# HELP (\w+)", Measures().text(), re.MULTILINE))
    dashboard = json.loads((ROOT / "deploy/grafana.json").read_text("utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            for name in re.findall(r"vouch_\w+", target["expr"]):
                assert re.sub(r"_(?:bucket|count|sum)$", "", name).encode() in measured, name
