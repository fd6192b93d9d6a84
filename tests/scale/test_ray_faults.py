"""What a folder of rows survives on Ray; tests/rows/test_folder_faults.py does the same with processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rows import faults

RAY = ("--engine", "ray", "--jobs", "2")


def test_a_full_disk_keeps_what_is_finished_and_the_run_goes_on_with_more_space(ray: Any, tmp_path: Path) -> None:
    faults.full_disk(tmp_path, *RAY)


def test_one_broken_row_in_a_hundred_is_listed_with_file_row_and_reason(ray: Any, tmp_path: Path) -> None:
    faults.one_broken_row_in_a_hundred(tmp_path, *RAY)


def test_one_source_of_five_megabytes_among_short_rows_is_one_row_of_one_block(ray: Any, tmp_path: Path) -> None:
    faults.one_source_of_five_megabytes(tmp_path, *RAY)
