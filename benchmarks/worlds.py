"""Arms of the papers' ablations in small worlds: small policies from random weights, judged by an oracle.

    python benchmarks/worlds.py start   --world facts --out runs/worlds     # rows, a random model, its imperfect level
    python benchmarks/worlds.py arms    --world facts --out runs/worlds --seeds 0 1 2 [--arms binary] [--steps N]
    python benchmarks/worlds.py analyse --world facts
    python benchmarks/worlds.py page                       # docs/reproductions.md and its pictures, from all results

Each arm is ``vouch train METHOD recipes/worlds/WORLD.toml`` with the settings in ``benchmarks/world_WORLD.py``, from
one initial model and with equal rollouts. What a run ends with is judged on held-out prompts, and kept in the results:
``ARM-SEED.json`` with outcomes by prompt, and ``ARM-SEED.metrics.jsonl``. Runs resume, and finished ones are skipped.
The claims are ``vouching.worlds.claims``, their decision rule is that of ``design/0011-small-worlds.md``. One thread.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.world_answers import ANSWERS  # noqa: E402
from benchmarks.world_documents import DOCUMENTS  # noqa: E402
from benchmarks.world_facts import FACTS  # noqa: E402
from benchmarks.world_forms import FORMS  # noqa: E402
from benchmarks.world_instructions import INSTRUCTIONS  # noqa: E402
from benchmarks.world_page import page  # noqa: E402
from benchmarks.world_probes import PROBES  # noqa: E402
from benchmarks.world_runs import INITIAL, World, run_arm, start  # noqa: E402
from vouching.worlds.claims import CLAIMS  # noqa: E402
from vouching.worlds.claims import World as Name  # noqa: E402
from vouching.worlds.report import read_outcomes, table_of  # noqa: E402

RESULTS = ROOT / "docs/results/reproductions"
WORLDS: Mapping[Name, World] = {"facts": FACTS, "instructions": INSTRUCTIONS, "documents": DOCUMENTS,
                                "forms": FORMS, "answers": ANSWERS, "probes": PROBES}  # fmt: skip


def main() -> None:
    """Run one of the steps above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("start", "arms", "analyse", "page"))
    parser.add_argument("--world", choices=WORLDS, default="facts")
    parser.add_argument("--out", type=Path, default=Path("runs/worlds"))
    parser.add_argument("--results", type=Path, help="folder of results; by default docs/results/reproductions/WORLD")
    parser.add_argument("--arms", nargs="+", metavar="ARM", help="by default all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=150, help="steps of each arm")
    parser.add_argument("--rows", type=int, help="rows of the start; by default those of the world")
    parser.add_argument("--held-out", type=int, default=300, help="prompts that the oracle judges")
    options = parser.parse_args()
    world = WORLDS[options.world]
    results, folder = options.results or RESULTS / world.name, options.out / world.name
    if unknown := {*(options.arms or ())} - {*world.arms}:
        parser.error(f"unknown arms {', '.join(sorted(unknown))}; choose from {', '.join(world.arms)}")
    if options.step == "page":
        write_page(options.results or RESULTS, ROOT / "docs")
    elif options.step == "analyse":
        print(analyse(options.world, results))
    elif options.step == "start":
        start(world, folder, options.rows or world.rows)
    else:
        for seed in options.seeds:
            for arm in (INITIAL, *(options.arms or world.arms)):
                run_arm(world, arm, seed, folder, results, options.steps, options.held_out)


def analyse(name: Name, results: Path) -> str:
    """The table of claims, from the files of results alone."""
    return table_of(CLAIMS[name], read_outcomes(results))


def write_page(results: Path, docs: Path) -> None:
    """Write docs/reproductions.md and its pictures; pictures without results are removed."""
    text, pictures = page(results, {name: [*world.arms] for name, world in WORLDS.items()})
    for old in (docs / "images").glob("reproductions-*.svg"):
        old.unlink()
    for name, drawn in pictures.items():
        (docs / "images" / name).write_text(drawn, encoding="utf-8")
    (docs / "reproductions.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
