"""The sections of docs/figures.md on the encoder: its gain, generalization, speed and training."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import RULES, Figures, number, origin, table

SETTINGS = (
    "encoder",
    "train",
    "disjoint_from",
    "epochs",
    "max_steps",
    "batch_tokens",
    "learning_rate",
    "max_tokens",
    "max_claim_tokens",
    "max_windows",
    "windows_in_use",
    "token_weight",
    "error_weight",
    "ranking_weight",
    "seed",
)
"""Settings that are shown; the others are in encoder.json."""
HELD_OUT_NOTE = """
The claims contain errors of kinds that were excluded from the encoder's training and come from rows that it had not
seen. "Right" counts claims whose error type is named correctly, "passed" those judged Attributable."""
SPEED_NOTE = """
All models use {threads} thread. Vouch uses the int8 encoder as shipped, and its times include tokenizing and window
selection; it reads at most {max_windows} windows of a long source. The others are built in their published shape
({others}), and each reads everything that its own project would read. Quality is not measured here, and int8
accounts for part of the difference. Memory is the peak of the process minus its memory after imports."""


def held_out_lines(record: Figures) -> Iterator[str]:
    """The section on strategies that were not in training."""
    strategies = {name: found for name, found in record["strategies"].items() if name != "all"}
    total, models = record["strategies"]["all"], [RULES, "embedded"]
    yield from ("## Error types of strategies that were not in training", "")
    yield f"Measured with `recipes/encoder/held_out_strategies.py` on {record['date']} ({record['machine']})."
    rows = [
        (
            name,
            found["error_type"],
            found["claims"],
            *(found[model].get(kind, 0) for model in models for kind in (found["error_type"], "passed")),
        )
        for name, found in strategies.items()
    ]
    passed = {model: sum(found[model].get("passed", 0) for found in strategies.values()) for model in models}
    claims = sum(found["claims"] for found in strategies.values())
    rows.append(("all", "", claims, *(n for model in models for n in (total[model]["right"], passed[model]))))
    heads = (f"{model}, {what} >" for model in models for what in ("right", "passed"))
    yield from table(("strategy", "error type", "claims >", *heads), rows)
    yield HELD_OUT_NOTE


def architecture_lines(record: Figures) -> Iterator[str]:
    """The section on speed compared with other architectures."""
    models: Figures = record["models"]
    ours, lengths = models["vouch"], list(models["vouch"]["sources"])
    yield from ("## Speed compared with other architectures", "")
    yield origin(record)
    head = ("architecture", "parameters, millions >", *(f"source of {n} >" for n in lengths), "memory >")
    rows = [("Vouch", "", *(_seconds(ours["sources"][n]) for n in lengths), _memory(ours))]
    rows += [
        (one["project"], one["parameters_millions"], *(_seconds(one["sources"][n]) for n in lengths), _memory(one))
        for name, one in models.items()
        if name != "vouch"
    ]
    yield from table(head, rows)
    pairs: Figures = ours["short_pairs"]
    long = (f"a source of {name} in {source['seconds']:.2f} s" for name, source in ours["long_sources"].items())
    yield ""
    yield f"Vouch reads {pairs['pairs_per_second']} short pairs per second, {' and '.join(long)}."
    yield SPEED_NOTE.format(threads=record["threads"], others=record["others"].partition(";")[0], **record["limits"])


def _seconds(found: Figures) -> str:
    times = found.get("vouch_is_times_as_fast")
    return f"{1000 * found['seconds']:.0f} ms" + (f", {times} times Vouch's" if times else "")


def _memory(found: Figures) -> str:
    return f"{found['peak_megabytes_after_imports']:,} MB"


def training_lines(record: Figures) -> Iterator[str]:
    """The section on the run that made the encoder that ships."""
    trained = record["trained"]
    settings, agreement = trained["settings"], trained["agreement"]
    shown = ", ".join(f"`{name}={_value(settings[name])}`" for name in SETTINGS if name in settings)
    yield from ("## Training of the encoder", "")
    made_by = f"`recipes/encoder` (revision {trained['revision']}, {trained['machine']})"
    yield f"The encoder was trained by {made_by} with {shown}."
    scores = {name: found for name, found in trained["scores"].items() if "auroc" in found}
    if scores:
        rows = [(name, found["rows"], number(found["auroc"])) for name, found in scores.items() if name != "all"]
        yield from table(("set, rows held out by document", "rows >", "AUROC >"), rows)
        overall = trained["scores"]["all"]
        what = {
            "auroc": "mean AUROC over the sets",
            "tokens": "AUROC of the marked tokens",
            "pairs": "share of pairs in which the claim with the error scores lower",
            "errors": "share of known error types named",
        }
        yield ""
        shares = (f"{words} {number(overall[key])}" for key, words in what.items() if key in overall)
        yield f"Overall figures: {'; '.join(shares)}."
    yield ""
    yield (
        f"For {agreement['labels']:.1%} of {agreement['rows']} held-out rows, the int8 export and torch give the same "
        "label or nearly the same probability."
    )


def _value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
