"""The functions of the task: the metrics of an answer, and their mean without answers that could not be judged."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from vouching.integrations.evaluate import judged_mean
from vouching.integrations.evaluate import process_results as judged

__all__ = ["judged_mean", "process_results"]


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The metrics by the judge that VOUCH_MODEL names."""
    return judged(doc, results, os.environ.get("VOUCH_MODEL") or "embedded")
