"""``vouch train``: what is refused in one line; the run itself is tested in tests/train."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from tests.house.source_tree import ROOT
from vouching.cli.train import Method
from vouching.train.trainers import TRAINERS

RANK = str(ROOT / "recipes/rank/cpu.toml")
NLI = str(ROOT / "recipes/encoder/nli.toml")
VOUCH = "import sys; sys.argv[0] = 'vouch'; from vouching.cli.app import main; sys.exit(main())"


def vouch(*arguments: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, after the line ``before``."""
    variables = {"PYTHONPATH": str(ROOT / "src"), "PATH": "", "OMP_NUM_THREADS": "1", **environment}
    command = [sys.executable, "-c", f"{before}\n{VOUCH}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=variables)


def test_without_torch_the_extra_to_install_is_named(tmp_path: Path) -> None:
    done = vouch(
        "train", "encoder", NLI, "--out", str(tmp_path / "run"), before="import sys; sys.modules['torch'] = None"
    )
    assert done.returncode == 2
    assert done.stderr == (
        "vouch: training the encoder needs the module 'torch': install it with pip install 'vouching[train]'\n"
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((NLI, "epoch=2"), "unknown setting 'epoch'; did you mean 'epochs'?"),
        ((NLI, "epochs=many"), "epochs must be a valid integer, got 'many'"),
        (("no-such-file.toml",), "cannot read no-such-file.toml"),
    ],
)
def test_a_wrong_setting_is_one_line_and_status_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = vouch("train", "encoder", *arguments, "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_training_a_scorer_refuses_in_the_same_way(tmp_path: Path) -> None:
    for settings, before, message in (
        (["margn=0.2"], "", "unknown setting 'margn'; did you mean 'margin'?"),
        (["margin=-1"], "", "margin must be above 0"),
        (["pairs=mine.jsonl"], "", """pairs must be a list, such as ["one", "two"], got 'mine.jsonl'"""),
        (["pairs=[1]"], "", "item 1 of pairs must be a valid string, got 1"),
        ([], "import sys; sys.modules['torch'] = None", "training needs the module 'torch'"),
    ):
        done = vouch("train", "rank", RANK, *settings, "--out", str(tmp_path / "run"), before=before)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(find_spec("torch") is None, reason="the extra train (torch) is not installed")
@pytest.mark.parametrize(
    ("setting", "environment", "message"),
    [
        ("encoder=no-such-encoder", {"VOUCH_DATA": "."}, "no-such-encoder is neither a folder"),
        (f"encoder={ROOT}/tests/data/tiny_encoder", {"VOUCH_DATA": "."}, "is neither a folder with config.json"),
    ],
)
def test_an_encoder_that_is_not_there_is_named(
    tmp_path: Path, setting: str, environment: dict[str, str], message: str
) -> None:
    done = vouch("train", "encoder", NLI, setting, "--out", str(tmp_path / "run"), **environment)
    assert done.returncode == 2
    assert message in done.stderr


def test_train_alone_asks_for_what_can_be_trained() -> None:
    done = vouch("train")
    assert done.returncode == 2
    assert "structured, checklist, blinded, assurance, sft, rank, encoder" in done.stderr


def test_the_command_names_every_trainer() -> None:
    assert get_args(Method) == tuple(TRAINERS)
    for trainer in TRAINERS.values():
        module, _, name = trainer.config.partition(":")
        assert hasattr(import_module(module), name)
        module, _, name = trainer.run.partition(":")
        assert callable(getattr(import_module(module), name))


def test_training_language_models_refuses_in_the_same_way(tmp_path: Path) -> None:
    recipes = ROOT / "recipes/structured"
    for method, recipe in (("sft", "3b-sft.toml"), ("structured", "3b-grpo.toml")):
        for settings, before, message in (
            (["learning_rte=1"], "", "unknown setting 'learning_rte'; did you mean 'learning_rate'?"),
            (["lora.rnk=8"], "", "unknown setting 'lora.rnk'; did you mean 'lora.rank'?"),
            (["rows=[]"], "", "rows must not be empty"),
            ([], "import sys; sys.modules['torch'] = None", "training needs the module 'torch'"),
        ):
            out = str(tmp_path / "run")
            done = vouch("train", method, str(recipes / recipe), *settings, "--out", out, before=before)
            assert done.returncode == 2
            assert message in done.stderr
            assert done.stderr.count("\n") == 1
            assert not (tmp_path / "run").exists()
