"""An MPNet of two layers with random weights and a vocabulary of its own, exported by the recipe of the reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.train.tiny_bert import vocabulary

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "recipes/reader"


def write_tiny_mpnet(folder: Path) -> Path:
    """A folder that ``recipes/reader/train.py`` can start from."""
    import torch
    from tokenizers import BertWordPieceTokenizer, Tokenizer
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(0)
    tokens = ["<s>", "<pad>", "</s>", *vocabulary()]
    config = MPNetConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=514,
    )
    MPNetModel(config, add_pooling_layer=False).save_pretrained(folder)
    made = BertWordPieceTokenizer({token: i for i, token in enumerate(tokens)}, lowercase=True)
    Tokenizer.from_str(made.to_str()).save(str(folder / "tokenizer.json"), pretty=False)
    return folder


def run_script(name: str, *arguments: object) -> str:
    """Run a script of the recipe; what it printed."""
    done = subprocess.run(
        [sys.executable, str(RECIPE / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
