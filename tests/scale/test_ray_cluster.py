"""A running cluster: joined by its address, with nodes that go away, and nodes with another version."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import vouching
from tests.rows import works
from tests.scale.conftest import STORE
from vouching.errors import ConfigError
from vouching.rows.folder import check_folder, run_folder
from vouching.rows.parts import FolderJob
from vouching.scale.engine import RayEngine
from vouching.scale.session import check_nodes

CLAIMS = [json.loads(line) for line in Path("examples/claims.jsonl").read_text(encoding="utf-8").splitlines()]


def rows_in(folder: Path, files: int, each: int) -> Path:
    """Claims with ids in files of a folder; each file is a block."""
    folder.mkdir()
    for file in range(files):
        rows = [{**CLAIMS[n % len(CLAIMS)], "id": f"{file}-{n}"} for n in range(each)]
        (folder / f"{file}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder


def ids_in(output: Path) -> Counter[str]:
    return Counter(json.loads(line)["id"] for part in (output / "parts").iterdir() for line in part.open())


def test_a_killed_command_that_joined_a_cluster_is_finished_by_the_next(cluster: Any, tmp_path: Path) -> None:
    rows, output = rows_in(tmp_path / "rows", 6, 40), tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "vouching",
        "check",
        "--input",
        str(rows),
        "--output",
        str(output),
        "--model",
        "embedded:rules",
        "--engine",
        "ray",
        "--ray-address",
        cluster.address,
        "--resume",
    ]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not list(output.glob("blocks/*")) and first.poll() is None:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    kept = {path: path.stat().st_mtime_ns for path in output.glob("blocks/[!.]*")}
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert ids_in(output) == Counter(f"{file}-{n}" for file in range(6) for n in range(40))
    assert check_folder(str(output)).faults == ()


def test_a_node_that_is_removed_midway_loses_and_doubles_no_row(ray: Any, cluster: Any, tmp_path: Path) -> None:
    second = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    rows, output = rows_in(tmp_path / "rows", 16, 8), tmp_path / "out"
    removed: list[int] = []

    def watch(result: Any, share: float) -> None:
        """Remove the node once it has finished a block, and so has been given others."""
        [part] = (output / "parts").glob(f"{result.block:08d}.*")
        if not removed and json.loads(part.open().readline())["node"] == second.node_id:
            cluster.remove_node(second, allow_graceful=False)
            removed.append(result.block)

    job = FolderJob(str(rows), str(output), works.name_node, works.seen_in, {})
    summary = run_folder(job, RayEngine(actors=3), watch=watch)
    assert (summary.rows, len(removed)) == (128, 1)
    assert ids_in(output) == Counter(f"{file}-{n}" for file in range(16) for n in range(8))
    assert check_folder(str(output)).faults == ()


def test_a_node_with_another_version_is_named_before_work_starts(ray: Any, cluster: Any, tmp_path: Path) -> None:
    # A copy of the package that differs in its version alone, for the processes of one node.
    package = Path(vouching.__file__).parent
    (copy := tmp_path / "other/vouching").mkdir(parents=True)
    for place in package.iterdir():
        if place.name != "version.py":
            (copy / place.name).symlink_to(place)
    (copy / "version.py").write_text('__version__ = "0.0.1"\n')
    (tmp_path / "run.json").write_text("{}")
    path = os.pathsep.join([str(copy.parent), str(Path.cwd())])
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE, env_vars={"PYTHONPATH": path})
    try:
        with pytest.raises(ConfigError, match=r"has vouching 0\.0\.1, this machine .*: install the same version"):
            check_nodes(ray, str(tmp_path))
    finally:
        cluster.remove_node(node)
