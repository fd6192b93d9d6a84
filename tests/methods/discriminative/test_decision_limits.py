"""Decision models and what does not fit: what is divided, what that costs, and which window the record is of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.methods.discriminative.test_decision import candidates, scores, scripted
from tests.models.decision_server import responding
from tests.models.fault_server import Answer, FaultServer, Request, of_json
from vouching.methods.discriminative.published.decision import DecisionScorer
from vouching.methods.discriminative.scorer import Scored, ScoreOutcome
from vouching.models.decisions import DecisionModel
from vouching.models.limits import TimeLimits

SENTENCES = [f"House {number} of the old town was built by hand." for number in range(900)]
LONG = " ".join(SENTENCES)
MANY = [f"Bridge {number} is open." for number in range(8)]


def refusing(too_long: Callable[[str], bool]) -> Callable[[Request], Answer]:
    """A server that finds some requests too long."""

    def script(request: Request) -> Answer:
        large = too_long(json.dumps(request.body))
        return of_json({"detail": "large"}, status=413) if large else responding("systemone")(request)

    return script


def scored(script: Any, *groups: Sequence[str], source: str = LONG) -> tuple[list[list[ScoreOutcome]], list[Request]]:
    """The outcomes for groups of claims by one scorer, in turn, and the requests."""

    async def main() -> tuple[list[list[ScoreOutcome]], list[Request]]:
        async with FaultServer(script) as server:
            name = f"decision:{server.url}#kev;shape=systemone"
            scorer = DecisionScorer(name, DecisionModel(name, None, TimeLimits()))
            found = [await scorer.score(candidates(group, source)) for group in groups]
            await scorer.aclose()
            return found, [one for one in server.requests if one.path.endswith("/systemone")]

    return asyncio.run(main())


def test_a_claim_that_a_server_never_takes_is_unverified_and_the_others_are_scored() -> None:
    [found, later], requests = scored(refusing(lambda text: "Bridge 3" in text), MANY, MANY[:2])
    assert scores(found) == [0.9] * 3 + ["backend"] + [0.9] * 4
    assert "shorter claim" in getattr(found[3], "message", "")
    # The window is halved at most 8 times and the claims 3 times, each with a rest to read.
    assert len(requests) <= 2 * (8 + 3) + 2
    # The next call asks with the whole source again.
    assert scores(later) == [0.9, 0.9]
    assert len(requests[-1].body["state"]["sources"][0]["text"]) == len(LONG)


def test_a_server_that_takes_nothing_is_asked_about_each_length_once() -> None:
    [found], requests = scored(refusing(lambda text: True), ["It opened."])
    assert scores(found) == ["backend"]
    assert len(requests) <= 9


def test_every_claim_is_asked_with_every_sentence_where_the_context_is_small() -> None:
    limit = 6_000
    [found], requests = scored(refusing(lambda text: len(text) > limit), MANY)
    assert scores(found) == [0.9] * 8
    read: dict[str, str] = {}
    for one in requests:
        if len(json.dumps(one.body)) <= limit:
            text = " ".join(source["text"] for source in one.body["state"]["sources"])
            for question in one.body["questions"].values():
                claim = question["instructions"]["claim"]
                read[claim] = read.get(claim, "") + text
    assert set(read) == set(MANY)
    assert all(sentence in text for text in read.values() for sentence in SENTENCES)


def relation(supported: float, contradicted: float) -> dict[str, Any]:
    values = {"supported": supported, "contradicted": contradicted, "not_found": 1 - supported - contradicted}
    return {"answers": {"c1": {"type": "choice", "probabilities": values}}}


def test_score_relation_and_reason_are_of_one_window() -> None:
    name = "decision:http://localhost:1#kev-latest;ask=relation"
    scorer, _ = scripted(relation(0.3, 0.1), relation(0.05, 0.9), name=name, window=30_000)
    [found] = asyncio.run(scorer.score(candidates(["It opened."], LONG)))
    assert isinstance(found, Scored)
    assert (found.value, found.relation, found.reason) == (
        0.3,
        "not_found",
        "supported 0.30, contradicted 0.10, not found 0.60",
    )
    assert [one.kind for one in found.warnings] == ["unpinned"]


def test_the_tokens_of_questions_do_not_hide_that_the_source_was_cut_off() -> None:
    # The source has 8,000 letters and the questions more: 1,200 tokens are too few for both, not for the source.
    claims = [f"Bridge {number} is open." for number in range(20)]
    answers = {f"c{number}": {"type": "noul", "noul": 0.9} for number in range(1, 21)}
    scorer, _ = scripted({"answers": answers, "usage": {"input_tokens": 1_200}})
    found = asyncio.run(scorer.score(candidates(claims, " ".join(SENTENCES[:200]))))
    assert {tuple(note.kind for note in one.warnings) for one in found if isinstance(one, Scored)} == {("truncated",)}
