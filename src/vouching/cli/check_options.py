"""The options of ``vouch check`` and which of them go together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from vouching.cli.files import STDIN, is_read
from vouching.cli.search_options import SearchOptions
from vouching.errors import InputError
from vouching.judging.votes import Aggregate

CheckMethod: TypeAlias = Literal["embedded", "structured", "label", "rules", "checklist", "holistic", "blinded"]
"""How claims or answers are judged: the three before the last judge an answer by its instruction."""


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """What belongs to a single method: the last two to ``blinded``, the others to ``checklist``."""

    checklist: str | None = None
    """Path of a checklist, or "-"; None has one made."""
    reasons: bool = False
    """Whether to ask for a reason and the words that decide."""
    aggregate: Aggregate | None = None
    """How the votes on an item become a judgment; None for by the threshold."""
    scope: Literal["numbers", "facts"] | None = None
    """What is asked about; None for numbers."""
    match: Literal["units", "released"] | None = None
    """How answers are compared; None for units."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of one ``vouch check``, as given."""

    claim: str | None = None
    """The statement, or "-" for standard input."""
    response: str | None = None
    """Path of a whole answer, or "-"."""
    response_text: str | None = None
    """A whole answer."""
    question: str | None = None
    """The question the answer is to."""
    source: tuple[str, ...] = ()
    """Paths of sources, or "-"."""
    source_text: tuple[str, ...] = ()
    """Sources themselves."""
    repair: bool = False
    """Whether to mend the answer."""
    rest: Literal["mark", "remove", "keep"] | None = None
    """What to do with claims that have no fix; None if not said."""
    threshold: float = 0.5
    """Score from which a claim counts as Attributable."""
    model: str = "embedded"
    """Name of what judges."""
    fail: bool = False
    """Whether a claim that is not Attributable fails the command."""
    as_json: bool = False
    """Whether to print JSON."""
    as_markdown: bool = False
    """Whether to print Markdown."""
    report: str | None = None
    """Path of an HTML report to write."""
    input: str | None = None
    """Path of rows to check, or "-"."""
    output: str | None = None
    """Path of the verdicts on the rows, or "-"."""
    resume: bool = False
    """Whether to finish an output that was cut short."""
    jobs: int = 1
    """How many processes check rows; 0 for one per core."""
    stop_on_error: bool = False
    """Whether a row that cannot be used ends the command."""
    method: CheckMethod | None = None
    """How the model is asked; None for what suits it."""
    votes: int = 1
    """How many answers of a language model decide."""
    seed: int | None = None
    """Seed of a language model's sampling."""
    max_tokens: int | None = None
    """Length of a language model's reply; None for the usual one."""
    search: SearchOptions = field(default_factory=SearchOptions)
    """Where to search for sources."""
    of_method: MethodOptions = field(default_factory=MethodOptions)
    """What only one method takes."""

    @property
    def by_instruction(self) -> bool:
        """Whether an answer is judged by its instruction, and needs no sources."""
        return self.method in ("rules", "checklist", "holistic")

    @property
    def repair_rest(self) -> Literal["mark", "remove", "keep"] | None:
        """What to do with claims that have no fix; None if nothing is to be repaired."""
        return (self.rest or "mark") if self.repair else None


def refuse_contradictions(options: CheckOptions) -> None:
    """Raise InputError with the most important thing that is wrong with the options, if anything is."""
    of_kind = _of_rows if options.input is not None else _of_one
    for complaint in chain(_of_method(options), of_kind(options)):
        raise InputError(complaint)
    if options.rest and not options.repair:
        raise InputError(f"got --rest {options.rest} without --repair: add --repair")
    for complaint in options.search.complaints():
        raise InputError(complaint)


def _of_method(options: CheckOptions) -> Iterator[str]:
    """What is wrong with the options for a method that judges an answer by its instruction, or for others."""
    method, asks, own = options.method, options.method in ("checklist", "holistic"), options.of_method
    of_items = {
        "--checklist": own.checklist is not None,
        "--reasons": own.reasons,
        "--aggregate": own.aggregate is not None,
    }
    of_pairs = {"--scope": own.scope is not None, "--match": own.match is not None}
    foreign = {
        **(
            {} if method == "rules" or asks else dict.fromkeys((k for k, used in of_items.items() if used), "checklist")
        ),
        **({} if method == "blinded" else dict.fromkeys((k for k, used in of_pairs.items() if used), "blinded")),
    }
    for name, owner in foreign.items():
        yield f"got {name} without --method {owner}: add that, or leave it out"
    unused = {
        "--index or --web": bool(options.search), "--repair": options.repair,
    }  # fmt: skip
    if method == "blinded":
        for name in (n for n, used in {**unused, "--jobs": options.jobs != 1}.items() if used):
            yield f"got {name} with --method {method}, which has no use for it: leave it out"
    if method != "rules" and not asks:
        return
    if options.claim is not None:
        yield f"got a CLAIM with --method {method}, which checks a whole answer: use --response or --response-text"
    if asks:
        unused |= {"--jobs": options.jobs != 1, "--checklist": method == "holistic" and of_items["--checklist"]}
    else:
        unused |= {
            "--source": bool(options.source), "--source-text": bool(options.source_text),
            "--threshold": options.threshold != 0.5, "--votes": options.votes != 1, "--seed": options.seed is not None,
            "--max-tokens": options.max_tokens is not None, **of_items,
        }  # fmt: skip
    for name in (name for name, used in unused.items() if used):
        yield f"got {name} with --method {method}, which has no use for it: leave it out"
    if options.input is None and options.question is None:
        yield f"got --method {method} without the instruction that the answer is to follow: add --question TEXT"
    if [own.checklist, options.response, options.input].count(STDIN) > 1:
        yield "got - more than once, but standard input can be read only once: name a file for the others"


def _of_one(options: CheckOptions) -> Iterator[str]:
    """What is wrong with the options for one claim or answer, most important first."""
    rows = {
        "--output": options.output, "--resume": options.resume, "--stop-on-error": options.stop_on_error,
        "--jobs": options.jobs != 1,
    }  # fmt: skip
    for name in (name for name, used in rows.items() if used):
        yield f"got {name} without --input, but it belongs to a file of rows: add --input ROWS"
    given = {"CLAIM": options.claim, "--response": options.response, "--response-text": options.response_text}
    names = [name for name, value in given.items() if value is not None]
    if not names:
        yield "nothing to check: give a CLAIM, --response FILE, --response-text TEXT or --input ROWS (see --help)"
    if len(names) > 1:
        yield f"got {' and '.join(names)}, wanted one of them: check them one after the other"
    if options.claim is not None and _is_file(options.claim):
        yield f"CLAIM {options.claim} is a file, wanted a statement: check its text with --response {options.claim}"
    if not options.source and not options.source_text and not options.search and not options.by_instruction:
        yield (
            "no source was given: say what to check against with --source FILE or --source-text TEXT, or where to "
            "search with --index PATH or --web ENGINE"
        )
    if [options.claim, options.response, *options.source].count(STDIN) > 1:
        yield "got - more than once, but standard input can be read only once: name a file for the others"
    if options.report is not None and is_read(options.report, options.response, *options.source):
        yield f"--report {options.report} is a file that is read here, and would be lost: name another place"
    alone = {"--question": options.question is not None, "--repair": options.repair}
    if options.claim is not None and any(alone.values()):
        name = next(name for name, used in alone.items() if used)
        yield f"got {name} with a CLAIM, but it belongs to a whole answer: use --response or --response-text"
    if options.as_json and options.as_markdown:
        yield "got --json and --markdown, wanted one of them"


def _of_rows(options: CheckOptions) -> Iterator[str]:
    """What is wrong with the options for a file of rows, most important first."""
    singles = {
        "CLAIM": options.claim, "--response": options.response, "--response-text": options.response_text,
        "--question": options.question, "--source": options.source, "--source-text": options.source_text,
    }  # fmt: skip
    for name in (name for name, value in singles.items() if value not in (None, ())):
        yield f"got {name} with --input, but each row has a claim or an answer and sources of its own: leave it out"
    if options.as_json or options.as_markdown:
        yield "got --json or --markdown with --input, but rows always give one line of JSON each: leave it out"
    if options.output is None:
        yield "got --input without --output: say where the verdicts go, a file that ends in .jsonl, or - to print them"
    if options.resume and options.output == STDIN:
        yield "got --resume with --output -, but only a file can be resumed: name a file"
    if options.report is not None and STDIN in (options.input, options.output):
        yield "got --report with -, but it is made from the files of the rows and the verdicts: name both files"
    if options.jobs < 0:
        yield f"--jobs is {options.jobs}, wanted a number of processes, or 0 for one per core"
    named = (options.input, options.output, options.report, options.search.record, options.search.replay)
    files = [Path(path).resolve() for path in named if path and path != STDIN]
    if len({*files}) < len(files):
        yield "--input, --output, --report, --record and --replay must be different files"


def _is_file(claim: str) -> bool:
    """Whether a claim is the path of a file; a single word could be both, and is a claim."""
    try:
        return ("." in claim or "/" in claim) and Path(claim).is_file()
    except (OSError, ValueError):
        return False
