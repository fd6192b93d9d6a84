"""Several answers to one question, and several windows of long sources."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.methods.scripts import CLAIM, RIGHT, SOURCE, WRONG, outcome, reply, unverified, verdict, warned
from vouching.judging.windows import ScreenedSources
from vouching.methods.structured.reading import LocatedReply, VoteResult, merge
from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.models import Message, Sampling, ScriptedModel
from vouching.types import Claim, Source, Verdict


def test_the_majority_of_labels_wins_and_its_share_is_the_score() -> None:
    found, model = outcome([reply(RIGHT, confidence=0.6), reply(), reply(RIGHT, confidence=0.8)], votes=3, seed=1)
    assert isinstance(found, Verdict)
    assert (found.label, found.score) == ("Attributable", pytest.approx(2 / 3))
    assert found.stated_confidence == pytest.approx(0.7)  # of the two that won
    assert (found.provenance.votes, found.usage.calls) == (3, 1)
    sampling = model.asked[0].sampling
    assert (sampling.n, sampling.temperature, sampling.seed) == (3, 0.7, 1)


def test_a_single_answer_is_greedy() -> None:
    _, model = outcome([reply()])
    assert (model.asked[0].sampling.n, model.asked[0].sampling.temperature) == (1, 0.0)


def test_the_record_of_the_majority_is_its_best_grounded_one() -> None:
    entries = [{"claim_span": "The bridge", "source_span": "A Roman bridge", "status": "match"}]
    shaky = reply(evidence_alignment=[*WRONG["evidence_alignment"], *entries], confidence=0.99)
    found = verdict([shaky, reply(confidence=0.7), reply(RIGHT)], votes=3)
    assert (found.grounded, found.score) == (1.0, pytest.approx(1 / 3))


def test_a_tie_is_undecided_whatever_the_confidence() -> None:
    found = unverified([reply(confidence=1.0), reply(RIGHT, confidence=0.6)], votes=2)
    assert found.reason == "undecided"


def test_each_unusable_vote_is_asked_for_once_more_and_then_has_no_vote() -> None:
    # First three answers in one call, then a second chance for the first two.
    found, model = outcome(["no", "no", reply(), reply(), "no"], votes=3)
    assert isinstance(found, Verdict)
    assert (found.label, found.score, len(model.asked)) == ("Not Attributable", 0.0, 3)
    assert [asked.sampling.n for asked in model.asked] == [3, 1, 1]


def test_when_most_votes_fail_there_is_no_verdict() -> None:
    found = unverified(["no", "no", reply(), "no", "no"], votes=3)
    assert found.reason == "unparsable"
    assert found.message.startswith("2 of 3 votes failed; the first: ")


LONG = " ".join(f"Part {number} tells of other things, at length and in detail." for number in range(60))


def windowed(by_part: dict[str, str], source: str) -> tuple[Verdict | object, ScriptedModel]:
    """The outcome where a window that holds a key's words gets that key's reply, and any other says "not found"."""
    silent = reply(
        evidence_alignment=[{"claim_span": "in 1937", "source_span": "NOT_FOUND", "status": "not_found"}],
        reasoning_chain=[{**WRONG["reasoning_chain"][0], "source_evidence": "NOT_FOUND"}],
        error_type="fabrication",
    )
    return outcome(
        {**{re.escape(words): said for words, said in by_part.items()}, "(?s).": silent}, sources=source, window=1_000
    )


def test_support_in_one_window_is_support() -> None:
    found, model = windowed({"The bridge opened": reply(RIGHT)}, f"{LONG} {SOURCE} {LONG}")
    assert isinstance(found, Verdict)
    assert (found.label, found.score) == ("Attributable", 0.8)
    assert len(model.asked) > 5
    span = found.evidence_alignment[0].source_span
    assert span is not None
    assert span.start == len(LONG) + 1  # offsets count in the whole source


def test_of_windows_scored_by_tokens_the_likeliest_counts_whatever_its_label() -> None:
    # The first says Attributable with .4 by its tokens, the second Not Attributable with .6.
    doubted = LocatedReply("Attributable", 0.9, by_token=0.4)
    likely = LocatedReply("Not Attributable", 0.9, by_token=0.6)
    found = merge([VoteResult(one, one.probability) for one in (doubted, likely)])
    assert isinstance(found, VoteResult)
    assert found.score == 0.6


def test_without_support_a_contradiction_in_one_window_is_a_contradiction() -> None:
    found, _ = windowed({"The bridge opened": reply()}, f"{LONG} {SOURCE} {LONG}")
    assert isinstance(found, Verdict)
    assert (found.relation, found.error_type) == ("contradicted", "temporal_shift")


def test_support_in_one_window_and_a_contradiction_in_another_is_a_conflict() -> None:
    other = "The bridge opened in the spring of 1937."
    found, _ = windowed({other: reply(RIGHT), "traffic in 1973": reply()}, f"{other} {LONG} {SOURCE}")
    assert isinstance(found, Verdict)
    assert found.attributable
    assert warned(found, "conflict") == ["1 other window contradicts the claim."]


def test_a_window_that_fails_leaves_the_claim_open_unless_another_supports_it() -> None:
    source = f"{SOURCE} {LONG}"
    found, _ = windowed({"Part 59": "no", "cannot be used": "no"}, source)
    assert getattr(found, "reason", None) == "unparsable"
    found, _ = windowed({"in 1973. It": reply(RIGHT), "Part 59": "no", "cannot be used": "no"}, source)
    assert isinstance(found, Verdict)
    assert len(warned(found, "unread")) == 1


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=400), max_size=4), st.integers(200, 500))
def test_windows_show_every_sentence_of_every_source_in_order(texts: list[str], limit: int) -> None:
    sources = [Source(text, id=str(number)) for number, text in enumerate(texts)]
    evidence = ScreenedSources(sources, screen=False)
    shown = [(excerpt.number, excerpt.text) for window in evidence.windows(limit) for excerpt in window]
    assert [number for number, _ in shown] == sorted(number for number, _ in shown)
    for number, source in enumerate(sources, 1):
        parts = [text for owner, text in shown if owner == number]
        at = covered = 0
        for part in parts:
            at = source.text.find(part, at)
            assert at >= 0
            assert not source.text[covered:at].strip()  # nothing between two windows is left out
            covered = max(covered, at + len(part))
        assert not source.text[covered:].strip()


def test_small_sources_share_a_window_and_large_ones_overlap() -> None:
    assert len(ScreenedSources([Source("One."), Source("Two."), Source("Three.")]).windows(200)) == 1
    windows = ScreenedSources([Source(LONG)]).windows(1_000)
    for before, after in pairwise(windows):
        assert after[0].text[:58] in before[0].text  # a whole sentence has 58 characters or less
        assert len(after[0].text) <= 1_000


def test_votes_and_windows_go_together() -> None:
    class Counting(ScriptedModel):
        async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[object]:  # type: ignore[override]
            assert sampling.n == 3
            return await super().generate(messages, sampling)  # type: ignore[return-value]

    model = Counting({"The bridge opened": reply(RIGHT), "(?s).": reply(error_type="fabrication")})
    config = StructuredConfig(votes=3, window=1_000, recheck=False)
    [found] = asyncio.run(StructuredVerifier(model, config).verify([Claim(CLAIM)], [Source(f"{LONG} {SOURCE}")]))  # type: ignore[arg-type]
    assert isinstance(found, Verdict)
    assert found.score == 1.0
    assert found.usage.calls == len(model.asked)
