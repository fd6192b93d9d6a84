"""What is exported for Argilla, read and written by its own package; no server is asked but for who the user is."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("argilla", reason="argilla is not installed")

import argilla as rg

from tests.review.kept import keep
from vouching.ledger import open_ledger
from vouching.review import ReviewQueue
from vouching.review.argilla import ARGILLA

ANN = "00000000-0000-0000-0000-000000000001"


class _Me(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        at = "2026-01-01T00:00:00"
        me = {"id": ANN, "username": "ann", "first_name": "Ann", "role": "owner", "inserted_at": at, "updated_at": at}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(me).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[rg.Argilla]:
    """A client, which Argilla's settings need: it only asks who it is."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Me)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield rg.Argilla(api_url=f"http://127.0.0.1:{server.server_port}", api_key="none")
    server.shutdown()


def test_its_settings_and_records_read_the_files_and_write_what_is_imported(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        keep(ledger, [0.6, 0.1])
        queue = ReviewQueue(ledger)
        ARGILLA.export(queue, tmp_path / "out", "sampled")
        settings = rg.Settings.from_json(tmp_path / "out" / "settings.json")
        assert [field.name for field in settings.fields] == ["claim", "sources", "question"]
        kinds = {question.name: type(question).__name__ for question in settings.questions}
        assert kinds == {
            "label": "LabelQuestion",
            "error_type": "LabelQuestion",
            "span": "SpanQuestion",
            "fix": "TextQuestion",
            "note": "TextQuestion",
        }
        assert settings.questions["label"].labels == ["Attributable", "Not Attributable"]
        written = json.loads((tmp_path / "out" / "records.json").read_text(encoding="utf-8"))
        records = [rg.Record.from_dict(one) for one in written]
        assert {record.suggestions["label"].value for record in records} == {"Attributable", "Not Attributable"}
        answers = [("label", "Not Attributable"), ("span", [{"start": 0, "end": 5, "label": "wrong"}])]
        for question, value in answers:
            records[0].responses.add(rg.Response(question, value, ANN))
        exported = tmp_path / "export.json"
        exported.write_text(json.dumps([record.to_dict() for record in records]), encoding="utf-8")
        assert ARGILLA.take(queue, exported, {ANN: "ann"}).decided == 1
        [review] = queue.audit()
        assert (review.reviewer, review.label, review.span) == ("ann", "Not Attributable", (0, 5))
        assert review.policy == "sampled"
