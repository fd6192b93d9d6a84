"""The table of methods: every part that it names can be loaded, and settings are checked in one way."""

import re
from contextlib import suppress
from inspect import signature
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from tests.house.source_tree import PACKAGE
from vouching import shortcuts
from vouching.cli.calibrate import calibrate_command
from vouching.cli.check import check_command
from vouching.cli.evolve import reflect_command
from vouching.cli.follow import follow_command
from vouching.errors import ConfigError
from vouching.methods import METHODS
from vouching.methods.rewards import reward_work
from vouching.models import ScriptedModel

PARTS = [
    (method.name, part)
    for method in METHODS.values()
    for part in ("verifier", "settings", "game", "config")
    if getattr(method, part) is not None
]


def test_the_table_names_every_method_by_its_folder():
    folders = {path.parent.name for path in (PACKAGE / "methods").glob("*/__init__.py")}
    folders |= {name for name in ("embedded", "rules") if (PACKAGE / name / "__init__.py").exists()}  # layers below
    assert {name for name, method in METHODS.items() if method.name == name} == folders == METHODS.keys()


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_every_part_that_a_method_names_exists(name, part):
    assert callable(METHODS[name].load(part))


@pytest.mark.parametrize("name", ["embedded", "rules"])
def test_a_part_that_a_method_lacks_is_told(name):
    with pytest.raises(ConfigError, match=f"the method {name} does not provide game"):
        METHODS[name].load("game")


@pytest.mark.parametrize("name", METHODS)
def test_a_setting_that_no_method_has_is_refused(name):
    with pytest.raises(ConfigError, match=f"the method {name} has no setting 'frobnicate'"):
        METHODS[name].open(ScriptedModel(["yes"]), {"frobnicate": 1})


@pytest.mark.parametrize(
    ("name", "setting", "near"),
    [("embedded", "treshold", "threshold"), ("structured", "vote", "votes"), ("blinded", "scop", "scope")],
)
def test_a_setting_that_is_nearly_one_is_told_the_nearest(name, setting, near):
    with pytest.raises(ConfigError, match=f"did you mean '{near}'"):
        METHODS[name].open("embedded", {setting: 1})


@pytest.mark.parametrize("value", [None, 5, 10**400, "x", True, [1], [[1]], {"format": None}, {"format": "x"}])
@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.reward_row])
def test_a_setting_of_a_reward_is_used_or_refused_whatever_its_type(name: str, value: object) -> None:
    reward = METHODS[name].load("reward_row")
    for setting in [*signature(reward).parameters][1:]:
        with suppress(ConfigError):
            reward_work(name, {setting: value})


@pytest.mark.parametrize(
    ("name", "setting", "value", "words"),
    [
        ("checklist", "tau", None, "tau must be a valid number, got null"),
        ("structured", "weights", {"format": "x"}, "weights.format must be a valid number, got 'x'"),
        ("structured", "weights", 5, "weights must be a table, got 5"),
        ("structured", "split", ["70/30"], "split must be a valid string, got"),
        ("blinded", "min_questions", "x", "min_questions must be a valid integer, got 'x'"),
        ("assurance", "revision_cost", [1], "revision_cost must be a valid number, got [1]"),
    ],
)
def test_a_setting_of_another_type_is_told_what_is_expected(name: str, setting: str, value: object, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        reward_work(name, {setting: value})


@pytest.mark.parametrize("name", ["embedded", "discriminative"])
def test_a_threshold_out_of_range_is_refused(name):
    with pytest.raises(ConfigError, match="threshold must be in"):
        METHODS[name].open("embedded:rules", {"threshold": 1.5})


def test_the_embedded_method_takes_no_other_model():
    with pytest.raises(ConfigError, match="unknown embedded verifier 'openai/x'"):
        METHODS["embedded"].open("openai/x")


def named(*judged, model=None):
    """Methods that judge this, and their variants; ``model`` says whether one is asked in words, None for either.

    A cascade is chosen by the names of its models, and not by name.
    """
    return {
        name
        for method in METHODS.values()
        if method.name != "cascade" and method.judges in judged and model in (None, "votes" in method.takes)
        for name in (method.name, *method.variants)
    }


def offered(command):
    """What a command takes as its option --method."""
    hint = get_type_hints(command)["method"]
    return {name for one in (hint, *get_args(hint)) if get_origin(one) is Literal for name in get_args(one)}


def test_what_commands_and_shortcuts_offer_is_what_the_table_has():
    assert offered(check_command) == named("claims")
    assert offered(follow_command) == named("instruction")
    assert offered(calibrate_command) == offered(reflect_command) == named("claims", model=True)
    assert set(get_args(shortcuts.AuditMethod)) == named("response", "claims")


def test_a_method_that_judges_claims_and_asks_no_model_is_not_offered_where_one_is_asked():
    asked = named("claims", model=True)
    assert "embedded" in named("claims") - asked
    assert {"structured", "label"} <= asked
