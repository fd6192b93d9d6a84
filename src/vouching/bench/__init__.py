"""Benchmarks: labelled rows of public data sets, scored and compared with sound statistics.

    rows -> validate                     a set checks itself, without a model
    rows -> score -> figures -> report   one run, resumable
    two runs -> compare                  paired, on the same rows

``catalog.py`` lists the sets. Not supported: downloading data.
"""

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.bench.rows import claim_rows
    from vouching.bench.task import DataSet

__all__ = ["DataSet", "claim_rows"]

__getattr__, __dir__ = lazily(__name__)
