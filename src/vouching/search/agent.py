"""Search by a language model before anything is judged: think, make one call, read the results (DiVA, step 1).

One search serves a question and all its answers. It ends at a stop word, at a turn without a call, at a call that
cannot be read, or after the last turn; if the model fails, earlier results are kept. Calls are native tool calls,
Hermes' tags, or tags as in Search-R1; only the first of a turn is made. Text between <think> and </think> is neither a
call nor an end, and neither are the results.

Departures from the paper: the prompt is Vouch's own unless ``wording="paper"`` asks with prompt D.1 as printed; results
are placed between delimiters, sentences that address the verdict are not shown, and a call in a turn with a stop word
is made. Not supported: a memory of earlier questions, and compressing results during the search.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, TypeAlias

from vouching.errors import ModelError, ModelRefusedError
from vouching.judging.delimiters import delimited
from vouching.judging.windows import window_limit
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.models.tools import Tool, ToolCall, read_tool_calls
from vouching.prompts import Wording, load_prompt
from vouching.search.base import SearchEngine, check_engines, search_engines
from vouching.search.history import found_line, one_line
from vouching.search.steps import QUERIES
from vouching.types import EngineKind, SearchEnd, SearchResult, SearchTurn, Source, Trajectory, total_usage

TOOLS: dict[str, EngineKind] = {"search_local": "local", "search_web": "web"}
"""Names from the paper."""
STOP_WORDS = ("READY_FOR_EVALUATION", "READY_FOR_ANSWERING")
"""They end a search; the paper uses both."""
_ABOUT: dict[EngineKind, str] = {"local": "Searches a collection of documents.", "web": "Searches the web."}
_QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What to look for, in a few words."}},
    "required": ["query"],
}
_TAG = re.compile(r"<(search(?:_local|_web)?)>(.*?)(</\1>|\Z)", re.DOTALL)
_MARKS = re.compile(r"</?think(?:ing)?>")


class CallError(ValueError):
    """A call that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """The call of one turn."""

    tool: EngineKind
    query: str
    message: Message
    """The turn as it is added to the conversation: up to the end of this call."""
    ignored: int
    """Number of later calls in the same turn."""

    def answer(self, text: str) -> Message:
        """The message with the results of the call."""
        if self.message.tool_calls:
            return Message("tool", text, tool_call_id=self.message.tool_calls[0].id)
        return Message("user", f"<information>\n{text}\n</information>")


def tool(kind: EngineKind) -> Tool:
    """A kind of search as a tool."""
    return Tool(next(name for name, of in TOOLS.items() if of == kind), _ABOUT[kind], _QUERY)


def tags(kinds: Collection[EngineKind]) -> tuple[str, ...]:
    """The tags that end a call: stop texts for a completion.

    >>> tags(["local"])
    ('</search_local>', '</search>')
    """
    return (*(f"</{name}>" for name, kind in TOOLS.items() if kind in kinds), "</search>")


def is_ready(text: str) -> bool:
    """Whether a reply contains a stop word outside its thoughts.

    >>> is_ready("READY_FOR_EVALUATION"), is_ready("<think>Then I say READY_FOR_EVALUATION.</think> Not yet.")
    (True, False)
    """
    reply = spoken(text)
    return any(word in reply for word in STOP_WORDS)


def thought_of(text: str) -> str:
    """The text of a reply without its call and without tags.

    >>> thought_of("<think>I need the year.</think><search_web>bridge</search_web>")
    'I need the year.'
    """
    return _MARKS.sub(" ", _TAG.sub("", read_tool_calls(text)[0])).strip()


def read_call(reply: Completion, kinds: Collection[EngineKind]) -> Call | None:
    """The first call of a turn; None if there is none.

    A plain <search> means the first available of local and web. Raises CallError for another tool, no query, arguments
    that are not a JSON object, or a call that was cut off.

    >>> from vouching.types import Usage
    >>> call = read_call(Completion("<search_web>bridge", "stop", Usage()), ["web"])
    >>> call.tool, call.query, call.message.content
    ('web', 'bridge', '<search_web>bridge</search_web>')
    """
    if reply.tool_calls:
        return _native(
            reply.tool_calls[0], Message("assistant", reply.text, reply.tool_calls[:1]), kinds, reply.tool_calls
        )
    text = spoken(reply.text)
    if calls := read_tool_calls(text)[1]:
        end = text.find("</tool_call>")
        shown = reply.text if end < 0 else reply.text[: end + len("</tool_call>")]
        return _native(calls[0], Message("assistant", shown), kinds, calls)
    if not (found := [*_TAG.finditer(text)]):
        return None
    first = found[0]
    if not first[3] and reply.finish_reason != "stop":
        raise CallError(f"the tool call was cut off: {first[0][:80]!r}")
    name = first[1] if first[1] != "search" else tool(min(kinds)).name
    shown = reply.text[: first.end()] + ("" if first[3] else f"</{first[1]}>")
    return _checked(name, first[2], Message("assistant", shown), kinds, len(found) - 1)


def _native(call: ToolCall, message: Message, kinds: Collection[EngineKind], calls: Collection[ToolCall]) -> Call:
    arguments = call.read_arguments()
    if arguments is None:
        raise CallError(f"the arguments of a tool call are not a JSON object: {call.arguments[:80]!r}")
    return _checked(call.name, arguments.get("query"), message, kinds, len(calls) - 1)


def _checked(name: str, query: object, message: Message, kinds: Collection[EngineKind], ignored: int) -> Call:
    if TOOLS.get(name) not in kinds:
        known = ", ".join(tool(kind).name for kind in sorted(kinds))
        raise CallError(f"the model called {name[:80]!r}; expected one of {known}")
    if not isinstance(query, str) or not query.strip():
        raise CallError(f"the model called {name} without a query")
    return Call(TOOLS[name], " ".join(query.split()), message, ignored)


CallForm: TypeAlias = Literal["native", "tags"]
"""How a model calls tools: natively, or by tags in its text, as Search-R1 was trained to."""
_RESULTS = 24_000
"""Most characters of the results of one call in a prompt."""
_KINDS: tuple[EngineKind, ...] = ("local", "web")
_PACKAGE = "vouching.search"


@dataclass(slots=True)
class _Chat:
    messages: list[Message]
    texts: list[str]
    """Every text in it that is not Vouch's own: later delimiters must not occur in them."""
    turns: list[SearchTurn] = field(default_factory=list[SearchTurn])
    replies: list[Completion] = field(default_factory=list[Completion])
    refused: bool = False
    """Whether the model refused the first turn."""


class SearchAgent:
    """Searches with a language model. Raises ConfigError without an engine, or for a number below 1.

    Args:
        model: searches, at temperature 0.
        engines: at least one; the model gets ``search_local`` and ``search_web`` if there are engines for them.
        turns: maximal number of turns.
        local: number of passages from a local search.
        web: number of passages from a web search.
        calls: form of the calls; None tries native calls, and tags if the model refuses tools.
        max_tokens: maximal tokens per turn.
        wording: our prompt, or the paper's, which names both tools; tags are explained after it to a model without
            native tools.
    """

    def __init__(
        self,
        model: Model,
        engines: Sequence[SearchEngine],
        *,
        turns: int = QUERIES,
        local: int = 3,
        web: int = 10,
        calls: CallForm | None = None,
        max_tokens: int = 1024,
        wording: Wording = "ours",
    ) -> None:
        check_engines(engines, turns=turns, local=local, web=web)
        self.model = model
        self._engines = {kind: [engine for engine in engines if engine.kind == kind] for kind in _KINDS}
        self._kinds: tuple[EngineKind, ...] = tuple(kind for kind in _KINDS if self._engines[kind])
        self._limit: dict[EngineKind, int] = {"local": local, "web": web}
        self._turns = turns
        self._wording: Wording = wording
        self._form: CallForm | None = calls
        self._max_tokens = max_tokens

    async def search(self, question: str, answers: Sequence[str] = ()) -> Trajectory:
        """Search for a question and its answers; ``ended`` is the reason for the end.

        Raises ConfigError if the model cannot be used at all.
        """
        form: CallForm = self._form or "native"
        chat = self._open(question, answers, form)
        ended = await self._run(chat, form)
        if chat.refused and self._form is None:
            form, chat = "tags", self._open(question, answers, "tags")
            ended = await self._run(chat, form)
        if chat.replies:
            self._form = form
        results = [turn.result for turn in chat.turns if turn.result]
        if results and all(result.failed for result in results):
            ended = "failed"
        usage = total_usage(chat.replies)
        return Trajectory(question, tuple(answers), tuple(chat.turns), ended, self.model.name, usage)

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """Search for a claim; see ``Finder``."""
        return await (self.search(question, (claim,)) if question else self.search(claim))

    async def aclose(self) -> None:
        """Close the model and every engine."""
        engines = (engine for engines in self._engines.values() for engine in engines)
        await asyncio.gather(self.model.aclose(), *(engine.aclose() for engine in engines))

    def _open(self, question: str, answers: Sequence[str], form: CallForm) -> _Chat:
        offered = [tool(kind) for kind in self._kinds]
        how = load_prompt(_PACKAGE, f"agent_{form}")
        tagged = "\n".join(f"<{one.name}>query</{one.name}>" for one in offered)
        texts = [question, *answers]
        if self._wording == "paper":
            block = "\n".join(f"Answer{number}: {text}" for number, text in enumerate(answers, 1))
            printed = load_prompt(_PACKAGE, "paper_agent").fill(question=question, answers_block=block).strip()
            tail = "" if form == "native" else f"\n\n{how.fill(tags=tagged).strip()}"
            return _Chat([Message("user", printed + tail)], texts)
        system = load_prompt(_PACKAGE, "agent_system").fill(
            tools="\n".join(f"{one.name}(query): {one.description}" for one in offered),
            how=how.fill(**dict.fromkeys(how.names, tagged)).strip(),
            turns=str(self._turns),
        )
        names = ["question" if answers else "question or claim", *(f"answer {n}" for n in range(1, len(texts)))]
        asked = delimited(dict(zip(names, texts, strict=True)))
        return _Chat([Message("system", system.strip()), Message("user", asked)], texts)

    async def _run(self, chat: _Chat, form: CallForm) -> SearchEnd:
        sampling = Sampling(
            max_tokens=self._max_tokens,
            tools=tuple(map(tool, self._kinds)) if form == "native" else (),
            stop=tags(self._kinds) if form == "tags" else (),
        )
        for _ in range(self._turns):
            if ended := await self._turn(chat, sampling):
                return ended
        return "turns"

    async def _turn(self, chat: _Chat, sampling: Sampling) -> SearchEnd | None:
        """One turn; the reason if the search ends with it."""
        try:
            [reply] = await self.model.generate(chat.messages, sampling)
        except ModelError as error:
            chat.refused = not chat.replies and isinstance(error, ModelRefusedError)
            chat.turns.append(SearchTurn("", error=str(error)))
            return "failed"
        chat.replies.append(reply)
        thought = thought_of(reply.text)
        try:
            call = read_call(reply, self._kinds)
        except CallError as error:
            chat.turns.append(SearchTurn(thought, error=str(error)))
            return "unparsed"
        if call is None:
            chat.turns.append(SearchTurn(thought))
            return "ready" if is_ready(reply.text) else "no_call"
        result = await search_engines(self._engines[call.tool], call.query, self._limit[call.tool])
        chat.turns.append(SearchTurn(thought, call.tool, call.query, result, ignored=call.ignored))
        chat.messages += [call.message, call.answer(await self._observed(chat, call, result))]
        return None

    async def _observed(self, chat: _Chat, call: Call, result: SearchResult) -> str:
        """The results as shown: what fits into the context of the model."""
        failures = [f"{asked.engine} failed: {one_line(asked.error)}" for asked in result.asked if asked.error]
        lines = [*map(found_line, result.passages), *failures] or ["Nothing was found."]
        texts = [Source(text) for text in (*chat.texts, *lines)]
        left = await window_limit(self.model, _RESULTS, texts, chat.messages, self._max_tokens)
        fitting = sum(end <= left for end in accumulate(map(len, lines)))
        if fitting < len(lines):
            lines = [*lines[:fitting], f"{len(lines) - fitting} more did not fit."]
        shown = delimited({f"results of {tool(call.tool).name}": "\n".join(lines)}, among=chat.texts)
        chat.texts += lines
        return shown
