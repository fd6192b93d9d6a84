"""Log-probabilities in the answers of OpenAI-compatible servers."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, isfinite, log
from typing import Any, cast


def read_logprobs(found: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Those of the tokens, from {"content": [{"logprob": x}]} (chat) or {"token_logprobs": [x]} (text).

    None if there are none, or one is not a finite number.

    >>> read_logprobs({"content": [{"logprob": -0.5}]}), read_logprobs({"token_logprobs": [None]})
    ((-0.5,), None)
    """
    tokens: Any = found.get("content") or found.get("token_logprobs")
    if not isinstance(tokens, list):
        return None
    values: list[float] = []
    for one in cast("list[Any]", tokens):
        value: Any = cast("dict[str, Any]", one).get("logprob") if isinstance(one, dict) else one
        if not isinstance(value, int | float) or not isfinite(value):
            return None
        values.append(float(value))
    return tuple(values) or None


def read_alternatives(found: Mapping[str, Any]) -> tuple[Mapping[str, float], ...]:
    """The likeliest texts of each token, from {"content": [{"top_logprobs": [{"token": t, "logprob": x}]}]} (chat).

    Tokens with the same text, which servers can give, are added up. Empty if a part cannot be read.

    >>> token = {"logprob": -0.1, "top_logprobs": [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": -2.5}]}
    >>> read_alternatives({"content": [token]})
    ({'Yes': -0.1, 'No': -2.5},)
    """
    tokens: Any = found.get("content")
    if not isinstance(tokens, list):
        return ()
    steps: list[Mapping[str, float]] = []
    for token in cast("list[Any]", tokens):
        listed: Any = cast("dict[str, Any]", token).get("top_logprobs") if isinstance(token, dict) else None
        step: dict[str, float] = {}
        for one in cast("list[Any]", listed) if isinstance(listed, list) else ():
            entry = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
            text, value = entry.get("token"), entry.get("logprob")
            if not isinstance(text, str) or not isinstance(value, int | float) or not isfinite(value):
                return ()
            step[text] = float(value) if text not in step else log(exp(step[text]) + exp(value))
        if not step:
            return ()
        steps.append(step)
    return tuple(steps)
