"""Pairs of answers in DiVA's five steps: answer, mark, sample, compare, search (section 3.2).

Answers come with a question, from language models, or are made (``rank_candidates``); a judge marks those without a
mark. Of all pairs in which one is better, some are drawn; a judge confirms each. The answers share one search, whose
result is compressed for each of them. What is rejected is kept, with the reason. Left out: balancing labels.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, TypeAlias

from vouching.errors import InputError, ModelError, SearchError
from vouching.methods.discriminative.input import Compress, Find, gather
from vouching.models.running import all_of
from vouching.search.history import history_text
from vouching.train.rank_judge import Judge
from vouching.train.rank_rows import WORTH, Candidate, RankQuestion
from vouching.types import Compression

Propose: TypeAlias = Callable[[RankQuestion, random.Random], Awaitable[list[Candidate]]]
"""Gives answers to a question."""
Line: TypeAlias = dict[str, Any]
"""What became of a question, as JSON."""
NOTHING_BETTER = "no answer is better than another"


@dataclass(frozen=True, slots=True)
class PairMaker:
    """Makes the pairs of one question after the other.

    >>> import asyncio
    >>> from vouching.train.rank_candidates import made_candidates
    >>> from vouching.train.rank_rows import question_of
    >>> async def propose(asked, rng):
    ...     return made_candidates(asked, 1, rng)
    >>> asked = question_of({"question": "Is Ulm in France?", "reference": "no"}, "q", "")
    >>> line = asyncio.run(PairMaker(propose).make(asked))
    >>> [(pair["better"]["answer"].lower(), pair["worse"]["answer"].lower()) for pair in pairs_in(line)]
    [('no.', 'yes.')]
    """

    propose: Propose
    """Gives answers; called for questions that come with none."""
    judge: Judge | None = None
    """Marks answers and confirms pairs; None takes only answers that are marked, and every pair."""
    find: Find | None = None
    """Searches; None takes the paragraphs of a question as what was found."""
    compress: Compress | None = None
    """Makes a search short for an answer; None leaves facts and reasoning out."""
    most: int = 6
    """Pairs of a question, at most."""
    seed: int = 0
    """Of all chance."""

    async def make(self, asked: RankQuestion) -> Line:
        """The answers, pairs and evidence of a question.

        Raises:
            ModelError, SearchError: a model or every engine is out of reach; the same call may succeed later.
        """
        rng = random.Random(f"{self.seed} {asked.question}")
        candidates = [*asked.candidates] or await self.propose(asked, rng)
        marked, faults = await self._marked(asked, candidates)
        ordered = [
            (better, worse)
            for better, worse in permutations(range(len(marked)), 2)
            if (one := marked[better].label) and (other := marked[worse].label) and WORTH[one] > WORTH[other]
        ]
        drawn = sorted(rng.sample(ordered, min(self.most, len(ordered))))
        against = await all_of(self._against(asked, marked[i].answer, marked[j].answer) for i, j in drawn)
        kept = sorted({i for pair, fault in zip(drawn, against, strict=True) if fault is None for i in pair})
        evidence, history = await self._evidence(asked, {i: marked[i].answer for i in kept})
        lacking = {i: f"its evidence was not compressed: {why}" for i, why in evidence.items() if isinstance(why, str)}
        against = [
            fault or next((lacking[i] for i in pair if i in lacking), None)
            for pair, fault in zip(drawn, against, strict=True)
        ]
        return {
            "id": asked.id, "set": asked.set, "question": asked.question, "reference": asked.references[0],
            "answers": [
                {
                    "answer": one.answer, "by": one.by, "label": one.label, "fault": faults.get(i, lacking.get(i)),
                    **(found if isinstance(found := evidence.get(i), dict) else {}),
                }
                for i, one in enumerate(marked)
            ],
            "judged": sum(one.label is None for one in candidates),
            "pairs": [[i, j, fault] for (i, j), fault in zip(drawn, against, strict=True)],
            "confirming": self.judge is not None, "history": history,
        }  # fmt: skip

    async def _marked(
        self, asked: RankQuestion, candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], dict[int, str]]:
        """The candidates with their labels, and why some have none."""
        unmarked = [i for i, one in enumerate(candidates) if one.label is None]
        if unmarked and self.judge is None:
            raise InputError("its answers have no labels: name a judge (--judge), or give labels")
        marks = await all_of(self.judge.mark(asked, candidates[i].answer) for i in unmarked) if self.judge else []
        found, faults = [*candidates], dict[int, str]()
        for i, (label, fault) in zip(unmarked, marks, strict=True):
            found[i] = replace(candidates[i], label=label)
            if fault is not None:
                faults[i] = fault
        return found, faults

    async def _against(self, asked: RankQuestion, better: str, worse: str) -> str | None:
        return None if self.judge is None else await self.judge.confirm(asked, better, worse)

    async def _evidence(
        self, asked: RankQuestion, answers: Mapping[int, str]
    ) -> tuple[dict[int, dict[str, Any] | str], str]:
        """Facts and reasoning for each answer, or why there are none; and the whole search."""
        if not answers:
            return {}, ""
        shown = [*answers.values()]
        searched = await gather(asked.question, shown, () if self.find else asked.sources, self.find)
        if searched.ended == "failed" and not searched.passages:
            raise SearchError(
                f"the search for {asked.question!r} failed: {next(iter(searched.errors), 'nobody said why')}"
            )
        compress = self.compress
        if compress is None or not searched.passages:
            return {}, history_text(searched)

        async def compressed(answer: str) -> dict[str, Any] | str:
            try:
                made: Compression = await compress(searched, answer)
            except ModelError as error:
                if error.can_retry:
                    raise
                return str(error)
            return {"facts": [*made.facts], "reasoning": made.reasoning}

        evidence = await all_of(compressed(answer) for answer in shown)
        return dict(zip(answers, evidence, strict=True)), history_text(searched)


def pairs_in(line: Line) -> Iterator[dict[str, Any]]:
    """The pairs of a question that were kept, as rows of training (``rank_rows``)."""
    for number, (better, worse, fault) in enumerate(line["pairs"], 1):
        if fault is None:
            yield {
                "id": f"{line['id']}/{number}", "set": line["set"], "group": line["id"], "question": line["question"],
                "better": _side(line["answers"][better]), "worse": _side(line["answers"][worse]),
                "history": line["history"],
            }  # fmt: skip


def preferences_in(line: Line) -> Iterator[dict[str, Any]]:
    """The same pairs as TRL's ``DPOTrainer`` reads them: the question, the better answer, the worse."""
    for pair in pairs_in(line):
        sides = {"chosen": pair["better"]["answer"], "rejected": pair["worse"]["answer"]}
        yield {"id": pair["id"], "prompt": pair["question"], **sides}


def rejects_in(line: Line) -> Iterator[dict[str, Any]]:
    """What was rejected: answers without a label, pairs that the judge did not confirm, a question without a pair."""
    about = {"id": line["id"], "question": line["question"], "reference": line["reference"]}
    for one in line["answers"]:
        if one["fault"] is not None:
            yield {**about, "answer": one["answer"], "by": one["by"], "fault": one["fault"]}
    for better, worse, fault in line["pairs"]:
        if fault is not None:
            yield {**about, **{side: _side(line["answers"][i]) for side, i in (("better", better), ("worse", worse))},
                   "fault": fault}  # fmt: skip
    if not line["pairs"]:
        yield {**about, "answers": [_side(one) for one in line["answers"]], "fault": NOTHING_BETTER}


def _side(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: answer[key] for key in ("answer", "label", "by", "facts", "reasoning") if answer.get(key) is not None}
