"""``vouch train``: what is refused in one line; the run itself is tested in tests/train."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

from tests.house.source_tree import ROOT
from vouching.cli.train import Method
from vouching.train.trainers import TRAINERS

VOUCH = "import sys; sys.argv[0] = 'vouch'; from vouching.cli.app import main; sys.exit(main())"


def vouch(*arguments: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, after the line ``before``."""
    variables = {"PYTHONPATH": str(ROOT / "src"), "PATH": "", "OMP_NUM_THREADS": "1", **environment}
    command = [sys.executable, "-c", f"{before}\n{VOUCH}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=variables)


def test_train_alone_asks_for_what_can_be_trained() -> None:
    done = vouch("train")
    assert done.returncode == 2
    assert "structured, checklist, blinded, assurance, sft" in done.stderr


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
