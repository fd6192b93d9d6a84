"""Inputs for the fuzz targets: any text, and valid texts with pieces removed, repeated, replaced or of another type."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck
from hypothesis import strategies as st

from tests.text.hostile import ANY_TEXT

NO_HEALTH_CHECKS = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
"""Some targets read files, and some texts are long."""
PIECES = st.one_of(
    st.sampled_from(
        ["\0", "\ud800", "\\ud800", "\\u0000", "\ufeff", "\n", "\r", "\t", " ", '"', "'", "{", "}", "[", "]", ":", ",",
         "|", "<", "</", "<!--", "&#x0;", "&amp", "- ", "# ", "```", "---", "...", "*a", "&a", "!!python/none", "<<: ",
         "null", "true", "NaN", "Infinity", "-1", "1e999", "9" * 5000, "[" * 3000, '{"a":' * 500, "<b>" * 300,
         "١٢٣", "İ", "\u202e", "=1+1", "\x1b[31m"]
    ),
    st.text(max_size=8),
)  # fmt: skip
JSON_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("\ud800"), st.just(10**400)
    ),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[str]) -> str:
    """A seed with up to four stretches replaced by a hostile piece, or copied to another place."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 5, 20, 100])))
        piece = draw(PIECES) if draw(st.booleans()) else text[draw(st.integers(0, len(text))) :][:30]
        text = text[:start] + piece + text[end:]
    return text


@st.composite
def with_other_types(draw: st.DrawFn, seeds: Sequence[str]) -> str:
    """A JSON seed in which up to three values are replaced, removed or added."""
    record = json.loads(draw(st.sampled_from([text for text in seeds if text.startswith(("{", "["))])))
    for _ in range(draw(st.integers(1, 3))):
        holders = [inside for inside in _inside(record) if inside]
        if not holders:
            break
        holder = holders[draw(st.integers(0, len(holders) - 1))]
        keys: list[Any] = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
        key = keys[draw(st.integers(0, len(keys) - 1))]
        action = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if action == "replace":
            holder[key] = draw(JSON_VALUES)
        elif action == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(st.text(max_size=5))] = draw(JSON_VALUES)
        else:
            holder.append(draw(JSON_VALUES))
    return json.dumps(record, ensure_ascii=draw(st.booleans()))


def _inside(value: Any) -> list[Any]:
    """The objects and lists of a value, itself included."""
    parts: list[Any] = []
    if isinstance(value, dict | list):
        parts += value.values() if isinstance(value, dict) else value
    found: list[Any] = [value] if isinstance(value, dict | list) else []
    for part in parts:
        found += _inside(part)
    return found


def texts(seeds: Sequence[str], as_json: bool) -> st.SearchStrategy[str]:
    """Texts for a target with these valid inputs."""
    kinds = [damaged(seeds), damaged(seeds), ANY_TEXT]
    return st.one_of(*kinds, *([with_other_types(seeds)] * 2 if as_json else ()))
