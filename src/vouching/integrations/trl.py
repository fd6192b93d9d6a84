"""Rewards for TRL's trainers (``GRPOTrainer``, ``RLOOTrainer``): columns of the data set in, one number per reply out.

    from vouching.integrations.trl import trl_reward
    trainer = GRPOTrainer(..., reward_funcs=[trl_reward("structured", variant="grounded")])

The data set has a column for each field that the method's reward reads; here ``gold``, ``claim`` and ``source``. Where
a judge failed the reward is None, which TRL leaves out of the group's mean and gives no advantage. Answers to a
question are rewarded by ``trl_ranking_reward``, which ranks those of a group together; ``trl_checklist_reward`` has
replies judged by a checklist, ``trl_blinded_reward`` audits them against their documents. Tried with TRL 1.16. Left
out: groups that several processes share; TRL passes each its own replies.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from vouching.errors import BackendError, ConfigError, InputError
from vouching.inputs import as_sources
from vouching.methods import METHODS
from vouching.methods.blinded.reward import PAPER as PAPER_BLINDED
from vouching.methods.blinded.reward import BlindedRules
from vouching.methods.blinded.reward import reply_reward as audited_reward
from vouching.methods.blinded.verify import BlindedVerifier
from vouching.methods.checklist.items import as_items, instruction_of
from vouching.methods.checklist.reward import PAPER, ChecklistRules, reply_reward
from vouching.methods.checklist.verify import ChecklistVerifier
from vouching.methods.discriminative.rank import Ranker
from vouching.methods.discriminative.reward import By, ranking_rewards
from vouching.methods.table import ReplyReward
from vouching.models.running import all_of, run
from vouching.types import Reward, Unverified

__all__ = ["TrlReward", "trl_blinded_reward", "trl_checklist_reward", "trl_ranking_reward", "trl_reward"]

TrlReward: TypeAlias = Callable[..., list[float | None]]
"""What ``reward_funcs`` takes."""


def trl_reward(method: str | ReplyReward, **settings: Any) -> TrlReward:
    """A function for ``reward_funcs`` that scores each reply as the game of a method does.

    With TRL's ``log_metric`` the mean of every part is logged as ``NAME/PART``, and the share of replies whose judge
    failed as ``NAME/unverified``, where NAME is the method's.

    Args:
        method: name of a method that rewards a reply by itself ("structured", "assurance"), or a function from a reply
            and its row to a reward.
        settings: of the method's reward; ``role`` says whose replies they are, for "assurance".

    Raises:
        ConfigError: a setting that there is not, or a method that needs a judge or the other replies (what to use
            instead is named); from the function made, InputError for a column that is missing.

    >>> reward = trl_reward("structured")
    >>> reward(prompts=["..."] * 2, completions=['{"label": "yes"}', "yes"], gold=["Attributable"] * 2)
    [0.395, 0.0]
    """
    score = METHODS[method].scorer(**settings) if isinstance(method, str) else method
    name = method if isinstance(method, str) else getattr(method, "__name__", "reward")

    def reward(
        *, completions: Sequence[object], log_metric: Callable[[str, float], None] | None = None, **columns: Any
    ) -> list[float | None]:
        # Beside the columns TRL passes things of its own, such as the trainer's state.
        lists = {key: cast("list[Any]", values) for key, values in columns.items() if isinstance(values, list)}
        rows = [{key: values[at] for key, values in lists.items()} for at in range(len(completions))]
        outcomes = [score(_text(completion), row) for completion, row in zip(completions, rows, strict=True)]
        return _totals(name, outcomes, log_metric)

    reward.__name__ = name
    return reward


def trl_ranking_reward(ranker: Ranker, by: By = "place") -> TrlReward:
    """A function for ``reward_funcs`` that ranks the answers to each question together, with one search for all.

    The data set has the column ``question`` and, if the ranker does not search, ``sources``. An answer without a word
    is the policy's own fault: place 0, probability 0, or the lowest score of its group. One that has no score, stands
    in a ranking that is none (``Ranking.invalid``), or whose judge was out of reach gets None. Metrics are those of
    :func:`trl_reward`, named ``ranking``.

    Args:
        ranker: ranks.
        by: what of the ranking is the reward; see :mod:`vouching.methods.discriminative.reward`.

    Raises:
        ConfigError: from the function made, no column ``question``.

    >>> from vouching.methods.discriminative.open import open_scorer
    >>> from vouching.methods.discriminative.rank import ScoringRanker
    >>> reward = trl_ranking_reward(ScoringRanker(open_scorer("embedded:rules")))
    >>> reward(completions=["In 1937.", "In 1973."], question=["When?"] * 2, sources=["It opened in 1973."] * 2)
    [0.0, 1.0]
    """

    def reward(
        *, completions: Sequence[object], log_metric: Callable[[str, float], None] | None = None, **columns: Any
    ) -> list[float | None]:
        if "question" not in columns:
            raise ConfigError(f"ranking needs 'question' of each row, got {[*columns]}")
        answers = [_text(completion) for completion in completions]
        groups: defaultdict[str, list[int]] = defaultdict(list)
        given = columns.get("sources") or [None] * len(answers)
        for place, (question, sources) in enumerate(zip(columns["question"], given, strict=True)):
            groups[repr((question, sources))].append(place)
        outcomes: dict[int, Reward | Unverified | None] = dict.fromkeys(range(len(answers)))
        for places in groups.values():
            said = [place for place in places if any(c.isalnum() for c in answers[place])]
            if not said:
                continue
            sources = given[said[0]]
            evidence = as_sources(sources) if sources else ()
            try:
                ranking = run(ranker.rank(columns["question"][said[0]], [answers[place] for place in said], evidence))
            except BackendError as error:
                logging.getLogger(__name__).warning("no reward for %d answers: %s", len(places), error)
                continue
            rewards = ranking_rewards(ranking, by)
            outcomes |= zip(said, rewards, strict=True)
            worst = _worst(rewards, by)
            outcomes |= {place: worst for place in places if place not in said}
        return _totals("ranking", [*outcomes.values()], log_metric)

    reward.__name__ = "ranking"
    return reward


def trl_checklist_reward(verifier: ChecklistVerifier, rules: ChecklistRules = PAPER) -> TrlReward:
    """A function for ``reward_funcs`` that has each reply judged by a checklist, all replies of a step at once.

    The data set has the column ``checklist`` (questions, or mappings with text, rule and arguments), unless the
    verifier has one, or judges as a whole; TRL passes the prompts. A reply without a word earns 0. Metrics are those of
    :func:`trl_reward`, named ``checklist``.

    Args:
        verifier: judges; of its settings the threshold and the aggregator give way to those of ``rules``.
        rules: how votes become rewards.

    >>> from vouching.models import ScriptedModel
    >>> from vouching.methods.checklist.verify import ChecklistVerifier
    >>> judge = ChecklistVerifier(ScriptedModel({"Is it a bridge?": "yes", "Is it in Japan?": "no"}))
    >>> reward = trl_checklist_reward(judge)
    >>> asked, items = ["Name a Japanese bridge."], [["Is it a bridge?", "Is it in Japan?"]]
    >>> reward(prompts=asked, completions=["Tower Bridge."], checklist=items)  # beta = .5, and one of two items
    [0.25]
    """

    async def judge_all(replies: Sequence[str], columns: Mapping[str, Any]) -> list[Reward | Unverified]:
        lists = columns.get("checklist") or [None] * len(replies)
        return await all_of(
            reply_reward(
                verifier, instruction_of({"prompt": prompt}), reply, None if items is None else as_items(items), rules
            )
            for prompt, reply, items in zip(columns["prompts"], replies, lists, strict=True)
        )

    def reward(
        *, completions: Sequence[object], log_metric: Callable[[str, float], None] | None = None, **columns: Any
    ) -> list[float | None]:
        outcomes = run(judge_all([_text(completion) for completion in completions], columns))
        return _totals("checklist", outcomes, log_metric)

    reward.__name__ = "checklist"
    return reward


def trl_blinded_reward(verifier: BlindedVerifier, rules: BlindedRules = PAPER_BLINDED) -> TrlReward:
    """A function for ``reward_funcs`` that audits each reply blind against its documents, a whole step at once.

    The data set has the column ``sources``. A reply without a word earns what a single fault earns: nothing was
    answered. Metrics are those of :func:`trl_reward`, named ``blinded``; ``questions`` among them, which tells early
    of a policy that learns to be asked less.

    Args:
        verifier: audits; the comparison of answers is its own.
        rules: how an audit becomes a reward.

    Raises:
        ConfigError: from the function made, no column ``sources``.

    >>> from vouching.methods.blinded.verify import open_blinded
    >>> reward = trl_blinded_reward(open_blinded())
    >>> reward(completions=["It has 2 towers.", "It has 3 towers."], sources=["The bridge has three towers."] * 2)
    [-1.0, 0.0]
    """

    async def audit_all(replies: Sequence[str], sources: Sequence[Any]) -> list[Reward | Unverified]:
        documents = map(as_sources, sources)
        return await all_of(audited_reward(verifier, *one, rules) for one in zip(replies, documents, strict=True))

    def reward(
        *, completions: Sequence[object], log_metric: Callable[[str, float], None] | None = None, **columns: Any
    ) -> list[float | None]:
        if "sources" not in columns:
            raise ConfigError(f"a blinded audit needs 'sources' of each row, got {[*columns]}")
        outcomes = run(audit_all([_text(completion) for completion in completions], columns["sources"]))
        return _totals("blinded", outcomes, log_metric)

    reward.__name__ = "blinded"
    return reward


def _worst(rewards: Sequence[Reward | Unverified], by: By) -> Reward | None:
    """What an answer without a word gets in its group; None if nothing else has a reward."""
    scored = [one for one in rewards if isinstance(one, Reward)]
    if not scored:
        return None
    lowest = {part: min(one.parts[part] for one in scored) for part in scored[0].parts}
    parts = {part: lowest[part] if part == "score" else 0.0 for part in lowest}
    return Reward(parts[by], parts)


def _totals(
    name: str, outcomes: Sequence[Reward | Unverified | None], log_metric: Callable[[str, float], None] | None
) -> list[float | None]:
    """The rewards as TRL takes them; the parts are logged."""
    scored = [outcome for outcome in outcomes if isinstance(outcome, Reward)]
    if log_metric is not None:
        log_metric(f"{name}/unverified", 1 - len(scored) / len(outcomes))
        for part in scored[0].parts if scored else ():
            log_metric(f"{name}/{part}", sum(one.parts[part] for one in scored) / len(scored))
    return [outcome.total if isinstance(outcome, Reward) else None for outcome in outcomes]


def _text(completion: Any) -> str:
    """The reply of a completion: itself, or the content of its last message."""
    content: Any = completion if isinstance(completion, str) else completion[-1]["content"] if completion else None
    if isinstance(content, list):  # of several kinds of content only the text was written by the policy
        parts = cast("list[dict[str, Any]]", content)
        return "".join(part.get("text", "") for part in parts)
    if not isinstance(content, str):
        raise InputError(f"a completion is {completion!r:.80}, wanted text, or messages that end in one")
    return content
