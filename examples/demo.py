"""Check the shipped examples: one verdict in full, 24 claims, three answers. Reports go to the folder given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import vouching
from vouching.report import report_markdown
from vouching.report.page import Entry, write_report
from vouching.types import Claim, Report, Source, Verdict
from vouching.types.serial import to_json

HERE = Path(__file__).resolve().parent
SHOWN = "factcheck_gpt-adba3a8710ff"
"""The claim whose verdict is printed in full: Arsenal's league titles, counted wrong."""


def main(folder: str = "demo-out") -> None:
    """Run the three parts and say where the reports are."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    claims = _rows("claims.jsonl")
    show_verdict(next(row for row in claims if row["id"] == SHOWN))
    check_claims(claims, out / "claims.jsonl")
    for number, row in enumerate(_rows("answers.jsonl"), 1):
        check_answer(row, out / f"answer-{number}")
    print(f"""
Reports are in {out.resolve()}:
  answer-1.html to answer-3.html   to open in a browser
  answer-1.md to ...               the same as Markdown
  answer-1.json to ...             the same for programs
  claims.html, claims.jsonl        every verdict on the 24 claims""")


def show_verdict(row: dict[str, Any]) -> None:
    """Check one claim with the real command."""
    print(f'$ vouch check "{row["claim"]}" --source-text ...\n', flush=True)
    vouch = [sys.executable, "-m", "vouching"]
    subprocess.run([*vouch, "check", row["claim"], "--source-text", row["source"]], check=True)


def check_claims(rows: list[dict[str, Any]], path: Path) -> None:
    """Check claims by ChatGPT against web evidence and count the agreement with the annotators."""
    verdicts = [vouching.check(Claim(row["claim"], row["id"]), row["source"]) for row in rows]
    path.write_text("".join(to_json(verdict) + "\n" for verdict in verdicts), encoding="utf-8")
    entries = [Entry(verdict, (Source(row["source"]),)) for row, verdict in zip(rows, verdicts, strict=True)]
    write_report(path.with_suffix(".html"), entries, title="24 claims by ChatGPT")
    pairs = zip(rows, verdicts, strict=True)
    agreed = sum(isinstance(verdict, Verdict) and verdict.label == row["gold"] for row, verdict in pairs)
    print(f"\n{len(rows)} claims by ChatGPT against web evidence: {agreed} verdicts agree with the annotators")


def check_answer(row: dict[str, Any], path: Path) -> None:
    """Check a whole answer, write its report in three forms and count the known errors that were found."""
    sources = [Source(**source) for source in row["sources"]]
    report = vouching.check_response(row["response"], sources, question=row["question"])
    write_report(path.with_suffix(".html"), [Entry(report)], title=row["question"])
    path.with_suffix(".md").write_text(report_markdown(report), encoding="utf-8")
    path.with_suffix(".json").write_text(to_json(report, indent=2), encoding="utf-8")
    flagged = flagged_spans(report)
    spans = [error["span"] for error in row["known_errors"]]
    places = {span: row["response"].index(span) for span in spans}
    missed = [span for span in spans if not any(start <= places[span] < end for start, end in flagged)]
    print(f"{path.name}: {len(report.findings)} claims, {len(flagged)} not supported")
    print(f"  {len(spans) - len(missed)} of {len(spans)} known errors found", end="")
    print(f"; missed: {', '.join(repr(span) for span in missed)}" if missed else "")


def flagged_spans(report: Report) -> list[tuple[int, int]]:
    """Where in the response the claims stand that its sources do not support."""
    flagged = [f for f in report.findings if isinstance(f, Verdict) and not f.attributable]
    return [(verdict.claim.span.start, verdict.claim.span.end) for verdict in flagged if verdict.claim.span]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main(*sys.argv[1:])
