"""The sections of docs/figures.md on the public test sets, from the results of ``vouch bench``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from render_tables import RULES, Figures, compared, interval, number, origin, table

WITH_ERROR_TYPES = ("bump", "seva_v3")
"""Sets whose parts are kinds of error."""
SETS_NOTE = """
The columns Vouch, {rules}and word overlap show AUROC, the probability that a supported claim scores above an
unsupported one; guessing gives 0.5. Word overlap is the share of the claim's distinct words, excluding function
words, that occur in the source. The claim length baseline predicts that shorter claims are more likely to be
supported; "beaten by claim length" means that its AUROC is higher than Vouch's, by any amount. Differences are
Vouch's AUROC minus the other one, with 95 % intervals by paired {method} bootstrap with {resamples:,} resamples
(seed {seed}). The unit of resampling is the {unit}, which consists of rows that share a source, a document or a
claim. Balanced accuracy is the mean of the shares of correct labels among supported and among unsupported claims,
at threshold 0.5. The mean of sets and the pooled rows cover the {count} sets that contain both labels and have no
remark below; pooling also compares claims from different sets with each other. healthver shares 375 of its sources
with the development set on which settings were chosen."""
SPANS_NOTE = """
Response F1 is the F1 of predicting that a response (in WiCE, a claim) is Not Attributable. Span F1 is the F1 over
the characters (RAGTruth) or tokens (WiCE) predicted to be unsupported. The column to the right of each gives the
same F1 for the case that everything is predicted to be unsupported."""
CALIBRATION_NOTE = """
ECE is the mean distance between the score and the share of Attributable claims, in ten bins; it has no interval
because resampling overstates it. Brier skill is the reduction of the Brier score relative to always answering the
set's own share of Attributable claims; below 0, that constant answer is better. Scores of responses are not
probabilities, so ragtruth is omitted."""
TYPES_NOTE = """
The table counts how often each error type is named when the claim is judged Not Attributable; "none" counts the
claims judged Attributable. The kinds are the authors' own; in bump, every listed row contains an error."""


def sets_lines(record: Figures, comparison: Figures | None) -> Iterator[str]:
    """The table of sets with its notes; with the rules where both ran on the same rows."""
    yield from ("## Public test sets", "", origin({**record, **record["settings"]}))
    if comparison:
        _refuse_stale(record, comparison)
    rules = (f"{RULES} >", f"difference from {RULES}") if comparison else ()
    overlap = ("word overlap >", "difference from word overlap")
    head = ("set", "rows >", "groups >", "Vouch >", *rules, *overlap, "balanced accuracy >")
    pooled = record["pooled"]
    rows = chain(_set_rows(record["sets"], comparison), _pooled_rows(pooled, comparison) if pooled else ())
    yield from table(head, rows)
    count = len(pooled["sets"]) if pooled else 0
    yield SETS_NOTE.format(**record["bootstrap"], rules=f"{RULES}, " if comparison else "", count=count)
    for name, found in record["sets"].items():
        if found["remark"]:
            yield from ("", f"\\* {name}. {found['remark'][0].upper()}{found['remark'][1:]}.")


def _refuse_stale(record: Figures, comparison: Figures) -> None:
    """Exits if the comparison is of another run than the results."""
    for name, found in record["sets"].items():
        pair = comparison["sets"].get(name)
        ours = found["metrics"] and found["metrics"]["auroc"]["estimate"]
        if pair is None or (not pair["excluded"] and pair["auroc"]["second"] != ours):
            raise SystemExit(f"the comparison with {RULES} belongs to another run ({name} differs): repeat make bench")


def _set_rows(sets: Figures, comparison: Figures | None) -> Iterator[list[str]]:
    for name, found in sets.items():
        start = [f"{name} *" if found["remark"] else name, found["rows"], found["groups"]]
        metrics, difference = found["metrics"], found["difference"]
        if metrics is None or metrics["auroc"]["estimate"] is None:
            yield [*start, found["undefined"].partition(":")[0]]
            continue
        ours, length = metrics["auroc"]["estimate"], found["baselines"]["claim_length"]["auroc"]["estimate"]
        yield [
            *start,
            number(ours),
            *_rules(comparison and comparison["sets"][name]),
            number(found["baselines"]["overlap"]["auroc"]["estimate"]),
            compared(difference) + (f"; beaten by claim length, {number(length)}" if length > ours else ""),
            number(metrics["balanced_accuracy"]["estimate"]),
        ]


def _pooled_rows(pooled: Figures, comparison: Figures | None) -> Iterator[list[str]]:
    for title, way, key in (("mean of sets", "mean_of_sets", "mean_of_sets"), ("rows pooled", "all_rows", "pooled")):
        found = pooled[way]
        yield [
            title,
            pooled["rows"],
            "",
            number(found["auroc"]["estimate"]),
            *_rules(comparison and comparison[key]),
            number(found["overlap_auroc"]["estimate"]),
            compared(found["difference"]),
            number(found["balanced_accuracy"]["estimate"]),
        ]


def _rules(pair: Figures | None) -> list[str]:
    """What the rules alone reach, and the difference to them; nothing where they were not compared."""
    return [number(pair["auroc"]["first"]), compared(pair["auroc"]["difference"])] if pair else []


def spans_lines(record: Figures) -> Iterator[str]:
    """The section on sets whose errors are marked."""
    rows = [*_span_rows(record["sets"])]
    if rows:
        yield "## Marked errors"
        head = ("set", "rows >", "response F1", "F1 of always predicting it >", "span F1", "F1 of marking everything >")
        yield from table(head, rows)
        yield SPANS_NOTE


def _span_rows(sets: Figures) -> Iterator[list[str]]:
    for name, found in sets.items():
        parts = {f"{name}, {part}": figures for part, figures in found["parts"].items()}
        for place, figures in {name: found, **parts}.items():
            if figures["spans"]:
                spans = figures["spans"]
                yield [
                    place,
                    figures["rows"],
                    interval(figures["metrics"]["na_f1"]),
                    number(figures["baselines"]["always_not_attributable"]["na_f1"]),
                    interval(spans["f1"]),
                    number(spans["f1_of_marking_everything"]),
                ]


def calibration_lines(record: Figures) -> Iterator[str]:
    """The section on scores as probabilities."""
    rows = [
        (name, found["rows"], number(found["metrics"]["ece"]["estimate"]), interval(skill, "+"))
        for name, found in record["sets"].items()
        if (skill := (found["metrics"] or {}).get("brier_skill")) and skill["estimate"] is not None
    ]
    if rows:
        yield "## Calibration"
        yield from table(("set", "rows >", "ECE >", "Brier skill, 95 % interval"), rows)
        yield CALIBRATION_NOTE


def error_type_lines(record: Figures) -> Iterator[str]:
    """The section on the types of error that are named, by the authors' kinds."""
    rows = [
        (name, kind, part)
        for name in WITH_ERROR_TYPES
        for kind, part in record["sets"].get(name, {"parts": {}})["parts"].items()
        if "error_types" in part
    ]
    if not rows:
        return
    types = sorted({named for _, _, part in rows for named in part["error_types"]})
    yield "## Error types"
    cells = (
        [name, kind, part["rows"], *(part["error_types"].get(named, "") for named in types), _let_pass(part)]
        for name, kind, part in rows
    )
    yield from table(("set", "kind", "rows >", *(f"{named} >".replace("_", " ") for named in types), "none >"), cells)
    yield TYPES_NOTE


def _let_pass(part: Figures) -> int:
    """Claims that have a verdict and no error."""
    return part["rows"] - part["unverified"] - part["no_claim"] - sum(part["error_types"].values())
