"""What is exported for Label Studio, checked by its own software development kit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("label_studio_sdk", reason="label-studio-sdk is not installed")

from label_studio_sdk.label_interface import LabelInterface
from label_studio_sdk.label_interface.objects import AnnotationValue, PredictionValue

from tests.review.kept import keep
from vouching.ledger import open_ledger
from vouching.review import Decision, ReviewQueue
from vouching.review.label_studio import LABEL_STUDIO, label_config


def test_its_interface_accepts_the_tasks_predictions_and_annotations(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ids = keep(ledger, [0.6, 0.1, 0.9])
        queue = ReviewQueue(ledger, reviewers=2)
        queue.decide("ann", ids[1], Decision(None, "fabrication", (0, 5), "Another claim.", "because"))
        LABEL_STUDIO.export(queue, tmp_path / "out", names={"7": "ann"})
        interface = LabelInterface((tmp_path / "out" / "label_config.xml").read_text(encoding="utf-8"))
        assert interface.is_valid
        tasks = json.loads((tmp_path / "out" / "tasks.json").read_text(encoding="utf-8"))
        annotations = 0
        for task in tasks:
            assert interface.validate_prediction(PredictionValue(**task["predictions"][0]).model_dump())
            for one in task["annotations"]:
                annotations += 1
                value = AnnotationValue(**one).model_dump()
                assert interface.validate_annotation(value)
        assert annotations == 1
        wrong = {
            "result": [{"from_name": "label", "to_name": "claim", "type": "choices", "value": {"choices": ["Perhaps"]}}]
        }
        assert not interface.validate_prediction(wrong)
        assert LABEL_STUDIO.take(queue, tmp_path / "out" / "tasks.json", {"7": "ann"}).same == 1


def test_a_sample_annotation_that_it_makes_itself_is_read(tmp_path: Path) -> None:
    sample = LabelInterface(label_config()).generate_sample_annotation()
    assert sample is not None
    with open_ledger(tmp_path / "ledger.db") as ledger:
        [id] = keep(ledger, [0.1])
        task = {"data": {"item": str(id)}, "annotations": [{**sample, "completed_by": 7}]}
        for region in sample["result"]:  # its sample text is not our claim
            if region["type"] == "labels":
                region["value"] |= {"start": 0, "end": 5}
        path = tmp_path / "export.json"
        path.write_text(json.dumps([task]), encoding="utf-8")
        found = LABEL_STUDIO.take(ReviewQueue(ledger), path)
        assert (found.decided, found.refused) == (1, ())
