"""What a server says about itself: the context of its model, and how many calls it works on at once.

llama.cpp says both in ``/props``. Elsewhere the list of models has the context (vLLM, SGLang: ``max_model_len``), and
Ollama has the context of a model that it runs in ``/api/ps``, and what a model is set to in ``/api/show``. Its list of
models has names with a tag, such as m:latest, which requests may omit; it does not say how many calls it works on at
once. Hosted servers say neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from vouching.errors import VouchError
from vouching.models.json_fields import json_count, json_object
from vouching.models.limits import ServerFacts
from vouching.models.transport import Connections

_SECONDS = 10.0
_OLLAMA_CONTEXT = 4096
"""Tokens of a model on Ollama that has no setting of its own."""


async def ask_server(base_url: str, model: str, headers: Mapping[str, str], proxy: str | None) -> ServerFacts:
    """What a server says about itself; a failure counts as nothing.

    Args:
        base_url: its address, including the version.
        model: the name of a model on it.
        headers: with the key.
        proxy: from ``proxy_of``.
    """
    root = re.sub(r"/v\d+$", "", base_url)
    async with Connections(proxy, _SECONDS, headers=headers) as server:
        props = await _answer(server, "GET", f"{root}/props")
        if props:
            settings = json_object(props.get("default_generation_settings"))
            return ServerFacts(json_count(settings.get("n_ctx")), json_count(props.get("total_slots")))
        for one in await _listed(server, base_url):
            if (name := one.get("id")) not in (model, f"{model}:latest"):
                continue
            context = json_count(one.get("max_model_len")) or json_count(
                json_object(one.get("meta")).get("n_ctx_train")
            )
            return ServerFacts(await _of_ollama(server, root, model) if not context and ":" in name else context)
    return ServerFacts()


async def served_names(base_url: str, headers: Mapping[str, str], proxy: str | None) -> tuple[str, ...]:
    """The names in a server's list of models, for messages; empty if it has no such list."""
    async with Connections(proxy, _SECONDS, headers=headers) as server:
        return tuple(name for one in await _listed(server, base_url) if isinstance(name := one.get("id"), str))


async def _listed(server: Connections, base_url: str) -> list[dict[str, Any]]:
    return _objects(await _answer(server, "GET", f"{base_url}/models"), "data")


def _objects(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = answer.get(name)
    return [json_object(one) for one in cast("list[Any]", found)] if isinstance(found, list) else []


async def _of_ollama(server: Connections, root: str, model: str) -> int | None:
    """The context of a model: as it runs, or is set, else the default if the model was trained for as much."""
    for one in _objects(await _answer(server, "GET", f"{root}/api/ps"), "models"):
        if one.get("model") in (model, f"{model}:latest") and (runs := json_count(one.get("context_length"))):
            return runs
    shown = await _answer(server, "POST", f"{root}/api/show", {"model": model})
    if found := re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters", "")), re.MULTILINE):
        return int(found[1])
    trained = [
        json_count(value)
        for key, value in json_object(shown.get("model_info")).items()
        if key.endswith("context_length")
    ]
    return min(_OLLAMA_CONTEXT, *(value for value in trained if value)) if any(trained) else None


async def _answer(server: Connections, method: str, url: str, body: object = None) -> dict[str, Any]:
    try:
        return await server.ask(method, url, url, json=body)
    except VouchError:
        return {}
