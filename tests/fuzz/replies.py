"""Every reader of what a model or a server replies, and of what a caller of the server sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any

import httpx2
from pydantic import BaseModel, ValidationError

from tests.fuzz.target import Target, raw
from vouching.answering.prompt import read_reply
from vouching.errors import InputError, VouchError
from vouching.inputs import as_claim, each_of
from vouching.judging.ask import ReplyError
from vouching.judging.windows import ScreenedSources
from vouching.methods.assurance.reply import read_case, read_choice, read_line
from vouching.methods.assurance.task import as_task
from vouching.methods.blinded.prompt import read_answers, read_pairs
from vouching.methods.checklist.reply import parse_checklist, read_answer
from vouching.methods.discriminative.factscore import read_facts
from vouching.methods.discriminative.generative import read_places, read_points, verdict_of, worded
from vouching.methods.discriminative.published.decision import read_answers as read_decisions
from vouching.methods.discriminative.published.served import FORMS
from vouching.methods.structured.reading import read_reply as read_in_sources
from vouching.methods.structured.reply import LabelReply, Reply, parse_reply
from vouching.methods.structured.reward import binary_reward
from vouching.models import Completion
from vouching.models.connections import read_object
from vouching.models.decision_shapes import ShapeName
from vouching.models.decisions import DecisionModel
from vouching.models.http import read_completions
from vouching.models.json_fields import read_json
from vouching.models.limits import TimeLimits
from vouching.models.tools import read_tool_calls
from vouching.models.wrappers import read_fields
from vouching.rows.conversations import read_turns
from vouching.search.agent import CallError, read_call
from vouching.search.compress import read_reply as read_compressed
from vouching.search.web_apis import APIS
from vouching.serve import bodies
from vouching.serve.app import _invalid_words  # pyright: ignore[reportPrivateUsage]
from vouching.serve.blocking import Blocking
from vouching.serve.decision_forms import DecisionsBody, SystemOneBody, evidence_of, questions_of, state_of
from vouching.serve.events import events_of
from vouching.serve.policy import JudgeSettings, Policy
from vouching.serve.proxy_guard import Guard
from vouching.serve.proxy_messages import Asked, answers_of, parsed_object, read_request
from vouching.serve.proxy_settings import ProxySettings
from vouching.serve.proxy_streams import HeldChat, held_responses, stream_after
from vouching.serve.work import Pool
from vouching.types import Source, Usage

SOURCE = "The bridge opened to traffic in 1973. It has three towers."
TASK = {
    "task": "t",
    "data": {"x": [1, 2]},
    "rules": [{"id": "R1", "text": "Add.", "value": "sum(data.x)"}],
    "units": [
        {"id": "a", "type": "amount", "rules": ["R1"]},
        {"id": "b", "type": "number", "depends_on": ["a"]},
        {"id": "c", "type": "choice", "choices": ["yes", "no"]},
    ],
}
UNIT = as_task(TASK).units[0]
_CASE = json.dumps(
    {
        "claim_id": "linewise-claim",
        "overall_verdict": "reject",
        "overall_confidence": 0.8,
        "line_findings": [
            {
                "line": "a",
                "verdict": "wrong",
                "confidence": 0.9,
                "facts": ["x"],
                "rules": ["R1"],
                "argument": "The sum is 3.",
                "correction": 3,
            }
        ],
    }
)
_REPLY = json.dumps(
    {
        "label": "Not Attributable",
        "confidence": 0.9,
        "evidence_alignment": [{"claim_span": "1937", "source_span": "1973", "status": "mismatch"}],
        "reasoning_chain": [
            {
                "claim_part": "opened in 1937",
                "source_evidence": "opened in 1973",
                "judgment": "not_supported",
                "explanation": "Another year.",
            }
        ],
        "error_type": "temporal_shift",
        "fix_suggestion": "Change 1937 to 1973.",
    }
)
_COMPLETIONS = json.dumps(
    {
        "model": "m",
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        "choices": [
            {
                "message": {
                    "content": "<score> no </score>",
                    "tool_calls": [{"id": "1", "function": {"name": "search_web", "arguments": '{"query": "bridge"}'}}],
                },
                "finish_reason": "stop",
                "logprobs": {
                    "content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": " no", "logprob": -2.5}]}]
                },
            }
        ],
    }
)
_ASKED: dict[str, Any] = {
    "state": SOURCE,
    "questions": {
        "year": {"type": "noul", "instructions": "Is it old?"},
        "kind": {"type": "choice", "criteria": {"a": None, "b": None}},
        "level": {"type": "score", "criteria": ["low", "high"]},
    },
}
_DECIDED: dict[ShapeName, str] = {
    "systemone": json.dumps(
        {
            "model": "m",
            "usage": {"input_tokens": 9},
            "answers": {
                "year": {"type": "noul", "noul": 0.25},
                "kind": {"type": "choice", "probabilities": {"a": 0.5, "b": 0.5}},
            },
        }
    ),
    "openai": json.dumps(
        {
            "status": "completed",
            "answers": [
                {"type": "predicate", "name": "year", "probability": 0.25},
                {"type": "choice", "name": "kind", "probabilities": [{"value": "a", "probability": 1.0}]},
                {"type": "score", "name": "level", "probabilities": [{"value": 0, "probability": 1}]},
            ],
        }
    ),
    "gemini": json.dumps(
        {
            "usage": {"total_input_tokens": 9},
            "prompt_feedback": {"block_reason": ""},
            "answers": {"year": {"type": "noul", "noul": 0.5}},
        }
    ),
}
_FOUND = {
    "searxng": '{"results": [{"title": "a", "url": "http://a.org", "content": "b"}], "unresponsive_engines": []}',
    "wikipedia": '{"query": {"pages": [{"title": "a", "index": 1, "fullurl": "http://a.org", "extract": "b"}]}}',
    "brave": '{"type": "search", "web": {"results": [{"title": "a", "url": "http://a.org", "description": "b"}]}}',
    "tavily": '{"results": [{"title": "a", "url": "http://a.org", "content": "b"}]}',
    "serper": '{"searchParameters": {}, "organic": [{"title": "a", "link": "http://a.org", "snippet": "b"}]}',
}
_CHUNKS = json.dumps(
    [
        {"id": "c", "model": "m", "choices": [{"index": 0, **choice}]}
        for choice in (
            {"delta": {"role": "assistant", "content": "It opened in 1937. "}, "finish_reason": None},
            {"delta": {"content": "So"}, "finish_reason": "stop"},
        )
    ]
)
_DELTA = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "In "}
_EVENTS = json.dumps(
    [
        _DELTA,
        {**_DELTA, "type": "response.output_text.done", "text": "In 1937."},
        {
            "type": "response.completed",
            "response": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "In 1937."}]}]},
        },
    ]
)
_REQUEST = json.dumps(
    {
        "model": "m",
        "documents": [{"doc_id": "a", "text": SOURCE}],
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": "When?"},
        ],
    }
)


def grounded(text: str) -> object:
    """What a record says of a claim and its source."""
    return read_in_sources(parse_reply(text, Reply), as_claim("It opened in 1937."), ScreenedSources([Source(SOURCE)]))


def read_by(form: str) -> Callable[[str], object]:
    """The reader of a published verifier, for a reply without log-probabilities."""
    return lambda text: FORMS[form].read(Completion(text, "stop", Usage()))


def completed(text: str) -> object:
    """All that is read in an answer of a server: completions, calls and probabilities."""
    replies = read_completions(read_object(httpx2.Response(200), raw(text), "server"), 0.1, "server")
    return [
        (read_call(reply, ["web", "local"]), FORMS["minicheck"].read(reply), FORMS["granite-guardian"].read(reply))
        for reply in replies
    ]


def decided(shape: ShapeName) -> Callable[[str], object]:
    """The reader of a decision model's replies of one shape."""
    model = DecisionModel(f"decision:http://localhost:9#m;shape={shape}", "key", TimeLimits())

    def parse(text: str) -> object:
        found = read_object(httpx2.Response(200), raw(text), "server", strict=True)
        reply = model._completion(found, _ASKED, shape, 0.1)  # pyright: ignore[reportPrivateUsage]
        return read_decisions(_ASKED, reply.text)

    return parse


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 99):
        yield content[start : start + 99]


@cache
def _guard(action: str) -> Guard:
    settings = ProxySettings(action=action, unverified="block")  # type: ignore[arg-type]
    return Guard(settings, JudgeSettings("embedded:rules"), Pool(threads=1, queue=4), Blocking(Policy()))


def events_with(text: str) -> bytes:
    """A stream of the values of a JSON list; of any other text, this text."""
    try:
        values: Any = json.loads(text)
    except (ValueError, RecursionError):
        return raw(text)
    return ("".join(f"data: {json.dumps(one)}\n\n" for one in each_of(values)) + "data: [DONE]\n\n").encode()


def streamed(text: str) -> object:
    """A stream as each way of the proxy passes it on; without documents, so that no check is made."""
    asked, stream = Asked("When?", ()), events_with(text)

    async def read() -> list[list[bytes]]:
        def ways(content: bytes, guard: Guard) -> list[AsyncIterator[bytes]]:
            return [
                events_of(_chunks(content)),
                HeldChat(guard, asked).stream(_chunks(content)),
                held_responses(_chunks(content), guard, asked),
                stream_after(_chunks(content), guard, asked, True),
            ]

        made = [way for action in ("block", "annotate") for way in ways(stream, _guard(action))]
        return [[event async for event in way] for way in made]

    return asyncio.run(read())


def proxied(text: str) -> bytes:
    """A whole answer with each of its texts replaced."""
    body = parsed_object(raw(text)) or {}
    for given, replace in [*answers_of(body)]:
        replace(str(given)[::-1], True)
    return json.dumps(body).encode()


def asked_of_proxy(text: str) -> object:
    """The question and the documents of a request."""
    body = parsed_object(raw(text), strict=True)
    return body and read_request(body, ("documents", "tool", "system", "user")).named


def sent(kind: type[BaseModel]) -> Callable[[str], object]:
    """A request to a route that takes this kind."""

    def parse(text: str) -> object:
        try:
            body = kind.model_validate(read_json(text))
        except ValidationError as error:
            raise InputError(_invalid_words(error.errors())) from None
        if isinstance(body, DecisionsBody):
            return questions_of(body), evidence_of(state_of(body.input))
        return evidence_of(body.state) if isinstance(body, SystemOneBody) else body.model_dump_json()

    return parse


_SENT: tuple[type[BaseModel], ...] = (
    bodies.CheckBody,
    bodies.ResponseBody,
    bodies.StreamBody,
    bodies.AuditBody,
    bodies.FollowBody,
    bodies.RankBody,
    bodies.ChallengeBody,
    bodies.SourceBody,
    SystemOneBody,
    DecisionsBody,
)

REPLIES: dict[str, Target] = {
    "reply of a structured verifier": Target(
        lambda text: parse_reply(text, Reply), [_REPLY, f"Sure:\n```json\n{_REPLY}\n```"], (ReplyError,), True
    ),
    "reply with a label": Target(
        lambda text: parse_reply(text, LabelReply), ['{"label": "Attributable", "confidence": 1}'], (ReplyError,), True
    ),
    "reply about a source": Target(grounded, [_REPLY], (ReplyError,), True),
    "reply to be rewarded": Target(lambda text: binary_reward(text, "Not Attributable"), [_REPLY], as_json=True),
    "reply with a safety case": Target(lambda text: read_case(text, UNIT), [_CASE], (ReplyError,), True),
    "reply with a line": Target(
        lambda text: read_line(text, UNIT), ['{"line": "a", "value": 3, "reason": "Sum."}'], (ReplyError,), True
    ),
    "reply with a choice": Target(read_choice, ["KEEP", '{"action": "REVISE", "reason": "Wrong."}'], (ReplyError,)),
    "reply with a checklist": Target(parse_checklist, ["1. Is it short?\n2. Is it in verse?\n   - Does it rhyme?"]),
    "reply about an item": Target(read_answer, ["YES", "**Answer:** No, it is not.", '{"answer": "yes"}']),
    "reply with questions": Target(read_pairs, ["1. [Question: How long is it?] [Answer: 6 km]"]),
    "reply with answers": Target(lambda text: read_answers(text, 3), ['1. Evidence: "It is 6 km." [Answer: 6 km]']),
    "reply with facts": Target(read_facts, ["- It opened.\n- It is long."], (ReplyError,)),
    "reply with places": Target(
        lambda text: read_places(worded(text), 3),
        [
            "<verdict>answer 2 > answer 1 = answer 3</verdict>",
            '{"explanation": "a", "places": {"answer 1": 1, "answer 2": 2, "answer 3": 2}}',
        ],
        (ReplyError,),
        True,
    ),
    "reply with points": Target(
        lambda text: read_points(worded(text)), ["<verdict>7</verdict>", '{"points": 7}'], (ReplyError,), True
    ),
    "reply with a verdict": Target(verdict_of, ["<think>x</think> <verdict>supported</verdict>"], (ReplyError,)),
    "reply of a writer": Target(read_reply, ["Reasoning: 64 - 18 = 46\nResponse: It is 46 m.\nAnswer: 46 m"]),
    "reply of a compressor": Target(
        read_compressed, ["**Final Verdict:** Incorrect\n**Useful Facts:** [It opened in 1937]\n**Reasoning:** A year."]
    ),
    "reply of MiniCheck": Target(read_by("minicheck"), ["Yes", " no."], (ReplyError,)),
    "reply of Granite Guardian": Target(read_by("granite-guardian"), ["<score> no </score>"], (ReplyError,)),
    "reply of Lynx": Target(
        read_by("lynx"), ['{"REASONING": ["The year differs."], "SCORE": "FAIL"}'], (ReplyError,), True
    ),
    "reply of FaithLens": Target(
        read_by("faithlens"), ["<think>No?</think><reason>It agrees.</reason><answer> Yes </answer>"], (ReplyError,)
    ),
    "tool calls": Target(read_tool_calls, ['<tool_call>{"name": "look", "arguments": {"query": "a"}}</tool_call>']),
    "turn of an agent": Target(
        lambda text: read_call(Completion(text, "stop", Usage()), ["web", "local"]),
        [
            "<search_web>bridge</search_web>",
            '<tool_call>{"name": "search_web", "arguments": {"query": "bridge"}}</tool_call>',
        ],
        (CallError,),
    ),
    "answer of a model's server": Target(completed, [_COMPLETIONS], (VouchError, ReplyError, CallError), True),
    **{
        f"decision in the form of {shape}": Target(decided(shape), [_DECIDED[shape]], (VouchError, ReplyError), True)
        for shape in _DECIDED
    },
    **{
        f"answer of {name}": Target(
            lambda text, read=APIS[name].read: read(read_object(httpx2.Response(200), raw(text), "server")),
            [_FOUND[name]],
            as_json=True,
        )
        for name in APIS
    },
    "stream of the proxy": Target(
        streamed,
        [
            _CHUNKS,
            _EVENTS,
            events_with(_CHUNKS).decode(),
            events_with(_EVENTS).decode(),
            ": hello\n\nevent: a\ndata: 1\ndata: 2\n\n",
        ],
        as_json=True,
        share=0.2,
    ),
    "answer through the proxy": Target(
        proxied,
        [
            '{"choices": [{"message": {"content": "In 1937.", "refusal": null}, "finish_reason": "stop"}]}',
            '{"output": [{"type": "message", "content": [{"type": "output_text", "text": "In 1937."}]}]}',
        ],
        as_json=True,
    ),
    "request to the proxy": Target(asked_of_proxy, [_REQUEST], as_json=True),
    "conversation": Target(lambda text: [*read_turns(text)], [_REQUEST], as_json=True),
    "fields of a request": Target(read_fields, ['{"reasoning_effort": "low", "x": {"y": [1]}}'], as_json=True),
    **{
        f"request of {kind.__name__}": Target(
            sent(kind),
            [json.dumps(kind.model_config["json_schema_extra"]["examples"][0])],  # type: ignore[index, call-overload]
            (VouchError, ValueError),
            True,
        )
        for kind in _SENT
    },
}
"""By name. Readers without documented errors raise none but VouchError."""
