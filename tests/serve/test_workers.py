"""``vouch serve`` as a command: several processes, one of them killed, and a stop that loses nothing."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("sqlalchemy", reason="the extra serve is not installed")

import httpx2
from typer.testing import CliRunner

from tests.serve.served import BRIDGE
from vouching import Client, VouchError
from vouching.cli.app import app_for
from vouching.ledger import open_ledger
from vouching.serve import workers
from vouching.serve.policy import JudgeSettings, Policy
from vouching.serve.workers import END_SECONDS
from vouching.types.ledger import Filters

COMMAND = (sys.executable, "-m", "vouching", "serve", "--address", "127.0.0.1:0", "--model", "embedded:rules")


@contextmanager
def command(*options: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The running command and its address."""
    with subprocess.Popen([*COMMAND, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        try:
            yield found[0], process
        finally:
            process.terminate()
            process.wait(60)


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that serve; the helper that multiprocessing starts is none of them."""
    below = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return [int(one) for one in below if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[str], str]]:
    """The command with two workers: its address, its process and its ledger. Starting three processes takes long."""
    target = str(tmp_path_factory.mktemp("ledger") / "verdicts.db")
    with command("--workers", "2", "--ledger", target) as (url, process):
        yield url, process, target


def test_a_killed_worker_is_replaced_and_every_answer_is_in_the_ledger(
    running: tuple[str, subprocess.Popen[str], str],
) -> None:
    url, process, target = running
    claims = [f"The bridge has {number} towers." for number in range(100)]
    answered: list[str] = []
    failed: dict[str, VouchError] = {}

    def ask(part: list[str]) -> None:
        with Client(url, timeout=60) as client:
            for claim in part:
                for _ in range(20):
                    try:
                        client.check(claim, BRIDGE)
                    except VouchError as error:
                        failed[claim] = error
                        time.sleep(0.1)
                    else:
                        answered.append(claim)
                        break

    threads = [threading.Thread(target=ask, args=(claims[number::4],)) for number in range(4)]
    for thread in threads:
        thread.start()
    while len(answered) < 20:
        assert process.poll() is None
        time.sleep(0.02)
    before = workers_of(process)
    os.kill(before[0], signal.SIGKILL)
    for thread in threads:
        thread.join()
    deadline = time.monotonic() + 30
    while len(after := workers_of(process)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(after) == 2
    assert before[0] not in after
    with Client(url, timeout=60) as client:
        client.check("The bridge has three towers.", BRIDGE)
    # Requests that the killed worker had failed in a way that says to try again, and were answered then.
    assert all(error.can_retry for error in failed.values()), failed
    assert sorted(answered) == sorted(claims)
    with open_ledger(target) as ledger:
        kept = Counter(row.inputs["claim"] for row in ledger.rows() if row.inputs)
        assert ledger.verify().intact
    assert {*claims} <= {*kept}
    assert {claim for claim, times in kept.items() if times > 1} <= {*failed}


def test_a_stop_ends_what_was_begun(running: tuple[str, subprocess.Popen[str], str]) -> None:
    url, process, target = running
    results: list[int] = []
    claim = "The bridge has three towers. "

    def ask() -> None:
        with Client(url, timeout=60) as client:
            results.append(len(client.check_response(claim * 250, BRIDGE).findings))

    thread = threading.Thread(target=ask)
    thread.start()
    # Either worker may answer this; only the one with the long request has it waiting.
    while not httpx2.get(f"{url}/healthz", timeout=60).json()["waiting"]:
        time.sleep(0.01)
    process.terminate()  # while the long request is judged
    assert process.wait(60) == 0
    thread.join()
    assert results == [250]
    with open_ledger(target) as ledger:
        assert len(ledger.search(Filters(kind="check-response"))) == 1


@contextmanager
def stopped_while_silent(*arguments: str) -> Generator[tuple[str, Callable[[], None]]]:
    """A running command whose model or upstream server never answers, and what stops it once that was asked."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(120)  # the start of three processes takes long on a busy machine
        model = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        environment = {**os.environ, "VOUCH_BASE_URL": model, "VOUCH_API_KEY": "none"}
        given = [sys.executable, "-m", "vouching", *(argument.replace("SILENT", model) for argument in arguments)]
        with subprocess.Popen(given, stderr=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stderr is not None
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found

            def stop() -> None:
                with silent.accept()[0]:  # it was asked
                    started = time.monotonic()
                    process.terminate()
                    process.communicate(timeout=60)
                assert process.returncode == 0
                assert 1 <= time.monotonic() - started < 5 + END_SECONDS + 10

            try:
                yield found[0], stop
            finally:
                process.kill()


def answer_to(url: str, body: dict[str, Any], stop: Callable[[], None]) -> httpx2.Response:
    """What a request gets whose server is stopped in the middle of it."""
    answers: list[httpx2.Response] = []
    asking = threading.Thread(target=lambda: answers.append(httpx2.post(url, json=body, timeout=60)), daemon=True)
    asking.start()
    stop()
    asking.join()
    return answers[0]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_model_that_does_not_answer_does_not_keep_a_server_that_was_stopped(workers: str, tmp_path: Path) -> None:
    settings = tmp_path / "vouch.toml"
    settings.write_text("[serve]\nshutdown_seconds = 1\n", "utf-8")
    command = ["serve", "--address", "127.0.0.1:0", "--config", str(settings), "--workers", workers]
    command += ["--model", "openai/x@SILENT"]
    with stopped_while_silent(*command) as (url, stop):
        answer = answer_to(f"{url}/v1/check", {"claim": "It has three towers.", "sources": [BRIDGE]}, stop)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"] == "ServerUnavailableError"
    assert "the server is stopping" in answer.json()["detail"]


def test_a_proxy_that_is_stopped_before_its_upstream_server_answers_says_so() -> None:
    command = ["proxy", "--address", "127.0.0.1:0", "--upstream", "SILENT", "--model", "embedded:rules"]
    with stopped_while_silent(*command) as (url, stop):
        body = {"model": "m", "messages": [{"role": "user", "content": "When?"}], "documents": ["In 1973."]}
        answer = answer_to(f"{url}/v1/chat/completions", body, stop)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "server_stopping")


def test_a_worker_that_is_stuck_is_killed_when_the_server_stops(tmp_path: Path) -> None:
    settings = tmp_path / "vouch.toml"
    settings.write_text("[serve]\nshutdown_seconds = 1\n", "utf-8")
    with command("--workers", "2", "--config", str(settings)) as (url, process):
        with Client(url, timeout=60) as client:
            client.check("It has three towers.", BRIDGE)
        stuck, other = workers_of(process)
        os.kill(stuck, signal.SIGSTOP)  # it does not even see SIGTERM
        started = time.monotonic()
        process.terminate()
        assert process.wait(60) == 0
        assert time.monotonic() - started > END_SECONDS  # it had its time
        assert not Path(f"/proc/{stuck}").exists()
        assert not Path(f"/proc/{other}").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--address", "0.0.0.0:0"], "serve.keys is empty"),
        (["--config", "none.toml"], "cannot read"),
        (["--address", "127.0.0.1"], "HOST:PORT"),
        (["--address", "127.0.0.1:0", "--workers", "2", "--model", "nothing-like-it"], "nothing-like-it"),
    ],
)
def test_a_wrong_policy_ends_at_once_with_one_line(
    options: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VOUCH_SERVE_POLICY", "VOUCH_SERVE_FOLDER"):
        monkeypatch.setenv(name, "")  # what the command sets for its workers is undone
    ended = CliRunner().invoke(app_for("serve"), ["serve", *options])
    assert ended.exit_code == 2, ended.output
    assert words in ended.output


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_file_of_keys_that_cannot_be_read_ends_the_server_before_it_says_that_it_serves(
    tmp_path: Path, workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VOUCH_SERVE_POLICY", "VOUCH_SERVE_FOLDER"):
        monkeypatch.setenv(name, "")  # what the command sets for its workers is undone
    (tmp_path / "keys.json").symlink_to("keys.json")
    options = ["--address", "127.0.0.1:0", "--keys", str(tmp_path / "keys.json"), "--workers", workers]
    ended = CliRunner().invoke(app_for("serve"), ["serve", "--model", "embedded:rules", *options])
    assert (ended.exit_code, "keys.json" in ended.output, "serving at" in ended.output) == (2, True, False)


@pytest.mark.parametrize("server", [["serve"], ["proxy", "--upstream", "http://127.0.0.1:9/v1"]])
def test_a_server_that_is_stopped_by_ctrl_c_ends_with_status_0(server: list[str]) -> None:
    arguments = [sys.executable, "-m", "vouching", *server, "--address", "127.0.0.1:0", "--model", "embedded:rules"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+:\d+", process.stderr.readline())
        assert found
        assert httpx2.get(f"{found[0]}/healthz", timeout=60).status_code in (200, 404)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()


def test_after_a_kill_of_the_parent_no_process_answers_and_the_next_start_removes_the_uploads(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    arguments = [*COMMAND, "--workers", "2"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        with Client(found[0]) as client:
            client.check("It has three towers.", BRIDGE)
        httpx2.post(f"{found[0]}/v1/sources", json={"text": "A secret."}, timeout=60)
        process.kill()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                httpx2.get(f"{found[0]}/healthz", timeout=5)
            except httpx2.TransportError:
                break
            time.sleep(0.2)
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{found[0]}/healthz", timeout=5)
    assert [*tmp_path.glob("vouch-serve-*/sources/*")]
    with subprocess.Popen([*COMMAND], stderr=subprocess.PIPE, text=True, env=environment) as again:
        assert again.stderr is not None
        assert "http://" in again.stderr.readline()
        deadline = time.monotonic() + 30
        while [*tmp_path.glob("vouch-serve-*/sources/*")] and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not [*tmp_path.glob("vouch-serve-*/sources/*")]
        again.terminate()
        again.wait(60)


def started(temp: Path, monkeypatch: pytest.MonkeyPatch, on_lock: Callable[[], object] = lambda: None) -> None:
    """Start a server with this temporary folder, up to where it would answer; each lock calls ``on_lock`` before."""
    given = workers.flock

    def lock(file: Any, how: int) -> None:
        on_lock()
        given(file, how)

    for name in ("VOUCH_SERVE_POLICY", "VOUCH_SERVE_FOLDER"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(workers, "flock", lock)
    monkeypatch.setattr(workers, "run_server", print)
    monkeypatch.setattr(workers.tempfile, "tempdir", str(temp))
    with socket.socket() as listening:
        workers.serve(Policy(judges={"default": JudgeSettings("embedded:rules")}), listening)


def test_a_start_removes_what_a_server_left_and_touches_nothing_that_others_can_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary, temp = tmp_path / "diary.txt", tmp_path / "temp"
    diary.write_text("Dear diary", encoding="utf-8")
    temp.mkdir()
    for name, mode in (("left", 0o700), ("open", 0o777), ("link", 0o700), ("pipe", 0o700), ("folder", 0o700)):
        folder = temp / f"vouch-serve-{name}"
        folder.mkdir()
        folder.chmod(mode)
    for name in ("left", "open"):
        (temp / f"vouch-serve-{name}" / "server.lock").write_text("kept", encoding="utf-8")
    (temp / "vouch-serve-link" / "server.lock").symlink_to(diary)
    os.mkfifo(temp / "vouch-serve-pipe" / "server.lock")
    (temp / "vouch-serve-folder" / "server.lock").mkdir()
    (tmp_path / "elsewhere").mkdir(0o700)
    (tmp_path / "elsewhere" / "server.lock").touch()
    (temp / "vouch-serve-away").symlink_to(tmp_path / "elsewhere")
    ends_a_wait = threading.Timer(30, lambda: os.open(temp / "vouch-serve-pipe" / "server.lock", os.O_RDWR))
    ends_a_wait.start()
    started(temp, monkeypatch)
    assert ends_a_wait.is_alive(), "the start waited for somebody to read the pipe"
    ends_a_wait.cancel()
    assert diary.read_text(encoding="utf-8") == "Dear diary"
    assert (temp / "vouch-serve-open" / "server.lock").read_text(encoding="utf-8") == "kept"
    assert (tmp_path / "elsewhere" / "server.lock").exists()
    assert sorted(one.name for one in temp.iterdir()) == [
        f"vouch-serve-{name}" for name in ("away", "folder", "link", "open", "pipe")
    ]


def test_a_server_that_starts_meanwhile_never_shows_a_lock_that_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[bool] = []
    started(tmp_path, monkeypatch, lambda: shown.append(bool([*tmp_path.glob("*/server.lock")])))
    assert shown == [False]
