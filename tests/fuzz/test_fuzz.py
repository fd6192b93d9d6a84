"""Each parser of text from outside meets a few dozen damaged texts; ``python -m tests.fuzz`` goes on for longer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.check import check
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import NO_HEALTH_CHECKS, texts

EXAMPLES = 40
"""Texts per target, fewer for targets that take long; all together take less than a minute."""


@pytest.mark.parametrize("name", TARGETS)
def test_only_documented_errors_escape(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=max(5, int(EXAMPLES * target.share)), suppress_health_check=NO_HEALTH_CHECKS, database=None)
    @given(texts(target.seeds, target.as_json))
    def holds(text: str) -> None:
        check(target, text)

    holds()


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_target_starts_from_is_read(name: str) -> None:
    for seed in TARGETS[name].seeds:
        check(TARGETS[name], seed)


@given(st.data())
@settings(max_examples=20)
def test_texts_of_json_are_sometimes_json(data: st.DataObject) -> None:
    assert isinstance(data.draw(texts(['{"a": [1, 2]}'], as_json=True)), str)
