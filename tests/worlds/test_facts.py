"""The world of facts: rows are what they say, parts are disjoint, and the oracle is independent of the reward."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.worlds.facts import MEASURES, FactsWorld, chats, oracle, places, record_of
from vouching.errors import ConfigError
from vouching.methods.structured.reward import reward_of_reply
from vouching.methods.structured.reward_settings import RewardSettings

WORLDS = st.builds(FactsWorld, facts=st.integers(1, 4), others=st.integers(0, 3))


@given(WORLDS, st.integers(0, 1000))
def test_a_claim_is_stated_by_its_source_exactly_if_it_is_true(world: FactsWorld, seed: int) -> None:
    for row in world.rows(8, seed):
        place = next(name for name in places("train") if name in row["claim"])
        stated = [s for s in row["source"].split(".") if place in s and row["phrase"].removeprefix("no ") in s]
        denied = row["phrase"].startswith("no ")
        assert (row["gold"] == "Attributable") == (bool(stated) and not denied)


@given(WORLDS, st.integers(0, 1000))
def test_the_changed_words_and_the_original_are_known(world: FactsWorld, seed: int) -> None:
    for row in world.rows(8, seed):
        for span in row["spans"]:
            assert row["claim"][span["start"] : span["end"]] == span["text"]
        if row["original"]:
            [span] = row["spans"]
            restored = row["claim"][: span["start"]] + row["evidence"] + row["claim"][span["end"] :]
            assert restored == row["original"]
        assert (row["error_type"] == "fabrication") == (row["evidence"] is None)


def test_held_out_places_do_not_occur_in_training() -> None:
    train, held_out = set(places("train")), set(places("held-out"))
    assert not train & held_out
    assert len(train | held_out) == 144  # 12 beginnings, 12 endings
    texts = " ".join(row["source"] + row["claim"] for row in FactsWorld(others=1).rows(100, 0))
    assert not any(place in texts for place in held_out)


def test_the_same_seed_gives_the_same_rows_and_another_gives_others() -> None:
    assert FactsWorld().rows(5, 1) == FactsWorld().rows(5, 1)
    assert FactsWorld().rows(5, 1) != FactsWorld().rows(5, 2)


def test_every_error_occurs_and_half_of_the_claims_are_wrong() -> None:
    rows = FactsWorld().rows(1000, 0)
    wrong = [row["error_type"] for row in rows if row["gold"] == "Not Attributable"]
    assert 450 <= len(wrong) <= 550  # .5 of 1,000; the standard deviation is 16
    assert {*wrong} == {
        "numerical_exaggeration",
        "temporal_shift",
        "entity_substitution",
        "negation_flip",
        "fabrication",
    }
    assert FactsWorld(wrong=0.0).rows(20, 0)[0]["error_type"] is None


@given(WORLDS, st.integers(0, 1000))
def test_a_right_record_has_everything_right_and_the_highest_reward(world: FactsWorld, seed: int) -> None:
    for row in world.rows(4, seed):
        said = record_of(row, row["gold"] == "Attributable", 1.0)
        found = oracle(said, row)
        assert all(found[name] == 1.0 for name in MEASURES)
        assert found["oracle/brier"] == 0.0
        assert reward_of_reply(said, row).total == 1.15  # SEVA's maximum


def test_the_grounded_rules_lower_right_records_as_often_as_the_design_note_says() -> None:
    """design/0011: 61 % earn the whole 1.15, 32 % 1.05 (words not covered), 7 % .55 (evidence sought elsewhere)."""
    settings, totals = RewardSettings("grounded"), Counter[float]()
    for row in FactsWorld().rows(300, 0):
        reward = reward_of_reply(record_of(row, row["gold"] == "Attributable", 1.0), row, settings)
        totals[round(reward.total, 2)] += 1
    assert totals == {1.15: 184, 1.05: 96, 0.55: 20}


def test_a_record_that_argues_for_the_wrong_label_has_nothing_right_but_its_form() -> None:
    for row in FactsWorld().rows(50, 0):
        found = oracle(record_of(row, row["gold"] != "Attributable", 0.9), row)
        assert [found[f"oracle/{name}"] for name in ("readable", "label", "aligned", "type", "fix")] == [1, 0, 0, 0, 0]
        assert found["oracle/brier"] == pytest.approx(0.81)  # (.9 - 0)^2
        assert found.get("oracle/false_alarm") == (1.0 if row["gold"] == "Attributable" else None)


@pytest.mark.parametrize(
    "reply", ["", "{", "[]", "null", '{"label": "maybe"}', '{"label": ["Attributable"]}', "[" * 10_000]
)
def test_an_unreadable_reply_has_nothing_right_and_counts_as_not_attributable(reply: str) -> None:
    [true], [wrong] = (FactsWorld(wrong=share).rows(1, 0) for share in (0.0, 1.0))
    nothing = dict.fromkeys(MEASURES, 0.0) | {"oracle/brier": 0.25}
    assert oracle(reply, true) == {**nothing, "oracle/false_alarm": 1.0}
    assert oracle(reply, wrong) == {**nothing, "oracle/label": 1.0}


def test_a_surplus_entry_spoils_the_alignment() -> None:
    """Otherwise a policy could list everything."""
    row = FactsWorld(wrong=0.0).rows(1, 0)[0]
    record: dict[str, Any] = json.loads(record_of(row, True, 0.9))
    record["evidence_alignment"].append({"claim_span": "x", "source_span": "y", "status": "match"})
    assert oracle(json.dumps(record), row)["oracle/aligned"] == 0.0


def test_chats_have_the_shares_of_wrong_and_broken_records_that_were_asked_for() -> None:
    rows = FactsWorld().rows(2000, 0)
    told = [
        oracle(chat["messages"][1]["content"], row) for chat, row in zip(chats(rows, 0, 0.4, 0.3), rows, strict=True)
    ]
    readable = [one for one in told if one["oracle/readable"]]
    assert len(readable) / len(told) == pytest.approx(0.7, abs=0.03)  # standard deviation .010
    assert sum(one["oracle/label"] for one in readable) / len(readable) == pytest.approx(0.6, abs=0.04)  # .013


@pytest.mark.parametrize("wrong", [{"facts": 0}, {"facts": 5}, {"others": -1}, {"wrong": 1.5}, {"fabricated": -0.1}])
def test_a_world_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(wrong))} must be"):
        FactsWorld(**wrong)
    with pytest.raises(ConfigError, match="broken must be"):
        list(chats([], 0, 0.5, 2.0))
