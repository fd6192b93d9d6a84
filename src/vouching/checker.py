"""Checks with every method: what to judge -> verify -> findings -> report (-> repair).

A method that judges claims first splits a response into claims (-> search); one that judges responses gets it whole;
one that judges units gets a task and its proposal. ``METHODS`` says which is which; nothing else dispatches. Sources
given with a call belong to every claim of it; sources found by a search belong to the claim they were found for. Not
supported: several queries in one search; a finder does that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

from vouching.claims import Answer, AnswerLike, about_sources, check_min_confidence, claims_report, decided, decompose
from vouching.claims.api_answers import read_answer
from vouching.claims.citations import with_citations
from vouching.embedded.verify import is_embedded, open_embedded
from vouching.errors import ConfigError, InputError
from vouching.inputs import OR_SEARCH, ClaimLike, SourcesLike, as_claim, as_sources, check_text, each_of, row_sources
from vouching.judging.verifier import ClaimVerifier, InstructionVerifier, Outcome, ResponseVerifier, ThresholdConfig
from vouching.methods import method_for
from vouching.methods.instructed import instructed
from vouching.models.base import Model, spoken
from vouching.models.running import run
from vouching.recording import recorded
from vouching.repair import Rest, check_rest, repair
from vouching.rows.row import lacking, row_name
from vouching.rows.shapes import as_row
from vouching.search.base import Finder, SearchEngine
from vouching.search.evidence import ClaimEvidence, Searches
from vouching.search.open import as_finder
from vouching.types import Assurance, Claim, Report, Source, Unverified
from vouching.types.visible import shown_json

if TYPE_CHECKING:
    from vouching.methods.assurance.model import AssuranceVerifier
    from vouching.types import ChecklistItem
    from vouching.types.ledger import Keeps

AnyVerifier: TypeAlias = "ClaimVerifier | ResponseVerifier | InstructionVerifier | AssuranceVerifier"
"""What judges; the method says which of them."""
Judged: TypeAlias = Outcome | Report | Assurance
"""The result for a row: the outcome of a claim, or the report on a response or a task."""
Watch: TypeAlias = Callable[[Outcome], object]
"""Sees each outcome as soon as it is known."""


class Checker:
    """Checks claims, whole responses and structured work by any method of ``vouching.methods.METHODS``.

    Args:
        model: "embedded" (the default: rules and a shipped encoder, offline, no language model), "embedded:rules" (the
            rules alone: about five times as fast, blind to paraphrase), "embedded:FOLDER" (weights learnt by ``vouch
            evolve``), a language model or its name, e.g. "http://host:8000/v1#name" (see
            :func:`vouching.models.open.open_model`), the name of a scorer, e.g. "minicheck:/weights" (see
            :func:`vouching.methods.discriminative.open.open_scorer`), or a ClaimVerifier of your own.
        threshold: score in [0, 1] from which a claim is Attributable, or an item passes.
        method: one of ``METHODS``, or a variant: "label" (structured, the label alone) and "holistic" (checklist, one
            question about the whole). None for what suits the model: "embedded", "discriminative" for a scorer,
            "structured" for a language model. The embedded verifier is a scorer too: both names judge alike.
        search: what finds further sources for each claim: a finder, or engines or their names, e.g. ["index:notes",
            "wikipedia"] (see :func:`vouching.search.open.open_engine`), which are searched in steps. A claim without a
            source becomes Unverified(reason="no_evidence").
        min_confidence: in [0, 1]; a verdict with a lower confidence becomes Unverified(reason="undecided").
        queries: maximum number of queries for a claim; 5 by default. The first is the claim; the others follow names,
            until the rules find the claim supported or contradicted.
        ledger: keeps every result; see :func:`vouching.ledger.open_ledger`. The caller closes it.
        settings: of the method's verifier, e.g. votes, max_tokens and prefer (see :func:`check`); None: the default.

    Raises:
        ConfigError: an unknown model, method, engine or setting, one that does not fit, or a number out of range.
        WeightsError: a shipped file is missing or altered.

    >>> checker = Checker(threshold=0.5)
    >>> checker.check("It opened in 1937.", "The bridge opened in 1973.").fix_suggestion
    'Change 1937 to 1973.'
    >>> Checker(method="blinded").check_response("It has 2 towers.", "The bridge has three towers.").findings[0].outcome
    'different'
    """

    def __init__(
        self,
        model: str | Model | ClaimVerifier = "embedded",
        threshold: float = 0.5,
        *,
        method: str | None = None,
        search: Finder | Sequence[SearchEngine | str] | None = None,
        queries: int | None = None,
        min_confidence: float = 0.0,
        ledger: Keeps | None = None,
        **settings: Any,
    ) -> None:
        shared, self.ledger = ThresholdConfig(threshold), ledger
        self.method, given = method_for(model, method, settings)
        if threshold != 0.5 or "threshold" in self.method.takes:
            given["threshold"] = threshold
        self.verifier: AnyVerifier = self.method.open(model, given)
        self.embedded = is_embedded(model)
        self.decoding: Mapping[str, str | float | None] | None = getattr(self.verifier, "decoding", None)
        """How a language model is sampled, with the name of its calibration, or the learnt weights; else None."""
        self.min_confidence = check_min_confidence(min_confidence)
        if self.min_confidence:
            self._needs("claims", "a minimum confidence")
        self.finder: Finder | None = None
        if search is not None:
            self._needs("claims", "a search")
            self.finder = as_finder(search, open_embedded("embedded:rules", shared).verify, queries)
        elif queries is not None:
            raise ConfigError(f"queries={queries} requires search: pass search, or omit queries")

    @property
    def judges(self) -> Literal["claims", "response", "instruction", "units"]:
        """What it judges; a scorer of answers judges claims."""
        return "claims" if self.method.judges == "answers" else self.method.judges

    @overload
    async def acheck(
        self, claim: ClaimLike, sources: SourcesLike | None = ..., question: str | None = ...
    ) -> Outcome: ...
    @overload
    async def acheck(
        self, claim: Sequence[ClaimLike], sources: SourcesLike | None = ..., question: str | None = ...
    ) -> list[Outcome]: ...
    async def acheck(
        self, claim: ClaimLike | Sequence[ClaimLike], sources: SourcesLike | None = None, question: str | None = None
    ) -> Outcome | list[Outcome]:
        """Async twin of :meth:`check`."""
        outcomes, _ = await self.acheck_with_sources(claim, sources, question)
        return outcomes[0] if isinstance(claim, (str, Claim)) else outcomes

    @overload
    def check(self, claim: ClaimLike, sources: SourcesLike | None = ..., question: str | None = ...) -> Outcome: ...
    @overload
    def check(
        self, claim: Sequence[ClaimLike], sources: SourcesLike | None = ..., question: str | None = ...
    ) -> list[Outcome]: ...
    def check(
        self, claim: ClaimLike | Sequence[ClaimLike], sources: SourcesLike | None = None, question: str | None = None
    ) -> Outcome | list[Outcome]:
        """Judge a claim, or each of a list of them, against all ``sources`` and those found for it; see :func:`check`.

        The question that the claim answers is used only to find sources.
        """
        return run(self.acheck(claim, sources, question))

    @recorded
    async def acheck_with_sources(
        self, claim: ClaimLike | Sequence[ClaimLike], sources: SourcesLike | None = None, question: str | None = None
    ) -> tuple[list[Outcome], tuple[Source, ...]]:
        """The outcomes of :meth:`check`, and all sources used: the given ones and those that were found."""
        self._needs("claims", "a claim")
        claims = [as_claim(value, number) for number, value in enumerate(each_of(claim), 1)]
        return await self._judge(claims, self._given(sources), self._searches(question))

    def check_with_sources(
        self, claim: ClaimLike | Sequence[ClaimLike], sources: SourcesLike | None = None, question: str | None = None
    ) -> tuple[list[Outcome], tuple[Source, ...]]:
        """The synchronous form of :meth:`acheck_with_sources`."""
        return run(self.acheck_with_sources(claim, sources, question))

    @recorded
    async def acheck_response(
        self,
        response: AnswerLike,
        sources: SourcesLike | None = None,
        question: str | None = None,
        repair_rest: Rest | None = None,
        watch: Watch | None = None,
    ) -> Report:
        """Async twin of :meth:`check_response`; ``watch`` sees each outcome in order, and ends the call by an error."""
        answer = read_answer(response)
        response = check_text(answer.text, "the response")
        if self.judges == "instruction":
            if repair_rest is not None:
                raise ConfigError(f"the method {self.method.name} does not support repairs: omit repair_rest")
            return await self.acheck_instruction(question or "", response, sources=() if sources is None else sources)
        if not response.strip() and self.judges == "claims":
            raise InputError("the response must not be empty")
        check_rest(repair_rest)
        sources = answer.quoted_sources() if sources is None and self.finder is None else sources
        asked = (self._given(sources), question, self._searches(question))
        report = await self._report(answer, *asked, watch)
        if repair_rest is not None:
            report = await repair(report, lambda text: self._report(Answer(text), *asked), repair_rest)
        return report

    def check_response(
        self,
        response: AnswerLike,
        sources: SourcesLike | None = None,
        question: str | None = None,
        repair_rest: Rest | None = None,
    ) -> Report:
        """Judge a whole response, and repair it if asked; see :func:`check_response`.

        A method that judges claims splits it first; other methods judge it whole. A method that judges by an
        instruction takes the question as the instruction.
        """
        return run(self.acheck_response(response, sources, question, repair_rest))

    @recorded
    async def acheck_instruction(
        self,
        instruction: str,
        response: str,
        checklist: Sequence[ChecklistItem] | object = None,
        sources: SourcesLike = (),
    ) -> Report:
        """Async twin of :meth:`check_instruction`."""
        from vouching.methods.checklist.items import as_items

        self._needs("instruction", "an instruction")
        if not check_text(instruction, "the instruction").strip():
            raise InputError("the instruction must not be empty")
        check_text(response, "the response")
        items = None if checklist is None else as_items(checklist)
        given = as_sources(sources) if each_of(sources) else ()
        verifier = cast("InstructionVerifier", self.verifier)
        return replace(await verifier.verify(instruction, spoken(response), given, items), response=response)

    def check_instruction(
        self,
        instruction: str,
        response: str,
        checklist: Sequence[ChecklistItem] | object = None,
        sources: SourcesLike = (),
    ) -> Report:
        """Judge how well a response follows its instruction; see :func:`check_instruction`.

        >>> Checker(method="rules").check_instruction("Use no commas.", "So it is.").score
        1.0
        """
        return run(self.acheck_instruction(instruction, response, checklist, sources))

    @recorded
    async def acheck_task(self, task: object, proposal: object) -> Assurance:
        """Async twin of :meth:`check_task`."""
        from vouching.methods.assurance.verify import verify

        self._needs("units", "a task")
        return await verify(task, proposal, cast("AssuranceVerifier", self.verifier))

    def check_task(self, task: object, proposal: object) -> Assurance:
        """Judge the values proposed for a task, unit by unit.

        >>> task = {"task": "t", "data": {"paid": [40, 2]}, "rules": [{"id": "R", "text": "Add.",
        ...     "value": "sum(data.paid)"}], "units": [{"id": "total", "type": "amount", "rules": ["R"]}]}
        >>> Checker(method="assurance").check_task(task, {"values": {"total": 41}}).units[0].correction
        '42'
        """
        return run(self.acheck_task(task, proposal))

    async def acheck_many(
        self,
        rows: Iterable[Mapping[str, Any]],
        on_error: Literal["continue", "raise"] = "continue",
        repair_rest: Rest | None = None,
    ) -> AsyncIterator[Judged]:
        """Async twin of :meth:`check_many`."""
        check_rest(repair_rest)
        for number, row in enumerate(rows, 1):
            yield await self._row(row, number, on_error, repair_rest)

    def check_many(
        self,
        rows: Iterable[Mapping[str, Any]],
        on_error: Literal["continue", "raise"] = "continue",
        repair_rest: Rest | None = None,
    ) -> Iterator[Judged]:
        """Judge rows one by one, in order, without holding them in memory; see :func:`check_many`."""
        check_rest(repair_rest)
        for number, row in enumerate(rows, 1):
            yield run(self._row(row, number, on_error, repair_rest))

    def check_row(
        self, row: Mapping[str, Any], number: int = 1, repair_rest: Rest | None = None, place: str | None = None
    ) -> Judged:
        """Judge one row, as :meth:`check_many` does.

        Args:
            row: a mapping with "claim" or "response", and "sources" unless they are searched for; or "response" and
                "instruction"; or "task" and "proposal", as the method needs.
            number: which row it is, from 1; its id is "row-N" if it has none.
            repair_rest: repairs a response if given; see :func:`check_response`.
            place: what messages call the row; "row N" by default.

        Returns:
            A Verdict or a Report, or Unverified(reason="input") for a row that cannot be used.
        """
        return run(self.acheck_row(row, number, repair_rest, place))

    async def acheck_row(
        self, row: Mapping[str, Any], number: int = 1, repair_rest: Rest | None = None, place: str | None = None
    ) -> Judged:
        """Async twin of :meth:`check_row`."""
        return await self._row(row, number, "continue", repair_rest, place)

    async def aclose(self) -> None:
        """Close the connections of the language model and the engines; the next call opens them again."""
        await self.verifier.aclose()
        if self.finder is not None:
            await self.finder.aclose()

    def close(self) -> None:
        """The synchronous form of :meth:`aclose`."""
        run(self.aclose())

    @property
    def _of_claims(self) -> ClaimVerifier:
        return cast("ClaimVerifier", self.verifier)

    def _needs(self, judged: str, got: str) -> None:
        """Raise ConfigError for a call that does not fit the method."""
        if self.judges != judged:
            calls = {"claims": "check", "instruction": "check_instruction", "units": "check_task"}
            name = calls.get(self.judges, "check_response")
            raise ConfigError(f"the method {self.method.name} does not accept {got}: call {name}")

    def _given(self, sources: SourcesLike | None) -> tuple[Source, ...]:
        """The sources passed with a call. Raises InputError if there are none and none are searched for."""
        if self.finder is not None and (sources is None or not each_of(sources)):
            return ()
        return as_sources(() if sources is None else sources)

    def _searches(self, question: str | None) -> Searches | None:
        """The searches of one call; None without a search."""
        if question is not None:
            check_text(question, "the question")
        return None if self.finder is None else Searches(self.finder, question)

    async def _judge(
        self, claims: Sequence[Claim], given: tuple[Source, ...], searches: Searches | None, watch: Watch | None = None
    ) -> tuple[list[Outcome], tuple[Source, ...]]:
        if watch is not None:
            evidence, sources = await searches.gather(claims, given) if searches else ([None] * len(claims), given)
            outcomes: list[Outcome] = []
            for claim, found in zip(claims, evidence, strict=True):
                one = [await self._judge_one(claim, found)] if found else (await self._judge([claim], given, None))[0]
                outcomes += decided(one, self.min_confidence)
                watch(outcomes[-1])
            return outcomes, sources
        if searches is None:
            outcomes = await self._of_claims.verify(claims, given)
            return decided(about_sources(outcomes, given) if self.embedded else outcomes, self.min_confidence), given
        evidence, sources = await searches.gather(claims, given)
        outcomes = await asyncio.gather(*map(self._judge_one, claims, evidence))
        return decided(outcomes, self.min_confidence), sources

    async def _judge_one(self, claim: Claim, evidence: ClaimEvidence) -> Outcome:
        if evidence.missing is not None:
            return evidence.missing
        [outcome] = await self._of_claims.verify([claim], evidence.sources)
        return replace(outcome, warnings=(*evidence.warnings, *outcome.warnings))

    async def _report(
        self,
        answer: Answer,
        given: tuple[Source, ...],
        question: str | None,
        searches: Searches | None,
        watch: Watch | None = None,
    ) -> Report:
        response, said = answer.text, spoken(answer.text)
        if self.judges == "response":
            verifier = cast("ResponseVerifier", self.verifier)
            return replace(await verifier.verify(question, said, given), response=response)
        self._needs("claims", "a response")
        decomposition = decompose(response, question)
        outcomes, sources = await self._judge(decomposition.claims, given, searches, watch)
        outcomes, cited = await with_citations(replace(answer, text=said), outcomes, given, self._of_claims.verify)
        support = await self._of_claims.support(said, sources) if sources else None
        return replace(claims_report(response, sources, outcomes, decomposition, support, question), citations=cited)

    async def _row(
        self, given: object, number: int, on_error: str, repair_rest: Rest | None, place: str | None = None
    ) -> Judged:
        name = f"row-{number}"
        try:
            if not isinstance(given, Mapping):
                raise InputError(f'expected a mapping with "claim" and "sources", got {shown_json(given)}')
            name = row_name(row := as_row({**cast("Mapping[str, Any]", given)}), number)
            check_text(str(row.get("id", "")), "the id")
            result = await self._of_row(row, name, repair_rest)
            return replace(result, id=name) if isinstance(result, Report) else result
        except InputError as error:
            message = f"{place or f'row {number}'}: {error}"
            if on_error == "raise":
                raise InputError(message) from error
            return Unverified(Claim("", id=name), "input", message)

    async def _of_row(self, row: Mapping[str, Any], name: str, repair_rest: Rest | None) -> Judged:
        judges, question = self.judges, row.get("question")
        if judges == "units":
            return await self.acheck_task(row.get("task"), row.get("proposal"))
        if judges == "instruction":
            return await self.acheck_instruction(*instructed(row, self.method.name, self.verifier))
        response, claim = row.get("response"), row.get("claim")
        if judges == "response":
            if response is None and claim is None:
                raise InputError(lacking(row, "response", "claim"))
            text = check_text(claim, "the claim") if response is None else response
            return await self.acheck_response(text, row_sources(row), question, repair_rest)
        sources = row_sources(row, needed=self.finder is None, otherwise=OR_SEARCH)
        if response is not None and claim is not None:
            raise InputError('the row has both "claim" and "response": split it into two rows')
        if response is not None:
            return await self.acheck_response(response, sources, question, repair_rest)
        if claim is None:
            raise InputError(lacking(row, "claim", "response"))
        asked = Claim(check_text(claim, "the claim"), id=name)
        return await self.acheck(asked, sources, question if self.finder else None)
