"""Several processes and threads append to the same chains, and one of them is killed."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO

from tests.ledger.conftest import KEY
from tests.ledger.entries import small
from vouching.ledger import Entry, Ledger, open_ledger


@dataclass
class Writer:
    """A process that appends, and the numbers of the batches that it reported as kept, one a line."""

    pid: int
    reports: IO[str]

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def started(target: str, name: str, batches: int) -> Writer:
    """A fork: it has the modules already, and opens its own connections."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            _append(target, name, batches, writing)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    return Writer(pid, open(reading, encoding="ascii"))


def _append(target: str, name: str, batches: int, reports: int) -> None:
    with open_ledger(target, key=KEY) as ledger:
        for number in range(batches):
            streams = ("shared", name) if number % 2 else (name, "shared")  # two orders, which must not deadlock
            ledger.append([Entry(stream, "check", {"claim": f"{name} {number}"}, {}) for stream in streams])
            os.write(reports, f"{number}\n".encode())


def test_processes_that_open_an_empty_database_at_once_keep_one_valid_chain(target: str) -> None:
    writers = [started(target, f"writer {number}", 12) for number in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    for writer in writers:
        writer.reports.close()
    with open_ledger(target, key=KEY) as ledger:
        found = ledger.verify()
        assert (found.intact, found.streams, found.rows) == (True, 4, 72)
        shared = [row.inputs for row in ledger.rows() if row.stream == "shared"]
        said = [row["claim"] for row in shared if row is not None]
        assert sorted(said) == sorted(f"writer {writer} {number}" for writer in range(3) for number in range(12))


def test_what_a_killed_process_reported_as_kept_is_in_the_ledger(target: str) -> None:
    writer = started(target, "killed", 100_000)
    reported = [int(writer.reports.readline()) for _ in range(10)]
    time.sleep(0.05)
    os.kill(writer.pid, signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    with writer.reports as reports:
        reported += [int(line) for line in reports if line.endswith("\n")]
    with open_ledger(target, key=KEY) as ledger:
        ledger.append([small(1, "killed")])
        found = ledger.verify()
        assert found.intact
        kept = {row.inputs["claim"] for row in ledger.rows() if row.inputs}
        assert {f"killed {number}" for number in reported} <= kept
        assert found.rows % 2 == 1  # two for each batch, none half, and one of ours


def test_threads_share_a_ledger_and_a_fork_opens_its_own_connections(ledger: Ledger) -> None:
    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(lambda number: ledger.append([small(number)])[0], range(40)))
    assert len(set(ids)) == 40
    child = os.fork()
    if not child:  # the parent's connections must not be used here
        try:
            ledger.append([Entry("fork", "check", {}, {})])
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    ledger.append([small(41)])
    found = ledger.verify()
    assert (found.intact, found.rows) == (True, 42)
