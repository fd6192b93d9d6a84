"""The arms that the papers report: each file differs from its base in what the paper says, and in no more."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from vouching.errors import ConfigError
from vouching.evolve.config import EvolveConfig, probes_of, replay_in
from vouching.methods.assurance.config import AssuranceRunConfig
from vouching.methods.blinded.config import BlindedRunConfig
from vouching.methods.checklist.config import ChecklistRunConfig
from vouching.methods.structured.config import StructuredRunConfig
from vouching.settings import read_settings

RECIPES = Path(__file__).parents[1] / "recipes"
KINDS: dict[str, Any] = {
    "structured": StructuredRunConfig,
    "checklist": ChecklistRunConfig,
    "blinded": BlindedRunConfig,
    "assurance": AssuranceRunConfig,
    "evolve": EvolveConfig,
}
DAPO = {"updates": 2, "loss": "dapo", "clip": (0.2, 0.28), "sampling.resample": 4}
BIG = {"model": "Qwen/Qwen3-8B"}
JUDGE_120B = {"checklist.judge": "http://localhost:8000/v1#openai/gpt-oss-120b"}
ARMS: dict[str, dict[str, Any]] = {
    "structured/binary": {"reward.variant": "binary"},  # SEVA section 2.3, Table 18
    "structured/binary-format": {"reward.variant": "binary-format"},
    "structured/grounded": {"reward.variant": "grounded", "reward.calibration": "brier"},
    "structured/normalised": {"reward.normalise": "range"},  # section 4.2
    "structured/normalised-mean": {"reward.normalise": "mean"},
    "structured/no-calibration": {"reward.calibration": "off"},
    "structured/split-90-10": {"reward.split": "90/10"},  # Table 21
    "structured/split-50-50": {"reward.split": "50/50"},
    "structured/split-30-70": {"reward.split": "30/70"},
    "structured/split-0-100": {"reward.split": "0/100"},
    "structured/kl-0.01": {"kl": 0.01},  # "beta = .01 over-regularized; beta = 0 admitted format-gaming"
    "structured/kl-0": {"kl": 0.0},
    "structured/7b": {
        "model": "runs/structured/7b-lora-128/model",
        "lora.rank": 128,
        "power.watts": 400.0,
        "watch.keep": 20,
    },
    "checklist/soft-rlvr-120b": JUDGE_120B,  # Soft-SVeRL Table 1
    "checklist/holistic-20b": {"checklist.holistic": True},
    "checklist/holistic-120b": {**JUDGE_120B, "checklist.holistic": True},
    "checklist/initial-policy": {
        "checklist.judge": "http://localhost:8000/v1#CohereLabs/c4ai-command-r7b-12-2024",
        "checklist.judge_tokens": 4096,
        "max_steps": 200,
    },
    "checklist/policy-checklists": {"rows": ("runs/checklist/policy.jsonl",), "max_steps": 200},  # Fig. 3
    "checklist/metadata-checklists": {"checklist.items": "metadata", "max_steps": 200},
    "checklist/rules": {"checklist.items": "rules", "checklist.judge": ""},  # Table 1
    "checklist/gold-only": {"checklist.gold_share": 1.0, "checklist.replay": 0},  # Fig. 4, lambda_p = .1
    "checklist/gold-only-p0.5": {"checklist.gold_share": 1.0, "checklist.replay": 0, "checklist.lambda_p": 0.5},
    "checklist/naive": {
        "checklist.gold": (),
        "checklist.lambda_v": 0.0,
        "checklist.lambda_p": 0.0,
        "max_steps": 400,
    },
    "blinded/solver-only": {"game.checker_learns": False},  # MARCH Table 6
    "blinded/general-error-rate": {"game.scale": "error-rate"},
    "blinded/general-error-rate-solver-only": {"game.scale": "error-rate", "game.checker_learns": False},
    "blinded/0-1": {"game.scale": "0/1"},
    "blinded/0-1-solver-only": {"game.scale": "0/1", "game.checker_learns": False},
    "blinded/no-minimum": {"game.min_questions": 0},  # App. B.4
    "blinded/prompt-minimum": {"game.fine_missing": False},
    "blinded/cot": {"game.style": "cot"},
    "blinded/qwen3-8b": BIG,
    "blinded/qwen3-8b-stem": BIG,
    "blinded/printed": {"game.wording": "paper", "game.style": "paper"},  # App. A
    "blinded/general-solver-only": {"game.checker_learns": False},
    "assurance/dapo-4b": DAPO,  # DPA-GRPO Table 1
    "assurance/gspo-4b": {"updates": 2, "loss": "gspo"},
    "assurance/grpo-8b": BIG,
    "assurance/dapo-8b": BIG | DAPO,
    "assurance/gspo-8b": BIG | {"updates": 2, "loss": "gspo"},
    "evolve/paper-budgets": {  # App. L, App. F; Algorithm 2, line 6
        "probes_by_round": (1122, 1122, 1513, 7287),
        "replay_by_round": (0, 0, 500, 500),
        "safe_share": 0.0,
        "smoothed": False,
    },
    "evolve/random": {"source": "random"},
}


def flat(settings: Any) -> dict[str, Any]:
    """Settings by name, those in tables as TABLE.NAME."""
    found: dict[str, Any] = {}
    for name, value in asdict(settings).items():
        tables = value.items() if isinstance(value, dict) else ()
        found |= {f"{name}.{key}": one for key, one in tables} or {name: value}
    return found


def test_every_arm_has_a_row_here() -> None:
    assert {f"{path.parts[-3]}/{path.stem}" for path in RECIPES.glob("*/arms/*.toml")} == {*ARMS}


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_differs_from_its_base_in_what_the_paper_says(arm: str) -> None:
    stem, name = arm.split("/")
    path = RECIPES / stem / "arms" / f"{name}.toml"
    base = path.parent / tomllib.loads(path.read_text(encoding="utf-8"))["extends"]
    ours, theirs = (flat(read_settings(KINDS[stem], one)) for one in (path, base))
    assert {key: value for key, value in ours.items() if theirs[key] != value} == ARMS[arm]


def test_numbers_by_round_are_one_for_each_round() -> None:
    assert (probes_of(EvolveConfig(probes=7), 3), replay_in(EvolveConfig(replay=7), 3)) == (7, 7)
    for name in ("probes_by_round", "replay_by_round"):
        with pytest.raises(ConfigError, match=f"{name} must have a number for each of the 4 rounds, at least"):
            replace(EvolveConfig(), **{name: (1, 2)})


def test_files_extend_each_other_and_overrides_come_last(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('source = "mixed"\nrounds = 2\n[structured]\nmodel = "a"\nlora = "b"\n')
    (tmp_path / "middle.toml").write_text('extends = "base.toml"\nrounds = 3\n[structured]\nlora = "c"\n')
    (tmp_path / "last.toml").write_text('extends = "middle.toml"\nseed = 5\n')
    found = read_settings(EvolveConfig, tmp_path / "last.toml", ["structured.model=d"])
    assert (found.source, found.rounds, found.seed) == ("mixed", 3, 5)
    assert (found.structured.model, found.structured.lora) == ("d", "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "own.toml"', "own.toml extends itself"),
        ('extends = "missing.toml"', "cannot read .*missing.toml"),
        ("extends = 3", r'must be the path of a TOML file, such as "base.toml", got 3'),
    ],
)
def test_a_base_that_cannot_be_read_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_settings(EvolveConfig, path)


def test_top_k_reaches_the_sampler_and_is_off_by_default(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from vouching.train.engine import training_arguments

    for setting, top_k in (([], 0), (["sampling.top_k=20"], 20)):
        config = read_settings(StructuredRunConfig, RECIPES / "structured/tiny.toml", [*setting, "device=cpu"])
        assert training_arguments(config, tmp_path).top_k == top_k
