"""Rewards of games in the part "rewards" of benchmarks/same_behaviour.py: blinded, checklist and assurance.

Each is computed directly and by a whole game in which a script speaks for all roles. In the plain blocks of blinded
pairs every question asks for a number that the response states, each number once, and no direction is in play.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import Any, get_args
from zlib import crc32

from same_items import Item, blocks, played, reward, some

from tests.train.assurance_runs import task_row
from vouching.integrations.verl import assurance_score
from vouching.judging.matching import Match, rule
from vouching.judging.values import find_numbers
from vouching.judging.votes import Aggregate
from vouching.methods import METHODS
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.reward import AssuranceCosts, Transition, action_rewards, reward_of_reply
from vouching.methods.assurance.reward import reward_of_row as unit_reward
from vouching.methods.base import ScriptedSampler
from vouching.methods.blinded.game import BlindedGame
from vouching.methods.blinded.reward import BlindedRules, Scale, outcome_reward, report_reward, reward_of_row
from vouching.methods.blinded.verify import open_blinded
from vouching.methods.checklist.game import ChecklistGame, Labelled, Replay
from vouching.methods.checklist.reward import (
    ChecklistRules,
    checklist_reward,
    holistic_reward,
    partition_rewards,
    replay_label,
    verifier_reward,
)
from vouching.methods.checklist.self_game import SelfVerification, SelfVerifyGame
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.train.advantages import pair_advantages
from vouching.types import Checked, Claim, Source, Unverified

THINGS = ("gates", "towers", "rooms", "sites", "bells", "lamps", "stairs", "doors")
VALUES = ("12", "7", "3.2 km", "5,000", "$1.2 million", "40 %", "1937", "0.05", "ten", "2 kg", "10k", "64 m", "1,001")
OTHERS = (
    "13",
    "8",
    "3200 m",
    "5 thousand",
    "1,200,000 dollars",
    "40%",
    "1973",
    "0.1",
    "10",
    "2,000 grams",
    "10,000",
    "about 65 m",
    "1001",
    "Cannot answer",
    "unknown",
    "",
    "between 5 and 10",
    "half",
    "no idea",
)
FOUND = re.compile(r"How (?:many|much) [a-z]+ of the [a-z]+\d* are there\?")
UNITS = (
    ({"id": "u", "type": "amount"}, 42, (42, 41, "$42.00", "42.00", "$1,234.50", None)),
    ({"id": "u", "type": "integer"}, 7, (7, 8, "7", 7.0, None)),
    ({"id": "u", "type": "boolean"}, True, (True, False, "yes", None)),
    ({"id": "u", "type": "choice", "choices": ["old", "new"]}, "old", ("old", "new", None)),
    ({"id": "u", "type": "text"}, "By train", ("By train", "by train", "By car", None)),
)
SAID = ("yes", "no", "Yes.", "No, it is not.", "unclear", "", "yes and no", "**yes**", "Answer: no", "maybe, yes")


def games() -> Iterator[Item]:
    """All blocks of the three methods."""
    yield from blocks("blinded/pairs", 24, asked)
    yield from blocks("blinded/rows", 6, lambda draw: row_reward(blinded_row(draw), rules_of(draw)))
    yield from blocks("blinded/game", 20, lambda draw: blinded_play(draw, "stated"), size=20)
    yield from blocks("blinded/unstated values to be repaired/rows", 2, unstated_row)
    yield from blocks("blinded/unstated values to be repaired/game", 5, lambda d: blinded_play(d, "unstated"), size=20)
    yield from blocks("blinded/directions to be repaired/pairs", 1, directed_pair)
    yield from blocks("blinded/directions to be repaired/game", 5, lambda d: blinded_play(d, "directed"), size=20)
    yield from blocks("blinded/directions to be repaired/audit", 2, directed_audit, size=20)
    yield from blocks("checklist/votes", 16, voted)
    yield from blocks("checklist/rows", 4, lambda draw: votes_reward(votes_row(draw), checklist_rules(draw)))
    yield from blocks("checklist/verifier", 4, labelled)
    yield from blocks("checklist/game/judge", 10, judge_play, size=10)
    yield from blocks("checklist/game/self", 10, self_play, size=10)
    yield from blocks("assurance/pairs", 8, paired)
    yield from blocks("assurance/rows", 4, lambda draw: assurance_record(paired_row(draw), costs_of(draw)))
    yield from blocks("assurance/replies", 10, work_reply)
    yield from blocks("assurance/game", 10, assurance_play, size=10)


def rules_of(draw: Random) -> BlindedRules:
    """How an audit becomes a reward."""
    return BlindedRules(draw.choice(get_args(Scale)), draw.choice(get_args(Match)), draw.choice((0, 1, 3, 5)))


def response_of(draw: Random, values: Sequence[str]) -> str:
    """A response that states these values."""
    return " ".join(f"The {draw.choice(THINGS)} come to {value}." for value in values)


def pairs_of(draw: Random, answers: Sequence[str]) -> list[dict[str, Any]]:
    """Questions with these answers, and what each of some checkers says; one of twenty contains its answer."""
    voters, made = draw.choice((1, 2, 3, 3, 5)), list[dict[str, Any]]()
    for number, answer in enumerate(answers):
        at = VALUES.index(answer) if answer in VALUES else 0
        ways = (answer, answer, answer, OTHERS[at], OTHERS[at], None, draw.choice(OTHERS), draw.choice(VALUES))
        leak = f" Are there {answer}?" if draw.random() < 0.05 else ""
        question = f"How many {draw.choice(THINGS)} of the house{number} are there?{leak}"
        made.append({"question": question, "answer": answer, "checked": [draw.choice(ways) for _ in range(voters)]})
    return made


def stated_pairs(draw: Random) -> tuple[str, list[dict[str, Any]]]:
    """A response, and pairs about some of the numbers in it, each asked about once at most."""
    response = response_of(draw, draw.sample(VALUES, draw.randint(0, 6)))
    stated = [value.text for value in find_numbers(response)]
    return response, pairs_of(draw, draw.sample(stated, draw.randint(0, len(stated))))


def row_reward(row: dict[str, Any], rules: BlindedRules) -> Any:
    """What the command writes for a row."""
    return reward_of_row(row, **asdict(rules))


def asked(draw: Random) -> Any:
    """The reward of pairs, of which checkers may have several answers and judges may have failed."""
    response, plain = stated_pairs(draw)
    answers: list[tuple[str, str, list[Checked | str | None]]] = []
    for one in plain:
        checked = [
            Checked(tuple(some(draw, VALUES, 0, 3)), any_of=draw.random() < 0.5) if draw.random() < 0.1 else text
            for text in one["checked"]
        ]
        answers.append((one["question"], one["answer"], checked))
    failed = Unverified(Claim(response), "backend", "It is down.") if draw.random() < 0.03 else None
    rules = rules_of(draw)
    outcomes = [rule(*one, rules.match).outcome for one in answers]
    asked_for = sum(one != "leaked" for one in outcomes)
    return reward(failed or outcome_reward(outcomes, len(find_numbers(response)), asked_for, rules))


def blinded_row(draw: Random) -> dict[str, Any]:
    """A row of the command's file."""
    response, pairs = stated_pairs(draw)
    draw.random()  # decided whether the response was given, when it could be left out
    return {"pairs": pairs, "num_numbers": len(find_numbers(response)), "response": response or "It is old."}


def unstated_row(draw: Random) -> Any:
    """A row whose questions ask for what the response does not state, rewarded; every second has the response."""
    chosen = draw.sample(VALUES, 6)
    response, pairs = response_of(draw, chosen[:3]), pairs_of(draw, chosen[3 : draw.randint(4, 6)])
    row: dict[str, Any] = {"pairs": pairs, "num_numbers": len(find_numbers(response))}
    return row_reward(row | {"response": response} if draw.random() < 0.5 else row, rules_of(draw))


def directed_pair(draw: Random) -> Any:
    """The reward of a pair whose answers may go opposite ways."""
    ways = [f"{verb} by 10 %" for verb in ("rose", "fell", "increased", "decreased")]
    pair = {"question": "By how much did sales change?", "answer": draw.choice(ways), "checked": some(draw, ways, 1, 3)}
    return row_reward({"response": f"Sales {pair['answer']}.", "pairs": [pair]}, rules_of(draw))


def directed_audit(draw: Random) -> Any:
    """The offline audit of a response that may go the other way than its source."""
    response, source = directed_texts(draw)
    return reward(report_reward(asyncio.run(open_blinded().verify(None, response, [Source(source)]))))


def directed_texts(draw: Random) -> tuple[str, ...]:
    """A response and a document that say which way sales and costs went."""
    ways = [draw.choice(("rose", "fell")) for _ in range(4)]
    return tuple(f"Sales {first} by 10 %. Costs {second} by 4 %." for first, second in (ways[:2], ways[2:]))


def blinded_play(draw: Random, kind: str) -> Any:
    """A game in which solver, proposer and checkers say what was drawn."""
    source = "The house is old."
    if kind == "stated":
        response, pairs = stated_pairs(draw)
    elif kind == "unstated":
        chosen = draw.sample(VALUES, 6)
        response, pairs = response_of(draw, chosen[:3]), pairs_of(draw, chosen[3 : draw.randint(4, 6)])
    else:
        response, source = directed_texts(draw)
        pairs = [
            {
                "question": f"How much {what} of the house{number} are there?",
                "answer": f"{share} %",
                "checked": [f"{source.split()[1 + 5 * number]} by {share} %", f"{share} %", f"{share} %"],
            }
            for number, (what, share) in enumerate((("sales", 10), ("costs", 4)))
        ]
    known = {one["question"][: one["question"].index("?") + 1]: one["checked"] for one in pairs}

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        if role == "solver":
            return f"Response: {response}"
        if role == "proposer":
            return "\n".join(f"- Question: {one['question']} [Answer: {one['answer']}]" for one in pairs)
        found = [question for question in FOUND.findall(prompt[-1].content) if question in known]
        answers = [known[question][number % len(known[question])] for question in found]
        return "\n".join(
            f'{at}. Evidence: "{source}" [Answer: {answer or "Cannot answer"}]' for at, answer in enumerate(answers, 1)
        )

    samples, votes, rules = draw.choice((1, 2)), draw.choice((1, 3)), rules_of(draw)
    game = BlindedGame(samples, votes, replace(rules, min_numbers=draw.choice((0, 0, 2))))
    row = {"id": "r", "question": "What is there?", "sources": [source]}
    return played(asyncio.run(game.play(ScriptedSampler(line), [row])))


def checklist_rules(draw: Random) -> ChecklistRules:
    """How votes become rewards."""
    return ChecklistRules(
        draw.choice((0.75, 0.5, 0.6, 1.0)),
        draw.choice((0.375, 0.0, 0.5)),
        draw.choice((0.5, 0.0, 1.0, 0.2)),
        draw.choice(get_args(Aggregate)),
    )


def votes_of(draw: Random) -> list[list[bool | None]]:
    """Votes on the items of a checklist; some items are decided by a rule, now and then one has the wrong number."""
    voters, willing = draw.randint(1, 8), draw.random()
    counts = [1 if draw.random() < 0.1 else voters + (draw.random() < 0.01) for _ in range(draw.randint(1, 6))]
    return [[None if draw.random() < 0.1 else draw.random() < willing for _ in range(count)] for count in counts]


def votes_row(draw: Random) -> dict[str, Any]:
    """A row of the command's file."""
    votes: list[Any] = [[None if vote is None else int(vote) for vote in one] for one in votes_of(draw)]
    if draw.random() < 0.05:
        votes[0] = draw.choice((None, [], [2], "yes", [0.5]))
    return {"votes": votes} | ({"holistic": draw.choice(([1, 0], 1, 0, [None]))} if draw.random() < 0.3 else {})


def votes_reward(row: dict[str, Any], rules: ChecklistRules) -> Any:
    """What the command writes for a row."""
    return METHODS["checklist"].load("reward_row")(row, **asdict(rules))


def voted(draw: Random) -> Any:
    """The generator's reward by items and as a whole."""
    votes, rules = votes_of(draw), checklist_rules(draw)
    return [reward(checklist_reward(votes, rules)), reward(holistic_reward(votes[0], rules))]


def labelled(draw: Random) -> Any:
    """The verifier's reward, the rewards of a partition, and what goes to replay."""
    votes, rules = votes_of(draw)[0], checklist_rules(draw)
    label = draw.random() < 0.5
    taken = replay_label(draw.random(), rules)
    return [[verifier_reward(vote, label) for vote in votes], partition_rewards(votes), taken]


def checklist_row(draw: Random, number: int) -> dict[str, Any]:
    """An instruction with items in words, and now and then one that a rule decides."""
    words = draw.sample(("old", "short", "a place", "true"), draw.randint(1, 3))
    items: list[Any] = [f"Is it {word}?" for word in words]
    if draw.random() < 0.3:
        items.append({"rule": "punctuation:no_comma"})
    named = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]} if draw.random() < 0.5 else {}
    return {"id": f"r{number}", "prompt": f"Name a place of size {draw.randrange(99)}.", "checklist": items, **named}


def dice(*things: object) -> int:
    """A number that depends on what is asked alone, wherever and whenever it is asked."""
    return crc32("|".join(map(str, things)).encode())


def checklist_line(prompt: Sequence[Message], role: str, number: int) -> str:
    """What a policy says: responses of all sorts, answers of all sorts."""
    at = dice(prompt[-1].content, role, number)
    if role == "generator":
        return ("The old mill.", "A bridge, and a tower.", "", "  ", "<think>Hm.</think>Rome.", "Rome")[at % 6]
    return SAID[at % len(SAID)]


def judge_play(draw: Random) -> Any:
    """Soft-RLVR: a scripted judge of the responses of a scripted policy."""
    salt = draw.random()
    judge = ScriptedModel(lambda messages, _: ("yes", "no", "yes", "unclear")[dice(salt, messages[-1].content) % 4])
    config = ChecklistConfig(votes=draw.choice((1, 3)), holistic=draw.random() < 0.3)
    game = ChecklistGame(ChecklistVerifier(judge, config), draw.choice((2, 4)), checklist_rules(draw))
    rows = [checklist_row(draw, number) for number in range(3)]
    return played(asyncio.run(game.play(ScriptedSampler(checklist_line), rows)))


def self_play(draw: Random) -> Any:
    """Soft-SVeRL: a scripted policy that judges itself, and what it remembers after two steps."""
    gold = [Labelled("Name one.", word, "Is it old?", word != "sea") for word in ("mill", "sea", "road")]
    learns, size = draw.choice((0.0, 0.7)), draw.choice((2, 4))
    setting = SelfVerification(draw.choice((1, 2, 3)), learns, draw.choice((0.0, 0.3)), checklist_rules(draw))
    game = SelfVerifyGame(size, setting, Replay(gold, 32, 0.4, seed=draw.randrange(9)) if learns else None)
    rows = [checklist_row(draw, number) for number in range(3)]
    found = [played(asyncio.run(game.play(ScriptedSampler(checklist_line), rows))) for _ in range(2)]
    return [found, game.state_dict()]


def costs_of(draw: Random) -> AssuranceCosts:
    """What it costs to speak up and to revise."""
    return AssuranceCosts(draw.choice((0.0, 0.05, 0.5)), draw.choice((0.0, 0.1, 0.9)))


def paired(draw: Random) -> Any:
    """Case, paired rewards and advantages of a unit; contradictions are refused."""
    s_x, s_z, costs = draw.random() < 0.5, draw.choice((True, False, None)), costs_of(draw)
    case = Transition(s_x, draw.choice(("SAC", "NS")), draw.choice(("KEEP", "REVISE", None)), s_z).case
    earned = {action: one.total for action, one in action_rewards(s_x, bool(s_z), costs).items()}
    found = [{"SAC": earned["SAC"], "NS": earned["NS"]}, {"KEEP": earned["KEEP"], "REVISE": earned["REVISE"]}]
    return [case, found, [pair_advantages([*one.values()], epsilon=0.0).tolist() for one in found]]


def assurance_record(row: dict[str, Any], costs: AssuranceCosts) -> dict[str, Any]:
    """A line of the command."""
    return unit_reward(row, None, costs.intervention, costs.revision)


def paired_row(draw: Random) -> dict[str, Any]:
    """A row of the command's file."""
    row = {"S_x": draw.choice((0, 1)), "y": draw.choice(("SAC", "SAC", "NS")), "S_z": draw.choice((0, 1, None))}
    row["a"] = draw.choice(("KEEP", "REVISE")) if row["y"] == "SAC" else None
    if draw.random() < 0.05:
        row[draw.choice(("S_x", "y", "a"))] = draw.choice((None, "maybe", 0.5))
    return row


def work_reply(draw: Random) -> Any:
    """A reply of one of three roles, scored directly and as verl has it."""
    unit, gold, values = draw.choice(UNITS)
    proposal, revision = draw.choice(values), draw.choice(values)
    role = draw.choice(("generator", "verifier", "approver"))
    draft = json.dumps({draw.choice(("value", "amount")): draw.choice(values), "rationale": "It says so."})
    verdict = json.dumps({"verdict": draw.choice(("correct", "wrong", "Correct.", "", 3)), "correction": revision})
    choice = draw.choice(("KEEP", "REVISE", "keep it", "Revise."))
    text = {"generator": draft, "verifier": verdict, "approver": choice}[role]
    if draw.random() < 0.2:
        text = draw.choice((text[:-4], f"So: {text}", f"<think>{text}</think>", "", "{}", "I do not know."))
    cost = draw.choice((0.0, 0.25))
    row = {"role": role, "unit": unit, "proposal": proposal, "revision": revision}
    found = reward_of_reply(text, {**row, "gold": gold}, role, AssuranceCosts(cost, cost))
    return [reward(found), assurance_score("work", text, gold, row, intervention_cost=cost, revision_cost=cost)]


def assurance_play(draw: Random) -> Any:
    """A game about two units, in which a script speaks for generator, verifier, reviser and approver."""
    salt = draw.random()
    lines = {
        "generator": ('{"amount": "old"}', '{"amount": "new"}', "Old, I think."),
        "verifier": ('{"verdict": "wrong", "correction": "old"}', '{"verdict": "correct"}', "Well."),
        "reviser": ('{"amount": "new"}', '{"amount": "old"}', "{}"),
        "approver": ("KEEP", "REVISE", "Both"),
    }

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        at = dice(salt, prompt[-1].content, number) % 7
        return lines[role][2 if at == 6 else at % 2]

    game = AssuranceGame(
        draw.choice((2, 3)), draw.choice((1, 3)), None, costs_of(draw), draw.random() < 0.8, draw.random() < 0.3
    )
    rows = [task_row(draw.randrange(16), units=2) | {"id": str(number)} for number in range(2)]
    return played(asyncio.run(game.play(ScriptedSampler(line), rows)))
