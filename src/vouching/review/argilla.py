"""Argilla 2: verdicts as records with suggestions, and responses back as decisions.

An export is a folder with ``settings.json``, for ``rg.Settings.from_json``, and ``records.json``, for
``dataset.records.from_json``. What ``dataset.records.to_json`` writes is read back. Not supported: drafts and discarded
responses count like submitted ones, since Argilla's JSON does not say which they are; several spans (the first one
counts).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, cast

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
from vouching.types.review import Policy, ReviewItem
from vouching.types.spans import ERROR_TYPES

_GUIDELINES = "Do the sources support the whole claim? A claim that they do not support may still be true."


def settings(reviewers: int = 1) -> dict[str, Any]:
    """The settings of the dataset, as ``rg.Settings.to_json`` writes them."""
    return {
        "guidelines": _GUIDELINES,
        "fields": [_field("claim", True), _field("sources", True), _field("question", False)],
        "questions": [
            _question("label", {"type": "label_selection", "options": _options(LABELS)}, True),
            _question("error_type", {"type": "label_selection", "options": _options(ERROR_TYPES)}, False),
            _question(
                "span",
                {"type": "span", "field": "claim", "allow_overlapping": False, "options": _options((WRONG,))},
                False,
            ),
            _question("fix", {"type": "text", "use_markdown": False}, False),
            _question("note", {"type": "text", "use_markdown": False}, False),
        ],
        "metadata": [
            _metadata("policy", {"type": "terms"}),
            _metadata("seed", {"type": "integer"}),
            _metadata("confidence", {"type": "float"}),
        ],
        "vectors": [],
        "allow_extra_metadata": False,
        "distribution": {"strategy": "overlap", "min_submitted": reviewers},
        "mapping": None,
    }


def _field(name: str, required: bool) -> dict[str, Any]:
    return {"name": name, "title": name, "required": required, "settings": {"type": "text", "use_markdown": False}}


def _question(name: str, kind: Mapping[str, Any], required: bool) -> dict[str, Any]:
    return {"name": name, "title": name.replace("_", " "), "required": required, "settings": kind}


def _metadata(name: str, kind: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "title": name, "visible_for_annotators": False, "settings": kind}


def _options(values: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"value": value, "text": value.replace("_", " ")} for value in values]


def _files(items: list[ReviewItem], policy: Policy, queue: ReviewQueue, names: Mapping[str, str]) -> Mapping[str, str]:
    ids = {name: id for id, name in names.items()}
    records = [_record(item, policy, queue.seed, ids) for item in items]
    return {
        "settings.json": json.dumps(settings(queue.reviewers), indent=1) + "\n",
        "records.json": json.dumps(records, indent=1) + "\n",
    }


def _record(item: ReviewItem, policy: Policy, seed: int, ids: Mapping[str, str]) -> dict[str, Any]:
    verdict = item.verdict
    fields = {"claim": verdict.claim.text, "sources": sources_text(item)}
    guessed: dict[str, Any] = {"label": verdict.label}
    guessed |= {"error_type": verdict.error_type} if verdict.error_type else {}
    guessed |= {"fix": verdict.revised_claim} if verdict.revised_claim else {}
    agent = "".join(sign if sign.isalnum() or sign in "-_ .:/" else "-" for sign in verdict.provenance.model)
    responses: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, one in newest_decisions(item).items():
        if name in ids:
            for question, value in _values(one.label, one.error_type, one.span, one.fix, one.note).items():
                responses[question].append({"value": value, "user_id": ids[name]})
    return {
        "id": str(item.id),
        "fields": fields | ({"question": item.question} if item.question else {}),
        "metadata": {"policy": policy, "seed": seed, "confidence": verdict.confidence},
        "suggestions": {
            question: {"value": value, "score": verdict.confidence if question == "label" else None, "agent": agent}
            for question, value in guessed.items()
        },
        "responses": dict(responses),
        "vectors": {},
    }


def _values(
    label: str | None, kind: str | None, span: tuple[int, int] | None, fix: str | None, note: str
) -> dict[str, Any]:
    """The answers of a decision by question."""
    marked = [{"start": span[0], "end": span[1], "label": WRONG}] if span is not None else None
    given = {"label": label, "error_type": kind, "span": marked, "fix": fix, "note": note or None}
    return {name: value for name, value in given.items() if value is not None}


def _answers(record: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[Answer]:
    metadata, responses = record.get("metadata"), record.get("responses")
    known = cast("dict[str, Any]", metadata) if isinstance(metadata, dict) else {}
    about = item_and_taken({**known, "id": record.get("id")})
    if about is None or not isinstance(responses, dict):
        return
    by_user: dict[str, dict[str, Any]] = defaultdict(dict)
    for question, given in cast("dict[str, Any]", responses).items():
        for one in cast("list[Any]", given) if isinstance(given, list) else []:
            if isinstance(one, dict):
                said = cast("dict[str, Any]", one)
                by_user[str(said.get("user_id"))][question] = said.get("value")
    for user, said in by_user.items():
        spans = said.get("span")
        marked = cast("list[Any]", spans) if isinstance(spans, list) else []
        decision = decision_of({**said, "span": marked[0] if marked else None})
        if decision is not None:
            yield Answer(named(names, (user,), "argilla"), about[0], decision, about[1])


ARGILLA = Tool("records that Argilla exported as JSON", _files, _answers)
"""Users are named by their id; without a name for it, the reviewer is "argilla:ID"."""
