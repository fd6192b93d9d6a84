"""Rows that an encoder has not seen, with z of the rules and what it says of them, for fitting the combined model.

Unseen are the groups that the encoder's run held out of attribution/train, the claims of tests/data/contrast/dev, and
attribution/dev. z comes from folds of ``fit_rules.py`` that had not seen the row. Not included: entailment rows;
they are short and would make the model trust the encoder more than long sources justify.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool
from pathlib import Path

from fit_rules import Fit, HeldOut
from training_rows import Row, Table, load

from vouching.encoder.encoder import load_encoder
from vouching.encoder.reading import HEAD_FEATURES, LATE_INTERACTION_FEATURES, features_of
from vouching.methods.embedded.features import compare_claim
from vouching.methods.embedded.soft_reading import read_softly
from vouching.reading.evidence import index_sources
from vouching.reading.language import looks_english
from vouching.train.encoder import split_of_export
from vouching.types import Source

ROWS_OF_DEV = 1000
COMBINED = Fit(
    ridge=10.0,
    supporting=("rules", *(name for name in (*HEAD_FEATURES, *LATE_INTERACTION_FEATURES) if name != "contradicted")),
    start={},
    overruling=(
        "quantity_differs", "quantity_absent", "date_differs", "date_absent", "entity_absent", "negated", "unhedged",
        "overstated",
    ),
)  # fmt: skip
"""Arithmetic and dates overrule the encoder, and so does an added value, name or negation, which the encoder tends to
miss in an otherwise copied claim, and a dropped hedge; so does the taxonomy's word on intensifiers."""
Text = tuple[str, str]
"""Claim and source."""


@dataclass(frozen=True, slots=True)
class Material:
    """Measured rows by "part/set", and those among them that the encoder has not seen."""

    rows: Mapping[str, Sequence[Row]]
    """All, for the rules."""
    unseen: Collection[Text]
    """Claim and source of rows of attribution/train that the encoder's run held out."""

    def is_unseen(self, place: str, row: Row) -> bool:
        """Whether the encoder has not seen a row."""
        return place.startswith("dev/") or (row.claim, row.source) in self.unseen


def read_material(exports: Sequence[Path], jobs: int, parts: Sequence[str]) -> Material:
    """Measure the rows; unseen are those that none of the exported encoders has seen."""
    unseen = set[Text].intersection(*(rows_held_out(folder) for folder in exports))
    rows = load(parts, jobs, also=unseen)
    return Material({p: r if p.startswith("train/") else r[:ROWS_OF_DEV] for p, r in rows.items()}, unseen)


def rows_held_out(export: Path) -> set[Text]:
    """Claim and source of the rows that the run of an export held out; see ``split_of_export`` for what it refuses."""
    return {(row.claim, row.source) for unit in split_of_export(export).held for row in unit}


def read_unseen(material: Material, export: Path, jobs: int) -> dict[Text, dict[str, float]]:
    """What the encoder says about each unseen English row."""
    texts = [
        (row.claim, row.source)
        for place, rows in material.rows.items()
        for row in rows
        if material.is_unseen(place, row) and looks_english(row.claim)
    ]
    with Pool(jobs) as pool:
        found = pool.map(partial(_features, export), texts, chunksize=20)
    return dict(zip(texts, found, strict=True))


def combined(
    rows: Mapping[str, Sequence[Row]],
    z: Mapping[Text, float],
    soft: Mapping[Text, Mapping[str, float]],
    names: Collection[str],
) -> dict[str, list[Row]]:
    """The rows that the encoder read, with the named features ("rules" is z of the rules) in place of their own."""
    found = {
        place: [
            replace(row, features={name: z[text] if name == "rules" else soft[text][name] for name in names})
            for row in several
            if (text := (row.claim, row.source)) in soft
        ]
        for place, several in rows.items()
    }
    return {place: several for place, several in found.items() if len({row.label for row in several}) == 2}


def z_of(table: Table, held_out: HeldOut) -> dict[Text, float]:
    """Z of every row, from the fold that held it out."""
    return {(row.claim, row.source): float(z) for row, z in zip(table.rows, held_out.z, strict=True)}


def _features(export: Path, text: Text) -> dict[str, float]:
    claim, source = text
    index = index_sources([Source(source)])
    return features_of(read_softly(load_encoder(export), claim, compare_claim(claim, index), index))
