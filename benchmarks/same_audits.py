"""The part "audits" of benchmarks/same_behaviour.py: blinded audits, rules, challenges, rankings, as library calls."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any
from zlib import crc32

from same_items import DATA, ROOT, SEED, Item
from same_verdicts import responses

from recipes.taxes.mistakes import MISTAKES, make_mistake
from recipes.taxes.returns import make_return
from recipes.taxes.tasks import proposal_of, task_of
from vouching import check_instruction, rank
from vouching.inputs import as_sources
from vouching.methods.assurance.model import AssuranceVerifier, ModelGenerator, ModelVerifier
from vouching.methods.assurance.task import as_proposal, as_task, read_proposal, read_task
from vouching.methods.assurance.verify import challenge, fill
from vouching.methods.blinded.verify import BlindedConfig, open_blinded
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.rows.read import Row
from vouching.rules.verify import rules_work
from vouching.types import Proposal, Task, Value
from vouching.types.serial import to_json

AUDITS, RULES, CHALLENGES, RETURNS, FILLED, RANKINGS = 30, 20, 10, 12, 4, 15
"""How many of each, beside the examples."""


def audits() -> Iterator[Item]:
    """All of them."""
    for name, response, sources in responses()[: AUDITS + 3]:
        yield Item(f"blinded/{name}", lambda r=response, s=sources: audited(r, s, "embedded"), brief_audit)
    for name, response, sources in responses()[:6]:
        yield Item(f"blinded by a script/{name}", lambda r=response, s=sources: audited(r, s, "script"), brief_audit)
    for number, row in enumerate(instructions()):
        yield Item(f"rules/{number}", lambda r=row, n=number: ruled(r, n), brief_rules)
    for number in range(CHALLENGES):
        yield Item(f"challenge/expenses/{number}", lambda n=number: expenses(n), brief_challenge)
    for number in range(RETURNS):
        yield Item(f"challenge/taxes/{number}", lambda n=number: taxes(n), brief_challenge)
    for number in range(FILLED):
        yield Item(f"challenge/filled by a script/{number}", lambda n=number: filled(n), brief_challenge)
    for name, question, answers, sources in questions():
        yield Item(f"rank/{name}", lambda q=question, a=answers, s=sources: ranked(q, a, s), brief_ranking)


def audited(response: str, sources: Any, by: str) -> Any:
    """The report of a blinded audit, by the embedded pair or by a language model that follows a script."""
    verifier = open_blinded() if by == "embedded" else open_blinded(ScriptedModel(said), BlindedConfig(votes=3))
    return json.loads(to_json(asyncio.run(verifier.verify("What is known?", response, as_sources(sources)))))


def said(messages: Sequence[Message], _: Any) -> str:
    """What a proposer or a checker says: questions about the figures it sees, or figures of its documents."""
    text = messages[-1].content
    figures = re.findall(r"\d+", text)
    asked = re.findall(r"Which figure is number (\d+)\?", text)
    if asked:
        at = crc32(text.encode())
        answers = [figures[(at + 7 * int(one)) % len(figures)] for one in asked]
        return "\n".join(f"{number}. [Answer: {answer}]" for number, answer in enumerate(answers, 1))
    chosen = list(dict.fromkeys(figures))[:4] or ["5"]
    return "\n".join(f"- Question: Which figure is number {n}? [Answer: {one}]" for n, one in enumerate(chosen))


@cache
def instructions() -> list[dict[str, Any]]:
    """Instructions with responses: those of the examples, and a language model's to IFEval's, some cut short."""
    lines = (ROOT / "examples/instructions.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in (DATA / "ifeval/input_data.jsonl").read_text("utf-8").splitlines()]
    replies = [json.loads(line) for line in (DATA / "ifeval/gpt4_responses.jsonl").read_text("utf-8").splitlines()]
    by_prompt = {one["prompt"]: one["response"] for one in replies}
    draw, made = Random(f"{SEED}/rules"), [json.loads(line) for line in lines]
    for row in draw.sample([row for row in rows if row["prompt"] in by_prompt], RULES):
        response = by_prompt[row["prompt"]]
        made.append(row | {"response": response if draw.random() < 0.6 else response[: len(response) // 3]})
    return made


def ruled(row: Mapping[str, Any], number: int) -> Any:
    """The command's line and the library's report, by the rules that are named and by those that are found."""
    named = Row(number, f"line {number}", {**row, "id": str(number)})
    found = Row(number, f"line {number}", {"id": str(number), "prompt": row["prompt"], "response": row["response"]})
    report = json.loads(to_json(check_instruction(row["prompt"], row["response"])))
    return [json.loads(rules_work()(named)), json.loads(rules_work()(found)), report]


def expenses(number: int) -> Any:
    """The example's task, with its proposal and with others made from it."""
    task = read_task(ROOT / "examples/expenses.yaml")
    given = read_proposal(ROOT / "examples/expenses_proposal.yaml", task)
    if number:
        given = changed(task, given, Random(f"{SEED}/expenses/{number}"))
    return json.loads(to_json(asyncio.run(challenge(task, given, AssuranceVerifier()))))


def changed(task: Task, given: Mapping[str, Proposal], draw: Random) -> dict[str, Proposal]:
    """A proposal in which some values are others."""
    found = dict(given)
    for name in draw.sample([unit.id for unit in task.units], draw.randint(1, 4)):
        old = found[name].value
        new: Value = str(old)
        if isinstance(old, bool):
            new = not old
        elif not isinstance(old, str):
            new = draw.choice((old + 1, old * 10, -old))
        found[name] = Proposal(name, new, "Changed.")
    return found


def taxes(number: int) -> Any:
    """A tax return with a mistake of a known sort, or right as it is."""
    draw = Random(f"{SEED}/taxes/{number}")
    name, record, lines = make_return(SEED, number)
    task = as_task(task_of(name, record))
    mistake = make_mistake(record, MISTAKES[number % len(MISTAKES)], draw) if number >= 2 else None
    given = as_proposal(proposal_of(task.id, mistake.lines if mistake else lines), task)
    return json.loads(to_json(asyncio.run(challenge(task, given, AssuranceVerifier()))))


def filled(number: int) -> Any:
    """Work done unit by unit by a script that drafts, reviews, revises and approves, badly."""
    units: list[dict[str, Any]] = [
        {"id": f"u{at}", "type": "number", "depends_on": [f"u{at - 1}"] if at else []} for at in range(5)
    ]
    task = as_task({"task": f"t{number}", "data": {"a": number}, "units": units})

    def line(messages: Sequence[Message], _: Any) -> str:
        prompt = messages[-1].content.strip()
        at = crc32(f"{number}{prompt}".encode()) >> 9
        if prompt.endswith("exactly right?"):
            return ('{"verdict": "wrong", "correction": 4, "claim": "It is 4."}', '{"verdict": "correct"}')[at % 2]
        if prompt.endswith(("Fill in the entry.", "now.")):
            return json.dumps({"value": at % 3})
        return ("KEEP", "REVISE", "{}")[at % 3]

    model = ScriptedModel(line)
    verifier = AssuranceVerifier(ModelVerifier(model))
    return json.loads(to_json(asyncio.run(fill(task, ModelGenerator(model), verifier))))


@cache
def questions() -> list[tuple[str, str, list[str], Any]]:
    """Questions with answers and sources: those of the examples, and of HotpotQA with answers to other questions."""
    lines = (ROOT / "examples/candidates.jsonl").read_text("utf-8").splitlines()
    found = [(row["id"], row["question"], row["answers"], row["sources"]) for row in map(json.loads, lines)]
    with gzip.open(DATA / "multihop/hotpotqa_train100.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    draw = Random(f"{SEED}/rank")
    for number, row in enumerate(draw.sample(rows, RANKINGS)):
        others = [one["answer"] for one in draw.sample(rows, 3)]
        sources = [{"title": title, "text": "".join(lines)} for title, lines in row["context"][:4]]
        found.append((f"hotpotqa-{number}", row["question"], [others[0], row["answer"], *others[1:]], sources))
    return found


def ranked(question: str, answers: list[str], sources: Any) -> Any:
    """The ranking by both embedded scorers."""
    models = ("embedded:rules", "embedded")
    return [json.loads(to_json(rank(question, answers, sources, model=model))) for model in models]


def brief_audit(found: Any) -> str:
    """How the questions came out."""
    return " ".join(one.get("outcome") or one["reason"] for one in found["findings"])[:60]


def brief_rules(found: Any) -> str:
    """Which rules were followed."""
    return "".join("+-"[not one] for one in found[0].get("strict") or [])


def brief_challenge(found: Any) -> str:
    """Which units were challenged."""
    return "".join("!" if one.get("challenged") else "." if "challenged" in one else "?" for one in found["units"])


def brief_ranking(found: Any) -> str:
    """The answers by their numbers, best first, by each scorer."""
    return " ".join("".join(str(one["number"]) for one in ranking["answers"]) for ranking in found)
