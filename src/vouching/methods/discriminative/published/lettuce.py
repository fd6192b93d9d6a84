# pyright: basic
"""LettuceDetect: a token classifier (ModernBERT, Ettin, EuroBERT) that marks the unsupported words of an answer.

As in its package (0.2.3, ``detectors/transformer.py``): the passages in its English prompt for questions or summaries,
paired with the answer; 4,096 tokens; passages that do not fit together are read in several groups, and the highest
probability of each token counts, so that every group has to support it. The score is 1 minus the probability of the
most suspicious token of the claim. Departures: a warning where several groups or a cut passage make the score
unreliable. Not supported: prompts in other languages, and the taxonomy head.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from vouching.errors import ConfigError
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.published.windowed import broken, cut_warnings
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Marked, Reads, Scored, ScoreOutcome
from vouching.models.batching import RowScores, Tensor, device_of, load_tokenizer, load_weights
from vouching.models.hub import local_folder
from vouching.prompts import Prompt, load_prompt
from vouching.search.history import screened
from vouching.types import Scale, Unverified, Usage, VerdictWarning

LIMIT = 4096
"""Tokens of an input."""
_SPECIAL = 3
"""Special tokens of a pair."""
_MARKED = 0.5
"""Probability from which a token is marked."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One group of passages with the answer, as tokens."""

    ids: tuple[int, ...]
    answer: list[tuple[int, int, int]]
    """Place in the row, and start and end in the answer, of each token of the answer."""
    cut: bool


class LettuceDetect:
    """A scorer from the folder of a model of LettuceDetect, or its name on the hub.

    Raises:
        ConfigError: weights of something else.
        MissingExtraError: torch or transformers is not installed.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None

    def __init__(self, path: str, *, device: str = "auto", limit: int = LIMIT) -> None:
        folder, place = local_folder(path), device_of(device)
        model, missing = load_weights("AutoModelForTokenClassification", folder)
        if missing or model.config.num_labels != 2:
            what = f"{min(missing)} is missing" if missing else f"it has {model.config.num_labels} labels, not 2"
            raise ConfigError(f"{folder} is not a model of LettuceDetect: {what}")
        self.name, self._limit = f"lettuce:{path}", limit
        self._tokenizer = load_tokenizer(folder)
        if not self._tokenizer.is_fast:
            raise ConfigError(f"{folder} has no tokenizer.json, which gives the places of tokens: download it again")
        model.to(place)

        def forward(ids: Tensor, mask: Tensor) -> Tensor:
            return model(input_ids=ids, attention_mask=mask).logits.softmax(dim=-1)[:, :, 1]

        self._rows = RowScores(forward, place, self._tokenizer.pad_token_id or 0)

    def digest(self, shown: Shown, question: bool = True) -> str:
        """The prompt for questions or the one for summaries."""
        return _prompt(question).digest

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The score of each with the marked spans; Unverified without passages."""
        started = time.perf_counter()
        read = [self._read(candidate) for candidate in candidates]
        numbers = iter(await self._rows.vectors([one.ids for group in read for one in group]))
        seconds = (time.perf_counter() - started) / max(1, len(candidates))
        outcomes: list[ScoreOutcome] = []
        for candidate, group in zip(candidates, read, strict=True):
            found = [*islice(numbers, len(group))]
            usage = Usage(seconds, sum(len(one.ids) for one in group), 0, len(group))
            outcomes.append(self._outcome(candidate, group, found, usage))
        return outcomes

    async def aclose(self) -> None:
        """Stop the thread of the model."""
        await self._rows.aclose()

    def _outcome(
        self, candidate: Candidate, group: Sequence[_Read], found: Sequence[Sequence[float]], usage: Usage
    ) -> ScoreOutcome:
        if not group or not group[0].answer:
            return Unverified(candidate.claim, "no_evidence", NO_EVIDENCE)
        columns = zip(
            *([row[place] for place, _, _ in one.answer] for one, row in zip(group, found, strict=True)), strict=False
        )
        highest = [max(column) for column in columns]
        if not all(map(math.isfinite, highest)):
            return broken(candidate, self.name)
        places = [(start, end) for _, start, end in group[0].answer]
        marked = tuple(_spans(candidate.claim.text, places, highest))
        warnings = cut_warnings(sum(one.cut for one in group))
        if len(group) > 1:
            message = (
                f"The sources were read in {len(group)} groups, and LettuceDetect requires support by each of them."
            )
            warnings = (*warnings, VerdictWarning("unread", message))
        return Scored(1.0 - max(highest), warnings, usage=usage, marked=marked)

    def _read(self, candidate: Candidate) -> list[_Read]:
        passages = [text for source in candidate.sources if (text := screened(source.text)).strip()]
        if not passages:
            return []
        groups = self._groups(passages, candidate.question, candidate.claim.text)
        return [self._row(_shown(group, candidate.question), candidate.claim.text) for group in groups]

    def _groups(self, passages: list[str], question: str, answer: str) -> list[list[str]]:
        """Passages that fit into the limit together with the prompt and the answer."""
        budget = self._limit - self._count(answer) - _SPECIAL
        room = budget - self._count(_shown([""], question))
        if room <= 0 or self._count(_shown(passages, question)) <= budget:
            return [passages]
        groups: list[list[str]] = [[]]
        used = 0
        for number, passage in enumerate(passages, 1):
            size = self._count(f"passage {number}: {passage}")
            if groups[-1] and used + size + 1 > room:
                groups.append([])
                used = 0
            used += size + bool(groups[-1])
            groups[-1].append(passage)
        return groups

    def _row(self, prompt: str, answer: str) -> _Read:
        whole = self._count(prompt) + self._count(answer) + _SPECIAL
        cut = whole > self._limit
        fits = self._count(answer) + _SPECIAL < self._limit
        strategy = ("only_first" if fits else "longest_first") if cut else False
        read = self._tokenizer(
            prompt, answer, truncation=strategy, max_length=self._limit if cut else None, return_offsets_mapping=True
        )
        places = enumerate(zip(read.sequence_ids(0), read["offset_mapping"], strict=True))
        found = [(place, start, end) for place, (side, (start, end)) in places if side == 1]
        return _Read(tuple(read["input_ids"]), found, cut)

    def _count(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _prompt(question: bool) -> Prompt:
    return load_prompt(f"{__package__}.prompts", "lettuce_question" if question else "lettuce_summary")


def _shown(passages: Sequence[str], question: str) -> str:
    listed = "\n".join(f"passage {number}: {passage}" for number, passage in enumerate(passages, 1))
    if question.strip():
        filled = _prompt(True).fill(question=question, number=str(len(passages)), passages=listed)
    else:
        filled = _prompt(False).fill(passages=listed)
    return filled.removesuffix("\n")


def _spans(answer: str, places: Sequence[tuple[int, int]], found: Sequence[float]) -> list[Marked]:
    """Runs of marked tokens, without white space at their ends."""
    spans: list[Marked] = []
    run: list[tuple[int, int, float]] = []
    for (start, end), probability in [*zip(places, found, strict=False), ((0, 1), 0.0)]:
        if start == end:
            continue
        if probability >= _MARKED:
            run.append((start, end, probability))
            continue
        if run:
            text = answer[run[0][0] : run[-1][1]]
            left = run[0][0] + len(text) - len(text.lstrip())
            if text.strip():
                spans.append(Marked(left, left + len(text.strip()), max(one[2] for one in run)))
        run = []
    return spans
