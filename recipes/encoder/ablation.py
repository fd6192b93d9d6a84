"""What each part of the combined model adds, on rows that neither the model nor the encoder has seen.

    VOUCH_DATA=... python recipes/encoder/ablation.py --encoder runs/attribution/export
        [--with-pairs runs/perturbed/export] [--most N] [--output PATH]

Rules alone, then with late interaction, then with the heads, then with the heads of an encoder that also learned from
perturbations (``--with-pairs``). For each family of sets of attribution/train and attribution/dev the score model of
``recipes/embedded/fit_rules.py`` is fitted on the other training families. An encoder that was trained on
attribution/train has seen it: then only the groups that its run held out take part. Test sets are not read. Left out:
intervals; sets have a few hundred rows, so differences under .02 say little.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "recipes/embedded"))

from leave_one_out import evaluate, family  # noqa: E402
from training_rows import LEFT_OUT, SEED, SHARES, Row, keys_of, measure_row  # noqa: E402

from vouching.bench.catalog import data_folder  # noqa: E402
from vouching.encoder.encoder import Encoder, load_encoder  # noqa: E402
from vouching.encoder.reading import features_of  # noqa: E402
from vouching.encoder.weights import MANIFEST  # noqa: E402
from vouching.metrics import document_numbers  # noqa: E402
from vouching.train.encoder_config import EncoderConfig  # noqa: E402
from vouching.train.encoder_rows import TrainingRow, hold_out, read_sets  # noqa: E402
from vouching.types import Source  # noqa: E402

# fit_rules.py fixes the sign of a weight by words in the feature's name: "overlap" and "coverage" speak for support.
LATE_INTERACTION = {name: f"overlap_{name}" for name in ("match", "lowest_match", "weak_matches", "sentence_match")}
HEADS = {name: f"coverage_{name}" for name in ("supported", "token_support", "lowest_support")}
HEADS["contradicted"] = "contradicted"
Rows = Mapping[str, Sequence[Row]]


def read_rows(most: int, seen_by: Sequence[Path]) -> dict[str, list[TrainingRow]]:
    """Rows of attribution/train and /dev by "part/set", at most ``most`` of each, without those an encoder has seen."""
    root = data_folder() / "attribution"
    shares = {**SHARES, **dict.fromkeys(LEFT_OUT, 0.0)}
    # Of a pair the last row is the one that the set has.
    sets = {
        place: [unit[-1] for unit in units]
        for place, units in read_sets([root / "train", root / "dev"], shares, 1_000_000, SEED).items()
    }
    for folder in seen_by:
        unseen = rows_held_out(folder, root)
        if unseen is not None:
            sets = {
                place: [row for row in rows if place.startswith("dev/") or (row.claim, row.source) in unseen]
                for place, rows in sets.items()
            }
    return {place: rows[:most] for place, rows in sets.items() if len({row.attributable for row in rows[:most]}) == 2}


def rows_held_out(folder: Path, root: Path) -> set[tuple[str, str]] | None:
    """Claim and source of the rows that the run of an export held out; None if it had no row of attribution/train."""
    settings = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["trained"]["settings"]
    config = EncoderConfig(**settings)
    if "train" not in config.train:
        return None
    sets = read_sets([root / part for part in config.train], config.shares, config.most_rows, config.seed, config.rows)
    _, held = hold_out(sets, config.validation_rows, config.seed)
    return {(row.claim, row.source) for unit in held for row in unit}


def measure(sets: Mapping[str, Sequence[TrainingRow]]) -> dict[str, list[tuple[TrainingRow, Row]]]:
    """Each row with its features of the rules and its group; rows with nothing to compare are left out."""
    records = [
        (place, row, {"claim": row.claim, "source": row.source, "group": row.group})
        for place, rows in sets.items()
        for row in rows
    ]
    groups = document_numbers(list(keys_of(place, record)) for place, _, record in records).tolist()
    measured: dict[str, list[tuple[TrainingRow, Row]]] = {place: [] for place in sets}
    for (place, row, _), group in zip(records, groups, strict=True):
        found = measure_row(row.claim, row.source, "Attributable" if row.attributable else "", group)
        if found is not None:
            measured[place].append((row, found))
    return measured


def with_encoder(
    sets: Mapping[str, Sequence[tuple[TrainingRow, Row]]], encoder: Encoder
) -> dict[str, list[dict[str, float]]]:
    """Features of the encoder for each row, under the names that ``fit_rules.py`` understands."""
    found: dict[str, list[dict[str, float]]] = {}
    for place, rows in sets.items():
        readings = [features_of(encoder.read([row.claim], [Source(row.source)])[0]) for row, _ in rows]
        found[place] = [{new: r[old] for old, new in {**LATE_INTERACTION, **HEADS}.items()} for r in readings]
        print(f"{place}: {len(rows)} rows read", flush=True)
    return found


def extended(
    sets: Mapping[str, Sequence[tuple[TrainingRow, Row]]],
    features: Mapping[str, Sequence[Mapping[str, float]]],
    names: Sequence[str],
) -> Rows:
    """The rows with some of the encoder's features added."""
    return {
        place: [
            replace(row, features={**row.features, **{name: own[name] for name in names}})
            for (_, row), own in zip(rows, features[place], strict=True)
        ]
        for place, rows in sets.items()
    }


def main() -> None:
    """Measure, read, fit with every family left out, print the table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of an exported encoder")
    parser.add_argument("--with-pairs", type=Path, help="folder of one that learned from perturbations too")
    parser.add_argument("--most", type=int, default=300, help="rows of a set, at most")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "ablation.json")
    options = parser.parse_args()
    folders = [folder for folder in (options.encoder, options.with_pairs) if folder]
    sets = measure(read_rows(options.most, folders))
    late, everything = list(LATE_INTERACTION.values()), [*LATE_INTERACTION.values(), *HEADS.values()]
    read = with_encoder(sets, load_encoder(options.encoder))
    variants = {
        "rules": extended(sets, read, []),
        "+ late interaction": extended(sets, read, late),
        "+ heads": extended(sets, read, everything),
    }
    if options.with_pairs:
        variants["+ perturbations"] = extended(sets, with_encoder(sets, load_encoder(options.with_pairs)), everything)
    figures: dict[str, dict[str, float]] = {place: {"rows": len(rows)} for place, rows in sets.items()}
    for variant, rows in variants.items():
        for left_out in dict.fromkeys(map(family, rows)):
            for place, found in evaluate(left_out, rows).items():
                figures[place] |= {"overlap": found["overlap"], variant: found["auroc"]}
    names = ["overlap", *variants]
    means = {name: round(float(np.mean([found[name] for found in figures.values()])), 3) for name in names}
    print("| left out | rows | " + " | ".join(names) + " |\n|---|" + "--:|" * (len(names) + 1))
    for place, found in {**figures, "mean": {"rows": sum(f["rows"] for f in figures.values()), **means}}.items():
        print(f"| {place} | {found['rows']} | " + " | ".join(f"{found[name]:.3f}" for name in names) + " |")
    record = {"encoders": [load_encoder(f).weights.digest for f in folders], "most": options.most, "mean": means}
    options.output.write_text(json.dumps({**record, "sets": figures}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
