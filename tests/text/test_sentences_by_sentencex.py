"""Sentences of real texts end where ``sentencex`` ends them, but for kinds of places that are known."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from vouching.text.sentences import sentence_spans

sentencex = pytest.importorskip("sentencex", reason="needs sentencex")

SETS = {"ragtruth": "response", "attributionbench": "source"}
KINDS: dict[str, tuple[str, str]] = {
    # Only sentencex ends a sentence here.
    "theirs: no blank follows": ("", r"\S"),
    "theirs: a bracket, a quote or lower case follows (Rocks! campaign)": ("", r"\s+[(\"“'a-z»]"),
    "theirs: after the number of a list item": (r"(?:^|\s)\(?\w{1,3}[.)]\Z", ""),
    # Only ours ends one here.
    "ours: a line break follows": ("", r"\s*\n"),
    "ours: after dots": (r"(?:…|\.\.\.?)\W*\Z", ""),
    "ours: after a closing bracket or quote": (r"[.!?]\s?[)\]\"”»']+\Z", ""),
    "ours: a bracket or a quote follows": ("", r"\s+[(\[\"“'»]"),
}
"""Kinds of disagreement, by the text before the place and after it; most are a matter of taste."""


def texts_of_data() -> list[str]:
    """300 texts of 200 to 4,000 characters."""
    if "VOUCH_DATA" not in os.environ:
        pytest.skip("VOUCH_DATA does not name the folder of data sets")
    texts: list[str] = []
    for name, field in SETS.items():
        path = Path(os.environ["VOUCH_DATA"]) / "attribution" / "test" / f"{name}.jsonl.gz"
        if not path.exists():
            pytest.skip(f"{path.name} is not in VOUCH_DATA")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = sorted({text for line in lines if isinstance(text := json.loads(line).get(field), str)})
        random.Random(0).shuffle(found)
        texts += [text for text in found if 200 < len(text) < 4_000][:150]
    return texts


def ends_by_sentencex(text: str) -> set[int]:
    """Where its sentences end, blanks aside."""
    ends: set[int] = set()
    at = 0
    for sentence in map(str.strip, sentencex.segment("en", text)):
        at = text.index(sentence, at) + len(sentence)
        ends |= {at} if sentence else set()
    return ends


def kind_of(side: str, text: str, end: int) -> str | None:
    """The first kind that a disagreement is of."""
    before, after = text[max(0, end - 40) : end], text[end : end + 40]
    return next(
        (
            kind
            for kind, (ends, follows) in KINDS.items()
            if kind.startswith(side) and re.search(ends, before) and re.match(follows, after)
        ),
        None,
    )


def test_sentences_end_where_sentencex_ends_them() -> None:
    both, kinds, unknown = 0, Counter[str](), list[str]()
    for text in texts_of_data():
        ours, theirs = {end for _, end in sentence_spans(text)}, ends_by_sentencex(text)
        both += len(ours & theirs)
        for end in ours ^ theirs:
            side = "ours" if end in ours else "theirs"
            kind = kind_of(side, text, end)
            kinds[kind or side] += 1
            if kind is None:
                unknown.append(f"{side}: {text[max(0, end - 40) : end]}|{text[end : end + 30]}")
    assert both > 2_000
    assert both / (both + kinds.total() / 2) > 0.975
    # Ordinary stops that sentencex passes over, 24 of them.
    assert len(unknown) <= 0.015 * both, "\n".join(unknown)
    assert {kind for kind in KINDS if kinds[kind] == 0} == set()


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mr. Jones at 5 p.m. They spoke for 2.5 hours.",
        "The U.S. economy grew by 3.1 percent. Prices fell.",
        "It rose to $3.50 (see Fig. 2). J. K. Rowling wrote it, e.g. in 1997. Was it late? Yes!",
        "Apple Inc. was founded by Steve Jobs et al. in 1976. It is in Cupertino, Calif.",
    ],
)
def test_abbreviations_end_a_sentence_in_neither_splitter(text: str) -> None:
    assert {end for _, end in sentence_spans(text)} == ends_by_sentencex(text)
