"""Rows and verdicts in an object store that speaks the protocol of S3: moto, if it is installed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.fs
import pyarrow.parquet
import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit

BUCKET = "vouch-test-lake"
"""No other test may use it: the file system of an address is kept for the length of the process."""


def vouch(*arguments: object) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file system of a server with the bucket."""
    missing = "there is no S3 server for tests: pip install 'moto[s3]' flask flask-cors"
    pytest.importorskip("flask_cors", reason=missing)
    moto = pytest.importorskip("moto.server", reason=missing)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    address = f"http://127.0.0.1:{port}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    made: Any = pyarrow.fs.S3FileSystem(endpoint_override=address, allow_bucket_creation=True)
    made.create_dir(BUCKET)
    yield made
    server.stop()


def put(store: Any, file: str, year: int) -> None:
    rows = [{"id": f"{file}{n}", "claim": f"It opened in {year}.", "source": "It opened in 1973."} for n in range(9)]
    with store.open_output_stream(f"{BUCKET}/rows/{file}.jsonl") as out:
        out.write("".join(f"{json.dumps(row)}\n" for row in rows).encode())


def test_rows_of_a_bucket_are_checked_merged_and_not_checked_again_unless_they_changed(
    store: Any, tmp_path: Path
) -> None:
    for file in "ab":
        put(store, file, 1937)
    output = f"s3://{BUCKET}/verdicts.parquet"
    check = ("check", "--input", f"s3://{BUCKET}/rows", "--output", output, "--model", "embedded:rules")
    assert vouch(*check).exit_code == Exit.OK
    assert vouch("rows", "merge", output, "--output", tmp_path / "all.parquet").exit_code == Exit.OK
    merged: Any = pyarrow.parquet.read_table(tmp_path / "all.parquet")
    assert merged.column("id").to_pylist() == [f"{file}{n}" for file in "ab" for n in range(9)]
    assert {*merged.column("label").to_pylist()} == {"Not Attributable"}
    assert vouch(*check, "--resume").exit_code == Exit.OK
    time.sleep(1.0)  # S3 tells seconds
    put(store, "a", 1938)
    resumed = vouch(*check, "--resume")
    assert resumed.exit_code == Exit.USAGE
    assert "a.jsonl has changed: its rows are not those from which block 0 was made" in resumed.stderr
