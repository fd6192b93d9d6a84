"""Run the HTTP API: in this process, or in several that share one socket and are replaced when they die.

A worker gets the policy and the shared folder by the environment, since it starts as a new process.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from vouching.errors import needed
from vouching.rows.worker import end_with_parent
from vouching.serve.app import build_app
from vouching.serve.listening import run_server
from vouching.serve.policy import Policy
from vouching.serve.protocol import TimedProtocol
from vouching.serve.service import Service

if TYPE_CHECKING:
    from fastapi import FastAPI

_POLICY = "VOUCH_SERVE_POLICY"
_FOLDER = "VOUCH_SERVE_FOLDER"
_PARENT = "VOUCH_SERVE_PARENT"
_NUMBERS = "PROMETHEUS_MULTIPROC_DIR"
_PREFIX, _LOCK = "vouch-serve-", "server.lock"
END_SECONDS = 5
"""Time that a worker gets to end after ``shutdown_seconds``: threads that wait for a model cannot be stopped."""
_START_SECONDS = 120
"""Time that a worker gets to start while another one is replaced."""


def worker_app() -> FastAPI:
    """The application of a worker, from the environment."""
    from pydantic import TypeAdapter

    policy = TypeAdapter(Policy).validate_json(os.environ[_POLICY])
    TimedProtocol.obey(policy.limits)
    if numbers := os.environ.get(_NUMBERS):
        _forget_dead(Path(numbers))
    if parent := os.environ.get(_PARENT):
        end_with_parent(int(parent))
    app = build_app(policy, Path(os.environ[_FOLDER]), on_stop=_end_soon)
    app.state.service.start()
    return app


def serve(policy: Policy, listening: socket.socket, ready: Callable[[], object] = lambda: None) -> None:
    """Serve until stopped by SIGINT or SIGTERM; open requests then get ``shutdown_seconds`` to end.

    ``ready`` is called once nothing that the policy names is in the way of serving.

    What still runs ``END_SECONDS`` later, such as a call of a model that does not answer, is ended with its process.
    Raises as :func:`vouching.serve.app.build_app`.
    """
    _remove_left()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder, (Path(folder) / "new.lock").open("wb") as lock:
        flock(lock, LOCK_EX)
        Path(lock.name).rename(Path(folder) / _LOCK)  # it has this name only while held: another server may look now
        os.environ[_POLICY] = _policy_json(policy)
        os.environ[_FOLDER] = folder
        if policy.serve.workers == 1:
            server = Server(_config(policy, worker_app()))
            ready()
            run_server(server, listening)
            return
        Service(policy, Path(folder)).close()  # an error shows here, before any worker starts
        ready()
        os.environ[_PARENT] = str(os.getpid())
        os.environ[_NUMBERS] = str(Path(folder) / "numbers")
        Path(os.environ[_NUMBERS]).mkdir()
        _Supervisor(_config(policy, "vouching.serve.workers:worker_app"), sockets=[listening]).run()


class _Supervisor(Multiprocess):
    """Replaces workers that ended.

    uvicorn also asks each worker every half second whether it lives, and ends one that does not answer in time: on a
    busy machine it ends workers that only load slowly, again and again, and cannot be stopped while it waits. The
    answer comes from a thread of its own, so that it says little about a worker.
    """

    def keep_subprocess_alive(self) -> None:
        """Ask only where a worker has ended."""
        if not all(worker.process.is_alive() for worker in self.processes):
            super().keep_subprocess_alive()

    def join_all(self) -> None:
        """Wait for the workers, and kill one that does not end by itself."""
        end = time.monotonic() + (self.config.timeout_graceful_shutdown or 0) + END_SECONDS + 2
        for worker in self.processes:
            worker.process.join(max(0.0, end - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _remove_left() -> None:
    """Remove the folders, with the uploaded texts, of this user's servers that were killed: their lock is free.

    Anyone may put something into the temporary folder: nothing there is followed, waited for or written.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), ExitStack() as opened:
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            opened.callback(os.close, held)
            found = os.fstat(held)
            if found.st_uid != os.geteuid() or found.st_mode & 0o077:
                continue
            lock = os.open(_LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=held)
            opened.callback(os.close, lock)
            if stat.S_ISREG(os.fstat(lock).st_mode):
                flock(lock, LOCK_EX | LOCK_NB)
                shutil.rmtree(folder)


def _end_soon() -> None:
    """End this process in some seconds, whatever its threads do: Python waits for each of them."""
    timer = threading.Timer(END_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _config(policy: Policy, app: Any) -> Config:
    return Config(
        app,
        factory=isinstance(app, str),
        http=TimedProtocol,
        workers=policy.serve.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=policy.limits.connections,
        timeout_graceful_shutdown=policy.serve.shutdown_seconds,
        ws="none",
        timeout_worker_healthcheck=_START_SECONDS,
    )


def _policy_json(policy: Policy) -> str:
    from pydantic_core import to_json

    return to_json(asdict(policy)).decode()


def _forget_dead(numbers: Path) -> None:
    """Drop what workers that died had not finished from the numbers of all."""
    multiprocess = needed("prometheus_client.multiprocess", "serve", "metrics")
    for file in numbers.glob("gauge_live*.db"):
        found = re.search(r"_(\d+)\.db$", file.name)
        if found and not Path(f"/proc/{found[1]}").exists():
            multiprocess.mark_process_dead(int(found[1]), str(numbers))
