"""Settings that a run or a scorer has recorded: a name that is not known is refused and never read as a default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vouching.errors import ConfigError, InputError
from vouching.evolve.loop import config_of
from vouching.methods.discriminative.model import ScorerNote, read_note
from vouching.serve.keys import KeyFile
from vouching.serve.policy import read_policy
from vouching.settings import read_settings, settings_text
from vouching.train.sft import SftConfig


def test_a_scorer_with_a_setting_of_another_name_is_refused_and_not_read_with_the_default_length(
    tmp_path: Path,
) -> None:
    ScorerNote(max_tokens=300).write(tmp_path)
    [note] = tmp_path.iterdir()
    assert read_note(tmp_path) == ScorerNote(max_tokens=300)
    note.write_text(json.dumps({"shown": "compressed", "most_tokens": 300}), encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown setting 'most_tokens'; did you mean 'max_tokens'"):
        read_note(tmp_path)


def test_an_evolution_with_a_setting_of_another_name_is_refused_with_the_file(tmp_path: Path) -> None:
    settings = {"settings": {"most_loss": 0.5}}
    (tmp_path / "run.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json: unknown setting 'most_loss'; did you mean 'max_loss'"):
        config_of(tmp_path)


def test_settings_written_as_a_file_are_read_again_also_those_that_are_none(tmp_path: Path) -> None:
    settings = SftConfig(rows=("a.jsonl", "b.jsonl"), model="hub/model", binary=("c.jsonl",))
    assert settings.power.watts is None  # TOML has no word for None
    file = tmp_path / "run.toml"
    file.write_text(settings_text(settings), encoding="utf-8")
    assert read_settings(SftConfig, file) == settings


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_a_number_without_end_is_no_setting(value: str, tmp_path: Path) -> None:
    path = tmp_path / "vouch.toml"
    path.write_text(f"[serve]\ntimeout_seconds = {value}\n", "utf-8")
    with pytest.raises(ConfigError, match=r"serve\.timeout_seconds must be a finite number"):
        read_policy(path)
    with pytest.raises(ConfigError, match=r"item 1 of serve\.cors_origins must be a finite number"):
        read_policy(None, [f"serve.cors_origins=[{value}]"])


def test_a_link_to_itself_is_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(ConfigError, match=r"cannot read .*loop"):
        read_policy(loop)
    with pytest.raises(ConfigError, match=r"cannot read the keys in .*loop"):
        KeyFile(loop).keys  # noqa: B018


def test_a_file_that_extends_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('extends = "b.toml"', encoding="utf-8")
    (tmp_path / "b.toml").write_text('extends = "a.toml"', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.toml extends itself, by .*a\.toml, .*b\.toml: remove one extends"):
        read_policy(tmp_path / "a.toml")
