"""Every command that a recipe's README names is one that the program takes: options, files, settings.

The commands themselves need models of the papers' size; those of the tiny recipes run in tests/train.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests.house.source_tree import ROOT
from vouching.bench.catalog import DATA_SETS
from vouching.cli.app import app
from vouching.train import run_settings
from vouching.train.trainers import TRAINERS

READMES = sorted(ROOT.glob("recipes/*/README.md"))
PLACEHOLDER = re.compile(r"[A-Z]+")
"""A word such as MODEL or DIR stands for what the reader has."""
_LAUNCHED = re.compile(r"^(?:accelerate launch .*?|torchrun .*?) -m vouching\.cli\.app ")


def commands(text: str) -> Iterator[str]:
    """The ``vouch`` commands of a page, in blocks and in lines."""
    for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE) + re.findall(r"`(vouch [^`]*)`", text):
        line = _LAUNCHED.sub("vouch ", re.sub(r"^(?:[A-Z_]+=\S+ )+", "", line))
        if line.startswith("vouch "):
            yield line.split(" &&")[0]


def parsed(words: list[str]) -> tuple[Any, list[str], list[str]]:
    """The command that words name, its arguments, and its options."""
    command: Any = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    options = {name: p for p in command.params if p.param_type_name == "option" for name in p.opts}
    arguments: list[str] = []
    named: list[str] = []
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            assert word in options, f"{command.name} has no option {word}; it has {', '.join(sorted(options))}"
            named.append(word)
            if not options[word].is_flag and words:
                words.pop(0)
        else:
            arguments.append(word)
    return command, arguments, named


def names_a_setting(word: str) -> bool:
    return "=" in word and not PLACEHOLDER.search(word.partition("=")[2])


PAIRS = [(page.parent.name, line) for page in READMES for line in commands(page.read_text(encoding="utf-8"))]


def test_the_readmes_have_commands_to_look_at() -> None:
    assert len(PAIRS) > 60
    assert {name for name, _ in PAIRS} >= {"structured", "checklist", "blinded", "assurance", "rank", "encoder"}


@pytest.mark.parametrize(("recipe", "line"), PAIRS, ids=[f"{name}: {line[:60]}" for name, line in PAIRS])
def test_a_command_of_a_readme_is_one_that_the_program_takes(recipe: str, line: str) -> None:
    command, arguments, _ = parsed(shlex.split(line)[1:])
    # A line in the text may name a command alone, or leave its arguments to the reader.
    groups = {"vouch", "bench", "data", "runs", "reward", "diagnose", "evolve", "index"}
    assert not (command.name in groups and arguments), f"{arguments[0]} is no command of {command.name}"
    for word in arguments:
        if word.endswith(".toml") and not PLACEHOLDER.fullmatch(word):
            assert (ROOT / word).is_file() or (ROOT / "recipes" / recipe / word).is_file(), f"{word} is missing"
    if command.name == "train" and len(arguments) > 1 and arguments[1].endswith(".toml"):
        settings = [word for word in arguments[2:] if names_a_setting(word)]
        assert arguments[0] in TRAINERS
        run_settings(arguments[0], ROOT / arguments[1], settings)
    if line.startswith("vouch bench run"):
        unknown = [word for word in arguments if word not in {*DATA_SETS, "all"} and not PLACEHOLDER.fullmatch(word)]
        assert not unknown, f"no such set: {unknown}"


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.parent.name)
def test_every_file_that_a_readme_names_is_there(page: Path) -> None:
    named = re.findall(r"`((?:arms/)?[\w.-]+\.(?:toml|py|sh|yaml|json))`", page.read_text(encoding="utf-8"))
    elsewhere = {"combined.json", "run.json", "encoder.json", "rules.json", "config.json", "tokenizer.json"}
    beside = [page.parent, page.parents[1] / "structured", page.parents[1] / "encoder", page.parents[1] / "embedded"]
    missing = [name for name in named if name not in elsewhere and not any((one / name).exists() for one in beside)]
    assert not missing
