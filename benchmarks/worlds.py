"""Arms of the papers' ablations in small worlds: small policies from random weights, judged by an oracle.

    python benchmarks/worlds.py start   --world facts         # rows, a random model, its imperfect level
    python benchmarks/worlds.py arms    --world facts --arms process binary
    python benchmarks/worlds.py analyse --world facts --results runs/worlds/facts/results
    python benchmarks/worlds.py analyse --world facts         # of the committed results
    python benchmarks/worlds.py verify  --world facts --arms process --seeds 0    # run again, beside its result
    python benchmarks/worlds.py page    # docs/reproductions.md and its pictures, from the committed results

A try-out of a minute or two: start with --rows 64 --out /tmp/tiny, then arms with --steps 3 --held-out 8 --seeds 0.

Each arm is ``vouch train METHOD recipes/worlds/WORLD.toml`` with the settings in ``benchmarks/world_WORLD.py``, from
one initial model and with equal rollouts. What a run ends with is judged on held-out prompts, and kept in the results:
``ARM-SEED.json`` with outcomes by prompt, and ``ARM-SEED.metrics.jsonl``. Runs resume from their last checkpoint, and
finished ones are skipped.
The claims are ``recipes.worlds.claims``, their decision rule is that of ``design/0011-small-worlds.md``. One thread.
"""

from __future__ import annotations

import argparse
import json
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
from benchmarks.world_page import page, remarks_of  # noqa: E402
from benchmarks.world_probes import PROBES  # noqa: E402
from benchmarks.world_runs import INITIAL, World, run_arm, start  # noqa: E402
from recipes.worlds.claims import CLAIMS  # noqa: E402
from recipes.worlds.claims import World as Name  # noqa: E402
from recipes.worlds.report import read_outcomes, table_of  # noqa: E402
from vouching.errors import ConfigError, InputError  # noqa: E402

RESULTS = ROOT / "docs/results/reproductions"
WORLDS: Mapping[Name, World] = {
    "facts": FACTS,
    "instructions": INSTRUCTIONS,
    "documents": DOCUMENTS,
    "forms": FORMS,
    "answers": ANSWERS,
    "probes": PROBES,
}


def main() -> None:
    """Run one of the steps above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("start", "arms", "verify", "analyse", "page"))
    parser.add_argument("--world", choices=WORLDS, default="facts", help="of all but page (default: facts)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs/worlds"),
        help="starts and runs, in a folder for each world (default: runs/worlds)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        help="of arms, verify and analyse (default of arms: OUT/WORLD/results; of the others: the committed ones)",
    )
    parser.add_argument(
        "--arms", nargs="+", metavar="ARM", help="of arms and verify (default: all; initial: only judge the start)"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of arms (default: 0 1 2)")
    parser.add_argument("--steps", type=_positive, default=150, help="of each arm (default: 150)")
    parser.add_argument("--rows", type=_positive, help="of start (default: those of the world, 3,000 to 9,000)")
    parser.add_argument("--held-out", type=_positive, default=300, help="prompts that the oracle judges (default: 300)")
    options = parser.parse_args()
    world = WORLDS[options.world]
    if unknown := {*(options.arms or ())} - {*world.arms, INITIAL}:
        parser.error(f"unknown arms {', '.join(sorted(unknown))}; choose from {', '.join(world.arms)}")
    try:
        _run(world, options)
    except (ConfigError, InputError) as error:
        sys.exit(f"{error}")


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {text}")
    return int(text)


def _run(world: World, options: argparse.Namespace) -> None:
    folder = options.out / world.name
    if options.step == "page":
        write_page(RESULTS, ROOT / "docs")
    elif options.step == "analyse":
        print(analyse(options.world, options.results or RESULTS / world.name))
    elif options.step == "verify":
        kept = options.results or RESULTS / world.name
        alike = [
            verify(world, arm, seed, folder, kept) for seed in options.seeds for arm in options.arms or [*world.arms]
        ]
        sys.exit(not all(alike))
    elif options.step == "start":
        start(world, folder, options.rows or world.rows)
    else:
        results = options.results or folder / "results"
        for seed in options.seeds:
            for arm in dict.fromkeys((INITIAL, *(options.arms or world.arms))):
                run_arm(world, arm, seed, folder, results, options.steps, options.held_out)


def analyse(name: Name, results: Path) -> str:
    """The table of claims, from the files of results alone.

    Raises ConfigError for a folder without results of this world.
    """
    outcomes = read_outcomes(results)
    if not outcomes:
        raise ConfigError(f"{results} has no results: run python benchmarks/worlds.py arms, or pass --results")
    if unknown := outcomes.keys() - {*WORLDS[name].arms, INITIAL}:
        raise ConfigError(f"{results} has arms that the world of {name} does not have: {', '.join(sorted(unknown))}")
    return table_of(CLAIMS[name], outcomes, remarks_of(results.parent).get(name))


def verify(world: World, arm: str, seed: int, folder: Path, kept: Path) -> bool:
    """Run an arm again, as its result was, and print how the oracle's outcomes agree; whether all do.

    Raises ConfigError if the arm has no result, or was already run in the folder.
    """
    result, again = kept / f"{arm}-{seed}.json", folder / f"verified/{arm}-{seed}.json"
    if not result.is_file():
        raise ConfigError(f"{result} does not exist: choose arms and seeds that have been run")
    if not again.is_file() and (folder / f"{arm}-{seed}").is_dir():
        raise ConfigError(f"{folder} has a run of {arm}, seed {seed}, already: pass another --out, with a start")
    known = json.loads(result.read_text(encoding="utf-8"))
    run_arm(world, arm, seed, folder, again.parent, known["steps"], len(known["outcomes"]))
    before, after = known["outcomes"], json.loads(again.read_text(encoding="utf-8"))["outcomes"]
    alike = sum(after.get(prompt) == found for prompt, found in before.items())
    print(f"{arm}, seed {seed}: {alike} of {len(before)} prompts have the outcomes of {result.name}")
    for name in sorted({name for found in before.values() for name in found}):
        means = [_mean([found[name] for found in one.values() if name in found]) for one in (before, after)]
        print(f"  {name}: {means[0]:.4f}, again {means[1]:.4f}")
    return alike == len(before)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def write_page(results: Path, docs: Path) -> None:
    """Write docs/reproductions.md and its pictures; pictures without results are removed."""
    text, pictures = page(results, {name: [*world.arms] for name, world in WORLDS.items()})
    for old in (docs / "images").glob("reproductions-*.svg"):
        old.unlink()
    for name, drawn in pictures.items():
        (docs / "images" / name).write_text(drawn, encoding="utf-8")
    (docs / "reproductions.md").write_text(text, encoding="utf-8")
    sys.stderr.write(f"{docs / 'reproductions.md'} and {len(pictures)} pictures written\n")


if __name__ == "__main__":
    main()
