"""``vouch answer`` and ``vouch rank``: answer a question from sources, and rank the answers to questions.

Not supported: searching for the sources of ``answer``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vouching.answering.prompt import Style
from vouching.cli.judge import write_record
from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import (
    HOW,
    ROWS,
    Indexes,
    Json,
    Output,
    Resume,
    Seed,
    SourceFiles,
    SourceTexts,
    WebEngines,
    Worded,
    argument_text,
    given_sources,
    is_read,
    panel,
    refuse_row_contradictions,
    refuse_second_stdin,
)
from vouching.cli.streams import (
    Exit,
    draw,
    progress,
    show_rows,
    usage_errors,
    write_error,
    write_json,
    write_summary,
)
from vouching.errors import InputError
from vouching.prompts import Wording
from vouching.rows import ROWS_AT_ONCE, BatchSummary, RowJob, read_as
from vouching.search.options import SearchOptions
from vouching.shortcuts import AuditMethod
from vouching.types import VERDICT_VERSION, Ranking, RankMode
from vouching.version import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.answering.answer import Answered
    from vouching.answering.prompt import Shot
    from vouching.methods.discriminative.rank import Ranker

app = typer.Typer()

_Question = Annotated[str, typer.Option(metavar="TEXT", help="The question to answer.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", envvar="VOUCH_MODEL", help="Language model that answers, such as http://host:8000/v1#name."
    ),
]
_Prompt = Annotated[
    Style, typer.Option(help="Prompt style: direct (plain), step by step (cot), or with examples (few-shot).")
]
_Shots = Annotated[
    str | None, typer.Option(metavar="ROWS", help="File with your examples for --prompt few-shot (see docs/answer.md).")
]
_Generations = Annotated[
    int, typer.Option(metavar="N", min=1, help="Number of drafts; the most frequent answer is used.")
]
_Method = Annotated[
    AuditMethod,
    typer.Option(
        help="How drafts are audited: with blind questions (blinded), or claim by claim (see docs/answer.md)."
    ),
]
_Judge = Annotated[
    str, typer.Option(metavar="NAME", help="Model that audits the drafts: embedded, or a language model.")
]
_Repair = Annotated[
    Literal["mark", "remove", "keep"] | None,
    typer.Option(help="Apply fixes to the answer and audit it again; mark, remove or keep claims without a fix."),
]
_MaxTokens = Annotated[
    int, typer.Option(metavar="N", min=1, help="Maximum number of tokens in a draft; increase it for reasoning models.")
]
_Fail = Annotated[bool, typer.Option("--fail", metavar="", help="Exit with status 1 if the answer fails the audit.")]
_ReportFile = Annotated[str | None, typer.Option(metavar="PATH", help="Also write a report: .html or .md.")]

_EPILOG = """
**Examples**

vouch answer --question "How high is the tower?" --source tower.txt --model http://localhost:8000/v1#qwen

vouch answer --question "How many are there?" --source a.txt --source b.txt --prompt cot --generations 8 --repair mark

**Exit status**: 0 done; 1 the answer fails the audit (only with --fail); 2 invalid command line or file; 3 the audit is
undecided, the language model could not be reached, or the result could not be written; 130 interrupted.
"""


@app.command("answer", epilog=_EPILOG)
def answer_command(
    question: _Question,
    source: SourceFiles = None,
    source_text: SourceTexts = None,
    model: _Model = None,
    prompt: _Prompt = "plain",
    shots: _Shots = None,
    generations: _Generations = 1,
    method: _Method = "blinded",
    judge: _Judge = "embedded",
    repair: _Repair = None,
    seed: Seed = None,
    max_tokens: _MaxTokens = 1024,
    fail: _Fail = False,
    as_json: Json = False,
    report: _ReportFile = None,
) -> None:
    """Answer a question from sources with a language model, audit the answer and repair it.

    Each draft is audited against the same sources. With several drafts, the most frequent answer is used, in the
    wording of the draft with the best audit.
    """
    from vouching.answering.answer import AnswerConfig, Answerer, open_writer
    from vouching.shortcuts import open_audit

    with usage_errors("--judge"):
        if not source and not source_text:
            raise InputError("no source was given: pass --source FILE or --source-text TEXT")
        refuse_second_stdin(*(source or ()))
        if shots is not None and prompt != "few-shot":
            raise InputError("--shots requires --prompt few-shot")
        given, _ = given_sources(source or (), source_text or ())
        asked = argument_text(question, "--question")
        config = AnswerConfig(prompt, generations, max_tokens=max_tokens, seed=seed, shots=_shots(shots))
        if report is not None:
            from vouching.report.skeleton import page_target

            page_target(report, markdown=True)
            if is_read(report, *(source or [])):
                raise InputError(f"--report {report} is an input file and would be overwritten: choose another path")
        writer, audit = open_writer(model), open_audit(judge, method)
        answerer = Answerer(writer, audit, config)
        with progress("Answering"):
            answered = answerer.answer(asked, given, repair)
            answerer.close()
        _write_report(answered, report)
    _write(answered, as_json)
    if answered.report is not None and not answered.report.findings:
        advice = ": try --method embedded, which judges claim by claim" if method == "blinded" else ""
        write_error(f"the audit found nothing to judge in the answer{advice}")
    raise typer.Exit(_exit_status(answered, fail))


def _shots(path: str | None) -> tuple[Shot, ...] | None:
    from vouching.answering.prompt import read_shots

    if path is None:
        return None
    try:
        return read_shots(read_as(path, lambda fields, name: fields))
    except InputError as error:
        raise InputError(f"--shots {path}: {error}") from None


def _exit_status(answered: Answered, fail: bool) -> Exit:
    """The exit status, by the audit of the answer before repair."""
    if answered.report is None:
        return Exit.OK
    passed = answered.report.passed
    if passed is None:
        return Exit.INCOMPLETE
    return Exit.FINDINGS if fail and not passed else Exit.OK


def _write_report(answered: Answered, path: str | None) -> None:
    if path is None:
        return
    if answered.report is None:
        write_error(f"{path} was not written: the sources do not contain the answer, so there is nothing to report")
        return
    write_record(path, answered.report, answered.report.sources, answered.question)


def _write(answered: Answered, as_json: bool) -> None:
    if as_json:
        write_json(answered.record())
        return
    from vouching.report.terminal import print_report
    from vouching.types.visible import visible, visible_line

    def paint(console: Console) -> None:
        console.print(visible(answered.text) if answered.text else "The sources do not contain the answer.")
        drafts = len(answered.drafts)
        if drafts > 1:
            judged = {True: "yes", False: "no", None: "undecided"}[answered.faithful]
            votes = f"{answered.votes} of {drafts} drafts; faithful by majority vote: {judged}"
            console.print(f"\n{visible_line(answered.answer)}: {votes}")
        if answered.report is not None:
            console.print()
            print_report(console, answered.report)

    draw(paint)


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
        help="The scorer: embedded:rules, embedded, embedded:FOLDER, discriminative:PATH, minicheck:PATH, hhem:PATH, "
        "factscore:MODEL; the modes generative, agentic and points require a language model such as "
        "http://host:8000/v1#name or openai/name.",
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
    panel(ROWS, "--input", metavar="PATH|-", help="Rows with question, answers and, optionally, id and sources."),
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
    as_json: Json = False,
    ledger: LedgerTarget = None,
    input: _Input = None,
    output: Output = None,
    resume: Resume = False,
) -> None:
    """Rank the answers to a question by how well the evidence supports them, and explain why.

    The evidence is given as sources or found by a search. Works offline unless a language model or a web search is
    used. Tied answers share a rank; answers without a score are listed separately.
    """
    from vouching.inputs import as_sources
    from vouching.methods.discriminative.open import NO_EVIDENCE_MODES, open_ranker
    from vouching.models.running import run

    with usage_errors():
        search, keeping = SearchOptions.read(index, web), Keeping("rank", ledger)
        singles = {
            "--question": question, "--answer": answer, "--source": source, "--source-text": source_text,
            "--json": as_json,
        }  # fmt: skip
        refuse_row_contradictions(singles, (input, output, resume))
        evidence = bool(source or source_text or search)
        if input is None and (question is None or not answer):
            raise InputError(
                "no answers were given: pass --question TEXT and --answer TEXT (repeated), or --input ROWS (see --help)"
            )
        _refuse_mode(mode, search_model, evidence, needed=input is None)
        refuse_second_stdin(*(source or ()))
        engines = search.engines() if search else []
        # An invalid setting shows before any file is created.
        ranker = open_ranker(
            score_model, mode, search_model=search_model, engines=engines, queries=search.queries,
            wording=wording or "ours",
        )  # fmt: skip
        if input is not None and output is not None:
            needed = not search and mode not in NO_EVIDENCE_MODES
            job = _job((input, output, resume), ranker, (score_model, search_model), search, needed, wording)
            raise typer.Exit(_summarize(show_rows(keeping.job(job))))
        keeping.refuse()
        given, warnings = given_sources(source or (), source_text or ())
        asked, texts = argument_text(question or "", "--question"), [argument_text(a, "--answer") for a in answer or ()]
        with progress("Ranking"):
            ranking = run(ranker.rank(asked, texts, as_sources(given) if given else ()))
            run(ranker.aclose())
        ranking = replace(ranking, warnings=(*ranking.warnings, *warnings))
        keeping.result({"question": asked, "answers": texts}, ranking, as_sources(given) if given else ())
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


def _job(
    files: tuple[str, str, bool], ranker: Ranker, models: tuple[str, str | None], search: SearchOptions, needed: bool,
    wording: Wording | None,
) -> RowJob:  # fmt: skip
    """The job that ranks a file of rows; ``models`` names the scorer and the search model."""
    from vouching.methods.discriminative.rank import rank_work, seen_ranking
    from vouching.models.open import is_model

    input, output, resume = files
    asked = any(is_model(name or "") for name in models) or search.web
    settings = {
        "command": "rank", "mode": ranker.mode, "score model": models[0], "search model": models[1],
        **({"wording": wording} if wording else {}), **search.settings, "calibrator": ranker.calibrator,
        "record": VERDICT_VERSION, "vouching": __version__,
    }  # fmt: skip
    work = rank_work(ranker, needed, ROWS_AT_ONCE if asked else _AT_ONCE)
    return RowJob(input, output, work, seen_ranking, settings, ("question",), resume)


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
