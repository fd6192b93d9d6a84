"""The sections and pictures of docs/how-good.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from draw import Point, points_svg
from render_tables import RULES, Figures, table

from vouching.metrics import wilson

SHOWN = "embedded"
SPEEDS = ("speed", "speed of the small encoder", "speed of rules")
OVERLAP, THEIRS = "word overlap", "published by others"
FAILING = {
    "arithmetic": "a sum, difference or share that must be computed",
    "bound": '"at least", "up to" and the like',
    "cause": "what caused what",
    "comparison": "larger, earlier, the most",
    "context": "a value that another sentence makes clear",
    "date": "dates and spans of time",
    "exception": '"except", "apart from"',
    "frame": '"according to", "the report says"',
    "hedge": '"may", "is expected to"',
    "name": "people, places, organisations",
    "negation": "denied in one of the two",
    "paraphrase": "the same in other words",
    "permission": "may, must, must not",
    "quantifier": '"all", "most", "some"',
    "role": "who did what to whom",
    "short_answer": "an answer of a word or two to a question",
    "status": "planned, running, done, cancelled",
    "table": "a value in a table",
    "unit": "units and their conversion",
    "whose_value": "a value that belongs to something else",
}
"""What each construction of the contrast corpus is about."""
KINDS = {
    "verdict_order": "an order to the judge",
    "judgment": "a judgment on the claim",
    "record": "a record with a verdict",
    "code": "in code",
    "reported": "reported",
    "denied": "denied",
    "hypothetical": "supposed",
    "question": "asked",
    "metadata": "in metadata",
    "encoded": "encoded or hidden",
    "foreign": "in another language",
    "lie next to the truth": "a lie next to the truth",
    "lie alone": "a lie where nothing denies it",
}
"""Kinds of the corpus of voices, as the picture names them."""


def pictures(found: Mapping[str, Figures]) -> Iterator[tuple[str, str]]:
    """Name and SVG of each picture whose results are there."""
    if public := found.get("sets"):
        yield "good-sets.svg", _sets_picture(public, found.get("sets of rules"))
        yield "good-published.svg", _published_picture(public)
        yield "good-scores.svg", _scores_picture(public)
    if contrast := found.get("contrast"):
        rows = [
            (
                name.replace("_", " "),
                [
                    _share("supported, and found so", one["of_supported"], one["claims"] // 2),
                    _share("unsupported, and caught", one["of_others"], one["claims"] // 2),
                ],
            )
            for name, one in _constructions(contrast)
        ]
        yield "good-contrast.svg", points_svg("Right verdicts by kind of difference", (0, 1, 0.2), rows, 0.5)
    if voices := found.get("voices"):
        kinds = voices["injections that flip"]
        rows = [
            (shown, [_share("turned", kinds[name][0] / kinds[name][1], kinds[name][1])])
            for name, shown in KINDS.items()
        ]
        yield "good-injections.svg", points_svg("Insertions that turn a verdict to Attributable", (0, 1, 0.2), rows)


def _sets_picture(public: Figures, rules: Figures | None) -> str:
    rows: list[tuple[str, list[Point]]] = []
    for name, one in _sound(public):
        points = [_point(SHOWN, one["metrics"]["auroc"])]
        if rules and name in rules["sets"]:
            points.append(_point(RULES, rules["sets"][name]["metrics"]["auroc"]))
        if overlap := one["baselines"].get("overlap"):
            points.append(_point(OVERLAP, overlap["auroc"]))
        rows.append((name, points))
    return points_svg("Supported against unsupported claims: AUROC, 95 % intervals", (0.4, 1, 0.1), rows, 0.5)


def _published_picture(public: Figures) -> str:
    rows: list[tuple[str, list[Point]]] = []
    for name, one in _sound(public):
        figures = [figure for figure in one.get("published", ()) if figure["metric"] in one["metrics"]]
        for metric in dict.fromkeys(figure["metric"] for figure in figures):
            rows.append((f"{name}, {metric.replace('_', ' ')}", [_point(SHOWN, one["metrics"][metric])]))
            theirs = [figure for figure in figures if figure["metric"] == metric]
            rows += [(figure["system"], [Point(THEIRS, figure["percent"] / 100)]) for figure in theirs]
    return points_svg("Beside published figures of other verifiers", (0.2, 1, 0.2), rows)


def _scores_picture(public: Figures) -> str:
    rows = [
        (name, [_point(SHOWN, one["metrics"]["brier_skill"])])
        for name, one in _sound(public)
        if one["metrics"].get("brier_skill", {}).get("estimate") is not None
    ]
    return points_svg(
        "What the score adds to a constant answer: Brier skill, 95 % intervals", (-0.8, 0.6, 0.2), rows, 0
    )


def _sound(public: Figures) -> Iterator[tuple[str, Figures]]:
    """Sets without a remark that have both labels."""
    for name, one in public["sets"].items():
        if not one["remark"] and one["metrics"].get("auroc", {}).get("estimate") is not None:
            yield name, one


def _constructions(contrast: Figures) -> list[tuple[str, Figures]]:
    """The constructions of the corpus, the worst first."""
    found: dict[str, Any] = contrast["models"][SHOWN]["by_construction"]
    return sorted(((n, one) for n, one in found.items() if n != "all"), key=lambda item: item[1]["balanced_accuracy"])


def _point(series: str, figure: Figures) -> Point:
    return Point(series, figure["estimate"], figure["low"], figure["high"])


def _share(series: str, share: float, count: int) -> Point:
    found = wilson(round(share * count), count)
    return Point(series, share, found.low, found.high)


def quality_lines(found: Mapping[str, Figures]) -> Iterator[str]:
    """The generated part of the page."""
    if public := found.get("sets"):
        yield from _public_lines(public)
    if contrast := found.get("contrast"):
        yield from _contrast_lines(contrast)
    if voices := found.get("voices"):
        yield from _voices_lines(voices)
    if speeds := [found[name] for name in SPEEDS if name in found]:
        yield from _speed_lines(speeds, contrast)
    if contrast:
        yield from _failure_lines(contrast, found)


def _public_lines(public: Figures) -> Iterator[str]:
    sound = [one for _, one in _sound(public)]
    compared = [one["difference"]["verdict"] for one in sound if one["difference"]]
    yield from ("## Public sets", "")
    yield (
        f"On {len(sound)} public sets the default verifier separates supported from unsupported claims better than "
        f"word overlap on {compared.count('better')}, worse on {compared.count('worse')}; on the others there is no "
        "significant difference. None of these rows was trained on. [Every set in figures](figures.md)."
    )
    yield from ("", "![AUROC on public sets](images/good-sets.svg)", "")
    yield from ("## Beside other verifiers", "")
    yield (
        "Larger models are better. The figures of others are those that they published; we did not run them, and rows "
        "and thresholds may differ. Those on `ragtruth` were trained on its training part; ours was not. "
        "[Judges](judges.md#published-verifiers) says how to run them here, and what each costs."
    )
    yield from ("", "![Our figures beside published ones](images/good-published.svg)", "")
    yield from ("## What the score is worth", "")
    skills = [one["metrics"]["brier_skill"] for _, one in _sound(public) if one["metrics"].get("brier_skill")]
    known = [skill for skill in skills if skill["low"] is not None]
    yield (
        f"The score is calibrated on other data. On {sum(one['low'] > 0 for one in known)} of {len(known)} sets it is "
        "better than always saying the set's own share of supported claims, on "
        f"{sum(one['high'] < 0 for one in known)} it is worse, and should not be read as a probability. "
        "`vouch calibrate` fits it to 200 of your own labels ([how](judges.md#your-own-labels))."
    )
    yield from ("", "![What the score adds to a constant answer](images/good-scores.svg)", "")


def _contrast_lines(contrast: Figures) -> Iterator[str]:
    yield from ("## Pairs that differ in one thing", "")
    models = contrast["models"]
    one, low_high = models[SHOWN], models[SHOWN]["balanced_accuracy_interval"]
    yield (
        f"In the contrast corpus two claims that differ in one thing meet the same source, and only one of them is "
        f"supported ({one['by_construction']['all']['claims']:,} claims in the part that was not looked at). The "
        f"balanced accuracy is {one['by_construction']['all']['balanced_accuracy']:.3f} "
        f"[{low_high[0]:.3f}, {low_high[1]:.3f}]; for `{RULES}` it is "
        f"{models[RULES]['by_construction']['all']['balanced_accuracy']:.3f}. A coin gives .5. Both claims of a pair "
        f"are right in {100 * one['pairs_split']:.0f} % of the pairs. The bars are Wilson intervals, with half of a "
        "kind's claims on each side."
    )
    yield from ("", "![Right verdicts by kind of difference](images/good-contrast.svg)", "")


def _voices_lines(voices: Figures) -> Iterator[str]:
    flips, of = voices["injections that flip"]["without the claim"]
    yield from ("## Text that speaks about the verdict", "")
    yield (
        f"Sentences that only address the verdict turned {flips} of {of} verdicts. Sentences that repeat the claim in "
        "another voice turn some, and a lie that nothing contradicts is what the source says "
        "([how this is read](evidence.md))."
    )
    yield from ("", "![Insertions that turn a verdict](images/good-injections.svg)", "")


def _speed_lines(speeds: list[Figures], contrast: Figures | None) -> Iterator[str]:
    yield from ("## Speed and cost", "")
    yield f"One core, no network, no charge per claim. Measured on {speeds[0]['date']} ({speeds[0]['machine']})."
    rows = [
        (
            f"`{one['model']}`",
            one["short_claims"]["claims_per_second"],
            f"{one['cold_command']['seconds']:.2f} s",
            f"{one['long_sources']['20,000 words']['cold_seconds']:.2f} s",
            f"{1000 * one['long_sources']['20,000 words']['warm_seconds']:.0f} ms",
        )
        for one in speeds
    ]
    head = ("judge", "short claims a second >", "a whole command >", "first claim on 20,000 words >", "each further >")
    yield from table(head, rows)
    yield ""
    yield (
        "As others state of theirs, on other texts and machines: HHEM-2.1 takes 1.5 s for 2,000 tokens on a CPU, "
        "LettuceDetect reads 30 to 60 examples a second on a GPU, MiniCheck more than 500 documents a minute on an "
        "A6000, and FActScore with a hosted model costs about a dollar for 100 sentences. A run with a language model "
        "reports its own cost (`VOUCH_PRICE`, [judges](judges.md#language-models))."
    )
    yield ""


def _failure_lines(contrast: Figures, found: Mapping[str, Figures]) -> Iterator[str]:
    yield from ("## Known failures", "")
    yield (
        "How often the default verifier is wrong, the worst first. A miss is an unsupported claim that passes; a false "
        "alarm is a supported claim that is flagged. The cases were written by hand to be hard; on your text the rates "
        "differ, and `vouch bench run --input` measures them. "
        "[Examples of each](failures.md)."
    )
    rows = [
        (
            FAILING.get(name, name.replace("_", " ")),
            f"{100 * (1 - one['of_others']):.0f} %",
            f"{100 * (1 - one['of_supported']):.0f} %",
            one["claims"],
        )
        for name, one in _constructions(contrast)
    ]
    yield from table(("about", "misses >", "false alarms >", "claims >"), rows)
    yield ""
    if blinded := found.get("blinded"):
        share = blinded["ragtruth"]["precision"]
        yield (
            f"- `vouch audit` without a language model, on answers about records: {100 * share['estimate']:.0f} % "
            f"[{100 * share['low']:.0f}, {100 * share['high']:.0f}] of the flagged answers are inside a span that "
            "RAGTruth's annotators marked; the others are false alarms."
        )
    if languages := found.get("languages"):
        noticed = languages["detectors"]["looks_english"]["noticed"]
        yield (
            f"- Other languages: only numbers, dates and identical words are compared. "
            f"{100 * noticed:.0f} % of {languages['other_claims']} claims in twelve languages get the warning."
        )
    if public := found.get("sets"):
        figures = public["sets"]["ragtruth"]["metrics"] if "ragtruth" in public["sets"] else None
    if public and figures:
        yield (
            f"- Whole answers (`ragtruth`): {100 * figures['na_recall']['estimate']:.0f} % of the faulty ones are "
            f"flagged, but only {100 * figures['na_precision']['estimate']:.0f} % of those flagged are faulty: one "
            "doubtful claim flags an answer. Use the score, or your own threshold."
        )
    yield ""
