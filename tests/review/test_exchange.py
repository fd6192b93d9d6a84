"""Label Studio and Argilla: what is exported fits their documented JSON, and what comes back is taken once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.review.kept import keep
from vouching.errors import InputError
from vouching.ledger import Ledger, open_ledger
from vouching.review import Decision, ItemId, ReviewQueue
from vouching.review.argilla import ARGILLA
from vouching.review.label_studio import LABEL_STUDIO, label_config

WRONG = "Not Attributable"
ANN = "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def queue(tmp_path: Path) -> ReviewQueue:
    ledger: Ledger = open_ledger(tmp_path / "ledger.db")
    keep(ledger, [0.6, 0.1, 0.9])
    return ReviewQueue(ledger)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def annotated(task: dict[str, Any], by: Any, cancelled: bool = False) -> dict[str, Any]:
    """A task as Label Studio exports it after somebody worked on it (its documented task format)."""
    result = [
        {
            "id": "a",
            "type": "choices",
            "origin": "manual",
            "from_name": "label",
            "to_name": "claim",
            "value": {"choices": [WRONG]},
        },
        {
            "id": "b",
            "type": "choices",
            "origin": "manual",
            "from_name": "error_type",
            "to_name": "claim",
            "value": {"choices": ["fabrication"]},
        },
        {
            "id": "c",
            "type": "labels",
            "origin": "manual",
            "from_name": "span",
            "to_name": "claim",
            "value": {"start": 0, "end": 5, "text": "Claim", "labels": ["wrong"]},
        },
        {
            "id": "d",
            "type": "textarea",
            "origin": "manual",
            "from_name": "note",
            "to_name": "claim",
            "value": {"text": ["<b>odd</b>"]},
        },
    ]
    one = {"id": 9, "completed_by": by, "was_cancelled": cancelled, "result": result, "lead_time": 4.2}
    return {**task, "id": 1, "annotations": [one]}


def test_tasks_have_the_verdict_as_a_prediction_that_fits_the_interface(queue: ReviewQueue, tmp_path: Path) -> None:
    assert LABEL_STUDIO.export(queue, tmp_path / "out", "uncertain", limit=2) == 2
    tasks = read(tmp_path / "out" / "tasks.json")
    assert [task["data"]["claim"] for task in tasks] == ["Claim 0 of s.", "Claim 1 of s."]
    interface = ElementTree.fromstring(label_config())
    names = {tag.get("name") for tag in interface.iter() if tag.get("toName")}
    offered = {choice.get("value") for choice in interface.iter("Choice")}
    for task in tasks:
        [prediction] = task["predictions"]
        for region in prediction["result"]:
            assert region["from_name"] in names
            assert set(region["value"].get("choices", [])) <= offered
    with pytest.raises(InputError, match="exists"):
        LABEL_STUDIO.export(queue, tmp_path / "out")


def test_annotations_come_back_once_with_the_policy_of_their_export(queue: ReviewQueue, tmp_path: Path) -> None:
    LABEL_STUDIO.export(queue, tmp_path / "out", "sampled")
    tasks = read(tmp_path / "out" / "tasks.json")
    done = [annotated(tasks[0], {"id": 7, "email": "ann@example.org"}), annotated(tasks[1], 8, cancelled=True)]
    exported = tmp_path / "export.json"
    exported.write_text(json.dumps([*done, {"data": {"image": "x.png"}, "annotations": []}]), encoding="utf-8")
    found = LABEL_STUDIO.take(queue, exported, {"7": "ann"})
    assert (found.decided, found.same, found.refused) == (1, 0, ())
    assert LABEL_STUDIO.take(queue, exported, {"7": "ann"}).same == 1
    [review] = queue.audit()
    assert str(review.item) == tasks[0]["data"]["item"]
    assert (review.reviewer, review.label, review.error_type) == ("ann", WRONG, "fabrication")
    assert (review.span, review.note, review.policy) == ((0, 5), "<b>odd</b>", "sampled")
    LABEL_STUDIO.take(queue, exported)
    assert queue.audit()[0].reviewer == "label-studio:ann@example.org"


def test_decisions_go_to_label_studio_and_back_unchanged(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        [id] = keep(ledger, [0.6])
        queue = ReviewQueue(ledger, reviewers=2)
        queue.decide("ann", id, Decision(WRONG, "fabrication", (0, 5), "Another claim.", "because"))
        LABEL_STUDIO.export(queue, tmp_path / "out", names={"7": "ann"})
        found = LABEL_STUDIO.take(queue, tmp_path / "out" / "tasks.json", {"7": "ann"})
        assert (found.decided, found.same) == (0, 1)
        ARGILLA.export(queue, tmp_path / "records", names={ANN: "ann"})
        found = ARGILLA.take(queue, tmp_path / "records" / "records.json", {ANN: "ann"})
        assert (found.decided, found.same) == (0, 1)


def test_records_come_back_from_argilla(queue: ReviewQueue, tmp_path: Path) -> None:
    assert ARGILLA.export(queue, tmp_path / "out", "sampled") == 3
    records = read(tmp_path / "out" / "records.json")
    records[0]["responses"] = {
        "label": [{"value": WRONG, "user_id": ANN}],
        "error_type": [{"value": "fabrication", "user_id": ANN}],
        "span": [{"value": [{"start": 0, "end": 5, "label": "wrong"}], "user_id": ANN}],
    }
    exported = tmp_path / "export.json"
    exported.write_text(json.dumps(records), encoding="utf-8")
    assert ARGILLA.take(queue, exported, {ANN: "ann"}).decided == 1
    [review] = queue.audit()
    assert (review.reviewer, review.label, review.error_type, review.span) == ("ann", WRONG, "fabrication", (0, 5))
    assert (review.policy, review.item) == ("sampled", ItemId.read(records[0]["id"]))


def test_what_does_not_fit_is_refused_with_its_reason(queue: ReviewQueue, tmp_path: Path) -> None:
    exported = tmp_path / "export.json"
    task = annotated({"data": {"item": "99.0"}}, 7)
    exported.write_text(json.dumps([task]), encoding="utf-8")
    [reason] = LABEL_STUDIO.take(queue, exported).refused
    assert "no verdict 99.0" in reason
    for text, words in (("{}", "not a list"), ("<x>", "not JSON")):
        exported.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=words):
            ARGILLA.take(queue, exported)
