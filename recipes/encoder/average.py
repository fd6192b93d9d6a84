"""Exports the mean of two encoders' weights: of the shipped one, and of a run that was trained further from it.

    python recipes/encoder/contrast_rows.py --dev runs/contrast_dev.jsonl
    python recipes/encoder/average.py --run runs/contrast --share 0.8 --rows runs/contrast_dev.jsonl --out runs/averaged

Training on one kind of claim makes an encoder forget others; the mean of the weights before and after keeps most of
both (Wortsman et al. 2022, Robust fine-tuning of zero-shot models). The settings and the split that the export records
are those of the shipped encoder, because its held-out rows are unseen by both runs; "averaged" records the other run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.encoder.batches import encode_units
from recipes.encoder.export import export_encoder, write_floats
from recipes.encoder.model import load_model
from recipes.encoder.rows import read_set
from recipes.encoder.settings import EncoderConfig
from vouching.encoder.tokens import PairTokenizer
from vouching.encoder.weights import MANIFEST, TOKENIZER, Limits, find_weights
from vouching.settings import recorded_settings


def mean(before: Any, after: Any, share: float) -> Any:
    """The model ``before`` with (1 - share) of its own weights and ``share`` of those of ``after``."""
    ours, theirs = before.state_dict(), after.state_dict()
    before.load_state_dict({name: (1 - share) * ours[name] + share * theirs[name] for name in ours})
    return before


def main() -> None:
    """Average, export, and record both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the run that started from the shipped encoder")
    parser.add_argument("--share", type=float, required=True, help="of the run's weights, between 0 and 1")
    parser.add_argument("--rows", type=Path, required=True, help="rows on which the export is compared with torch")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    shipped = find_weights(None).folder
    trained = json.loads((shipped / MANIFEST).read_text("utf-8"))["trained"]
    config = recorded_settings(EncoderConfig, trained["settings"])
    limits = Limits(config.max_tokens, config.max_claim_tokens, 1)
    units = read_set(options.rows, "dev/contrast", 1000, 0)
    [*encoded] = encode_units(units, [1.0] * len(units), PairTokenizer(shipped / TOKENIZER), limits)
    with tempfile.TemporaryDirectory() as folder:
        write_floats(None, Path(folder))
        model = mean(load_model(Path(folder), 0), load_model(options.run / "model", 0), options.share)
    rows = [row for unit in encoded for row in unit.rows]
    export_encoder(model, config, shipped / TOKENIZER, options.out, {}, trained["split"], rows)
    manifest = options.out / MANIFEST
    record = json.loads(manifest.read_text("utf-8"))
    other = json.loads((options.run / "export" / MANIFEST).read_text("utf-8"))["trained"]
    record["trained"] = {**trained, "averaged": {"share": options.share, **other}}
    manifest.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    find_weights(options.out)


if __name__ == "__main__":
    main()
