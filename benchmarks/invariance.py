"""How often a verdict changes with what must not matter: case, spaces, typography, unrelated text, a source twice.

    python benchmarks/invariance.py [--model embedded:rules ...] [--rows 300] [--errors CHANGE] [--output FILE]
    VOUCH_DATA=DATA python benchmarks/invariance.py --public

Each claim is checked as it is and once with each change; counted are the labels that differ. Claims are drawn from the
part dev of the contrast corpus or, with ``--public``, from the development files of ``attribution/dev``.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import vouching
from vouching.types import Claim, Source

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests/data/contrast/dev"


class Row(NamedTuple):
    """A claim with its sources."""

    claim: str
    sources: tuple[str, ...]


Change = Callable[[Row], Row]

UNRELATED = (
    "The kiosk by the ferry pier sells stamps, umbrellas and tinned soup. Pigeons gather there at dusk, and a man with "
    "a violin plays slow waltzes when it rains. Nobody remembers who painted its shutters green."
)
"""A paragraph about nothing that the corpora are about."""
_TYPOGRAPHY = str.maketrans({"'": "’", "-": "‐", "–": "—"})


def _of_sources(change: Callable[[str], str]) -> Change:
    return lambda row: Row(row.claim, tuple(map(change, row.sources)))


def _of_claim(change: Callable[[str], str]) -> Change:
    return lambda row: Row(change(row.claim), row.sources)


def _of_both(change: Callable[[str], str]) -> Change:
    return lambda row: Row(change(row.claim), tuple(map(change, row.sources)))


def doubled_spaces(text: str) -> str:
    """Each space between two words twice; those that indent or end a line mean something and stay."""
    return re.sub(r"(?<=\S) (?=\S)", "  ", text)


def no_break_spaces(text: str) -> str:
    """Each space between two words, unless it is the one after a mark at the start of a line, as a no-break space."""
    return re.sub(r"(?<=[\w.,;:!?)%\"'’]) (?=[\w(\"'“‘$€£])", "\u00a0", text)


def soft_hyphens(text: str) -> str:
    """Each word of eight letters or more with a soft hyphen inside."""
    return re.sub(r"(?<![\w&/<=])([^\W\d_]{4})([^\W\d_]{4,})(?![\w>=;])", "\\1\u00ad\\2", text)


def typography(text: str) -> str:
    """Typographic apostrophes, hyphens and dashes."""
    return text.translate(_TYPOGRAPHY)


CHANGES: Mapping[str, Change] = {
    "claim in capitals": _of_claim(str.upper),
    "claim in lower case": _of_claim(str.lower),
    "both in lower case": _of_both(str.lower),
    "doubled spaces in the source": _of_sources(doubled_spaces),
    "doubled spaces in the claim": _of_claim(doubled_spaces),
    "no-break spaces in the source": _of_sources(no_break_spaces),
    "no-break spaces in the claim": _of_claim(no_break_spaces),
    "soft hyphens in the source": _of_sources(soft_hyphens),
    "typography of the claim": _of_claim(typography),
    "an unrelated paragraph after": lambda row: Row(row.claim, (f"{row.sources[0]}\n\n{UNRELATED}", *row.sources[1:])),
    "an unrelated paragraph before": lambda row: Row(row.claim, (f"{UNRELATED}\n\n{row.sources[0]}", *row.sources[1:])),
    "an unrelated source": lambda row: Row(row.claim, (*row.sources, UNRELATED)),
    "the source twice": lambda row: Row(row.claim, (*row.sources, *row.sources)),
    "the text twice": lambda row: Row(row.claim, (f"{row.sources[0]}\n\n{row.sources[0]}", *row.sources[1:])),
}


def contrast_rows(count: int) -> list[Row]:
    """Claims of the part dev of the contrast corpus that need no question and nothing before them."""
    texts = {path.stem: path.read_text("utf-8") for path in (CORPUS / "documents").iterdir()}
    rows = [json.loads(line) for line in (CORPUS / "claims.jsonl").read_text("utf-8").splitlines()]
    found = [Row(row["claim"], (texts[row["document"]],)) for row in rows if not {"before", "question"} & set(row)]
    return sorted(random.Random(0).sample(found, min(count, len(found))), key=lambda row: row.sources)


def public_rows(data: Path, count: int) -> list[Row]:
    """Claims of the public development files, as many of each."""
    paths = sorted((data / "attribution/dev").glob("*.gz"))
    rows: list[Row] = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            read = [json.loads(line) for line in lines]
        chosen = random.Random(0).sample(read, count // len(paths))
        rows += [Row(row["claim"], (row["source"],)) for row in chosen]
    return rows


def judge(checker: vouching.Checker, row: Row) -> Any:
    """The verdict on a row."""
    sources = [Source(text, f"source {number}") for number, text in enumerate(row.sources, 1)]
    return checker.check(Claim(row.claim), sources)


def measured(model: str, rows: Sequence[Row], shown: str | None) -> dict[str, float]:
    """Share of the labels that change with each change, by its name."""
    checker = vouching.Checker(model)
    before = [judge(checker, row) for row in rows]
    return {name: _share(checker, rows, before, name, shown == name) for name in CHANGES}


def _share(checker: vouching.Checker, rows: Sequence[Row], before: Sequence[Any], name: str, shown: bool) -> float:
    changed = 0
    for row, verdict in zip(rows, before, strict=True):
        after = judge(checker, CHANGES[name](row))
        if after.label != verdict.label:
            changed += 1
            if shown:
                print("\n".join(_difference(verdict, after)))
    return round(changed / len(rows), 4)


def _difference(before: Any, after: Any) -> Iterator[str]:
    yield f"{before.score:.3f} -> {after.score:.3f} {before.claim.text}"
    for verdict in (before, after):
        yield from (f"    {s.judgment}: {s.claim_part!r} {s.source_evidence!r}" for s in verdict.reasoning_chain)
        yield "    --"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="a verifier; may be repeated (default: embedded:rules)")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--public", action="store_true", help="claims of attribution/dev in VOUCH_DATA")
    parser.add_argument("--errors", metavar="CHANGE", choices=CHANGES, help="print the verdicts that this changes")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    options = parser.parse_args()
    public = options.public
    rows = public_rows(Path(os.environ["VOUCH_DATA"]), options.rows) if public else contrast_rows(options.rows)
    models = {model: measured(model, rows, options.errors) for model in options.model or ["embedded:rules"]}
    for name in CHANGES:
        print(f"{name:32}" + "".join(f"{found[name]:8.1%}" for found in models.values()))
    if options.output:
        record = {
            "command": "python benchmarks/invariance.py" + " --public" * public,
            "rows": len(rows),
            "version": vouching.__version__,
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "labels_that_change": models,
        }
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
