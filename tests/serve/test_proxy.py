"""The guard proxy between the real client of OpenAI and a server on a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from typer.testing import CliRunner

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.cli.chat_server import chat_server
from tests.serve.upstream import Upstream, proxy_before, upstream_server
from vouching.cli.app import app_for
from vouching.errors import ConfigError
from vouching.serve.listening import open_socket
from vouching.serve.policy import Policy
from vouching.serve.proxy import build_proxy
from vouching.serve.proxy_settings import ProxySettings

DOCUMENTS = {"documents": [{"doc_id": "bridge.txt", "text": "The bridge opened in 1973. It has two towers."}]}
ASKED: list[Any] = [{"role": "user", "content": "When did it open?"}]
WRONG, RIGHT = "The bridge opened in 1937.", "The bridge opened in 1973."


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with upstream_server() as server:
        yield server


def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="secret", max_retries=0)


def chat(url: str, **settings: Any) -> Any:
    return client(url).chat.completions.create(
        **{"model": "tiny", "messages": ASKED, "extra_body": DOCUMENTS, **settings}
    )


def streamed(url: str, **settings: Any) -> tuple[str, Any, list[Any]]:
    """The text, the verdict and the finish reasons of a stream."""
    chunks = [*chat(url, stream=True, **settings)]
    choices = [choice for chunk in chunks for choice in chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    verdicts = [chunk.model_extra["vouch"] for chunk in chunks if "vouch" in (chunk.model_extra or {})]
    return text, verdicts[-1] if verdicts else None, [c.finish_reason for c in choices if c.finish_reason]


@pytest.mark.parametrize(
    ("action", "text", "finish", "done"),
    [
        ("annotate", WRONG, "stop", "none"),
        ("repair", RIGHT, "stop", "repaired"),
        ("block", "No.", "content_filter", "blocked"),
    ],
)
def test_an_answer_is_annotated_repaired_or_blocked(
    upstream: Upstream, action: Any, text: str, finish: str, done: str
) -> None:
    with proxy_before(upstream.url, action=action, blocked_text="No.") as url:
        answer = chat(url)
        assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (text, finish)
        assert (answer.vouch["outcome"], answer.vouch["action"]) == ("failed", done)
        [finding] = answer.vouch["answers"][0]["findings"]
        assert finding["evidence_alignment"][-1]["source_span"]["source_id"] == "bridge.txt"
        upstream.says = RIGHT
        right = chat(url)
    assert (right.choices[0].message.content, right.vouch["outcome"]) == (RIGHT, "passed")


def test_the_request_reaches_the_server_as_it_was_but_for_the_documents(upstream: Upstream) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "When?"}, image]}]
    with proxy_before(upstream.url) as url:
        chat(url, messages=messages, temperature=0.3, user="u")
    [(path, headers, body)] = upstream.asked
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer secret"
    assert body == {"model": "tiny", "messages": messages, "temperature": 0.3, "user": "u"}
    with proxy_before(upstream.url, forward_documents=True) as url:
        chat(url)
    assert upstream.asked[-1][2]["documents"] == DOCUMENTS["documents"]


def test_which_messages_count_as_documents_is_policy(upstream: Upstream) -> None:
    said = [{"role": role, "content": RIGHT} for role in ("system", "user")]
    for documents, outcome in ((("system",), "failed"), (("user",), "failed"), (("tool",), "unchecked")):
        with proxy_before(upstream.url, documents=documents) as url:
            assert chat(url, messages=said, extra_body={}).vouch["outcome"] == outcome
    with proxy_before(upstream.url, undocumented="block", blocked_text="No.") as url:
        assert chat(url, extra_body={}).choices[0].message.content == "No."


@pytest.mark.parametrize("stream", [False, True])
def test_what_was_taken_as_a_document_is_in_the_header_and_the_log(
    upstream: Upstream, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    rules = {"role": "system", "content": "You are a helpful assistant. Answer only from the context."}
    asked = {"role": "user", "content": f"Context: {RIGHT}\n\nQuestion: When did it open?"}
    caplog.set_level("INFO", "vouching.serve")
    with proxy_before(upstream.url) as url:
        for messages, more, named in (
            ([rules, asked], {}, "context"),
            ([rules, *ASKED], DOCUMENTS, "bridge.txt"),
            ([rules, *ASKED], {}, "none"),
            ([rules, *ASKED], {}, "none"),
        ):
            body = {"messages": messages, "stream": stream, **more}
            answered = httpx2.post(f"{url}/chat/completions", json=body, timeout=60)
            assert answered.headers.get_list("x-vouch-documents") == [named]
            assert ('"unchecked"' in answered.text) == (named == "none")
    assert [one.getMessage().startswith("a request has no documents") for one in caplog.records] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_an_answer_that_could_not_be_judged_passes_or_is_blocked_by_policy(upstream: Upstream) -> None:
    for judge in ("who knows", 503):
        with chat_server(lambda prompt, judge=judge: judge) as name:
            for unverified, text in (("pass", WRONG), ("block", "No.")):
                with proxy_before(upstream.url, model=name, unverified=unverified, blocked_text="No.") as url:
                    answer = chat(url)
                assert (answer.choices[0].message.content, answer.vouch["outcome"]) == (text, "unverified")


def test_an_answer_that_abstains_passes_with_its_abstention_or_is_blocked_by_policy(upstream: Upstream) -> None:
    upstream.says = "The text does not mention the fare."
    for abstained, text in (("pass", upstream.says), ("block", "No.")):
        with proxy_before(upstream.url, abstained=abstained, blocked_text="No.") as url:
            answer = chat(url)
        assert (answer.choices[0].message.content, answer.vouch["outcome"]) == (text, "unchecked")
        assert answer.vouch["answers"][0]["abstained"] == ["The text does not mention the fare."]


@pytest.mark.parametrize("says", ["Did you know that it opened in 1937?", "I love bridges!", "Hello!"])
def test_an_answer_without_a_claim_passes_or_is_blocked_by_policy(upstream: Upstream, says: str) -> None:
    upstream.says = says
    for unclaimed, text in (("pass", says), ("block", "No.")):
        with proxy_before(upstream.url, action="block", unclaimed=unclaimed, blocked_text="No.") as url:
            answer = chat(url)
        assert (answer.choices[0].message.content, answer.vouch["outcome"]) == (text, "unchecked")


@pytest.mark.parametrize("bad", [f"# {WRONG[:-1]}", f"| {WRONG[:-1]} | Towers |\n|---|---|\n| North | two |"])
def test_a_wrong_sentence_in_a_heading_is_blocked(upstream: Upstream, bad: str) -> None:
    upstream.says = f"{bad}\n\n{RIGHT}"
    with proxy_before(upstream.url, action="block", blocked_text="No.") as url:
        assert chat(url).choices[0].message.content == "No."


def test_a_repair_that_leaves_nothing_is_a_blocked_answer(upstream: Upstream) -> None:
    upstream.says = "Every museum in Berlin is closed."
    with proxy_before(upstream.url, action="repair", rest="remove", blocked_text="No.") as url:
        answer = chat(url)
    assert (answer.choices[0].message.content, answer.vouch["action"]) == ("No.", "blocked")


def test_tool_calls_and_other_paths_pass_unchanged(upstream: Upstream) -> None:
    call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    upstream.tool_calls = [call]
    with proxy_before(upstream.url, action="block") as url:
        answer = chat(url)
        assert answer.choices[0].message.tool_calls[0].model_dump() == call
        assert [model.id for model in client(url).models.list()] == ["tiny"]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_errors_of_the_server_pass_unchanged(upstream: Upstream, status: int) -> None:
    upstream.status = status
    with proxy_before(upstream.url, action="block") as url:
        answered = httpx2.post(f"{url}/chat/completions", json={"model": "tiny", "messages": ASKED, **DOCUMENTS})
        direct = httpx2.post(f"{upstream.url}/chat/completions", json={"model": "tiny", "messages": ASKED})
        assert (answered.status_code, answered.content) == (status, direct.content)
        assert (answered.headers["retry-after"], answered.headers["x-upstream"]) == ("7", "yes")
        with pytest.raises(openai.APIStatusError) as raised:
            chat(url, stream=True)
    assert raised.value.status_code == status


def test_the_faults_of_servers_and_callers_give_errors_that_say_what_is_wrong(upstream: Upstream) -> None:
    with (
        proxy_before("http://127.0.0.1:9/v1") as url,
        pytest.raises(openai.APIStatusError, match="cannot be reached") as raised,
    ):
        chat(url)
    assert raised.value.status_code == 502
    upstream.raw = b"<html>"
    with proxy_before(upstream.url) as url:
        answered = httpx2.post(f"{url}/chat/completions", json={"messages": ASKED, **DOCUMENTS})
        assert (answered.content, answered.headers["x-vouch-outcome"]) == (b"<html>", "unchecked")
        wrong = httpx2.post(f"{url}/chat/completions", json={"messages": ASKED, "documents": [{"txt": "a"}]})
        assert wrong.status_code == 400
        assert "the documents of the request cannot be read" in wrong.json()["error"]["message"]
        for body in (b"", b"[]", b"{", b"\xff"):  # for the server to refuse
            assert httpx2.post(f"{url}/chat/completions", content=body).content == b"<html>"
    with proxy_before(upstream.url, unverified="block") as url:
        assert httpx2.post(f"{url}/chat/completions", json={"messages": ASKED, **DOCUMENTS}).status_code == 502


def test_a_stream_passes_through_and_ends_with_the_verdict(upstream: Upstream) -> None:
    with proxy_before(upstream.url, action="block") as url:
        text, verdict, finish = streamed(url)
        assert (text, finish) == (WRONG, ["stop"])
        assert (verdict["outcome"], verdict["action"]) == ("failed", "none")
        upstream.says = RIGHT
        assert streamed(url)[1]["outcome"] == "passed"


def test_a_held_stream_gives_out_only_what_was_checked(upstream: Upstream) -> None:
    upstream.says = f"The bridge has two towers. {WRONG} The bridge has two towers."
    with proxy_before(upstream.url, stream="held", action="repair") as url:
        text, verdict, finish = streamed(url)
    assert (text, finish) == (upstream.says.replace("1937", "1973"), ["stop"])
    assert [answer["outcome"] for answer in verdict["answers"]] == ["passed", "failed", "passed"]
    with proxy_before(upstream.url, stream="held", action="block", blocked_text="No.") as url:
        text, verdict, finish = streamed(url)
    assert (text, finish) == ("The bridge has two towers. No.", ["content_filter"])
    assert verdict["action"] == "blocked"


@pytest.mark.parametrize("stream", ["after", "held"])
def test_a_stream_that_breaks_off_is_not_verified_and_not_complete(upstream: Upstream, stream: str) -> None:
    upstream.broken = True
    with proxy_before(upstream.url, stream=stream) as url:
        raw = httpx2.post(f"{url}/chat/completions", json={"messages": ASKED, "stream": True, **DOCUMENTS}).text
    assert "[DONE]" not in raw
    assert json.loads(raw.strip().split("\n\n")[-1].removeprefix("data: "))["vouch"]["outcome"] == "unverified"


@pytest.mark.parametrize("stream", ["after", "held"])
def test_a_server_that_sends_no_last_event_is_understood(upstream: Upstream, stream: str) -> None:
    upstream.sends_done = False  # as transformers serve
    with proxy_before(upstream.url, stream=stream) as url:
        text, verdict, finish = streamed(url)
    assert (text, verdict["outcome"], finish) == (WRONG, "failed", ["stop"])


def test_many_async_callers_get_their_own_answers(upstream: Upstream) -> None:
    async def ask(url: str, stream: bool) -> str:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as caller:
            made: Any = await caller.chat.completions.create(
                model="tiny", messages=ASKED, extra_body=DOCUMENTS, stream=stream
            )
            if not stream:
                return made.vouch["outcome"]
            return [chunk.model_extra["vouch"]["outcome"] async for chunk in made if not chunk.choices][-1]

    async def all_of(url: str) -> list[str]:
        return await asyncio.gather(*(ask(url, bool(number % 2)) for number in range(8)))

    with proxy_before(upstream.url) as url:
        assert asyncio.run(all_of(url)) == ["failed"] * 8


@pytest.mark.parametrize("stream", ["after", "held"])
def test_responses_are_guarded_whole_and_streamed(upstream: Upstream, stream: str) -> None:
    asked: dict[str, Any] = {"model": "tiny", "input": "When?", "instructions": RIGHT}
    with proxy_before(upstream.url, action="repair", stream=stream) as url:
        whole = client(url).responses.create(**asked)
        assert whole.output_text == RIGHT
        assert (whole.model_extra or {})["vouch"]["action"] == "repaired"
        events: list[Any] = [*client(url).responses.create(**asked, stream=True)]
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    final = next(event.response for event in events if event.type == "response.completed")
    assert (text, final.output_text) == ((WRONG, WRONG) if stream == "after" else (RIGHT, RIGHT))
    assert events[-1].type == "vouch.verdict"
    assert events[-1].vouch["outcome"] == "failed"


@pytest.mark.parametrize("stream", [False, True])
def test_headers_that_are_there_twice_stay_so_and_no_server_speaks_for_the_proxy(
    upstream: Upstream, stream: bool
) -> None:
    upstream.more = [("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-vouch-outcome", "passed")]
    twice = [("x-tag", "one"), ("x-tag", "two"), ("authorization", "Bearer secret")]
    with proxy_before(upstream.url) as url:
        body = {"messages": ASKED, "stream": stream, **DOCUMENTS}
        answered = httpx2.post(f"{url}/chat/completions", json=body, headers=twice, timeout=60)
        listed = httpx2.get(f"{url}/models", headers=twice)
    assert upstream.asked[0][1]["x-tag"] == "one, two"
    assert answered.headers.get_list("set-cookie") == listed.headers.get_list("set-cookie") == ["a=1", "b=2"]
    if not stream:
        assert answered.headers.get_list("x-vouch-outcome") == ["failed"]


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "/v1//chat/completions", "//v1/chat//completions/"])
def test_no_spelling_of_a_path_goes_unchecked(upstream: Upstream, path: str) -> None:
    with proxy_before(upstream.url, action="block") as url:
        answered = httpx2.post(url.removesuffix("/v1") + path, json={"messages": ASKED, **DOCUMENTS}, timeout=60)
    assert answered.json()["vouch"]["action"] == "blocked"
    assert upstream.asked[0][0] == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/chat/completions", 404, "below /v1/"),
        ("/v1", 404, "below /v1/"),
        ("/v1@169.254.169.254/latest", 404, "below /v1/"),
        ("/v1/%2e%2e/admin", 400, "segments"),
        ("/v1/x/..%2fchat/completions", 400, "segments"),
        ("/v1/x/..%5Cchat/completions", 400, "segments"),
    ],
)
def test_paths_that_leave_the_upstream_server_are_refused(
    upstream: Upstream, path: str, status: int, words: str
) -> None:
    host, port = "127.0.0.1", int(upstream.url.split(":")[2].split("/")[0])
    with (
        proxy_before(f"http://{host}:{port}/v1", action="block") as url,
        socket.create_connection((host, int(url.split(":")[2].split("/")[0]))) as raw,
    ):  # a client of HTTP would tidy the path
        body = json.dumps({"messages": ASKED, **DOCUMENTS}).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        raw.sendall(head.encode() + body)
        answered = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
    assert answered.startswith(f"HTTP/1.1 {status} ")
    assert words in answered
    assert upstream.asked == []


def test_compressed_bodies_and_pages_of_other_origins_are_refused(upstream: Upstream) -> None:
    body = json.dumps({"messages": ASKED, **DOCUMENTS}).encode()
    with proxy_before(upstream.url, action="block") as url:
        packed = httpx2.post(
            f"{url}/chat/completions", content=gzip.compress(body), headers={"content-encoding": "gzip"}
        )
        foreign = httpx2.post(f"{url}/chat/completions", content=body, headers={"origin": "https://example.org"})
    assert (packed.status_code, foreign.status_code) == (415, 403)
    assert upstream.asked == []


def test_an_answer_in_parts_is_checked(upstream: Upstream) -> None:
    parts = [{"type": "text", "text": WRONG}, {"type": "text", "text": RIGHT}]
    upstream.raw = json.dumps({"choices": [{"message": {"role": "assistant", "content": parts}}]}).encode()
    with proxy_before(upstream.url, action="block") as url:
        answered = httpx2.post(f"{url}/chat/completions", json={"messages": ASKED, **DOCUMENTS}, timeout=60).json()
    said = [part["text"] for part in answered["choices"][0]["message"]["content"]]
    assert (said[1], answered["vouch"]["action"]) == (RIGHT, "blocked")
    assert WRONG not in said


def test_a_body_that_is_too_large_is_refused(upstream: Upstream) -> None:
    with proxy_before(upstream.url) as url:
        assert httpx2.post(f"{url}/chat/completions", content=b" " * 100_001).status_code == 413
    assert upstream.asked == []


def test_wrong_settings_are_refused_before_anything_is_served() -> None:
    for settings, words in (
        ({"upstream": "localhost"}, "upstream must be a URL"),
        ({"documents": ("assistant",)}, "documents must be of"),
        ({"check_seconds": 0.0}, "must be above 0"),
    ):
        with pytest.raises(ConfigError, match=words):
            ProxySettings(**settings)
    with pytest.raises(ConfigError, match="no upstream server"):
        build_proxy(Policy())
    with pytest.raises(ConfigError, match=r"proxy\.judge is 'strict', expected one of default"):
        Policy(proxy=ProxySettings(judge="strict"))


def test_a_policy_says_what_it_lets_through() -> None:
    undocumented, unclaimed, stream = ProxySettings(action="block").gaps
    assert 'if user messages hold the documents, add "user"' in undocumented
    assert 'unclaimed = "block"' in unclaimed
    assert 'stream = "held"' in stream
    assert "user messages" not in ProxySettings(action="block", documents=("user",)).gaps[0]
    assert ProxySettings(action="repair").gaps == (stream,)
    strict = ProxySettings(action="block", undocumented="block", unclaimed="block", stream="held")
    assert strict.gaps == ProxySettings().gaps == ()


def test_the_command_serves_the_policy_of_a_file(upstream: Upstream, tmp_path: Path) -> None:
    file = tmp_path / "vouch.toml"
    file.write_text(
        f'[judges.default]\nmodel = "embedded:rules"\n[proxy]\nupstream = "{upstream.url}"\naction = "repair"\n'
    )
    main = "import sys; sys.argv[0] = 'vouch'; from vouching.cli.app import main; sys.exit(main())"
    command = [sys.executable, "-c", main, "proxy", "--config", str(file), "--address", "127.0.0.1:0"]
    command += ["--documents", "user", "--documents", "documents", "--undocumented", "block"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        found = re.search(r"proxy at (\S+)", started.stderr.readline())
        assert found
        try:
            assert chat(f"{found[1]}/v1").choices[0].message.content == RIGHT
            context = [{"role": "user", "content": "The bridge opened in 1973."}, *ASKED]
            asked = chat(f"{found[1]}/v1", messages=context, extra_body={})
            assert asked.choices[0].message.content == RIGHT
        finally:
            started.terminate()


def test_a_policy_file_is_checked_and_has_a_schema(tmp_path: Path) -> None:
    file = tmp_path / "vouch.toml"
    for text, status, words in (
        ('[proxy]\nupstream = "http://localhost:1/v1"\n', 0, "valid"),
        ('[proxy]\nactoin = "block"\n', 2, "unknown setting 'proxy.actoin'; did you mean 'proxy.action'?"),
        ('[proxy]\njudge = "strict"\n', 2, "proxy.judge is 'strict'"),
        ('[judges.default]\nmodel = "nothing"\n', 2, "nothing"),
    ):
        file.write_text(text, encoding="utf-8")
        done = CliRunner().invoke(app_for("policy"), ["policy", "check", str(file)])
        assert done.exit_code == status, done.output
        assert words in done.output
    schema = json.loads(CliRunner().invoke(app_for("policy"), ["policy", "schema"]).output)
    assert schema["$defs"]["ProxySettings"]["properties"]["action"]["enum"] == ["annotate", "repair", "block"]


def test_connections_do_not_wait_to_fill_a_packet() -> None:
    with open_socket("127.0.0.1:0") as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(("action", "text"), [("annotate", RIGHT), ("block", "No.")])
def test_a_request_with_too_many_documents_is_not_read_and_its_answer_is_not_verified(
    upstream: Upstream, action: Any, text: str
) -> None:
    upstream.says = RIGHT
    many = {"documents": [*DOCUMENTS["documents"], *[{"text": "It is a bridge."}] * 1_000]}
    with proxy_before(upstream.url, action=action, blocked_text="No.") as url:
        answer = client(url).chat.completions.with_raw_response.create(model="tiny", messages=ASKED, extra_body=many)
    assert answer.headers["x-vouch-documents"] == "too many"
    said = json.loads(answer.text)
    assert (said["choices"][0]["message"]["content"], said["vouch"]["outcome"]) == (text, "unverified")
    assert said["vouch"]["answers"][0]["message"].startswith("the request has more than 100 sources")
