"""Check more rows than one machine should: on Ray Data, or as a function for any engine that maps data frames.

``vouch check --engine ray`` works on a folder of rows block by block; :func:`check_dataset` maps a Dataset that
exists, and :func:`check_frames` is the function for Spark, Daft and others. Needs the extra ``ray``.
"""

from vouching.rows.columns import record_schema
from vouching.scale.dataset import check_dataset
from vouching.scale.frames import FrameChecker, check_frames

__all__ = ["FrameChecker", "check_dataset", "check_frames", "record_schema"]
