"""Whether the encoder says the same on an older, emulated CPU: without VNNI, processors multiply int8 otherwise.

    python benchmarks/older_cpu.py [--emulator "qemu-x86_64 -cpu Haswell"] [--pairs 24] [--output FILE]

Reads claims of tests/data/contrast/dev with the beginning of their documents, once here and once in a Python that runs
in the emulator (Debian: qemu-user), and compares the probabilities of support. Takes some minutes. Not supported: other
architectures.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from vouching.encoder.encoder import has_vnni, load_encoder
from vouching.types import Source

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests/data/contrast/dev"
CHARACTERS = 900
"""Of a source: as long as a premise."""


def pairs(count: int) -> list[tuple[str, str]]:
    """Claims with the beginnings of their documents, spread over the corpus."""
    path = next(CORPUS.glob("claims.jsonl*"))
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [json.loads(line) for line in raw.decode().splitlines()]
    documents = {path.stem: path.read_text("utf-8") for path in (CORPUS / "documents").iterdir()}
    return [(row["claim"], documents[row["document"]][:CHARACTERS]) for row in rows[:: len(rows) // count][:count]]


def read_all(count: int) -> dict[str, Any]:
    """P(supported) of each pair on the CPU of this process, and whether that has VNNI."""
    encoder = load_encoder()
    found = [encoder.read(claim, encoder.encode([Source(text)])).support for claim, text in pairs(count)]
    return {"vnni": has_vnni(), "supports": found}


def emulated(emulator: str, count: int) -> dict[str, Any]:
    """The same from a Python in the emulator."""
    command = [*shlex.split(emulator), sys.executable, __file__, "--pairs", str(count), "--only-print"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    return json.loads(done.stdout)


def main() -> None:
    """Read here and there, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulator", default="qemu-x86_64 -cpu Haswell", help="a command before another")
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/older_cpu.json")
    parser.add_argument("--only-print", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_print:
        print(json.dumps(read_all(options.pairs)))
        return
    ours, theirs = read_all(options.pairs), emulated(options.emulator, options.pairs)
    here, there = (np.array(found["supports"]) for found in (ours, theirs))
    apart = np.abs(here - there)
    record = {
        "command": "python benchmarks/older_cpu.py",
        "encoder": load_encoder().weights.digest,
        "emulator": options.emulator,
        "onnxruntime": version("onnxruntime"),
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "vnni": {"here": ours["vnni"], "emulated": theirs["vnni"]},
        "pairs": options.pairs,
        "mean_difference": round(float(apart.mean()), 5),
        "largest_difference": round(float(apart.max()), 5),
        "other_labels": int(((here >= 0.5) != (there >= 0.5)).sum()),
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
