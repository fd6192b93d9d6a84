"""Rows as other tools write them become ours: one table of shapes, each with the fields that it needs.

A row of ours has ``claim`` or ``response``, ``sources`` and, where known, ``question``, ``label`` and ``spans``. Other
rows are converted by the first shape whose needed fields they have. Not supported: several turns of a chat (the last
answer is read; ``vouching.check_trace`` reads all), images, contexts of DeepEval's CSV that contain its separator "|",
promptfoo's CSV, whose columns have the names of prompts, and spans of TruLens's OpenTelemetry tracing, whose records
have no contexts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from vouching.errors import InputError
from vouching.rows.conversations import Origin, open_turn, read_turns
from vouching.rows.row import Fields
from vouching.text.json_values import parse_json
from vouching.types import Label
from vouching.types.visible import shown_json, shown_names

Paths: TypeAlias = Mapping[str, tuple[str, ...]]
"""For each field of ours, where it may be, best first; "a.b" is the field b of the field a."""
SOURCE_KEYS = ("sources", "source", "contexts", "context", "documents", "docs")
"""Names under which a row of ours may have its sources; "sources" is preferred."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A known form of rows."""

    name: str
    needs: Paths
    """Without one of these it is another shape."""
    may: Paths = field(default_factory=dict[str, tuple[str, ...]])
    """What is read if it is there."""

    def found(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """For each field of ours, the place where the row has it."""
        return {
            ours: place
            for ours, places in {**self.needs, **self.may}.items()
            if (place := next((one for one in places if _at(fields, one) is not None), None)) is not None
        }

    def lacks(self, found: Mapping[str, str]) -> list[str]:
        """The needed fields that the row does not have, in the tool's words."""
        return [" or ".join(places) for ours, places in self.needs.items() if ours not in found]


_CONTEXTS = (*SOURCE_KEYS, "retrieved_contexts", "retrieved_context", "retrieval_context")
_QUESTIONS = ("question", "query", "user_input", "input")
"""Fields that the items of OpenAI's Evals usually have; their names are the author's."""
SHAPES: tuple[Shape, ...] = (
    Shape(
        "ragas",
        {"response": ("response",), "sources": ("retrieved_contexts",)},
        {"question": ("user_input",), "id": ("id",)},
    ),
    Shape(
        "ragas (before 0.2)",
        {"question": ("question",), "response": ("answer",), "sources": ("contexts",)},
        {"id": ("id",)},
    ),
    Shape(
        "DeepEval",
        {
            "response": ("actual_output", "actualOutput"),
            "sources": ("retrieval_context", "retrievalContext", "context"),
        },
        {"question": ("input",), "id": ("id",)},
    ),
    Shape(
        "TruLens",
        {
            "response": ("main_output", "record_json.main_output"),
            "sources": ("calls.contexts", "record_json.calls.contexts"),
        },
        {"question": ("main_input", "record_json.main_input"), "id": ("id", "record_id")},
    ),
    Shape(
        "LettuceDetect",
        {"response": ("answer",), "source": ("context", "prompt"), "spans": ("labels",)},
        {"question": ("question",), "id": ("id",), "part": ("task_type",)},
    ),
    Shape(
        "MiniCheck / LLM-AggreFact",
        {"claim": ("claim",), "source": ("doc",)},
        {"label": ("label",), "id": ("id",), "part": ("dataset",)},
    ),
    Shape(
        "promptfoo",
        {"response": ("response.output",), "sources": ("vars.context", "vars.contexts")},
        {"question": ("vars.query", "vars.question"), "id": ("id",)},
    ),
    Shape(
        "OpenAI Evals, rows",
        {"response": ("sample.output_text",), "sources": tuple(f"item.{name}" for name in _CONTEXTS)},
        {"question": tuple(f"item.{name}" for name in _QUESTIONS), "id": ("item.id",)},
    ),
    Shape(
        "OpenAI Evals, results",
        {
            "response": ("graded.answer",),
            "sources": (*(f"datasource_item.{name}" for name in _CONTEXTS), "graded.documents"),
        },
        {
            "question": (*(f"datasource_item.{name}" for name in _QUESTIONS), "graded.question"),
            "id": ("datasource_item.id", "datasource_item_id"),
        },
    ),
    Shape(
        "OpenAI chat",
        {"response": ("chat.answer",), "sources": ("chat.documents",)},
        {"question": ("chat.question",), "id": ("id",)},
    ),
)
"""The shapes of other tools' rows, in the order in which they are tried."""
TEXT_COLUMNS = ("claim", "response", "answer", "actual_output", "main_output", "record_json")
"""Columns of tables, one of which every shape has."""
_OURS = Shape("vouching", {"claim or response": ("claim", "response"), "sources": SOURCE_KEYS})


def shape_of(fields: Mapping[str, Any]) -> Shape | None:
    """The shape of another tool's row; None for a row of ours or an unknown one.

    >>> shape_of({"user_input": "When?", "response": "In 1973.", "retrieved_contexts": ["It opened in 1973."]}).name
    'ragas'
    """
    if is_ours(fields):
        return None
    return next((shape for shape in SHAPES if not shape.lacks(shape.found(fields))), None)


def is_ours(fields: Mapping[str, Any]) -> bool:
    """Whether a row has a claim or a response, and sources, under our names."""
    return not _OURS.lacks(_OURS.found(fields))


def as_row(fields: Fields, strict: bool = False) -> Fields:
    """A row of ours from one of another tool; rows of ours and unknown ones stay as they are.

    Args:
        fields: the row; as it was written, with lists of a CSV cell as text.
        strict: refuse a row of an unknown shape.

    Raises:
        InputError: a field has another type than its tool writes; with ``strict``, an unknown shape.

    >>> as_row({"doc": "It opened in 1973.", "claim": "It opened in 1937.", "label": 0})
    {'claim': 'It opened in 1937.', 'source': 'It opened in 1973.', 'label': 'Not Attributable'}
    >>> as_row({"question": "When?", "contexts": ["It opened in 1973."], "reply": "In 1973."}, strict=True)
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: unknown format: the row has question, contexts and reply; the nearest is ragas (before \
0.2), which also needs answer; see vouch data convert --help
    """
    shape = shape_of(fields)
    if shape is None:
        if strict and not is_ours(fields):
            raise InputError(_unknown(fields))
        return fields
    made: Fields = {
        ours: _READ.get(ours, _plain)(_at(fields, place), place) for ours, place in shape.found(fields).items()
    }
    if "spans" in made:
        made["label"] = "Not Attributable" if made["spans"] else "Attributable"
    return made


def understood(fields: Mapping[str, Any]) -> str:
    """How a row is read, in words.

    >>> understood({"doc": "It opened.", "claim": "It opened."})
    'MiniCheck / LLM-AggreFact: claim from claim, source from doc'
    """
    shape = shape_of(fields)
    if shape is None:
        return f"{_OURS.name}: {', '.join(map(str, fields))}"
    return f"{shape.name}: {', '.join(f'{ours} from {place}' for ours, place in shape.found(fields).items())}"


def _unknown(fields: Mapping[str, Any]) -> str:
    near = min((_OURS, *SHAPES), key=lambda shape: (-_share(shape, fields), len(shape.needs)))
    lacks = " and ".join(near.lacks(near.found(fields)))
    return (
        f"unknown format: the row has {_listed([*map(str, fields)])}; the nearest is {near.name}, which also needs "
        f"{lacks}; see vouch data convert --help"
    )


def _share(shape: Shape, fields: Mapping[str, Any]) -> float:
    """The share of the needed fields that a row has, by more than one field more."""
    found = shape.found(fields)
    return (len(shape.needs) - len(shape.lacks(found))) / len(shape.needs) + 0.01 * len(found)


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no fields"
    *most, last = names
    return f"{shown_names(most)} and {shown_names([last])}" if most else shown_names([last])


def _at(fields: Mapping[str, Any], path: str) -> Any:
    """The value at a path; None if there is none, or it is empty."""
    first, _, rest = path.partition(".")
    if first == "chat":
        return _chat(fields.get("messages"), ("documents", "tool"), fields).get(rest)
    if first == "graded":
        sample = _object(fields.get("sample"))
        said = [*_members(sample.get("input")), *_members(sample.get("output"))]
        return _chat(said, ("documents", "tool", "context")).get(rest)
    value: Any = fields.get(first)
    if first == "record_json" and rest:
        return _at(_object(value), rest)
    if path == "calls.contexts":
        return _returned(value, fields.get("main_output")) or None
    if rest:
        value = cast("Mapping[str, Any]", value).get(rest) if isinstance(value, Mapping) else None
    return None if value in ("", {}) else value


def _object(value: Any) -> Mapping[str, Any]:
    """An object, also from the cell of a table; empty for anything else."""
    value = _of_cell(value) if isinstance(value, str) else value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _of_cell(text: str) -> Any:
    """The value of a CSV cell with JSON, or with a list or dict as Python prints it; None for other text."""
    for read in (parse_json, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return read(text)
    return None


def _chat(messages: Any, origins: Sequence[Origin], body: Any = None) -> dict[str, Any]:
    """The last answer of a chat, the question before it, and the documents of these origins."""
    if not isinstance(messages, list):
        return {}
    last = None
    for turn in read_turns(body or cast("object", messages), origins):
        last = turn if turn.answer else last
    return {"answer": last.answer, "question": last.question, "documents": [*last.sources] or None} if last else {}


def _returned(calls: Any, output: Any) -> list[str]:
    """The texts that the calls of a TruLens record returned as lists, but for its output: the retrieved contexts."""
    returned = [cast("Mapping[str, Any]", call).get("rets") for call in _members(calls) if isinstance(call, Mapping)]
    return [text for rets in returned for text in _members(rets) if isinstance(text, str) and text != output]


def _members(value: Any) -> Iterable[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _plain(value: Any, place: str) -> Any:
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(f'"{place}" must be a string, got {shown_json(value)}')
    return value


def _texts(value: Any, place: str) -> Any:
    """A list of texts or documents; a CSV cell has it as JSON, as a list of Python, or joined by "|"."""
    if not isinstance(value, str):
        return value
    listed: Any = _of_cell(value) if value.startswith("[") else None
    if isinstance(listed, list):
        return cast("list[Any]", listed)
    return value.split("|") if place in ("retrieval_context", "context") and "|" in value else [value]


def _question(value: Any, place: str) -> Any:
    """A question, or the last text of a user in messages."""
    return open_turn(cast("object", value)).question if isinstance(value, list) else value


_LABELS: Mapping[str, Label] = {
    "1": "Attributable",
    "0": "Not Attributable",
    "true": "Attributable",
    "false": "Not Attributable",
    "attributable": "Attributable",
    "not attributable": "Not Attributable",
}


def read_label(value: object, place: str) -> Label:
    """The label of a row: 1 or true is Attributable, 0 or false is not. Raises InputError for any other value.

    >>> read_label(1, "label"), read_label("Not Attributable", "label")
    ('Attributable', 'Not Attributable')
    """
    label = _LABELS.get(str(value).lower().removesuffix(".0"))
    if label is None:
        raise InputError(f'"{place}" must be Attributable (or 1) or Not Attributable (or 0), got {shown_json(value)}')
    return label


def _spans(value: Any, place: str) -> list[dict[str, Any]]:
    """Hallucinated spans of an answer: start and end, without the kind."""
    marked = [*_members(value)]
    if not isinstance(value, list) or not all(isinstance(span, Mapping) for span in marked):
        raise InputError(
            f'"{place}" must be a list of objects with start and end, got {shown_json(cast("object", value))}'
        )
    return [{"start": span.get("start"), "end": span.get("end")} for span in marked]


_READ: Mapping[str, Any] = {
    "question": _question,
    "claim": _text,
    "response": _text,
    "source": _text,
    "sources": _texts,
    "label": read_label,
    "spans": _spans,
}
"""How a field of ours is read from that of another tool."""
