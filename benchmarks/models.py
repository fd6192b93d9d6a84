"""The share of a server's capacity that checks by a language model use, and their own processor time.

    python benchmarks/models.py [--name after] [--output benchmarks/results/models.json] [--checks 2000]

The server is another process, which answers every request after 50 ms and works on at most 64 at once: at most 1,280 a
second. Its answers are records about the claim that was asked, so every check takes the whole way: sources read, prompt
filled, request, reply parsed, quotes located. All claims and sources differ. All checks are started together, and the
model's own limit of 64 holds them back. ``rows`` is ``vouch check --input`` on a file of them.

The share of the ideal includes starting, ending and all other work of this machine. Processor time is that of this
process; ``reference_ms`` is what a fixed loop takes in it, to compare machines and moments. ``open_cpu_ms`` is what a
fresh process needs to open a model on a server. Results are kept by name, e.g. of two revisions: put the sources of the
other one into PYTHONPATH. Not supported: TLS and a real network.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import io
import json
import multiprocessing
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import vouching
from vouching.cli.check import check_job
from vouching.cli.judge import Judging
from vouching.methods.structured.verify import StructuredVerifier
from vouching.models import Message, Sampling
from vouching.models.open import open_model
from vouching.rows import run_rows
from vouching.types import Claim, Source, Verdict

SLOTS, LATENCY, PASSES = 64, 0.05, 3
SOURCE = """Page {n}. The harbour bridge was opened to traffic in {year}, after four years of work. It carries two lanes
and a footpath. The study of 1998 counted 12,400 vehicles a day; most of them were lorries on their way to the port.
Repairs in the following decade cost less than planned, and the toll was dropped at the end of it. The towers stand 61
metres above the water, and a lift takes visitors to the platform on the eastern one."""
QUESTION = (Message("system", "Answer in JSON. " * 20), Message("user", "Is the claim supported? " * 40))


def pair(n: int) -> tuple[str, str]:
    """A claim and its source; no two are alike."""
    return f"The harbour bridge {n} was opened in {1800 + n % 200}.", SOURCE.format(n=n, year=1801 + n % 200)


def reply(n: int) -> str:
    """The record of a good model about pair n."""
    claimed, found = f"in {1800 + n % 200}", f"in {1801 + n % 200}"
    record: dict[str, Any] = {
        "evidence_alignment": [
            {"claim_span": "The harbour bridge", "source_span": "The harbour bridge", "status": "match"},
            {"claim_span": "was opened", "source_span": "was opened to traffic", "status": "match"},
            {"claim_span": claimed, "source_span": found, "status": "mismatch"},
        ],
        "reasoning_chain": [
            {
                "claim_part": "was opened",
                "source_evidence": "was opened to traffic",
                "judgment": "supported",
                "explanation": "Both speak of the opening of the bridge.",
            },
            {
                "claim_part": claimed,
                "source_evidence": found,
                "judgment": "not_supported",
                "explanation": "The source gives another year.",
            },
        ],
        "label": "Not Attributable",
        "confidence": 0.93,
        "error_type": "temporal_shift",
        "fix_suggestion": f"Change {claimed} to {found}.",
        "revised_claim": None,
    }
    return json.dumps(record)


def answer(body: bytes) -> bytes:
    """The answer to a request."""
    asked = re.search(rb"The harbour bridge (\d+) ", body)
    said = reply(int(asked[1])) if asked else "Yes. " * 40
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    content = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 250}}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
        len(content),
        content,
    )


class Server(asyncio.Protocol):
    """One connection of a server that takes its time: it waits for a slot, then 50 ms."""

    slots: asyncio.Semaphore

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self.transport, self.pending = transport, b""
        self.tasks: set[asyncio.Task[None]] = set()

    def data_received(self, data: bytes) -> None:
        """Answer when a request is whole."""
        self.pending += data
        head, found, rest = self.pending.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
        if found and len(rest) >= length:
            self.pending = b""
            task = asyncio.ensure_future(self.reply(rest))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def reply(self, body: bytes) -> None:
        """Wait, then answer."""
        async with self.slots:
            await asyncio.sleep(LATENCY)
            self.transport.write(answer(body))  # type: ignore[attr-defined]


def serve(pipe: Connection) -> None:
    """Run the server and send its port."""

    async def main() -> None:
        Server.slots = asyncio.Semaphore(SLOTS)
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def checks(name: str, number: int) -> None:
    """All checks at once through the structured verifier."""

    async def main() -> None:
        verifier = StructuredVerifier(open_model(name, cache=""))
        pairs = [pair(n) for n in range(number)]
        found = await asyncio.gather(*(verifier.verify([Claim(claim)], [Source(source)]) for claim, source in pairs))
        await verifier.aclose()
        assert all(isinstance(one, Verdict) and one.error_type == "temporal_shift" for [one] in found)

    asyncio.run(main())


def calls(name: str, number: int) -> None:
    """The same number of calls of the model alone."""

    async def main() -> None:
        model = open_model(name, cache="")
        await asyncio.gather(*(model.generate(QUESTION, Sampling()) for _ in range(number)))
        await model.aclose()

    asyncio.run(main())


def rows(name: str, number: int) -> None:
    """The checks as rows of a file, by ``vouch check --input``."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        given, made = Path(folder) / "rows.jsonl", Path(folder) / "verdicts.jsonl"
        with given.open("w", encoding="utf-8") as file:
            for claim, source in map(pair, range(number)):
                file.write(json.dumps({"claim": claim, "source": source}) + "\n")
        run_rows(check_job((str(given), str(made), False), Judging(name)))
        assert sum(1 for _ in made.open(encoding="utf-8")) == number


def measure(work: Callable[[str, int], None], name: str, number: int) -> dict[str, Any]:
    """Median over the passes of one way to ask."""
    seconds: list[float] = []
    own: list[float] = []
    references: list[float] = []
    for _ in range(PASSES):
        references.append(reference())
        started, used = time.perf_counter(), time.process_time()
        work(name, number)
        seconds.append(time.perf_counter() - started)
        own.append(time.process_time() - used)
    rate = number / statistics.median(seconds)
    return {
        "per_second": round(rate),
        "share_of_ideal": round(rate * LATENCY / SLOTS, 3),
        "own_cpu_ms": round(1000 * statistics.median(own) / number, 3),
        "min_own_cpu_ms": round(1000 * min(own) / number, 3),
        "reference_ms": round(statistics.median(references), 1),
    }


def reference() -> float:
    """Processor milliseconds of a million additions; some 40 on a free core of 2.5 GHz."""
    started, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return 1000 * (time.process_time() - started)


OPENING = """
import time
from vouching.models import open_model
started = time.process_time()
open_model("http://localhost:8000/v1#name", cache="")
print(1000 * (time.process_time() - started))
"""


def opening() -> float:
    """Processor milliseconds to open a model on a server in a fresh process."""
    times = [float(subprocess.check_output([sys.executable, "-c", OPENING])) for _ in range(PASSES)]
    return statistics.median(times)


def core_share() -> float:
    """How much of a core a process gets that wants all of one, in [0, 1]: below 1, other work slows the calls."""
    started, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < 2:
        pass
    return (time.process_time() - used) / (time.perf_counter() - started)


def main() -> None:
    """Measure all ways, print them, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/models.json")
    parser.add_argument("--checks", type=int, default=2_000)
    parser.add_argument("--name", default="after", help="name under which the results are saved")
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    name = f"http://127.0.0.1:{here.recv()}/v1#benchmark"
    record = {
        "command": f"python benchmarks/models.py --name {options.name} --checks {options.checks}",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "share_of_a_core": round(core_share(), 2),
        "each": options.checks,
        "slots": SLOTS,
        "latency_ms": round(1000 * LATENCY),
        "checks": measure(checks, name, options.checks),
        "rows": measure(rows, name, options.checks),
        "calls": measure(calls, name, options.checks),
        "open_cpu_ms": round(opening()),
    }
    server.terminate()
    print(json.dumps(record, indent=1))
    kept = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    options.output.write_text(json.dumps({**kept, options.name: record}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
