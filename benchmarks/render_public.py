"""The sections of docs/figures.md on the public test sets, from the results of ``vouch bench``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from render_tables import RULES, Figures, compared, interval, number, origin, table

WITH_ERROR_TYPES = ("bump", "seva_v3")
"""Sets whose parts are kinds of error."""
SETS_NOTE = """
Vouch, {rules}word overlap: AUROC, the chance that a supported claim scores above an unsupported one; 0.5 is
guessing. Word overlap is the share of the claim's distinct words, function words aside, that occur in the source; claim
length calls the shorter claim the likelier supported. "Beaten by claim length": its AUROC is higher, by any amount.
Differences: Vouch minus the other, with 95 % intervals by paired {method} bootstrap, {resamples:,} resamples by {unit}
of rows that share a source, a document or a claim, seed {seed}. Balanced accuracy: the mean of the shares of right
labels among supported and among unsupported claims, at threshold 0.5. Mean and all rows: of the {count} sets with both
labels and without a remark; among all rows, claims of different sets are compared with each other. healthver shares 375
of its sources with the development set on which settings were chosen."""
SPANS_NOTE = """
Response F1: of calling a response (WiCE: a claim) Not Attributable. Span F1: of the characters (RAGTruth) or tokens
(WiCE) that are called unsupported; next to it, the F1 of calling everything unsupported."""
CALIBRATION_NOTE = """
ECE: mean distance of the score from the Attributable share, in ten bins; it has no interval, as resampling
overstates it. Brier skill: reduction of the Brier score relative to always answering the set's own share of
Attributable claims; below 0, that answer is better. Scores of responses are not probabilities, so ragtruth is not
here."""
TYPES_NOTE = """
How often each type is named where the claim is judged Not Attributable. The kinds are the authors'; in bump every
listed row has an error."""


def sets_lines(record: Figures, comparison: Figures | None) -> Iterator[str]:
    """The table of sets with its notes; with the rules where both ran on the same rows."""
    yield from ("## Public test sets", "", origin({**record, **record["settings"]}))
    if comparison:
        _refuse_stale(record, comparison)
    rules = (f"{RULES} >", f"difference to {RULES}") if comparison else ()
    overlap = ("word overlap >", "difference to word overlap")
    head = ("set", "rows >", "groups >", "Vouch >", *rules, *overlap, "balanced accuracy >")
    pooled = record["pooled"]
    rows = chain(_set_rows(record["sets"], comparison), _pooled_rows(pooled, comparison) if pooled else ())
    yield from table(head, rows)
    count = len(pooled["sets"]) if pooled else 0
    yield SETS_NOTE.format(**record["bootstrap"], rules=f"{RULES}, " if comparison else "", count=count)
    for name, found in record["sets"].items():
        if found["remark"]:
            yield from ("", f"\\* {name}: {found['remark']}.")


def _refuse_stale(record: Figures, comparison: Figures) -> None:
    """Exits if the comparison is of another run than the results."""
    for name, found in record["sets"].items():
        pair = comparison["sets"].get(name)
        ours = found["metrics"] and found["metrics"]["auroc"]["estimate"]
        if pair is None or (not pair["excluded"] and pair["auroc"]["second"] != ours):
            raise SystemExit(f"the comparison with {RULES} is of another run, as {name} shows: run make bench again")


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
    for title, way, key in (("mean of sets", "mean_of_sets", "mean_of_sets"), ("all rows", "all_rows", "pooled")):
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
        head = ("set", "rows >", "response F1", "of always saying so >", "span F1", "of calling everything so >")
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
