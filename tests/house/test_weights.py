"""Shipped files are the ones that the scripts wrote, and nothing else is shipped."""

from __future__ import annotations

import hashlib
import json

import vouching
from tests.house.source_tree import PACKAGE
from vouching.encoder.weights import find_weights
from vouching.types import Verdict

WEIGHTS = PACKAGE / "methods/embedded/weights"
SHIPPED_KINDS = {".py", ".txt", ".json", ".typed", ".jinja", ".css", ".js", ".onnx", ".md", ".jsonl", ".toml"}


def recorded_sums() -> dict[str, str]:
    """SHA-256 by file name, as the fitting scripts recorded it."""
    lines = (WEIGHTS / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_weight_files_have_the_checksums_that_their_scripts_recorded() -> None:
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in WEIGHTS.iterdir() if p.name != "SHA256SUMS"}
    assert found == recorded_sums(), "weights are written by recipes/embedded, not by hand"


def test_a_verdict_names_its_calibrator_by_the_first_digits_of_the_checksum() -> None:
    verdict = vouching.check("The bridge is long.", "The bridge is long and old.")
    assert isinstance(verdict, Verdict)
    assert verdict.provenance.calibrator == f"logistic:{recorded_sums()['combined.json'][:12]}"


def test_the_encoder_is_the_one_that_the_combined_model_was_fitted_on_and_small() -> None:
    weights = find_weights()  # checks the sums of its manifest
    assert json.loads((WEIGHTS / "combined.json").read_text(encoding="utf-8"))["encoder"] == weights.digest
    assert sum(path.stat().st_size for path in weights.folder.iterdir()) < 25_000_000


def test_the_package_holds_only_code_and_its_tables() -> None:
    files = (p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    assert [str(p) for p in files if p.suffix not in SHIPPED_KINDS and p != WEIGHTS / "SHA256SUMS"] == []
