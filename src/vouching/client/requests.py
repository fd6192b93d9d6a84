"""What a call sends and how its answer is read: the same for the synchronous and the asynchronous client."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from vouching.client.problems import error_of
from vouching.errors import ServerUnavailableError, VouchError
from vouching.inputs import ClaimLike, SourceLike, SourcesLike, as_claim, as_sources, each_of
from vouching.judging.verifier import Outcome
from vouching.models.json_fields import read_json
from vouching.repair import Rest
from vouching.rows.conversations import as_json, read_messages
from vouching.text.json_values import parse_json
from vouching.types import Assurance, Claim, ContextReport, Ranking, Report, Source, Unverified, Verdict
from vouching.types.serial import from_json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request."""

    path: str
    body: dict[str, Any]
    read: Callable[[bytes], T]
    """From the body of a successful answer to the result."""


@dataclass(frozen=True, slots=True)
class KeptSource:
    """A source that a server keeps: pass it in ``sources`` instead of its text.

    >>> KeptSource("ab" * 32, id="report.pdf").fields["id"]
    'report.pdf'
    """

    digest: str
    """SHA-256 of its text."""
    id: str | None = None
    title: str = ""
    url: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """As a request has it."""
        return {"digest": self.digest, "id": self.id, "title": self.title, "url": self.url}


GivenSources = SourcesLike | KeptSource | Sequence[SourceLike | KeptSource]


def check_call(claim: ClaimLike | Sequence[ClaimLike], sources: GivenSources | None, more: Mapping[str, Any]) -> Any:
    """A claim, or each of a list of claims."""
    single = isinstance(claim, str | Claim)
    texts = [as_claim(one, number).text for number, one in enumerate(each_of(claim), 1)]
    body = _body({"claim": texts[0] if single else texts}, sources, more)
    if single:
        return Call("/v1/check", body, read_outcome)
    return Call("/v1/check", body, lambda raw: [read_outcome(json.dumps(one)) for one in parse_json(raw)])


def response_call(
    response: str, sources: GivenSources | None, repair_rest: Rest | None, more: Mapping[str, Any]
) -> Call[Report]:
    """A whole response."""
    return Call("/v1/check-response", _body({"response": response, "repair": repair_rest}, sources, more), _report)


def trace_call(messages: object, repair_rest: Rest | None, more: Mapping[str, Any]) -> Call[list[Report]]:
    """A conversation."""
    body = {"messages": as_json(read_messages(messages)), "repair": repair_rest, **_given(more)}
    return Call("/v1/check-trace", body, lambda raw: [_report(json.dumps(one).encode()) for one in parse_json(raw)])


def audit_call(response: str, sources: GivenSources, more: Mapping[str, Any]) -> Call[Report]:
    """The numbers of a response."""
    return Call("/v1/audit", _body({"response": response}, sources, more), _report)


def follow_call(
    instruction: str, response: str, checklist: Sequence[Any] | None, sources: GivenSources, more: Mapping[str, Any]
) -> Call[Report]:
    """A response and its instruction."""
    given = {"instruction": instruction, "response": response, "checklist": checklist}
    return Call("/v1/follow", _body(given, sources, more), _report)


def rank_call(question: str, answers: Sequence[str], sources: GivenSources, more: Mapping[str, Any]) -> Call[Ranking]:
    """The answers to a question."""
    body = _body({"question": question, "answers": [*answers]}, sources, more)
    return Call("/v1/rank", body, lambda raw: from_json(Ranking, raw))


def context_call(
    question: str, sources: GivenSources, answer: str | None, more: Mapping[str, Any]
) -> Call[ContextReport | Unverified]:
    """A question, what was found for it, and an answer."""
    return Call("/v1/context", _body({"question": question, "answer": answer}, sources, more), read_context)


def challenge_call(task: Mapping[str, Any], proposal: Mapping[str, Any], more: Mapping[str, Any]) -> Call[Assurance]:
    """Structured work."""
    body = {"task": {**task}, "proposal": {**proposal}, **_given(more)}
    return Call("/v1/challenge", body, lambda raw: from_json(Assurance, raw))


def upload_call(source: Source) -> Call[KeptSource]:
    """A text to keep."""
    return Call(
        "/v1/sources",
        {"text": source.text},
        lambda raw: KeptSource(parse_json(raw)["digest"], source.id, source.title, source.url),
    )


def reward_call(
    method: str, rows: Iterable[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Call[list[dict[str, Any]]]:
    """The rewards of rows."""
    body = {"rows": [{**row} for row in rows], "settings": {**settings}}
    return Call(f"/v1/reward/{method}", body, lambda raw: cast("list[dict[str, Any]]", parse_json(raw)["lines"]))


def check_answer(status: int, body: bytes, retry_after: str | None = None) -> bytes:
    """The body of a successful answer.

    Raises:
        VouchError: the same error as the library raises for these arguments, or an AccessError.
        ServerUnavailableError: the server is busy, or something else than Vouch answered.
    """
    if status < 300:
        return body
    try:
        problem = read_json(body.decode())
    except ValueError:
        problem = None
    if isinstance(problem, dict) and "error" in problem:
        raise error_of(cast("dict[str, Any]", problem))
    wait = float(retry_after) if retry_after and re.fullmatch("[0-9]{1,9}", retry_after) else None
    if status in (429, 502, 503, 504):
        raise ServerUnavailableError(f"the server answered {status}: try again later", wait, status)
    raise _foreign(status)


def read_answer(call: Call[T], status: int, body: bytes, retry_after: str | None = None) -> T:
    """The result of a call. Raises as :func:`check_answer`, and VouchError for an answer that is not one of Vouch."""
    found = check_answer(status, body, retry_after)
    with _reading(status):
        return call.read(found)


@contextmanager
def _reading(status: int) -> Generator[None, None, None]:
    """Raise VouchError where what a server sent cannot be read."""
    try:
        yield
    except VouchError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError):
        raise _foreign(status) from None


def _foreign(status: int) -> VouchError:
    return VouchError(f"the server answered {status}, and not as Vouch does: check the address")


def read_events(lines: Iterable[str], read_end: Callable[[bytes], T]) -> Iterator[Outcome | T]:
    """The findings of a stream, then what ``read_end`` makes of its last event.

    Raises the error of a problem, and VouchError for a stream that is not one of Vouch or lacks its last event.
    """
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield _event(name, line.removeprefix("data: ").encode(), read_end)
            if name == "end":
                return
    raise _foreign(200)


def _event(name: str, data: bytes, read_end: Callable[[bytes], T]) -> Outcome | T:
    with _reading(200):
        if name == "problem":
            raise error_of({**parse_json(data)})
        if name in ("finding", "end"):
            return read_outcome(data) if name == "finding" else read_end(data)
    raise _foreign(200)


def read_checked(raw: bytes) -> int:
    """How many characters of a response that is still being written are checked."""
    checked = parse_json(raw)["checked"]
    if not isinstance(checked, int):
        raise TypeError
    return checked


def read_outcome(raw: str | bytes) -> Outcome:
    """A verdict or an unverified claim."""
    if parse_json(raw).get("kind") == "unverified":
        return from_json(Unverified, raw)
    return from_json(Verdict, raw)


def read_context(raw: str | bytes) -> ContextReport | Unverified:
    """Findings about retrieval, or a question that could not be judged."""
    if parse_json(raw).get("kind") == "unverified":
        return from_json(Unverified, raw)
    return from_json(ContextReport, raw)


def _report(raw: str | bytes) -> Report:
    return from_json(Report, raw)


def _given(more: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in more.items() if value is not None}


def _body(own: Mapping[str, Any], sources: GivenSources | None, more: Mapping[str, Any]) -> dict[str, Any]:
    return {**_given(own), "sources": _sources(sources), **_given(more)}


def _sources(given: GivenSources | None) -> list[dict[str, Any]]:
    """Sources as a request has them; texts are checked as the library checks them."""
    values = [] if given is None else each_of(given)
    kept = {number: one for number, one in enumerate(values) if isinstance(one, KeptSource)}
    others = [one for one in values if not isinstance(one, KeptSource)]
    texts = iter(as_sources(others) if others else ())
    fields: list[dict[str, Any]] = []
    for number in range(len(values)):
        if number in kept:
            fields.append(kept[number].fields)
        else:
            source = next(texts)
            fields.append({"text": source.text, "id": source.id, "title": source.title, "url": source.url})
    return fields
