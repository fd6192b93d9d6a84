"""Write the measured figures into README.md and three pages of docs, between ``<!-- figures -->`` marks.

    python benchmarks/render.py [ROOT]

Reads the results below ROOT, by default this repository, and measures nothing; draws the pictures of docs/how-good.md.
Sections without a result file are omitted.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from render_assurance import assurance_lines, incomplete_lines
from render_blinded import blinded_lines
from render_encoder import architecture_lines, held_out_lines, training_lines
from render_engine import cost_lines, games_lines, learning_lines
from render_evolve import evolve_lines
from render_probes import probe_lines
from render_public import calibration_lines, error_type_lines, sets_lines, spans_lines
from render_quality import SPEEDS, pictures, quality_lines
from render_rankings import ranking_lines
from render_retrieval import retrieval_lines
from render_search import search_lines, step_lines
from render_small import judge_lines, training_run_lines
from render_tables import RULES, Figures, number, origin, table
from render_wrap import wrapped

FILES = {
    "speed": "benchmarks/results/speed-embedded.json",
    "speed of the small encoder": "benchmarks/results/speed-embedded-small.json",
    "speed of rules": "benchmarks/results/speed-embedded-rules.json",
    "batch": "benchmarks/results/batch.json",
    "batch of a million": "benchmarks/results/batch_million.json",
    "models on servers": "benchmarks/results/models.json",
    "sets": "docs/results/embedded/results.json",
    "sets of rules": "docs/results/embedded-rules/results.json",
    "against rules": "docs/results/embedded-against-rules.json",
    "rankings": "docs/results/fgveribench.json",
    "rankings of rules": "docs/results/fgveribench-rules.json",
    "rankings of a trained scorer": "docs/results/fgveribench-trained.json",
    "search": "docs/results/search.json",
    "search in steps": "docs/results/search_steps.json",
    "search for claims": "docs/results/search_claims.json",
    "retrieval": "benchmarks/results/retrieval.json",
    "blinded": "benchmarks/results/blinded.json",
    "held-out strategies": "recipes/encoder/held_out_strategies.json",
    "encoder speed": "benchmarks/results/encoder_speed.json",
    "assurance": "benchmarks/results/assurance.json",
    "assurance, half of the rules": "benchmarks/results/assurance-incomplete.json",
    "engine": "benchmarks/results/engine.json",
    "engine on a GPU": "benchmarks/results/engine_gpu.json",
    "learning": "benchmarks/results/learning.json",
    "games": "benchmarks/results/games.json",
    "probes": "benchmarks/results/probes.json",
    "evolve": "benchmarks/results/evolve.json",
    "small models": "benchmarks/results/small_models.json",
    "small training run": "benchmarks/results/smollm2_grpo.json",
    "encoder": "src/vouching/encoder/weights/encoder.json",
    "rules": "src/vouching/embedded/weights/rules.json",
    "contrast": "benchmarks/results/contrast_test.json",
    "voices": "benchmarks/results/voices_test_embedded.json",
    "languages": "benchmarks/results/languages.json",
    "combined": "src/vouching/embedded/weights/combined.json",
}
"""Every file that is read, relative to ROOT."""
RANKINGS = ("rankings", "rankings of rules", "rankings of a trained scorer")
"""Runs on answers to be ranked."""
START, END = "<!-- figures -->", "<!-- /figures -->"
SPEED_NOTE = """
The short claims are {claims:,} one-sentence claims from `{texts}`, {words_per_claim:.0f} words long on average,
each checked against the first three sentences of its source ({words_per_source:.0f} words on average). Sources are
not cached, and a fix is sought for every claim judged Not Attributable: {fixes}. Import times are medians of 15
runs, and command times are medians of 7. Each long source is measured in a separate process that checks one claim
twice; the source is made by repeating shorter texts."""
BATCH_NOTE = """
The rows are short, and each contains words that no other row has. The last line is a separate run made to measure
memory while the machine was busy with other work; ignore its rate."""


def short_lines(found: Mapping[str, Figures]) -> Iterator[str]:
    """The few figures of README.md: one honest figure each."""
    speeds, public, contrast = speeds_of(found), results_of(found), found.get("contrast")
    if speeds:
        rates = ", ".join(f"{one['short_claims']['claims_per_second']} (`{name}`)" for name, one in speeds.items())
        first = next(iter(speeds.values()))
        yield (
            f"- **Free and offline**: short claims a second on one core: {rates}; a whole command takes "
            f"{first['cold_command']['seconds']:.1f} s."
        )
    if public:
        sound = [one for one in public["sets"].values() if not one["remark"] and one["difference"]]
        count, better, worse = tally(one["difference"] for one in sound)
        model = public["settings"]["model"]
        yield (
            f"- **Better than word overlap**, at telling supported from unsupported claims, on {better} of {count} "
            f"public sets, and worse on {worse or 'none'}; on the others the difference is not significant (`{model}`)."
        )
        if flagged := public["sets"].get("ragtruth"):
            figures = flagged["metrics"]
            yield (
                f"- **Cautious**: it flags {100 * figures['na_recall']['estimate']:.0f} % of the faulty answers of "
                f"RAGTruth, but {100 * (1 - figures['na_precision']['estimate']):.0f} % of the answers that it flags "
                "have no fault."
            )
    if contrast:
        figures, (low, high) = (
            contrast["models"]["embedded"],
            contrast["models"]["embedded"]["balanced_accuracy_interval"],
        )
        yield (
            "- **Bad at fine differences**: on pairs of claims that differ in one thing, its balanced accuracy is "
            f"{figures['by_construction']['all']['balanced_accuracy']:.2f} [{low:.2f}, {high:.2f}]; a coin gives .50."
        )


def tally(differences: Iterable[Figures]) -> tuple[int, int, int]:
    """How many differences have an interval, and how many of them are better and worse."""
    verdicts = Counter(difference["verdict"] for difference in differences)
    return verdicts.total() - verdicts["no interval"], verdicts["better"], verdicts["worse"]


def speeds_of(found: Mapping[str, Figures]) -> dict[str, Figures]:
    """The results of speed.py by model, the default first."""
    return {found[name]["model"]: found[name] for name in SPEEDS if name in found}


def results_of(found: Mapping[str, Figures]) -> Figures | None:
    """The results on the public sets of the best model that has any."""
    return found.get("sets") or found.get("sets of rules")


MODELS_NOTE = """
"Before" and "after" are two revisions of Vouch. The server answers after {latency_ms} ms and serves {slots}
requests at once, so the ideal rate is {ideal:,} per second. Processor times are given as the lowest and the median
of three passes of {each:,} checks each."""


def speed_lines(records: Mapping[str, Figures]) -> Iterator[str]:
    """The section on speed, a column for each model."""
    yield "## Speed"
    yield from (line for record in records.values() for line in ("", origin(record)))
    columns = [dict(speed_cells(record)) for record in records.values()]
    rows = ((what, *(column.get(what, "") for column in columns)) for what in columns[0])
    yield from table(("what", *records), rows)
    claims = {model: record["short_claims"] for model, record in records.items()}
    fixes = "; ".join(f"`{model}` fixes {one['fixed']} of {one['not_attributable']}" for model, one in claims.items())
    first = next(iter(records.values()))
    yield SPEED_NOTE.format(**first["short_claims"], texts=first["texts"], fixes=fixes)


def speed_cells(record: Figures) -> Iterator[tuple[str, str]]:
    """What was measured of a model, and the figure."""
    imports = record["import"]
    milliseconds = {name: 1000 * imports[f"{name}_seconds"] for name in ("vouching", "vouching_check", "pydantic")}
    times = "times `import pydantic`"
    yield "`import vouching`", f"{milliseconds['vouching']:.0f} ms, {imports['vouching_to_pydantic']:.2f} {times}"
    yield (
        "`import vouching` with `vouching.check` loaded",
        f"{milliseconds['vouching_check']:.0f} ms, {imports['vouching_check_to_pydantic']:.2f} {times}",
    )
    yield "`import pydantic`, for comparison", f"{milliseconds['pydantic']:.0f} ms"
    yield "a whole `vouch check`, from start to exit", f"{record['cold_command']['seconds']:.2f} s"
    yield "short claims, one core", f"{record['short_claims']['claims_per_second']} per second"
    for name, source in record["long_sources"].items():
        yield (
            f"a source of {name}",
            f"{source['cold_seconds']:.2f} s, the next claim {1000 * source['warm_seconds']:.0f} ms; "
            f"{source['peak_megabytes']:,} MB peak memory",
        )


def batch_lines(record: Figures, million: Figures) -> Iterator[str]:
    """The section on files of rows."""
    yield from ("## Files of rows", "", origin(record))
    rows: list[tuple[object, ...]] = []
    for count, run in [(one["rows"], run) for one in (record, million) for run in one["runs"]]:
        peaks = (
            f"{peak['parent']} MB{''.join(f', {worker} MB' for worker in peak['workers'])} at {mark}"
            for mark, peak in run["peak_megabytes"].items()
        )
        rows.append((run["jobs"], f"{count:,}", f"{run['rows_per_second']:,}", "; ".join(peaks)))
    peak = "peak memory of the main process, then of each worker"
    yield from table(("processes >", "rows >", "rows per second >", peak), rows)
    yield BATCH_NOTE


def decision_lines(record: Figures) -> Iterator[str]:
    """The section on the score of encoder and differences."""
    fitted: Figures = record["fitted"]
    yield from ("## Fit of the score model of `embedded`", "")
    yield (
        f"Fitted with `recipes/reader/fit.py` on {fitted['date']} ({fitted['machine']}). The figures of a set are "
        "those of a model that has seen no claim of it."
    )
    rows = [
        (name, one["claims"], *(number(one[key]) for key in ("auroc", "balanced", "ece")))
        for name, one in fitted["sets"].items()
    ]
    yield from table(("set", "claims >", "AUROC >", "balanced accuracy >", "ECE >"), rows)
    weights = ((term["name"].replace("_", " "), f"{term['weight']:+.2f}") for term in record["terms"])
    yield from table(("feature", "weight for one standard deviation >"), weights)
    ceilings = ((kind.replace("_", " "), number(value)) for kind, value in record["ceilings"].items())
    yield from table(("veto", "ceiling >"), ceilings)


def fit_lines(record: Figures) -> Iterator[str]:
    """The section on the training data of the score model of the rules."""
    fitted: Figures = record["fitted"]
    yield from (f"## Fit of the score model of `{RULES}`", "")
    yield (
        f"Fitted with `recipes/embedded/fit_rules.py` (seed {fitted['seed']}, {fitted['folds']} folds by document and "
        f"claim) on {fitted['date']} ({fitted['machine']})."
    )
    rows = [
        (name, one["rows"], number(one["auroc_held_out"]), f"{one['share']:g}") for name, one in fitted["sets"].items()
    ]
    yield from table(("training set", "rows >", "AUROC, held-out documents >", "weight in the fit >"), rows)
    half = f"; always answering .5 gives {number(fitted['brier_of_one_half'])}" if "brier_of_one_half" in fitted else ""
    yield from ("", f"The Brier score on held-out documents is {number(fitted['brier_held_out'])}{half}.")
    ceilings = ((kind.replace("_", " "), number(value)) for kind, value in record["ceilings"].items())
    yield from table(("decisive difference", "ceiling >"), ceilings)


def models_lines(records: Mapping[str, Figures]) -> Iterator[str]:
    """The section on checks by a language model on a server, a column for each revision."""
    yield "## Checks by a language model on a server"
    yield from (line for name, one in records.items() for line in ("", origin({**one, "model": name})))
    first = next(iter(records.values()))
    ways = {"checks": "a check", "rows": "a row of `vouch check --input`", "calls": "a call of the model alone"}
    rows: list[tuple[str, ...]] = []
    for key, what in ways.items():
        used = [f"{one[key]['min_own_cpu_ms']:.2f} to {one[key]['own_cpu_ms']:.2f} ms" for one in records.values()]
        rows.append((f"{what}: processor time", *used))
        shares = [f"{one[key]['per_second']:,} ({one[key]['share_of_ideal']:.0%})" for one in records.values()]
        rows.append((f"{what}: rate per second (share of the ideal)", *shares))
    rows.append(("opening a model, once per process", *(f"{one['open_cpu_ms']} ms" for one in records.values())))
    rows.append(("share of a core available", *(f"{one['share_of_a_core']:.2f}" for one in records.values())))
    yield from table(("what", *records), rows)
    yield MODELS_NOTE.format(ideal=round(1000 * first["slots"] / first["latency_ms"]), **first)


def links(found: Mapping[str, Figures]) -> Iterator[str]:
    """Links to all figures of the test sets."""
    names = [name for name in ("sets", "sets of rules", "against rules") if name in found]
    paths = (FILES[name].removeprefix("docs/results/") for name in names)
    shown = ", ".join(f"[{path}](results/{path})" for path in paths)
    yield f"All figures for the test sets, with further metrics, parts of sets and intervals, are in {shown}."


def sections(found: Mapping[str, Figures]) -> Iterator[Iterator[str]]:
    """The sections with results, in order."""
    if speeds := speeds_of(found):
        yield speed_lines(speeds)
    if {"batch", "batch of a million"} <= found.keys():
        yield batch_lines(found["batch"], found["batch of a million"])
    if models := found.get("models on servers"):
        yield models_lines(models)
    if public := results_of(found):
        yield sets_lines(public, found.get("against rules") if "sets" in found else None)
        yield links(found)
        yield from (write(public) for write in (spans_lines, calibration_lines, error_type_lines))
    if rankings := [found[name] for name in RANKINGS if name in found]:
        yield ranking_lines(rankings)
    if search := found.get("search"):
        yield search_lines(search)
    if steps := found.get("search in steps"):
        yield step_lines(steps, found.get("search for claims"))
    if retrieval := found.get("retrieval"):
        yield retrieval_lines(retrieval)
    if blinded := found.get("blinded"):
        yield blinded_lines(blinded)
    if assurance := found.get("assurance"):
        yield assurance_lines(assurance)
    if incomplete := found.get("assurance, half of the rules"):
        yield incomplete_lines(incomplete)
    if engine := found.get("engine"):
        yield cost_lines(engine, found.get("engine on a GPU"))
    if games := found.get("games"):
        yield games_lines(games)
    if learning := found.get("learning"):
        yield learning_lines(learning)
    if probes := found.get("probes"):
        yield probe_lines(probes)
    if evolved := found.get("evolve"):
        yield evolve_lines(evolved)
    of_encoder = {
        "held-out strategies": held_out_lines,
        "encoder speed": architecture_lines,
        "encoder": training_lines,
    }
    yield from (write(found[name]) for name, write in of_encoder.items() if name in found)
    if "combined" in found:
        yield decision_lines(found["combined"])
    if "rules" in found:
        yield fit_lines(found["rules"])


def rewrite(page: Path, body: str) -> None:
    """Replace the text between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{page.name} has no {START} ... {END}")
    page.write_text(f"{before}{START}\n{body}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Rewrite the pages and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[1])
    root: Path = parser.parse_args().root
    paths = {name: root / path for name, path in FILES.items()}
    found = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}
    written = ["\n".join(wrapped(lines)) for lines in sections(found)]
    rewrite(root / "README.md", "\n".join(wrapped(short_lines(found))))
    rewrite(root / "docs/figures.md", "\n\n".join(text for text in written if text))
    rewrite(root / "docs/how-good.md", "\n".join(wrapped(quality_lines(found))))
    small = {"small models": judge_lines, "small training run": training_run_lines}
    if lines := [line for name, write in small.items() if name in found for line in write(found[name])]:
        rewrite(root / "docs/small-models.md", "\n".join(wrapped(lines)))
    for name, svg in pictures(found):
        (root / "docs/images").mkdir(exist_ok=True)
        (root / "docs/images" / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
