"""What goes over the wire and what does not: bodies in pieces and without end, redirects, proxies, certificates."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import ssl
import subprocess
import sys
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest

from tests.models.fault_server import Answer, FaultServer, endless_error, gzip_bomb_error, says
from vouching.errors import (
    ConfigError,
    ModelAnswerError,
    ModelDeadlineError,
    ModelRefusedError,
    ModelUnavailableError,
    VouchError,
)
from vouching.models import Deadline, Message, Sampling
from vouching.models.connections import proxy_of
from vouching.models.http import HttpModel
from vouching.models.limits import TimeLimits
from vouching.models.transport import MAX_ANSWER

ASK = (Message("user", "Is it?"),)
YES = says("Yes.").body
JSON = {"content-type": "application/json"}


def ask(answer: Answer, **settings: float) -> tuple[str, FaultServer]:
    async def main() -> tuple[str, FaultServer]:
        async with FaultServer([answer]) as server:
            model = HttpModel(server.url, "m", api_key="secret", **settings)
            try:
                return (await model.generate(ASK, Sampling()))[0].text, server
            finally:
                await model.aclose()

    return asyncio.run(main())


def test_a_body_may_come_in_pieces_compressed_or_both() -> None:
    packed = {"content-encoding": "gzip", **JSON}
    for answer in (
        Answer(body=YES, chunks=1, headers=JSON),
        Answer(body=gzip.compress(YES), headers=packed),
        Answer(body=gzip.compress(YES), chunks=7, headers=packed),
    ):
        assert ask(answer)[0] == "Yes."


def test_a_body_that_drips_is_waited_for_as_long_as_it_drips_and_ended_by_the_deadline() -> None:
    drips = Answer(body=YES, chunks=20, pause=0.05, headers=JSON)  # some eight pieces
    assert ask(drips, timeout=5)[0] == "Yes."
    for timeout in (TimeLimits(10.0, 0.2, 5.0), TimeLimits(10.0, 5.0, 0.2)):  # between two bytes, and for the reply
        with pytest.raises(ModelDeadlineError, match=r"did not answer within 0\.2"):
            ask(Answer(body=YES, chunks=20, pause=5, headers=JSON), timeout=timeout)

    async def main() -> None:
        async with FaultServer([Answer(body=b" " * 10**6, chunks=1, pause=0.01)]) as server:
            model = HttpModel(server.url, "m")
            with pytest.raises(ModelDeadlineError):
                await Deadline(model, 0.3).generate(ASK, Sampling())
            await model.aclose()

    asyncio.run(main())


def test_a_body_that_closes_in_the_middle_of_its_chunks_can_be_tried_again() -> None:
    with pytest.raises(ModelUnavailableError, match="closed connection without sending complete message body"):
        ask(Answer(body=YES, chunks=10, send=30, headers=JSON))


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_without_end_is_given_up(packed: bool) -> None:
    body = b" " * (MAX_ANSWER + 10**6)
    headers = {"content-encoding": "gzip", **JSON} if packed else JSON
    with pytest.raises(ModelAnswerError, match=r"more than 67,108,864 bytes|cannot be read"):
        ask(Answer(body=gzip.compress(body, 1) if packed else body, headers=headers))


@pytest.mark.parametrize(
    ("status", "kind"), [(500, ModelUnavailableError), (413, ModelRefusedError), (404, ConfigError)]
)
def test_an_error_whose_body_does_not_end_is_that_error_and_its_connection_is_closed(
    status: int, kind: type[VouchError]
) -> None:
    async def main() -> None:
        async with FaultServer([endless_error(status)]) as server:
            model = HttpModel(server.url, "m")
            with pytest.raises(kind, match=f"{status}.*: busy busy"):
                await asyncio.wait_for(model.generate(ASK, Sampling()), 30)
            await asyncio.wait_for(server.hung_up.wait(), 30)  # the model is still open
            await model.aclose()

    asyncio.run(main())


@pytest.mark.parametrize(("status", "kind"), [(400, ModelRefusedError), (503, ModelUnavailableError)])
def test_a_compressed_error_of_any_size_is_that_error_and_takes_little_memory(
    status: int, kind: type[VouchError]
) -> None:
    bomb = gzip_bomb_error(status)
    assert len(bomb.body) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(kind, match=f"{status}.*: busy busy"):
            ask(bomb)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_an_error_may_be_compressed_and_is_cut_off_where_it_is_long() -> None:
    told = b'{"error": {"message": "no such luck"}}'
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    bare = packer.compress(told) + packer.flush()
    for encoding, body in (
        ("gzip", gzip.compress(told)),
        ("deflate", zlib.compress(told)),
        ("deflate", bare),
        ("deflate, gzip", gzip.compress(bare)),
        ("unknown", told),
    ):
        with pytest.raises(ModelRefusedError, match=r"422.*: no such luck$"):
            ask(Answer(422, body, {"content-encoding": encoding}))
    with pytest.raises(ModelRefusedError, match=r"422.*: yyy.*\.\.\.$"):
        ask(Answer(422, b"y" * 10**7))


def test_an_error_whose_body_breaks_off_or_does_not_match_its_encoding_stays_what_it_was() -> None:
    with pytest.raises(ModelUnavailableError, match="closed connection without sending complete message body"):
        ask(Answer(400, b"y" * 100, send=50))
    for encoding in ("gzip", "deflate"):
        with pytest.raises(ModelAnswerError, match="cannot be read"):
            ask(Answer(500, b"neither of them", {"content-encoding": encoding}))


def test_the_connection_of_a_short_error_is_kept() -> None:
    async def main() -> FaultServer:
        async with FaultServer([Answer(500, b"busy")]) as server:
            model = HttpModel(server.url, "m")
            for _ in range(3):
                with pytest.raises(ModelUnavailableError):
                    await model.generate(ASK, Sampling())
            await model.aclose()
            return server

    assert asyncio.run(main()).connections == 1


def test_a_redirect_is_not_followed_so_that_the_key_goes_nowhere_else() -> None:
    async def main() -> FaultServer:
        async with FaultServer([says("stolen")]) as other:
            for status in (301, 302, 307, 308):
                moved = Answer(status=status, headers={"location": other.url})
                async with FaultServer([moved]) as server:
                    model = HttpModel(server.url, "m", api_key="secret")
                    with pytest.raises(ConfigError, match="has moved to"):
                        await model.generate(ASK, Sampling())
                    await model.aclose()
            return other

    assert asyncio.run(main()).requests == []


def test_cookies_are_not_kept() -> None:
    async def main() -> FaultServer:
        async with FaultServer([Answer(body=YES, headers={**JSON, "set-cookie": "a=b; path=/"})]) as server:
            model = HttpModel(server.url.replace("127.0.0.1", "localhost"), "m")
            for _ in range(2):
                await model.generate(ASK, Sampling())
            await model.aclose()
            return server

    assert "cookie" not in asyncio.run(main()).requests[1].headers


def test_a_proxy_of_the_environment_is_used_unless_the_host_is_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> list[str]:
        async with FaultServer([says("Yes.")]) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv("NO_PROXY", "")
            model = HttpModel("http://model.invalid/v1", "m")
            await model.generate(ASK, Sampling())
            await model.aclose()
            return [request.path for request in proxy.requests]

    for name in ("http_proxy", "no_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert asyncio.run(main()) == ["http://model.invalid/v1/chat/completions"]
    monkeypatch.setenv("NO_PROXY", "model.invalid")
    assert proxy_of("http://model.invalid/v1") is None
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(ConfigError, match="socks5 proxies"):
        HttpModel("http://other.invalid/v1", "m")


def test_a_certificate_that_nobody_vouches_for_is_no_reason_to_try_again(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    made = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", "req", "-x509", "-days", "1", *made], cwd=tmp_path, check=True, capture_output=True)

    async def main() -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        model = HttpModel(f"https://localhost:{port}/v1", "m")
        try:
            with pytest.raises(ConfigError, match="certificate"):
                await model.generate(ASK, Sampling())
        finally:
            await model.aclose()
            server.close()

    asyncio.run(main())


FORGETFUL = """
import asyncio, gc, sys
from vouching.checker import Checker
from vouching.models import Message, Sampling
from vouching.models.http import HttpModel
from vouching.models.limits import TimeLimits

model = HttpModel(sys.argv[1], "m")
for _ in range(2):
    asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))
gc.collect()
print(len(model._server._opened._held._made))
print(Checker(f"{sys.argv[1]}#m").check("It opened.", "It opened.").kind)
"""


def test_what_nobody_closes_is_closed_with_its_event_loop_and_without_a_word() -> None:
    async def main() -> tuple[bytes, bytes]:
        async with FaultServer([says("Yes.")]) as server:
            command = [sys.executable, "-W", "error", "-c", FORGETFUL, server.url]
            process = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            return await process.communicate()

    told, complaints = asyncio.run(main())
    assert (told.split(), complaints) == ([b"0", b"unverified"], b"")


def test_connections_are_kept_for_the_next_calls() -> None:
    async def main() -> FaultServer:
        async with FaultServer([says("Yes.", delay=0.05)]) as server:
            model = HttpModel(server.url, "m")
            for _ in range(3):
                await asyncio.gather(*(model.generate(ASK, Sampling()) for _ in range(5)))
            await model.aclose()
            return server

    server = asyncio.run(main())
    assert (len(server.requests), server.connections) == (15, 5)


def test_an_answer_of_a_megabyte_comes_back_whole() -> None:
    long = "word " * 200_000
    started = time.monotonic()
    assert ask(Answer(body=json.dumps(json.loads(says(long).body)).encode(), headers=JSON))[0] == long
    assert time.monotonic() - started < 60
