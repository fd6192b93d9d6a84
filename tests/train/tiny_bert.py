"""A BERT of one or two layers with random weights and a vocabulary of its own: what training is tested on.

    python tests/train/tiny_bert.py

writes tests/data/tiny_encoder/, an exported one, which the tests of the runtime read; it needs the extra "train".
"""

from __future__ import annotations

import json
import string
import sys
import tempfile
from pathlib import Path

WORDS = "the it opened in bridge was built by of not river years long old city".split()
FIXTURE = Path(__file__).parents[1] / "data/tiny_encoder"


def vocabulary() -> list[str]:
    """Special tokens, characters alone and inside words, and a few words."""
    characters = string.ascii_lowercase + string.digits
    marks = [c for c in string.punctuation if c not in characters]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *characters, *(f"##{c}" for c in characters), *marks, *WORDS]


def write_tokenizer(path: Path) -> None:
    """A tokenizer.json over that vocabulary, made as BERT's."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    tokens = vocabulary()
    made = BertWordPieceTokenizer({token: i for i, token in enumerate(tokens)}, lowercase=True)
    Tokenizer.from_str(made.to_str()).save(str(path), pretty=False)


def write_tiny_bert(folder: Path, layers: int = 2) -> Path:
    """A folder that ``recipes/encoder/train.py`` can start from."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary()),
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    write_tokenizer(folder / "tokenizer.json")
    return folder


def main() -> None:
    """Export an untrained one for the tests of the runtime."""
    from recipes.encoder.batches import encode_row
    from recipes.encoder.export import export_encoder
    from recipes.encoder.model import load_model
    from recipes.encoder.rows import SUPPORTED, TrainingRow
    from recipes.encoder.settings import EncoderConfig
    from vouching.encoder.tokens import PairTokenizer
    from vouching.encoder.weights import Limits

    with tempfile.TemporaryDirectory() as folder:
        bert = write_tiny_bert(Path(folder), layers=2)
        config = EncoderConfig(encoder="tests/train/tiny_bert.py", max_tokens=64, max_claim_tokens=24, max_windows=2)
        tokenizer = PairTokenizer(bert / "tokenizer.json")
        row = TrainingRow("tests/row", "The bridge is old.", "The bridge was built long ago.", SUPPORTED)
        rows = [encode_row(row, tokenizer, Limits(64, 24, 2))]
        export_encoder(load_model(bert, 0), config, bert / "tokenizer.json", FIXTURE, {}, {}, rows)
    manifest = FIXTURE / "encoder.json"
    record = json.loads(manifest.read_text("utf-8"))
    del record["trained"]  # says when and where; a fixture is the same everywhere
    record["limits"]["max_windows"] = 2  # so that short texts show what is left unread
    manifest.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (FIXTURE / "CARD.md").unlink()


if __name__ == "__main__":
    sys.exit(main())
