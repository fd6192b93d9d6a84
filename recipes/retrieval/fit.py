"""Fit the embedded judge of retrieval: writes src/vouching/retrieval/weights.json.

    VOUCH_DATA=... python recipes/retrieval/fit.py

Three logistic models over the features of vouching.retrieval.features, on the training parts of HotpotQA, MuSiQue and
2WikiMultiHopQA and on the single steps of the latter, with titles and without; each set counts the same. Sufficiency
and answers are fitted on the relevance that a model of the other folds gives, as it will be for new questions. Prints
precision, recall, ECE and AUROC of the questions of held-out folds.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cases import SETS as SET_NAMES
from cases import Case, cases, steps, untitled
from sklearn.linear_model import LogisticRegression

from vouching.metrics import ece
from vouching.retrieval.features import Context, Features, probability

TARGET = Path(__file__).parents[2] / "src/vouching/retrieval/weights.json"
SETS = (*SET_NAMES, "steps")
FOLDS, STRENGTH = 5, 1.0
"""Folds by question; inverse strength of the regularisation."""


def fold_of(question: str) -> int:
    """The fold of a question, by its text alone, so that all its cases stay together.

    >>> fold_of("Who built it?") == fold_of("Who built it?")
    True
    """
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % FOLDS


def fitted(rows: Sequence[tuple[Features, bool, str]]) -> dict[str, float]:
    """The logistic model of features, label and set; each set and each label in it counts the same as in the data."""
    names = [*rows[0][0]]
    sizes = {name: sum(row[2] == name for row in rows) for name in SETS}
    x = np.array([[row[0][name] for name in names] for row in rows])
    y = np.array([row[1] for row in rows])
    weights = [len(rows) / len(SETS) / sizes[row[2]] for row in rows]
    model = LogisticRegression(C=STRENGTH, max_iter=2_000).fit(x, y, weights)
    numbers = zip(["intercept", *names], [model.intercept_[0], *model.coef_[0]], strict=True)
    return {name: round(float(number), 4) for name, number in numbers}


def out_of_fold(
    rows: Sequence[tuple[Features, bool, str]], folds: Sequence[int]
) -> tuple[list[float], list[dict[str, float]]]:
    """P of each row by a model of the other folds, and these models."""
    models = [fitted([row for row, one in zip(rows, folds, strict=True) if one != fold]) for fold in range(FOLDS)]
    return [probability(row[0], models[fold]) for row, fold in zip(rows, folds, strict=True)], models


def report(name: str, rows: Sequence[tuple[Features, bool, str]], found: Sequence[float]) -> dict[str, float]:
    """Precision and recall at .5 and ECE, each the mean over sets; printed for each set."""
    means: dict[str, list[float]] = {"precision": [], "recall": [], "ece": []}
    for place in SETS:
        pairs = [(row[1], p) for row, p in zip(rows, found, strict=True) if row[2] == place]
        truth, scores = np.array([t for t, _ in pairs]), np.array([p for _, p in pairs])
        yes = scores >= 0.5
        right = float((yes & truth).sum())
        means["precision"].append(right / max(1, yes.sum()))
        means["recall"].append(right / max(1, truth.sum()))
        means["ece"].append(float(ece(truth, scores)))
        shown = ", ".join(f"{key} {values[-1]:.3f}" for key, values in means.items())
        auroc = np.mean([(a > b) + 0.5 * (a == b) for a in scores[truth] for b in scores[~truth][:400]])
        print(f"{name:10} {place:9} {len(pairs):5} rows, {truth.mean():.2f} yes: {shown}, auroc {auroc:.3f}")
    return {key: round(float(np.mean(values)), 3) for key, values in means.items()}


def main() -> None:
    """Fit, report and write."""
    data = Path(os.environ["VOUCH_DATA"])
    titled = [(name, case) for name in SETS[:-1] for case in cases(data, name, "train")]
    titled += [("steps", case) for case in steps(data)]
    read = [(name, one) for name, case in titled for one in (case, untitled(case))]
    contexts = [Context(case.question, case.sources) for _, case in read]
    folds = [fold_of(case.question) for _, case in read]
    passages: list[tuple[Features, bool, str]] = []
    owner: list[int] = []
    for number, ((name, case), context) in enumerate(zip(read, contexts, strict=True)):
        for place, source in enumerate(case.sources):
            passages.append((context.of_passage(place), source.id in case.supporting, name))
            owner.append(number)
    found, _ = out_of_fold(passages, [folds[number] for number in owner])
    relevance: list[list[float]] = [[] for _ in read]
    for number, p in zip(owner, found, strict=True):
        relevance[number].append(p)
    sets = [(c.of_set(r), case.sufficient, n) for (n, case), c, r in zip(read, contexts, relevance, strict=True)]
    answers = _answers(read, contexts, relevance)
    answer_rows, answer_folds = [row for _, row in answers], [folds[number] for number, _ in answers]
    results: dict[str, Any] = {
        "relevant": report("relevant", passages, found),
        "sufficient": report("sufficient", sets, out_of_fold(sets, folds)[0]),
        "addresses": report("addresses", answer_rows, out_of_fold(answer_rows, answer_folds)[0]),
    }
    weights = {"relevant": fitted(passages), "sufficient": fitted(sets), "addresses": fitted(answer_rows)}
    provenance = {
        "recipe": "recipes/retrieval/fit.py",
        "sets": "train: HotpotQA 100, MuSiQue 100, 2WikiMultiHopQA 500 questions and their single steps",
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "held_out_by_fold": results,
    }
    TARGET.write_text(json.dumps({"provenance": provenance, **weights}, indent=1) + "\n", encoding="utf-8")


def _answers(
    read: Sequence[tuple[str, Case]], contexts: Sequence[Context], relevance: Sequence[Sequence[float]]
) -> list[tuple[int, tuple[Features, bool, str]]]:
    """The answers of complete contexts with the numbers of their cases."""
    rows: list[tuple[int, tuple[Features, bool, str]]] = []
    for number, ((name, case), context, p) in enumerate(zip(read, contexts, relevance, strict=True)):
        for answer, addresses in case.answers:
            rows.append((number, (context.of_answer(answer, p), addresses, name)))
    return rows


if __name__ == "__main__":
    main()
