"""Reads the documents that writers made by ``corpus/BRIEF.md``, checks them and writes the corpus.

    python recipes/reader/corpus.py check FOLDER ...      what cannot be read, is out of balance or gives the label away
    python recipes/reader/corpus.py build FOLDER ... --out recipes/reader/corpus
    python recipes/reader/corpus.py sample FOLDER --out blind.jsonl    a tenth, shuffled and without labels
    python recipes/reader/corpus.py agree FOLDER labels.jsonl          how often a second reader's labels agree

A file has a head (kind, title), the document and its claims, divided by lines of "=====". Claims come in groups below a
construction in brackets: "+" supported, "-" contradicted, "?" not found, "0" no claim; «» mark the words that are
wrong.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vouching.metrics import auroc

CONSTRUCTIONS = frozenset(
    str.split("""derived paraphrase place opposite negated threshold who compare planned time scope unit aggregate cause
        name plain absent answer pronoun several""")
)
RELATIONS = {"+": "supported", "-": "contradicted", "?": "not_found"}
_BEFORE = {"answer": "question", "several": "question", "pronoun": "before"}
HIGHEST = 0.6
"""Most that word overlap, or the claim alone, may tell of the label (AUROC)."""
ROOT = Path(__file__).parents[2]
NEAR = 0.6
"""Share of a claim's triples of words above which it is a copy of another."""
SHORTEST = 9
"""Triples of words below which a likeness means nothing."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim of a document."""

    mark: str
    text: str
    decisive: str
    group: int
    construction: str
    given: str
    """The question, or the sentence before."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its claims."""

    name: str
    kind: str
    title: str
    text: str
    claims: tuple[Statement, ...]


def read(path: Path) -> Document:
    """Read a file.

    Raises ValueError, with the line, for what does not have the form.
    """
    parts = re.split(r"(?m)^=====\s*$", path.read_text("utf-8"))
    if len(parts) != 3:
        raise ValueError(f"{path}: {len(parts)} parts, not 3 (head, document, claims, divided by lines of =====)")
    head = dict(re.findall(r"(?m)^(kind|title):\s*(.+?)\s*$", parts[0]))
    if set(head) != {"kind", "title"}:
        raise ValueError(f"{path}: the head needs kind: and title:")
    claims: list[Statement] = []
    group, construction, given = 0, "", ""
    for line in filter(None, map(str.strip, parts[2].splitlines())):
        if opening := re.match(r"\[(\w+)\]\s*(.*)$", line):
            group, construction, given = group + 1, opening[1], opening[2]
            if construction not in CONSTRUCTIONS or (construction in _BEFORE and not given):
                raise ValueError(f"{path}: {line!r} is no construction, or lacks the text behind it")
            continue
        found = re.match(r"([+\-?0])\s+(.+)$", line)
        marked = re.findall("«(.+?)»", line)
        if not found or not construction or bool(marked) != (found[1] in "-?"):
            raise ValueError(f"{path}: cannot read {line!r} (wrong claims, and only they, have words in «»)")
        text = re.sub("[«»]", "", found[2]).strip()
        claims.append(Statement(found[1], text, max(marked, key=len, default=""), group, construction, given))
    return Document(f"{path.parent.name}-{path.stem}", head["kind"], head["title"], parts[1].strip("\n"), tuple(claims))


def read_folder(folder: Path) -> Iterator[Document]:
    """The documents of a folder; what cannot be read is named and skipped."""
    for path in sorted(folder.glob("*.txt")):
        try:
            yield read(path)
        except ValueError as error:
            print(error, file=sys.stderr)


def words(text: str) -> list[str]:
    """Lower-case words and numbers."""
    return re.findall(r"[a-z0-9]+", text.lower())


def overlap(claim: str, document: str) -> float:
    """Share of a claim's words that the document has."""
    own, bag = words(claim), set(words(document))
    return sum(word in bag for word in own) / max(1, len(own))


def tells(documents: Sequence[Document]) -> dict[str, float]:
    """AUROC of word overlap, of the claim's length and of the claim alone (naive Bayes, documents held out)."""
    rows = [
        (n, claim, document.text)
        for n, document in enumerate(documents)
        for claim in document.claims
        if claim.mark != "0"
    ]
    terms = [
        set(words(claim.text)) | set(zip(words(claim.text), words(claim.text)[1:], strict=False))
        for _, claim, _ in rows
    ]
    alone = [0.0] * len(rows)
    for fold in range(5):
        seen: dict[bool, Counter[object]] = {True: Counter(), False: Counter()}
        for (n, claim, _), own in zip(rows, terms, strict=True):
            if n % 5 != fold:
                seen[claim.mark == "+"].update(own)
        for at, (n, _, _) in enumerate(rows):
            if n % 5 == fold:
                alone[at] = sum(math.log((seen[True][t] + 1) / (seen[False][t] + 1)) for t in terms[at])
    scores = {
        "word overlap": [overlap(claim.text, text) for _, claim, text in rows],
        "length": [float(len(words(claim.text))) for _, claim, _ in rows],
        "the claim alone": alone,
    }
    right = [claim.mark == "+" for _, claim, _ in rows]
    return {name: float(auroc(right, found)) for name, found in scores.items()}


def near_copies(documents: Sequence[Document], others: Sequence[str]) -> list[str]:
    """Claims and documents of which most triples of words stand in one text of ``others``."""

    def triples(text: str) -> set[tuple[str, ...]]:
        found = words(text)
        return set(zip(found, found[1:], found[2:], strict=False))

    index: dict[tuple[str, ...], set[int]] = {}
    for number, text in enumerate(others):
        for triple in triples(text):
            index.setdefault(triple, set()).add(number)
    near: list[str] = []
    for document in documents:
        for text in (document.text, *(claim.text for claim in document.claims)):
            own = triples(text)
            hits = Counter(number for triple in own for number in index.get(triple, ()))
            if len(own) >= SHORTEST and hits and hits.most_common(1)[0][1] / len(own) > NEAR:
                near.append(f"{document.name}: {text[:80]}")
    return near


def check(folder: Path) -> int:
    """Say what is wrong with a folder; the number of faults."""
    documents = list(read_folder(folder))
    faults = len(list(folder.glob("*.txt"))) - len(documents)
    for document in documents:
        marks = Counter(claim.mark for claim in document.claims)
        total = sum(marks.values()) - marks["0"]
        if not 0.4 <= marks["+"] / max(1, total) <= 0.6:
            print(f"{document.name}: {marks['+']} of {total} claims are supported, expected about half")
            faults += 1
    marks = Counter(claim.mark for document in documents for claim in document.claims)
    print(f"{len(documents)} documents, {sum(marks.values()) - marks['0']} claims: {dict(marks)}")
    for name, value in tells(documents).items():
        print(f"AUROC of {name}: {value:.3f}")
        told = value if name == "word overlap" else max(value, 1 - value)  # wrong claims may share more words
        faults += told > HIGHEST
    return faults


def held_back() -> list[str]:
    """The documents and claims of the contrast corpus that choose settings and report."""
    texts: list[str] = []
    for part in ("dev", "test"):
        folder = ROOT / "tests/data/contrast" / part
        texts += (path.read_text("utf-8") for path in (folder / "documents").iterdir())
        texts += (json.loads(line)["claim"] for line in (folder / "claims.jsonl").read_text("utf-8").splitlines())
    return texts


def build(folders: Sequence[Path], out: Path) -> None:
    """Write ``documents.jsonl.gz`` and ``claims.jsonl.gz`` of all folders, in the format of the contrast corpus.

    Refuses documents and claims that are near copies of what is held back.
    """
    documents = [document for folder in folders for document in read_folder(folder)]
    near = near_copies(documents, held_back())
    if near:
        raise SystemExit("near copies of tests/data/contrast:\n" + "\n".join(near))
    out.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[dict[str, object]]] = {"documents": [], "claims": []}
    for document in documents:
        rows["documents"].append(
            {"id": document.name, "kind": document.kind, "title": document.title, "text": document.text}
        )
        for number, claim in enumerate(document.claims, 1):
            if claim.mark == "0":
                continue
            row = {
                "id": f"{document.name}-{number:02}",
                "document": document.name,
                "group": f"{document.name}-g{claim.group:02}",
                "construction": claim.construction,
                "claim": claim.text,
                "relation": RELATIONS[claim.mark],
                "label": "Attributable" if claim.mark == "+" else "Not Attributable",
                "decisive": claim.decisive or None,
            }
            rows["claims"].append(row | ({_BEFORE[claim.construction]: claim.given} if claim.given else {}))
    for name, found in rows.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
        (out / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(documents)} documents, {len(rows['claims'])} claims in {out}")


def is_sampled(name: str) -> bool:
    """Whether a document is among the tenth that a second reader labels."""
    return int(hashlib.sha256(f"second reader {name}".encode()).hexdigest(), 16) % 10 == 0


def shuffled(document: Document) -> list[Statement]:
    """The claims of a document in an order that tells nothing, the same each time."""
    claims = [claim for claim in document.claims if claim.mark != "0"]
    random.Random(f"second reader {document.name}").shuffle(claims)
    return claims


def sample(folder: Path, out: Path) -> None:
    """Write the sampled documents with their claims, shuffled and without labels, one document a line."""
    with out.open("w", encoding="utf-8") as file:
        for document in read_folder(folder):
            if is_sampled(document.name):
                entries = [{"number": n, "given": c.given, "claim": c.text} for n, c in enumerate(shuffled(document))]
                row = {"document": document.name, "text": document.text, "claims": entries}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def agree(folder: Path, labels: Path) -> None:
    """Compare a second reader's labels with the writer's, and show where they differ.

    Args:
        folder: the writer's documents.
        labels: ``{"document": NAME, "labels": {NUMBER: "+", "-" or "?"}}`` a line.
    """
    documents = {document.name: document for document in read_folder(folder)}
    pairs: list[tuple[str, str]] = []
    for row in map(json.loads, labels.read_text("utf-8").splitlines()):
        for number, mark in row["labels"].items():
            claim = shuffled(documents[row["document"]])[int(number)]
            pairs.append((claim.mark, mark))
            if (claim.mark == "+") != (mark == "+"):
                place = f"{row['document']} {number} [{claim.construction}]"
                print(f"{place} writer {claim.mark}, reader {mark}: {claim.given} {claim.text}")
    binary = sum((one == "+") == (other == "+") for one, other in pairs) / max(1, len(pairs))
    same = sum(one == other for one, other in pairs) / max(1, len(pairs))
    print(f"{len(pairs)} claims: {binary:.3f} agree on supported or not, {same:.3f} on the relation")


def main() -> None:
    """Run one of the four commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "build", "sample", "agree"])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.command == "check":
        raise SystemExit(min(1, sum(check(folder) for folder in options.paths)))
    if options.command == "build":
        build(options.paths, options.out)
    elif options.command == "sample":
        sample(options.paths[0], options.out)
    else:
        agree(*options.paths)


if __name__ == "__main__":
    main()
