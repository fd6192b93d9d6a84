"""Fetching: what is inside stays unreachable whatever an address looks like, and no page is too much to take."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import subprocess
import tracemalloc
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.fault_server import FOREVER, Answer, FaultServer
from vouching.errors import ConfigError, FetchError
from vouching.models.connections import certificates
from vouching.search.fetch import Fetcher, Page, checked_url, is_public

HERE = "127.0.0.1/32"
SECRET = "127.0.0.2"
"""An address of this machine that ``HERE`` does not allow."""


def html(body: bytes = b"<p>Hello.</p>", **more: Any) -> Answer:
    headers = {"content-type": "text/html; charset=utf-8", **more.pop("headers", {})}
    return Answer(body=body, headers=headers, **more)


def moved(to: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"location": to})


def fetch(script: Any, path: str = "/", **settings: Any) -> tuple[Page | FetchError, FaultServer]:
    """What becomes of a page of a server on this machine, which is allowed."""

    async def main() -> tuple[Page | FetchError, FaultServer]:
        async with FaultServer(script) as server:
            fetcher = Fetcher([HERE], **settings)
            try:
                return await fetcher.fetch(f"http://127.0.0.1:{server.port}{path}"), server
            except FetchError as error:
                return error, server

    return asyncio.run(main())


def test_a_page_is_returned_unchanged_with_its_type_and_charset() -> None:
    page, server = fetch([html()], "/a?b=c#d")
    assert isinstance(page, Page)
    assert (page.content_type, page.charset, page.body) == ("text/html", "utf-8", b"<p>Hello.</p>")
    assert page.url == f"http://127.0.0.1:{server.port}/a?b=c"
    [request] = server.requests
    assert request.path == "/a?b=c"
    assert request.headers["user-agent"].startswith("vouching/")
    assert "https://" in request.headers["user-agent"]
    assert not {"cookie", "authorization"} & {*request.headers}


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[::127.0.0.1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
        "0",
        "[::]",
        "[::1]",
        "１２７.0.0.1",
    ],
)
def test_this_machine_cannot_be_reached_however_its_address_is_written(host: str) -> None:
    async def main() -> FaultServer:
        async with FaultServer([html()]) as server:
            with pytest.raises(FetchError, match=r"only public addresses|cannot be resolved|not a valid address"):
                await Fetcher().fetch(f"http://{host}:{server.port}/")
            return server

    assert asyncio.run(main()).requests == []


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.8",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[2001:db8::1]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[64:ff9b:1::a00:8]",
        "[64:ff9b::a9fe:a9fe]",
        "[fe80::1%25lo]",
        "168.63.129.16",
        "[::ffff:168.63.129.16]",
    ],
)
def test_private_and_special_addresses_are_refused_without_a_connection(address: str) -> None:
    with pytest.raises(FetchError, match=r"only public addresses|cannot be resolved"):
        asyncio.run(Fetcher().fetch(f"http://{address}/"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_an_address_that_is_not_allowed_is_not_followed(status: int) -> None:
    async def main() -> FaultServer:
        async with (
            FaultServer([html(b"secret")], host=SECRET) as secret,
            FaultServer([moved(f"http://{SECRET}:{secret.port}/", status)]) as server,
        ):
            with pytest.raises(FetchError, match=rf"{SECRET}, but only public addresses are fetched"):
                await Fetcher([HERE]).fetch(f"http://127.0.0.1:{server.port}/")
            assert len(server.requests) == 1
            return secret

    assert asyncio.run(main()).requests == []


@pytest.mark.parametrize(
    "to", ["file:/etc/passwd", "gopher://127.0.0.1/", "http://a:b@127.0.0.1/", "http://x:0/", "//["]
)
def test_a_redirect_to_something_else_than_a_page_is_refused(to: str) -> None:
    page, server = fetch([moved(to)])
    assert isinstance(page, FetchError)
    assert len(server.requests) == 1


def test_redirects_are_followed_so_far_and_no_further() -> None:
    steps = [moved("/b"), moved("c"), html(b"there")]
    page, server = fetch(steps, redirects=2)
    assert isinstance(page, Page)
    assert (page.body, page.url) == (b"there", f"http://127.0.0.1:{server.port}/c")
    page, server = fetch(steps, redirects=1)
    assert "redirects more than 1 times" in str(page)
    assert len(server.requests) == 2
    assert "sent a redirect without an address" in str(fetch([Answer(status=302)])[0])


class _Names(asyncio.SelectorEventLoop):
    """A loop whose names lead to other addresses each time they are looked up."""

    answers: list[list[str]]
    looked_up: int

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> Any:  # type: ignore[override]
        try:
            addresses = [str(ip_address(host))]  # what a connection asks for, too
        except ValueError:
            addresses = self.answers[min(self.looked_up, len(self.answers) - 1)]
            self.looked_up += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]


def with_names(answers: list[list[str]], work: Callable[[], Any]) -> tuple[Any, int]:
    """What ``work`` gives on a loop with such names, and how often a name was looked up."""
    loop = _Names()
    loop.answers, loop.looked_up = answers, 0
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work()), loop.looked_up


def test_a_name_that_changes_its_address_after_the_check_gains_nothing() -> None:
    async def main() -> tuple[int, int]:
        async with FaultServer([html()]) as server, FaultServer([html()], server.port, SECRET) as secret:
            page = await Fetcher([HERE]).fetch(f"http://rebinding.example:{server.port}/")
            assert page.body == b"<p>Hello.</p>"
            assert server.requests[0].headers["host"] == f"rebinding.example:{server.port}"
            return len(server.requests), len(secret.requests)

    assert with_names([["127.0.0.1"], [SECRET]], main) == ((1, 0), 1)


def test_a_name_with_one_address_that_is_not_allowed_is_refused() -> None:
    async def main() -> int:
        async with FaultServer([html()]) as server:
            with pytest.raises(FetchError, match=SECRET):
                await Fetcher([HERE]).fetch(f"http://both.example:{server.port}/")
            return len(server.requests)

    assert with_names([["127.0.0.1", SECRET]], main) == (0, 1)


def test_a_name_with_several_addresses_is_reached_at_the_one_that_answers() -> None:
    async def main() -> bytes:
        async with FaultServer([html()]) as server:  # nothing listens at the first address
            page = await Fetcher([HERE, f"{SECRET}/32"]).fetch(f"http://both.example:{server.port}/")
            return page.body

    assert with_names([[SECRET, "127.0.0.1"]], main)[0] == b"<p>Hello.</p>"


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> int:
        async with FaultServer([html()]) as server, FaultServer([html(b"proxied")]) as proxy:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            assert (await Fetcher([HERE]).fetch(f"http://127.0.0.1:{server.port}/")).body == b"<p>Hello.</p>"
            return len(proxy.requests)

    assert asyncio.run(main()) == 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (html(status=404), "returned status 404"),
        (html(b"", status=204), "returned status 204"),
        (
            Answer(body=b"x", headers={"content-type": "image/png"}),
            "has the content type image/png; expected one of text/html",
        ),
        (Answer(body=b"x", headers={"content-type": "text/htmlx"}), "has the content type text/htmlx; expected one of"),
        (Answer(body=b"x"), "has no content type"),
        (html(headers={"content-encoding": "br"}), "compressed with br"),
        (html(headers={"content-encoding": "gzip"}), "cannot be decompressed"),
        (html(gzip.compress(b"x" * 9999)[:-9], headers={"content-encoding": "gzip"}), "was cut off"),
        (html(b"x" * 1_000_001), "larger than 1,000,000 bytes"),
        (html(send=3), "cannot be read: RemoteProtocolError, peer closed connection"),
        (html(delay=FOREVER), "could not be read within 0.5 seconds"),
    ],
)
def test_a_page_that_cannot_be_used_is_an_error_that_says_why(answer: Answer, reason: str) -> None:
    page, _ = fetch([answer], max_bytes=1_000_000, seconds=0.5)
    assert isinstance(page, FetchError)
    assert reason in str(page)


def test_a_page_that_decompresses_to_very_much_is_refused_before_it_takes_memory() -> None:
    # 64 MB of zeros pack to about 62 kB. Unpacking stops one byte after the limit of 1 MB.
    bomb = html(gzip.compress(bytes(64_000_000)), headers={"content-encoding": "gzip"})
    tracemalloc.start()
    page, _ = fetch([bomb], max_bytes=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "larger than 1,000,000 bytes" in str(page)
    assert peak < 10_000_000


def test_data_after_the_end_of_a_compressed_page_is_ignored() -> None:
    page, _ = fetch([html(gzip.compress(b"<p>Hello.</p>") + bytes(60_000_000), headers={"content-encoding": "gzip"})])
    assert isinstance(page, Page)
    assert page.body == b"<p>Hello.</p>"


def test_a_compressed_page_of_empty_blocks_is_refused_by_its_compressed_size() -> None:
    # Blocks of deflate that hold no byte, 5 bytes each (RFC 1951, 3.2.4), after the header of gzip: it has no end.
    endless = gzip.compress(b"")[:10] + b"\0\0\0\xff\xff" * 300_000
    page, _ = fetch([html(endless, headers={"content-encoding": "gzip"})], max_bytes=1_000_000)
    assert "larger than 1,000,000 bytes" in str(page)


def test_a_compressed_page_is_decompressed() -> None:
    page, server = fetch([html(gzip.compress(b"<p>Hello.</p>"), headers={"content-encoding": "gzip"})])
    assert isinstance(page, Page)
    assert page.body == b"<p>Hello.</p>"
    assert server.requests[0].headers["accept-encoding"] == "gzip"


def test_a_server_that_is_not_there_is_an_error() -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(FetchError, match=r"cannot connect to 127\.0\.0\.1:\d+ \(Connection refused\)$"):
            asyncio.run(Fetcher([HERE]).fetch(f"http://127.0.0.1:{taken.getsockname()[1]}/"))


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Key and certificate of "pinned.example", signed by itself."""
    path = tmp_path / "pinned.pem"
    names = ["-subj", "/CN=pinned.example", "-addext", "subjectAltName=DNS:pinned.example", "-days", "2"]
    try:
        made = subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-nodes",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                *names,
                "-keyout",
                "-",
                "-out",
                "-",
            ],
            capture_output=True,
            check=True,
        )
    except FileNotFoundError:
        pytest.skip("needs openssl")
    path.write_bytes(made.stdout)
    return path


def test_the_certificate_must_be_that_of_the_name_although_an_address_is_connected_to(certificate: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nhi")
        await writer.drain()
        writer.close()

    async def main() -> bytes:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
            port, fetcher = server.sockets[0].getsockname()[1], Fetcher([HERE])
            with pytest.raises(FetchError, match="CERTIFICATE_VERIFY_FAILED"):
                await fetcher.fetch(f"https://pinned.example:{port}/")
            certificates().load_verify_locations(certificate)
            with pytest.raises(FetchError, match=r"not valid for 'other\.example'"):
                await fetcher.fetch(f"https://other.example:{port}/")
            return (await fetcher.fetch(f"https://pinned.example:{port}/")).body

    assert with_names([["127.0.0.1"]], main) == (b"hi", 3)


def test_no_more_pages_are_under_way_than_allowed() -> None:
    async def main() -> int:
        async with FaultServer([html(delay=0.05)]) as server:
            fetcher = Fetcher([HERE], at_once=2)
            await asyncio.gather(*(fetcher.fetch(f"http://127.0.0.1:{server.port}/{n}") for n in range(8)))
            return server.max_in_flight

    assert asyncio.run(main()) == 2


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "/path",
        "ftp://example.org/",
        "http://",
        "http:///x",
        "javascript:alert(1)",
        "data:,x",
        "http://user@example.org/",
        "http://user:pass@example.org/",
        "http://example.org:99999/",
        "http://[::1/",
        "http://example.org:0/",
        "http://example.org/\n",
        "http://" + "a" * 5000,
        "http://\x00/",
    ],
)
def test_an_invalid_address_is_refused_before_any_lookup(url: str) -> None:
    with pytest.raises(FetchError):
        checked_url(url)


def test_an_invalid_network_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match=r"10\.1\.0\.0/16"):
        Fetcher(["intranet"])


@given(st.ip_addresses(v=4))
def test_an_address_of_ipv4_is_judged_alike_when_written_as_ipv6(address: Any) -> None:
    for dress in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert is_public(ip_address(dress)) == is_public(address)


@given(st.ip_addresses(network="fc00::/7") | st.ip_addresses(network="fe80::/10") | st.ip_addresses(network="ff00::/8"))
def test_local_and_multicast_addresses_of_ipv6_are_never_public(address: Any) -> None:
    assert not is_public(address)
