"""JSON Schemas of replies in which every list and string has a bound, and the token limit that follows from them.

A server that enforces a schema lets a model write only what it allows, so a model that repeats itself reaches the end
of a list and stops. A quotation that ends at its bound is still found in its text. Bounds are below 2,000, the most
repetitions in a grammar of llama.cpp. Replies in the form that the prompt asks for are read as well, since not every
server enforces a schema. Not supported: a bound on the digits of a number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from vouching.models.base import spoken
from vouching.models.limits import most_tokens
from vouching.text.json_values import parse_json

Schema: TypeAlias = dict[str, Any]
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
NULL: Schema = {"type": "null"}
MAX_LENGTH = 1_900
"""The largest bound."""
_MIN_TOKENS = 1024
"""Token limit of a short reply: a model may explain it or think first."""
_CHARACTERS_PER_TOKEN = 4
"""Of English in JSON, roughly; quotations seldom reach their bounds."""
_LONGEST_NUMBER = 20


def short_text(most: int, least: int = 0) -> Schema:
    """A string of at most ``most`` characters."""
    return {"type": "string", "maxLength": most} | ({"minLength": least} if least else {})


def one_of(*words: str | int) -> Schema:
    """One of a few words or numbers."""
    return {"type": "string" if isinstance(words[0], str) else "integer", "enum": [*words]}


def any_of(*schemas: Schema) -> Schema:
    """A value of one of several kinds."""
    return {"anyOf": [*schemas]}


def list_of(item: Schema, most: int, least: int = 0) -> Schema:
    """A list of at most ``most`` values."""
    return {"type": "array", "items": item, "maxItems": most} | ({"minItems": least} if least else {})


def record(**fields: Schema) -> Schema:
    """An object with exactly these keys, as servers that enforce schemas expect."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def longest(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> int:
    """Characters of the longest reply that a schema allows. Raises KeyError for a list or string without a bound.

    >>> longest(record(answer=one_of("yes", "no")))  # {"answer": "yes"}
    17
    """
    known = schema.get("$defs", definitions or {})
    if "$ref" in schema:
        return longest(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return max(longest(one, known) for one in schema["anyOf"])
    if "enum" in schema:
        return max(len(json.dumps(word)) for word in schema["enum"])
    if schema["type"] == "object":
        return sum(len(name) + 6 + longest(field, known) for name, field in schema["properties"].items())
    if schema["type"] == "array":
        return 2 + schema["maxItems"] * (2 + longest(schema["items"], known))
    return 2 + schema["maxLength"] if schema["type"] == "string" else _LONGEST_NUMBER


def token_limit(given: int | None, schema: Mapping[str, Any]) -> int:
    """The token limit of a call: as given or set for all calls, or enough for the longest reply of its schema.

    >>> token_limit(None, record(facts=list_of(short_text(300), 20))), token_limit(50, record(answer=short_text(9)))
    (1524, 50)
    """
    return most_tokens(given) or max(_MIN_TOKENS, -(-longest(schema) // _CHARACTERS_PER_TOKEN))


def json_fields(reply: str) -> dict[str, Any]:
    """The fields of a reply that is a JSON object and nothing else; none for any other.

    >>> json_fields('{"answer": "yes"}'), json_fields("yes")
    ({'answer': 'yes'}, {})
    """
    said = spoken(reply).strip()
    if not said.startswith("{"):
        return {}
    try:
        found: Any = parse_json(said)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def json_list(reply: str, name: str) -> list[dict[str, Any]] | None:
    """The objects of a list in a reply that is a JSON object; a text is an object with the key ``name``.

    None if the reply is in another form.

    >>> json_list('{"facts": ["It opened in 1973."]}', "facts"), json_list("NONE", "facts")
    ([{'facts': 'It opened in 1973.'}], None)
    """
    listed = json_fields(reply).get(name)
    if not isinstance(listed, list):
        return None
    members = [{name: one} if isinstance(one, str) else one for one in cast("list[Any]", listed)]
    return [cast("dict[str, Any]", one) for one in members if isinstance(one, dict)]
