"""Encoders that expect a prefix before queries and passages, as E5 does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.search.corpora import TOWNS
from tests.train.tiny_bert import write_tiny_bert
from vouching.errors import ConfigError
from vouching.search.index import open_index
from vouching.search.index_writer import create_index
from vouching.search.vectors import PROMPTS, open_encoder

pytest.importorskip("torch")
TEXTS = ["the bridge was built", "it opened in the city"]
E5 = {"query": "query: ", "passage": "passage: "}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("encoder"), layers=1)


def with_prompts(folder: Path, prompts: object) -> None:
    (folder / PROMPTS).write_text(json.dumps({"prompts": prompts}), encoding="utf-8")


def test_each_role_gets_its_prefix_from_the_folder(folder: Path) -> None:
    (folder / PROMPTS).unlink(missing_ok=True)
    plain = open_encoder(str(folder))
    assert np.allclose(plain.vectors(TEXTS, "query"), plain.vectors(TEXTS))
    with_prompts(folder, E5)
    prompted = open_encoder(str(folder))
    for role in ("query", "passage"):
        by_hand = plain.vectors([f"{role}: {text}" for text in TEXTS])
        assert np.allclose(prompted.vectors(TEXTS, role), by_hand, atol=1e-6)
        assert not np.allclose(by_hand, plain.vectors(TEXTS), atol=1e-3)
    with_prompts(folder, {"query": "query: ", "document": "passage: "})
    assert np.allclose(open_encoder(str(folder)).vectors(TEXTS), prompted.vectors(TEXTS))


def test_an_index_built_with_other_prefixes_is_refused(folder: Path, tmp_path: Path) -> None:
    with_prompts(folder, E5)
    encoder = open_encoder(str(folder))
    with create_index(tmp_path / "towns", encoder=encoder) as writer:
        for source in TOWNS:
            writer.add(source)
    assert open_index(tmp_path / "towns").find("a mill", 2)
    with_prompts(folder, {"query": "Q: ", "passage": "P: "})
    with pytest.raises(ConfigError, match="or build the index again"):
        open_index(tmp_path / "towns")


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ({"sts": "compare: "}, "prompts named sts; expected query, passage"),
        ({"query": 3}, "must be texts by name"),
        ("query: ", "must be texts by name"),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(folder: Path, prompts: object, message: str) -> None:
    with_prompts(folder, prompts)
    with pytest.raises(ConfigError, match=message):
        open_encoder(str(folder))
