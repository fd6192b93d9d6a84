"""The log of the trials of recipes has every command that a README's trial names today, and each ended well."""

from __future__ import annotations

import json

from benchmarks.recipe_trials import OUTPUT, ROOT, trials


def test_every_command_of_a_trial_was_run_as_its_readme_writes_it() -> None:
    ran = {one["command"]: one["outcome"] for one in json.loads(OUTPUT.read_text(encoding="utf-8"))["trials"]}
    named = {
        command for page in ROOT.glob("recipes/*/README.md") for command in trials(page.read_text(encoding="utf-8"))
    }
    assert len(named) >= 15
    assert not named - ran.keys(), "run python benchmarks/recipe_trials.py RECIPE"
    assert {ran[command] for command in named} == {"ok"}
