"""The faults that the servers are tested with: each test is run, and docs/operations.md gets the table of the results.

    python benchmarks/faults.py            # runs the tests: docs/results/faults.json and the table
    python benchmarks/faults.py --new      # runs only the tests of rows without a result
    python benchmarks/faults.py --render   # only the table

A test that cannot run, such as the one that mounts a small disk, is "skipped" with its reason.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results/faults.json"
PAGE = ROOT / "docs/operations.md"
BEGIN, END = "<!-- faults: made by benchmarks/faults.py -->\n", "<!-- end of faults -->\n"

SERVER: tuple[tuple[str, str, str, str], ...] = (
    (
        "a worker is killed (SIGKILL) under load",
        "replaced; its open requests fail and can be retried; no answered row is lost",
        "workers",
        "killed_worker",
    ),
    (
        "SIGTERM during a long request",
        "it is answered and kept, then the server ends with status 0",
        "workers",
        "stop_ends",
    ),
    (
        "SIGTERM while a model or an upstream server is silent",
        "503 after `shutdown_seconds` (proxy: 5 s); the server ends at most 5 seconds later, with status 0",
        "workers",
        "does_not_answer or upstream_server_answers",
    ),
    (
        "SIGTERM while a worker is stuck",
        "it is killed 7 seconds after `shutdown_seconds`; the server ends with status 0",
        "workers",
        "is_stuck",
    ),
    (
        "PostgreSQL restarts under load",
        "503 with `Retry-After` until it is back; no answered row is lost, none is kept twice",
        "history",
        "restart_of_postgresql",
    ),
    (
        "the disk of the ledger is full",
        "503 with `Retry-After`, no verdict; works again once there is space",
        "faults",
        "full_disk",
    ),
    (
        "the ledger lacks its tables or is damaged",
        "500, which a retry does not help, no verdict",
        "history",
        "cannot_be_kept",
    ),
    (
        "a source that takes a minute",
        "504 after `timeout_seconds`; health answers meanwhile; its place is free",
        "faults",
        "takes_a_minute",
    ),
    (
        "a request that takes too long",
        "504; its process is ended, and its place is free",
        "access",
        "takes_too_long",
    ),
    ("more requests than places", "429 with `Retry-After`; health answers at once", "access", "full_server"),
    ("10,000 tiny claims in a body", "422 with the limit, before one is judged", "faults", "ten_thousand"),
    (
        "a body of 1 GB, in chunks",
        "413 once the limit is passed; the rest is neither read nor held",
        "faults",
        "gigabyte",
    ),
    ("a body of 1 GB, declared", "413 before a byte of it is read", "access", "large_body"),
    (
        "slow or missing headers, a slow body",
        "closed after `header_seconds`; 408 after `body_seconds`",
        "access",
        "slow_headers",
    ),
    (
        "a client that never reads its answer",
        "closed after `answer_seconds`; the row is kept, no place is held",
        "faults",
        "never_reads",
    ),
    ("half-closed connections", "dropped, whether or not the request is complete", "faults", "half_closed"),
    (
        "requests of any content that the description allows",
        "never a status of 500 or more",
        "openapi",
        "no_request_makes",
    ),
    (
        "proxy: a silent upstream server",
        "504 that says for how long; a stream that falls silent ends not verified",
        "proxy_faults",
        "silent",
    ),
    (
        "proxy: errors of the upstream server",
        "passed on unchanged, with their headers",
        "proxy",
        "errors_of_the_server",
    ),
    (
        "proxy: an upstream server out of reach, or an answer that breaks off",
        "502; a stream ends not verified and not complete",
        "proxy",
        "faults_of_servers or breaks_off",
    ),
    (
        "proxy: the caller leaves",
        "the upstream request ends, and the check before its next claim",
        "proxy_faults",
        "leaves",
    ),
    ("proxy: more checks than places", "not verified: passed or blocked by policy", "proxy_faults", "thread_taken"),
    (
        "a job that never ends, or needs too much memory",
        "ended with its deadline (504), or 413; its place is free, and the next is answered",
        "work",
        "never_ends or too_much_memory",
    ),
    (
        "a text with a lone surrogate",
        "422 at every body: nothing that cannot be listed is kept",
        "http_api",
        "cannot_be_stored",
    ),
    (
        "MCP: a lone surrogate",
        "over HTTP an error of its call; over stdio the SDK drops the line; the server goes on",
        "mcp",
        "lone_surrogate",
    ),
    (
        "proxy: a stream of another form (CR lines, byte order mark, `message`, `refusal`, ...)",
        "read as a client reads it, or refused where the policy blocks",
        "proxy_streams",
        "whatever_its_form or too_large",
    ),
    (
        "proxy: a body that only lenient servers read",
        "400 where the policy blocks",
        "proxy_refusals",
        "lenient_servers or same_key_twice",
    ),
    ("proxy: a page whose name was made to lead here", "421", "proxy_refusals", "made_to_lead_here"),
    (
        "proxy: slow, large or half-sent requests",
        "408, 413, or closed; nothing reaches the upstream server",
        "proxy_faults",
        "half_sent",
    ),
    (
        "many requests of one caller, and one of another",
        "callers take turns; in a full queue the newest request of the caller with most gets 429",
        "work",
        "do_not_hold_up_another",
    ),
    (
        "two long requests at once, and others that wait",
        "the long ones give their places and are paused; a third gets 503",
        "work",
        "two_jobs_that_never_end or long_jobs_take_turns",
    ),
    (
        "a process that starts more slowly than a deadline",
        "504; it goes on to start, and answers the next request",
        "work",
        "starts_more_slowly",
    ),
    (
        "the parent of a paused process is killed (SIGKILL), also in a container",
        "the process ends",
        "work",
        "paused_process_ends",
    ),
    (
        "a server is killed (SIGKILL) with all that it has",
        "no process answers; the next start removes its uploads, and nothing that others put there",
        "workers",
        "kill_of_the_parent or others_can_place",
    ),
    ("Ctrl-C", "the server ends with status 0, the proxy too", "workers", "ctrl_c"),
    (
        "a file of keys that cannot be read, such as a link to itself",
        "the server ends with status 2, before it says that it serves",
        "workers",
        "keys_that_cannot_be_read",
    ),
    (
        "a body with thousands of faults",
        "422 with the first one, without a report of each",
        "bodies",
        "thousands_of_faults",
    ),
    ("more sources than may be", "422 before any is looked at", "bodies", "too_many_sources"),
    ("a body with the same key twice", "422", "bodies", "occurs_twice"),
    (
        "proxy: more documents than may be",
        "they are not read, and the answer is not verified",
        "proxy",
        "too_many_documents",
    ),
    ("proxy: a wrong sentence in a heading or the head of a column", "blocked", "proxy", "sentence_in_a_heading"),
    (
        "proxy: a stream that says a text again and otherwise, or says it in a field that is not read",
        "not verified; nothing of it passes where the policy blocks",
        "proxy_streams",
        "once_more_and_otherwise or that_is_not_read",
    ),
    (
        "proxy: an answer with a text of another type, or where none is read",
        "502 where the policy blocks",
        "proxy_refusals",
        "where_none_is_read or what_is_not_checked",
    ),
    ("MCP: a call that takes too long", "an error; its process is ended, the next call is answered", "mcp", "too_long"),
    ("MCP: more claims than may be", "an error after so many, before any is judged", "mcp", "more_claims"),
    (
        "MCP: arguments of a wrong type, or unknown ones",
        "an error with what was got and wanted",
        "mcp",
        "do_not_fit",
    ),
)
"""What goes wrong, what happens, and the tests: the file in tests/serve, and what their names have in common."""


def run_all(rows: Sequence[tuple[str, str, str, str]]) -> dict[str, list[tuple[str, str]]]:
    """The outcome of every test of these rows by file: its name, and passed, failed or why it was skipped."""
    files = sorted({f"tests/serve/test_{file}.py" for _, _, file, _ in rows})
    names = " or ".join(names for _, _, _, names in rows)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", *files, "-k", names, f"--junitxml={report}"]
        subprocess.run(command, cwd=ROOT, check=False)
        cases = [*ElementTree.parse(report).getroot().iter("testcase")]
    found: dict[str, list[tuple[str, str]]] = {}
    for case in cases:
        skipped = case.find("skipped")
        broken = case.find("failure") is not None or case.find("error") is not None
        outcome = "failed" if broken else "passed" if skipped is None else f"skipped: {skipped.get('message', '')}"
        found.setdefault(case.get("classname", "").rpartition(".test_")[2], []).append((case.get("name", ""), outcome))
    return found


def outcome_of(cases: list[tuple[str, str]], names: str) -> dict[str, Any]:
    """The outcome of a row: that of its tests if all have the same, else failed."""
    outcomes = [outcome for name, outcome in cases if any(part in name for part in names.split(" or "))]
    same = outcomes[0] if len({*outcomes}) == 1 else "failed"
    return {"result": same, "tests": len(outcomes)}


def table(found: dict[str, Any] | None) -> str:
    """The table of a page; without results if the tests were not run."""
    lines = ["| fault | what happens | tested by |", "|---|---|---|"]
    for fault, happens, file, _ in SERVER:
        row = None if found is None else found["rows"].get(fault)
        result = "" if row is None else f": {row['result']} ({row['tests']})"
        lines.append(f"| {fault} | {happens} | `test_{file}.py`{result} |")
    return "\n".join(lines) + "\n"


def results() -> dict[str, Any] | None:
    """What the last run found; None before the first."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else None


def render(page: str, found: dict[str, Any] | None) -> str:
    """The page with the table of these results."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    head = "" if found is None else f"Run on {found['date']}, {found['machine']}; the number of tests in brackets.\n\n"
    return f"{before}{BEGIN}{head}{table(found)}{END}{after}"


def main() -> None:
    """Run the tests and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--render", action="store_true", help="only write the table")
    parser.add_argument("--new", action="store_true", help="run only the tests of rows without a result")
    given = parser.parse_args()
    if not given.render:
        known = (results() or {"rows": {}})["rows"] if given.new else {}
        rows = [row for row in SERVER if row[0] not in known]
        cases = run_all(rows)
        new = {fault: outcome_of(cases.get(file, []), names) for fault, _, file, names in rows}
        found = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
            "rows": {fault: (known | new)[fault] for fault, *_ in SERVER},
        }
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8"), results()), encoding="utf-8")


if __name__ == "__main__":
    main()
