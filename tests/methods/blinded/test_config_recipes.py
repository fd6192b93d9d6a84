"""The recipes hold the paper's numbers, each compared with the table that prints it; read without torch."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import pytest

from vouching.errors import ConfigError
from vouching.methods.blinded.config import BlindedRunConfig
from vouching.settings import read_settings

RECIPES = Path(__file__).parents[3] / "recipes/blinded"


@pytest.mark.parametrize(
    ("name", "files", "queries"),
    # Table 1: BioASQ 4,721; 2WikiMultihopQA and MuSiQue 4,500 each.
    [("stem", ("bioasq",), 4_721), ("general", ("2wiki", "musique"), 2 * 4_500)],
)
def test_recipes_hold_the_values_of_table_7(name: str, files: tuple[str, ...], queries: int) -> None:
    config = read_settings(BlindedRunConfig, RECIPES / f"{name}.toml")
    drawn, critic = config.sampling, config.critic
    assert tuple(Path(path).stem for path in config.rows) == files
    assert config.model == "meta-llama/Llama-3.1-8B-Instruct"  # section 3.1
    # Max prompt length, max response length, temperature.
    assert (drawn.prompt_tokens, drawn.completion_tokens, drawn.temperature) == (24_567, 8_192, 0.6)
    # Actor and critic learning rate, critic warm-up steps.
    assert (config.learning_rate, critic.learning_rate, critic.warmup_steps) == (1e-6, 1e-5, 10)
    # Actor warm-up steps: a share of all steps here, rounded up by the schedule.
    steps = queries // config.batch_prompts
    assert ceil(config.warmup * steps) == 5
    # Gamma, KL coefficient, epochs, batch size.
    assert (critic.discount, config.kl, config.epochs, config.batch_prompts) == (0.998, 1e-3, 1, 32)
    # Section 2.3: token sums (eq. 8), zero tolerance on -1/0, both roles; three checkers, as in the released code.
    assert (config.loss, config.game.scale, config.game.checker_learns, config.game.votes) == (
        "token_sum",
        "-1/0",
        True,
        3,
    )
    # Section 3.1: a checkpoint is saved and evaluated every 20 steps.
    assert (config.watch.checkpoint_every, config.watch.evaluate_every) == (20, 20)


def test_the_defaults_of_the_settings_are_those_of_the_paper() -> None:
    plain, recipe = (
        BlindedRunConfig(rows=("a",), model="m"),
        read_settings(BlindedRunConfig, RECIPES / "stem.toml", ["sampling.engine=hf"]),
    )
    for name in ("loss", "kl", "learning_rate", "epochs", "batch_prompts", "sampling", "game", "critic"):
        assert getattr(plain, name) == getattr(recipe, name), name


def test_every_recipe_can_be_read() -> None:
    assert {path.stem for path in RECIPES.glob("*.toml")} == {"stem", "general", "tiny"}
    read_settings(BlindedRunConfig, RECIPES / "tiny.toml")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("game.vote=3", "unknown setting 'game.vote'; did you mean 'game.votes'?"),
        ("checklist.votes=3", "unknown setting 'checklist'; did you mean 'game.votes'?"),
        ("critc.clip=0.2", "unknown setting 'critc'; did you mean 'critic.clip'?"),
        ("game.votes=0", "votes must be above 0, got 0"),
        ("game.scale=1/2", "game.scale must be '-1/0', '0/1', 'error-rate' or 'released-error-rate', got '1/2'"),
        ("game.min_questions=-1", "min_questions must be at least 0, got -1"),
        ("critic.discount=2.0", "critic.discount must be in [0, 1], got 2.0"),
        ("sampling.group_size=0", "group_size must be above 0"),
        ("loss=ppo", ", got 'ppo'"),
    ],
)
def test_a_setting_that_is_wrong_is_named(setting: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(BlindedRunConfig, RECIPES / "stem.toml", [setting])
    assert message in str(raised.value)


def test_a_file_of_another_game_is_refused_by_its_table() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'checklist'; expected one of rows, .*, game, critic$"):
        read_settings(BlindedRunConfig, RECIPES.parent / "checklist/tiny.toml")
