"""What a folder of rows survives on one machine; tests/scale/test_ray_faults.py does the same on Ray."""

from __future__ import annotations

from pathlib import Path

from tests.rows import faults


def test_a_full_disk_keeps_what_is_finished_and_the_run_goes_on_with_more_space(tmp_path: Path) -> None:
    faults.full_disk(tmp_path)


def test_one_broken_row_in_a_hundred_is_listed_with_file_row_and_reason(tmp_path: Path) -> None:
    faults.one_broken_row_in_a_hundred(tmp_path)


def test_one_source_of_five_megabytes_among_short_rows_is_one_row_of_one_block(tmp_path: Path) -> None:
    faults.one_source_of_five_megabytes(tmp_path)
