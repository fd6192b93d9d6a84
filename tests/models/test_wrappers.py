"""Limits, retries, deadlines, meters and spans: models around a model, most of them around one on a real socket."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_server import FOREVER, Answer, FaultServer, of_json, says
from vouching.errors import ConfigError, ModelDeadlineError, ModelRefusedError, ModelUnavailableError, VouchError
from vouching.models import Message, Model, Sampling, ScriptedModel
from vouching.models.cache import Cached
from vouching.models.http import HttpModel
from vouching.models.limits import Price
from vouching.models.record import Recording
from vouching.models.wrappers import Deadline, Limited, Metered, Retrying, Traced, jitter

ASK = (Message("user", "Is it?"),)
BUSY = of_json({"error": "busy"}, status=429)


def text_of(model: Model, sampling: Sampling | None = None) -> str:
    return asyncio.run(model.generate(ASK, sampling or Sampling()))[0].text


def ask(script: Sequence[Answer], wrap: Callable[[Model], Model]) -> tuple[str | VouchError, FaultServer, float]:
    """What a wrapped model says or raises, the server, and the seconds that it took."""

    async def main() -> tuple[str | VouchError, FaultServer, float]:
        async with FaultServer(script) as server:
            model = wrap(HttpModel(server.url, "m"))
            started = time.monotonic()
            try:
                said: str | VouchError = (await model.generate(ASK, Sampling()))[0].text
            except VouchError as error:
                said = error
            seconds = time.monotonic() - started
            await model.aclose()
            return said, server, seconds

    return asyncio.run(main())


def hasty(model: Model) -> Model:
    return Retrying(model, attempts=3, first_wait=0.001)


@pytest.mark.parametrize(
    "failure", [BUSY, of_json({}, status=500), of_json({}, status=503), says("Y", send=3), Answer(send=0, body=b"x")]
)
def test_what_fails_for_now_is_tried_again(failure: Answer) -> None:
    said, server, _ = ask([failure, says("Yes.")], hasty)
    assert (said, len(server.requests)) == ("Yes.", 2)


@pytest.mark.parametrize(
    "failure",
    [of_json({}, status=400), of_json({}, status=401), of_json({}, status=404), of_json({}), Answer(body=b"<html>")],
)
def test_what_fails_for_good_is_not_tried_again(failure: Answer) -> None:
    said, server, _ = ask([failure, says("Yes.")], hasty)
    assert isinstance(said, VouchError)
    assert len(server.requests) == 1


def test_the_last_error_is_raised_when_the_attempts_are_used_up() -> None:
    said, server, _ = ask([BUSY], hasty)
    assert isinstance(said, ModelUnavailableError)
    assert len(server.requests) == 3


def test_a_server_that_says_how_long_to_wait_is_left_alone_that_long() -> None:
    said, server, seconds = ask([of_json({}, status=429, headers={"retry-after": "0.3"}), says("Yes.")], hasty)
    assert (said, len(server.requests)) == ("Yes.", 2)
    assert seconds >= 0.3


def test_a_server_that_asks_for_too_long_a_wait_is_given_up_at_once() -> None:
    said, server, seconds = ask([of_json({}, status=429, headers={"retry-after": "3600"}), says("Yes.")], hasty)
    assert isinstance(said, ModelUnavailableError)
    assert said.retry_after == 3600.0
    assert len(server.requests) == 1
    assert seconds < 60


def test_waits_double_are_drawn_at_random_and_stay_below_their_bound() -> None:
    # Bounds with the first at 1 s and the longest at 3 s: 1, 2, then 3 instead of 4 and more. Of 200 uniform draws the
    # largest is above 0.9 of the bound but for a chance of 0.9^200 < 1e-9, the smallest below a tenth of it likewise.
    source = random.Random(0)
    for retry, bound in ((1, 1.0), (2, 2.0), (3, 3.0), (5_000, 3.0)):
        drawn = [jitter(retry, 1.0, 3.0, source) for _ in range(200)]
        assert 0 <= min(drawn) < 0.1 * bound
        assert 0.9 * bound < max(drawn) <= bound


def test_a_deadline_ends_a_call_that_hangs_and_one_that_tries_again_and_again() -> None:
    said, _, _ = ask([says("late", delay=FOREVER)], lambda model: Deadline(model, 0.2))
    assert isinstance(said, ModelDeadlineError)
    assert said.can_retry
    busy = ScriptedModel(lambda messages, sampling: ModelUnavailableError("busy"))
    with pytest.raises(ModelDeadlineError, match=r"within 0\.5 seconds"):
        text_of(Deadline(Retrying(busy, attempts=10**6, first_wait=0.01, longest_wait=0.01), 0.5))
    assert len(busy.asked) > 1


def test_a_timeout_from_inside_is_not_taken_for_the_deadline() -> None:
    with pytest.raises(TimeoutError, match="inside"):
        text_of(Deadline(ScriptedModel([TimeoutError("inside")]), 60))


@pytest.mark.parametrize("at_once", [1, 5])
def test_no_more_calls_are_under_way_than_the_limit_and_as_many_as_it_allows(at_once: int) -> None:
    async def main() -> tuple[list[str], int]:
        async with FaultServer([says("Yes.", delay=0.05)]) as server:
            model = Limited(HttpModel(server.url, "m"), at_once)
            calls = await asyncio.gather(*(model.generate(ASK, Sampling()) for _ in range(4 * at_once)))
            await model.aclose()
            return [said[0].text for said in calls], server.max_in_flight

    said, limit = asyncio.run(main())
    assert said == ["Yes."] * (4 * at_once)
    assert limit == at_once


def test_a_cancelled_call_gives_its_place_back() -> None:
    async def main() -> str:
        async with FaultServer([says("late", delay=FOREVER), says("Yes.")]) as server:
            model = Limited(HttpModel(server.url, "m"), 1)
            call = asyncio.ensure_future(model.generate(ASK, Sampling()))
            while not server.under_way:
                await asyncio.sleep(0.01)
            call.cancel()
            return (await asyncio.wait_for(model.generate(ASK, Sampling()), 10))[0].text

    assert asyncio.run(main()) == "Yes."


def test_time_in_line_does_not_count_against_the_deadline() -> None:
    async def main() -> int:
        async with FaultServer([says("Yes.", delay=0.2)]) as server:
            model = Limited(Deadline(HttpModel(server.url, "m"), 2.0), 1)
            # Fifteen calls of 0.2 s, one after the other, take 3 s; each alone is well within its 2 s.
            return len(await asyncio.gather(*(model.generate(ASK, Sampling()) for _ in range(15))))

    assert asyncio.run(main()) == 15


def test_a_meter_adds_up_tokens_and_money() -> None:
    model = Metered(ScriptedModel(lambda messages, sampling: "Yes it is."), Price(prompt=1.0, completion=4.0))
    text_of(model)
    text_of(model, Sampling(n=2))
    # "Is it?" has two words; one call said three words, the other twice three.
    assert (model.usage.prompt_tokens, model.usage.completion_tokens, model.usage.calls) == (2 + 2, 3 + 6, 2)
    assert model.cost == pytest.approx((4 * 1.0 + 9 * 4.0) / 1e6)
    assert Metered(ScriptedModel([])).cost is None


def test_a_call_that_fails_is_not_metered() -> None:
    model = Metered(ScriptedModel([ModelRefusedError("no")]))
    with pytest.raises(ModelRefusedError):
        text_of(model)
    assert model.usage.calls == 0


@pytest.mark.parametrize(
    "make", [lambda m: Limited(m, 0), lambda m: Deadline(m, 0.0), lambda m: Retrying(m, 0), lambda m: Deadline(m, -1)]
)
def test_a_wrapper_that_could_never_answer_is_refused(make: Callable[[Model], Model]) -> None:
    with pytest.raises(ConfigError, match="must"):
        make(ScriptedModel([]))


def test_wrappers_have_the_name_of_the_model_inside_and_close_it_as_often_as_one_likes(tmp_path: Path) -> None:
    inside = ScriptedModel([], name="m")
    model = Limited(Deadline(Retrying(Traced(Metered(inside), "scripted")), 1.0), 1)
    model = Recording(Cached(model, tmp_path / "answers.sqlite"), tmp_path / "calls.jsonl")
    for _ in range(2):
        asyncio.run(model.aclose())
    assert model.name == "m"
    assert inside.closed


@pytest.fixture
def spans() -> Any:
    """Spans that were finished, in order."""
    pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter.get_finished_spans


def test_a_span_follows_the_conventions_and_holds_no_text(spans: Any) -> None:
    model = Traced(ScriptedModel(["Yes it is."], name="http://host/v1#m"), "openai")
    text_of(model, Sampling(seed=4, stop=("\n",), max_tokens=50))
    [span] = spans()
    assert (span.name, span.kind.name) == ("chat m", "CLIENT")
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.top_p": 1.0,
        "gen_ai.request.seed": 4,
        "gen_ai.request.stop_sequences": ("\n",),
        "gen_ai.output.type": "text",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 2,
        "gen_ai.usage.output_tokens": 3,
    }


def test_a_span_names_the_error_that_ended_it(spans: Any) -> None:
    with pytest.raises(ModelRefusedError):
        text_of(Traced(ScriptedModel([ModelRefusedError("no")]), "scripted"))
    [span] = spans()
    assert span.attributes["error.type"] == "ModelRefusedError"
    assert span.status.status_code.name == "ERROR"
