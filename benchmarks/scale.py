"""Rates, memory and losses of a folder of rows: the local runner and Ray in one run, and runs that are killed.

    python benchmarks/scale.py [--rows 20000] [--kills 10] [--output docs/results/scale.json]

All runs are the real command on generated rows, with two processes or actors. The verdicts of both runners are
compared by a digest that leaves out the seconds. Then a run with Ray is killed (SIGKILL) at random points, each time
one of: the driver, an actor, and the raylet, which is the process that stands for a node; after every kill of the
command, it is started again with --resume. Memory is the peak of each process (VmHWM). Not supported: systems other
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
from vouching.scale import FrameChecker, check_dataset
from vouching.scale.session import ray_module

MODEL = "embedded:rules"
FILES = 8
POLL_SECONDS = 0.1
LONG_SENTENCES = 400
KINDS = ("driver", "actor", "raylet")


def write_rows(folder: Path, rows: int, sentences: int = 1) -> None:
    """Rows in files: one of a hundred is broken; the source has that many sentences."""
    folder.mkdir()
    for file in range(FILES):
        with (folder / f"part-{file}.jsonl").open("w", encoding="utf-8") as out:
            for number in range(file, rows, FILES):
                year = 1800 + number % 200
                rest = " ".join(f"Span {at} of bridge {number} is {at + 7} metres long." for at in range(1, sentences))
                source = f"Bridge {number} opened in {year}. {rest}".strip()
                claim = f"Bridge {number} opened in {year + number % 2}."
                row = json.dumps({"id": f"r{number}", "claim": claim, "source": source})
                out.write(("{broken" if number % 100 == 99 else row) + "\n")


def command(rows: Path, output: Path, *more: str) -> list[str]:
    """The real command."""
    return [sys.executable, "-m", "vouching", "check", "--input", str(rows), "--output", str(output), "--model", MODEL,
            "--jobs", "2", *more]  # fmt: skip


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


def timed(rows: Path, output: Path, *more: str) -> dict[str, float]:
    """Seconds of a whole command, and the largest peak of memory of one of its processes that check rows, in MB."""
    start, peak = time.perf_counter(), 0
    running = subprocess.Popen(command(rows, output, *more), stderr=subprocess.DEVNULL)
    while running.poll() is None:
        for process, name in family(running.pid).items():
            if "BlockActor" in name or "rows.worker" in name:
                peak = max(peak, peak_of(process))
        time.sleep(POLL_SECONDS)
    assert running.returncode == 3, running.returncode  # the broken rows
    seconds = [json.loads(path.read_text())["usage"] for path in (output / "blocks").iterdir()]
    inside = sum(one.get("seconds", 0.0) for one in seconds)
    return {"seconds": round(time.perf_counter() - start, 1), "verifier_seconds": round(inside, 1),
            "peak_mb": round(peak / 1024)}  # fmt: skip


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


def compared(folder: Path, rows: int, sentences: int) -> dict[str, Any]:
    """The local runner and Ray on the same rows."""
    source = folder / f"rows-{sentences}"
    write_rows(source, rows, sentences)
    runs = {name: timed(source, folder / f"{name}-{sentences}", *more)
            for name, more in (("local", ()), ("ray", ("--engine", "ray")))}  # fmt: skip
    outputs = [folder / f"{name}-{sentences}" for name in runs]
    size = sum(path.stat().st_size for path in (outputs[0] / "parts").iterdir())
    found = {"rows": rows, "sentences": sentences, "bytes_out_per_row": round(size / rows), 
             "same_verdicts": digest(outputs[0]) == digest(outputs[1]),
             "once_each": set(ids_of(outputs[1]).values()) == {1}}  # fmt: skip
    for run in runs.values():
        run["rows_per_second"] = round(rows / run["seconds"], 1)
    return {**found, **runs, "ray_to_local": round(runs["local"]["seconds"] / runs["ray"]["seconds"], 2)}


def killed(folder: Path, rows: int, kills: int, seed: int) -> dict[str, Any]:
    """A run with Ray in which processes are killed until it is done; the number of starts, and what is lost."""
    chance, source, output = random.Random(seed), folder / "rows-killed", folder / "killed"
    write_rows(source, rows)
    done: Counter[str] = Counter()
    starts = 0
    while True:
        starts += 1
        running = subprocess.Popen(command(source, output, "--engine", "ray", "--resume"), stderr=subprocess.DEVNULL)
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
        if status == 3 and not list((output / "work").glob("*.jsonl")) and (output / "manifest.json").exists():
            break
    ids = ids_of(output)
    return {"rows": rows, "kills": dict(done), "starts": starts, "lines": sum(ids.values()),
            "lost": rows - len(ids), "doubled": sum(ids.values()) - len(ids)}  # fmt: skip


def node_removed(folder: Path, rows: int) -> dict[str, Any]:
    """A Dataset checked on a cluster of two nodes, one of which is removed while it works."""
    ray = ray_module()
    from ray.cluster_utils import Cluster

    source = folder / "rows-nodes"
    write_rows(source, rows)
    kept = [line for path in source.iterdir() for line in path.open(encoding="utf-8") if not line.startswith("{broken")]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
    second = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    ray.init(address=cluster.address, log_to_driver=False)
    checked = check_dataset(ray.data.from_items([json.loads(line) for line in kept]), MODEL, actors=2)
    ids: Counter[str] = Counter()
    for number, row in enumerate(checked.iter_rows()):
        ids[row["id"]] += 1
        if number == len(kept) // 4:
            cluster.remove_node(second, allow_graceful=False)
    ray.shutdown()
    cluster.shutdown()
    return {"rows": len(kept), "lines": sum(ids.values()), "lost": len(kept) - len(ids),
            "doubled": sum(ids.values()) - len(ids)}  # fmt: skip


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--long", type=int, default=500)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--nodes", type=int, default=0, help="rows for the cluster of two nodes; 0 for none")
    parser.add_argument("--output", type=Path, default=Path("docs/results/scale.json"))
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    FrameChecker(MODEL)  # fails now if the verifier is not there
    found: dict[str, Any] = {
        "date": datetime.date.today().isoformat(), "machine": platform.machine(), "cores": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()], "python": platform.python_version(),
        "ray": ray_module().__version__, "vouching": vouching.__version__, "model": MODEL,
    }  # fmt: skip
    parts = {"short": lambda: compared(folder, given.rows, 1),
             "long": lambda: compared(folder, given.long, LONG_SENTENCES),
             "killed": lambda: killed(folder, given.rows, given.kills, given.seed)}  # fmt: skip
    if given.nodes:
        parts["node_removed"] = lambda: node_removed(folder, given.nodes)
    for name, part in parts.items():
        found[name] = part()
        print(name, json.dumps(found[name]), file=sys.stderr)
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
