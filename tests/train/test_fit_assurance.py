"""A whole run of the tiny recipe: log, both adapters, best step, and going on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.train.assurance_runs import task_row, write_model
from vouching.methods.assurance.config import AssuranceRunConfig
from vouching.settings import read_settings
from vouching.train.run_folder import read_lines, read_records

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

TOML = Path(__file__).parents[2] / "recipes/assurance/tiny.toml"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> AssuranceRunConfig:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("fit")
    rows = [task_row(number) for number in range(6)]
    for name, some in (("rows", rows[:4]), ("dev", rows[4:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    write_model(folder / "qwen", rows, often=False)
    return read_settings(
        AssuranceRunConfig,
        TOML,
        [f'model="{folder}/qwen"', f'rows=["{folder}/rows.jsonl"]', f'dev=["{folder}/dev.jsonl"]'],
    )


def test_a_run_of_the_recipe_leaves_two_adapters_and_goes_on(config: AssuranceRunConfig, tmp_path: Path) -> None:
    from vouching.train.fit import train_game

    lines: list[str] = []
    model = train_game(config, tmp_path / "run", report=lines.append)
    records = read_records(tmp_path / "run")
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    assert {"oracle/submitted", "case/none", "gradient/verifier", "reward/verifier/total", "kl"} <= records[-1].keys()
    assert [int(record["step"]) for record in records if "dev/oracle/submitted" in record] == [2, 4]
    assert {text["role"] for text in read_lines(tmp_path / "run/transcripts.jsonl")} <= {"generator", "verifier"}
    for place in (model, model / "verifier"):
        assert (place / "adapter_model.safetensors").is_file(), place
    assert not [*model.glob("ref*")]
    assert json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))["kind"] == "assurance"
    assert_exported(tmp_path / "run", tmp_path / "out")
    # A finished run has nothing left to do.
    train_game(config, tmp_path / "run", resume=True, report=lines.append)
    assert len(read_records(tmp_path / "run")) == 4


def assert_exported(run: Path, out: Path) -> None:
    """Each policy is a model of its own, and says what the model says with its adapter."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from vouching.train.export import export_run
    from vouching.train.policy import adapter_base

    exported = export_run(run, out)
    assert {path.name for path in exported.iterdir()} == {"README.md", "generator", "verifier"}
    card = (exported / "README.md").read_text(encoding="utf-8")
    assert "`vouch train assurance`" in card
    assert "--verifier local:FOLDER/verifier" in card
    model, said = run / "model", {}
    for role, adapters in (("generator", model), ("verifier", model / "verifier")):
        ids = AutoTokenizer.from_pretrained(exported / role)("old or new", return_tensors="pt").input_ids
        base = AutoModelForCausalLM.from_pretrained(adapter_base(adapters))
        with torch.no_grad():
            said[role] = AutoModelForCausalLM.from_pretrained(exported / role)(ids).logits
            assert torch.allclose(said[role], PeftModel.from_pretrained(base, adapters).eval()(ids).logits, atol=1e-4)
    assert not torch.allclose(said["generator"], said["verifier"], atol=1e-4)
