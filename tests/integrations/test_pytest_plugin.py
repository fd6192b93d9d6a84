"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest_plugins = ("pytester",)

NAME = "vouching.integrations.pytest_plugin"
INSTALLED = any(one.value == NAME for one in entry_points(group="pytest11"))
"""Whether the entry point loads the plugin; pytest refuses to load it twice."""
PLUGIN = (*(() if INSTALLED else ("-p", NAME)), "--vouch-model", "embedded:rules", "-p", "no:cacheprovider")
TESTS = """
SOURCE = "The bridge opened to traffic in 1973. It has two towers."

def test_right(assert_attributable):
    assert assert_attributable("The bridge has two towers.", SOURCE).attributable

def test_wrong(assert_attributable):
    assert_attributable("The bridge has two towers. The bridge opened in 1937.", [{"doc_id": "a", "text": SOURCE}])

def test_empty(assert_attributable):
    assert_attributable("Hello!", SOURCE)
"""


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """A run with the plugin; one that its entry point has loaded already is not loaded twice."""
    return pytester.runpytest_inprocess(*PLUGIN, *options)


@pytest.fixture
def written(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(test_bridge=TESTS)
    return pytester


def test_a_failure_shows_the_claim_its_fix_and_what_the_source_says(written: pytest.Pytester) -> None:
    result = run(written)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*1 of 2 claims is not attributable to the sources*",
            "*- The bridge opened in 1937.*",
            "*+ The bridge opened in 1973.*",
            "*temporal shift (* % sure): The claim says 1937, the source says 1973.*",
            "*the text has no claim that could be checked*",
        ]
    )


def test_an_abstention_fails_unless_it_is_expected(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_fails(assert_attributable):
            assert_attributable("I could not find the fare.", "The fare is 3 euros.")

        def test_passes(assert_attributable):
            assert_attributable("I could not find the fare.", "The fare is 3 euros.", abstained="pass")
        """
    )
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['*the text abstains and makes no claim, but the sources have "the fare"*'])


def test_what_cannot_be_checked_fails_in_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_empty(assert_attributable):
            assert_attributable(" ", "The fare is 3 euros.")

        def test_sources(assert_attributable):
            assert_attributable("The fare is 3 euros.", 7)
        """
    )
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E *AssertionError: the text is empty*", "E *InputError: source 1 must be*got 7*"])
    assert len([line for line in result.outlines if line.startswith("E ")]) == 2
    assert "checker.py" not in result.stdout.str()


def test_accepted_failures_pass_until_the_claim_changes(written: pytest.Pytester) -> None:
    run(written, "--vouch-accept", "-k", "wrong").assert_outcomes(passed=1, deselected=2)
    record = json.loads((written.path / "vouch-accepted.json").read_text(encoding="utf-8"))
    [entry] = record["accepted"]
    assert (entry["place"], entry["outcome"]) == ("test_bridge.py::test_wrong", "temporal shift")
    run(written, "-k", "wrong").assert_outcomes(passed=1, deselected=2)
    written.makepyfile(test_bridge=TESTS.replace("opened in 1937", "opened in 1938"))
    again = run(written, "-k", "wrong")
    again.assert_outcomes(failed=1, deselected=2)
    again.stdout.fnmatch_lines(["vouch: accepted, but no longer failing: test_bridge.py::test_wrong: *1937*"])


def test_a_text_without_a_claim_cannot_be_accepted(written: pytest.Pytester) -> None:
    run(written, "--vouch-accept", "-k", "empty").assert_outcomes(failed=1, deselected=2)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_report_has_the_checks_of_every_process(written: pytest.Pytester, workers: str) -> None:
    run(written, "-n", workers, "--vouch-report", "checks.xml").assert_outcomes(passed=1, failed=2)
    suites = ElementTree.parse(written.path / "checks.xml").getroot()
    assert {suite.get("name"): (suite.get("tests"), suite.get("failures")) for suite in suites} == {
        "test_bridge.py::test_right": ("1", "0"),
        "test_bridge.py::test_wrong": ("2", "1"),
        "test_bridge.py::test_empty": ("0", "0"),
    }


def test_the_report_can_be_a_page_and_a_wrong_path_ends_the_run_early(written: pytest.Pytester) -> None:
    run(written, "--vouch-report", "checks.html", "-k", "wrong")
    assert "Change 1937 to 1973." in (written.path / "checks.html").read_text(encoding="utf-8")
    refused = run(written, "--vouch-report", "checks.pdf")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*--vouch-report: the report cannot be written to checks.pdf*"])


def test_a_judge_that_fails_is_no_accepted_failure(pytester: pytest.Pytester) -> None:
    from tests.cli.chat_server import chat_server

    with chat_server(lambda prompt: "who knows") as name:
        pytester.makepyfile(
            test_judge=f"""
            def test_judge(assert_attributable):
                assert_attributable("It opened in 1973.", "It opened in 1973.", model={name!r})
            """
        )
        result = run(pytester, "--vouch-accept")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*could not be verified (unparsable)*"])


def test_a_run_without_the_fixture_loads_no_judge(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert not {"vouching.checker", "pydantic", "numpy", "onnxruntime"} & {*sys.modules}
        """
    )
    options = [one for one in PLUGIN if one != "embedded:rules" and one != "--vouch-model"]
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=1)


def test_the_entry_point_names_the_plugin() -> None:
    import tomllib

    from tests.house.source_tree import ROOT

    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"vouch": "vouching.integrations.pytest_plugin"}
