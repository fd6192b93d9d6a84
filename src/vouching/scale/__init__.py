"""Check more rows than one machine should: on Ray, or as a function for any engine that maps data frames.

``vouch check --engine ray`` works on a folder of rows block by block, in actors that read and write the files
themselves; :func:`check_dataset` maps a Dataset of Ray Data that exists, and :func:`check_frames` is the function for
Spark, Daft and others. Needs the extra ``ray``.
"""

from vouching.rows.columns import record_schema
from vouching.scale.dataset import check_dataset
from vouching.scale.frames import FrameChecker, check_frames

__all__ = ["FrameChecker", "check_dataset", "check_frames", "record_schema"]
