"""What goes wrong with callers, sources and disks: what was answered is kept, the rest gets an error to act on."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("sqlalchemy", reason="the extra serve is not installed")

import httpx2

from tests.serve.served import BRIDGE, policy, served
from vouching import Client
from vouching.errors import ModelDeadlineError, ServerUnavailableError
from vouching.ledger import open_ledger
from vouching.serve.policy import JudgeSettings

MEGABYTE = 1_000_000


def place_of(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


def raw_post(path: str, body: bytes) -> bytes:
    """A request as it is on the wire."""
    fields = f"host: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"POST {path} HTTP/1.1\r\n{fields}\r\n\r\n".encode() + body


def until(reached: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether it is reached in time."""
    deadline = time.monotonic() + seconds
    while not reached() and time.monotonic() < deadline:
        time.sleep(0.02)
    return reached()


def resident() -> int:
    """Bytes of memory of this process, in which the server runs."""
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found
    return 1024 * int(found[1])


@contextmanager
def silent() -> Iterator[str]:
    """An address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_source_that_takes_a_minute_is_an_error_to_retry_while_health_answers() -> None:
    with silent() as engine:
        judge = JudgeSettings("embedded:rules", search=(f"opensearch:{engine}/notes",))
        slow = replace(policy(timeout_seconds=1.0), judges={"default": judge})
        with served(slow) as (url, service), Client(url) as client:
            errors: list[ModelDeadlineError] = []

            def ask() -> None:
                with pytest.raises(ModelDeadlineError, match="not answered within 1 s") as raised:
                    client.check("The bridge opened in 1937.")
                errors.append(raised.value)

            asking = threading.Thread(target=ask)
            asking.start()
            assert until(lambda: service.pool.taken == 1)
            health = httpx2.get(f"{url}/healthz").json()
            assert (health["status"], health["waiting"]) == ("ok", 1)
            asking.join()
            assert [error.can_retry for error in errors] == [True]
            assert until(lambda: not service.pool.taken, 5)


def test_a_body_of_a_gigabyte_in_chunks_is_refused_early_and_not_held() -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    sent, answer = 0, b""
    with served(policy()) as (url, _), socket.create_connection(place_of(url), timeout=20) as link:
        before = resident()
        link.sendall(b"POST /v1/check HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        try:
            while sent < 1_000 * MEGABYTE and not select.select([link], [], [], 0)[0]:
                link.sendall(chunk)
                sent += 0x10000
            answer = link.recv(4_096)
        except ConnectionError:  # the server closed before the answer was read, which is as good
            pass
        grown = resident() - before
        assert httpx2.get(f"{url}/healthz").status_code == 200
    assert b" 413 " in answer or not answer
    # The limit is 8 MB; the rest of what was sent lies in the buffers of the two sockets.
    assert sent < 64 * MEGABYTE
    assert grown < 64 * MEGABYTE


def test_ten_thousand_tiny_claims_are_refused_before_one_is_judged(tmp_path: Path) -> None:
    target = str(tmp_path / "verdicts.db")
    with served(policy(ledger=target)) as (url, _):
        for path, body in (
            ("/v1/check", {"claim": ["It is."] * 10_000, "sources": [BRIDGE]}),
            ("/v1/check-response", {"response": "It has three towers. " * 10_000, "sources": [BRIDGE]}),
        ):
            answer = httpx2.post(url + path, json=body, timeout=60)
            assert (answer.status_code, answer.json()["error"]) == (422, "InputError")
            assert "more than 500 claims" in answer.json()["detail"]
        assert 'vouch_findings_total{label="' not in httpx2.get(f"{url}/metrics").text
    with open_ledger(target) as ledger:
        assert ledger.count() == 0


def test_a_client_that_never_reads_its_answer_is_dropped_and_holds_nothing(tmp_path: Path) -> None:
    """Its answer of at least 6 MB does not fit into the buffers of the sockets, so the server has to keep the rest."""
    target = str(tmp_path / "verdicts.db")
    source = {**BRIDGE, "id": "i" * 100_000}  # every verdict names its source
    body = {"claim": ["The bridge has three towers."] * 60, "sources": [source]}
    with served(policy({"answer_seconds": 0.5}, ledger=target)) as (url, service):
        with socket.socket() as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            link.connect(place_of(url))
            link.settimeout(20)
            link.sendall(raw_post("/v1/check", json.dumps(body).encode()))
            with open_ledger(target) as ledger:
                assert until(lambda: ledger.count() == 1, 60)
            assert until(lambda: not service.pool.taken)
            assert httpx2.get(f"{url}/healthz").status_code == 200
            time.sleep(1)
            received = b"".join(iter(lambda: link.recv(65_536), b""))
        length = re.search(rb"content-length: (\d+)", received)
        assert length
        assert len(received) < int(length[1])  # the end of the answer never comes


def test_a_half_closed_connection_is_dropped_whether_or_not_its_request_is_complete(tmp_path: Path) -> None:
    whole = raw_post("/v1/check", json.dumps({"claim": "It has three towers.", "sources": [BRIDGE]}).encode())
    target = str(tmp_path / "verdicts.db")
    with served(policy(ledger=target)) as (url, service):
        for sent in (whole, whole[:-1], whole[:40], b""):
            with socket.create_connection(place_of(url), timeout=10) as link:
                link.sendall(sent)
                link.shutdown(socket.SHUT_WR)
                received = b"".join(iter(lambda: link.recv(4_096), b""))
            assert not received or received.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400"))
        assert until(lambda: not service.pool.taken)
        with Client(url) as client:
            client.check("It has three towers.", BRIDGE)
    with open_ledger(target) as ledger:  # the complete request may have been judged before the server saw the end
        assert ledger.count() in (1, 2)
        assert ledger.verify().intact


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"this user may not mount a tmpfs: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_under_the_ledger_gives_no_verdict_until_there_is_space(small_disk: Path) -> None:
    ballast, target = small_disk / "ballast", str(small_disk / "verdicts.db")
    answered: list[str] = []
    with served(policy(ledger=target)) as (url, _), Client(url) as client:
        ballast.write_bytes(os.urandom(500_000))

        def ask(number: int) -> None:
            claim = f"The bridge has {number} towers."
            client.check(claim, {"text": BRIDGE["text"] + " It rained." * 2_000})
            answered.append(claim)

        ask(0)
        with pytest.raises(ServerUnavailableError, match=r"nothing was answered.*full.*try again") as error:
            [*map(ask, range(1, 100))]  # each row takes some 20 kB
        assert (error.value.status, error.value.can_retry, error.value.retry_after) == (503, True, 5)
        ballast.unlink()
        ask(100)
    with open_ledger(target) as ledger:
        kept = [row.inputs["claim"] for row in ledger.rows() if row.inputs]
        assert ledger.verify().intact
    assert kept == answered
