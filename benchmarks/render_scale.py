"""The section "Sizing" of docs/scale.md, between its ``<!-- sizing -->`` marks, from docs/results/scale.json.

    python benchmarks/render_scale.py [ROOT]

Measures nothing. The cost of 100 million rows assumes that each virtual core of a machine works as fast as a core that
was measured, and that more cores add up. Prices are assumed, not looked up.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from render_tables import Figures, origin, table
from render_wrap import wrapped

START, END = "<!-- sizing -->", "<!-- /sizing -->"
MANY = 100_000_000
MACHINES = (("c7i.4xlarge", 16, 0.714), ("c7g.4xlarge", 16, 0.58))
"""Name, virtual cores, and an assumed price of an hour on demand, in dollars."""
CLASSES = {"short": "short rows", "long": "long rows", "skewed": "short rows and one source of 5 MB"}


def scale_lines(record: Figures) -> Iterator[str]:
    """Rates, memory and cost, then what kills lost."""
    found = {title: record[name] for name, title in CLASSES.items() if name in record}
    yield origin(record)
    yield f"The load before the run was {record['load'][0]}, and {record['jobs']} processes or actors worked."
    yield from table(
        (
            "rows",
            "number >",
            "bytes in >",
            "bytes out >",
            "rows/s local >",
            "rows/s Ray >",
            "Ray / local >",
            "first block, Ray, s >",
            "MB per actor >",
            "time in the verifier, Ray >",
            "same verdicts",
        ),
        (
            (
                title,
                f"{one['rows']:,}",
                f"{one['bytes_in_per_row']:,}",
                f"{one['bytes_out_per_row']:,}",
                one["local"]["rows_per_second"],
                one["ray"]["rows_per_second"],
                one["ray_to_local"],
                one["ray"]["first_block_seconds"],
                one["ray"]["peak_mb"],
                f"{one['ray']['verifier_seconds'] / one['ray']['seconds'] / record['jobs']:.0%}",
                "yes" if one["same_verdicts"] else "no",
            )
            for title, one in found.items()
        ),
    )
    yield ""
    yield from _limits(found, record["jobs"])
    yield ""
    yield f"For {MANY:,} rows, at the rate of Ray per actor on {record['cores']} cores:"
    yield from _costs(found, record)
    for name, what in (("killed", "a run that was killed"), ("nodes", "a run of which a node was removed")):
        if name in record:
            one = record[name]
            times = f" {sum(one['kills'].values())} times" if "kills" in one else ""
            yield ""
            yield f"Of {one['rows']:,} rows, {what}{times} lost {one['lost']} and doubled {one['doubled']}."


def _costs(found: Figures, record: Figures) -> Iterator[str]:
    yield from table(
        ("rows", "core hours >", "GB out >", *(f"{name} >" for name, _, _ in MACHINES)),
        (
            (
                title,
                f"{hours:,.0f}",
                f"{MANY * one['bytes_out_per_row'] / 1e9:,.0f}",
                *(f"${hours / cores * price:,.0f}" for _, cores, price in MACHINES),
            )
            for title, one in found.items()
            if title != CLASSES["skewed"]
            for hours in [MANY / one["ray"]["rows_per_second"] * record["jobs"] / 3600]
        ),
    )
    yield ""
    yield (
        "The prices of an hour are assumed (" + ", ".join(f"{name} ${price}" for name, _, price in MACHINES) + "). The "
        "cost assumes that a virtual core is as fast as a measured one and that cores add up, which was not measured "
        f"beyond {record['cores']} cores; and that the rate of the {max(one['rows'] for one in found.values()):,} rows "
        f"of the largest run is that of {MANY:,}."
    )


def _limits(found: Figures, jobs: int) -> Iterator[str]:
    """What is used up first."""
    each = [
        one["ray"]["rows_per_second"] / jobs * (one["bytes_in_per_row"] + one["bytes_out_per_row"])
        for one in found.values()
    ]
    yield (
        f"An actor read and wrote at most {max(each) / 1e6:.1f} MB a second, so cores are used up before disks and "
        "networks. The time outside the verifier is that of starting, reading, writing and the check at the end."
    )


def main() -> None:
    """Rewrite the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[1])
    root: Path = parser.parse_args().root
    record = json.loads((root / "docs/results/scale.json").read_text(encoding="utf-8"))
    page = root / "docs/scale.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    text = "\n".join(wrapped(scale_lines(record)))
    page.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
