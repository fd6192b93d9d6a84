"""Ten claims and a task of each method for a language model, to see what it can do: ``vouch models test``.

The claims are about an invented bridge, which no model knows, and half of them are supported. They are judged one after
another, which gives the time of a single claim; a batch is faster where a server works on several calls at once. One
reply shows whether a method works with a model, and not how well: ``vouch bench`` measures that.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any, Literal, TypeAlias

from vouching.errors import ModelDeadlineError
from vouching.judging.probe import Support, refused_by, support_of
from vouching.methods import METHODS
from vouching.methods.assurance.task import as_proposal, as_task
from vouching.methods.assurance.verify import challenge
from vouching.methods.discriminative.generative import GenerativeRanker
from vouching.metrics import auroc
from vouching.models.base import Model
from vouching.models.wrappers import Metered
from vouching.types import ChecklistItem, Claim, Finding, Source, Unverified, Usage

Style: TypeAlias = Literal["label", "structured"]
TEXT = (
    "The Hollow Bay bridge opened to traffic on 14 May 1973. It is 1,420 metres long and has two towers, each 96 "
    "metres high. It was designed by Ingrid Solheim and built by 600 workers in four years. Pedestrians may cross it "
    "free of charge; lorries pay a toll of 12 euros. In 2011 its cables were replaced because of rust, and the bridge "
    "was closed for three months."
)
"""The source of all claims."""
CLAIMS = (
    ("The bridge was opened in 1973.", True),
    ("The bridge has three towers.", False),
    ("Ingrid Solheim designed the bridge.", True),
    ("The bridge is more than two kilometres long.", False),
    ("People on foot do not have to pay.", True),
    ("Lorries cross the bridge free of charge.", False),
    ("The cables of the bridge had rusted.", True),
    ("The cables were replaced in 2001.", False),
    ("It took four years to build the bridge.", True),
    ("The bridge also carries a railway line.", False),
)
"""Each with whether the text supports it."""
_SOURCES = (Source(TEXT, "bridge"),)
_INSTRUCTION, _RESPONSE = "Name the year in which the bridge opened.", "It opened in 1973."
_BILL: Mapping[str, Any] = {
    "task": "bill",
    "data": {"items": [{"what": "bread", "price": 4}, {"what": "cheese", "price": 9}]},
    "rules": [{"id": "R1", "text": "The total is the sum of the prices of all items."}],
    "units": [{"id": "total", "type": "amount", "rules": ["R1"]}],
}
_Found: TypeAlias = tuple[bool | None, str, float | None]
"""Whether a result is right, or None and why there is none; and the score of a claim."""
Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model made of one claim or task."""

    name: str
    """The claim, or the method."""
    right: bool | None
    """Whether the result is the right one; None if there is none."""
    fault: str
    """Why there is none."""
    usage: Usage
    """Its time, tokens and calls; a second call is a second request after an unreadable reply, or a second role."""
    label: str | None = None
    """The label of a claim."""
    score: float | None = None
    """P(Attributable) of a claim."""


@dataclass(frozen=True, slots=True)
class ModelTest:
    """The result of a test."""

    model: str
    style: Style
    support: Support
    claims: tuple[Trial, ...]
    methods: tuple[Trial, ...]
    refused: tuple[str, ...]
    """What the server refused and is no longer sent."""

    @property
    def judged(self) -> list[Trial]:
        """The claims with a label."""
        return [one for one in self.claims if one.right is not None]

    @property
    def right(self) -> int:
        """How many labels are right."""
        return sum(one.right is True for one in self.claims)

    @property
    def by_first(self) -> int:
        """How many claims have a label by the first reply."""
        return sum(one.usage.calls == 1 for one in self.judged)

    @property
    def labels(self) -> Counter[str]:
        """How often each label was given."""
        return Counter(one.label for one in self.judged if one.label is not None)

    @property
    def ranked(self) -> float | None:
        """AUROC of the scores, in [0, 1]: how well they tell supported claims from others, whatever the labels say.

        None without the score of both kinds.
        """
        truth = dict(CLAIMS)
        scored = [(truth[one.name], one.score) for one in self.judged if one.score is not None]
        if len({supported for supported, _ in scored}) < 2:
            return None
        return float(auroc(*zip(*scored, strict=True)))

    @property
    def seconds(self) -> float:
        """The median time of a claim."""
        return median(one.usage.seconds for one in self.claims)

    @property
    def fields(self) -> dict[str, Any]:
        """The test as JSON."""
        support = {name: getattr(self.support, name) for name in Support.__slots__}
        judged = {
            "method": self.style,
            "claims": len(self.claims),
            "readable": len(self.judged),
            "readable_by_first_reply": self.by_first,
            "right": self.right,
            "auroc": self.ranked,
            "labels": dict(self.labels),
            "seconds": self.seconds,
            "prompt_tokens": fmean(one.usage.prompt_tokens for one in self.claims),
            "completion_tokens": fmean(one.usage.completion_tokens for one in self.claims),
        }
        found = {one.name: _trial_fields(one) for one in self.methods}
        advice = [{"set": what, "because": why} for what, why in self.advice()]
        server = {**support, "refused": [*self.refused]}
        return {"model": self.model, "server": server, "claims": judged, "methods": found, "advice": advice}

    def advice(self) -> list[tuple[str, str]]:
        """What to set, or to do, and why."""
        return [*self._of_server(), *self._of_replies()]

    def _of_server(self) -> list[tuple[str, str]]:
        support, found = self.support, list[tuple[str, str]]()
        if support.context is None:
            found.append(("--context N", "the server does not report how many tokens fit into the model's context"))
        elif support.context < _ROOMY:
            found.append(
                (
                    "a larger context (llama-server -c, OLLAMA_CONTEXT_LENGTH)",
                    f"{support.context:,} tokens hold prompt and reply, so long sources are read in many windows",
                )
            )
        if not support.schema:
            found.append(("a server that enforces schemas", "a reply in the right form depends on the model alone"))
        if support.system is False:
            found.append(("another chat template", "system messages do not reach the model, so it is not instructed"))
        if support.thinks:
            found.append(("--max-tokens 4000", "the model thinks before it answers, and the limit counts thoughts"))
        longest = max(one.usage.seconds for one in (*self.claims, *self.methods))
        if longest > _PATIENT:
            found.append(("--timeout 3600", f"one call took {longest:.0f} s, and a call ends after 600 s by default"))
        return found

    def _of_replies(self) -> list[tuple[str, str]]:
        found = list[tuple[str, str]]()
        count, readable = len(self.claims), len(self.judged)
        whole = next((one for one in self.methods if one.name == "structured"), None)
        if whole is not None and whole.right is None and readable:
            found.append(("--method label", f"the whole record could not be read: {whole.fault}"))
        cut = any("--max-tokens" in one.fault for one in (*self.claims, *self.methods))
        if cut and not self.support.thinks:
            found.append(("a larger --max-tokens", "a reply was cut off"))
        if readable == count and self.right <= 7 * count / 10 and (self.ranked or 0.0) >= _RANKED:
            found.append(
                (
                    "vouch calibrate --kind platt",
                    f"{self.right} of {count} labels are right, but the scores tell supported claims from others "
                    f"(AUROC {self.ranked:.2f}): a calibration moves the point that decides",
                )
            )
        elif readable == count and len(self.labels) == 1:
            found.append(
                (
                    "a larger model",
                    f"every claim was judged {next(iter(self.labels))}, so its labels carry no information",
                )
            )
        elif self.right <= 7 * count / 10:
            found.append(("a larger model", f"{self.right} of {count} labels are right, and a guess has {count // 2}"))
        return found


_ROOMY = 8192
"""Tokens of a context that holds most sources."""
_PATIENT = 120.0
_RANKED = 0.85
"""AUROC of ten claims from which labels that are often wrong have a threshold in the wrong place."""


async def try_model(
    model: Model, style: Style, max_tokens: int | None, watch: Callable[[str], None] = lambda step: None
) -> ModelTest:
    """Test a model; ``watch`` gets the name of each step before it begins.

    Raises:
        ModelError: the model cannot be reached, or does not answer a plain question.
        ConfigError: the address, the key or the name is wrong.
    """
    watch("the server")
    metered = Metered(model)
    support = await support_of(metered)
    claims = list[Trial]()
    for number, (text, supported) in enumerate(CLAIMS, 1):
        watch(f"claim {number} of {len(CLAIMS)}")
        settings = {"style": style, "max_tokens": max_tokens}
        judged = await _tried(text, metered, _claim(text, supported, metered, settings))
        label = "Attributable" if judged.right is supported else "Not Attributable"
        claims.append(judged if judged.right is None else replace(judged, label=label))
    methods = list[Trial]()
    for name, work in _TASKS.items():
        watch(f"the method {name}")
        methods.append(await _tried(name, metered, work(metered, {"max_tokens": max_tokens})))
    return ModelTest(model.name, style, support, tuple(claims), tuple(methods), refused_by(model))


async def _tried(name: str, model: Metered, work: Awaitable[_Found]) -> Trial:
    before, started = model.usage, time.perf_counter()
    try:
        right, fault, score = await work
    except ModelDeadlineError as error:
        right, fault, score = None, str(error), None
    spent = Usage(
        time.perf_counter() - started,
        model.usage.prompt_tokens - before.prompt_tokens,
        model.usage.completion_tokens - before.completion_tokens,
        model.usage.calls - before.calls,
    )
    return Trial(name, right, fault, spent, score=score)


async def _claim(text: str, supported: bool, model: Model, settings: Settings) -> _Found:
    [found] = await METHODS["structured"].open(model, settings).verify([Claim(text)], _SOURCES)
    if isinstance(found, Unverified):
        return None, found.message, None
    return found.attributable is supported, "", found.score


async def _record(model: Model, settings: Settings) -> _Found:
    return await _claim("The bridge has three towers.", False, model, settings)


async def _items(model: Model, settings: Settings) -> _Found:
    items = [ChecklistItem("Does the response name a year?")]
    report = await METHODS["checklist"].open(model, settings).verify(_INSTRUCTION, _RESPONSE, items=items)
    return _of_findings(report.findings, lambda passed: passed is True)


async def _holistic(model: Model, settings: Settings) -> _Found:
    opened = METHODS["checklist"].open(model, {**settings, "holistic": True})
    report = await opened.verify(_INSTRUCTION, _RESPONSE)
    return _of_findings(report.findings, lambda passed: passed is True)


async def _blinded(model: Model, settings: Settings) -> _Found:
    report = await METHODS["blinded"].open(model, settings).verify(None, "The bridge has 3 towers.", _SOURCES)
    return _of_findings(report.findings, lambda passed: passed is False)


def _of_findings(findings: Sequence[Finding], is_right: Callable[[bool | None], bool]) -> _Found:
    failed = [one for one in findings if isinstance(one, Unverified)]
    if failed or not findings:
        return None, failed[0].message if failed else "the reply has no question", None
    return all(is_right(one.passed) for one in findings), "", None


async def _rank(model: Model, settings: Settings) -> _Found:
    ranker = GenerativeRanker(model, "generative", max_tokens=settings["max_tokens"])
    ranking = await ranker.rank("Which number is larger than ten?", ["Seven.", "Twelve."])
    if ranking.unverified:
        return None, ranking.unverified[0].message, None
    return [one.text for one in ranking.best] == ["Twelve."], "", None


async def _assurance(model: Model, settings: Settings) -> _Found:
    task = as_task(_BILL)
    done = await challenge(
        task, as_proposal({"values": {"total": 31}}, task), METHODS["assurance"].open(model, settings)
    )
    [found] = done.units
    return (None, found.message, None) if isinstance(found, Unverified) else (found.challenged, "", None)


_TASKS: Mapping[str, Callable[[Model, Settings], Coroutine[Any, Any, _Found]]] = {
    "structured": _record,
    "checklist": _items,
    "holistic": _holistic,
    "blinded": _blinded,
    "generative": _rank,
    "assurance": _assurance,
}
"""A task of each method; "generative" is the mode of a ranking."""


def _trial_fields(one: Trial) -> dict[str, Any]:
    usage = {name: getattr(one.usage, name) for name in Usage.__slots__}
    return {"readable": one.right is not None, "right": one.right, "fault": one.fault or None, **usage}
