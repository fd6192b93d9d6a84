"""Data sets of the Hugging Face hub as rows; a local folder stands in for a name on the hub, as the package allows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vouching.cli.app import app
from vouching.errors import InputError
from vouching.rows import open_rows

FORMATS = Path(__file__).parents[1] / "data" / "formats"
CLAIMS = ["The bridge opened in 1973.", "It has 3 towers."]


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    pytest.importorskip("datasets", reason="the extra datasets is not installed")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bridge"
    folder.mkdir()
    (folder / "train.jsonl").write_text((FORMATS / "minicheck.jsonl").read_text())
    return f"hf:{folder}:train"


def test_the_rows_of_a_split_are_read_by_the_package_of_the_hub(name: str) -> None:
    with open_rows(name, ("claim",)) as reader:
        assert [(row.name, (row.fields or {})["claim"], reader.share()) for row in reader] == [
            ("row-1", CLAIMS[0], 0.5),
            ("row-2", CLAIMS[1], 1.0),
        ]


def test_a_part_of_a_split_is_read_as_the_package_names_it(name: str) -> None:
    for part, claims in (("[:1]", CLAIMS[:1]), ("[1:]", CLAIMS[1:]), ("[50%:]", CLAIMS[1:])):
        with open_rows(f"{name}{part}") as reader:
            assert [(row.fields or {})["claim"] for row in reader] == claims


def test_other_columns_a_missing_split_and_an_incomplete_name_are_refused(name: str) -> None:
    with pytest.raises(
        InputError, match=r"has the columns dataset, doc, claim, label.*expected a column named response"
    ):
        open_rows(name, ("response",))
    with pytest.raises(InputError, match=r"cannot be read .*Unknown split"):
        open_rows(name.replace(":train", ":dev"))
    for wrong in ("hf:lytang/LLM-AggreFact", "hf::test", "hf:a/b:", "hf:a/b:c:d:e"):
        with pytest.raises(InputError, match="expected hf:OWNER/NAME:SPLIT"):
            open_rows(wrong)


def test_a_data_set_is_checked_with_a_report_and_measured_like_a_file(name: str, tmp_path: Path) -> None:
    lines, page = tmp_path / "verdicts.jsonl", tmp_path / "page.html"
    call = ["check", "--input", name, "--output", str(lines), "--model", "embedded:rules"]
    done = CliRunner().invoke(app, [*call, "--report", str(page)])
    assert done.exit_code == 0
    assert [json.loads(line)["label"] for line in lines.read_text().splitlines()] == [
        "Attributable",
        "Not Attributable",
    ]
    # The source, from the field "doc".
    assert "The bridge has two towers." in re.sub("<[^>]+>", "", page.read_text())
    assert "is already complete" in CliRunner().invoke(app, [*call, "--resume"]).stderr
    out = tmp_path / "run"
    for more in ([], ["--resume"]):
        run = ["bench", "run", "--input", name, "--model", "embedded:rules", "--out", str(out), *more]
        assert CliRunner().invoke(app, run).exit_code == 0
    results = json.loads((out / "results.json").read_text())
    assert results["sets"]["bridge"]["rows"] == 2
    assert f"--input {name} " in results["command"]
