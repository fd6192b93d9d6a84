"""Published verifiers that are language models: Bespoke-MiniCheck-7B, Granite Guardian 3.3, Lynx and FaithLens.

Each is asked by its own prompt and read as its authors read it (``FORMS``); the best window counts. Sources:
github.com/Liyan06/MiniCheck ``LLMCheck``; ibm-granite/granite-guardian ``evaluation/models``, without thinking; the
model card of PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct; S1s-Z/FaithLens, where each sentence of the claim is asked
for and all must be supported. The probabilities of Yes and No need a server that returns ``top_logprobs``; without
them, and from Lynx and FaithLens, the score is 1 or 0. Departures: windows are measured in characters, since a server
does not count tokens, and a reply without a verdict is Unverified; the authors count it as not supported. Not
supported: Granite Guardian 3.0 - 3.2, which require a role "context", and 4.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any, cast

from vouching.errors import ConfigError
from vouching.judging.ask import ReplyError, Unread, ask
from vouching.judging.repairing import repaired_json
from vouching.judging.windows import windows
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.published.cutting import sentences
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Reads, Scored, ScoreOutcome
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.models.running import all_of
from vouching.prompts import load_prompt
from vouching.search.history import screened
from vouching.types import Scale, Unverified, VerdictWarning, total_usage

_PROMPTS = f"{__package__}.prompts"
_NO_PROBABILITY = "The model gave a verdict without a probability: the score is 1 or 0."


@dataclass(frozen=True, slots=True)
class Answered:
    """What one reply says."""

    probability: float
    """Of support, in [0, 1]."""
    reason: str = ""
    """The model's reason, if it gives one."""
    is_label: bool = False
    """Whether the probability is only 1 or 0, by the label."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a published language model is asked and read."""

    messages: Callable[[str, str, str], list[Message]]
    """From a window, a claim and the question, which may be empty."""
    read: Callable[[Completion], Answered]
    """Raises ReplyError for a reply without a verdict."""
    sampling: Sampling
    top: int = 0
    """How many of the likeliest tokens are needed of each place."""
    window: int = 90_000
    """Characters of a window: about 30,000 tokens."""
    splits_claim: bool = False
    """Whether each sentence of the claim is asked for, and the lowest counts."""
    template: Callable[[str], dict[str, Any]] | None = None
    """Arguments of the model's chat template for a window."""


class ServedScorer:
    """A scorer on a published language model.

    Args:
        kind: one of ``FORMS``.
        model: where it runs.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, kind: str, model: Model) -> None:
        if kind not in FORMS:
            raise ConfigError(f"{kind} is not a served verifier; expected one of {', '.join(FORMS)}")
        self.name, self._kind, self._model, self._form = f"{kind}:{model.name}", kind, model, FORMS[kind]

    def digest(self, shown: Shown, question: bool = True) -> str:
        """It has one form, but Lynx is shown the question."""
        return f"{self._kind} question" if question and self._kind == "lynx" else self._kind

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The probability of each, with the model's reason; Unverified without passages or without a verdict.

        Raises ModelError if the model is out of reach, and the same call may succeed later.
        """
        return await all_of(self._score(candidate) for candidate in candidates)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()

    async def _score(self, candidate: Candidate) -> ScoreOutcome:
        started = time.perf_counter()
        text = "\n".join(screened(source.text) for source in candidate.sources)
        shown = [text] if len(text) <= self._form.window else [*windows(text, self._form.window, len)]
        if not text.strip():
            return Unverified(candidate.claim, "no_evidence", NO_EVIDENCE)
        claim = candidate.claim.text
        parts = (sentences(claim) or [claim]) if self._form.splits_claim else [claim]
        spent: list[Completion] = []
        asked = [(window, part) for part in parts for window in shown]
        found = await all_of(self._ask(window, part, candidate.question, spent) for window, part in asked)
        usage = replace(total_usage(spent), seconds=time.perf_counter() - started)
        answers: list[Answered] = []
        for one in found:
            if isinstance(one, Unread):
                return replace(one.unverified(candidate.claim, f"{self.name} gave no verdict: {{}}"), usage=usage)
            answers.append(one)
        count = len(shown)
        best = [max(answers[at : at + count], key=lambda one: one.probability) for at in range(0, len(answers), count)]
        lowest = min(best, key=lambda one: one.probability)
        notes = (VerdictWarning("uncalibrated", _NO_PROBABILITY),) if lowest.is_label else ()
        return Scored(lowest.probability, notes, usage=usage, reason=lowest.reason)

    async def _ask(self, window: str, claim: str, question: str, spent: list[Completion]) -> Answered | Unread:
        template = self._form.template
        extra: dict[str, Any] = {"chat_template_kwargs": template(window)} if template else {}
        top = self._form.top
        sampling = replace(self._form.sampling, logprobs=top > 0, top_logprobs=top, extra=extra)
        messages = self._form.messages(window, claim, question)
        [answer] = await ask(self._model, messages, sampling, lambda replies: self._form.read(replies[-1]), spent=spent)
        return answer


def read_minicheck(reply: Completion) -> Answered:
    """The sum of the probabilities of "yes" in any case among the five likeliest first tokens.

    >>> from vouching.types import Usage
    >>> step = {"Yes": -0.2231435513142097, "yes": -2.302585092994046, " No": -3.0}  # .8, .1 and .05
    >>> round(read_minicheck(Completion("Yes", "length", Usage(), alternatives=(step,))).probability, 6)
    0.9
    """
    if reply.alternatives:
        return Answered(sum(exp(value) for text, value in reply.alternatives[0].items() if text.lower() == "yes"))
    word = _first_word(reply.text)
    if word not in ("yes", "no"):
        raise ReplyError(f"expected Yes or No, got {reply.text[:40]!r}")
    if reply.logprobs:
        chosen = exp(reply.logprobs[0])
        return Answered(chosen if word == "yes" else 1.0 - chosen)
    return Answered(float(word == "yes"), is_label=True)


_SCORE = re.compile(r"<score>(.*?)</score>", re.DOTALL)


def read_granite(reply: Completion) -> Answered:
    """1 minus the share of "yes", which means a risk, in the probability of all yes and no at all places.

    >>> from vouching.types import Usage
    >>> steps = ({"<score>": 0.0}, {" no": -0.2231435513142097, " yes": -1.6094379124341003})  # .8 and .2
    >>> round(read_granite(Completion("<score> no </score>", "stop", Usage(), alternatives=steps)).probability, 6)
    0.8
    """
    found = _SCORE.search(reply.text)
    said = found[1].lower() if found else ""
    if "yes" not in said and "no" not in said:
        raise ReplyError(f"expected <score> yes </score> or <score> no </score>, got {reply.text[:60]!r}")
    if not reply.alternatives:
        return Answered(float("yes" not in said), is_label=True)
    risk = {"yes": 1e-50, "no": 1e-50}
    for step in reply.alternatives:
        for text, value in step.items():
            if (word := text.strip().lower()) in risk:
                risk[word] += exp(value)
    return Answered(risk["no"] / (risk["yes"] + risk["no"]))


_PASS = re.compile(r"[\"']?SCORE[\"']?\s*:\s*[\"']?(PASS|FAIL)\b")


def read_lynx(reply: Completion) -> Answered:
    """PASS or FAIL, with the reasoning.

    >>> from vouching.types import Usage
    >>> read_lynx(Completion('{"REASONING": ["The year differs."], "SCORE": "FAIL"}', "stop", Usage()))
    Answered(probability=0.0, reason='The year differs.', is_label=True)
    """
    found = _PASS.findall(reply.text)
    if not found:
        raise ReplyError(f'expected "SCORE": "PASS" or "FAIL", got {reply.text[-60:]!r}')
    fields = repaired_json(reply.text)
    why = cast("dict[str, Any]", fields).get("REASONING", "") if isinstance(fields, dict) else ""
    points = cast("list[Any]", why) if isinstance(why, list) else [why]
    return Answered(float(found[-1] == "PASS"), " ".join(map(str, points)), is_label=True)


_ANSWER, _REASON = (re.compile(rf"<{tag}>(.*?)</{tag}>", re.DOTALL | re.IGNORECASE) for tag in ("answer", "reason"))


def read_faithlens(reply: Completion) -> Answered:
    """Yes or No in <answer>, with the text in <reason>; thoughts are skipped.

    >>> from vouching.types import Usage
    >>> text = "<think>No?</think><reason>The year agrees.</reason><answer> Yes </answer>"
    >>> read_faithlens(Completion(text, "stop", Usage()))
    Answered(probability=1.0, reason='The year agrees.', is_label=True)
    """
    text = spoken(reply.text)
    answer, reason = _ANSWER.search(text), _REASON.search(text)
    word = answer[1].strip().lower() if answer else ""
    if word not in ("yes", "no"):
        raise ReplyError(f"expected <answer> Yes </answer> or No, got {text[-60:].strip()!r}")
    return Answered(float(word == "yes"), reason[1].strip() if reason else "", is_label=True)


def _first_word(text: str) -> str:
    found = re.search(r"\w+", text)
    return found[0].lower() if found else ""


def _minicheck(window: str, claim: str, question: str) -> list[Message]:
    asked = load_prompt(_PROMPTS, "minicheck").fill(document=window, claim=claim).removesuffix("\n")
    return [Message("system", load_prompt(_PROMPTS, "minicheck_system").text.strip()), Message("user", asked)]


def _granite(window: str, claim: str, question: str) -> list[Message]:
    asked = [Message("user", question)] if question.strip() else []
    return [*asked, Message("assistant", claim)]


def _granite_template(window: str) -> dict[str, Any]:
    documents = [{"doc_id": "0", "text": window}]
    return {"guardian_config": {"criteria_id": "groundedness"}, "documents": documents, "think": False}


def _lynx(window: str, claim: str, question: str) -> list[Message]:
    return [Message("user", load_prompt(_PROMPTS, "lynx").fill(question=question, document=window, claim=claim))]


def _faithlens(window: str, claim: str, question: str) -> list[Message]:
    return [Message("user", load_prompt(_PROMPTS, "faithlens").fill(document=window, claim=claim))]


FORMS = {
    "minicheck": Form(_minicheck, read_minicheck, Sampling(max_tokens=1), top=5),
    "granite-guardian": Form(_granite, read_granite, Sampling(max_tokens=64), top=20, template=_granite_template),
    "lynx": Form(_lynx, read_lynx, Sampling(max_tokens=600), window=20_000),
    "faithlens": Form(
        _faithlens, read_faithlens, Sampling(max_tokens=8192, temperature=0.6, seed=2024), splits_claim=True
    ),
}
"""By kind. Lynx was trained on 8,000 tokens."""
