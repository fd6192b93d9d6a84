"""Makes pairs of answers in DiVA's five steps: answer, label, sample, compare, search (section 3.2).

    python recipes/rank/pairs.py --input questions.jsonl --output pairs.jsonl
    python recipes/rank/pairs.py --input 2wiki.jsonl --index wiki --output pairs.jsonl
    python recipes/rank/pairs.py --input questions.jsonl --model A --model B --judge J --index wiki --output pairs.jsonl

Answers come with a question, from language models, or are made (``candidates.py``); a judge labels those without a
label. Of all pairs in which one is better, some are drawn, and a judge confirms each. The answers share one search; its
result is compressed for each of them. Rejected pairs are kept, with the reason. Not supported: balancing labels.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.rank.candidates import made_candidates
from recipes.rank.marking import Candidate, Judge, RankQuestion, answers_of
from recipes.rank.questions import question_of
from recipes.rank.rows import WORTH
from vouching.cli.data import ended
from vouching.cli.options import Indexes, WebEngines
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import usage_errors
from vouching.errors import InputError, ModelError, SearchError
from vouching.methods.discriminative.input import Compress, Find, gather
from vouching.methods.discriminative.open import open_search
from vouching.models.open import open_model
from vouching.models.running import all_of
from vouching.prompts import Wording
from vouching.rows import (
    AsyncWorkFactory,
    Made,
    MadeFiles,
    Row,
    RunJob,
    Seen,
    fields_of,
    problem_fields,
    read_lines,
    run_rows,
    write_lines,
)
from vouching.rows.journal import Settings
from vouching.search.history import history_text
from vouching.search.options import SearchOptions
from vouching.types import Compression
from vouching.version import __version__

Propose: TypeAlias = Callable[[RankQuestion, random.Random], Awaitable[list[Candidate]]]
"""Gives answers to a question."""
Line: TypeAlias = dict[str, Any]
"""The result for a question, as JSON."""
NOTHING_BETTER = "no answer is better than another"


@dataclass(frozen=True, slots=True)
class PairMaker:
    """Makes the pairs of one question after the other.

    >>> import asyncio
    >>> from recipes.rank.candidates import made_candidates
    >>> from recipes.rank.questions import question_of
    >>> async def propose(asked, rng):
    ...     return made_candidates(asked, 1, rng)
    >>> asked = question_of({"question": "Is Ulm in France?", "reference": "no"}, "q", "")
    >>> line = asyncio.run(PairMaker(propose).make(asked))
    >>> [(pair["better"]["answer"].lower(), pair["worse"]["answer"].lower()) for pair in pairs_in(line)]
    [('no.', 'yes.')]
    """

    propose: Propose
    """Proposes answers, for questions that come with none."""
    judge: Judge | None = None
    """Labels answers and confirms pairs; None takes only labelled answers, and every pair."""
    find: Find | None = None
    """Searches; None uses the paragraphs of a question as the result."""
    compress: Compress | None = None
    """Compresses a search for an answer; None omits facts and reasoning."""
    limit: int = 6
    """Most pairs of a question."""
    seed: int = 0
    """Of all random draws."""

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
        drawn = sorted(rng.sample(ordered, min(self.limit, len(ordered))))
        against = await all_of(self._against(asked, marked[i].answer, marked[j].answer) for i, j in drawn)
        kept = sorted({i for pair, fault in zip(drawn, against, strict=True) if fault is None for i in pair})
        evidence, history = await self._evidence(asked, {i: marked[i].answer for i in kept})
        lacking = {
            i: f"the evidence for the answer was not compressed: {why}"
            for i, why in evidence.items()
            if isinstance(why, str)
        }
        against = [
            fault or next((lacking[i] for i in pair if i in lacking), None)
            for pair, fault in zip(drawn, against, strict=True)
        ]
        return {
            "id": asked.id,
            "set": asked.set,
            "question": asked.question,
            "reference": asked.references[0],
            "answers": [
                {
                    "answer": one.answer,
                    "by": one.by,
                    "label": one.label,
                    "fault": faults.get(i, lacking.get(i)),
                    **(found if isinstance(found := evidence.get(i), dict) else {}),
                }
                for i, one in enumerate(marked)
            ],
            "judged": sum(one.label is None for one in candidates),
            "pairs": [[i, j, fault] for (i, j), fault in zip(drawn, against, strict=True)],
            "confirming": self.judge is not None,
            "history": history,
        }

    async def _marked(
        self, asked: RankQuestion, candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], dict[int, str]]:
        """The candidates with their labels, and why some have none."""
        unmarked = [i for i, one in enumerate(candidates) if one.label is None]
        if unmarked and self.judge is None:
            raise InputError("the row has answers without a label: choose a judge (--judge), or add labels")
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
                f"the search for {asked.question!r} failed: {next(iter(searched.errors), 'no reason given')}"
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
    """The confirmed pairs of a question, as training rows (``rows.py``)."""
    for number, (better, worse, fault) in enumerate(line["pairs"], 1):
        if fault is None:
            yield {
                "id": f"{line['id']}/{number}",
                "set": line["set"],
                "group": line["id"],
                "question": line["question"],
                "better": _side(line["answers"][better]),
                "worse": _side(line["answers"][worse]),
                "history": line["history"],
            }


def preferences_in(line: Line) -> Iterator[dict[str, Any]]:
    """The same pairs for TRL's ``DPOTrainer``: the question, the better answer, the worse."""
    for pair in pairs_in(line):
        sides = {"chosen": pair["better"]["answer"], "rejected": pair["worse"]["answer"]}
        yield {"id": pair["id"], "prompt": pair["question"], **sides}


def rejects_in(line: Line) -> Iterator[dict[str, Any]]:
    """What was rejected: answers without a label, unconfirmed pairs, questions without a pair."""
    about = {"id": line["id"], "question": line["question"], "reference": line["reference"]}
    for one in line["answers"]:
        if one["fault"] is not None:
            yield {**about, "answer": one["answer"], "by": one["by"], "fault": one["fault"]}
    for better, worse, fault in line["pairs"]:
        if fault is not None:
            yield {
                **about,
                **{side: _side(line["answers"][i]) for side, i in (("better", better), ("worse", worse))},
                "fault": fault,
            }
    if not line["pairs"]:
        yield {**about, "answers": [_side(one) for one in line["answers"]], "fault": NOTHING_BETTER}


def _side(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: answer[key] for key in ("answer", "label", "by", "facts", "reasoning") if answer.get(key) is not None}


def make_pairs(
    files: MadeFiles,
    work: Callable[[], tuple[PairMaker, Callable[[], Awaitable[None]]]],
    settings: Settings,
    dpo: Path | None = None,
    run: RunJob = run_rows,
    waits: str | None = "a language model",
) -> Made:
    """Make the pairs of a file of questions, and write what was rejected and why.

    Args:
        files: questions with a reference, and where the pairs go.
        work: opens what makes pairs, and what closes it; picklable, if other processes do the work.
        settings: recorded beside the output.
        dpo: path of the preferences for TRL's DPO; None for none.
        run: runs the questions.
        waits: what the work waits for; None for nothing.

    Raises:
        InputError: the input or an output cannot be used.
        ConfigError: a model or an engine cannot be opened.
    """
    others = [dpo] if dpo else []
    journal = files.journal(*others)
    opens = partial(_opened, work, Path(files.input).name.partition(".")[0])
    summary = run(files.job(opens(), _look, settings, (), *others, open_work=opens, waits=waits))
    writers = [(files.output, pairs_in), (files.rejected, rejects_in), *((path, preferences_in) for path in others)]
    for path, rows in writers:
        lines = (line for line in read_lines(journal) if "problem" not in line)
        write_lines(path, (row for line in lines for row in rows(line)))
    notes = [f"rows that cannot be used: {summary.problems:,}"] if summary.problems else []
    return summary.complete, [*notes, *_counts_in_words(summary.counts, files.rejected)]


def _opened(work: Callable[[], tuple[PairMaker, Callable[[], Awaitable[None]]]], place: str) -> AsyncWorkFactory:
    """From a row to the pairs of its question, as a line; ``place`` names the data set."""
    maker, close = work()

    async def make(row: Row) -> str:
        try:
            made = await maker.make(question_of(fields_of(row), row.name, place))
        except InputError as error:
            made = problem_fields(row, error)
        return json.dumps({"row": row.name, **made}, ensure_ascii=False)

    return AsyncWorkFactory(lambda: make, close)


def _look(input_name: str, line: Line) -> Seen:
    if "problem" in line:
        return Seen(line["row"], f"{input_name}, {line['problem']}", again=int("again" in line))
    kept = sum(fault is None for _, _, fault in line["pairs"])
    counts = {"questions": 1, "with_pairs": bool(kept), "pairs": kept, "judged": line["judged"]}
    counts["unmarked"] = sum(one["fault"] is not None for one in line["answers"])
    counts["compared"] = len(line["pairs"]) if line["confirming"] else 0
    counts["confirmed"] = kept if line["confirming"] else 0
    return Seen(line["row"], counts=counts)


def _counts_in_words(counts: Counter[str], rejected: Path) -> Iterator[str]:
    if counts["judged"]:
        yield f"answers labelled by the judge: {_share(counts['judged'] - counts['unmarked'], counts['judged'])}"
    if counts["compared"]:
        yield f"pairs confirmed by the judge: {_share(counts['confirmed'], counts['compared'])}"
    why = f"; the reasons for the others are in {rejected}" if counts["with_pairs"] < counts["questions"] else ""
    yield f"{counts['pairs']:,} pairs; questions with a pair: {_share(counts['with_pairs'], counts['questions'])}{why}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def open_pair_maker(
    models: Sequence[str],
    judge: str | None,
    per_model: int,
    wrong: int,
    pairs: int,
    search: SearchOptions,
    search_model: str | None,
    seed: int,
    wording: Wording = "ours",
) -> tuple[PairMaker, Callable[[], Awaitable[None]]]:
    """A maker of pairs with its models and search engines opened, and a function that closes them.

    Args:
        models: names of the language models that answer; none to make wrong answers without a model.
        judge: name of the language model that marks and compares answers.
        per_model: answers of each model to a question.
        wrong: wrong short answers to a question if no model answers.
        pairs: maximum number of pairs of a question.
        search: where to search for evidence.
        search_model: name of the language model that searches and compresses.
        seed: seed of all sampling.
        wording: of the prompts for searching and compressing: ours, or D.1 and D.2 as DiVA prints them.
    """
    writers = [open_model(name) for name in models]
    marker = open_model(judge) if judge else None
    searcher = open_model(search_model) if search_model else None
    find, compress, opened = open_search(searcher, search.engines(), search.queries, wording)

    async def propose(asked: RankQuestion, rng: random.Random) -> list[Candidate]:
        if writers:
            return await answers_of(writers, asked.question, per_model, seed)
        return made_candidates(asked, wrong, rng)

    async def close() -> None:
        for one in (*writers, *([marker] if marker else []), *opened):
            await one.aclose()

    return PairMaker(propose, Judge(marker, seed) if marker else None, find, compress, pairs, seed), close


_Questions = Annotated[
    str,
    typer.Option(
        "--input",
        metavar="ROWS",
        help="Rows with question and reference, or rows of a multi-hop data set; - is standard input.",
    ),
]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="File for the accepted pairs: .jsonl.")]
_Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="NAME", help="Language model that answers. Can be repeated.")
]
_Judge = Annotated[str | None, typer.Option(metavar="NAME", help="Language model that marks and compares answers.")]
_PerModel = Annotated[int, typer.Option(metavar="N", min=1, help="Number of answers from each model.")]
_Wrong = Annotated[
    int, typer.Option(metavar="N", min=1, help="Without --model: number of short wrong answers per question.")
]
_Pairs = Annotated[int, typer.Option(metavar="N", min=1, help="Maximum number of pairs per question.")]
_SearchModel = Annotated[
    str | None, typer.Option(metavar="NAME", help="Language model that searches and compresses the evidence.")
]
_SearchWording = Annotated[
    Literal["ours", "paper"], typer.Option(help="Prompts of --search-model: ours, or as DiVA prints them (App. D).")
]
_Dpo = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Also write a file of preferences for TRL's DPO: .jsonl.")
]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed for all sampling.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Resume an interrupted run.")]


def pairs_command(
    input: _Questions,
    output: _Output,
    model: _Models = None,
    judge: _Judge = None,
    per_model: _PerModel = 2,
    wrong: _Wrong = 4,
    pairs: _Pairs = 6,
    search_model: _SearchModel = None,
    wording: _SearchWording = "ours",
    index: Indexes = None,
    web: WebEngines = None,
    dpo: _Dpo = None,
    seed: _Seed = 0,
    resume: _Resume = False,
    jobs: Jobs = 1,
    shard: ShardOf = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
) -> None:
    """Make pairs of a better and a worse answer, each with its evidence: training data for a ranking model.

    Language models answer; a judge marks and compares the answers, using the reference. Without --model, the right
    answer is paired with plausible wrong ones, from the question's paragraphs or with an inserted error. Rejected
    answers and pairs go to another file, with the reasons.

    Exit status: 0 done; 2 invalid command line, input or output; 3 some rows could not be used, the run ended early
    (resume with --resume), or the output could not be written.
    """
    with usage_errors():
        search = SearchOptions.read(index, web)
        if model and judge is None:
            raise InputError("--model requires --judge: pass a language model that marks the answers")
        settings = {
            "command": "data pairs",
            "models": ",".join(model or ()),
            "judge": judge or "",
            "per_model": per_model,
            "wrong": wrong,
            "pairs": pairs,
            "seed": seed,
            **search.settings,
            "search_model": search_model or "",
            **({} if wording == "ours" else {"wording": wording}),
            "vouching": __version__,
        }
        if wording == "paper" and search_model is None:
            raise InputError("--wording paper requires --search-model: its prompts are those of the search")
        work = partial(
            open_pair_maker, model or [], judge, per_model, wrong, pairs, search, search_model, seed, wording
        )
        spread, waits = Spread(shard, engine, ray_address, jobs), "a web engine" if search.waits else None
        files = MadeFiles(input, output, resume, spread.wanted(input))
        waits = "a language model" if model or judge or search_model else waits
        raise typer.Exit(ended(make_pairs(files, work, settings, dpo, spread.made, waits)))


if __name__ == "__main__":
    from recipes.rank.pairs import pairs_command as importable  # other processes load the work by this name

    typer.run(importable)
