"""Write the measured figures into README.md and docs/figures.md, between their ``<!-- figures -->`` marks.

    python benchmarks/render.py

Reads benchmarks/results/*.json and docs/results/embedded-rules/results.json, and measures nothing. Left out: figures of
other tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
SETS = ROOT / "docs/results/embedded-rules/results.json"
START, END = "<!-- figures -->", "<!-- /figures -->"
Figures = dict[str, Any]
SPEED_NOTE = """
Short claims: {claims:,} claims of one sentence from `{texts}`, {words_per_claim:.0f} words on average, each with the
first three sentences of its source, {words_per_source:.0f} words. Every source is read anew, and a fix is looked for in
the {not_attributable} claims judged Not Attributable; {fixed} get one. Imports are medians of 15 runs, commands of 7. A
long source is one process that checks one claim twice; shorter texts are repeated to make it."""
SETS_NOTE = """
Vouch and word overlap: AUROC, the chance that a supported claim scores above an unsupported one; 0.5 is guessing. Word
overlap is the share of the claim's distinct words, function words aside, that occur in the source; claim length calls
the shorter claim the likelier supported. "Beaten by claim length": its AUROC is higher, by however little. Intervals:
paired {method} bootstrap, {resamples:,} resamples by {unit} of rows that share a source, a document or a claim, seed
{seed}. Balanced accuracy: the mean of the shares of right labels among supported and among unsupported claims, at
threshold 0.5. healthver shares 375 of its sources with the development set on which settings were chosen."""
SPANS_NOTE = """
Response F1: of calling a response (WiCE: a claim) Not Attributable. Span F1: of the characters (RAGTruth) or tokens
(WiCE) that are called unsupported; beside it that of calling everything so."""


def short_lines(speed: Figures, public: Figures) -> Iterator[str]:
    """The few figures of README.md."""
    sets = [found for found in public["sets"].values() if not found["remark"] and not found["undefined"]]
    verdicts = [verdict for found in sets if (verdict := found["difference"]["verdict"]) != "no interval"]
    claims, command = speed["short_claims"]["claims_per_second"], speed["cold_command"]["seconds"]
    long = speed["long_sources"]["20,000 words"]
    yield f"- {claims} short claims a second on one core; a whole `vouch check` takes {command:.2f} s."
    yield (
        f"- A source of 20,000 words takes {long['cold_seconds']:.2f} s, "
        f"each further claim on it {1000 * long['warm_seconds']:.0f} ms."
    )
    yield f"- On {len(verdicts)} public test sets it tells supported from unsupported claims better than word overlap"
    yield f"  on {verdicts.count('better')}, worse on {verdicts.count('worse')}; on the rest no difference is shown."
    yield f"- Measured {speed['date']} on {speed['machine']}. All figures: [docs/figures.md](docs/figures.md)."


def speed_lines(record: Figures) -> Iterator[str]:
    """The section on speed."""
    imports, claims = record["import"], record["short_claims"]
    milliseconds = {name: 1000 * imports[f"{name}_seconds"] for name in ("vouching", "vouching_check", "pydantic")}
    times = "times `import pydantic`"
    rows = {
        "`import vouching`": f"{milliseconds['vouching']:.0f} ms, {imports['vouching_to_pydantic']:.2f} {times}",
        "the same with `vouching.check` loaded": (
            f"{milliseconds['vouching_check']:.0f} ms, {imports['vouching_check_to_pydantic']:.2f} {times}"
        ),
        "`import pydantic`, for comparison": f"{milliseconds['pydantic']:.0f} ms",
        "a whole `vouch check`, from start to exit": f"{record['cold_command']['seconds']:.2f} s",
        "short claims, one core": f"{claims['claims_per_second']} a second",
    }
    for name, source in record["long_sources"].items():
        rows[f"a source of {name}"] = (
            f"{source['cold_seconds']:.2f} s, the next claim {1000 * source['warm_seconds']:.0f} ms; "
            f"{source['peak_megabytes']:,} MB of memory at the peak"
        )
    yield from ("## Speed", "", origin(record), "", "| what | measured |", "|---|---|")
    yield from (f"| {name} | {figure} |" for name, figure in rows.items())
    yield SPEED_NOTE.format(**claims, texts=record["texts"])


BATCH_NOTE = """
Short rows, each with words that no other has. The last line is of a run of its own beside other work, for its memory;
its rate says nothing."""


def batch_lines(record: Figures, million: Figures) -> Iterator[str]:
    """The section on files of rows."""
    yield from ("## Files of rows", "", origin(record), "")
    yield "| processes | rows | rows a second | peak memory of the first process, of the others |"
    yield "|--:|--:|--:|---|"
    for rows, run in [(one["rows"], run) for one in (record, million) for run in one["runs"]]:
        peaks = (
            f"{peak['parent']} MB{''.join(f', {worker} MB' for worker in peak['workers'])} at {mark}"
            for mark, peak in run["peak_megabytes"].items()
        )
        yield f"| {run['jobs']} | {rows:,} | {run['rows_per_second']:,} | {'; '.join(peaks)} |"
    yield BATCH_NOTE


def public_lines(record: Figures) -> Iterator[str]:
    """The section on the public test sets."""
    yield from ("## Public test sets", "", origin({**record, **record["settings"]}), "")
    yield (
        "| set | rows | groups | Vouch | word overlap | difference, 95 % interval | | claim length "
        "| balanced accuracy |"
    )
    yield "|---|--:|--:|--:|--:|---|---|--:|--:|"
    for name, found in record["sets"].items():
        metrics, difference = found["metrics"], found["difference"]
        mark = " *" if found["remark"] else ""
        if metrics["auroc"]["estimate"] is None:
            why = found["undefined"].partition(":")[0]
            yield f"| {name}{mark} | {found['rows']} | {found['groups']} | {why} | | | | | |"
            continue
        ours, length = metrics["auroc"]["estimate"], found["baselines"]["claim_length"]["auroc"]["estimate"]
        beaten = "; beaten by claim length" if length > ours else ""
        yield (
            f"| {name}{mark} | {found['rows']} | {found['groups']} | {ours:.3f} "
            f"| {found['baselines']['overlap']['auroc']['estimate']:.3f} "
            f"| {interval(difference, sign='+')} | {difference['verdict']}{beaten} | {length:.3f} "
            f"| {metrics['balanced_accuracy']['estimate']:.3f} |"
        )
    yield SETS_NOTE.format(**record["bootstrap"])
    for name, found in record["sets"].items():
        if found["remark"]:
            yield from ("", f"\\* {name}: {found['remark']}.")
    yield ""
    yield "| marked errors | rows | response F1 | of always saying so | span F1 | of calling everything so |"
    yield "|---|--:|---|--:|---|--:|"
    yield from span_lines(record["sets"])
    yield SPANS_NOTE


def span_lines(sets: Figures) -> Iterator[str]:
    """A line for each set and part of a set whose errors are marked."""
    for name, found in sets.items():
        parts = {f"{name}, {part}": figures for part, figures in found["parts"].items()}
        for place, figures in {name: found, **parts}.items():
            if figures["spans"]:
                response, spans = figures["metrics"]["na_f1"], figures["spans"]
                yield (
                    f"| {place} | {figures['rows']} | {interval(response)} "
                    f"| {figures['baselines']['always_not_attributable']['na_f1']:.3f} | {interval(spans['f1'])} "
                    f"| {spans['f1_of_marking_everything']:.3f} |"
                )


def interval(figure: Figures, sign: str = "") -> str:
    """A figure with its interval, if it has one."""
    if figure["low"] is None:
        return f"{figure['estimate']:{sign}.3f}"
    return f"{figure['estimate']:{sign}.3f} [{figure['low']:{sign}.3f}, {figure['high']:{sign}.3f}]"


def fit_lines(fitted: Figures, ceilings: Figures) -> Iterator[str]:
    """The section on the data that the score model was fitted on."""
    yield from ("## Fit of the score model", "")
    yield (
        f"`recipes/embedded/fit_rules.py`, seed {fitted['seed']}, {fitted['folds']} folds by document and claim; "
        f"{fitted['date']}, {fitted['machine']}."
    )
    yield from ("", "| training set | rows | AUROC, held-out documents | share in the fit |", "|---|--:|--:|--:|")
    for name, found in fitted["sets"].items():
        yield f"| {name} | {found['rows']} | {found['auroc_held_out']:.3f} | {found['share']:g} |"
    constant = f"; always answering .5: {fitted['brier_of_one_half']:.3f}" if "brier_of_one_half" in fitted else ""
    yield from ("", f"Brier score on held-out documents: {fitted['brier_held_out']:.3f}{constant}.")
    yield from ("", "| decisive difference | ceiling |", "|---|--:|")
    yield from (f"| {kind.replace('_', ' ')} | {value:.3f} |" for kind, value in ceilings.items())


def origin(record: Figures) -> str:
    """Command, date and machine of a result."""
    made_by = f"`{record['command']}`, {record['model']}, vouching {record.get('version') or record['vouching']}"
    return f"{made_by}; {record['date']}, {record['machine']}."


def read_json(path: Path) -> Figures:
    """A result file."""
    return json.loads(path.read_text(encoding="utf-8"))


def rewrite(page: Path, body: str) -> None:
    """Replace what stands between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{page.name} has no {START} ... {END}")
    page.write_text(f"{before}{START}\n{body}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Rewrite both pages."""
    speed, public = read_json(RESULTS / "speed.json"), read_json(SETS)
    weights = read_json(ROOT / "src/vouching/verifiers/embedded/weights/rules.json")
    batch = read_json(RESULTS / "batch.json"), read_json(RESULTS / "batch_million.json")
    sections = (
        speed_lines(speed),
        batch_lines(*batch),
        public_lines(public),
        fit_lines(weights["fitted"], weights["ceilings"]),
    )
    rewrite(ROOT / "README.md", "\n".join(short_lines(speed, public)))
    rewrite(ROOT / "docs/figures.md", "\n\n".join("\n".join(section) for section in sections))


if __name__ == "__main__":
    main()
