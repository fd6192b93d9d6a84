"""``vouch rank``: rank the answers to questions by how well the evidence supports them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import (
    HOW,
    ROWS,
    Indexes,
    Json,
    MaxTokens,
    Output,
    Resume,
    SourceFiles,
    SourceTexts,
    WebEngines,
    Worded,
    argument_text,
    given_sources,
    panel,
    refuse_row_contradictions,
    refuse_second_stdin,
)
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import Exit, draw, progress, usage_errors, write_json, write_summary
from vouching.errors import InputError
from vouching.prompts import Wording
from vouching.rows import ROWS_AT_ONCE, AsyncWorkFactory, BatchSummary, RowJob
from vouching.search.options import SearchOptions
from vouching.types import VERDICT_VERSION, Ranking, RankMode
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.methods.discriminative.rank import Ranker

app = typer.Typer()

_RANKED = "What to rank"
_AT_ONCE = 8
"""Rows in flight for local scorers: enough to fill a batch, few enough that the first lines come soon."""

_RANK_EPILOG = """
**Examples**

vouch rank --question "When did it open?" --answer "In 1937." --answer "In 1973." --source bridge.txt

vouch rank --question "Who built it?" --answer Ada --answer Bob --index notes --web wikipedia --json

vouch rank --input questions.jsonl --output rankings.jsonl --index notes --score-model discriminative:runs/rank/model

vouch rank --input questions.jsonl --output rankings.jsonl --index notes --mode agentic
    --search-model http://localhost:8000/v1#qwen --score-model http://localhost:8000/v1#qwen

**Exit status**: 0 done; 2 invalid command line or file; 3 an answer has no score, a language model's reply is not a
ranking, a row could not be used, a model could not be reached, or the result could not be written; 130 interrupted.
"""


_RankQuestion = Annotated[str | None, panel(_RANKED, metavar="TEXT", help="The question that the answers respond to.")]
_Answers = Annotated[list[str] | None, panel(_RANKED, metavar="TEXT", help="An answer to rank. Can be repeated.")]
_Mode = Annotated[
    RankMode | None,
    panel(
        HOW,
        metavar="MODE",
        help="Evidence that a scorer sees (compressed, facts, full or no-search), or how a language model ranks: "
        "generative (from memory), agentic (after a search), or points (1 to 10 for each answer, after a search).",
    ),
]
_ScoreModel = Annotated[
    str,
    panel(
        HOW,
        metavar="NAME",
        help="The scorer: embedded:rules, embedded:small, embedded, embedded:FOLDER, discriminative:PATH, "
        "minicheck:PATH, hhem:PATH, factscore:MODEL; the modes generative, agentic and points "
        "require a language model such as http://host:8000/v1#name or openai/name.",
    ),
]
_SearchModel = Annotated[
    str | None,
    panel(
        HOW, metavar="NAME", help="Language model that searches and compresses the evidence; default: word matching."
    ),
]
_Input = Annotated[
    str | None,
    panel(
        ROWS,
        "--input",
        metavar="PATH|-",
        help="File or folder of rows with question, answers and, optionally, id and sources.",
    ),
]


@app.command("rank", epilog=_RANK_EPILOG)
def rank_command(
    question: _RankQuestion = None,
    answer: _Answers = None,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    index: Indexes = None,
    web: WebEngines = None,
    mode: _Mode = None,
    score_model: _ScoreModel = "embedded:rules",
    search_model: _SearchModel = None,
    wording: Worded = None,
    max_tokens: MaxTokens = None,
    as_json: Json = False,
    ledger: LedgerTarget = None,
    input: _Input = None,
    output: Output = None,
    resume: Resume = False,
    jobs: Jobs = 1,
    shard: ShardOf = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
) -> None:
    """Rank the answers to a question by how well the evidence supports them, and explain why.

    The evidence is given as sources or found by a search. Works offline unless a language model or a web search is
    used. Tied answers share a rank; answers without a score are listed separately.
    """
    from vouching.inputs import as_sources
    from vouching.methods.discriminative.open import NO_EVIDENCE_MODES
    from vouching.models.running import run

    with usage_errors():
        search, keeping = SearchOptions.read(index, web), Keeping("rank", ledger)
        singles = {
            "--question": question,
            "--answer": answer,
            "--source": source,
            "--source-text": source_text,
            "--json": as_json,
        }
        spread = Spread(shard, engine, ray_address, jobs)
        refuse_row_contradictions(singles, (input, output, resume), of_rows=spread.given)
        if input is None and (question is None or not answer):
            raise InputError(
                "no answers were given: pass --question TEXT and --answer TEXT (repeated), or --input ROWS (see --help)"
            )
        _refuse_mode(mode, search_model, bool(source or source_text or search), needed=input is None)
        refuse_second_stdin(*(source or ()))
        ranking_by = _Ranked(score_model, mode, search_model, search, wording, max_tokens)
        ranker = ranking_by.ranker()  # an invalid setting shows before any file is created
        if input is not None and output is not None:
            ranking_by = replace(ranking_by, needed=not search and mode not in NO_EVIDENCE_MODES)
            raise typer.Exit(_summarize(spread.rows(keeping.job(ranking_by.job((input, output, resume), ranker)))))
        keeping.refuse()
        given, warnings = given_sources(source or (), source_text or ())
        asked, texts = argument_text(question or "", "--question"), [argument_text(a, "--answer") for a in answer or ()]
        with progress("Ranking"):
            ranking = run(ranker.rank(asked, texts, sources := as_sources(given) if given else ()))
            run(ranker.aclose())
        ranking = replace(ranking, warnings=(*ranking.warnings, *warnings))
        keeping.result({"question": asked, "answers": texts}, ranking, sources)
        _write_ranking(ranking, as_json)
    raise typer.Exit(Exit.INCOMPLETE if ranking.unverified or ranking.invalid is not None else Exit.OK)


def _refuse_mode(mode: RankMode | None, search_model: str | None, evidence: bool, needed: bool) -> None:
    """Raise InputError if the mode does not fit the evidence and models."""
    from vouching.methods.discriminative.open import NO_EVIDENCE_MODES

    if needed and not evidence and mode not in NO_EVIDENCE_MODES:
        raise InputError("no evidence was given: pass --source FILE, --source-text TEXT, --index PATH or --web ENGINE")
    if mode in NO_EVIDENCE_MODES and evidence:
        raise InputError(f"--mode {mode} uses no evidence: omit sources and search engines")
    if mode in NO_EVIDENCE_MODES and search_model is not None:
        raise InputError(f"--search-model cannot be used with --mode {mode}, which does not search")


@dataclass(frozen=True, slots=True)
class _Ranked:
    """How answers are ranked; opens the work, also in other processes."""

    score_model: str
    mode: RankMode | None
    search_model: str | None
    search: SearchOptions
    wording: Wording | None
    max_tokens: int | None = None
    needed: bool = True
    """Whether a row needs sources."""

    def ranker(self) -> Ranker:
        """The ranker. Raises ConfigError for an unknown model or an invalid setting."""
        from vouching.methods.discriminative.open import open_ranker

        engines = self.search.engines() if self.search else []
        return open_ranker(
            self.score_model,
            self.mode,
            search_model=self.search_model,
            engines=engines,
            queries=self.search.queries,
            wording=self.wording or "ours",
            max_tokens=self.max_tokens,
        )

    def opened(self) -> AsyncWorkFactory:
        """The work in another process."""
        return self._work(self.ranker())

    def _work(self, ranker: Ranker) -> AsyncWorkFactory:
        from vouching.methods.discriminative.rank import rank_work

        return rank_work(ranker, self.needed, ROWS_AT_ONCE if self._waits else _AT_ONCE)

    @property
    def _waits(self) -> str | None:
        from vouching.models.open import is_model

        if any(is_model(name or "") for name in (self.score_model, self.search_model)):
            return "a language model"
        return "a web engine" if self.search.web else None

    def job(self, files: tuple[str, str, bool], ranker: Ranker) -> RowJob:
        """The job that ranks a file of rows."""
        from vouching.methods.discriminative.rank import seen_ranking

        input, output, resume = files
        settings = {
            "command": "rank",
            "mode": ranker.mode,
            "score model": self.score_model,
            "search model": self.search_model,
            **({"wording": self.wording} if self.wording else {}),
            **self.search.settings,
            **({"max_tokens": self.max_tokens} if self.max_tokens else {}),
            "calibrator": ranker.calibrator,
            "record": VERDICT_VERSION,
            "vouching": __version__,
        }
        return RowJob(
            input,
            output,
            self._work(ranker),
            seen_ranking,
            settings,
            ("question",),
            resume,
            open_work=self.opened,
            waits=self._waits,
            table="rankings",
        )


def _summarize(summary: BatchSummary) -> Exit:
    """Report on the rows and return the exit status."""
    counts = summary.counts
    words = f", {counts['answers']:,} answers"
    words += f", {counts['without a score']:,} without a score" if counts["without a score"] else ""
    words += f", {counts['no ranking']:,} rows whose reply is not a ranking" if counts["no ranking"] else ""
    write_summary(summary, words)
    open_rows = counts["without a score"] or counts["no ranking"]
    return Exit.OK if summary.complete and not open_rows else Exit.INCOMPLETE


def _write_ranking(ranking: Ranking, as_json: bool) -> None:
    if as_json:
        write_json(ranking)
        return
    from vouching.report.terminal import print_ranking

    draw(lambda console: print_ranking(console, ranking))
