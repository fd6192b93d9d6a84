"""Each parser of text from outside meets a few dozen damaged texts; ``python -m tests.fuzz`` goes on for longer."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from tests.fuzz.check import check
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import text_for

EXAMPLES = 60
"""Texts per target, fewer for targets that take long; all together take less than half a minute."""

UNREAD = ("rows of Parquet", "cache of a model", "PDF", "manifest of an encoder")
"""Binary files of which a text has only the beginning, and a manifest beside which the files are missing."""


@pytest.mark.parametrize("name", TARGETS)
def test_only_documented_errors_escape(name: str) -> None:
    for number in range(max(10, int(EXAMPLES * TARGETS[name].share))):
        check(TARGETS[name], text_for(TARGETS[name], f"{name} {number}"))


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_target_starts_from_is_read(name: str) -> None:
    outcomes = [check(TARGETS[name], seed) for seed in TARGETS[name].seeds]
    assert "read" in outcomes or name in UNREAD, outcomes


def test_damage_to_json_is_often_json_and_hardly_ever_the_same() -> None:
    target = TARGETS["reply of Lynx"]
    texts = [text_for(target, str(number)) for number in range(500)]
    parsed = 0
    for text in texts:
        with suppress(ValueError, RecursionError):
            parsed += isinstance(json.loads(text), dict)
    assert parsed > 150  # two of five kinds always are
    assert len({*texts}) > 400
