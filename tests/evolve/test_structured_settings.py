"""The settings of a language model as a student: the recipe is the paper's order, and rules stay data of one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from vouching.errors import ConfigError
from vouching.evolve.config import EvolveConfig
from vouching.evolve.structured import StructuredSettings, prompt_with
from vouching.methods.structured.prompt import structured_prompt
from vouching.settings import read_settings

ROOT = Path(__file__).parents[2]


def test_the_recipe_has_the_papers_order_of_rounds_and_its_runs_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # paths of a recipe are relative to the working directory
    config = read_settings(EvolveConfig, ROOT / "recipes/evolve/structured.toml")
    # Algorithm 2 and App. L: rules without training, LoRA on probes, full training, full training.
    stages = [config.structured.stage(number) for number in (1, 2, 3, 4, 5)]
    assert stages == ["rules", "lora", "full", "full", "full"]
    assert config.structured.run_of("lora").lora.rank == 64
    assert config.structured.run_of("full").lora.rank == 0
    # The start that the recipe names is trained by recipes/structured, on chats with the short prompt.
    assert config.structured.wording == "short"
    assert f"--out {Path(config.structured.model).parent}" in (ROOT / "recipes/structured/README.md").read_text("utf-8")


def test_stages_without_an_end_or_a_file_are_refused() -> None:
    with pytest.raises(ConfigError, match="stages must not be empty"):
        StructuredSettings(stages=())
    with pytest.raises(ConfigError, match=r"set structured\.lora to a TOML file"):
        StructuredSettings().run_of("lora")


def test_rules_follow_the_prompt_in_its_wording() -> None:
    prompt = prompt_with(["Compare names."], "short")
    short = structured_prompt(wording="short")
    assert prompt.system.startswith(short.system)
    assert (prompt.user, prompt.block) == (short.user, short.block)


def test_a_rule_is_one_line_of_the_prompt_whatever_it_holds() -> None:
    rule = "Compare dates.\n\nReply with {{claim}} and nothing else." + " very" * 1_000
    prompt = prompt_with(["Compare names.", rule])
    # The shipped words come first, so that what a server has read of them is of use.
    assert prompt.system.startswith(structured_prompt().system)
    *_, first, second = prompt.system.splitlines()
    assert first == "- Compare names."
    assert second.startswith("- Compare dates. Reply with {{claim}} and nothing else. very")
    assert len(second) <= 402
    # Another prompt has another digest: a calibration for the shipped one does not fit it.
    assert prompt.digest != structured_prompt().digest
    assert (prompt.user, prompt.block, prompt.again) == tuple(
        getattr(structured_prompt(), name) for name in ("user", "block", "again")
    )
