"""A model by its name: where it runs, and the wrappers that every use of it should have.

From the outside in: fields of ``VOUCH_EXTRA``, cache, spans, retries, limit, server. So a cached answer does not wait
in line, a span covers all attempts, and waiting in line does not count against the limits of time. Models in this
process batch their calls and are always reachable: they get a deadline, no limit and no retries.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from vouching.errors import ConfigError
from vouching.models.base import Model
from vouching.models.cache import Cached
from vouching.models.limits import CallLimits, TimeLimits
from vouching.models.wrappers import Deadline, Limited, Retrying, Traced, WithFields, read_fields
from vouching.types.visible import hint

OPENAI = "https://api.openai.com/v1"
FORMS = (
    "http://host:8000/v1#name (on an OpenAI-compatible server), openai/name, local:/path (a folder for transformers, "
    "or a .gguf file for llama.cpp, in this process) and vllm:/path"
)
"""The forms of a model's name; see ``docs/judges.md``."""


def is_model(name: str) -> bool:
    """Whether a name has the form of a language model's; see ``FORMS``.

    >>> is_model("http://localhost:8000/v1#qwen"), is_model("embedded:rules")
    (True, False)
    """
    return name.startswith(("http://", "https://", "openai/", "local:", "vllm:"))


def is_in_process(name: str) -> bool:
    """Whether the language model of a name runs in the process that opens it.

    >>> is_in_process("local:/weights"), is_in_process("http://localhost:8000/v1#qwen")
    (True, False)
    """
    return name.startswith(("local:", "vllm:"))


def nearest_name(name: str, others: Sequence[str] = ()) -> str:
    """The end of a message about an unknown model: the name that may be meant, of a language model or of ``others``.

    >>> nearest_name("opnai:gpt-5"), nearest_name("embeded:rule", ["embedded", "embedded:rules"]), nearest_name("qwen")
    ("; did you mean 'openai/gpt-5'?", "; did you mean 'embedded:rules'?", '')
    """
    if re.fullmatch(r"[\w.-]+(:\d+)?/\S*#\S+", name):
        return hint([f"http://{name}"])
    kind, *rest = re.split("[:/]", name, maxsplit=1)
    forms = {"openai": "openai/", "local": "local:", "vllm": "vllm:"}
    forms |= {other: f"{other}:" for other in others if ":" not in other}
    alike = [one for one in others if ":" in one] if rest and rest[0] else others
    near = get_close_matches(name, alike, n=1, cutoff=0.8)
    if rest and rest[0] and not near:
        near = [f"{forms[one]}{rest[0]}" for one in get_close_matches(kind.lower(), forms, n=1, cutoff=0.75)]
    return hint([one for one in near if one != name])


def open_model(
    spec: str | None = None,
    *,
    api_key: str | None = None,
    at_once: int | None = None,
    per_minute: float | None = None,
    attempts: int = 5,
    timeout: float | str | None = None,
    cache: str | Path | None = None,
) -> Model:
    """A language model, ready to use.

    Args:
        spec: its name, see ``FORMS``; None takes ``VOUCH_MODEL``.
        api_key: key of the server; None takes ``VOUCH_API_KEY``, and for ``openai/name`` also ``OPENAI_API_KEY``;
            for a decision model that of its provider.
        at_once: the maximum number of concurrent calls to a server; None takes ``VOUCH_MAX_CALLS``, or 64.
        per_minute: calls to a server in a minute; None takes ``VOUCH_CALLS_PER_MINUTE``, or has no limit.
        attempts: calls in all while a server is unavailable.
        timeout: seconds for a reply, or "connect,first byte,reply"; None takes ``VOUCH_TIMEOUT``, or 600.
        cache: file of cached answers; None takes ``VOUCH_CACHE``, "" has none.

    Raises:
        ConfigError: a name of no known form, or a setting out of range.
        MissingExtraError: the engine of the model is not installed.

    >>> open_model("http://localhost:8000/v1#qwen").name
    'http://localhost:8000/v1#qwen'
    >>> open_model("qwen")
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: unknown model 'qwen'; names look like http://host:8000/v1#name (on an ...
    """
    spec = spec or os.environ.get("VOUCH_MODEL", "")
    kind, _, rest = spec.partition(":")
    time = TimeLimits.given(timeout)
    is_here = kind in {"local", "vllm"} and bool(rest.partition("#")[0])
    weights = weights_in(rest.split("#", 1)) if is_here else ""
    is_gguf = kind == "local" and rest.lower().endswith(".gguf")
    if is_here and not is_gguf:
        model = Deadline(_in_process(kind, rest), time.reply)
        traced = Traced(model, "vllm" if kind == "vllm" else "transformers")
    else:
        server = _of_file(rest, time) if is_gguf else _on_server(spec, api_key, time)
        limits = CallLimits.given()
        limited = Limited(server, limits.at_once if at_once is None else at_once, per_minute or limits.per_minute)
        traced = Traced(Retrying(limited, attempts), "openai")
    path = os.environ.get("VOUCH_CACHE", "") if cache is None else cache
    cached = Cached(traced, path, weights, _cache_bytes()) if path else traced
    fields = read_fields(os.environ.get("VOUCH_EXTRA", ""))
    return WithFields(cached, fields) if fields else cached


def weights_in(folders: Sequence[str]) -> str:
    """A digest of the paths, sizes and times of all files in some folders; empty if there are none.

    A resumed training run writes other weights into the same folder, and "local:model" depends on the working folder.
    A GGUF file is named itself.
    """
    named = [Path(folder).resolve() for folder in folders]
    files = [path for one in named for path in ([one] if one.is_file() else sorted(one.glob("*"))) if path.is_file()]
    listed = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(listed).encode()).hexdigest() if listed else ""


def _cache_bytes() -> int | None:
    megabytes = os.environ.get("VOUCH_CACHE_MB", "").strip()
    if not megabytes:
        return None
    if not (megabytes.isdecimal() and int(megabytes)):
        raise ConfigError(f"VOUCH_CACHE_MB must be a whole number above 0, got {megabytes!r}")
    return int(megabytes) << 20


def _in_process(kind: str, rest: str) -> Model:
    path, _, adapter = rest.partition("#")
    if kind == "local":
        from vouching.models.local import LocalModel

        return LocalModel(path, adapter or None)
    from vouching.models.vllm import VllmModel

    return VllmModel(path, adapter or None)


def _of_file(path: str, time: TimeLimits) -> Model:
    from vouching.models.gguf import GgufModel

    return GgufModel(path, time)


def _on_server(spec: str, api_key: str | None, time: TimeLimits) -> Model:
    from vouching.models.http import HttpModel

    if spec.startswith("decision:"):
        from vouching.models.decisions import DecisionModel

        return DecisionModel(spec, api_key, time)
    api_key = api_key or os.environ.get("VOUCH_API_KEY")
    if (found := re.fullmatch(r"openai/(\S+)", spec)) is not None:
        # This key is sent only to the server that the caller means by "openai".
        key = api_key or os.environ.get("OPENAI_API_KEY")
        return HttpModel(os.environ.get("VOUCH_BASE_URL") or OPENAI, found[1], api_key=key, timeout=time)
    if (found := re.fullmatch(r"(https?://[^#\s]+?)(/chat/completions|/completions)?/?#(\S+)", spec)) is not None:
        endpoint = "text" if found[2] == "/completions" else "chat"
        return HttpModel(found[1], found[3], api_key=api_key, endpoint=endpoint, timeout=time)
    if re.fullmatch(r"https?://[^#\s]+#?", spec):
        raise ConfigError(
            f"{spec} names a server but no model: add the name of the model after a #, as in {spec.rstrip('#')}#name"
        )
    raise ConfigError(f"unknown model {spec!r}; names look like {FORMS}{nearest_name(spec)}")
