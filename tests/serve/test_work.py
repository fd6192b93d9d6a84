"""Work that is ended: by its deadline, its memory, its caller or the end of the server; and what others get."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from tests.serve import jobs
from vouching.errors import ConfigError, ModelDeadlineError, ServerUnavailableError, VouchError
from vouching.serve.work import Deadline, Pool, Rejected

START_SECONDS = 60.0
"""More than the start of a process takes on a busy machine."""


@pytest.fixture(scope="module")
def pool() -> object:
    made = Pool(threads=1, queue=8, memory_bytes=400_000_000)
    yield made
    made.close()


def result(pool: Pool, job: Callable[..., object], seconds: float = START_SECONDS) -> object:
    return asyncio.run(pool.run_apart(job, Deadline(seconds)))


def test_a_job_that_never_ends_is_ended_with_its_deadline_and_its_place_is_free(pool: Pool) -> None:
    first = result(pool, jobs.process_number)
    with pytest.raises(ModelDeadlineError, match=r"not answered within 0\.5 s"):
        result(pool, jobs.endless, 0.5)
    assert result(pool, jobs.process_number) != first
    assert not pool.taken
    assert not Path(f"/proc/{first}").exists()


def test_a_job_that_takes_too_much_memory_is_refused_with_413_and_the_next_is_answered(pool: Pool) -> None:
    with pytest.raises(Rejected, match="more memory than this server has for one") as raised:
        result(pool, jobs.greedy)
    assert raised.value.status == 413
    assert result(pool, jobs.process_number)


def test_a_process_that_is_killed_is_an_error_to_retry(pool: Pool) -> None:
    with pytest.raises(ServerUnavailableError, match="killed by SIGKILL"):
        result(pool, jobs.killed)
    assert result(pool, jobs.process_number)


def test_errors_come_back_as_they_were_raised_and_their_process_goes_on(pool: Pool) -> None:
    before = result(pool, jobs.process_number)
    with pytest.raises(ConfigError, match="unknown judge"):
        result(pool, partial(jobs.fails, ConfigError, "unknown judge 'b'"))
    with pytest.raises(VouchError, match="please report it"):
        result(pool, partial(jobs.fails, KeyError, "a bug"))
    assert result(pool, jobs.process_number) == before
    with pytest.raises(Rejected) as raised:
        result(pool, partial(jobs.fails, Rejected, "too large", 413))
    assert raised.value.status == 413
    assert result(pool, jobs.process_number) not in (None, before)  # 413 may have left its memory full


def test_results_are_shown_before_the_last() -> None:
    pool, shown = Pool(threads=1, queue=1), list[int]()
    deadline = Deadline(START_SECONDS)
    assert asyncio.run(pool.run_apart(partial(jobs.counts, 3), deadline, shown.append)) == 3
    assert shown == [0, 1, 2]
    pool.close()


def test_a_caller_who_leaves_ends_the_job_at_its_next_look_without_ending_the_process(pool: Pool) -> None:
    before = result(pool, jobs.process_number)

    async def leave() -> None:
        waiting = asyncio.ensure_future(pool.run_apart(jobs.looks, Deadline(START_SECONDS)))
        await asyncio.sleep(0.3)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(leave())
    assert result(pool, jobs.process_number) == before


def test_a_job_that_takes_long_does_not_hold_up_short_ones(pool: Pool) -> None:
    async def both() -> float:
        long = asyncio.ensure_future(pool.run_apart(jobs.endless, Deadline(START_SECONDS)))
        await asyncio.sleep(0.1)
        started = time.monotonic()
        assert await pool.run_apart(jobs.process_number, Deadline(START_SECONDS))
        taken = time.monotonic() - started
        assert not long.done()
        long.cancel()
        return taken

    # It is the only place: without giving it up, the short job would wait for the deadline of the long one.
    assert asyncio.run(both()) < START_SECONDS / 2


def test_a_process_that_is_ended_is_replaced_though_another_is_free_and_the_loaded_one_is_taken_first() -> None:
    pool = Pool(threads=1, queue=1)
    others = children()
    for _ in range(2):
        pool.start()
    started = children() - others
    with pytest.raises(ServerUnavailableError, match="killed by SIGKILL"):
        result(pool, jobs.killed)
    replaced = children() - others - started
    assert result(pool, jobs.process_number) in started
    pool.close()
    assert (len(started), len(replaced)) == (2, 1)


def test_every_process_loads_what_jobs_need_before_anybody_asks(tmp_path: Path) -> None:
    pool, seen = Pool(threads=1, queue=1), tmp_path / "loaded"
    pool.start(partial(jobs.notes_its_number, seen))
    first = result(pool, jobs.process_number)
    with pytest.raises(ServerUnavailableError, match="killed by SIGKILL"):
        result(pool, jobs.killed)
    end = time.monotonic() + START_SECONDS
    while len(seen.read_text().split()) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    loaded = seen.read_text().split()
    assert loaded == [str(first), str(result(pool, jobs.process_number))]
    pool.close()


def test_a_process_that_starts_more_slowly_than_a_deadline_is_not_ended_and_answers_later() -> None:
    pool, others = Pool(threads=1, queue=1), children()
    pool.start(partial(jobs.sleeps, 3.0))
    started = children() - others
    for _ in range(3):
        with pytest.raises(ModelDeadlineError):
            result(pool, jobs.process_number, 0.2)
    assert {result(pool, jobs.process_number)} == started == children() - others
    pool.close()


def test_two_jobs_that_never_end_do_not_stop_short_ones_and_a_third_is_refused_while_others_wait() -> None:
    pool = Pool(threads=1, queue=8)
    result(pool, jobs.process_number)

    async def all_at_once() -> None:
        long = [asyncio.ensure_future(pool.run_apart(jobs.endless, Deadline(START_SECONDS))) for _ in range(2)]
        for _ in range(3):
            await asyncio.sleep(1.5)
            assert await pool.run_apart(jobs.process_number, Deadline(START_SECONDS))
        assert not any(one.done() for one in long)
        third = asyncio.ensure_future(pool.run_apart(jobs.endless, Deadline(START_SECONDS)))
        await asyncio.sleep(0.5)
        assert await pool.run_apart(jobs.process_number, Deadline(START_SECONDS))
        with pytest.raises(ServerUnavailableError, match="takes long"):
            await third
        for one in long:
            one.cancel()

    asyncio.run(all_at_once())
    pool.close()


def test_the_requests_of_one_caller_do_not_hold_up_another_and_give_way_where_the_queue_is_full() -> None:
    pool, begun, order = Pool(threads=1, queue=7), threading.Event(), list[str]()

    def first() -> None:
        begun.wait(START_SECONDS)

    async def ask() -> list[object]:
        def asked(caller: str, work: Callable[[], object]) -> asyncio.Future[object]:
            return asyncio.ensure_future(pool.run(work, Deadline(START_SECONDS, caller)))

        many = [asked("many", first), *(asked("many", lambda: order.append("many")) for _ in range(7))]
        await asyncio.sleep(0.2)  # each has its place, and the threads have theirs
        one = asked("one", lambda: order.append("one"))
        await asyncio.sleep(0)
        refused = asked("many", first)
        await asyncio.sleep(0)
        begun.set()
        return await asyncio.gather(*many, one, refused, return_exceptions=True)

    *many, one, refused = asyncio.run(ask())
    pool.close()
    # The newest one of the seven gave way, and a further one is not accepted.
    assert [type(answer) for answer in many] == [type(None)] * 7 + [ServerUnavailableError]
    assert (one, type(refused)) == (None, ServerUnavailableError)
    # At most two threads of the pool had taken one each before, and the next turn was that of the same caller.
    assert order.index("one") <= 3
    assert len(order) == 7


def test_long_jobs_take_turns_and_each_is_answered() -> None:
    pool = Pool(threads=1, queue=8)

    async def all_at_once() -> list[int]:
        long, short = partial(jobs.works, 2.0), jobs.process_number
        return await asyncio.gather(
            *(pool.run_apart(job, Deadline(START_SECONDS)) for job in (long, long, short, short))
        )

    assert all(asyncio.run(all_at_once()))
    assert not pool.taken
    pool.close()


def test_a_paused_process_ends_with_its_killed_parent() -> None:
    paused = (
        "import time\nfrom tests.serve import jobs\nfrom vouching.rows.worker import Process\n"
        "one = Process(jobs.nothing)\none.wait_until_ready(60, lambda: True)\none.pause(True)\n"
        "print(one._process.pid, flush=True)\ntime.sleep(60)"
    )
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", paused], stdout=subprocess.PIPE, text=True, env=path)
    assert parent.stdout is not None
    number = int(parent.stdout.readline())
    while Path(f"/proc/{number}/stat").read_text().split()[2] != "T":
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    end = time.monotonic() + START_SECONDS
    while Path(f"/proc/{number}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{number}").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only the kernel of Linux does this")
def test_a_paused_process_ends_with_its_killed_parent_also_in_a_container() -> None:
    server = (
        "import time\nfrom tests.serve import jobs\nfrom vouching.serve.work import Pool\n"
        "pool = Pool(1, 1)\npool.start(jobs.nothing)\n[one] = pool._processes._all\n"
        "one.wait_until_ready(60, lambda: True)\none.pause(True)\nprint(one._process.pid, flush=True)\ntime.sleep(99)"
    )
    # The first process of a container takes over those whose parent was killed, and is of their session.
    first = (
        "import ctypes, subprocess, sys, time\nctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER\n"
        f"server = subprocess.Popen([sys.executable, '-c', {server!r}], stdout=subprocess.PIPE, text=True)\n"
        "number = int(server.stdout.readline())\n"
        "while open(f'/proc/{number}/stat').read().split()[2] != 'T': time.sleep(.05)\n"
        "server.kill()\nprint(number, flush=True)\ntime.sleep(99)"
    )
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", first], stdout=subprocess.PIPE, text=True, env=path) as container:
        assert container.stdout is not None
        number = int(container.stdout.readline())
        end = time.monotonic() + START_SECONDS
        state = "T"
        while state not in "ZX" and time.monotonic() < end:
            time.sleep(0.05)
            state = Path(f"/proc/{number}/stat").read_text().split()[2]
        os.kill(number, signal.SIGKILL)
        container.kill()
    assert state in "ZX"


def test_an_idle_process_that_was_killed_costs_no_caller_an_error() -> None:
    pool = Pool(threads=1, queue=1)
    first = result(pool, jobs.process_number)
    os.kill(int(str(first)), signal.SIGKILL)
    os.waitid(os.P_PID, int(str(first)), os.WEXITED | os.WNOWAIT)  # it has ended, and its status is still to be read
    assert result(pool, jobs.process_number) not in (None, first)
    pool.close()


def test_what_cannot_be_loaded_is_an_error_of_the_job_that_needs_it() -> None:
    pool = Pool(threads=1, queue=1)
    pool.start(partial(jobs.fails, ConfigError, "no weights", None))
    assert result(pool, jobs.process_number)
    pool.close()


def children() -> set[int]:
    """The processes that this one has started and that still run."""
    return {
        int(number) for task in Path("/proc/self/task").iterdir() for number in (task / "children").read_text().split()
    }


def test_the_processes_end_with_the_pool() -> None:
    pool = Pool(threads=1, queue=1)
    number = result(pool, jobs.process_number)
    pool.close()
    assert not Path(f"/proc/{number}").exists()
    with pytest.raises(RuntimeError, match="shutdown"):
        result(pool, jobs.process_number)
    assert number != os.getpid()
