"""Sources that do not fit into the context of a model are read in windows that do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.methods.scripts import RIGHT, reply
from tests.models.fault_server import Answer, FaultServer, Request, of_json, says
from vouching.errors import ModelContextError
from vouching.judging.windows import SHORTEST, window_limit
from vouching.methods.discriminative.generative import GenerativeRanker
from vouching.methods.structured.teacher import Teacher
from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.models import Message, Model, Sampling, ScriptedModel
from vouching.models.limits import ServerFacts
from vouching.models.open import open_model
from vouching.search.agent import SearchAgent
from vouching.search.compress import ModelCompressor
from vouching.types import Claim, EngineKind, Passage, RankMode, Source, Span, Unverified, Verdict

FILLER = "The river is wide at this place, and boats pass below every day. "
LONG = Source(FILLER * 300 + "The bridge opened in 1973." + FILLER * 10)
"""About 20,000 characters."""
RIGHT_CLAIM = "The bridge opened in 1973."
CHARACTERS = 4.0
"""Characters of a token, as the server counts them."""


class Small(ScriptedModel):
    """A model that says what its context is."""

    def __init__(self, context: int | None, said: str = "") -> None:
        super().__init__(lambda messages, sampling: said or reply(RIGHT))
        self.context = context

    async def facts(self) -> ServerFacts:
        return ServerFacts(self.context)

    @property
    def longest(self) -> float:
        """Tokens of the longest call, with its reply."""
        return max(
            sum(len(message.content) for message in asked.messages) / CHARACTERS + asked.sampling.max_tokens
            for asked in self.asked
        )


class Library:
    """An engine that finds ten long passages about anything."""

    name = "library"
    kind: EngineKind = "local"

    async def search(self, query: str, limit: int) -> list[Passage]:
        texts = [f"{number}. {FILLER * 20}" for number in range(limit)]
        return [Passage(Span(text, 0, len(text), text[:2]), 1.0, origin=self.name) for text in texts]

    async def aclose(self) -> None:
        pass


def limit(model: Model, source: Source, reply: int = 1024) -> int:
    return asyncio.run(window_limit(model, 24_000, [source], [Message("user", "x" * 300)], reply))


def test_the_limit_of_a_window_follows_from_the_context() -> None:
    # 4,096 tokens less 1,024 for the reply and 100 for the prompt, at three characters each.
    assert limit(Small(4096), LONG) == (4096 - 1024 - 100) * 3
    assert limit(Small(4096), Source("\u6a4b" * 5_000)) == 4096 - 1024 - 100
    assert limit(Small(100_000), LONG) == 24_000
    assert limit(Small(1024), LONG, reply=5_000) == (1024 - 512 - 100) * 3
    assert limit(Small(100), LONG) == SHORTEST
    assert limit(Small(None), LONG) == limit(ScriptedModel([]), LONG) == 24_000
    assert limit(Small(512), Source("Short.")) == 24_000


def served(context: int, tells: bool, claims: int = 1) -> tuple[list[Verdict | Unverified], list[int], int]:
    """The outcomes from a server with a context, the characters of the prompts it answered, and its refusals."""
    answered: list[int] = []
    refused = [0]

    def script(request: Request) -> Answer:
        if request.path == "/props":
            facts = {"default_generation_settings": {"n_ctx": context}, "total_slots": 4}
            return of_json(facts) if tells else Answer(404)
        if request.path != "/v1/chat/completions":
            return Answer(404)
        length = sum(len(message["content"]) for message in request.body["messages"])
        if length / CHARACTERS >= context:
            refused[0] += 1
            error = {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}
            return of_json({"error": error}, status=400)
        answered.append(length)
        return says(reply(RIGHT))

    async def main() -> list[Verdict | Unverified]:
        async with FaultServer(script) as server:
            model = open_model(f"{server.url}#m", cache="")
            verifier = StructuredVerifier(model, StructuredConfig(seed=1))
            found = [*await verifier.verify([Claim(RIGHT_CLAIM)] * claims, [LONG])]
            await verifier.aclose()
            return found

    return asyncio.run(main()), answered, refused[0]


def test_a_server_that_says_its_context_is_never_asked_too_much() -> None:
    [found], answered, refused = served(4096, tells=True)
    assert isinstance(found, Verdict)
    assert refused == 0
    assert len(answered) > 1


def test_a_server_that_refuses_gets_windows_of_half_the_length_and_remembers() -> None:
    found, answered, refused = served(4096, tells=False)
    assert isinstance(found[0], Verdict)
    assert refused == 1
    assert len(answered) > 1
    assert max(answered) / CHARACTERS < 4096


def test_a_context_that_no_window_fits_makes_the_claim_unverified_with_advice() -> None:
    [found], answered, _ = served(64, tells=False)
    assert isinstance(found, Unverified)
    assert (found.reason, answered) == ("backend", [])
    assert "exceeds the available context size" in found.message
    assert "--max-tokens" in found.message


def test_a_later_claim_begins_with_the_windows_that_fit() -> None:
    refused: list[int] = []

    def answer(messages: Sequence[Message], sampling: Sampling) -> str | ModelContextError:
        if (length := sum(len(message.content) for message in messages)) > 13_000:
            refused.append(length)
            return ModelContextError("the context size is 4096 tokens", 400)
        return reply(RIGHT)

    verifier = StructuredVerifier(ScriptedModel(answer), StructuredConfig(seed=1))
    for _ in range(2):
        [found] = asyncio.run(verifier.verify([Claim(RIGHT_CLAIM)], [LONG]))
        assert isinstance(found, Verdict)
    assert len(refused) == 1


def test_a_search_its_compression_and_a_ranking_fit_into_the_context() -> None:
    answers = ["In 1973.", "In 1937."]
    called = Small(4096, "<search_local>bridge</search_local>")
    found = asyncio.run(SearchAgent(called, [Library()], turns=3, local=10, calls="tags").search("When?", answers))
    assert len(called.asked) == 3
    assert called.longest <= 4096
    assert "more did not fit." in called.asked[-1].last
    shortened = Small(4096, "Useful Facts: It opened in 1973.\nReasoning: The source says so.\nFinal Verdict: Correct")
    part = asyncio.run(ModelCompressor(shortened).compress(found, answers[0]))
    assert shortened.longest <= 4096
    assert part.unread > 10_000
    modes: dict[RankMode, str] = {"points": "<verdict>9</verdict>", "agentic": "<verdict>Answer 1 > Answer 2</verdict>"}
    for mode, said in modes.items():
        ranked = Small(4096, said)
        ranking = asyncio.run(GenerativeRanker(ranked, mode).rank("When?", answers, [LONG]))
        assert ranked.longest <= 4096
        assert [warning.kind for warning in ranking.warnings] == ["truncated"]
        assert not ranking.unverified


def test_a_teacher_gets_no_sources_that_its_context_cannot_hold() -> None:
    teacher = Small(4096)
    made = asyncio.run(Teacher(teacher).annotate(Claim(RIGHT_CLAIM), [LONG]))
    assert not teacher.asked
    assert made.record is None
    assert "the sources are too long for one prompt of" in made.faults[0]
    assert asyncio.run(Teacher(Small(20_000)).annotate(Claim(RIGHT_CLAIM), [LONG])).record is not None
