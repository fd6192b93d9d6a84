"""Writes what the reader is trained on: packs of one text and the claims about it, as the reader will read them.

    python recipes/reader/packs.py runs/reader/packs [--only SET,SET]

One file per set, ``SET.jsonl``, and ``SET.held-out.jsonl`` with one group in twenty, for calibration; ``dev_*`` choose
settings. A line is one text (a whole source if it fits, else the passages that share the words of one claim) with
claims ``[text, y, notes, marks, pair]``: y is 0 supported, 1 contradicted, 2 not found, 3 one of the last two; notes
are the question, the sentences before and the computed facts; marks are the stretches of the claim that make it wrong,
[] for none, null if unknown; claims of one pair differ as little as possible.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from structured import structured_rows

from vouching.reading.asked import Asked
from vouching.reading.facts import computed_facts
from vouching.reading.reader import BUDGET, OWN
from vouching.reading.sequence import WINDOW, Tokenizer
from vouching.reading.values import read_values
from vouching.reading.windows import Passages

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("VOUCH_DATA", ROOT.parent / "shared/data")) / "attribution"
CORPORA = {
    "corpus": ROOT / "recipes/reader/corpus",
    "contrast": ROOT / "recipes/encoder/contrast",
    "dev_contrast": ROOT / "tests/data/contrast/dev",
    "dev_independent": ROOT / "recipes/reader/independent",
}
NLI = str.split(
    """mnli_dev_matched mnli_dev_mismatched mnli_train_taxinli cad_snli snli_dev_test snli_train_20k sam_nli
    fever_nli_dev scitail_dev_test paws_wiki_en_dev negation_nli equate ambient add_one_rte evidence_inference_v2
    entailmentbank_steps_pos sra_semeval13 tracie_train"""
)
TRAIN = str.split(
    """fool_me_twice fever_symmetric faithdial factcheck_gpt bump begin wice wice_full wice_spans summedits_ectsum
    summedits_podcast summedits_qmsumm summedits_sales_call summedits_sales_email summedits_scitldr breaking_nli
    conjnli med"""
)
SETS = {
    **{name: DATA / f"nli/{name}.jsonl.gz" for name in NLI},
    **{name: DATA / f"train/{name}.jsonl.gz" for name in TRAIN},
    **{name: DATA / f"tables/{name}.jsonl.gz" for name in ("tabfact_train", "infotabs_train")},
    **{
        name: DATA / f"contrast/{name}.jsonl.gz"
        for name in ("gap", "bbq", "respectively", "defacto_fib", "condaqa_train", "contract_nli", "drop_numeric")
    },
    "structured": ROOT / "recipes/reader/structured/answers.jsonl.gz",
    "cg2c_doc": DATA / "extra/cg2c_doc.jsonl.gz",
    **{f"dev_{name}": DATA / f"tables/{name}_dev.jsonl.gz" for name in ("tabfact", "infotabs")},
    **{f"dev_{name}": DATA / f"dev/{name}.jsonl.gz" for name in ("attributionbench", "healthver", "conjnli")},
}
MOST_DEV = 500
"""Claims of a set for choosing settings."""
_FINE = {"contradiction": 1, "neutral": 2, "contradicted": 1, "not_found": 2}
Row = dict[str, Any]


def rows_of(name: str) -> Iterator[Row]:
    """The rows of a set: asked, source, y, marks, group, pair."""
    if name in CORPORA:
        yield from _corpus_rows(CORPORA[name])
        return
    if name == "structured":
        yield from structured_rows(SETS[name])
        return
    with gzip.open(SETS[name], "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            y = 0 if row["label"] == "Attributable" else _FINE.get(row.get("fine_label"), 3)
            yield {
                "asked": Asked(row["claim"], (row.get("question") or "") if name != "bbq" else ""),
                "source": row["source"],
                "y": y,
                "marks": [] if y == 0 else _marked(row),
                # In attributionbench "group" is the name of a subset, not of a document.
                "group": f"{(name != 'dev_attributionbench' and row.get('group')) or row['source'][:200]}",
                "pair": row.get("pair"),
            }


def chosen_rows(name: str) -> list[Row]:
    """The rows of a set; of one that chooses settings, whole groups in an order that does not depend on the file's."""
    rows = list(rows_of(name))
    if name.startswith("dev_"):
        rows.sort(key=lambda row: hashlib.sha256(row["group"].encode()).hexdigest())
    return rows[:MOST_DEV] if name.startswith("dev_") else rows


def _marked(row: Row) -> list[list[int]] | None:
    """The unsupported words of a row of wice_spans."""
    if "claim_tokens" not in row:
        return None
    marks, at = [], 0
    for token, unsupported in zip(row["claim_tokens"], row["non_supported_spans"], strict=True):
        start = row["claim"].find(token, at)
        if start < 0:
            return None
        at = start + len(token)
        if unsupported:
            marks.append([start, at])
    return marks or None


def _corpus_rows(folder: Path) -> Iterator[Row]:
    documents = read_documents(folder)
    packed = folder / "claims.jsonl.gz"
    with (
        gzip.open(packed, "rt", encoding="utf-8")
        if packed.exists()
        else (folder / "claims.jsonl").open(encoding="utf-8") as lines
    ):
        for row in map(json.loads, lines):
            y = 0 if row["label"] == "Attributable" else _FINE[row["relation"]]
            at = row["claim"].rfind(row["decisive"]) if y and row.get("decisive") else -1
            yield {
                "asked": Asked(row["claim"], row.get("question") or "", row.get("before") or ""),
                "source": documents[row["document"]],
                "y": y,
                "group": row["document"],
                "pair": row.get("group"),
                "marks": [] if y == 0 else [[at, at + len(row["decisive"])]] if at >= 0 else None,
            }


def read_documents(folder: Path) -> dict[str, str]:
    """The documents of a corpus by name: from ``documents.jsonl.gz``, or from the files of ``documents/``."""
    if (folder / "documents").is_dir():
        return {path.stem: path.read_text("utf-8") for path in (folder / "documents").iterdir()}
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {row["id"]: row["text"] for row in map(json.loads, lines)}


def is_held_out(group: str) -> bool:
    """Whether a group is kept from training, for calibration: one in twenty, by its name."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % 20 == 0


class Packer:
    """Makes packs of rows."""

    def __init__(self, tokenizer: Path) -> None:
        self._tokenizer = Tokenizer(tokenizer)

    def packs(self, rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
        """(group, pack) of each text; a long source makes one pack per claim."""
        about: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            about[row["source"]].append(row)
        for source, claims in about.items():
            values = read_values(source)
            entries = [
                [
                    row["asked"].text,
                    row["y"],
                    row["asked"].notes(computed_facts(row["asked"].text, values)),
                    row["marks"],
                    row["pair"],
                ]
                for row in claims
            ]
            group = claims[0]["group"]
            if len(source) < WINDOW * 2 or self._tokenizer.count([source])[0] <= WINDOW:
                yield group, {"source": source, "claims": entries}
                continue
            looked_for = [row["asked"].looked_for for row in claims]
            for window, numbers in Passages([source], self._tokenizer.count).windows(looked_for, BUDGET, OWN):
                yield group, {"source": window.text, "claims": [entries[number] for number in numbers]}


def main() -> None:
    """Write the packs of all sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the encoder")
    parser.add_argument("--only", help="sets, separated by commas")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    packer = Packer(options.tokenizer)
    for name in options.only.split(",") if options.only else [*CORPORA, *SETS]:
        kept = held = claims = facts = 0
        dev = name.startswith("dev_")
        with (
            (options.out / f"{name}.jsonl").open("w", encoding="utf-8") as file,
            (options.out / f"{name}.held-out.jsonl").open("w", encoding="utf-8") as aside,
        ):
            for group, pack in packer.packs(chosen_rows(name)):
                out = is_held_out(group) and not dev
                (aside if out else file).write(json.dumps(pack, ensure_ascii=False) + "\n")
                kept, held, claims = kept + (not out), held + out, claims + len(pack["claims"])
                facts += sum(any(n.startswith("computed") for n in entry[2]) for entry in pack["claims"])
        print(f"{name}: {claims} claims, {facts} with computed facts, {kept} texts, {held} held out", flush=True)


if __name__ == "__main__":
    main()
