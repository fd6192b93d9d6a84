"""``vouch schema`` and what stands above the commands."""

from __future__ import annotations

import json

import jsonschema
import pytest
from typer.testing import CliRunner

from vouching.cli.app import app
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
