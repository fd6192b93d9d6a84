"""The section of docs/figures.md on the probes reviewed one by one, from recipes/evolve/reading.py."""

from __future__ import annotations

from collections.abc import Iterator

from render_tables import Figures, table

NOTE = """
One annotator reviewed {read} probes of training rows, {each} for each strategy, individually and together with the
original row and its source. "Right" means that the label and the error type are correct and that a person could
have written the text. The last three columns count the faults: "form" means that no one would write the text,
"label" that its label is wrong, and "original" that the row from which it was made has a wrong label. The intervals
are 95 % Wilson intervals; they are slightly too narrow, since some rows share a document. The probes and their
judgements are in `recipes/evolve/reading.jsonl`.

As a second verifier, `{model}` agrees with {agreed[rows]} of the probes; {agreed[share]:.1%} of these are right
[{agreed[low]:.1%}, {agreed[high]:.1%}], compared with {right[share]:.1%} of all probes. It rejects {dropped[rows]},
of which {dropped[right]} ({dropped[share]:.1%}) are right, so most of its rejections are its own errors."""


def probe_lines(record: Figures) -> Iterator[str]:
    """Shares that are right by strategy, with the faults, and what a cross-check keeps and drops."""
    yield from ("## Probes", "", f"Counted with `{record['command']}` on {record['date']}.")
    rows = [(*_row(name, one), one["error_type"] or "none") for name, one in record["strategies"].items()]
    rows.append((*_row("all", {**record["right"], "faults": record["faults"]}), ""))
    shown = ((name, kind, *cells) for name, *cells, kind in rows)
    yield from table(("strategy", "error type", "right >", "95 %", "form >", "label >", "original >"), shown)
    second = record["second_verifier"]
    each = max(one["rows"] for one in record["strategies"].values())
    yield NOTE.format(**{**second, **record, "each": each, "model": second["model"]})


def _row(name: str, one: Figures) -> tuple[str, ...]:
    faults = (str(one["faults"].get(fault, "")) for fault in ("form", "label", "original"))
    return name, f"{one['right']} of {one['rows']}", f"{one['low']:.0%} to {one['high']:.0%}", *faults
