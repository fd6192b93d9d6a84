"""``vouch schema`` and what stands above the commands."""

from __future__ import annotations

import json
import subprocess
import sys

import jsonschema
import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from vouching.cli.app import COMMANDS, app, app_for
from vouching.version import __version__


@pytest.mark.parametrize("record", ["verdict", "unverified", "report"])
def test_the_schema_of_each_record_is_a_valid_schema(record: str) -> None:
    result = CliRunner().invoke(app, ["schema", record])
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"].lower() == record


def test_without_a_name_it_is_the_schema_of_a_verdict() -> None:
    assert json.loads(CliRunner().invoke(app, ["schema"]).stdout)["title"] == "Verdict"


def test_what_check_prints_as_json_fits_the_schema() -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "report"]).stdout)
    arguments = ["check", "--response", "-", "--source-text", "It opened in 1973.", "--json"]
    jsonschema.validate(json.loads(CliRunner().invoke(app, arguments, input="It opened in 1937.").stdout), schema)


def test_an_unknown_record_is_a_usage_error() -> None:
    assert CliRunner().invoke(app, ["schema", "bogus"]).exit_code == 2


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"vouch {__version__}\n"


def test_without_a_command_the_commands_are_listed() -> None:
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert "check" in result.stdout
    assert "schema" in result.stdout


def test_every_command_can_be_loaded_by_itself() -> None:
    whole = typer.main.get_command(app)
    assert isinstance(whole, TyperGroup)
    assert sorted(whole.commands) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_by_itself_is_the_command_among_all(command: str) -> None:
    alone, among = (CliRunner().invoke(one, [command, "--help"]) for one in (app_for(command), app))
    assert alone.exit_code == 0
    assert alone.stdout == among.stdout


def test_check_loads_no_other_command_and_nothing_of_perturbations_but_verbs() -> None:
    program = (
        "import sys; from vouching.cli.app import main; "
        "sys.argv = ['vouch', 'check', 'It rained.', '--source-text', 'It rained.', '--model', 'embedded:rules']; "
        "main(); print(sorted(name for name in sys.modules if name.startswith('vouching.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "vouching.cli.check" in loaded
    for name in ("vouching.cli.train", "vouching.cli.audit", "vouching.perturb.run", "vouching.models.open"):
        assert name not in loaded
