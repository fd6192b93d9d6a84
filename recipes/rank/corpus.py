"""Every paragraph of the multi-hop sets, once: the corpus that evidence is searched for in.

VOUCH_DATA=... python recipes/rank/corpus.py runs/rank/corpus.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from recipes.bench.multihop import FILES, corpus, multihop_rows
from vouching.bench.catalog import data_folder
from vouching.bench.multihop import MultihopRow


def main() -> None:
    """Write the paragraphs of all parts, those that are only tested on too: a real corpus knows no parts either."""
    rows = [row for name, split in FILES for row in multihop_rows(data_folder(), name, split)]
    sources = corpus(row for row in rows if isinstance(row, MultihopRow))
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        for source in sources:
            line = {"id": source.id, "title": source.title, "text": source.text}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(sources):,} paragraphs")


if __name__ == "__main__":
    main()
