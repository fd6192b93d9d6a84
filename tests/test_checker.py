from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vouching
from tests.processor_time import ends_within
from vouching import Checker, Claim, InputError, Report, Source, Unverified, Verdict
from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError
from vouching.models import ScriptedModel
from vouching.models.running import _LOOPS, run

SOURCE = "The bridge was opened to traffic in 1973. It has two towers."
TRUE, FALSE = "The bridge opened in 1973.", "The bridge opened in 1937."


def verdict(claim: Any, sources: Any) -> Verdict:
    outcome = vouching.check(claim, sources)
    assert isinstance(outcome, Verdict)
    return outcome


def test_one_claim_gives_one_verdict_and_a_list_gives_a_list_in_order() -> None:
    assert verdict(TRUE, SOURCE).attributable
    outcomes = vouching.check([TRUE, Claim(FALSE, id="mine")], [SOURCE])
    assert [outcome.claim.id for outcome in outcomes] == ["claim-1", "mine"]
    assert [isinstance(outcome, Verdict) and outcome.label for outcome in outcomes] == [
        "Attributable",
        "Not Attributable",
    ]
    assert vouching.check([], SOURCE) == []


@pytest.mark.parametrize(
    "sources",
    [SOURCE, [SOURCE], (SOURCE,), Source(SOURCE), {"text": SOURCE}, [{"text": SOURCE}, "Other text."], iter([SOURCE])],
)
def test_sources_may_be_one_or_many_in_every_function(sources: Any) -> None:
    kept = list(sources) if isinstance(sources, Iterator) else sources
    assert verdict(TRUE, kept).attributable
    assert vouching.check_response(TRUE, kept).attributable
    assert [
        r.attributable for r in vouching.check_many([{"claim": TRUE, "sources": kept}]) if isinstance(r, Verdict)
    ] == [True]


def test_quotes_stand_where_the_verdict_says_in_the_source_it_names() -> None:
    texts = {"a": "Nothing here.", "b": SOURCE}
    found = verdict(FALSE, [Source(text, id_) for id_, text in texts.items()])
    assert found.evidence_alignment
    for entry in found.evidence_alignment:
        assert FALSE[entry.claim_span.start : entry.claim_span.end] == entry.claim_span.text
        if entry.source_span is not None:
            place = texts[str(entry.source_span.source_id)]
            assert place[entry.source_span.start : entry.source_span.end] == entry.source_span.text


@given(st.floats(0, 1), st.sampled_from([TRUE, FALSE, "The bridge has three towers."]))
@settings(max_examples=40)
def test_the_threshold_moves_the_label_and_leaves_the_score(threshold: float, claim: str) -> None:
    plain = verdict(claim, SOURCE)
    moved = Checker(threshold=threshold).check(claim, SOURCE)
    assert isinstance(moved, Verdict)
    assert moved.score == plain.score
    assert moved.attributable == (plain.score >= threshold)
    assert moved.confidence == (moved.score if moved.attributable else 1 - moved.score)


def test_verdicts_with_one_label_are_equally_confident_at_every_threshold() -> None:
    score = verdict(TRUE, SOURCE).score
    outcomes = [Checker(threshold=t).check(TRUE, SOURCE) for t in (0.0, score / 2, score)]
    assert {o.confidence for o in outcomes if isinstance(o, Verdict) and o.attributable} == {score}


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "high", None])
def test_a_threshold_outside_its_range_is_a_wrong_setting(threshold: Any) -> None:
    with pytest.raises(ConfigError, match="threshold must be in"):
        Checker(threshold=threshold)


def test_an_unknown_model_is_a_wrong_setting_with_the_names_there_are() -> None:
    with pytest.raises(ConfigError, match="embedded, embedded:small, embedded:rules"):
        vouching.check(TRUE, SOURCE, model="oracle")


def test_async_twins_say_the_same_as_the_plain_functions() -> None:
    rows = [{"claim": TRUE, "source": SOURCE}, {"response": f"{TRUE} {FALSE}", "source": SOURCE}, {}]

    async def collect() -> list[str]:
        one = await vouching.acheck(FALSE, SOURCE)
        several = await vouching.acheck([TRUE, FALSE], SOURCE)
        report = await vouching.acheck_response(f"{TRUE} {FALSE}", SOURCE, repair_rest="mark")
        return [*map(str, (one, *several, report)), *[str(r) async for r in vouching.acheck_many(rows)]]  # type: ignore[misc]

    plain = [vouching.check(FALSE, SOURCE), *vouching.check([TRUE, FALSE], SOURCE)]
    plain += [vouching.check_response(f"{TRUE} {FALSE}", SOURCE, repair_rest="mark"), *vouching.check_many(rows)]  # type: ignore[list-item]
    assert asyncio.run(collect()) == [str(result) for result in plain]


def test_plain_functions_work_where_an_event_loop_already_runs() -> None:
    async def notebook_cell() -> tuple[Any, ...]:
        many = list(vouching.check_many([{"claim": TRUE, "source": SOURCE}]))
        return vouching.check(TRUE, SOURCE), vouching.check_response(TRUE, SOURCE), *many

    assert all(result.attributable for result in asyncio.run(notebook_cell()))


def test_an_error_inside_a_running_loop_reaches_the_caller() -> None:
    async def notebook_cell() -> None:
        vouching.check("", SOURCE)

    with pytest.raises(InputError, match="at least one word or number"):
        asyncio.run(notebook_cell())


def test_run_gives_back_what_the_coroutine_returns_even_if_that_is_none() -> None:
    async def nothing() -> None:
        return None

    async def inside() -> object:
        return run(nothing())

    assert run(nothing()) is None
    assert asyncio.run(inside()) is None


def test_many_rows_are_read_one_at_a_time_as_results_are_asked_for() -> None:
    taken: list[int] = []

    def endless() -> Iterator[dict[str, str]]:
        while True:
            taken.append(len(taken))
            yield {"claim": TRUE, "source": SOURCE}

    results = vouching.check_many(endless())
    assert taken == []
    assert len(list(islice(results, 3))) == 3
    assert taken == [0, 1, 2]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, 'the row has no "sources"; it has no keys'),
        ({"claim": TRUE}, 'the row has no "sources"; its keys are claim'),
        ({"source": SOURCE}, 'the row has no "claim" or "response"; its keys are source'),
        ({"claim": "", "source": SOURCE}, "the claim must contain at least one word or number"),
        ({"claim": None, "source": SOURCE}, '"claim" is null: expected a string'),
        ({"claim": 5, "source": SOURCE}, "the claim must be a string, got 5"),
        ({"response": " ", "source": SOURCE}, "the response must not be empty"),
        ({"response": TRUE, "source": SOURCE, "question": 5}, "the question must be a string, got 5"),
        ({"claim": TRUE, "sources": 5}, 'source 1 must be a string, a Source, or an object with "text", got 5'),
        ({"claim": TRUE, "sources": []}, "no source was given"),
        ({1: 2, "claim": TRUE}, "its keys are 1, claim"),
        ({"id": "\ud800", "claim": TRUE, "source": SOURCE}, "the id contains a lone surrogate"),
        ("a line", 'expected a mapping with "claim" and "sources", got \'a line\''),
        (None, 'expected a mapping with "claim" and "sources", got null'),
    ],
)
def test_a_broken_row_is_named_and_the_rows_after_it_are_checked(row: Any, told: str) -> None:
    good = {"id": "good", "claim": TRUE, "source": SOURCE}
    first, broken, last = vouching.check_many([good, row, good])
    assert isinstance(broken, Unverified)
    assert broken.reason == "input"
    assert broken.message.startswith("row 2: ")
    assert told in broken.message
    assert isinstance(first, Verdict)
    assert isinstance(last, Verdict)
    assert last.claim.id == "good"


def test_a_broken_row_can_stop_the_run_and_is_named_then_too() -> None:
    with pytest.raises(InputError, match="row 2: "):
        list(Checker().check_many([{"claim": TRUE, "source": SOURCE}, {}], on_error="raise"))


def test_a_row_without_an_id_goes_by_its_number() -> None:
    rows = [{"claim": TRUE, "source": SOURCE}, {"id": None, "claim": TRUE, "source": SOURCE}, {"id": 7}]
    ids = [r.claim.id for r in vouching.check_many(rows) if isinstance(r, (Verdict, Unverified))]
    assert ids == ["row-1", "row-2", "7"]


def test_a_response_is_counted_claim_by_claim_and_covered_whole() -> None:
    towers = "It [the bridge] has two towers."
    report = vouching.check_response(f"Sure! {TRUE} {FALSE}\n\n- It has two towers.", SOURCE, "When did it open?")
    assert [c.claim.text for c in report.findings if isinstance(c, Verdict)] == [TRUE, FALSE, towers]
    assert (report.totals.attributable, report.totals.not_attributable, report.totals.unverified) == (2, 1, 0)
    assert report.totals.by_error_type == (("temporal_shift", 1),)
    assert [n.reason for n in report.non_claims] == ["greeting"]
    assert report.question == "When did it open?"
    # All characters but the list marker "-" of "Sure!" + 22 + 22 + "-" + 16 non-space ones.
    assert report.coverage == pytest.approx(1 - 1 / len("".join(report.response.split())))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc, which is not here")
def test_a_thread_that_ended_leaves_no_file_open() -> None:
    async def answer() -> int:
        return 42

    run(answer())
    before, threads = open_files(), [Thread(target=lambda: run(answer())) for _ in range(20)]
    for thread in threads:
        thread.start()
        thread.join()
    # The threads are still held here: what they opened must not wait for that.
    assert open_files() == before


def test_what_an_error_leaves_half_done_does_not_go_on_in_the_next_call() -> None:
    went_on: list[str] = []

    async def slow() -> None:
        await asyncio.sleep(0.01)
        went_on.append("slow")

    async def fail() -> None:
        raise ValueError

    async def both() -> None:
        await asyncio.gather(slow(), fail())

    with pytest.raises(ValueError):  # noqa: PT011 - the test's own
        run(both())
    run(asyncio.sleep(0.05))
    assert went_on == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_does_not_run_on_the_loop_of_its_parent() -> None:
    run(asyncio.sleep(0))
    parents = _LOOPS.loop
    child = os.fork()
    if not child:
        with suppress(BaseException):
            run(asyncio.sleep(0))
            os._exit(0 if _LOOPS.loop is not parents else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    run(asyncio.sleep(0))
    assert _LOOPS.loop is parents


def test_the_score_of_a_response_is_halfway_between_its_claims_and_the_support_of_its_whole_text() -> None:
    response = f"{TRUE} {FALSE}"
    report = vouching.check_response(response, SOURCE)
    first, second = (finding.score for finding in report.findings if isinstance(finding, Verdict))
    support = asyncio.run(EmbeddedVerifier().support(response, [Source(SOURCE)]))
    assert report.score == pytest.approx(((first + second) / 2 + support) / 2)
    # The second claim's date caps its own score; the support of the whole text knows no cap.
    assert second < support


def test_a_response_of_which_a_claim_could_not_be_judged_has_no_score() -> None:
    sure = '{{"label": "{}", "confidence": 0.9}}'.format
    response = "It opened in 1937. It has nine towers."
    scores: list[float | None] = []
    for second in (sure("Not Attributable"), "I cannot say."):
        checker = Checker(ScriptedModel({"nine towers": second, "in 1937": sure("Attributable")}), method="label")
        scores.append(checker.check_response(response, "It opened in 1937.").score)
    # (.9 + .1) / 2, and not .9 where nobody judged the claim that is wrong.
    assert scores == [pytest.approx(0.5), None]


def test_a_response_without_claims_has_no_findings_and_is_not_attributable() -> None:
    report = vouching.check_response("Hello there! How can I help?", SOURCE)
    assert (report.findings, report.attributable) == ((), False)


def test_a_repair_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="mark, remove, keep"):
        vouching.check_response(TRUE, SOURCE, repair_rest="delete")  # type: ignore[arg-type]


def test_two_sources_of_one_name_are_told_apart() -> None:
    report = vouching.check_response(TRUE, [Source("Nothing here.", "web"), Source(SOURCE, "web")])
    assert [source.id for source in report.sources] == ["web", "web-2"]
    [finding] = report.findings
    assert isinstance(finding, Verdict)
    assert {e.source_span.source_id for e in finding.evidence_alignment if e.source_span} == {"web-2"}


@pytest.mark.parametrize("source", ["", " \n", "\0", "..."])
def test_to_a_source_without_words_nothing_is_attributed(source: str) -> None:
    found = verdict(TRUE, source)
    assert (found.label, found.relation, found.score) == ("Not Attributable", "not_found", 0.0)


def test_an_empty_source_is_no_error_and_the_reader_is_told() -> None:
    assert [(w.kind, "empty" in w.message) for w in verdict(TRUE, "").warnings] == [("unread", True)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("התחנה נפתחה ב-1973.", "התחנה נפתחה בשנת 1973 בחיפה."),
        ("東京は日本の首都です。", "東京は日本の首都です。人口は多い。"),
        ("The 🚀 flew in 1973 👍", "In 1973 the 🚀 flew."),
        ("The bridge\0 opened in 1973.", SOURCE),
        ("<p>The bridge opened in <b>1973</b>.</p>", f"<html><body>{SOURCE}</body></html>"),
        ("The bridge, which opened in 1973 and has two towers, is here. " * 50, "It is."),
        ("\u202eThe bridge opened in 1973.\u202c", SOURCE),
    ],
)
def test_unusual_text_is_judged_with_exact_places(claim: str, source: str) -> None:
    found = verdict(claim, source)
    assert all(claim[e.claim_span.start : e.claim_span.end] == e.claim_span.text for e in found.evidence_alignment)
    spans = [e.source_span for e in found.evidence_alignment if e.source_span is not None]
    assert all(source[span.start : span.end] == span.text for span in spans)


@given(st.text(st.characters(codec=None), max_size=40), st.text(st.characters(codec=None), max_size=60))
@settings(max_examples=100)
def test_any_two_texts_give_a_verdict_or_a_clear_refusal(claim: str, source: str) -> None:
    with suppress(InputError):
        assert vouching.check(claim, source).kind == "verdict"
        assert isinstance(vouching.check_response(claim, source, repair_rest="remove"), Report)


def test_a_source_of_five_megabytes_takes_seconds() -> None:
    filler = "The lake is deep and the fish swim in it all day. " * 100_000
    with ends_within():
        found = verdict(TRUE, filler + SOURCE)
    assert found.attributable
    assert {e.source_span.start >= len(filler) for e in found.evidence_alignment if e.source_span} == {True}


def test_a_row_gives_its_id_to_its_report_and_is_repaired_on_request() -> None:
    rows = [{"id": "a", "response": FALSE, "source": SOURCE}]
    [report] = vouching.check_many(rows, repair_rest="mark")
    assert isinstance(report, Report)
    assert (report.id, report.revised_response) == ("a", TRUE)


def test_a_row_with_a_claim_and_a_response_is_refused_by_name() -> None:
    [result] = vouching.check_many([{"id": "a", "claim": TRUE, "response": FALSE, "source": SOURCE}])
    assert isinstance(result, Unverified)
    assert (result.reason, result.claim.id) == ("input", "a")
    assert 'row 1: the row has both "claim" and "response"' in result.message
