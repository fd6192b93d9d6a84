"""``vouch train``: training runs that can be killed and gone on with, each described by one TOML file.

Left out: games of other people's; vouching.train.fit takes any.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vouching.cli.streams import Exit, usage_errors, write_error

app = typer.Typer()

_EPILOG = """
**Examples**

vouch train encoder recipes/encoder/nli.toml --out runs/nli

vouch train encoder recipes/encoder/attribution.toml encoder=runs/nli/model epochs=3 --out runs/attribution

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 130 stopped, go on with --resume.
"""
_RANK_EPILOG = """
**Examples**

vouch data pairs --input questions.jsonl --output pairs.jsonl

vouch train rank recipes/rank/cpu.toml 'pairs=["pairs.jsonl"]' 'dev=[]' --out runs/rank

vouch train rank recipes/rank/qwen2.5-7b.toml model=/models/Qwen2.5-7B-Instruct --out runs/rank-7b

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 130 stopped, go on with --resume.
"""
_SFT_EPILOG = """
**Examples**

vouch data annotate --input pairs.jsonl --model openai/gpt-4o-mini --output sft.jsonl --prompts prompts.jsonl

vouch train sft recipes/structured/3b-sft.toml 'rows=["sft.jsonl"]' --out runs/3b-sft

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 130 stopped, go on with --resume.
"""
_STRUCTURED_EPILOG = """
**Examples**

vouch train structured recipes/structured/3b-grpo.toml model=runs/3b-sft/model 'rows=["prompts.jsonl"]' --out runs/grpo

vouch runs plot runs/grpo --report grpo.html

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 3 the judge is out of reach; 130 stopped, go
on with --resume.
"""
_ASSURANCE_EPILOG = """
**Examples**

python recipes/taxes/make.py --out returns --count 400

vouch train assurance recipes/assurance/dpa-4b.toml 'rows=["returns"]' 'dev=[]' --out runs/dpa-4b

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 130 stopped, go on with --resume.
"""
_CHECKLIST_EPILOG = """
**Examples**

vouch train checklist recipes/checklist/soft-rlvr.toml checklist.judge=http://localhost:8000/v1#judge --out runs/soft

vouch data gold --input checklists.jsonl --model http://localhost:8000/v1#policy --output gold.jsonl

vouch train checklist recipes/checklist/soft-sverl-j3.toml 'checklist.gold=["gold.jsonl"]' --out runs/soft-sverl

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 3 the judge is out of reach; 130 stopped, go
on with --resume.
"""
_BLINDED_EPILOG = """
**Examples**

vouch train blinded recipes/blinded/stem.toml 'rows=["bioasq.jsonl"]' --out runs/march-stem

vouch runs plot runs/march-stem --report march-stem.html

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 130 stopped, go on with --resume.
"""
_Config = Annotated[Path, typer.Argument(help="TOML file with the settings of the run.")]
_Settings = Annotated[list[str] | None, typer.Argument(help="Settings over those of the file, such as epochs=2.")]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the run: checkpoint, log and what comes out.")]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Go on with the run that is in DIR.")]


@app.callback(invoke_without_command=True)
def train(context: typer.Context) -> None:
    """Train what verifies. Needs the extra "train". What went on in a run is told by vouch runs."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("checklist", epilog=_CHECKLIST_EPILOG)
def checklist_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train a generator by GRPO on the share of a checklist that its responses pass.

    A judge goes item by item, or the policy itself does and learns to judge as well. Checklists come from vouch data
    checklist, labelled items from vouch data gold. Monitors tell when a policy grows lenient with itself.
    """
    with usage_errors():
        from vouching.methods.checklist.config import read_config
        from vouching.train.fit import train_checklist

        try:
            train_checklist(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


@app.command("encoder", epilog=_EPILOG)
def encoder_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train the encoder of the embedded verifier and export it as int8 ONNX.

    Every checkpoint holds all that the next step depends on: a run that was killed and resumed ends like one that was
    not. Data are read from the folder that VOUCH_DATA names. The folder DIR/export is what vouching.encoder reads,
    DIR/model what a next stage starts from.
    """
    with usage_errors():
        from vouching.train.encoder import train_encoder
        from vouching.train.encoder_config import read_config

        try:
            train_encoder(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


@app.command("rank", epilog=_RANK_EPILOG)
def rank_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train the scorer of vouch rank: the better of two answers above the worse, by a margin.

    Pairs come from vouch data pairs. Some questions are held out; how well their answers are ranked is told on the way.
    A run that was killed and resumed ends like one that was not. What came out ranks by vouch rank --score-model
    discriminative:DIR/model.
    """
    with usage_errors():
        from vouching.methods.discriminative.config import read_config
        from vouching.train.rank import train_rank

        try:
            train_rank(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


@app.command("sft", epilog=_SFT_EPILOG)
def sft_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train a language model to write records, by imitation.

    Rows come from vouch data annotate. A run that was killed and resumed ends like one that was not. DIR/model is where
    vouch train structured starts; vouch runs export makes a model for others of it.
    """
    with usage_errors():
        from vouching.train.sft import read_config, train_sft

        try:
            train_sft(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


@app.command("structured", epilog=_STRUCTURED_EPILOG)
def structured_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train a verifier by GRPO: several records on each claim, each rewarded part by part.

    Prompts come from vouch data annotate --prompts. Every step is logged and watched: vouch runs shows it, and monitors
    tell early what goes wrong. A run that was killed and resumed ends like one that was not.
    """
    with usage_errors():
        from vouching.methods.structured.config import read_config
        from vouching.train.fit import train_structured

        try:
            train_structured(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


@app.command("assurance", epilog=_ASSURANCE_EPILOG)
def assurance_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train a generator and a verifier of structured work against each other: cases, kept or revised proposals.

    Rows are tasks with their right values, or folders as recipes/taxes/make.py writes them. Both are adapters on one
    model, DIR/model and DIR/model/verifier. A run that was killed and resumed ends like one that was not.
    """
    with usage_errors():
        from vouching.methods.assurance.config import read_config
        from vouching.train.fit import train_assurance

        try:
            train_assurance(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None


@app.command("blinded", epilog=_BLINDED_EPILOG)
def blinded_command(config: _Config, out: _Out, settings: _Settings = None, resume: _Resume = False) -> None:
    """Train a model to answer from documents by PPO: blind checkers, who are the model itself, audit every answer.

    Rows are questions with their documents; no answer is needed. Every step is logged and watched: vouch runs shows it.
    A run that was killed and resumed ends like one that was not.
    """
    with usage_errors():
        from vouching.methods.blinded.config import read_config
        from vouching.train.fit import train_blinded

        try:
            train_blinded(read_config(config, settings or ()), out, resume)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None
