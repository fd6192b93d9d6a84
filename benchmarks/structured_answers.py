"""Structured answers by a writer who has not seen the code: are wrong values found, are right ones left alone?

    python benchmarks/structured_answers.py [--part dev|test] [--model embedded] [--output FILE] [--errors]

84 answers (tables, "key: value" lines, nested lists, JSON, YAML, HTML), each with its source; 48 have one wrong value.
A value counts as found if a claim with it is flagged, and an answer has a false flag if any other claim is. The part
dev is for repairs, test for reporting only.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from vouching import Checker

ROWS = Path(__file__).parents[1] / "tests/data/answers/structured_fresh.jsonl"


def measured(checker: Checker, rows: list[dict[str, Any]], errors: bool) -> dict[str, dict[str, int]]:
    """Counts by form, and over all."""
    counts: dict[str, Counter[str]] = {form: Counter() for form in ("all", *dict.fromkeys(row["form"] for row in rows))}
    for row in rows:
        findings = checker.check_response(row["answer"], row["source"]).findings
        hits = [f for f in findings if row["wrong"] and f.span and row["wrong"] in f.span.text]
        false = [f for f in findings if f.passed is False and f not in hits]
        found = any(f.passed is False for f in hits)
        for form in ("all", row["form"]):
            counts[form].update(answers=1, with_a_wrong_value=row["wrong"] is not None, found=found)
            counts[form].update(with_a_false_flag=bool(false), claims=len(findings), false_flags=len(false))
        if errors and (false or (row["wrong"] and not found)):
            flags = "; ".join(f.span.text for f in false if f.span)
            sys.stderr.write(f"{row['id']}: {'' if found else row['wrong']} missed; false flags: {flags}\n")
    return {form: dict(own) for form, own in counts.items()}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--errors", action="store_true", help="print what is wrong, of the part dev only")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    options = parser.parse_args()
    if options.errors and options.part == "test":
        parser.error("--errors reads the part dev only: the part test is for reporting")
    rows = [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]
    figures = measured(Checker(options.model), [row for row in rows if row["part"] == options.part], options.errors)
    record = {
        "command": f"python benchmarks/structured_answers.py --part {options.part} --model {options.model}",
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "machine": platform.machine(),
        "figures": figures,
    }
    text = json.dumps(record, indent=1) + "\n"
    sys.stdout.write(text)
    if options.output:
        options.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
