"""Write a figure of ``vouch bench run`` for the page of a model on the Hugging Face hub.

    python examples/eval_results.py RUN SET METRIC --dataset OWNER/NAME --task ID > MODEL/.eval_results/vouch.yaml

The hub shows it if the data set is a benchmark there that defines the task. JSON is YAML, so nothing need be installed.
The format is https://github.com/huggingface/hub-docs/blob/main/eval_results.yaml.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any


def entry(results: dict[str, Any], name: str, metric: str, dataset: str, task: str, url: str | None) -> dict[str, Any]:
    """The entry for a metric of a set. Exits with a message if the run has no such figure, or is of a sample."""
    if results["settings"].get("limit") is not None:
        sys.exit("the run is of a sample (--limit): run the whole set for a result that others can compare")
    made = results["sets"].get(name)
    if made is None:
        sys.exit(f"the run has no set {name!r}: it has {', '.join(results['sets'])}")
    figure = made["metrics"].get(metric)
    if figure is None or figure["estimate"] is None:
        known = (one for one, found in made["metrics"].items() if found and found["estimate"] is not None)
        sys.exit(f"the run has no {metric!r} of {name}: it has {', '.join(known)}")
    notes = f"{metric}, {made['rows']} rows"
    if figure["low"] is not None:
        notes += f", 95% interval {figure['low']} to {figure['high']}"
    if made["unverified"]:
        notes += f", {made['unverified']} without a verdict are left out"
    notes += f"; {results['settings']['model']}, vouching {results['settings']['vouching']}"
    written = {"dataset": {"id": dataset, "task_id": task}, "value": figure["estimate"], "date": results["date"]}
    return {**written, **({"source": {"url": url, "name": "vouch bench run"}} if url else {}), "notes": notes}


def main() -> None:
    """Print the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of --out")
    parser.add_argument("set", help="name of the set in the run")
    parser.add_argument("metric", help="such as balanced_accuracy")
    parser.add_argument("--dataset", required=True, metavar="OWNER/NAME", help="the benchmark on the hub")
    parser.add_argument("--task", required=True, metavar="ID", help="a task in its eval.yaml")
    parser.add_argument("--source", metavar="URL", help="where the rows of the run can be read")
    given = parser.parse_args()
    results = json.loads((given.run / "results.json").read_text(encoding="utf-8"))
    found = entry(results, given.set, given.metric, given.dataset, given.task, given.source)
    print(json.dumps([found], indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
