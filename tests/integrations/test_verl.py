"""The adapter for verl, called as its reward loop calls it, and found as its configuration finds it."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from types import SimpleNamespace

import pytest

from tests.integrations.bare_package import module_of
from tests.methods.structured.replies import CLAIM, SOURCE, reply, supported
from vouching.errors import ConfigError, InputError
from vouching.integrations.verl import structured_score


def test_the_score_comes_with_every_part() -> None:
    # The keywords are those of verl's NaiveRewardManager.
    result = structured_score(data_source="anli", solution_str=reply(), ground_truth="Not Attributable", extra_info={})
    assert result == {
        "score": 1.12,
        "acc": 1.0,
        "format": 1.0,
        "alignment": 1.0,
        "chain": 1.0,
        "label": 1.0,
        "diagnosis": 1.0,
        "calibration": pytest.approx(0.12),
    }


def test_every_reply_gives_the_same_names() -> None:
    # verl stacks them into one table.
    names = [[*structured_score("anli", text, "Attributable")] for text in (reply(), supported(), "no JSON", "{}")]
    assert names == [names[0]] * 4


def test_the_grounded_rules_read_claim_and_source_of_the_row() -> None:
    row = {"claim": CLAIM, "source": SOURCE, "num_turns": 1}
    grounded = structured_score("anli", reply(), "Not Attributable", row, variant="grounded")
    # The two spans "500" and their match are there, and so are those of the second entry.
    assert grounded["alignment"] == 1.0
    elsewhere = structured_score(
        "anli", reply(), "Not Attributable", {**row, "source": "It rained."}, variant="grounded"
    )
    assert elsewhere["alignment"] == 0.0  # no span stands in the source


def test_settings_of_the_configuration_are_checked() -> None:
    assert structured_score("anli", supported(), "Attributable", calibration="off")["score"] == 1.0
    with pytest.raises(ConfigError, match="the split must be two percentages"):
        structured_score("anli", "{}", "Attributable", split="60/50")
    with pytest.raises(InputError, match="the gold label must be Attributable or Not Attributable, got '1'"):
        structured_score("anli", "{}", "1")
    with pytest.raises(InputError, match='the row has no "sources"'):
        structured_score("anli", "{}", "Attributable", {"claim": CLAIM}, variant="grounded")


def test_verl_finds_it_by_the_path_that_the_docstring_shows() -> None:
    loader = module_of("verl.utils.import_utils", "verl", "verl.utils", DataProto=object)
    found = loader.load_extern_object(module_path="pkg://vouching.integrations.verl", object_name="structured_score")
    assert found is importlib.import_module("vouching.integrations.verl").structured_score


@pytest.mark.parametrize("name", ["structured_score", "blinded_score"])
def test_verls_own_configuration_calls_it_with_its_settings(name: str) -> None:
    """``get_custom_reward_fn`` of verl/trainer/ppo/reward.py (github.com/verl-project/verl) makes what is called.

    The keywords of the call are those of ``NaiveRewardManager.run_single`` in
    verl/experimental/reward_loop/reward_manager/naive.py, which awaits coroutine functions.
    """
    module_of("verl.utils.import_utils", "verl", "verl.utils", DataProto=object)
    trainer = importlib.import_module("verl.trainer.ppo.reward")
    settings = {"structured_score": {"variant": "grounded"}, "blinded_score": {"scale": "error-rate"}}[name]
    chosen = {"path": "pkg://vouching.integrations.verl", "name": name, "reward_kwargs": settings}
    compute_score = trainer.get_custom_reward_fn(SimpleNamespace(reward={"custom_reward_function": chosen}))
    rows = {"structured_score": {"claim": CLAIM, "source": SOURCE}, "blinded_score": {"sources": ["It has 3 towers."]}}
    said = {"structured_score": reply(), "blinded_score": "It has 2 towers."}[name]
    called = compute_score(
        data_source="anli",
        solution_str=said,
        ground_truth="Not Attributable",
        extra_info={**rows[name], "question": "What?", "num_turns": None},
    )
    result = asyncio.run(called) if inspect.iscoroutine(called) else called
    # A perfect record earns 1 + .15 * .8; the only number is wrong: -1 of 1.
    assert result["score"] == {"structured_score": 1.12, "blinded_score": -1.0}[name]
    assert inspect.iscoroutinefunction(compute_score) is (name == "blinded_score")
