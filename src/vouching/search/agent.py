"""A language model that searches before anybody judges: think, make one call, read what it brings (DiVA, step 1).

One search serves a question and all its answers. It ends at a stop word, at a turn without a call, at a call that
cannot be read, or after the last turn; if the model fails, what was found before stays. Departures from the paper: the
prompt is Vouch's own, texts of others stand in fences, sentences that address the verdict are not shown, and a call
beside a stop word is made, since whoever still asks is not done. Left out: a memory of earlier questions, and making
short what was found while the search goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.errors import ModelError, ModelRefusedError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.prompts import load_prompt
from vouching.search.base import SearchEngine, check_engines, search_engines
from vouching.search.calls import Call, CallError, is_ready, read_call, tags, thought_of, tool
from vouching.search.history import found_line, one_line
from vouching.search.steps import QUERIES
from vouching.text.fence import fenced
from vouching.types import EngineKind, SearchEnd, SearchResult, SearchTurn, Trajectory, total_usage

CallForm: TypeAlias = Literal["native", "tags"]
"""How a model is told to call: by its own tool calls, or by tags in its text, as Search-R1 was trained to."""
_KINDS: tuple[EngineKind, ...] = ("local", "web")
_PACKAGE = "vouching.search"


@dataclass(slots=True)
class _Talk:
    """A conversation under way."""

    messages: list[Message]
    texts: list[str]
    """Every text of others in it: no later fence may occur in them."""
    turns: list[SearchTurn] = field(default_factory=list[SearchTurn])
    said: list[Completion] = field(default_factory=list[Completion])
    refused: bool = False
    """Whether the model refused the very first turn."""


class SearchAgent:
    """Searches with a language model.

    Args:
        model: what searches, at temperature 0.
        engines: whom it can ask; it gets ``search_local`` and ``search_web`` as far as there are engines for them.
        turns: how many at most.
        local: passages that a local search brings.
        web: passages that a web search brings.
        calls: how it calls; None asks for native calls, and for tags if the model refuses tools.
        max_tokens: length of a turn, in tokens.

    Raises:
        ConfigError: no engine, or a number below 1.

    >>> from vouching.models import ScriptedModel
    >>> from vouching.types import Passage, Span
    >>> class Shelf:
    ...     name, kind = "index:shelf", "local"
    ...     async def search(self, query, most):
    ...         return [Passage(Span("It opened in 1973.", 0, 18, "bridge.txt"), 1.0, origin=self.name)]
    ...     async def aclose(self): ...
    >>> model = ScriptedModel(["The year. <search_local>bridge opening", "It was 1973. READY_FOR_EVALUATION"])
    >>> agent = SearchAgent(model, [Shelf()], calls="tags")
    >>> found = asyncio.run(agent.search("When did it open?", ["In 1937.", "In 1973."]))
    >>> found.ended, [turn.query for turn in found.turns], [passage.span.text for passage in found.passages]
    ('ready', ['bridge opening', ''], ['It opened in 1973.'])
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
    ) -> None:
        check_engines(engines, turns=turns, local=local, web=web)
        self.model = model
        """What searches."""
        self._engines = {kind: [engine for engine in engines if engine.kind == kind] for kind in _KINDS}
        self._kinds: tuple[EngineKind, ...] = tuple(kind for kind in _KINDS if self._engines[kind])
        self._most: dict[EngineKind, int] = {"local": local, "web": web}
        self._turns = turns
        self._form: CallForm | None = calls
        self._max_tokens = max_tokens

    async def search(self, question: str, answers: Sequence[str] = ()) -> Trajectory:
        """What was found for a question and its answers; ``ended`` says why no more.

        Raises:
            ConfigError: the model cannot be used at all.
        """
        form: CallForm = self._form or "native"
        talk = self._open(question, answers, form)
        ended = await self._talk(talk, form)
        if talk.refused and self._form is None:
            form, talk = "tags", self._open(question, answers, "tags")
            ended = await self._talk(talk, form)
        if talk.said:
            self._form = form
        results = [turn.result for turn in talk.turns if turn.result]
        if results and all(result.failed for result in results):
            ended = "failed"
        return Trajectory(question, tuple(answers), tuple(talk.turns), ended, self.model.name, total_usage(talk.said))

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """What was found for a claim; see ``Finder``."""
        return await (self.search(question, (claim,)) if question else self.search(claim))

    async def aclose(self) -> None:
        """Close the model and every engine."""
        engines = (engine for engines in self._engines.values() for engine in engines)
        await asyncio.gather(self.model.aclose(), *(engine.aclose() for engine in engines))

    def _open(self, question: str, answers: Sequence[str], form: CallForm) -> _Talk:
        offered = [tool(kind) for kind in self._kinds]
        how = load_prompt(_PACKAGE, f"agent_{form}")
        tagged = "\n".join(f"<{one.name}>query</{one.name}>" for one in offered)
        system = load_prompt(_PACKAGE, "agent_system").fill(
            tools="\n".join(f"{one.name}(query): {one.description}" for one in offered),
            how=how.fill(**dict.fromkeys(how.names, tagged)).strip(),
            turns=str(self._turns),
        )
        texts = [question, *answers]
        names = ["question" if answers else "question or claim", *(f"answer {n}" for n in range(1, len(texts)))]
        asked = fenced(dict(zip(names, texts, strict=True)))
        return _Talk([Message("system", system.strip()), Message("user", asked)], texts)

    async def _talk(self, talk: _Talk, form: CallForm) -> SearchEnd:
        sampling = Sampling(
            max_tokens=self._max_tokens,
            tools=tuple(map(tool, self._kinds)) if form == "native" else (),
            stop=tags(self._kinds) if form == "tags" else (),
        )
        for _ in range(self._turns):
            if ended := await self._turn(talk, sampling):
                return ended
        return "turns"

    async def _turn(self, talk: _Talk, sampling: Sampling) -> SearchEnd | None:
        """One turn; why the search is over, None if it goes on."""
        try:
            [said] = await self.model.generate(talk.messages, sampling)
        except ModelError as error:
            talk.refused = not talk.said and isinstance(error, ModelRefusedError)
            talk.turns.append(SearchTurn("", error=str(error)))
            return "failed"
        talk.said.append(said)
        thought = thought_of(said.text)
        try:
            call = read_call(said, self._kinds)
        except CallError as error:
            talk.turns.append(SearchTurn(thought, error=str(error)))
            return "unparsed"
        if call is None:
            talk.turns.append(SearchTurn(thought))
            return "ready" if is_ready(said.text) else "no_call"
        result = await search_engines(self._engines[call.tool], call.query, self._most[call.tool])
        talk.turns.append(SearchTurn(thought, call.tool, call.query, result, ignored=call.ignored))
        talk.messages += [call.said, call.answer(self._observed(talk, call, result))]
        return None

    def _observed(self, talk: _Talk, call: Call, result: SearchResult) -> str:
        failures = [f"{asked.engine} failed: {one_line(asked.error)}" for asked in result.asked if asked.error]
        lines = [*map(found_line, result.passages), *failures] or ["Nothing was found."]
        shown = fenced({f"results of {tool(call.tool).name}": "\n".join(lines)}, among=talk.texts)
        talk.texts += lines
        return shown
