"""Label Studio: verdicts as tasks with predictions, and annotations back as decisions.

An export is a folder with ``tasks.json``, to be imported into a project, and ``label_config.xml``, its labelling
interface. What Label Studio exports as JSON is read back; cancelled annotations, and tasks of other projects, are left
out. Not supported: JSON_MIN, drafts, several spans (the first one counts).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast
from xml.sax.saxutils import quoteattr

from vouching.review.exchange import (
    LABELS,
    WRONG,
    Answer,
    Tool,
    decision_of,
    item_and_taken,
    named,
    newest_decisions,
    sources_text,
)
from vouching.review.queue import ReviewQueue
from vouching.types.review import Decision, Policy, ReviewItem
from vouching.types.spans import ERROR_TYPES

Region = dict[str, Any]


def label_config() -> str:
    """The labelling interface, as XML."""
    choices = "\n".join(f"    <Choice value={quoteattr(one)}/>" for one in LABELS)
    types = "\n".join(f"    <Choice value={quoteattr(one)}/>" for one in ERROR_TYPES)
    return f"""<View>
  <Header value="Claim"/>
  <Text name="claim" value="$claim"/>
  <Header value="Sources"/>
  <Text name="sources" value="$sources"/>
  <Choices name="label" toName="claim" choice="single-radio" required="true">
{choices}
  </Choices>
  <Choices name="error_type" toName="claim" choice="single-radio">
{types}
  </Choices>
  <Labels name="span" toName="claim">
    <Label value="{WRONG}"/>
  </Labels>
  <TextArea name="fix" toName="claim" maxSubmissions="1" placeholder="The claim as it should read"/>
  <TextArea name="note" toName="claim" maxSubmissions="1" placeholder="Remarks"/>
</View>
"""


def _files(items: list[ReviewItem], policy: Policy, queue: ReviewQueue, names: Mapping[str, str]) -> Mapping[str, str]:
    numbers = {name: int(number) for number, name in names.items() if number.isdigit()}
    tasks = [_task(item, policy, queue.seed, numbers) for item in items]
    return {"label_config.xml": label_config(), "tasks.json": json.dumps(tasks, indent=1) + "\n"}


def _task(item: ReviewItem, policy: Policy, seed: int, numbers: Mapping[str, int]) -> dict[str, Any]:
    verdict = item.verdict
    said = _regions(item, Decision(verdict.label, verdict.error_type, fix=verdict.revised_claim))
    annotations = [
        {"completed_by": numbers[name], "was_cancelled": False, "result": _regions(item, decision)}
        for name, one in newest_decisions(item).items()
        if name in numbers
        for decision in [Decision(cast("Any", one.label), cast("Any", one.error_type), one.span, one.fix, one.note)]
    ]
    return {
        "data": {
            "item": str(item.id),
            "claim": verdict.claim.text,
            "sources": sources_text(item),
            "question": item.question or "",
            "policy": policy,
            "seed": seed,
        },
        "predictions": [
            {"model_version": verdict.provenance.model, "score": verdict.confidence, "result": said},
        ],
        "annotations": annotations,
    }


def _regions(item: ReviewItem, said: Decision) -> list[Region]:
    """A decision, or a verdict, as regions."""
    found = [_region("label", "choices", {"choices": [said.label]})]
    if said.error_type is not None:
        found.append(_region("error_type", "choices", {"choices": [said.error_type]}))
    if said.span is not None:
        start, end = said.span
        text = item.verdict.claim.text[start:end]
        found.append(_region("span", "labels", {"start": start, "end": end, "text": text, "labels": [WRONG]}))
    for name, text in (("fix", said.fix), ("note", said.note)):
        if text:
            found.append(_region(name, "textarea", {"text": [text]}))
    return found


def _region(name: str, kind: str, value: Mapping[str, Any]) -> Region:
    return {"id": name, "from_name": name, "to_name": "claim", "type": kind, "value": value}


def _answers(task: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Answer]:
    data = task.get("data")
    about = item_and_taken(cast("Mapping[str, Any]", data)) if isinstance(data, dict) else None
    annotations = task.get("annotations")
    if about is None or not isinstance(annotations, list):
        return
    for one in cast("list[Any]", annotations):
        if not isinstance(one, dict) or cast("dict[str, Any]", one).get("was_cancelled"):
            continue
        annotation = cast("dict[str, Any]", one)
        decision = _decision(annotation.get("result"))
        if decision is not None:
            yield Answer(_reviewer(annotation.get("completed_by"), names), about[0], decision, about[1])


def _reviewer(by: Any, names: Mapping[str, str]) -> str:
    user = cast("dict[str, Any]", by) if isinstance(by, dict) else {"id": by}
    return named(names, (user.get("email"), user.get("id")), "label-studio")


def _decision(result: Any) -> Decision | None:
    """The decision of an annotation; None without a label."""
    values: dict[str, Mapping[str, Any]] = {}
    for region in cast("list[Any]", result) if isinstance(result, list) else []:
        if isinstance(region, dict) and isinstance(value := cast("dict[str, Any]", region).get("value"), dict):
            name = str(cast("dict[str, Any]", region).get("from_name"))
            values.setdefault(name, cast("dict[str, Any]", value))
    said = {name: _first(values, name, key) for name, key in _KEYS.items()}
    return decision_of({**said, "span": values.get("span")})


_KEYS = {"label": "choices", "error_type": "choices", "fix": "text", "note": "text"}
"""Where a region has its answer, by question."""


def _first(values: Mapping[str, Mapping[str, Any]], name: str, key: str) -> Any:
    """The first member of a region's value, or the value itself: a text area gives a text or a list of texts."""
    found: Any = values.get(name, {}).get(key)
    if isinstance(found, list):
        members = cast("list[Any]", found)
        return members[0] if members else None
    return found


LABEL_STUDIO = Tool("tasks that Label Studio exported as JSON", _files, _answers)
"""Users are named by their number or address; without a name for it, the reviewer is "label-studio:NUMBER"."""
