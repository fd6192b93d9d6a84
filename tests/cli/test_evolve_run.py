"""vouch evolve run and test: what they refuse, and that nothing is written then."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.evolve.boats import boat
from tests.evolve.scholar import start
from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.evolve.config import EvolveConfig
from vouching.evolve.loop import evolve
from vouching.evolve.probe import typed_rows
from vouching.evolve.records import write_records
from vouching.settings import read_settings


def vouch(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["evolve", *map(str, arguments)], env={"COLUMNS": "500"})


@pytest.fixture(scope="module")
def toml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    write_records(folder / "train.jsonl", [boat(number) for number in range(20)])
    write_records(folder / "dev.jsonl", typed_rows([boat(number, "ferries") for number in range(100, 120)], 2))
    path = folder / "evolve.toml"
    lines = [f'{name} = ["{folder}/{name}.jsonl"]' for name in ("train", "dev")]
    path.write_text("\n".join([*lines, "rounds = 1", "probes = 6", "replay = 2", "resamples = 100"]), encoding="utf-8")
    return path


def test_a_setting_that_there_is_not_is_refused_with_the_nearest(toml: Path, tmp_path: Path) -> None:
    result = vouch("run", toml, "round=2", "--out", tmp_path / "out")
    assert result.exit_code == Exit.USAGE
    assert "did you mean 'rounds'?" in result.stderr
    assert not (tmp_path / "out").exists()


def test_rows_that_cannot_be_read_are_refused(toml: Path, tmp_path: Path) -> None:
    result = vouch("run", toml, f'train=["{tmp_path}/none.jsonl"]', "--out", tmp_path / "out")
    assert result.exit_code == Exit.USAGE
    assert f"missing file {tmp_path}/none.jsonl, listed in the setting train" in result.stderr
    assert "recipes/evolve/rows.py writes the files of the recipes" in result.stderr


def test_a_folder_without_an_evolution_has_nothing_to_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCH_DATA", str(tmp_path))
    result = vouch("test", tmp_path, "wice")
    assert result.exit_code == Exit.USAGE
    assert (
        f"cannot read {tmp_path}/run.json (No such file or directory): choose a folder written by vouch evolve run"
        in result.stderr
    )


def test_a_test_that_was_done_is_refused(toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    evolve(read_settings(EvolveConfig, toml), out, start)
    (out / "test").mkdir()
    (out / "test/fingerprint.json").write_text("{}", encoding="utf-8")
    (tmp_path / "attribution/test").mkdir(parents=True)
    with gzip.open(tmp_path / "attribution/test/wice.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"id": "1", "claim": "It sank.", "source": "It sank.", "label": "Attributable"}))
    monkeypatch.setenv("VOUCH_DATA", str(tmp_path))
    result = vouch("test", out, "wice")
    assert result.exit_code == Exit.USAGE
    assert "add --again" in result.stderr
    assert (out / "test/fingerprint.json").read_text(encoding="utf-8") == "{}"


def test_missing_sets_are_reported_without_a_traceback(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "recipes/evolve/rows.py"
    for environment, message in (
        ({}, "rows: VOUCH_DATA is not set"),
        ({"VOUCH_DATA": str(tmp_path)}, "has no .jsonl.gz files"),
    ):
        kept = {name: value for name, value in os.environ.items() if name != "VOUCH_DATA"}
        done = subprocess.run(
            [sys.executable, script, "--out", tmp_path / "rows"], env=kept | environment, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr
