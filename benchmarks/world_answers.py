"""DiVA in the world of answers: arms, the start, and what the oracle says of what ranks answers.

Without a search, a ranking head sees one answer at a time and can only guess: P@1 is 1/3. Ranking in words sees all
three; which of them is between the others shows (see ``AnswersWorld``), so that P@1 can reach 1/2.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.world_documents import write_lookups
from benchmarks.world_runs import RECIPES, Outcomes, World, sampled, write_lines
from recipes.rank.marking import Candidate, RankQuestion
from recipes.rank.pairs import PairMaker, pairs_in
from recipes.rank.questions import question_of
from recipes.rank.rows import hold_out, read_pairs
from recipes.rank.settings import RankConfig
from recipes.rank.train import train_rank
from recipes.worlds.answers import LABELS, AnswersWorld, answer_chats, oracle, right_share
from recipes.worlds.documents import LOOKUPS, STATED, TEMPLATE, fences, recitals
from recipes.worlds.facts import chat
from vouching.answering.prompt import answer_messages
from vouching.answering.prompt import read_reply as read_answer
from vouching.methods.discriminative.generative import GenerativeRanker
from vouching.methods.discriminative.model import TrainedScorer
from vouching.methods.discriminative.rank import Ranker, ScoringRanker
from vouching.methods.discriminative.reward import best_of
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.models.local import LocalModel
from vouching.search.compress import SentenceCompressor
from vouching.settings import read_settings
from vouching.train.sft import SftConfig, train_sft
from vouching.types import Ranking, RankMode, Source

WORLD = AnswersWorld()
WRONG = 0.35
"""How often the start is taught a wrong number, so that its answers are worth choosing from."""
HEADS: Mapping[str, str] = {"diva": "compressed", "full": "full", "no-search": "none"}
"""Arms with a ranking head, and what it is shown of a search."""
WORDS: Mapping[str, RankMode] = {"generative": "generative", "agentic": "agentic", "points": "points"}
"""Arms of a language model that ranks in words: from memory, after the search, or by points after the search."""
ARMS: Mapping[str, tuple[str, ...]] = {
    **{name: (f"shown={shown}",) for name, shown in HEADS.items()},
    **{
        name: (f"batch_prompts={24 if name == 'points' else 8}", "micro_batch=24", "learning_rate=1e-3")
        for name in WORDS
    },
}
"""Settings of each arm over its recipe. A step has 24 pairs, 24 answers with their points, or 8 rankings."""
QUESTIONS = 1200
"""What every arm is trained on: the same questions for each seed, all of them once in 150 steps."""
HELD = 0.12
"""Share of the questions that a ranking head holds out, by its seed; no arm is trained on them."""
MADE = 1500
"""Questions that are enough without those held out."""
LINES = {**dict.fromkeys(HEADS, 3), "points": 3}
"""Rows of an arm for each question, if not one."""
POINTS = dict(zip(LABELS, (10, 5, 1), strict=True))
DRAWN = 4
"""N of best-of-N, from answers of the start."""
TOKENS = 32
"""Of a reply, at most."""
PIECES = (
    *fences(
        "question",
        "answer",
        "record of the search",
        *(f"answer {n}" for n in (1, 2, 3)),
        *(f"source {n}" for n in range(1, 9)),
    ),
    "Answer the question from the sources.",
    "Response: ",
    "How many ",
    " are in ",
    "Found (given): ",
    "Useful facts: ",
    "Question: ",
    "Answer: ",
    "<verdict>",
    "</verdict>",
    *STATED,
)


def compressor() -> SentenceCompressor:
    """The compression: the two sentences that have most of the words of question and answer."""
    return SentenceCompressor(12, lambda text: len(text.split()))


def config_of(arm: str, rows: Path, settings: Sequence[str]) -> RankConfig | SftConfig:
    """The settings of an arm, by its recipe: of a ranking head, or of what ranks in words."""
    if arm in HEADS:
        own = [f'pairs=["{rows}"]', f"held_share={HELD}", *settings]
        return read_settings(RankConfig, RECIPES / "answers.toml", own)
    return read_settings(SftConfig, RECIPES / "answers-sft.toml", [f'rows=["{rows}"]', *settings])


def run_arm(arm: str, folder: Path, settings: Sequence[str], out: Path) -> Path:
    """Train a ranking head, or what ranks in words."""
    seed = next(int(one.removeprefix("seed=")) for one in settings if one.startswith("seed="))
    config = config_of(arm, rows_of_arm(arm, folder, seed), settings)
    if isinstance(config, RankConfig):
        train_rank(config, out, resume=out.is_dir())
    else:
        train_sft(config, out, resume=out.is_dir())
    return out / "model"


def rows_of_arm(arm: str, folder: Path, seed: int) -> Path:
    """The file of an arm's rows for a seed: of the first questions that a ranking head does not hold out.

    A ranking head's rows also have the questions that it holds out.
    """
    pairs = read_pairs([folder / "pairs.jsonl"])
    held = {pair.question for pair in hold_out(pairs, HELD, seed)[1]}
    asked = [pair.question for pair in pairs[:: LINES["diva"]]]
    chosen = {*[at for at, question in enumerate(asked) if question not in held][:QUESTIONS]}
    if arm in HEADS:
        chosen |= {at for at, question in enumerate(asked) if question in held}
    name, lines = "pairs" if arm in HEADS else arm, LINES.get(arm, 1)
    rows = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    found = folder / f"{name}-{seed}.jsonl"
    found.write_text("".join(row for at, row in enumerate(rows) if at // lines in chosen), encoding="utf-8")
    return found


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms and chats of the start; returns the texts that a tokenizer is trained on."""
    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 4, seed=3)
    right = [*answer_chats(rows, 0, wrong=0.0), *recitals(AnswersWorld(6).rows(count // 2, seed=5), 5)]
    guesses = [
        line
        for mode in WORDS.values()
        for line in asyncio.run(_ranking_chats(mode, WORLD.rows(count // 8, seed=6), random.Random(6)))
    ]
    right += guesses
    write_lines(folder / "right.jsonl", right)
    write_lookups(folder, count)
    write_lines(folder / "imperfect.jsonl", [*answer_chats(others, 0, WRONG), *guesses])
    train = WORLD.rows(min(count, MADE), seed=1)
    made = asyncio.run(_pairs(train))
    write_lines(folder / "pairs.jsonl", made)
    said = [turn["content"] for line in right for turn in line["messages"] if turn["role"] != "system"]
    for arm, mode in WORDS.items():
        lines = asyncio.run(_ranking_chats(mode, train))
        write_lines(folder / f"{arm}.jsonl", lines)
        said += [turn["content"] for line in lines for turn in line["messages"] if turn["role"] != "system"]
    return said


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """The oracle on the order of each held-out question's answers, and on the best of some answers of the start.

    ``oracle/chosen``: share of right numbers in the answer that a scorer finds best; for the start, their mean over the
    answers, which is that of a random choice. The start does not rank: a random order is judged.
    """
    return asyncio.run(_judge(model, WORLD.rows(count, seed=2, part="held-out"), seed))


async def _judge(model: Path, rows: Sequence[Mapping[str, Any]], seed: int) -> Outcomes:
    arm = model.parent.name.rpartition("-")[0]
    start = model.parents[1] / "imperfect/model"
    drawn = await asyncio.to_thread(_answers, start, rows, seed) if arm not in WORDS else []
    if arm not in ARMS:
        return {
            row["id"]: {
                **oracle([0.0] * len(LABELS), row),
                "oracle/chosen": sum(right_share(one, row) for one in said) / DRAWN,
            }
            for row, said in zip(rows, drawn, strict=True)
        }
    ranker = _ranker(arm, model)
    try:
        found = await _ranked(ranker, [(row, [one["answer"] for one in row["answers"]]) for row in rows])
        outcomes = {row["id"]: oracle(_scores(one), row) for row, one in zip(rows, found, strict=True)}
        for row, one in zip(rows, await _ranked(ranker, zip(rows, drawn, strict=bool(drawn))), strict=bool(drawn)):
            best = best_of(one, seed)
            outcomes[row["id"]]["oracle/chosen"] = right_share(best.text, row) if best else 0.0
        return outcomes
    finally:
        await ranker.aclose()


def _answers(start: Path, rows: Sequence[Mapping[str, Any]], seed: int) -> list[list[str]]:
    """Answers of the start to each question; one without a word or number is "0", since such are not ranked."""
    prompts = [
        [one.json for one in answer_messages(row["question"], _sources(row))] for row in rows for _ in range(DRAWN)
    ]
    read = [read_answer(reply).response or "" for reply in sampled(start, prompts, TOKENS, seed)]
    said = [one if any(map(str.isalnum, one)) else "0" for one in read]
    return [said[at : at + DRAWN] for at in range(0, len(said), DRAWN)]


def _ranker(arm: str, model: Path) -> Ranker:
    if arm in WORDS:
        return GenerativeRanker(LocalModel(model, device="cpu"), WORDS[arm], max_tokens=TOKENS)
    return ScoringRanker(TrainedScorer(model, device="cpu"), compress=compressor().compress)


async def _ranked(ranker: Ranker, asked: Any) -> list[Ranking]:
    plays: list[Coroutine[Any, Any, Ranking]] = [
        ranker.rank(row["question"], answers, _sources(row)) for row, answers in asked
    ]
    found: list[Ranking] = []
    for at in range(0, len(plays), 64):
        found += await asyncio.gather(*plays[at : at + 64])
    return found


def _scores(ranking: Ranking) -> list[float | None]:
    """The score of each answer, in the order in which they were given."""
    scores = {one.number: one.score for one in ranking.answers}
    return [scores.get(number) for number in range(1, len(LABELS) + 1)]


def _sources(row: Mapping[str, Any]) -> list[Source]:
    return [Source(text, f"source-{number}") for number, text in enumerate(row["sources"], 1)]


async def _pairs(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pairs as ``recipes/rank/pairs.py`` makes them from labelled answers."""
    maker = PairMaker(_nothing, compress=compressor().compress)
    return [pair for row in rows for pair in pairs_in(await maker.make(question_of(row, row["id"], "answers")))]


async def _nothing(_: RankQuestion, __: random.Random) -> list[Candidate]:
    return []


async def _ranking_chats(
    mode: RankMode, rows: Sequence[Mapping[str, Any]], guess: random.Random | None = None
) -> list[dict[str, Any]]:
    """What a language model is asked in a mode, with the right reply, or with any: that teaches the form alone."""
    found: list[dict[str, Any]] = []
    for row in rows:
        model = ScriptedModel({"": "-"})
        await GenerativeRanker(model, mode).rank(
            row["question"], [one["answer"] for one in row["answers"]], _sources(row)
        )
        labels = [one["label"] for one in row["answers"]]
        labels = guess.sample(labels, len(labels)) if guess else labels
        order = " > ".join(f"Answer {labels.index(label) + 1}" for label in LABELS)
        replies = [str(POINTS[label]) for label in labels] if mode == "points" else [order]
        found += [
            {"id": f"{row['id']}/{number}"}
            | chat([Message(one.role, one.content) for one in asked.messages], f"<verdict>{reply}</verdict>")
            for number, (asked, reply) in enumerate(zip(model.asked, replies, strict=True), 1)
        ]
    return found


ANSWERS = World(
    name="answers",
    method="rank",
    arms=ARMS,
    write_rows=write_rows,
    judge=judge,
    run=run_arm,
    policy={"context": 320, "vocabulary": 128, "closed": True, "width": 96, "layers": 3, "pieces": PIECES},
    template=TEMPLATE,
    rows=9000,
    epochs={**dict.fromkeys(LOOKUPS, 2.0), "right": 1.0},
)
