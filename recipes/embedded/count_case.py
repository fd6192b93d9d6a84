"""Find how words are mostly written: writes ``weights/case.txt`` and ``weights/SHA256SUMS``.

    VOUCH_DATA=... python recipes/embedded/count_case.py

Counts, over the sentences that ``count_rarity.py`` reads, how each word is written inside a sentence, and keeps what
does not follow from ``rarity.txt``: its words that mostly have capitals, the stems of others that do not, and acronyms.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from pathlib import Path

from count_rarity import sentences
from weight_sums import WEIGHTS, write_sums

from vouching.reading.evidence import is_common
from vouching.text.words import stem

MINIMUM, MINIMUM_ORDINARY = 10, 5
"""Times that a name is written in its usual form, and that words with a stem have no capital."""
NAME = 0.8
"""Share of capitals from which a word of ``rarity.txt`` counts as a name."""
TARGET = WEIGHTS / "case.txt"


def main() -> None:
    """Count and write the table."""
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences(Path(os.environ["VOUCH_DATA"]) / "attribution"):
        words = re.findall(r"[^\W\d_]{2,}", sentence)[1:]
        if 2 * sum(word[0].isupper() for word in words) <= len(words):  # not a headline
            for word in words:
                forms[word.lower()][word] += 1
    kept: set[str] = set()
    ordinary: Counter[str] = Counter()
    for word, found in forms.items():
        form, count = found.most_common(1)[0]
        capitals = 1 - found[word] / found.total()
        common = is_common(stem(word))
        if capitals < 0.5 and not common:
            ordinary[stem(word)] += found[word]
        elif capitals >= NAME and count >= MINIMUM and (common or form != word.capitalize()):
            kept.add(form)
    kept |= {word for word, count in ordinary.items() if count >= MINIMUM_ORDINARY} - {word.lower() for word in kept}
    lines = [
        "# Names that are words of rarity.txt, acronyms, and stems of ordinary words that it does not have; written by",
        "# recipes/embedded/count_case.py from attribution/train and attribution/nli.",
        *sorted(kept, key=str.lower),
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_sums(WEIGHTS)
    print(f"{len(kept)} words -> {TARGET}")


if __name__ == "__main__":
    main()
