"""Models by their names, and what the environment says."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_server import FaultServer, of_json, says
from vouching.errors import ConfigError, MissingExtraError
from vouching.models import Message, Sampling, ScriptedModel
from vouching.models.cache import Cached
from vouching.models.open import OPENAI, open_model, weights_in

ASK = (Message("user", "Is it?"),)
VARIABLES = (
    "VOUCH_MODEL",
    "VOUCH_BASE_URL",
    "VOUCH_API_KEY",
    "VOUCH_CACHE",
    "VOUCH_CACHE_MB",
    "VOUCH_EXTRA",
    "OPENAI_API_KEY",
)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_names_of_models_on_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_model("http://host:8000/v1#org/name").name == "http://host:8000/v1#org/name"
    assert open_model("https://host/v1/chat/completions#name").name == "https://host/v1#name"
    assert open_model("openai/gpt").name == f"{OPENAI}#gpt"
    monkeypatch.setenv("VOUCH_BASE_URL", "http://host/v1")
    assert open_model("openai/org/name").name == "http://host/v1#org/name"
    monkeypatch.setenv("VOUCH_MODEL", "http://other/v1#name")
    assert open_model().name == "http://other/v1#name"


@pytest.mark.parametrize(
    "spec", ["", "qwen", "http://host/v1#a b", "openai/", "openai", "local:", "vllm:#a", "ftp://h/v1#n"]
)
def test_any_other_name_is_refused_with_the_forms_that_there_are(spec: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_model(spec)
    for form in ("http://host:8000/v1#name", "openai/name", "local:/path", "vllm:/path"):
        assert form in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["http://host/v1", "https://host/v1#"])
def test_a_server_without_a_model_is_told_where_its_name_goes(spec: str) -> None:
    with pytest.raises(
        ConfigError,
        match=r"names a server but no model: add the name of the model after a #, as in https?://host/v1#name",
    ):
        open_model(spec)


def sent_key(spec: str, **settings: str) -> str | None:
    """The key that a model by this name sends to a server at {url}."""

    async def main() -> str | None:
        async with FaultServer([says("Yes.")]) as server:
            model = open_model(spec.replace("{url}", server.url), **settings)
            await model.generate(ASK, Sampling())
            await model.aclose()
            return server.requests[0].headers.get("authorization")

    return asyncio.run(main())


def test_the_key_of_one_server_is_not_sent_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "for-openai")
    assert sent_key("{url}#m") is None
    monkeypatch.setenv("VOUCH_API_KEY", "for-any")
    assert sent_key("{url}#m") == "Bearer for-any"
    assert sent_key("{url}#m", api_key="given") == "Bearer given"


def test_the_server_that_openai_stands_for_gets_the_key_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> str:
        async with FaultServer([says("Yes.")]) as server:
            monkeypatch.setenv("VOUCH_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "for-openai")
            await open_model("openai/m").generate(ASK, Sampling())
            return server.requests[0].headers["authorization"]

    assert asyncio.run(main()) == "Bearer for-openai"


def test_what_the_environment_has_for_openai_goes_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "for-openai")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "for-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "for-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "for-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: for-openai\nX-Key: for-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://for-openai.invalid/v1")

    async def main() -> dict[str, str]:
        async with FaultServer([says("Yes.")]) as server:
            model = open_model(f"{server.url}#m")
            await model.generate(ASK, Sampling())
            await model.aclose()
            return server.requests[0].headers

    assert not any("for-openai" in value for value in asyncio.run(main()).values())


def test_an_opened_model_tries_again_and_asks_a_text_endpoint_by_its_address() -> None:
    async def main() -> tuple[str, list[str]]:
        async with FaultServer([of_json({}, status=503), of_json({"choices": [{"text": "Yes."}]})]) as server:
            model = open_model(f"{server.url}/completions#m")
            [said] = await model.generate(ASK, Sampling())
            await model.aclose()
            return said.text, [request.path for request in server.requests]

    assert asyncio.run(main()) == ("Yes.", ["/v1/completions", "/v1/completions"])


@pytest.mark.parametrize(("cache", "requests"), [(None, 1), ("", 2)])
def test_the_cache_is_the_one_of_the_environment_unless_there_shall_be_none(
    cache: str | None, requests: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOUCH_CACHE", str(tmp_path / "answers.sqlite"))

    async def main() -> int:
        async with FaultServer([says("Yes.")]) as server:
            model = open_model(f"{server.url}#m", cache=cache)
            for _ in range(2):
                await model.generate(ASK, Sampling())
            await model.aclose()
            return len(server.requests)

    assert asyncio.run(main()) == requests


@pytest.mark.parametrize("size", ["0", "-1", "1.5", "much"])
def test_a_size_of_the_cache_that_is_none_is_refused(
    size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOUCH_CACHE_MB", size)
    with pytest.raises(ConfigError, match="VOUCH_CACHE_MB must be a whole number"):
        open_model("http://localhost:8000/v1#m", cache=tmp_path / "answers.sqlite")


def test_the_size_of_the_cache_is_the_one_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answers.sqlite"
    monkeypatch.setenv("VOUCH_CACHE_MB", "1")

    async def main() -> None:
        async with FaultServer([says("word " * 60_000)]) as server:  # 300,000 bytes
            model = open_model(f"{server.url}#m", cache=path)
            for seed in range(8):
                await model.generate(ASK, Sampling(seed=seed))
            await model.aclose()

    asyncio.run(main())
    assert 600_000 < path.stat().st_size < 1.4 * (1 << 20)


def test_weights_are_told_from_others_in_the_same_folder_and_from_those_of_the_same_name_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("a", "b"):
        (tmp_path / place / "model").mkdir(parents=True)
        (tmp_path / place / "model" / "model.safetensors").write_bytes(b"weights")
    monkeypatch.chdir(tmp_path / "a")
    before = weights_in(["model"])
    assert weights_in([str(tmp_path / "a" / "model")]) == before
    (tmp_path / "a" / "model" / "model.safetensors").write_bytes(b"weights, trained on")
    monkeypatch.chdir(tmp_path / "b")
    elsewhere = weights_in(["model"])
    assert len({before, weights_in([str(tmp_path / "a" / "model")]), elsewhere}) == 3
    assert weights_in(["Qwen/Qwen3-4B"]) == ""  # of a hub

    async def asked(weights: str) -> str:
        model = Cached(ScriptedModel([weights]), tmp_path / "answers.sqlite", weights)
        said = await model.generate(ASK, Sampling())
        await model.aclose()
        return said[0].text

    assert [asyncio.run(asked(weights)) for weights in (before, elsewhere, before)] == [before, elsewhere, before]


def test_vllm_is_pinned_as_the_page_says_and_not_part_of_all() -> None:
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras["vllm"] == ["vllm>=0.28,<0.29"]
    assert "vllm" not in extras["all"][0]
    page = (root / "docs/models.md").read_text(encoding="utf-8")
    words = " ".join(page.split())
    assert "the extra `vllm` (vLLM 0.28, the version for torch 2.13), which is not part of the extra `all`" in words


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed")
def test_vllm_is_missed_by_the_name_of_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"vouching\[vllm\]"):
        open_model("vllm:/models/none")


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_torch_is_missed_by_the_name_of_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"vouching\[train\]"):
        open_model("local:/models/none")


def test_fields_of_the_environment_go_with_every_request_and_into_the_key_of_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def main() -> list[Any]:
        async with FaultServer([says("Yes.")] * 3) as server:
            for effort in ("low", "high", "low"):  # the third is known
                monkeypatch.setenv("VOUCH_EXTRA", json.dumps({"reasoning_effort": effort, "temperature": None}))
                model = open_model(f"{server.url}#m", cache=tmp_path / "answers.db")
                await model.generate(ASK, Sampling())
                await model.aclose()
            return [(request.body["reasoning_effort"], "temperature" in request.body) for request in server.requests]

    assert asyncio.run(main()) == [("low", False), ("high", False)]


@pytest.mark.parametrize("text", ["low", "[1]", '"low"', "{"])
def test_fields_that_are_no_object_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCH_EXTRA", text)
    with pytest.raises(ConfigError, match="VOUCH_EXTRA must be a JSON object"):
        open_model("http://localhost:8000/v1#m")
