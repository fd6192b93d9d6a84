"""The serve flow on one page: response -> decompose -> claims (-> search) -> verify -> verdicts -> report (-> repair).

Async inside, synchronous at the edge. The sources that are given with a call belong to every claim of it; those that
are searched for belong to the claim that they were found for. Left out: a search with several queries, which is a
finder's business.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args, overload

from vouching.claims import decompose
from vouching.errors import ConfigError, InputError
from vouching.inputs import OR_SEARCH, ClaimLike, SourcesLike, as_claim, as_sources, check_text, each_of, row_sources
from vouching.methods.base import ClaimVerifier, Outcome, ThresholdConfig
from vouching.methods.embedded.verify import MODELS, is_embedded, open_embedded
from vouching.models.base import Model
from vouching.models.running import run
from vouching.repair import Rest, repair
from vouching.rows.read import row_name
from vouching.search.base import Finder, SearchEngine
from vouching.search.evidence import ClaimEvidence, Searches
from vouching.search.open import as_finder
from vouching.types import (
    Claim,
    Finding,
    NonClaim,
    Report,
    Source,
    Totals,
    Unverified,
    Verdict,
    VerdictWarning,
    total_usage,
)

if TYPE_CHECKING:
    from vouching.methods.discriminative.verify import DiscriminativeVerifier
    from vouching.methods.structured.verify import StructuredVerifier

Method: TypeAlias = Literal["embedded", "structured", "label"]
"""How claims are judged: by the verifier that ships, or by a language model with the whole record or a bare label."""


class Checker:
    """Checks claims and whole responses against sources.

    Args:
        model: "embedded" (the default: rules and a shipped encoder, offline, no model needed), "embedded:rules" (the
            rules alone: about five times as fast, blind to paraphrase), "embedded:FOLDER" (what a round of ``vouch
            evolve`` learnt), or a language model, itself or by its name, e.g. "http://host:8000/v1#name" (see
            :func:`vouching.models.open.open_model`), or a scorer by its name, e.g. "minicheck:/weights" (see
            :func:`vouching.methods.discriminative.open.open_scorer`).
        threshold: score from which a claim counts as Attributable, in [0, 1].
        method: how a language model is asked: "structured" (the default) or "label", the binary baseline.
        votes: how many answers of a language model decide on a claim.
        seed: seed of a language model's sampling.
        max_tokens: length of a language model's reply, 1,024 if not said; one that thinks aloud needs more.
        search: what finds sources for each claim, beside those that are given: engines or their names, e.g.
            ["index:notes", "wikipedia"] (see :func:`vouching.search.open.open_engine`), which are searched in steps, or
            a finder. A claim for which there is no source at all becomes Unverified(reason="no_evidence").
        queries: how many queries engines get for a claim, at most; 5 if not said. The first is the claim; the others
            follow names, until the rules find the claim supported or contradicted.

    Raises:
        ConfigError: an unknown model or engine, a setting that does not fit it, or a number out of range.
        WeightsError: a shipped file is missing or altered.

    >>> checker = Checker(threshold=0.5)
    >>> checker.check("It opened in 1937.", "The bridge opened in 1973.").fix_suggestion
    'Change 1937 to 1973.'
    """

    def __init__(
        self,
        model: str | Model = "embedded",
        threshold: float = 0.5,
        *,
        method: Method | None = None,
        votes: int = 1,
        seed: int | None = None,
        max_tokens: int | None = None,
        search: Finder | Sequence[SearchEngine | str] | None = None,
        queries: int | None = None,
    ) -> None:
        if not _is_share(threshold):
            raise ConfigError(f"threshold must lie in [0, 1], got {threshold!r}")
        self.embedded = is_embedded(model)
        """Whether it works without a language model."""
        self.verifier: ClaimVerifier
        """What judges single claims."""
        if self.embedded:
            _refuse_unused(model, method=method, votes=votes, seed=seed, max_tokens=max_tokens)
            self.verifier = open_embedded(str(model), ThresholdConfig(threshold))
        else:
            settings: dict[str, Any] = {"threshold": threshold, "votes": votes, "seed": seed}
            settings |= {} if max_tokens is None else {"max_tokens": max_tokens}
            self.verifier = _named_verifier(model, method, settings)
        self.decoding: Mapping[str, str | float | None] | None = getattr(self.verifier, "decoding", None)
        """How a language model is asked, with the name of its calibration, or the weights of a round; else None."""
        self.finder: Finder | None = None
        """What finds sources; None if they must be given."""
        if search is not None:
            self.finder = as_finder(search, open_embedded("embedded:rules", ThresholdConfig(threshold)).verify, queries)
        elif queries is not None:
            raise ConfigError(f"got queries={queries} without anything to search: give search, or leave it out")

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
        """Judge one claim, or each of a list of claims, against all ``sources`` and those found for it.

        The question, what the claim answers, helps to find sources and nothing else. See :func:`check`.
        """
        return run(self.acheck(claim, sources, question))

    async def acheck_with_sources(
        self, claim: ClaimLike | Sequence[ClaimLike], sources: SourcesLike | None = None, question: str | None = None
    ) -> tuple[list[Outcome], tuple[Source, ...]]:
        """The outcomes of :meth:`check`, and everything they rest on: the given sources and those that were found."""
        claims = [as_claim(value, number) for number, value in enumerate(each_of(claim), 1)]
        return await self._judge(claims, self._given(sources), self._searches(question))

    def check_with_sources(
        self, claim: ClaimLike | Sequence[ClaimLike], sources: SourcesLike | None = None, question: str | None = None
    ) -> tuple[list[Outcome], tuple[Source, ...]]:
        """The same without an event loop.

        >>> outcomes, sources = Checker().check_with_sources("It opened in 1973.", "The bridge opened in 1973.")
        >>> outcomes[0].label, sources[0].id
        ('Attributable', 'source-1')
        """
        return run(self.acheck_with_sources(claim, sources, question))

    async def acheck_response(
        self,
        response: str,
        sources: SourcesLike | None = None,
        question: str | None = None,
        repair_rest: Rest | None = None,
    ) -> Report:
        """Async twin of :meth:`check_response`."""
        if not check_text(response, "the response").strip():
            raise InputError("the response is empty: got no text, wanted an answer to take apart into claims")
        _check_rest(repair_rest)
        given, searches = self._given(sources), self._searches(question)
        report = await self._report(response, given, question, searches)
        if repair_rest is not None:
            report = await repair(report, lambda text: self._report(text, given, question, searches), repair_rest)
        return report

    def check_response(
        self,
        response: str,
        sources: SourcesLike | None = None,
        question: str | None = None,
        repair_rest: Rest | None = None,
    ) -> Report:
        """Take a response apart, judge every claim of it, and repair it if asked; see :func:`check_response`."""
        return run(self.acheck_response(response, sources, question, repair_rest))

    async def acheck_many(
        self,
        rows: Iterable[Mapping[str, Any]],
        on_error: Literal["continue", "raise"] = "continue",
        repair_rest: Rest | None = None,
    ) -> AsyncIterator[Outcome | Report]:
        """Async twin of :meth:`check_many`."""
        _check_rest(repair_rest)
        for number, row in enumerate(rows, 1):
            yield await self._row(row, number, on_error, repair_rest)

    def check_many(
        self,
        rows: Iterable[Mapping[str, Any]],
        on_error: Literal["continue", "raise"] = "continue",
        repair_rest: Rest | None = None,
    ) -> Iterator[Outcome | Report]:
        """Judge rows one after the other, in order, without holding them; see :func:`check_many`."""
        _check_rest(repair_rest)
        for number, row in enumerate(rows, 1):
            yield run(self._row(row, number, on_error, repair_rest))

    def check_row(
        self, row: Mapping[str, Any], number: int = 1, repair_rest: Rest | None = None, place: str | None = None
    ) -> Outcome | Report:
        """Judge one row, as :meth:`check_many` does each.

        Args:
            row: a mapping with "claim" or "response", and "sources", which it may lack if sources are searched for.
            number: which row it is, from 1; its id is "row-N" if it has none.
            repair_rest: repairs a response if given; see :func:`check_response`.
            place: what to call the row in a message, "row N" if not given.

        Returns:
            A Verdict or a Report, or Unverified(reason="input") for a row that cannot be used.

        >>> print(Checker().check_row({"claim": "It opened."}, place="line 8").message)
        line 8: the row has the keys ['claim'], wanted "source" or "sources" (a text or a list of texts)...
        """
        return run(self.acheck_row(row, number, repair_rest, place))

    async def acheck_row(
        self, row: Mapping[str, Any], number: int = 1, repair_rest: Rest | None = None, place: str | None = None
    ) -> Outcome | Report:
        """Async twin of :meth:`check_row`."""
        return await self._row(row, number, "continue", repair_rest, place)

    async def aclose(self) -> None:
        """Let go of the connections of the language model and the engines; used again, they are opened again."""
        await self.verifier.aclose()
        if self.finder is not None:
            await self.finder.aclose()

    def close(self) -> None:
        """The same without an event loop."""
        run(self.aclose())

    def _given(self, sources: SourcesLike | None) -> tuple[Source, ...]:
        """The sources that came with a call. Raises InputError where there are none and none are searched for."""
        if self.finder is not None and (sources is None or not each_of(sources)):
            return ()
        return as_sources(() if sources is None else sources)

    def _searches(self, question: str | None) -> Searches | None:
        """The searches of one call; None if nothing is searched for. Raises InputError for a question that is none."""
        if question is not None:
            check_text(question, "the question")
        return None if self.finder is None else Searches(self.finder, question)

    async def _judge(
        self, claims: Sequence[Claim], given: tuple[Source, ...], searches: Searches | None
    ) -> tuple[list[Outcome], tuple[Source, ...]]:
        if searches is None:
            return await self.verifier.verify(claims, given), given
        evidence, sources = await searches.gather(claims, given)
        return await asyncio.gather(*map(self._judge_one, claims, evidence)), sources

    async def _judge_one(self, claim: Claim, evidence: ClaimEvidence) -> Outcome:
        if evidence.missing is not None:
            return evidence.missing
        [outcome] = await self.verifier.verify([claim], evidence.sources)
        return replace(outcome, warnings=(*evidence.warnings, *outcome.warnings))

    async def _report(
        self, response: str, given: tuple[Source, ...], question: str | None, searches: Searches | None
    ) -> Report:
        taken_apart = decompose(response)
        outcomes, sources = await self._judge(taken_apart.claims, given, searches)
        return Report(
            response=response,
            sources=sources,
            findings=tuple(outcomes),
            question=question,
            non_claims=taken_apart.non_claims,
            coverage=_coverage(response, taken_apart.claims, taken_apart.non_claims),
            totals=_totals(outcomes),
            score=_response_score(outcomes, await self.verifier.support(response, sources) if sources else None),
            warnings=_shared_warnings(outcomes),
            usage=total_usage(outcomes),
        )

    async def _row(
        self, given: object, number: int, on_error: str, repair_rest: Rest | None, place: str | None = None
    ) -> Outcome | Report:
        name = f"row-{number}"
        try:
            if not isinstance(given, Mapping):
                raise InputError(f'it is of type {type(given).__name__}, wanted a mapping with "claim" and "sources"')
            row = cast("Mapping[str, Any]", given)
            name = row_name(row, number)
            check_text(str(row.get("id", "")), "the id")
            sources = row_sources(row, needed=self.finder is None, otherwise=OR_SEARCH)
            if row.get("response") is not None and row.get("claim") is not None:
                raise InputError('it has both "claim" and "response", wanted one of them: make two rows of it')
            if row.get("response") is not None:
                report = await self.acheck_response(row["response"], sources, row.get("question"), repair_rest)
                return replace(report, id=name)
            if row.get("claim") is None:
                raise InputError(f'the row has the keys {[*row]}, wanted "claim" or "response"')
            claim = Claim(check_text(row["claim"], "the claim"), id=name)
            return await self.acheck(claim, sources, row.get("question") if self.finder else None)
        except InputError as error:
            message = f"{place or f'row {number}'}: {error}"
            if on_error == "raise":
                raise InputError(message) from error
            return Unverified(Claim("", id=name), "input", message)


def _refuse_unused(model: str | Model, **settings: object) -> None:
    """Raise ConfigError if a setting was given that only a language model takes."""
    unsaid: dict[str, tuple[object, ...]] = {"method": (None, "embedded"), "votes": (1,)}
    given = [name for name, value in settings.items() if value not in unsaid.get(name, (None,))]
    if given:
        names = " and ".join(given)
        raise ConfigError(f"got {names} with {model}, which is no language model: name one, or leave out {names}")


def _named_verifier(
    model: str | Model, method: Method | None, settings: Mapping[str, Any]
) -> StructuredVerifier | DiscriminativeVerifier:
    """The verifier that asks a language model or a scorer; loaded only when there is one."""
    from vouching.methods.discriminative.open import is_scorer, open_discriminative
    from vouching.methods.structured.verify import StructuredConfig, open_verifier
    from vouching.models.open import FORMS, is_model

    if isinstance(model, str) and is_scorer(model):
        unused = {key: value for key, value in settings.items() if key != "threshold"}
        _refuse_unused(model, method=method, **unused)
        return open_discriminative(model, ThresholdConfig(settings["threshold"]))
    if isinstance(model, str) and not is_model(model):
        known = (
            f"{', '.join(MODELS)}, embedded:FOLDER, language models such as {FORMS}, and scorers such as minicheck:PATH"
        )
        raise ConfigError(f"unknown model {model!r}; there are: {known}")
    if method not in (None, "structured", "label"):
        raise ConfigError(f"got method {method!r} with a language model, wanted structured or label")
    return open_verifier(model, StructuredConfig(**settings, style=method or "structured"))


def _check_rest(repair_rest: object) -> None:
    if repair_rest not in (None, *get_args(Rest)):
        raise InputError(f"repair_rest must be one of {', '.join(get_args(Rest))} or None, got {repair_rest!r}")


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value <= 1.0


def _coverage(response: str, claims: Sequence[Claim], non_claims: Sequence[NonClaim]) -> float:
    """Share of the response's non-space characters that lie in a claim or a non-claim."""
    spans = [c.span for c in claims if c.span is not None] + [n.span for n in non_claims]
    seen = sum(len("".join(span.text.split())) for span in spans)
    return min(1.0, seen / max(1, len("".join(response.split()))))


def _response_score(outcomes: Sequence[Outcome], support: float | None) -> float | None:
    """Mean of the claims' scores and, where the verifier measures it, of the support of the whole text.

    Chosen among ten such scores on training sets: ``recipes/embedded/response_score.py``. The mean over what is left
    where a judge failed would be another number, and higher where it failed on what is wrong.
    """
    scores = [outcome.score for outcome in outcomes if isinstance(outcome, Verdict)]
    if not scores or len(scores) < len(outcomes):
        return None
    mean = sum(scores) / len(scores)
    return mean if support is None else (mean + support) / 2


def _totals(outcomes: Sequence[Finding]) -> Totals:
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    types = Counter(verdict.error_type for verdict in verdicts if verdict.error_type)
    return Totals(
        attributable=sum(verdict.attributable for verdict in verdicts),
        not_attributable=sum(not verdict.attributable for verdict in verdicts),
        unverified=len(outcomes) - len(verdicts),
        by_error_type=tuple(types.most_common()),
    )


def _shared_warnings(outcomes: Sequence[Finding]) -> tuple[VerdictWarning, ...]:
    """Warnings about the sources and the judge, which every verdict carries, once."""
    kinds = ("injection", "unread", "uncalibrated")
    found = (w for o in outcomes if isinstance(o, Verdict) for w in o.warnings if w.kind in kinds)
    return tuple(dict.fromkeys(found))
