"""Writes supported claims beside two premises: as it is, and from a source that no longer supports the claim.

    python recipes/encoder/source_rows.py runs/sources

The run learns to rank the two, and so to look at the source. ``cut.jsonl``: the sentences that hold the rarest shared
word of the claim are deleted from the source. ``exchanged.jsonl``: a number or name of the claim is exchanged for
another in the premise. ``negated.jsonl``: the sentence that supports the claim is negated. ``cg2c.jsonl``: the pairs of
attribution/extra/cg2c_doc, with and without the supporting sentences. A third of the premises is shorter than the
encoder reads at run time (300 or 600 characters). Only rows are written that the shipped encoder was trained on. Not
included: claims whose words all stand in many sentences.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from contrast_rows import TRAINING, contrast_claims, read_documents
from premise_rows import by_set, swapped, write

from recipes.encoder.train import split_of_export
from vouching.embedded.features import Segment, compare_claim
from vouching.embedded.premise import LONGEST, premise_for
from vouching.encoder.weights import find_weights
from vouching.perturb import CorpusPool, perturb
from vouching.reading.evidence import SourceIndex, index_sources
from vouching.types import Source

SEED, LIMIT = 3, 3500
LENGTHS = (300, 600, LONGEST, LONGEST, LONGEST, LONGEST)
NEGATED_WORDS = 18
_WORD = re.compile(r"\w+")
Record = dict[str, Any]


def beside(claim: str, before: str, after: str, relation: str, group: str | None) -> Record | None:
    """A row with both premises; None if they are equal or one is empty."""
    if not before or not after or before == after:
        return None
    found = {"claim": claim, "source": after, "original_source": before, "label": "Not Attributable"}
    return {**found, "fine_label": relation} | ({"group": group} if group else {})


def premise(claim: str, source: str, longest: int) -> str:
    """The premise of a claim in a source."""
    index = index_sources([Source(source)])
    return premise_for(compare_claim(claim, index), index, longest).text


def stems(text: str) -> set[str]:
    """First six letters of every longer word and every number."""
    return {word[:6].lower() for word in _WORD.findall(text) if len(word) > 3 or word.isdigit()}


def without_support(segments: list[Segment], claim: str, index: SourceIndex) -> str | None:
    """The source without the sentences that hold the rarest word which the claim shares with its best sentence."""
    best = [segment.focus.sentences[0] for segment in segments if segment.focus.sentences]
    if not best or len(index.sentences) < 3 or any(sentence.row for sentence in index.sentences):
        return None
    text = index.plain[0].text
    words = [stems(text[sentence.start : sentence.end]) for sentence in index.sentences]
    shared = sorted(stems(claim) & words[best[0]], key=lambda stem: (sum(stem in found for found in words), stem))
    if not shared or sum(shared[0] in found for found in words) * 2 > len(words):
        return None
    kept = [text[s.start : s.end] for s, found in zip(index.sentences, words, strict=True) if shared[0] not in found]
    return " ".join(kept)


def supported() -> Iterator[tuple[str, str, str | None]]:
    """Claim, source and group of supported training claims with a source of more than one sentence."""
    for name, units in by_set(split_of_export(find_weights(None).folder).train).items():
        if name != "cg2c_doc":
            for row in (unit[0] for unit in units):
                if row.attributable:
                    yield row.claim, row.source, row.group
    documents = read_documents(TRAINING)
    for row in contrast_claims(TRAINING):
        if row["label"] == "Attributable":
            yield row["text"], documents[row["document"]].sources[0].text, row["document"]


def negated(claim: str, before: str, segments: list[Segment], index: SourceIndex) -> str | None:
    """The premise with its supporting sentence negated; None if that is long, or cannot be negated."""
    best = segments[0].focus.sentences[:1] if len(segments) == 1 else ()
    for sentence in (index.sentences[position] for position in best):
        text = index.plain[sentence.source].text[sentence.start : sentence.end]
        if text in before and len(_WORD.findall(text)) <= NEGATED_WORDS:
            for change in perturb(text, text, strategies=("negation_added", "negation_removed"), pool=CorpusPool([])):
                return before.replace(text, change.claim)
    return None


def cg2c() -> Iterator[Record | None]:
    """The pairs of cg2c_doc."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(Path(os.environ["VOUCH_DATA"]) / "attribution/extra/cg2c_doc.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            rows[row["claim"]][row["label"]] = row["source"]
    for claim, found in rows.items():
        if len(found) == 2:
            before, after = (premise(claim, found[label], LONGEST) for label in ("Attributable", "Not Attributable"))
            yield beside(claim, before, after, "", None)


def main() -> None:
    """Write one file a kind of change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    write(options.output / "cg2c.jsonl", [row for row in cg2c() if row])
    draw = random.Random(SEED)
    claims = [*supported()]
    draw.shuffle(claims)
    found: dict[str, list[Record]] = {"cut": [], "exchanged": [], "negated": []}
    for claim, source, group in claims:
        if min(map(len, found.values())) >= LIMIT:
            break
        index = index_sources([Source(source)])
        segments = [*compare_claim(claim, index)]
        longest = draw.choice(LENGTHS)
        before = premise_for(segments, index, longest).text
        cut = without_support(segments, claim, index)
        other = swapped({"claim": claim, "source": before}, draw)
        changes = {
            "cut": cut and beside(claim, before, premise(claim, cut, longest), "neutral", group),
            "exchanged": other and beside(claim, before, other["source"], "", group),
            "negated": beside(claim, before, negated(claim, before, segments, index) or "", "contradiction", group),
        }
        for name, row in changes.items():
            if row and len(found[name]) < LIMIT:
                found[name].append(row)
    for name, rows in found.items():
        write(options.output / f"{name}.jsonl", rows)


if __name__ == "__main__":
    main()
