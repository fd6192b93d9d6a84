"""The table of methods: every part that it names can be loaded, and settings are checked in one way."""

import pytest

from vouching.errors import ConfigError
from vouching.methods import METHODS
from vouching.models import ScriptedModel

PARTS = [
    (method.name, part)
    for method in METHODS.values()
    for part in ("verifier", "settings", "game", "config")
    if getattr(method, part) is not None
]


def test_the_table_names_every_method_by_its_folder():
    assert [name for name, method in METHODS.items() if method.name == name] == [
        "embedded", "rules", "structured", "discriminative", "checklist", "blinded", "assurance",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_every_part_that_a_method_names_exists(name, part):
    assert callable(METHODS[name].load(part))


@pytest.mark.parametrize("name", ["embedded", "rules"])
def test_a_part_that_a_method_lacks_is_told(name):
    with pytest.raises(ConfigError, match=f"the method {name} has no game"):
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
    with pytest.raises(ConfigError, match=f"did you mean {near}"):
        METHODS[name].open("embedded", {setting: 1})


@pytest.mark.parametrize("name", ["embedded", "discriminative"])
def test_a_threshold_out_of_range_is_refused(name):
    with pytest.raises(ConfigError, match="threshold must lie in"):
        METHODS[name].open("embedded:rules", {"threshold": 1.5})


def test_the_embedded_method_takes_no_other_model():
    with pytest.raises(ConfigError, match="no embedded verifier is called 'openai/x'"):
        METHODS["embedded"].open("openai/x")
