"""``vouch check`` where sources are searched for: what it asks, what it says about that, and how it ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.searxng_server import searxng_server
from tests.search.answers import BRIDGE
from vouching.cli.app import app
from vouching.search.index_writer import create_index
from vouching.types import Source

WRONG = "The Bosphorus Bridge opened in 1937."
UNKNOWN = "Penguins invented algebra."
DOWN = "searxng=http://127.0.0.1:9"
"""Port 9, "discard": nobody listens."""


def vouch(*arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> Result:
    """Run ``vouch check`` in this process, with the quicker verifier."""
    settings = {"COLUMNS": "100", "VOUCH_MODEL": "", "BRAVE_API_KEY": "", **(env or {})}
    return CliRunner(env=settings).invoke(app, ["check", "--model", "embedded:rules", *arguments], input=stdin)


def refused(*arguments: str) -> str:
    """The one line that a command line which cannot be used is answered with."""
    result = vouch(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("vouch: ")
    return result.stderr


@pytest.fixture
def engine() -> Iterator[tuple[str, list[str]]]:
    """Name of an engine that knows about bridges, and the paths that it is asked for."""
    with searxng_server() as server:
        yield server


def messages(record: Any) -> list[str]:
    return [warning["message"] for warning in record["warnings"] if warning["kind"] in ("search", "engine")]


def test_a_claim_without_a_source_is_checked_by_what_is_found(engine: tuple[str, list[str]]) -> None:
    result = vouch(WRONG, "--web", engine[0])
    assert result.exit_code == 0
    assert result.stdout.startswith("✗ Not Attributable · temporal shift")
    assert "Fix  Change 1937 to 1973." in result.stdout
    told = " ".join(result.stdout.split())
    assert f'Searched for "{WRONG}": web:searxng found 2 passages.' in told
    assert "! " not in told  # nothing failed, so nothing warns
    assert [path.partition("?")[0] for path in engine[1]] == ["/search"]


def test_the_record_names_the_page_and_the_place_in_what_was_found(engine: tuple[str, list[str]]) -> None:
    record = json.loads(vouch(WRONG, "--web", engine[0], "--json").stdout)
    span = next(entry["source_span"] for entry in record["evidence_alignment"] if entry["status"] == "mismatch")
    _, url, text = BRIDGE
    assert (span["source_id"], text[span["start"] : span["end"]]) == (url, span["text"])


def test_nothing_found_is_not_a_verdict_and_is_reported(engine: tuple[str, list[str]]) -> None:
    result = vouch(UNKNOWN, "--web", engine[0], "--fail")
    assert result.exit_code == 3
    assert result.stdout.startswith("? Unverified (no_evidence)")
    assert "does not make the claim false" in " ".join(result.stdout.split())
    assert "web:searxng found nothing" in " ".join(result.stdout.split())


def test_an_engine_that_is_down_is_named_and_ends_with_3_where_there_is_no_other() -> None:
    result = vouch(WRONG, "--web", DOWN, "--json")
    assert result.exit_code == 3
    record = json.loads(result.stdout)
    assert record["reason"] == "backend"
    assert "no answer from searxng at http://127.0.0.1:9" in record["message"]


def test_an_engine_that_is_down_leaves_the_other_and_the_given_source(
    engine: tuple[str, list[str]], tmp_path: Path
) -> None:
    result = vouch(WRONG, "--web", DOWN, "--web", engine[0], "--json")
    assert result.exit_code == 0
    [told] = messages(json.loads(result.stdout))
    assert "web:searxng failed (no answer from searxng" in told
    assert "web:searxng found 2 passages" in told
    given = vouch(UNKNOWN, "--source-text", UNKNOWN, "--web", DOWN, "--json", "--report", str(tmp_path / "r.html"))
    assert given.exit_code == 0
    assert json.loads(given.stdout)["label"] == "Attributable"


def test_an_answer_is_checked_claim_by_claim_and_its_report_shows_queries_engines_and_sources(
    engine: tuple[str, list[str]], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    arguments = ("--response", "-", "--source-text", "Nothing.", "--web", engine[0])
    result = vouch(*arguments, "--json", "--report", str(page), stdin=f"{WRONG} {UNKNOWN}")
    report = json.loads(result.stdout)
    assert [source["id"] for source in report["sources"]][:2] == ["source-1", BRIDGE[1]]
    assert [len(messages(finding)) for finding in report["findings"]] == [1, 2]  # the second for its name alone
    shown = page.read_text(encoding="utf-8")
    for words in ("web:searxng found 2 passages", "web:searxng found nothing", BRIDGE[0], BRIDGE[1]):
        assert words in shown


def test_a_page_for_a_single_claim_shows_what_was_found(engine: tuple[str, list[str]], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert vouch(WRONG, "--web", engine[0], "--report", str(page)).exit_code == 0
    shown = page.read_text(encoding="utf-8")
    assert BRIDGE[1] in shown
    assert 'class="searched"' in shown
    assert "Warnings: " not in shown  # that a search found something is none


def test_a_recorded_check_is_repeated_offline(engine: tuple[str, list[str]], tmp_path: Path) -> None:
    file = str(tmp_path / "found.jsonl")
    recorded = vouch(WRONG, "--web", engine[0], "--web", f"record={file}")
    asked = len(engine[1])
    replayed = vouch(WRONG, "--web", "searxng", "--web", f"replay={file}")
    assert (replayed.stdout, replayed.exit_code) == (recorded.stdout, 0)
    assert len(engine[1]) == asked
    assert "record the search again" in refused(UNKNOWN, "--web", "searxng", "--web", f"replay={file}")


def test_pages_inside_are_not_fetched_even_if_an_engine_names_them(engine: tuple[str, list[str]]) -> None:
    pytest.importorskip("trafilatura", reason="needs the extra 'search'")
    pytest.importorskip("pypdf", reason="needs the extra 'search'")
    # The engine names pages of bridges.example, which no name server knows; its snippets stay.
    result = vouch(WRONG, "--web", engine[0], "--web", "pages", "--json")
    assert json.loads(result.stdout)["error_type"] == "temporal_shift"
    assert [path.partition("?")[0] for path in engine[1]] == ["/search"]


def test_rows_without_sources_are_searched_for(engine: tuple[str, list[str]], tmp_path: Path) -> None:
    rows = [
        {"id": "a", "claim": WRONG},
        {"id": "b", "claim": UNKNOWN},
        {"id": "c", "claim": WRONG, "source": WRONG},
        {"id": "d", "response": WRONG},
    ]
    source, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = ("--input", str(source), "--output", str(output))
    result = vouch(*files, "--web", engine[0], "--report", str(tmp_path / "r.html"))
    assert result.exit_code == 3
    assert "4 rows: 3 not attributable, 1 not verified" in result.stderr
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [line["kind"] for line in lines] == ["verdict", "unverified", "verdict", "report"]
    assert lines[1]["reason"] == "no_evidence"
    assert lines[2]["relation"] == "conflicting"  # what was found disagrees with the row's own source
    # Other engines would give other lines.
    assert "search" in refused(*files, "--web", DOWN, "--resume")
    assert "--jobs 2 cannot be used with a web engine" in refused(*files, "--web", engine[0], "--jobs", "2")


def test_recorded_rows_are_repeated_by_several_processes(engine: tuple[str, list[str]], tmp_path: Path) -> None:
    source, found = tmp_path / "rows.jsonl", str(tmp_path / "found.jsonl")
    source.write_text("".join(json.dumps({"claim": f"{WRONG[:-1]} or {n}."}) + "\n" for n in range(6)), "utf-8")
    outputs = [tmp_path / "recorded.jsonl", tmp_path / "replayed.jsonl"]
    for output, options in zip(
        outputs,
        [
            ("--web", engine[0], "--web", f"record={found}"),
            ("--web", "searxng", "--web", f"replay={found}", "--jobs", "2"),
        ],
        strict=True,
    ):
        assert vouch("--input", str(source), "--output", str(output), *options).exit_code == 0

    def lasting(path: Path) -> list[Any]:
        return [{**json.loads(line), "usage": None} for line in path.read_text(encoding="utf-8").splitlines()]

    assert lasting(outputs[0]) == lasting(outputs[1])


@pytest.fixture
def index(tmp_path: Path) -> str:
    """An index of a document whose second passage is about the bridge."""
    filler = "The weather was mild and the streets were quiet that day. " * 20
    with create_index(tmp_path / "notes") as writer:
        writer.add(Source(f"{filler}{BRIDGE[2]} It joins two continents.", id="bridges.txt"))
    return str(tmp_path / "notes")


def test_an_index_is_searched_and_spans_lead_back_into_the_document(index: str) -> None:
    record = json.loads(vouch(WRONG, "--index", index, "--json").stdout)
    assert record["revised_claim"] == BRIDGE[2]
    assert messages(record) == [f'Searched for "{WRONG}": index:notes found 1 passage.']
    span = next(entry["source_span"] for entry in record["evidence_alignment"] if entry["status"] == "mismatch")
    begin = int(re.fullmatch(r"bridges\.txt#char=(\d+),\d+", span["source_id"])[1])  # type: ignore[index]
    document = "The weather was mild and the streets were quiet that day. " * 20 + BRIDGE[2]
    assert document[begin + span["start"] : begin + span["end"]] == span["text"]


def test_an_index_and_the_web_are_asked_together(engine: tuple[str, list[str]], index: str) -> None:
    record = json.loads(vouch(WRONG, "--index", index, "--web", engine[0], "--json").stdout)
    assert messages(record) == [f'Searched for "{WRONG}": index:notes found 1 passage, web:searxng found 2 passages.']


def test_rows_are_checked_against_an_index_by_several_processes(index: str, tmp_path: Path) -> None:
    source, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps({"claim": f"{WRONG[:-1]} or {n}."}) + "\n" for n in range(6)), "utf-8")
    assert vouch("--input", str(source), "--output", str(output), "--index", index, "--jobs", "2").exit_code == 0
    assert output.read_text(encoding="utf-8").count("index:notes found 1 passage") == 6


def test_the_page_of_rows_shows_the_texts_that_an_index_or_a_recording_gave(
    engine: tuple[str, list[str]], index: str, tmp_path: Path
) -> None:
    source, found = tmp_path / "rows.jsonl", str(tmp_path / "found.jsonl")
    rows = [{"claim": WRONG}, {"claim": WRONG, "source": "A text that came with the row."}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for name, text, where in (
        ("index", "It joins two continents.", ("--index", index)),
        ("web", BRIDGE[2], ("--web", engine[0], "--web", f"record={found}")),
    ):
        page = tmp_path / f"{name}.html"
        files = ("--input", str(source), "--output", str(tmp_path / f"{name}.jsonl"), "--report", str(page))
        assert vouch(*files, *where).exit_code == 0
        texts = page.read_text(encoding="utf-8").partition('class="texts"')[2]
        assert text in re.sub("<[^>]*>", "", texts)
        assert "A text that came with the row." in texts


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((WRONG,), "or search with --index PATH or --web ENGINE"),
        ((WRONG, "--web", "google"), "unknown search engine 'google'; expected one of searxng=URL"),
        ((WRONG, "--index", "nowhere"), "nowhere"),
        ((WRONG, "--web", "searxng"), "add the address of an instance, e.g. searxng=http://localhost:8080"),
        ((WRONG, "--web", "searxng=localhost"), "the address of searxng must look like"),
        ((WRONG, "--web", "brave"), "brave requires a key: set the environment variable BRAVE_API_KEY"),
        ((WRONG, "--source-text", WRONG, "--web", "pages"), "--web pages requires a web engine"),
        ((WRONG, "--source-text", WRONG, "--web", "record=x"), "--web record requires a web engine"),
        ((WRONG, "--web", "queries=0"), "--web queries must be a whole number of at least 1, got '0'"),
        ((WRONG, "--web", "queries=all"), "--web queries must be a whole number of at least 1, got 'all'"),
        (
            (WRONG, "--web", "wikipedia", "--web", "record=x", "--web", "replay=x"),
            "--web record and --web replay cannot be used together",
        ),
        ((WRONG, "--web", "wikipedia", "--web", "replay=none.jsonl"), "none.jsonl cannot be read"),
    ],
)
def test_a_search_that_cannot_be_is_a_usage_error(arguments: tuple[str, ...], told: str) -> None:
    assert told in refused(*arguments)
