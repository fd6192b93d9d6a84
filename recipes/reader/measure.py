"""Writes what the encoders and the comparators find in claims held out of training; input of ``fit.py``.

    python recipes/reader/measure.py runs/reader/measured --packs runs/reader/packs [--export runs/reader/export]

One file per set, one line per claim: its label, the features of the small encoder (and of the large one that --export
names), the kinds of decisive difference. Sets are the groups that ``packs.py`` held out, for the fit, and those that
choose settings (``dev_*``), for its figures. A set whose file is there is not read again. Of the natural sets the small
encoder has seen most claims, the large one none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packs import chosen_rows

from vouching.embedded.compared import compare
from vouching.embedded.soft_reading import read_large, read_softly
from vouching.encoder.encoder import Encoder, load_encoder
from vouching.encoder.reading import features_of
from vouching.reading.evidence import index_sources
from vouching.reading.reader import LargeReader
from vouching.reading.text_encoder import TextEncoder
from vouching.types import Source

DEV = str.split("dev_independent dev_contrast dev_tabfact dev_infotabs dev_attributionbench dev_healthver")
HELD_OUT = str.split(
    """corpus faithdial factcheck_gpt wice cg2c_doc defacto_fib tabfact_train infotabs_train fool_me_twice drop_numeric
    gap bbq condaqa_train contract_nli mnli_dev_matched fever_nli_dev structured"""
)
Claims = list[tuple[str, int]]
"""Texts and labels: 0 supported, 1 contradicted, 2 not found, 3 one of the last two."""


def claims_by_source(name: str, packs: Path, most: int) -> dict[str, Claims]:
    """At most ``most`` claims of a set, by source; as they stand, without question or sentences before."""
    about: dict[str, Claims] = {}
    if name in DEV:
        rows = chosen_rows(name)[:most]
        for row in rows:
            about.setdefault(row["source"], []).append((row["asked"].text, row["y"]))
        return about
    count = 0
    for line in (packs / f"{name}.held-out.jsonl").read_text("utf-8").splitlines():
        pack = json.loads(line)
        for claim, y, *_ in pack["claims"][: most - count]:
            about.setdefault(pack["source"], []).append((claim, y))
            count += 1
    return about


def measured(about: dict[str, Claims], small: Encoder, reader: LargeReader | None) -> Iterator[dict[str, Any]]:
    """A record per claim; what cannot be compared is left out."""
    for source, claims in about.items():
        index = index_sources([Source(source)])
        compared = [compare(claim, index) for claim, _ in claims]
        for (claim, y), one in zip(claims, compared, strict=True):
            if one.is_empty:
                continue
            features = features_of(read_softly(small, one))
            for large in read_large(reader, [one]) if reader else ():
                features |= {f"large_{name}": value for name, value in features_of(large).items()}
            yield {
                "claim": claim,
                "y": y,
                "features": {name: round(value, 5) for name, value in features.items()},
                "kinds": sorted(set(one.kinds)),
                "verbatim": one.verbatim,
            }


def main() -> None:
    """Measure each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packs", type=Path, required=True)
    parser.add_argument("--export", type=Path, help="folder of the large encoder")
    parser.add_argument("--encoder", type=Path, help="folder of the small encoder; the shipped one by default")
    parser.add_argument("--only", help="sets, separated by commas")
    parser.add_argument("--dev", type=int, default=300, help="claims of a set that chooses settings")
    parser.add_argument("--held-out", type=int, default=80, help="claims of another set")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    reader = LargeReader(TextEncoder(options.export)) if options.export else None
    small = load_encoder(options.encoder)
    for name in options.only.split(",") if options.only else [*DEV, *HELD_OUT]:
        path = options.out / f"{name}.jsonl"
        if path.exists():
            continue
        most = options.dev if name in DEV else options.held_out
        rows = [json.dumps(row) for row in measured(claims_by_source(name, options.packs, most), small, reader)]
        path.write_text("".join(f"{row}\n" for row in rows), "utf-8")
        print(f"{name}: {len(rows)} claims", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
