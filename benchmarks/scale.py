"""Rates, memory and losses of a folder of rows: the local runner and Ray in one run, and runs that are killed.

    python benchmarks/scale.py [--rows 200000] [--long 5000] [--kills 10] [--parts short,long,killed,nodes,skewed]

All runs are the real command on generated rows, with as many processes or actors as --jobs says. The verdicts of both
runners are compared by a digest that leaves out the seconds. In "killed", a run with Ray is killed (SIGKILL) at random
points, each time one of: the driver, an actor, and the raylet, which is the process that stands for a node; after every
kill of the command, it is started again with --resume. In "nodes", one of two nodes of a cluster is removed midway. In
"skewed", one source of 5 MB is among the short rows. Memory is the peak of each process (VmHWM). Results go to
docs/results/scale.json, and benchmarks/render_scale.py writes docs/scale.md from them. Not supported: systems other
than Linux.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import vouching
from vouching.cli.check import LOOK
from vouching.cli.judge import Judging
from vouching.rows.folder import check_folder, run_folder
from vouching.rows.parts import FolderJob
from vouching.scale import FrameChecker
from vouching.scale.engine import RayEngine
from vouching.scale.session import ray_module

MODEL = "embedded:rules"
FILES = 8
POLL_SECONDS = 0.1
LONG_SENTENCES = 400
KINDS = ("driver", "actor", "raylet")
PARTS = ("short", "long", "killed", "nodes", "skewed")
BROKEN_EVERY = 100
"""One of this many rows is broken."""
SKEWED_BYTES = 5_000_000


def write_rows(folder: Path, rows: int, sentences: int = 1) -> None:
    """Rows in files: the last of every hundred is broken; the source has that many sentences."""
    folder.mkdir()
    for file in range(FILES):
        with (folder / f"part-{file}.jsonl").open("w", encoding="utf-8") as out:
            for number in range(file, rows, FILES):
                year = 1800 + number % 200
                rest = " ".join(f"Span {at} of bridge {number} is {at + 7} metres long." for at in range(1, sentences))
                source = f"Bridge {number} opened in {year}. {rest}".strip()
                claim = f"Bridge {number} opened in {year + number % 2}."
                row = json.dumps({"id": f"r{number}", "claim": claim, "source": source})
                out.write(("{broken" if number % BROKEN_EVERY == BROKEN_EVERY - 1 else row) + "\n")


def exit_of(rows: int) -> int:
    """The exit status of a run over so many rows: 3 if one of them is broken."""
    return 3 if rows >= BROKEN_EVERY else 0


def command(rows: Path, output: Path, jobs: int, *more: str) -> list[str]:
    """The real command."""
    return [
        sys.executable,
        "-m",
        "vouching",
        "check",
        "--input",
        str(rows),
        "--output",
        str(output),
        "--model",
        MODEL,
        "--jobs",
        str(jobs),
        *more,
    ]


def family(root: int) -> dict[int, str]:
    """The processes that descend from one, with their command lines."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(") ")[2].split()[1])
                names[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (OSError, IndexError):
                continue
    found, waiting = dict[int, str](), [root]
    while waiting:
        parent = waiting.pop()
        children = [child for child, its in parents.items() if its == parent]
        found |= {child: names.get(child, "") for child in children}
        waiting += children
    return found


def timed(rows: Path, output: Path, status: int, jobs: int, *more: str) -> dict[str, float]:
    """Seconds of a whole command, and to its first block, and the peak memory of a process that checks rows, in MB."""
    start, peak, first = time.perf_counter(), 0, 0.0
    running = subprocess.Popen(command(rows, output, jobs, *more), stderr=subprocess.DEVNULL)
    while running.poll() is None:
        if not first and (output / "blocks").is_dir() and any((output / "blocks").iterdir()):
            first = time.perf_counter() - start
        for process, name in family(running.pid).items():
            if "BlockActor" in name or "rows.worker" in name:
                peak = max(peak, peak_of(process))
        time.sleep(POLL_SECONDS)
    assert running.returncode == status, running.returncode
    seconds = [json.loads(path.read_text())["usage"] for path in (output / "blocks").iterdir()]
    inside = sum(one.get("seconds", 0.0) for one in seconds)
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "first_block_seconds": round(first, 1),
        "verifier_seconds": round(inside, 1),
        "peak_mb": round(peak / 1024),
    }


def peak_of(process: int) -> int:
    """Peak memory in kB; 0 for a process that is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def ids_of(output: Path) -> Counter[str]:
    """How often each id occurs in the parts."""
    return Counter(
        json.loads(line)["id"] for part in (output / "parts").iterdir() for line in part.open(encoding="utf-8")
    )


def digest(output: Path) -> str:
    """Of all records, ordered by id, without the seconds."""
    records: list[str] = []
    for part in (output / "parts").iterdir():
        for line in part.open(encoding="utf-8"):
            record: dict[str, Any] = json.loads(line)
            record.get("usage", {}).pop("seconds", None)
            records.append(json.dumps(record, sort_keys=True))
    return hashlib.blake2b("\n".join(sorted(records)).encode(), digest_size=16).hexdigest()


def compared(folder: Path, rows: int, sentences: int, jobs: int) -> dict[str, Any]:
    """The local runner and Ray on the same rows."""
    source = folder / f"rows-{sentences}"
    write_rows(source, rows, sentences)
    return measured(folder, source, rows, jobs) | {"sentences": sentences}


def measured(folder: Path, source: Path, rows: int, jobs: int) -> dict[str, Any]:
    """The local runner and Ray on a folder of rows."""
    outputs = [folder / f"{source.name}-{name}" for name in ("local", "ray")]
    runs = {
        name: timed(source, output, exit_of(rows), jobs, "--engine", name)
        for name, output in zip(("local", "ray"), outputs, strict=True)
    }
    size, ids = sum(path.stat().st_size for path in (outputs[0] / "parts").iterdir()), ids_of(outputs[1])
    found = {
        "rows": rows,
        "bytes_in_per_row": round(sum(p.stat().st_size for p in source.iterdir()) / rows),
        "bytes_out_per_row": round(size / rows),
        "same_verdicts": digest(outputs[0]) == digest(outputs[1]),
        "once_each": len(ids) == rows and set(ids.values()) == {1},
    }
    for run in runs.values():
        run["rows_per_second"] = round(rows / run["seconds"], 1)
    return {**found, **runs, "ray_to_local": round(runs["local"]["seconds"] / runs["ray"]["seconds"], 2)}


def skewed(folder: Path, rows: int, jobs: int) -> dict[str, Any]:
    """Short rows with one source of 5 MB among them."""
    source = folder / "rows-skewed"
    write_rows(source, rows)
    sentence = "The span of the bridge is {} metres long. "
    text = "".join(sentence.format(at) for at in range(SKEWED_BYTES // len(sentence))) + "The bridge opened in 1973."
    row = json.dumps({"id": "large", "claim": "The bridge opened in 1937.", "source": text})
    with (source / "part-0.jsonl").open("a", encoding="utf-8") as out:
        out.write(f"{row}\n")
    return measured(folder, source, rows + 1, jobs)


def killed(folder: Path, rows: int, kills: int, seed: int, jobs: int) -> dict[str, Any]:
    """A run with Ray in which processes are killed until it is done; the number of starts, and what is lost."""
    chance, source, output = random.Random(seed), folder / "rows-killed", folder / "killed"
    write_rows(source, rows)
    done: Counter[str] = Counter()
    starts = 0
    while True:
        starts += 1
        asked = command(source, output, jobs, "--engine", "ray", "--resume")
        running = subprocess.Popen(asked, stderr=subprocess.DEVNULL)
        while running.poll() is None and sum(done.values()) < kills:
            before = len(list((output / "blocks").iterdir())) if (output / "blocks").is_dir() else 0
            time.sleep(chance.uniform(0.5, 4.0))
            kind = KINDS[sum(done.values()) % len(KINDS)]
            sign = {"driver": "", "actor": "BlockActor", "raylet": "/raylet/raylet "}[kind]
            victims = [p for p, name in family(running.pid).items() if sign in name] if sign else [running.pid]
            if not (output / "work").is_dir() or not victims or running.poll() is not None:
                continue
            os.kill(chance.choice(victims), signal.SIGKILL)
            done[kind] += 1
            print(f"killed {kind} after {before} blocks", file=sys.stderr)
            if kind != "actor":
                break
        status = running.wait()
        if (
            status == exit_of(rows)
            and not list((output / "work").glob("*.jsonl"))
            and (output / "manifest.json").exists()
        ):
            break
    ids = ids_of(output)
    return {
        "rows": rows,
        "kills": dict(done),
        "starts": starts,
        "lines": sum(ids.values()),
        "lost": rows - len(ids),
        "doubled": sum(ids.values()) - len(ids),
    }


def nodes(folder: Path, rows: int) -> dict[str, Any]:
    """A folder checked on a cluster of two nodes, one of which is removed while it works."""
    ray = ray_module()
    from ray.cluster_utils import Cluster

    source, output = folder / "rows-nodes", folder / "nodes"
    write_rows(source, rows)
    size: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 << 20}
    cluster: Any = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    second = cluster.add_node(**size)
    ray.init(address=cluster.address, log_to_driver=False)
    removed: list[int] = []

    def watch(result: Any, share: float) -> None:
        if share > 0.25 and not removed:
            cluster.remove_node(second, allow_graceful=False)
            removed.append(result.block)

    job = FolderJob(str(source), str(output), Judging(MODEL).opened, LOOK, {"model": MODEL})
    run_folder(job, RayEngine(actors=2), watch=watch)
    ray.shutdown()
    cluster.shutdown()
    ids = ids_of(output)
    return {
        "rows": rows,
        "lines": sum(ids.values()),
        "lost": rows - len(ids),
        "doubled": sum(ids.values()) - len(ids),
        "faults": list(check_folder(str(output)).faults),
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000, help="short rows")
    parser.add_argument("--long", type=int, default=5_000, help=f"rows with sources of {LONG_SENTENCES} sentences")
    parser.add_argument("--faults", type=int, default=20_000, help="rows of killed, nodes and skewed")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--parts", default=",".join(PARTS), help="what to measure, with commas")
    parser.add_argument("--output", type=Path, default=Path("docs/results/scale.json"))
    given = parser.parse_args()
    wanted = given.parts.split(",")
    if unknown := [name for name in wanted if name not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}: expected some of {', '.join(PARTS)}")
    folder = Path(tempfile.mkdtemp())
    FrameChecker(MODEL)  # fails now if the verifier is not there
    found: dict[str, Any] = {
        "command": " ".join(["python benchmarks/scale.py", *sys.argv[1:]]),
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "cores": os.cpu_count(),
        "jobs": given.jobs,
        "load": [round(load, 1) for load in os.getloadavg()],
        "ray": ray_module().__version__,
        "vouching": vouching.__version__,
        "model": MODEL,
    }
    parts = {
        "short": lambda: compared(folder, given.rows, 1, given.jobs),
        "long": lambda: compared(folder, given.long, LONG_SENTENCES, given.jobs),
        "killed": lambda: killed(folder, given.faults, given.kills, given.seed, given.jobs),
        "nodes": lambda: nodes(folder, given.faults),
        "skewed": lambda: skewed(folder, given.faults, given.jobs),
    }
    try:
        for name in wanted:
            found[name] = parts[name]()
            print(name, json.dumps(found[name]), file=sys.stderr)
            given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
