"""Count how rare words are in general English: writes ``weights/rarity.txt`` and ``weights/SHA256SUMS``.

    VOUCH_DATA=... python recipes/embedded/count_rarity.py

Counts, over the distinct sentences of attribution/train and attribution/nli (licensed for training), how many have a
stem, and keeps the stems that at least ``MINIMUM`` of them have.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from weight_sums import WEIGHTS, write_sums

from vouching.text.sentences import sentence_spans
from vouching.text.words import FUNCTION_WORDS, lower_words, stem

MINIMUM = 40
TARGET = WEIGHTS / "rarity.txt"


def sentences(data: Path) -> Iterator[str]:
    """The distinct sentences of claims and sources."""
    seen: set[str] = set()
    for path in sorted([*data.glob("train/*.jsonl.gz"), *data.glob("nli/*.jsonl.gz")]):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                for text in (row["claim"], row["source"]):
                    for start, end in sentence_spans(text):
                        if text[start:end] not in seen:
                            seen.add(text[start:end])
                            yield text[start:end]


def main() -> None:
    """Count and write the table."""
    counts: Counter[str] = Counter()
    total = 0
    for sentence in sentences(Path(os.environ["VOUCH_DATA"]) / "attribution"):
        total += 1
        counts.update({stem(word) for word in set(lower_words(sentence)) - FUNCTION_WORDS})
    kept = sorted((w for w, count in counts.items() if count >= MINIMUM), key=lambda w: (-counts[w], w))
    lines = [
        "# Rarity of stems: ln(sentences / sentences that have the stem); written by recipes/embedded/count_rarity.py.",
        f"# {total} distinct sentences of attribution/train and attribution/nli. '*' is the rarity of any other stem.",
        f"* {math.log(total / (MINIMUM / 4)):.2f}",
        *(f"{word} {math.log(total / counts[word]):.2f}" for word in kept),
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_sums(WEIGHTS)
    print(f"{len(kept)} stems from {total} sentences -> {TARGET}")


if __name__ == "__main__":
    main()
