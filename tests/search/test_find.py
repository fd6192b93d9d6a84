"""From a claim to its evidence: the queries, what each claim is judged against, and what is said about it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from vouching import Checker, InputError, Report, Source, Unverified, Verdict
from vouching.errors import ConfigError, SearchError
from vouching.search.open import as_finder, open_engine, web_name
from vouching.search.steps import StepSearch
from vouching.types import EngineKind, Passage, Span, Trajectory

BRIDGE = "The Bosphorus Bridge opened to traffic in 1973."
ULM = "Ulm Minster is 161.5 metres tall."


class Shelf:
    """An engine over a few texts: every text that shares a longer word with the query, in the order of the shelf."""

    def __init__(self, texts: Mapping[str, str], name: str = "index:shelf", kind: EngineKind = "local") -> None:
        self.name, self.kind, self.texts = name, kind, texts
        self.asked: list[tuple[str, int]] = []
        self.closed = False

    async def search(self, query: str, limit: int) -> list[Passage]:
        self.asked.append((query, limit))
        await asyncio.sleep(0)  # as real ones do, so that searches are under way together
        words = {word for word in query.split() if len(word) > 4}
        found = [
            Passage(Span(text, 0, len(text), name), 1.0, f"About {name}", origin=self.name)
            for name, text in self.texts.items()
            if words & {*text.split()}
        ]
        return found[:limit]

    async def aclose(self) -> None:
        self.closed = True


class Broken(Shelf):
    """An engine that is down."""

    async def search(self, query: str, limit: int) -> list[Passage]:
        await super().search(query, limit)
        raise SearchError(f"{self.name} answered 503")


def shelf(**texts: str) -> Shelf:
    return Shelf({f"{name}.txt": text for name, text in texts.items()})


def messages(outcome: Any) -> list[str]:
    """What an outcome says about the engines."""
    return [warning.message for warning in outcome.warnings if warning.kind in ("search", "engine")]


def test_a_claim_without_sources_is_judged_by_what_is_found_for_it() -> None:
    checker = Checker("embedded:rules", search=[shelf(bridge=BRIDGE, ulm=ULM)])
    verdict = checker.check("The Bosphorus Bridge opened in 1937.")
    assert isinstance(verdict, Verdict)
    assert verdict.revised_claim == "The Bosphorus Bridge opened in 1973."
    spans = [entry.source_span for entry in verdict.evidence_alignment if entry.source_span]
    assert spans
    assert all(span.source_id == "bridge.txt" and BRIDGE[span.start : span.end] == span.text for span in spans)
    assert messages(verdict) == ['Searched for "The Bosphorus Bridge opened in 1937.": index:shelf found 1 passage.']


def test_nothing_found_is_no_verdict() -> None:
    outcome = Checker("embedded:rules", search=[shelf(ulm=ULM)]).check("Penguins invented algebra.")
    assert isinstance(outcome, Unverified)
    assert (outcome.reason, outcome.claim.text) == ("no_evidence", "Penguins invented algebra.")
    assert "does not make the claim false" in outcome.message
    assert messages(outcome) == [
        'Searched for "Penguins invented algebra.": index:shelf found nothing.',
        'Searched for "Penguins": index:shelf found nothing.',
    ]


def test_where_every_engine_fails_the_search_has_failed() -> None:
    outcome = Checker("embedded:rules", search=[Broken({}, "web:a", "web"), Broken({}, "web:b", "web")]).check(BRIDGE)
    assert isinstance(outcome, Unverified)
    assert outcome.reason == "backend"
    assert outcome.message == "The search for evidence failed: web:a answered 503"


def test_a_failing_engine_is_named_beside_those_that_answered() -> None:
    checker = Checker("embedded:rules", search=[Broken({}, "web:a", "web"), shelf(bridge=BRIDGE, b2=BRIDGE)])
    verdict = checker.check(BRIDGE)
    assert isinstance(verdict, Verdict)
    assert verdict.attributable
    outcomes = "web:a failed (web:a answered 503), index:shelf found 2 passages."
    assert messages(verdict) == [f'Searched for "{BRIDGE}": {outcomes}']
    # One fails, the other finds nothing: somebody did look.
    nothing = Checker("embedded:rules", search=[Broken({}), shelf(ulm=ULM)]).check("Penguins invented algebra.")
    assert isinstance(nothing, Unverified)
    assert nothing.reason == "no_evidence"


def test_given_sources_are_used_together_with_found_ones() -> None:
    checker = Checker("embedded:rules", search=[shelf(bridge=BRIDGE)])
    outcomes, sources = checker.check_with_sources(["The Bosphorus Bridge opened in 1973.", ULM], [ULM])
    assert [outcome.label for outcome in outcomes if isinstance(outcome, Verdict)] == ["Attributable"] * 2
    assert [source.id for source in sources] == ["source-1", "bridge.txt"]
    # With a source at hand, a search that fails or finds nothing is no reason to give up.
    alone = Checker("embedded:rules", search=[Broken({})]).check(ULM, ULM)
    assert isinstance(alone, Verdict)
    assert alone.attributable


def test_each_claim_of_a_response_has_sources_of_its_own_and_the_report_has_all() -> None:
    engine = shelf(bridge=BRIDGE, ulm=ULM)
    response = f"{BRIDGE} {ULM} Penguins invented algebra. {BRIDGE}"
    report = Checker("embedded:rules", search=[engine]).check_response(response)
    assert isinstance(report, Report)
    assert [finding.kind for finding in report.findings] == ["verdict", "verdict", "unverified", "verdict"]
    assert [source.id for source in report.sources] == ["bridge.txt", "ulm.txt"]
    assert report.totals.unverified == 1
    assert [query for query, _ in engine.asked] == [BRIDGE, ULM, "Penguins invented algebra.", "Penguins"]
    found = [entry.source_span for finding in report.findings[:2] for entry in finding.evidence_alignment]  # type: ignore[union-attr]
    assert {span.source_id for span in found[:1] if span} == {"bridge.txt"}


def test_repair_searches_for_what_is_new_and_leaves_what_could_not_be_verified() -> None:
    engine = shelf(bridge=BRIDGE)
    response = "The Bosphorus Bridge opened in 1937. Penguins invented algebra."
    report = Checker("embedded:rules", search=[engine]).check_response(response, repair_rest="remove")
    assert report.revised_response == "The Bosphorus Bridge opened in 1973. Penguins invented algebra. [not verified]"
    assert [query for query, _ in engine.asked] == [
        "The Bosphorus Bridge opened in 1937.",
        "Penguins invented algebra.",
        "Penguins",
        "The Bosphorus Bridge opened in 1973.",
    ]


def test_a_response_for_which_nothing_is_found_has_no_score() -> None:
    report = Checker("embedded:rules", search=[shelf()]).check_response(
        "Penguins invented algebra.", repair_rest="mark"
    )
    assert (report.score, report.sources, report.attributable) == (None, (), False)
    assert report.revised_response == "Penguins invented algebra. [not verified]"


def test_the_question_and_the_context_of_a_claim_are_searched_for_too() -> None:
    engine = shelf(bridge=BRIDGE)
    checker = Checker("embedded:rules", search=[engine], queries=1)
    checker.check_response("The Bosphorus Bridge is in Istanbul. It opened in 1973.", question="When did it open?")
    assert [query for query, _ in engine.asked] == [
        "When did it open? The Bosphorus Bridge is in Istanbul.",
        "When did it open? the Bosphorus Bridge opened in 1973.",
    ]
    checker.check("In 1973.", question="When did the Bosphorus Bridge open?")
    assert engine.asked[-1][0] == "When did the Bosphorus Bridge open? In 1973."


def test_passages_of_one_document_are_sources_whose_names_say_where_they_begin() -> None:
    class Long(Shelf):
        async def search(self, query: str, limit: int) -> list[Passage]:
            text = f"{ULM} {BRIDGE}"
            cuts = [(0, len(ULM)), (len(ULM) + 1, len(text))]
            return [Passage(Span(text[start:end], start, end, "doc.txt"), 1.0) for start, end in cuts]

    checker = Checker("embedded:rules", search=[Long({})])
    [verdict], sources = checker.check_with_sources([BRIDGE])
    begin = len(ULM) + 1
    assert [source.id for source in sources] == ["doc.txt", f"doc.txt#char={begin},{begin + len(BRIDGE)}"]
    assert isinstance(verdict, Verdict)
    span = next(entry.source_span for entry in verdict.evidence_alignment if entry.source_span)
    assert span.source_id == sources[1].id
    assert f"{ULM} {BRIDGE}"[begin + span.start : begin + span.end] == span.text


def test_the_same_passage_found_twice_is_one_source_and_a_given_one_is_not_found_again() -> None:
    engines = [shelf(bridge=BRIDGE), Shelf({"bridge.txt": BRIDGE}, "index:other")]
    given = Source(BRIDGE, id="bridge.txt", title="About bridge.txt")
    for sources in ((), (given,)):
        _, used = Checker("embedded:rules", search=engines).check_with_sources([BRIDGE], sources)
        assert [source.id for source in used] == ["bridge.txt"]


def test_rows_need_no_sources_where_these_are_searched_for() -> None:
    checker = Checker("embedded:rules", search=[shelf(bridge=BRIDGE)])
    rows: list[dict[str, Any]] = [
        {"id": "a", "claim": BRIDGE},
        {"id": "b", "claim": "Penguins invented algebra."},
        {"id": "c", "response": BRIDGE},
        {"id": "d", "claim": ULM, "source": ULM},
        {"id": "e", "claim": BRIDGE, "question": 7},
    ]
    results = list(checker.check_many(rows))
    assert [result.kind for result in results] == ["verdict", "unverified", "report", "verdict", "unverified"]
    reasons = [result.reason for result in results if isinstance(result, Unverified)]
    assert reasons == ["no_evidence", "input"]


def test_without_a_search_a_source_must_be_given() -> None:
    with pytest.raises(InputError, match="no source was given"):
        Checker("embedded:rules").check(BRIDGE)
    with pytest.raises(InputError, match="no source was given"):
        Checker("embedded:rules").check_response(BRIDGE)


def test_closing_a_checker_closes_its_engines_and_it_can_be_used_again() -> None:
    engine = shelf(bridge=BRIDGE)
    checker = Checker("embedded:rules", search=[engine])
    checker.close()
    assert engine.closed
    assert isinstance(checker.check(BRIDGE), Verdict)


def test_any_finder_will_do_and_all_its_queries_are_reported() -> None:
    class Twice:
        async def find(self, question: str | None, claim: str) -> Trajectory:
            first = await StepSearch([shelf()], queries=1).find(question, claim)
            second = await StepSearch([shelf(bridge=BRIDGE)], queries=1).find(question, "Bosphorus Bridge")
            return Trajectory(claim, (), (*first.turns, *second.turns), "exhausted", "deterministic")

        async def aclose(self) -> None:
            pass

    verdict = Checker("embedded:rules", search=Twice()).check(BRIDGE)
    assert isinstance(verdict, Verdict)
    assert messages(verdict) == [
        f'Searched for "{BRIDGE}": index:shelf found nothing.',
        'Searched for "Bosphorus Bridge": index:shelf found 1 passage.',
    ]


def test_a_long_query_is_cut_in_the_warning_but_not_in_the_search() -> None:
    engine = shelf(bridge=BRIDGE)
    claim = " ".join(["The Bosphorus Bridge opened in 1973."] * 9)
    outcome = Checker("embedded:rules", search=[engine]).check(claim)
    assert engine.asked == [(claim, 10)]
    assert len(messages(outcome)[0]) < 250


def test_a_claim_is_followed_from_name_to_name_until_it_is_decided() -> None:
    texts = {"bridge": "The Harbour Bridge was built by Ada Byron.", "byron": "Ada Byron was from Bergen, as she said."}
    for queries, asked in ((None, 2), (1, 1)):
        engine = Shelf(texts)
        checker = Checker("embedded:rules", search=[engine], queries=queries)
        _, sources = checker.check_with_sources("From Bergen.", question="Where was who built the Harbour Bridge from?")
        assert len(engine.asked) == asked
        assert [source.id for source in sources] == [*texts][:asked]


def test_a_claim_that_its_first_passages_contradict_is_not_searched_for_again() -> None:
    engine = shelf(bridge=f"{BRIDGE} It was designed by Gilbert Roberts.")
    verdict = Checker("embedded:rules", search=[engine]).check("The Bosphorus Bridge opened in 1937.")
    assert isinstance(verdict, Verdict)
    assert (verdict.relation, len(engine.asked)) == ("contradicted", 1)


def test_a_number_of_queries_needs_engines() -> None:
    with pytest.raises(ConfigError, match="queries=2 requires search: pass search, or omit queries"):
        Checker("embedded:rules", queries=2)
    with pytest.raises(ConfigError, match="queries=2 cannot be used with a finder"):
        Checker("embedded:rules", search=StepSearch([shelf()]), queries=2)
    with pytest.raises(ConfigError, match="queries must be at least 1, got 0"):
        Checker("embedded:rules", search=[shelf()], queries=0)


@pytest.mark.parametrize("search", [[], ["bravo"], "wikipedia", ["brave="], ["ddgs=http://x"]])
def test_a_search_that_cannot_be_is_a_wrong_setting(search: Sequence[str]) -> None:
    with pytest.raises(ConfigError):
        Checker("embedded:rules", search=search)


def test_engines_are_opened_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "k")
    specs = ["searxng=http://localhost:8080", "wikipedia", "wikipedia=https://de.wikipedia.org/", "brave"]
    names = ["web:searxng", "web:wikipedia", "web:wikipedia=https://de.wikipedia.org", "web:brave"]
    assert [open_engine(spec).name for spec in specs] == names
    assert [web_name(spec) for spec in specs] == names
    with pytest.raises(ConfigError, match=r"expected one of searxng=URL.*; did you mean 'tavily'\?"):
        open_engine("tavilly")
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="TAVILY_API_KEY"):
        as_finder(["tavily"])
