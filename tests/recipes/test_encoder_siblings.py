"""The encoder made of other architectures than the shipped one: trained, exported, and used as the verifier."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recipes.encoder.model import load_model, longest_input, outputs_of
from recipes.encoder.settings import EncoderConfig
from recipes.encoder.train import train_encoder
from tests.recipes.tiny_siblings import SIBLINGS, write_tiny
from vouching import Checker
from vouching.encoder.encoder import inputs_of, load_encoder
from vouching.encoder.folding import softmax
from vouching.encoder.tokens import PairTokenizer
from vouching.errors import ConfigError
from vouching.reading.evidence import shipped_table
from vouching.settings import read_settings
from vouching.types import Source, Verdict

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")

TOML = Path(__file__).parents[2] / "recipes/encoder/tiny.toml"
CLAIM, SOURCE = "The bridge is old.", "The old bridge was built by the city. It opened 12 years ago."


def pairs(folder: Path) -> Path:
    """A file of rows to train on, so that no data set is needed."""
    rows = [
        {
            "id": str(i),
            "claim": f"The bridge is old {i}.",
            "source": f"It was built {i} years ago.",
            "label": "Attributable" if i % 2 else "Not Attributable",
        }
        for i in range(40)
    ]
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", SIBLINGS)
def test_an_encoder_of_any_architecture_is_trained_exported_and_used(kind: str, tmp_path: Path) -> None:
    folder, run = write_tiny(kind, tmp_path / kind), tmp_path / "run"
    config = replace(
        read_settings(EncoderConfig, TOML, [f'encoder="{folder}"', "device=cpu", "max_steps=4"]),
        train=(),
        dev=(),
        disjoint_from=(),
        shares={},
        rows={},
        pairs=(str(pairs(tmp_path)),),
    )
    train_encoder(config, run, report=str)
    encoder, model = load_encoder(run / "export"), load_model(run / "model", 0).eval()

    # The int8 model says nearly what torch says, of texts of other lengths than the one it was exported with.
    tokenizer = PairTokenizer(run / "export/tokenizer.json")
    [claim] = tokenizer.tokens([CLAIM])
    for source in ("It is old.", SOURCE):
        [window] = tokenizer.tokens([source])
        inputs = inputs_of(tokenizer.pair(claim.ids, window.ids), len(claim))
        with torch.no_grad():
            wanted = outputs_of(model, {name: torch.from_numpy(value) for name, value in inputs.items()})[0].numpy()
        read = encoder.read(CLAIM, encoder.encode([Source(source)]))
        assert read.support == pytest.approx(float(softmax(wanted)[0, 0]), abs=0.02)

    # Words of the claim keep their places, whatever the tokenizer does with spaces.
    read = encoder.read(CLAIM, encoder.encode([Source(SOURCE)]))
    assert all(CLAIM[m.claim_span.start : m.claim_span.end] == m.claim_span.text for m in read.matches)
    words = [m.claim_span.text for m in read.matches if not m.claim_span.text.isspace()]
    assert all(word == word.strip() for word in words)
    covered = {place for m in read.matches for place in range(m.claim_span.start, m.claim_span.end)}
    assert covered >= {place for place, character in enumerate(CLAIM) if character != " "}

    # With a combined model for it, the folder of the run is a verifier.
    record = json.loads(shipped_table("small.json"))
    record["encoder"] = encoder.weights.digest
    (run / "combined.json").write_text(json.dumps(record), encoding="utf-8")
    verdict = Checker(f"embedded:{run}").check(CLAIM, SOURCE)
    assert isinstance(verdict, Verdict)
    assert verdict.score is not None


def test_dropout_is_that_of_the_settings_in_every_architecture(tmp_path: Path) -> None:
    for kind in SIBLINGS:
        model = load_model(write_tiny(kind, tmp_path / kind), 0, dropout=0.25).train()
        ids = {"input_ids": torch.arange(5, 17)[None], "attention_mask": torch.ones(1, 12, dtype=torch.int64)}
        inputs = ids | {"token_type_ids": ids["input_ids"] * 0}
        one, other = (outputs_of(model, inputs)[0].detach().numpy() for _ in range(2))
        assert not np.array_equal(one, other), kind
        model.eval()
        one, other = (outputs_of(model, inputs)[0].detach().numpy() for _ in range(2))
        assert np.array_equal(one, other), kind


def test_roberta_reads_fewer_tokens_than_it_has_positions(tmp_path: Path) -> None:
    # Positions of RoBERTa begin at padding's id + 1 = 2: 66 positions hold 64 tokens.
    assert longest_input(load_model(write_tiny("roberta", tmp_path / "roberta"), 0)) == 64
    assert longest_input(load_model(write_tiny("bert", tmp_path / "bert"), 0)) == 64


def test_another_architecture_is_refused_by_name(tmp_path: Path) -> None:
    folder = write_tiny("bert", tmp_path / "bert")
    record = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**record, "model_type": "gpt2"}), encoding="utf-8")
    with pytest.raises(ConfigError, match="it is gpt2, expected one of bert, roberta, deberta-v2, modernbert"):
        load_model(folder, 0)
