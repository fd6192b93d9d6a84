"""The notebook runs from its first cell to its last in a new kernel, and is kept without outputs."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.house.source_tree import ROOT

NOTEBOOK = ROOT / "examples" / "vouch.ipynb"


def test_the_notebook_runs_and_shows_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [str(output) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("text/html" in output for output in shown), "the verdict is shown as a table"
    assert any("AUROC: " in output for output in shown)
    assert (tmp_path / "answer.html").is_file()


def test_the_notebook_is_kept_without_outputs_and_is_valid() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell for cell in code if cell.outputs or cell.execution_count] == []
