"""The results for lm-eval, in a real evaluation of a task whose YAML is in examples/."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT

FOLDER = ROOT / "examples" / "integrations" / "lm_eval"


class Fixed(LM):
    """A model that says the same to every question."""

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return ["The bridge opened in 1973."] * len(requests)

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> Any:
        raise NotImplementedError


def evaluated() -> dict[str, Any]:
    manager = TaskManager(include_path=str(FOLDER), include_defaults=False)
    done = simple_evaluate(Fixed(), tasks=["vouch_bridges"], task_manager=manager, bootstrap_iters=0)
    return done["results"]["vouch_bridges"]


def test_a_task_reports_the_share_of_supported_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("VOUCH_MODEL", "embedded:rules")
    results = evaluated()
    # Of the two rows, the first source says 1973 and the second 1937.
    assert (results["attributable,none"], results["unverified,none"]) == (0.5, 0.0)


def test_what_could_not_be_judged_is_nan_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    with chat_server(lambda prompt: "who knows") as name:
        monkeypatch.setenv("VOUCH_MODEL", name)
        results = evaluated()
    assert math.isnan(results["attributable,none"])
    assert results["unverified,none"] == 1.0
