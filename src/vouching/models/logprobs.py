"""Log-probabilities in the answers of OpenAI-compatible servers."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log1p
from typing import Any, cast

from vouching.models.json_fields import json_number, json_object

_ROUNDING = 0.01
"""By which a logarithm may miss 0 above; servers compute it in half precision."""


def read_logprobs(found: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Those of the tokens, from {"content": [{"logprob": x}]} (chat) or {"token_logprobs": [x]} (text).

    None if there are none, or one is not the logarithm of a probability.

    >>> read_logprobs({"content": [{"logprob": -0.5}]}), read_logprobs({"token_logprobs": [None]})
    ((-0.5,), None)
    """
    tokens: Any = found.get("content") or found.get("token_logprobs")
    if not isinstance(tokens, list):
        return None
    values: list[float] = []
    for one in cast("list[Any]", tokens):
        value = _logprob(cast("dict[str, Any]", one).get("logprob") if isinstance(one, dict) else one)
        if value is None:
            return None
        values.append(value)
    return tuple(values) or None


def read_alternatives(found: Mapping[str, Any]) -> tuple[Mapping[str, float], ...]:
    """The likeliest texts of each token, from {"content": [{"top_logprobs": [{"token": t, "logprob": x}]}]} (chat).

    That of the reply comes first. Tokens with the same text, which servers can give, are added up. Empty if a part
    cannot be read.

    >>> listed = [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": -2.5}]
    >>> read_alternatives({"content": [{"token": "No", "logprob": -2.5, "top_logprobs": listed}]})
    ({'No': -2.5, 'Yes': -0.1},)
    """
    tokens: Any = found.get("content")
    if not isinstance(tokens, list):
        return ()
    steps: list[Mapping[str, float]] = []
    for token in map(json_object, cast("list[Any]", tokens)):
        listed: Any = token.get("top_logprobs")
        step: dict[str, float] = {}
        for one in cast("list[Any]", listed) if isinstance(listed, list) else ():
            entry = json_object(one)
            text, value = entry.get("token"), _logprob(entry.get("logprob"))
            if not isinstance(text, str) or value is None:
                return ()
            step[text] = value if text not in step else _added(step[text], value)
        if not step:
            return ()
        said, value = token.get("token"), _logprob(token.get("logprob"))
        first = {said: step.get(said, value)} if isinstance(said, str) and value is not None else {}
        steps.append({**first, **step})
    return tuple(steps)


def _logprob(value: Any) -> float | None:
    """The logarithm of a probability; None for anything else."""
    number = json_number(value)
    return None if number is None or number > _ROUNDING else min(number, 0.0)


def _added(one: float, other: float) -> float:
    return max(one, other) + log1p(exp(-abs(one - other)))
