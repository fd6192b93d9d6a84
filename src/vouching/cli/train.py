"""``vouch train``: training runs that can be killed and resumed, each described by one TOML file.

Not supported: other people's games; ``vouching.train.fit`` takes any.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from vouching.cli.streams import Exit, usage_errors, write_error

app = typer.Typer()
Method: TypeAlias = Literal["structured", "checklist", "blinded", "assurance", "sft", "rank", "encoder"]
"""What can be trained: the names of ``vouching.train.trainers.TRAINERS``."""

_EPILOG = """
**Methods**

structured: a verifier, by GRPO: several records on each claim, each rewarded part by part. Prompts come from vouch data
annotate --prompts, the start from vouch train sft.

checklist: a generator, by GRPO on the share of a checklist that its responses pass. A judge goes item by item, or the
policy itself does and learns to judge as well. Rows come from vouch data checklist, labelled items from vouch data
gold.

blinded: a model that answers from documents, by PPO: blind checkers, who are the model itself, audit every answer. Rows
are questions with their documents.

assurance: a generator and a verifier of structured work against each other, as adapters on one model, DIR/model and
DIR/model/verifier. Rows are tasks with their right values, or folders of them.

sft: a language model that writes records, by imitation. Rows come from vouch data annotate. DIR/model is where vouch
train structured starts.

rank: the scorer of vouch rank: the better of two answers above the worse, by a margin. Pairs come from vouch data
pairs. What comes out ranks by vouch rank --score-model discriminative:DIR/model.

encoder: the encoder of the embedded verifier, exported as int8 ONNX to DIR/export. Data are read from the folder that
VOUCH_DATA names.

**Examples**

vouch train sft recipes/structured/3b-sft.toml 'rows=["sft.jsonl"]' --out runs/3b-sft

vouch train structured recipes/structured/3b-grpo.toml model=runs/3b-sft/model 'rows=["prompts.jsonl"]' --out runs/grpo

vouch train checklist recipes/checklist/soft-rlvr.toml checklist.judge=http://localhost:8000/v1#judge --out runs/soft

python recipes/taxes/make.py --out returns --count 400

vouch train assurance recipes/assurance/dpa-4b.toml 'rows=["returns"]' 'dev=[]' --out runs/dpa-4b

vouch train encoder recipes/encoder/attribution.toml encoder=runs/nli/model epochs=3 --out runs/attribution

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 3 the judge is out of reach; 130 stopped, go
on with --resume.
"""


@app.command("train", epilog=_EPILOG)
def train_command(
    method: Annotated[Method, typer.Argument(help="What is trained; see below.")],
    config: Annotated[Path, typer.Argument(help="TOML file with the settings of the run.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the run: checkpoint, log and what comes out.")],
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings over those of the file, such as epochs=2.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", metavar="", help="Resume the run that is in DIR.")] = False,
) -> None:
    """Train what verifies, or what answers and is verified. Needs the extra "train".

    Every step is logged and watched: vouch runs shows it, and monitors tell early what goes wrong. A run that was
    killed and resumed ends like one that was not.
    """
    with usage_errors():
        from vouching.train.trainers import train

        try:
            train(method, config, settings or (), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None
