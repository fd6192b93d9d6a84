# pyright: basic
"""``vouch runs export``: the model of a run as other tools load it, adapters merged, with a model card.

Not supported: publishing and quantising.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, InputError
from vouching.report.figures import Table
from vouching.train.checkpoint import CHECKPOINTS, MODEL, best_checkpoint, copy_weights, step_of
from vouching.train.extra import imported
from vouching.train.policy import ADAPTER, REFERENCE, adapter_base
from vouching.train.run_page import alarm_table, run_tables
from vouching.train.runs import Run, read_run
from vouching.types.visible import visible_line

CARD = "README.md"
_MEASURE = "Evaluate it before you rely on it: the figures below are from training."
_JUDGES = (
    "The model judges whether a source supports a claim, and writes a record with evidence, reasons, a label and a "
    "confidence: `vouch check --method structured --model local:FOLDER`.",
    "A claim that a source supports is not necessarily true. The stated confidence is not calibrated: calibrate it on "
    "your own rows with `vouch calibrate`.",
    "Evaluate the model on test sets (`vouch bench run`) before you rely on it: the figures below are from training.",
)
_USES = {
    "sft": (
        "The model replies as in the chats of its training rows. If these end with records, as `vouch data annotate` "
        "writes them, it judges claims: `vouch check --method structured --model local:FOLDER`.",
        _MEASURE,
    ),
    "rank": (
        "The model scores answers by their evidence; better answers get higher scores: "
        "`vouch rank --score-model discriminative:FOLDER`.",
        _MEASURE,
    ),
    "checklist": (
        "The model responds to instructions; its reward was the share of a checklist that a response passes. If it was "
        "its own judge in training, it can also judge other responses: `vouch follow --method checklist --model "
        "local:FOLDER`.",
        _MEASURE,
    ),
    "assurance": (
        "`generator` fills in structured work, `verifier` raises cases against its values, and `generator` keeps or "
        "revises them: "
        "`vouch challenge --task T --fill --model local:FOLDER/generator --verifier local:FOLDER/verifier`.",
        "If only the generator was trained, its model is in FOLDER itself.",
        "A value that both models accept may still be wrong: evaluate them before you rely on them. The figures below "
        "are from training.",
    ),
    "blinded": (
        "The model answers questions from documents (`vouch answer --model local:FOLDER`); its reward came from audits "
        "of its answers, and it can also audit other answers (`vouch audit --model local:FOLDER`).",
        "An answer that the documents support is not necessarily true.",
        _MEASURE,
    ),
}
"""What a model is for, by the command that trained it."""


def export_run(run: Path, out: Path, step: int | None = None) -> Path:
    """Write the model of a run, ready for transformers or vLLM, with its card.

    ``step`` is that of a kept checkpoint (``watch.keep``); None for the best one, or the latest. A run with several
    policies gives one model each, in folders by role.

    Raises:
        InputError: there is no run or no checkpoint, or ``out`` is not empty or cannot be written.
        ConfigError: the base model of the adapters cannot be loaded.
        MissingExtraError: there are adapters to merge, and the extra "train" is not installed.
    """
    known = read_run(run)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is not an empty folder: choose a new folder")
    # Checkpoints of a run that was resumed, or has not ended, are newer than its model.
    newest = None if known.note.get("kind") == "rank" else best_checkpoint(run)  # a scorer has a head of its own
    weights = newest or run / MODEL
    if step is not None:
        weights = run / CHECKPOINTS / f"checkpoint-{step}"
        if step_of(weights) != step:
            kept = sorted(filter(None, map(step_of, (run / CHECKPOINTS).glob("checkpoint-*"))))
            raise InputError(f"{run} has no complete checkpoint of step {step}, but of {kept}: raise watch.keep")
    if not weights.is_dir():
        raise InputError(f"{run} has no complete checkpoint and no model: train first, or continue with --resume")
    fresh = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        if (weights / ADAPTER).is_file():
            for place, adapters in _adapters(weights).items():
                merge_adapters(adapters, fresh / place, tokenizer=weights)
        else:
            copy_weights(weights, fresh)
        (fresh / CARD).write_text(model_card(known, run, step), encoding="utf-8")
        if out.exists():
            out.rmdir()
        fresh.replace(out)
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error}): free some space, or choose another folder") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return out


def model_card(run: Run, folder: Path, step: int | None = None) -> str:
    """The model card: base model, data, settings and results; ``step`` is that of its weights, None for the best.

    >>> run = Run("runs/sft", {"settings": {"model": "base", "rows": ["sft.jsonl"]}, "units": {"rows": 2}}, {}, True)
    >>> print(model_card(run, Path("runs/sft")).split("## ")[0].strip())
    ---
    base_model: "base"
    library_name: transformers
    tags: ["attribution", "fact-checking", "vouching"]
    ---
    # sft
    <BLANKLINE>
    Trained from `base` with `vouch train` of [Vouch](https://pypi.org/project/vouching/).
    """
    note, settings = run.note, run.settings
    kind = {"grpo": "structured"}.get(str(note.get("kind")), str(note.get("kind", "")))
    command = f"vouch train {kind}".strip()
    base = visible_line(str(settings.get("model", "unknown")))
    lines = [
        "---",
        f"base_model: {json.dumps(base)}",
        "library_name: transformers",
        'tags: ["attribution", "fact-checking", "vouching"]',
        "---",
        f"# {visible_line(folder.name)}",
        "",
        f"Trained from `{base}` with `{command}` of [Vouch](https://pypi.org/project/vouching/).",
        "",
        "## Use",
        "",
        *_USES.get(kind, _JUDGES),
        "",
        "## Data",
        "",
        *_data(run),
        "",
    ]
    chosen = best_checkpoint(folder) if (folder / CHECKPOINTS).is_dir() else None
    if chosen is not None:
        lines += [f"The weights are those of step {step or step_of(chosen):,} of {run.steps:,}.", ""]
    for table in [table for table in run_tables(run) if table.heading not in {run.name, "Alarms"}]:
        lines += [f"## {table.heading}", "", *_markdown(table), ""]
    if run.alarms():
        lines += ["## Alarms", "", *_markdown(alarm_table(run)), ""]
    if (spent := run.ends().get("energy/kg_co2e")) is not None and spent[1]:
        kwh, carbon = (float(run.columns[f"energy/{name}"][-1]) for name in ("kwh", "kg_co2e"))
        factors = ", ".join(f"{name} {settings.get(f'power.{name}')}" for name in ("watts", "pue", "intensity"))
        lines += [
            "## Energy",
            "",
            f"About {kwh:.2g} kWh and {carbon:.2g} kg CO2e, estimated as thermal design power x hours x PUE x carbon "
            f"intensity, as if every device ran at full power all the time ({factors}).",
            "",
        ]
    made = [(name, note[name]) for name in ("revision", "machine") if name in note]
    made += [*(note.get("versions") or {}).items()]
    lines += ["## Environment", "", *_markdown(Table("", ("", ""), [(name, str(value)) for name, value in made]))]
    return "\n".join(lines) + "\n"


def _data(run: Run) -> Iterator[str]:
    """Files, counts and digests of the training data."""
    for name in ("rows", "dev", "binary", "pairs"):
        if files := run.settings.get(name):
            count, digest = ((run.note.get(part) or {}).get(name) for part in ("units", "split"))
            said = ", ".join(visible_line(str(file)) for file in files)
            yield (
                f"- {name}: {said}" + (f"; {count:,} used" if count else "") + (f"; SHA-256 {digest}" if digest else "")
            )


def _markdown(table: Table) -> Iterator[str]:
    head = table.head if any(table.head) else ("name", "value", *("" for _ in table.head[2:]))
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in table.rows:
        yield f"| {' | '.join(visible_line(cell).replace('|', chr(92) + '|') for cell in row)} |"


def _adapters(weights: Path) -> dict[str, Path]:
    """The folder of each policy's adapters by the place of its model; a single one goes to the top."""
    others = {path.parent.name: path.parent for path in sorted(weights.glob(f"*/{ADAPTER}"))}
    trained = {name: folder for name, folder in others.items() if not name.startswith(REFERENCE)}
    return {"generator": weights, **trained} if trained else {"": weights}


def merge_adapters(folder: Path, out: Path, tokenizer: Path | None = None) -> None:
    """Write a model with the adapters of a folder merged into it, in single precision.

    Args:
        folder: of the adapters.
        out: where to.
        tokenizer: folder of the tokenizer; by default that of the adapters.

    Raises:
        ConfigError: the base model cannot be loaded.
        MissingExtraError: torch, transformers or peft is not installed.
    """
    torch, transformers, peft = imported("torch"), imported("transformers"), imported("peft")
    base = adapter_base(folder)
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")  # from peft's calls
    try:
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        merged = peft.PeftModel.from_pretrained(model, folder).merge_and_unload()
        speech = transformers.AutoTokenizer.from_pretrained(tokenizer or folder)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ConfigError(
            f"cannot merge the adapters in {folder} into {base} ({error}): check that the base model exists"
        ) from error
    merged.save_pretrained(out)
    speech.save_pretrained(out)
