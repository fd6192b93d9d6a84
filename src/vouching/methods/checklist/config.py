"""Settings of the checklist game, with Soft-SVeRL's published defaults, J = 3 (section 6.2).

Not supported: a token limit for verifier answers that differs from that of responses (``sampling.completion_tokens``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.inputs import check_text
from vouching.judging.votes import Aggregate
from vouching.methods.checklist.game import ChecklistGame, Labelled, Replay, RulesAlone, task_of
from vouching.methods.checklist.gold import KnownTexts, forbidden_prompts
from vouching.methods.checklist.items import instruction_of, items_json
from vouching.methods.checklist.prompt import item_messages
from vouching.methods.checklist.reward import ChecklistRules
from vouching.methods.checklist.self_game import SelfVerification, SelfVerifyGame
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier, open_checklist
from vouching.methods.read import read_files
from vouching.methods.training import GrpoConfig, Plan, require
from vouching.prompts import Wording, check_wording
from vouching.rows.read import with_unique_ids
from vouching.rules.verify import named_items
from vouching.types.visible import shown_json, shown_keys

Items: TypeAlias = Literal["rows", "metadata", "rules"]
"""Where items come from, as in Soft-RLVR's Fig. 3: the ``checklist`` of a row, or else its rules in words; its rules
(``instruction_id_list``) in words for the judge; or its rules, which decide by themselves.
"""


@dataclass(frozen=True, slots=True)
class ChecklistSettings:
    """Who judges, how votes become rewards, and what the policy learns besides its task."""

    judge: str = ""
    """Model that judges, such as http://host:8000/v1#name; empty for the policy itself."""
    holistic: bool = False
    """Whether an outside judge is asked about the whole response instead of item by item."""
    judge_tokens: int = 1024
    """Token limit of the judge's answers; reasoning models need more."""
    votes: int = 3
    """J: answers to each item."""
    aggregate: Aggregate = "threshold"
    """How the votes on an item become a judgment."""
    tau: float = 0.75
    """tau_plus: share of yes votes from which an item passes, and is replayed as a yes."""
    tau_minus: float = 0.375
    """Share of yes votes up to which an item is replayed as a no."""
    beta: float = 0.5
    """Weight of the soft score where not all items pass; not published."""
    lambda_v: float = 1.0
    """Weight of the verifier's loss; not published. 0 turns it off."""
    lambda_p: float = 0.1
    """Weight of the penalty on yes for failed responses; 0 turns it off."""
    gold: tuple[str, ...] = ()
    """Files of labelled items, as ``vouch data gold`` writes them."""
    anchor: Literal["gold", "rules"] = "gold"
    """What holds the judge: labelled items of ``gold``, or, without any, the items of the rows that a rule decides, on
    the policy's own responses. Not in the paper, which needs gold."""
    gold_share: float = 0.5
    """Share of training items drawn from the gold; the others are replayed. Not published."""
    union: bool = False
    """Whether they are drawn from gold and replayed items alike, as Algorithm 1 prints it, whatever ``gold_share``."""
    replay: int = 4096
    """Capacity of the replay buffer, newest items first; 0 learns from gold alone. Not published."""
    wording: Wording = "ours"
    """Prompt for an item: ours, or as the paper prints it (App. A.3.1)."""
    items: Items = "rows"
    """The items of a row: its checklist ("rows"), its rules in words ("metadata"), or its rules as the judge ("rules",
    the paper's exact rewards, which need no model)."""
    evaluation: tuple[str, ...] = ()
    """Files of evaluation prompts: a training row that overlaps with one of them is refused."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a value out of range or settings that contradict each other."""
        require(self, above=("judge_tokens", "votes"), at_least=("lambda_v", "lambda_p", "replay"))
        check_wording(self.wording)
        _ = self.rules
        if self.items not in get_args(Items):
            raise ConfigError(f"checklist.items must be one of {', '.join(get_args(Items))}, got {self.items!r}")
        if self.items == "rules" and (self.judge or self.gold or self.holistic):
            raise ConfigError(
                'checklist.items="rules" needs no judge and no gold: set judge="", gold=[], holistic=false'
            )
        if not 0 <= self.gold_share <= 1:
            raise ConfigError(f"gold_share must be in [0, 1], got {self.gold_share}")
        if self.judge and self.gold:
            raise ConfigError(
                f"gold cannot be used with the judge {self.judge!r}, which is not trained: remove judge or gold"
            )
        if self.holistic and not self.judge:
            raise ConfigError(
                "holistic requires a judge, because a policy that judges itself judges single items: set judge, or "
                "holistic=false"
            )
        if self.anchor == "rules" and (self.gold or self.judge or not self.replay):
            raise ConfigError('checklist.anchor="rules" has no gold and no judge, and needs replay above 0')
        if not (self.judge or self.gold or self.anchor == "rules") and self.lambda_v and self.items != "rules":
            raise ConfigError(
                "gold is empty, so the policy would learn to judge from its own answers alone: pass the output of "
                "vouch data gold, set checklist.lambda_v=0, or name a model in checklist.judge"
            )

    @property
    def rules(self) -> ChecklistRules:
        """How votes become rewards."""
        return ChecklistRules(self.tau, self.tau_minus, self.beta, self.aggregate)

    def outside(self, seed: int) -> ChecklistConfig:
        """How an outside judge is asked."""
        return ChecklistConfig(
            self.tau,
            self.votes,
            self.aggregate,
            seed=seed,
            max_tokens=self.judge_tokens,
            holistic=self.holistic,
            wording=self.wording,
        )


@dataclass(frozen=True, slots=True)
class ChecklistRunConfig(GrpoConfig):
    """Settings of a training run; ``rows`` are instructions with checklists."""

    checklist: ChecklistSettings = field(default_factory=ChecklistSettings)
    """Who judges and what is learned; there is no usable default: it needs gold, a judge or lambda_v = 0."""

    def plan(self) -> Plan:
        """Soft-RLVR with a judge, Soft-SVeRL where the policy judges itself.

        The best checkpoint is chosen by the rules that rows of ``dev`` name, if all rows do; otherwise by the reward,
        which a policy that judges itself may raise by growing lenient.
        """
        settings, size = self.checklist, self.sampling.group_size
        rows, dev = read_tasks(self.rows, settings.items, settings.evaluation), read_tasks(self.dev, settings.items)
        ruled = all(row.get("instruction_id_list") for row in dev)
        best_by = "oracle/rules" if ruled else "reward/generator/total"
        if settings.items == "rules":
            return Plan(ChecklistGame(ChecklistVerifier(RulesAlone()), size, settings.rules), rows, dev, best_by)
        if settings.judge:
            judge = open_checklist(settings.judge, settings.outside(self.seed))
            return Plan(ChecklistGame(judge, size, settings.rules), rows, dev, best_by, aclose=judge.aclose)
        gold = None if settings.anchor == "rules" else read_gold(settings.gold) if settings.lambda_v else []
        share = None if settings.union else settings.gold_share
        replay = Replay(gold, settings.replay, share, self.seed) if settings.lambda_v else None
        itself = SelfVerification(settings.votes, settings.lambda_v, settings.lambda_p, settings.rules)
        game = SelfVerifyGame(size, itself, replay, partial(item_messages, wording=settings.wording))
        return Plan(game, rows, dev, best_by)


def read_tasks(paths: Sequence[str], items: Items = "rows", evaluation: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Rows with an instruction, in order.

    Raises InputError for an unusable row, a repeated id, or an instruction that overlaps with an evaluation prompt.
    """
    rows = with_unique_ids(read_files(paths, partial(task_row, items=items), "prompt and checklist"))
    known = forbidden_prompts(evaluation) if evaluation else KnownTexts(())
    for row in rows:
        if found := known.find(instruction_of(row)):
            raise InputError(f"row {row['id']!r} overlaps with the evaluation prompt {found[:80]!r}: remove the row")
    return rows


def read_gold(paths: Sequence[str]) -> list[Labelled]:
    """Labelled items, in order. Raises InputError for a row without x, y, c and l, or no row at all."""
    return read_files(paths, gold_item, "x, y, c and l, as  vouch data gold  writes them")


def task_row(fields: Mapping[str, Any], name: str, items: Items = "rows") -> dict[str, Any]:
    """A row whose instruction, checklist and rules can be read."""
    ruled = () if items == "rows" else named_items(fields)
    made = {"checklist": items_json(ruled) if items == "rules" else [item.text for item in ruled]} if ruled else {}
    task_of(row := {**fields, **made, "id": name})
    return row


def gold_item(fields: Mapping[str, Any], name: str) -> Labelled:
    """A row as a labelled item."""
    if missing := [f'"{key}"' for key in "xycl" if key not in fields]:
        raise InputError(
            f'the row has no {", ".join(missing)}; expected "x", "y", "c" and "l", as  vouch data gold  '
            "writes them; " + shown_keys(fields)
        )
    x, y, c = (check_text(fields.get(key), f'"{key}"') for key in "xyc")
    if fields.get("l") not in (0, 1):
        raise InputError(f'"l" must be 1 or 0, got {shown_json(fields.get("l"))}: remove rows without a label')
    return Labelled(x, y, c, bool(fields["l"]))
