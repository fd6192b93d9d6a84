"""A model by its name: where it runs, and the wrappers that every use of it should have.

From the outside in: fields of ``VOUCH_EXTRA``, cache, limit, spans, deadline, retries, server. So an answer that is
known takes no place in line, time in line does not count against the deadline, and a span has the time of all attempts.
Models in this process batch calls themselves and cannot be out of reach: they get no limit and no retries.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from vouching.errors import ConfigError
from vouching.models.base import Model
from vouching.models.record import MAX_BYTES, Cached
from vouching.models.wrappers import Deadline, Limited, Retrying, Traced, WithFields, read_fields

OPENAI = "https://api.openai.com/v1"
FORMS = (
    "http://host:8000/v1#name (on an OpenAI-compatible server), openai/name, local:/path (transformers, in this "
    "process) and vllm:/path"
)
"""What a model's name can look like; ``docs/models.md`` has more."""


def is_model(name: str) -> bool:
    """Whether a name looks like that of a language model; see ``FORMS``.

    >>> is_model("http://localhost:8000/v1#qwen"), is_model("embedded:rules")
    (True, False)
    """
    return name.startswith(("http://", "https://", "openai/", "local:", "vllm:"))


def open_model(
    spec: str | None = None,
    *,
    api_key: str | None = None,
    at_once: int = 64,
    attempts: int = 5,
    deadline: float = 600.0,
    cache: str | Path | None = None,
) -> Model:
    """A language model, ready to use.

    Args:
        spec: which one; None takes ``VOUCH_MODEL``. See ``FORMS``.
        api_key: key of the server; None takes ``VOUCH_API_KEY``, and for ``openai/name`` also ``OPENAI_API_KEY``.
        at_once: calls to a server under way at the same time.
        attempts: calls in all where a server is unavailable.
        deadline: seconds that a call may take, its retries together.
        cache: file of known answers; None takes ``VOUCH_CACHE``, "" has none.

    Raises:
        ConfigError: a name of no known form, or a setting out of its range.
        MissingExtraError: what the model runs on is not installed.

    >>> open_model("http://localhost:8000/v1#qwen").name
    'http://localhost:8000/v1#qwen'
    >>> open_model("qwen")
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: no model is called 'qwen'; names look like http://host:8000/v1#name (on an ...
    """
    spec = spec or os.environ.get("VOUCH_MODEL", "")
    kind, _, rest = spec.partition(":")
    weights = ""
    if kind in {"local", "vllm"} and rest.partition("#")[0]:
        weights = weights_in(rest.split("#", 1))
        model = Deadline(_in_process(kind, rest), deadline)
        traced = Traced(model, "vllm" if kind == "vllm" else "transformers")
    else:
        server = _on_server(spec, api_key or os.environ.get("VOUCH_API_KEY"))
        traced = Limited(Traced(Deadline(Retrying(server, attempts), deadline), "openai"), at_once)
    path = os.environ.get("VOUCH_CACHE", "") if cache is None else cache
    cached = Cached(traced, path, weights, _cache_bytes()) if path else traced
    fields = read_fields(os.environ.get("VOUCH_EXTRA", ""))
    return WithFields(cached, fields) if fields else cached


def weights_in(folders: Sequence[str]) -> str:
    """A digest of where the files of some folders are, how large and when written; what is no folder has none.

    A run that goes on writes other weights into the same folder, and "local:model" is another one elsewhere.
    """
    files = [path for folder in folders for path in sorted(Path(folder).resolve().glob("*")) if path.is_file()]
    told = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(told).encode()).hexdigest() if told else ""


def _cache_bytes() -> int:
    megabytes = os.environ.get("VOUCH_CACHE_MB", "").strip()
    if not megabytes:
        return MAX_BYTES
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


def _on_server(spec: str, api_key: str | None) -> Model:
    from vouching.models.http import HttpModel

    if (found := re.fullmatch(r"openai/(\S+)", spec)) is not None:
        # This key goes to no other server than the one that the caller means by "openai".
        key = api_key or os.environ.get("OPENAI_API_KEY")
        return HttpModel(os.environ.get("VOUCH_BASE_URL") or OPENAI, found[1], api_key=key)
    if (found := re.fullmatch(r"(https?://[^#\s]+?)(/chat/completions|/completions)?/?#(\S+)", spec)) is not None:
        return HttpModel(found[1], found[3], api_key=api_key, endpoint="text" if found[2] == "/completions" else "chat")
    if re.fullmatch(r"https?://[^#\s]+#?", spec):
        raise ConfigError(f"{spec} names a server but no model: add it after a #, as in {spec.rstrip('#')}#name")
    raise ConfigError(f"no model is called {spec!r}; names look like {FORMS}")
