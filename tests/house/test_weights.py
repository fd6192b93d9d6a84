"""Shipped files are the ones that the scripts wrote, and nothing else is shipped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import vouching
from tests.house.source_tree import PACKAGE
from vouching.encoder.weights import find_weights
from vouching.reading.text_encoder import load_text_encoder
from vouching.types import Verdict

WEIGHTS, LARGE = PACKAGE / "embedded/weights", PACKAGE / "reading/weights"
SHIPPED_KINDS = {".py", ".txt", ".json", ".typed", ".jinja", ".css", ".js", ".onnx", ".md", ".jsonl", ".toml"}
ENCODER_KINDS = {".bin", ".npy", ".npz"}


def is_shipped(path: Path) -> bool:
    """Whether a file of this kind belongs in the package."""
    kinds = SHIPPED_KINDS | ENCODER_KINDS if path.parent == LARGE else SHIPPED_KINDS
    return path.suffix in kinds or path == WEIGHTS / "SHA256SUMS"


def recorded_sums() -> dict[str, str]:
    """SHA-256 by file name, as the fitting scripts recorded it."""
    lines = (WEIGHTS / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_weight_files_have_the_checksums_that_their_scripts_recorded() -> None:
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in WEIGHTS.iterdir() if p.name != "SHA256SUMS"}
    assert found == recorded_sums(), "weights are written by the recipes, not by hand"


def test_a_verdict_names_its_calibrator_by_the_first_digits_of_the_checksum() -> None:
    verdict = vouching.check("The bridge is long.", "The bridge is long and old.")
    assert isinstance(verdict, Verdict)
    assert verdict.provenance.calibrator == f"logistic:{recorded_sums()['combined.json'][:12]}"


def test_the_encoders_are_those_that_the_scores_were_fitted_on() -> None:
    small, large = find_weights().digest, load_text_encoder().digest  # both check the sums of their manifests
    for name, digest in (("small.json", small), ("combined.json", f"{large}+{small}")):
        assert json.loads((WEIGHTS / name).read_text(encoding="utf-8"))["encoder"] == digest


def test_no_file_of_weights_is_larger_than_a_repository_can_carry() -> None:
    files = [*find_weights().folder.iterdir(), *LARGE.iterdir()]
    assert max(path.stat().st_size for path in files) < 60_000_000


def test_the_package_holds_only_code_and_its_tables() -> None:
    files = (p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    assert [str(p) for p in files if not is_shipped(p)] == []
