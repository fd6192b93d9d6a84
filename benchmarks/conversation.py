"""How long a conversation takes: 30 answers with 100 results of tools, and an answer of 20 sentences about a long text.

    python benchmarks/conversation.py [--models embedded:rules ...] [--output benchmarks/results/conversation.json]

Each model has a process of its own, whose start and the loading of its weights are not counted. Seconds of the
processor say what the work costs, those of the clock also what else the machine does. Not supported: several cores.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vouching
from vouching.embedded.verify import MODELS
from vouching.text.sentences import sentence_spans

ROOT = Path(__file__).parents[1]
TURNS, ROWS, SENTENCES = 30, 5, 20
TEXT = ROOT / "docs/evidence.md"
"""What the answer of 20 sentences is about: some of its own sentences, every other one with a number too many."""


def conversation() -> list[dict[str, Any]]:
    """Messages with an answer per turn, of which the first claim is right and the second is wrong."""
    messages: list[dict[str, Any]] = []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"How warm is it in the towns of region {turn}?"})
        for call in range(4 if turn < 10 else 3):  # 10 * 4 + 20 * 3 = 100 results
            rows = [
                {"town": f"Town{turn}x{call}x{row}", "temperature": turn + row, "sky": "clear"} for row in range(ROWS)
            ]
            messages.append({"role": "tool", "tool_call_id": f"call_{turn}_{call}", "content": json.dumps(rows)})
        messages.append({"role": "assistant", "content": f"The temperature in Town{turn}x0x1 is {turn + 1}. It is 99."})
    return messages


def long_answer() -> tuple[str, str]:
    """An answer of 20 sentences, and the text that it is about."""
    text = TEXT.read_text("utf-8")
    spans = [span for span in sentence_spans(text) if 60 <= span[1] - span[0] <= 160 and text[span[1] - 1] == "."]
    step = len(spans) // SENTENCES
    said = [" ".join(text[start:end].split()) for start, end in spans[::step][:SENTENCES]]
    return " ".join(one if n % 2 else f"{one[:-1]} in 7 cases." for n, one in enumerate(said)), text


def timed(work: Callable[[], object]) -> dict[str, float]:
    """Seconds of the clock and of the processor."""
    wall, own = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": round(time.perf_counter() - wall, 2),
        "processor_seconds": round(time.process_time() - own, 2),
    }


def measure(model: str) -> dict[str, Any]:
    """Times of a model, in this process."""
    vouching.check("It opened in 1937.", "The bridge opened in 1973.", model=model)
    reports: list[vouching.Report] = []
    spent = timed(lambda: reports.extend(vouching.check_trace(conversation(), model=model)))
    wrong = [finding.label == "Not Attributable" for report in reports for finding in report.findings]
    if wrong != [False, True] * TURNS:
        raise RuntimeError(f"{model} did not judge every answer rightly: {wrong}")
    answer, text = long_answer()
    long = timed(lambda: vouching.check_response(answer, text, model=model))
    return {"conversation": spent, "long_answer": {"words_of_source": len(text.split()), **long}}


def main() -> None:
    """Measure each model, print the record, write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/conversation.json")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measure(options.models[0])))
        return
    found: dict[str, Any] = {}
    for model in options.models:
        command = [sys.executable, str(Path(__file__)), "--alone", "--models", model]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        found[model] = json.loads(done.stdout)
    record = {
        "command": " ".join(["python benchmarks/conversation.py", *sys.argv[1:]]),
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "answers": TURNS,
        "load": round(os.getloadavg()[0], 1),
        "models": found,
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
