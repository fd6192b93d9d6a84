"""Rewards for TRL's trainers (``GRPOTrainer``, ``RLOOTrainer``): columns of the data set in, one number per reply out.

    from vouching.integrations.trl import trl_reward
    trainer = GRPOTrainer(..., reward_funcs=[trl_reward("structured", variant="grounded")])

The data set has a column for each field that the method's reward reads; here ``gold``, ``claim`` and ``source``. If a
judge failed, the reward is None: TRL excludes it from the group's mean and gives it no advantage.
``trl_ranking_reward`` ranks the answers of a group together, ``trl_checklist_reward`` judges replies by a checklist,
``trl_blinded_reward`` audits them against their documents. Tested with TRL 1.16. Not supported: groups that several
processes share; TRL passes each process its own replies. TRL's checkpoints do not have the state of a ``LabelScale``:
save it in a callback, and restore it before resuming.
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
from vouching.methods.structured.reward_scale import LabelScale
from vouching.methods.table import ReplyReward
from vouching.models.running import all_of, run
from vouching.types import Reward, Unverified
from vouching.types.visible import shown_json

__all__ = ["TrlReward", "trl_blinded_reward", "trl_checklist_reward", "trl_ranking_reward", "trl_reward"]

TrlReward: TypeAlias = Callable[..., list[float | None]]
"""A function for ``reward_funcs``."""


def trl_reward(method: str | ReplyReward, *, scale: LabelScale | None = None, **settings: Any) -> TrlReward:
    """A function for ``reward_funcs`` that scores each reply as the game of a method does.

    With TRL's ``log_metric`` the mean of every part is logged as ``NAME/PART``, and the share of replies whose judge
    failed as ``NAME/unverified``, where NAME is the method's.

    Args:
        method: name of a method that rewards a reply by itself ("structured", "assurance"), or a function from a reply
            and its row to a reward.
        scale: normalises the diagnosis of "structured" over the groups that TRL passes at once; see
            :meth:`~vouching.methods.structured.reward_scale.LabelScale.state_dict` for its state.
        settings: of the method's reward; for "assurance", ``role`` says whose replies they are.

    Raises:
        ConfigError: an unknown setting, or a method that needs a judge or the other replies.

    >>> reward = trl_reward("structured")
    >>> reward(prompts=["..."] * 2, completions=['{"label": "yes"}', "yes"], gold=["Attributable"] * 2)
    [0.395, 0.0]
    """
    score = METHODS[method].scorer(**settings) if isinstance(method, str) else method
    name = method if isinstance(method, str) else getattr(method, "__name__", "reward")
    if scale is not None and (name != "structured" or str(settings.get("variant")).startswith("binary")):
        raise ConfigError(f"scale can only be used with the process reward of structured, got {name} with {settings}")

    def scored(replies: Sequence[str], columns: Mapping[str, Any]) -> list[Reward | Unverified]:
        # Besides the columns TRL passes its own objects, such as the trainer's state.
        lists = {key: cast("list[Any]", values) for key, values in columns.items() if isinstance(values, list)}
        rows = [{key: values[at] for key, values in lists.items()} for at in range(len(replies))]
        outcomes = [score(reply, row) for reply, row in zip(replies, rows, strict=True)]
        if scale is None:
            return outcomes
        return [*scale.scaled(cast("list[Reward]", outcomes), [row["gold"] for row in rows])]

    return _reward(name, scored)


def trl_ranking_reward(ranker: Ranker, by: By = "place") -> TrlReward:
    """A function for ``reward_funcs`` that ranks the answers to each question together, with one search for all.

    The data set has the column ``question`` and, if the ranker does not search, ``sources``. An answer without a word
    is the policy's own fault: place 0, probability 0, or the lowest score of its group. One without a score, in an
    invalid ranking (``Ranking.invalid``), or whose judge was unavailable gets None. Metrics are those of
    :func:`trl_reward`, named ``ranking``. ``by`` is the part of the ranking that is the reward, see
    :mod:`vouching.methods.discriminative.reward`.

    >>> from vouching.methods.discriminative.open import open_scorer
    >>> from vouching.methods.discriminative.rank import ScoringRanker
    >>> reward = trl_ranking_reward(ScoringRanker(open_scorer("embedded:rules")))
    >>> reward(completions=["In 1937.", "In 1973."], question=["When?"] * 2, sources=["It opened in 1973."] * 2)
    [0.0, 1.0]
    """

    def ranked(answers: Sequence[str], columns: Mapping[str, Any]) -> list[Reward | Unverified | None]:
        if "question" not in columns:
            raise ConfigError(f'the ranking reward requires the column "question", got {", ".join(columns) or "none"}')
        groups: defaultdict[str, list[int]] = defaultdict(list)
        given = columns.get("sources") or [None] * len(answers)
        for place, (question, sources) in enumerate(zip(columns["question"], given, strict=True)):
            groups[repr((question, sources))].append(place)
        outcomes: dict[int, Reward | Unverified | None] = dict.fromkeys(range(len(answers)))
        for places in groups.values():
            stated = [place for place in places if any(c.isalnum() for c in answers[place])]
            if not stated:
                continue
            sources, question = given[stated[0]], columns["question"][stated[0]]
            evidence = as_sources(sources) if sources else ()
            try:
                ranking = run(ranker.rank(question, [answers[place] for place in stated], evidence))
            except BackendError as error:
                logging.getLogger(__name__).warning("no reward for %d answers: %s", len(places), error)
                continue
            rewards = ranking_rewards(ranking, by)
            outcomes |= zip(stated, rewards, strict=True)
            worst = _worst(rewards, by)
            outcomes |= {place: worst for place in places if place not in stated}
        return [*outcomes.values()]

    return _reward("ranking", ranked)


def trl_checklist_reward(verifier: ChecklistVerifier, rules: ChecklistRules = PAPER) -> TrlReward:
    """A function for ``reward_funcs`` that judges each reply by a checklist, all replies of a step concurrently.

    The data set has the column ``checklist`` (questions, or mappings with text, rule and arguments), unless the
    verifier has one, or judges holistically; TRL passes the prompts. A reply without a word earns 0. Threshold and
    aggregator are those of ``rules``, not of the verifier. Metrics are those of :func:`trl_reward`, named
    ``checklist``.

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

    return _reward("checklist", lambda replies, columns: run(judge_all(replies, columns)))


def trl_blinded_reward(verifier: BlindedVerifier, rules: BlindedRules = PAPER_BLINDED) -> TrlReward:
    """A function for ``reward_funcs`` that audits each reply blind against its documents, a step concurrently.

    The data set has the column ``sources``. A reply without a word earns what a single fault earns: nothing was
    answered. Metrics are those of :func:`trl_reward`, named ``blinded``; ``questions`` shows early if a policy learns
    to be asked less. Answers are compared by the settings of the verifier.

    >>> from vouching.methods.blinded.verify import open_blinded
    >>> reward = trl_blinded_reward(open_blinded())
    >>> reward(completions=["It has 2 towers.", "It has 3 towers."], sources=["The bridge has three towers."] * 2)
    [-1.0, 0.0]
    """

    async def audit_all(replies: Sequence[str], columns: Mapping[str, Any]) -> list[Reward | Unverified]:
        if "sources" not in columns:
            raise ConfigError(f'the blinded reward requires the column "sources", got {", ".join(columns) or "none"}')
        documents = map(as_sources, columns["sources"])
        return await all_of(audited_reward(verifier, *one, rules) for one in zip(replies, documents, strict=True))

    return _reward("blinded", lambda replies, columns: run(audit_all(replies, columns)))


def _reward(
    name: str, score: Callable[[Sequence[str], Mapping[str, Any]], Sequence[Reward | Unverified | None]]
) -> TrlReward:
    """The function for TRL that scores all replies of a step and logs the parts of their rewards."""

    def reward(
        *, completions: Sequence[object], log_metric: Callable[[str, float], None] | None = None, **columns: Any
    ) -> list[float | None]:
        outcomes = score([_text(completion) for completion in completions], columns)
        scored = [outcome for outcome in outcomes if isinstance(outcome, Reward)]
        if log_metric is not None:
            log_metric(f"{name}/unverified", 1 - len(scored) / len(outcomes))
            for part in scored[0].parts if scored else ():
                log_metric(f"{name}/{part}", sum(one.parts[part] for one in scored) / len(scored))
        return [outcome.total if isinstance(outcome, Reward) else None for outcome in outcomes]

    reward.__name__ = name
    return reward


def _worst(rewards: Sequence[Reward | Unverified], by: By) -> Reward | None:
    """The reward of an answer without a word in its group; None if no other has a reward."""
    scored = [one for one in rewards if isinstance(one, Reward)]
    if not scored:
        return None
    lowest = {part: min(one.parts[part] for one in scored) for part in scored[0].parts}
    parts = {part: lowest[part] if part == "score" else 0.0 for part in lowest}
    return Reward(parts[by], parts)


def _text(completion: Any) -> str:
    """The reply of a completion: itself, or the content of its last message."""
    content: Any = completion if isinstance(completion, str) else completion[-1]["content"] if completion else None
    if isinstance(content, list):  # only the text was written by the policy
        parts = cast("list[dict[str, Any]]", content)
        return "".join(part.get("text", "") for part in parts)
    if not isinstance(content, str):
        raise InputError(
            f"a completion must be a string, or messages that end with one, got {shown_json(completion, 80)}"
        )
    return content
