"""What happens with each result of a checker: it is an event of telemetry, and kept in a ledger if there is one."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, cast

from vouching.errors import InputError
from vouching.evaluation_events import Result as EvaluationResult
from vouching.evaluation_events import emit_evaluation, has_listeners, of_response
from vouching.judging.verifier import Outcome
from vouching.types import Report, Source
from vouching.types.ledger import Entry, EntryKind, Keeps

_OF_REPORTS: dict[str, EntryKind] = {"claims": "check-response", "response": "audit", "instruction": "follow"}


class _Keeping(Protocol):
    ledger: Keeps | None

    @property
    def judges(self) -> Literal["claims", "response", "instruction", "units"]: ...


Checking = TypeVar("Checking", bound=_Keeping)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def recorded(
    method: Callable[Concatenate[Checking, Given], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Checking, Given], Coroutine[Any, Any, Result]]:
    """A method of a checker whose result is emitted as an event, and appended to its ledger, before it is returned.

    A result that cannot be kept is not returned: the error of the ledger is raised.
    """
    signature = inspect.signature(method)

    @wraps(method)
    async def call(checker: Checking, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        if checker.ledger is None and not has_listeners():
            return await method(checker, *args, **kwargs)
        timing: dict[str, Any] = {"started_at": datetime.now(UTC).isoformat()}
        start = time.monotonic()
        result = await method(checker, *args, **kwargs)
        timing["seconds"] = time.monotonic() - start
        given = signature.bind(checker, *args, **kwargs).arguments
        parts = [*_parts(checker.judges, given, result)]
        with of_response(_id_of(given.get("response"))):
            for kind, _, record in parts:
                emit_evaluation(kind, record)
        ledger = checker.ledger
        if ledger is not None:
            entries = [
                Entry(ledger.stream, kind, plain(inputs), plain(record), ledger.caller, timing=timing)
                for kind, inputs, record in parts
            ]
            await asyncio.to_thread(ledger.append, entries)
        return result

    return call


def _parts(
    judges: str, given: Mapping[str, Any], result: Any
) -> Iterator[tuple[EntryKind, dict[str, Any], EvaluationResult]]:
    """Kind, inputs and record of everything in a result."""
    if isinstance(result, tuple):  # claims, with the sources that were used
        outcomes, sources = cast("tuple[list[Outcome], tuple[Source, ...]]", result)
        for outcome in outcomes:
            asked = {"question": given["question"]} if given.get("question") is not None else {}
            yield "check", {"claim": outcome.claim.text, **asked, "sources": sources}, outcome
    elif not isinstance(result, Report):
        yield "challenge", {"task": given["task"], "proposal": given["proposal"]}, result
    elif judges != "instruction" or "instruction" in given:  # a response passed on to acheck_instruction is kept there
        asked = {name: given[name] for name in ("instruction", "question", "checklist") if given.get(name) is not None}
        yield _OF_REPORTS[judges], {"response": result.response, **asked, "sources": result.sources}, result


def _id_of(response: Any) -> object:
    """The id of an answer as an API has it, JSON or an object of its client; None for a text."""
    if isinstance(response, Mapping):
        return cast("Mapping[str, Any]", response).get("id")
    return getattr(response, "id", None)


def plain(value: object) -> dict[str, Any]:
    """Inputs or a record as JSON. Raises InputError for what cannot be kept."""
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(value, inf_nan_mode="null")
    except (PydanticSerializationError, ValueError) as error:
        raise InputError(f"what was judged cannot be kept as JSON: {error}") from None
