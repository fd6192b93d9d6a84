"""A PostgreSQL of its own for tests: Debian's package, a new data directory and a free port on 127.0.0.1."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path


class NoPostgres(Exception):
    """PostgreSQL is not installed, or does not start here."""


class PostgresServer:
    """A server that runs until ``stop``; root runs it as the user postgres, since PostgreSQL refuses root.

    Args:
        durable: whether a commit waits for the disk, as in production; tests do not need it, measurements do.
    """

    def __init__(self, durable: bool = False) -> None:
        self._durability = "" if durable else " -c fsync=off -c full_page_writes=off"
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            raise NoPostgres("PostgreSQL is not installed: apt-get install postgresql, or run .ci/run")
        if os.geteuid() == 0 and shutil.which("runuser") is None:
            raise NoPostgres("root cannot run PostgreSQL, and runuser is missing")
        self._bin = found[-1].parent
        self._as = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.folder = Path(tempfile.mkdtemp(prefix="vouch-postgres-"))
        if self._as:
            shutil.chown(self.folder, "postgres")
        self.password = secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        secret = self.folder / "password"
        secret.write_text(self.password)
        secret.chmod(0o644)
        options = ["-U", "vouch", f"--pwfile={secret}", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", str(self.folder / "data"), *options)
        secret.unlink()
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*self._as, str(self._bin / program), *arguments],
            cwd="/",
            text=True,
            timeout=60,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
        )
        if done.returncode:
            log = self.folder / "log"
            raise NoPostgres(f"{program}: {done.stderr or (log.read_text() if log.exists() else '')}")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        settings += self._durability
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self._run("pg_ctl", "-D", data, "-l", log, "-o", settings, "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: "fast" closes connections, "immediate" is a crash."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def remove(self) -> None:
        """Stop it and delete its data."""
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        name = f"ledger_{secrets.token_hex(6)}"
        address = f"postgresql://vouch:{self.password}@127.0.0.1:{self.port}"
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
        return f"{address.replace('://', '+psycopg://')}/{name}"
