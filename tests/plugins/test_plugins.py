"""A judge, a data set and a command of another package, found by entry points: the package of docs/plugins.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/plugins.md").read_text("utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the page, as pip installs it: its module and its entry points."""
    folder = tmp_path_factory.mktemp("site")
    code, table = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("python", "toml"))
    assert code
    assert table
    (folder / "word_judge.py").write_text(code[1], "utf-8")
    info = folder / "word_judge-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: word-judge\nVersion: 1\n", "utf-8")
    groups = re.findall(r'\[project\.entry-points\."(.*?)"\]\n(\S+) = "(.*?)"', table[1])
    assert len(groups) == 3
    (info / "entry_points.txt").write_text("".join(f"[{g}]\n{name} = {value}\n" for g, name, value in groups), "utf-8")
    (folder / "rows.jsonl").write_text(
        json.dumps({"id": "1", "claim": "It rained.", "source": "It rained.", "label": "Attributable"}) + "\n", "utf-8"
    )
    return folder


def vouch(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the package installed."""
    return subprocess.run(
        [sys.executable, "-m", "vouching", *arguments],
        capture_output=True,
        text=True,
        cwd=site,
        env={"PYTHONPATH": f"{site}:{ROOT / 'src'}", "VOUCH_DATA": str(site)},
    )


def test_a_judge_of_another_package_judges_by_its_name(site: Path) -> None:
    done = vouch(site, "check", "It rained.", "--source-text", "It rained all day.", "--model", "words:0.9", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    [finding] = json.loads(done.stdout)["findings"] if "findings" in done.stdout else [json.loads(done.stdout)]
    assert (finding["label"], finding["score"]) == ("Attributable", 1.0)  # both words of the claim are in the source


def test_an_unknown_model_names_the_judges_of_other_packages(site: Path) -> None:
    done = vouch(site, "check", "It rained.", "--source-text", "It rained.", "--model", "wrods:0.9")
    assert done.returncode == 2
    assert "did you mean 'words:0.9'?" in done.stderr


def test_a_data_set_of_another_package_is_listed_and_run(site: Path) -> None:
    assert "my_claims" in vouch(site, "bench", "list").stdout
    done = vouch(site, "bench", "run", "my_claims", "--model", "embedded:rules", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (site / "out/results.json").is_file()


def test_a_command_of_another_package_runs_and_is_in_the_help(site: Path) -> None:
    assert vouch(site, "words", "It rained.").stdout == "2\n"
    assert "words" in vouch(site, "--help").stdout


def test_a_broken_plug_in_is_named_and_the_rest_works(site: Path, tmp_path: Path) -> None:
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text("[vouching.judges]\nbroken = no_such_module:judge\n", "utf-8")
    done = vouch(tmp_path, "check", "It rained.", "--source-text", "It rained.", "--model", "broken")
    assert done.returncode == 2
    assert "the plug-in 'broken' of broken cannot be loaded" in done.stderr
