"""Whether a change of the library's structure keeps its behaviour: digests recorded before, compared after.

    python benchmarks/same_behaviour.py record  [--only PART]     writes benchmarks/results/same_behaviour.json
    python benchmarks/same_behaviour.py compare [--only PART]     computes all again; exit status 1 if one differs
    python benchmarks/same_behaviour.py --show PART/NAME          the JSON of one item, for comparison

    verdicts   1,000 claims by two models, and 63 responses split into claims and repaired
    rewards    some 20,000 random replies, in blocks of 100, and the command ``vouch reward`` on files
    audits     blinded audits, rules of instructions, challenges to structured work, rankings
    training   tiny runs of every game and trainer: final weights and the whole log without times

An entry is twelve digits of a SHA-256 and, for the reader, what the item says in short. Versions and seconds do not
count. Blocks whose names hold "repair" are of behaviour that is known to be wrong and about to be repaired: that they
differ is then right. Another processor may give other last digits; the file names the one that it was recorded on.
Needs $VOUCH_DATA and the extra train. Not supported: language models, the web, several processes, GPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch are loaded

from same_audits import audits
from same_items import DATA, ROOT, Item, canonical
from same_rewards import rewards
from same_training import training
from same_verdicts import verdicts

RESULTS = Path(__file__).parent / "results/same_behaviour.json"
PARTS: dict[str, Callable[[], Iterator[Item]]] = {
    "verdicts": verdicts,
    "rewards": rewards,
    "audits": audits,
    "training": training,
}
NAMED = 8
"""Items that are named where some differ."""


def computed(part: str) -> dict[str, str]:
    """All entries of a part, and on standard error how long they took."""
    wall, cpu = time.perf_counter(), time.process_time()
    found: dict[str, str] = {}
    for item in PARTS[part]():
        if item.name in found:
            raise ValueError(f"{part} has two items called {item.name}")
        found[item.name] = item.entry()
    spent = f"{time.process_time() - cpu:.0f} s of CPU, {time.perf_counter() - wall:.0f} s"
    print(f"{part}: {len(found):,} items in {spent}", file=sys.stderr)
    return found


def processor() -> str:
    """What the last digits may depend on."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text("utf-8").splitlines() if cpu.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{platform.machine()} {model}".strip()


def record(parts: list[str]) -> int:
    """Write the entries of the parts; those of other parts are kept."""
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    entries = known.get("parts", {}) | {part: computed(part) for part in parts}
    whole = {
        "command": "python benchmarks/same_behaviour.py record",
        "processor": processor(),
        "python": platform.python_version(),
        "parts": {part: entries[part] for part in PARTS if part in entries},
    }
    RESULTS.write_text(json.dumps(whole, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{RESULTS}: {RESULTS.stat().st_size:,} bytes")
    return 0


def compare(parts: list[str]) -> int:
    """Recompute the entries and report those that differ."""
    known = json.loads(RESULTS.read_text("utf-8"))
    print(f"measured: {ROOT / 'src'}")
    if known["processor"] != processor():
        print(f"recorded on {known['processor']}, this is {processor()}: last digits may differ")
    differing = 0
    for part in parts:
        before, now = known["parts"].get(part, {}), computed(part)
        names = [*dict.fromkeys([*before, *now])]
        others = [name for name in names if before.get(name) != now.get(name)]
        repairs = sum("repair" in name for name in others)
        note = f" ({repairs} of the others about to be repaired)" if repairs else ""
        print(f"{part}: {len(names) - len(others):,} of {len(names):,} equal{note}")
        for name in others[:NAMED]:
            print(f"  {part}/{name}\n    before: {before.get(name, 'none')}\n    now:    {now.get(name, 'none')}")
        if len(others) > NAMED:
            print(f"  and {len(others) - NAMED:,} more: {', '.join(others[NAMED : NAMED + 40])}")
        differing += len(others)
    print("all equal" if not differing else f"{differing:,} differ; --show PART/NAME prints one")
    return int(differing > 0)


def show(item: str) -> int:
    """Print the JSON of one item, or of all whose names begin so."""
    part, _, name = item.partition("/")
    if part not in PARTS:
        print(f"there is no part {part!r}, expected {', '.join(PARTS)}", file=sys.stderr)
        return 2
    found = [item for item in PARTS[part]() if item.name == name or item.name.startswith(f"{name}/")]
    for item in found:
        print(f"{part}/{item.name}\n{canonical(item.make(), indent=1)}")
    if not found:
        print(f"{part} has no item {name!r}", file=sys.stderr)
    return 0 if found else 2


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", choices=["record", "compare"])
    parser.add_argument("--only", metavar="PART", choices=[*PARTS], action="append")
    parser.add_argument("--show", metavar="PART/NAME")
    options = parser.parse_args()
    if (options.mode is None) == (options.show is None):
        parser.error("say record, compare or --show PART/NAME")
    if not (DATA / "attribution/train").is_dir():
        parser.error(f"{DATA} has no data: say in VOUCH_DATA where they are")
    if options.show is not None:
        return show(options.show)
    return (record if options.mode == "record" else compare)(options.only or [*PARTS])


if __name__ == "__main__":
    sys.exit(main())
