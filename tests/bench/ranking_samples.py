"""Small sets of answers to be ranked, of our own writing, in the formats of FGVeriBench, FActScore and best-of-N."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.bench.samples import write_rows
from vouching.bench.rankings import PARTS


def question_row(number: int, part: str = "nq") -> dict[str, Any]:
    """A question on a bridge; its answers are the year, a refusal and another year, in turns of three orders."""
    answers = [
        {"text": f"It opened in {1900 + number}.", "label": "correct"},
        {"text": "I have no information on this.", "label": "irrelevant" if number % 2 else "intermediate"},
        {"text": f"It opened in {1950 + number}.", "label": "incorrect"},
    ]
    turn = number % 3
    order = [(place + turn) % 3 for place in range(3)]
    return {
        "id": f"{part}-{number}",
        "question": f"When did bridge {number} of {part} open?",
        "reference": [str(1900 + number)],
        "answers": [answers[place] for place in order],
        "ranking": [order.index(place) + 1 for place in range(3)],
    }


def write_fgveribench(folder: Path, rows: int = 2) -> Path:
    """So many questions of each part, in a data folder."""
    for part in PARTS:
        write_rows(folder / "fgveribench" / f"{part}.jsonl.gz", [question_row(n, part) for n in range(rows)])
    return folder


def write_biographies(folder: Path) -> Path:
    """Two people with two biographies each; the second of the last is empty."""
    mill, queen = "Ada built a mill. Ada sang.", "Ada was a queen."
    labelled = [_labelled(mill, "Ada built a mill.", "Ada sang."), _labelled(queen, "Ada was a queen.")]
    abstained = {"input": "Question: Tell me a bio of Bob.", "output": "I cannot.", "annotations": None}
    write_rows(folder / "factscore" / "one.jsonl.gz", [*labelled, abstained])
    rows = [
        {
            "question": f"Question: Tell me a bio of {name}.",
            "answers": [{"answer": text, "factuality_score": share} for text, share in answers],
            "verify_result": [2, 1],
        }
        for name, answers in {"Ada": [(queen, 0.2), (mill, 1)], "Bob": [("I cannot.", 0.0), ("", 0.1)]}.items()
    ]
    write_rows(folder / "fgveribench" / "factscore.jsonl.gz", rows)
    return folder


def _labelled(text: str, *stated: str) -> dict[str, Any]:
    facts = [*({"text": fact, "label": "S"} for fact in stated), {"text": "Mills turn.", "label": "IR"}]
    return {"input": "Question: Who?", "output": text, "annotations": [{"human-atomic-facts": facts}]}
