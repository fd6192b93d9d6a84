"""One way from an audit to a reward: the game, the command and every adapter give the same number."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from vouching.cli.app import app
from vouching.integrations.trl import trl_blinded_reward
from vouching.integrations.verifiers import audited_reward
from vouching.integrations.verl import blinded_score
from vouching.judging.ask import Unread
from vouching.judging.matching import leaks
from vouching.methods.base import ScriptedSampler
from vouching.methods.blinded.compare import placed
from vouching.methods.blinded.game import Audit, BlindedGame
from vouching.methods.blinded.prompt import read_pairs
from vouching.methods.blinded.reward import PAPER, BlindedRules, reward_of_row
from vouching.methods.blinded.roles import Answered, Asked, BlindChecker
from vouching.methods.blinded.verify import BlindedVerifier, open_blinded
from vouching.models.base import Message
from vouching.types import Checked, PairResult
from vouching.types.serial import to_json

SETTINGS = {
    "paper": PAPER,
    "0/1 with numbers wanted": BlindedRules("0/1", min_numbers=2),
    "error rate, five questions": BlindedRules("error-rate", min_questions=5),
}
FACTS = ("gates", "towers", "lamps", "boats")


def scripts(seed: int, count: int) -> list[dict[str, Any]]:
    """What is said about so many bridges: values stated or not, directions, leaks, repeats, and replies of any kind."""
    dice = Random(seed)
    made: list[dict[str, Any]] = []
    for at in range(count):
        name = f"Bridge{chr(97 + at // 26)}{chr(97 + at % 26)}"
        said, documents, questions = [f"Of {name}."], list[str](), list[tuple[str, str, str]]()
        for fact in dice.sample(FACTS, dice.randint(0, 3)):
            value = dice.randint(2, 99)
            told = dice.choice([str(value)] * 8 + [str(value + 1)] * 2 + [f"{value} or {value + 1}"])
            said.append(f"It has {value} {fact}.")
            documents.append(f"{name} has {told} {fact}.")
            if dice.random() < 0.9:
                questions.append((f"How many {fact} has {name}?", str(value), f"{name} has {told} {fact}"))
        if dice.random() < 0.5:
            went, truth = dice.choice(("rose", "fell")), dice.choice(("rose", "fell"))
            said.append(f"Its traffic {went} by 10 %.")
            documents.append(f"The traffic of {name} {truth} by 10 %.")
            if dice.random() < 0.4:  # both ways: only a quote says which is meant
                documents.append(f"The noise of {name} {dice.choice(('rose', 'fell'))} by 10 %.")
            questions.append((f"What is the change of traffic of {name}?", "10 %", f"{truth} by 10 %"))
        if dice.random() < 0.3:  # about what the response does not state
            questions.append((f"How many days has a week at {name}?", "7", "7 days"))
        if dice.random() < 0.2:  # holds its answer
            questions.append((f"Are there 5 ships at {name}?", "5", "5 ships"))
        if questions and dice.random() < 0.3:
            questions.append(dice.choice(questions))
        made.append(
            {
                "name": name,
                "solver": dice.choice(["", "Response: "]) + " ".join(said) if dice.random() < 0.95 else "",
                "proposer": "\n".join(f"- Question: {q} [Answer: {a}]" for q, a, _ in questions) or "NONE",
                "found": {question: quote for question, _, quote in questions},
                "documents": " ".join(documents) or f"{name} is old.",
            }
        )
    return made


def checked(one: dict[str, Any], prompt: str, number: int) -> str:
    """A checker's reply: it quotes or does not, is wrong now and then, gives up, or cannot be read."""
    dice, lines, found_in = Random(f"{one['name']} {number} {len(prompt)}"), list[str](), one["found"]
    asked = [line.partition(". ")[2] for line in prompt.splitlines()]
    for place, question in enumerate((one for one in asked if one in found_in), 1):
        quote = found_in[question]
        luck = dice.random()
        found = "10 %" if "%" in quote else " | ".join(word for word in quote.split() if word.isdigit())
        evidence = f'Evidence: "{quote}" ' if dice.random() < 0.7 else ""
        if luck < 0.85:
            lines.append(f"{place}. {evidence}[Answer: {found}]")
        elif luck < 0.93:
            lines.append(f"{place}. [Answer: {'Cannot answer' if luck < 0.89 else '3 | 4'}]")
    return "\n".join(lines) or "I do not know."


def played(rules: BlindedRules, made: Sequence[dict[str, Any]]) -> tuple[list[Audit], list[float], BlindedVerifier]:
    """The audits of the game, what it pays for them, and its auditor."""
    by_name = {one["name"]: one for one in made}

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        text = prompt[-1].content
        one = by_name[next(word for word in re.split(r"\W+", text) if word.startswith("Bridge"))]
        return checked(one, text, number) if role == "checker" else one[role]

    rows = [{"id": one["name"], "question": f"What of {one['name']} ?", "sources": [one["documents"]]} for one in made]
    game, says = BlindedGame(votes=3, rules=rules), ScriptedSampler(line)
    audits, play = asyncio.run(game.audit(says, rows)), asyncio.run(game.play(says, rows))
    paid = [group.rollouts[0].reward for group in play.groups if group.role == "solver"]
    return audits, [one.total for one in paid if one is not None], game.verifier(says)


def by_command(audits: Sequence[Audit], rules: BlindedRules, folder: Path) -> list[float]:
    """What ``vouch reward blinded`` writes for the reports of audits."""
    given = folder / "audits.jsonl"
    given.write_text("".join(f"{to_json(one.report)}\n" for one in audits), encoding="utf-8")
    options = ["--scale", rules.scale, "--min-questions", rules.min_questions, "--min-numbers", rules.min_numbers]
    result = CliRunner().invoke(app, [*map(str, ["reward", "blinded", "--input", given, "--output", "-", *options])])
    return [json.loads(line)["total"] for line in result.stdout.splitlines()]


@dataclass
class Recorder:
    """A checker that writes down what each question was answered, as transcripts hold it."""

    checker: BlindChecker
    said: defaultdict[tuple[str, str], list[list[Checked]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def max_at_once(self) -> int:
        return self.checker.max_at_once

    async def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        answered = await self.checker.answer(asked)
        for one, found in zip(asked, answered, strict=True):
            questions = [question.text for batch in one.batches for question in batch]
            for question, samples in zip(questions, found.samples, strict=True):
                assert not isinstance(samples, Unread)
                self.said[one.sources[0].text, question].append([sample or Checked() for sample in samples])
        return answered

    async def aclose(self) -> None:
        await self.checker.aclose()


def by_pairs(
    verifier: BlindedVerifier, audits: Sequence[Audit], made: Sequence[dict[str, Any]], rules: BlindedRules
) -> list[float]:
    """The rewards of rows with pairs, sources and evidence, written by hand from what was asked and answered."""
    recorder, totals = Recorder(verifier.checker), list[float]()
    again = BlindedVerifier(verifier.proposer, recorder, verifier.config)
    asyncio.run(again.verify_all([(one.report.response, one.report.sources) for one in audits]))
    for audit, one in zip(audits, made, strict=True):
        pairs: list[dict[str, Any]] = []
        for pair in placed(read_pairs(one["proposer"]), audit.report.response):
            heard = recorder.said[one["documents"], pair.question.text]
            if not heard and not leaks(pair.question.text, pair.answer):  # nothing is asked of what states no number
                continue
            votes = heard.pop(0) if heard else [Checked()]
            pairs.append(
                {
                    "question": pair.question.text,
                    "answer": pair.answer,
                    "checked": [" | ".join(vote.answers) or None for vote in votes],
                    "evidence": [vote.evidence or None for vote in votes],
                }
            )
        row = {"response": audit.report.response, "sources": [one["documents"]], "pairs": pairs}
        totals.append(reward_of_row(row, **asdict(rules))["total"])
    return totals


def by_adapters(
    verifier: BlindedVerifier, rules: BlindedRules, replies: Sequence[str], documents: Sequence[str]
) -> list[tuple[float | None, float, float]]:
    """What TRL, verl and verifiers get."""
    trl = trl_blinded_reward(verifier, rules)(completions=replies, sources=[[one] for one in documents])
    options: dict[str, Any] = {
        "scale": rules.scale,
        "min_questions": rules.min_questions,
        "min_numbers": rules.min_numbers,
        "judge": verifier,
    }
    found: list[tuple[float | None, float, float]] = []
    for number, reply, document in zip(trl, replies, documents, strict=True):
        row = {"question": "What of it?", "sources": [document]}
        verl = asyncio.run(blinded_score("", reply, None, row, **options))["score"]
        trace = SimpleNamespace(last_reply=reply, record_metrics=lambda parts: None)
        traced = asyncio.run(audited_reward(**options)(SimpleNamespace(**row), trace))
        found.append((number, verl, traced))
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_the_game_the_command_and_every_adapter_give_the_same_number(name: str, tmp_path: Path) -> None:
    rules = SETTINGS[name]
    made = scripts(len(name), 100)
    audits, paid, verifier = played(rules, made)
    assert by_command(audits, rules, tmp_path) == paid
    adapted = by_adapters(verifier, rules, [one["solver"] for one in made], [one["documents"] for one in made])
    assert adapted == [(total,) * 3 for total in paid]
    assert by_pairs(verifier, audits, made, rules) == paid


def test_the_audits_are_of_every_kind() -> None:
    made = scripts(5, 100)
    audits, paid, _ = played(PAPER, made)
    pairs = [found for one in audits for found in one.report.findings if isinstance(found, PairResult)]
    assert {found.outcome for found in pairs} == {"same", "different", "not_found", "contradictory", "leaked"}
    opposite = [found for found in pairs if "opposite direction" in found.reason]
    assert len(opposite) > 5
    assert any(vote is None for one in audits for vote in one.checks.votes)
    assert any(not one.report.response for one in audits)
    assert 10 < sum(total == 0 for total in paid) < 90


def test_the_embedded_auditor_gives_the_command_and_every_adapter_the_same_number(tmp_path: Path) -> None:
    made, verifier = scripts(7, 60), open_blinded()
    replies, documents = [one["solver"] for one in made], [one["documents"] for one in made]
    adapted = by_adapters(verifier, PAPER, replies, documents)
    audits, _, _ = played(PAPER, made)
    reports = asyncio.run(verifier.verify_all([(one.report.response, one.report.sources) for one in audits]))
    rows = [json.loads(to_json(report)) for report in reports]
    assert adapted == [(reward_of_row(row)["total"],) * 3 for row in rows]
    assert {number for number, _, _ in adapted} == {0.0, -1.0}


def built(response: str, document: str, question: str, answer: str, reply: str, tmp_path: Path) -> set[float | None]:
    """Every number for one audit with one question."""
    says = {"solver": response, "proposer": f"- Question: {question} [Answer: {answer}]", "checker": reply}
    row = {"id": "a", "question": "What of it?", "sources": [document]}
    sampler, game = ScriptedSampler(lambda prompt, role, number: says[role]), BlindedGame()
    play, audits = asyncio.run(game.play(sampler, [row])), asyncio.run(game.audit(sampler, [row]))
    pair = {"question": question, "answer": answer, "checked": ["7" if "7" in reply else "10 %"]}
    by_hand = {"response": response, "sources": [document], "pairs": [pair]}
    numbers: set[float | None] = {one.reward.total for group in play.groups for one in group.rollouts if one.reward}
    numbers |= {reward_of_row(by_hand)["total"], *by_command(audits, PAPER, tmp_path)}
    return numbers | set(by_adapters(game.verifier(sampler), PAPER, [response], [document])[0])


def test_questions_about_values_that_are_not_stated_count_nowhere(tmp_path: Path) -> None:
    found = built(
        "It is long and has 2 towers.",
        "A week has 7 days.",
        "How many days has a week?",
        "7",
        '1. Evidence: "7 days" [Answer: 7]',
        tmp_path,
    )
    assert found == {-1.0}


@pytest.mark.parametrize(
    "reply", ['1. Evidence: "rose by 10 %" [Answer: 10 %]', "1. [Answer: 10 %]", "1. [Answer: rose by 10 %]"]
)
def test_what_fell_here_and_rose_there_is_a_difference_everywhere(reply: str, tmp_path: Path) -> None:
    document, question = "In May sales rose by 10 %.", "What is the change of sales in May?"
    assert built("In May sales fell by 10 %.", document, question, "10 %", reply, tmp_path) == {-1.0}
    assert built("In May sales rose by 10 %.", document, question, "10 %", reply, tmp_path) == {0.0}
    assert by_adapters(open_blinded(), PAPER, ["In May sales fell by 10 %."], [document]) == [(-1.0,) * 3]


def test_a_direction_that_the_documents_have_both_ways_is_none(tmp_path: Path) -> None:
    document, question = "Sales rose by 10 %, costs fell by 10 %.", "What is the change of sales?"
    found = built("Sales fell by 10 %.", document, question, "10 %", "1. [Answer: 10 %]", tmp_path)
    assert found == {0.0}
