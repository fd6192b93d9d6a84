"""A whole run on a BERT of two layers: it learns, it can be killed and gone on with, and its export reads the same."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recipes.encoder.model import answers_of, load_model, scores_of
from recipes.encoder.settings import EncoderConfig
from recipes.encoder.train import main, read_material, split_of_export, train_encoder
from tests.train.tiny_bert import write_tiny_bert
from vouching.encoder.encoder import load_encoder
from vouching.encoder.tokens import PairTokenizer
from vouching.errors import ConfigError, InputError
from vouching.metrics import auroc
from vouching.settings import read_settings
from vouching.types import Source

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")

NLI = str(Path(__file__).parents[2] / "recipes/encoder/nli.toml")
TOML = Path(__file__).parents[2] / "recipes/encoder/tiny.toml"
PLACES = ("city", "river", "bridge", "old city", "long river", "old bridge")


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Claims that are supported if and only if they say "is", which the smallest encoder can learn."""
    draw = random.Random(seed)
    made = []
    for i in range(count):
        place, other = draw.sample(PLACES, 2)
        source = f"Row {seed} {i}: the {place} was built by the {other}. " + f"It opened {i} years ago. " * draw.choice(
            (0, 12)
        )
        if i % 2:
            made.append({"claim": f"The {place} is old {seed} {i}.", "source": source, "label": "Attributable"})
        else:
            changed = {"correct_summary": f"The {place} is old {seed} {i}."} if i % 4 else {}
            claim = f"The {place} not old {seed} {i}."
            made.append(
                {"claim": claim, "source": source, "label": "Not Attributable", "fine_label": "neutral", **changed}
            )
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    for part, name, seed in (("train", "one", 1), ("train", "two", 2), ("dev", "three", 3)):
        folder = root / "attribution" / part
        folder.mkdir(parents=True, exist_ok=True)
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": str(i), **row}) + "\n" for i, row in enumerate(rows(80, seed)))
    return root


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def config(data: Path, bert: Path, monkeypatch: pytest.MonkeyPatch) -> EncoderConfig:
    monkeypatch.setenv("VOUCH_DATA", str(data))
    return read_settings(EncoderConfig, TOML, [f'encoder="{bert}"', "device=cpu"])


def quiet(line: str) -> None:
    """Progress that nobody reads."""


def killed_after(steps: int) -> Callable[[str], None]:
    """Progress that ends the run as a signal would, at the first line that tells of so many steps or more."""

    def say(line: str) -> None:
        if line.startswith("step ") and int(line.split()[1].rstrip(":")) >= steps:
            raise KeyboardInterrupt

    return say


def test_a_run_learns_and_its_export_says_what_torch_says(config: EncoderConfig, tmp_path: Path) -> None:
    scores = train_encoder(replace(config, epochs=8, evaluate_every=1000), tmp_path / "run", report=quiet)
    assert scores["dev/three"]["auroc"] > 0.9
    encoder = load_encoder(tmp_path / "run/export")
    unseen = rows(24, 4)
    supports = [encoder.read(row["claim"], encoder.encode([Source(row["source"])])).support for row in unseen]
    assert auroc([row["label"] == "Attributable" for row in unseen], supports) > 0.9
    record = json.loads((tmp_path / "run/export/encoder.json").read_text(encoding="utf-8"))
    assert record["trained"]["agreement"]["labels"] >= 0.95
    assert "dev/three" in (tmp_path / "run/export/CARD.md").read_text(encoding="utf-8")


def test_a_run_that_was_killed_and_resumed_ends_like_one_that_was_not(config: EncoderConfig, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train_encoder(config, whole, report=quiet)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(config, cut, report=killed_after(10))
    assert not (cut / "model").exists()
    # What a kill may leave behind: half a checkpoint beside the whole one, half a line of the log.
    (cut / "checkpoint.pt.new").write_bytes(b"half")
    with (cut / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"step": 9')
    train_encoder(config, cut, resume=True, report=quiet)
    assert (cut / "log.jsonl").read_bytes() == (whole / "log.jsonl").read_bytes()
    first, second = (load_model(run / "model", seed=0).state_dict() for run in (whole, cut))
    assert all((first[name] == second[name]).all() for name in first)


def test_a_run_whose_log_could_not_be_written_goes_on_without_a_gap_in_it(
    config: EncoderConfig, tmp_path: Path
) -> None:
    config = replace(config, max_steps=12)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train_encoder(config, whole, report=quiet)

    def full(line: str) -> None:
        """From the evaluation at step 10 on, the log takes nothing more."""
        if line.startswith("step 10: AUROC"):
            (cut / "log.jsonl").rename(tmp_path / "log")
            (cut / "log.jsonl").mkdir()

    with pytest.raises(InputError, match=r"cannot write .*log\.jsonl .*free some space and continue with --resume"):
        train_encoder(config, cut, report=full)
    (cut / "log.jsonl").rmdir()
    (tmp_path / "log").rename(cut / "log.jsonl")
    train_encoder(config, cut, resume=True, report=quiet)
    assert (cut / "log.jsonl").read_bytes() == (whole / "log.jsonl").read_bytes()


def test_the_next_stage_starts_from_the_model_and_heads_of_the_last(config: EncoderConfig, tmp_path: Path) -> None:
    train_encoder(replace(config, max_steps=4), tmp_path / "one", report=quiet)
    trained = load_model(tmp_path / "one/model", seed=0).state_dict()
    again = load_model(tmp_path / "one/model", seed=1).state_dict()
    assert all((trained[name] == again[name]).all() for name in trained)
    assert not (trained["relation.weight"] == load_model(Path(config.encoder), 0).state_dict()["relation.weight"]).all()


def test_a_finished_run_is_only_exported_again(config: EncoderConfig, tmp_path: Path) -> None:
    short = replace(config, max_steps=4)
    scores = train_encoder(short, tmp_path / "run", report=quiet)
    log = (tmp_path / "run/log.jsonl").read_bytes()
    digest = load_encoder(tmp_path / "run/export").weights.digest
    (tmp_path / "run/export/encoder.json").unlink()
    assert train_encoder(short, tmp_path / "run", resume=True, report=quiet) == scores
    assert (tmp_path / "run/log.jsonl").read_bytes() == log
    assert json.loads((tmp_path / "run/export/encoder.json").read_bytes())["sha256"]["model.onnx"].startswith(digest)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of pairs as ``vouch data perturb`` writes them."""
    path = tmp_path / "pairs.jsonl"
    write_pairs(path, 60)
    return path


def write_pairs(path: Path, count: int) -> None:
    lines = [
        {
            "claim": f"Bridge {i} not old.",
            "source": f"Bridge {i} was built {i} years ago.",
            "label": "Not Attributable",
            "original": f"Bridge {i} is old.",
        }
        for i in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_an_export_says_which_rows_were_held_out_and_notices_other_pairs(
    config: EncoderConfig, pairs: Path, tmp_path: Path
) -> None:
    config = replace(config, pairs=(str(pairs),), max_steps=2)
    train_encoder(config, tmp_path / "run", report=quiet)
    export = tmp_path / "run/export"
    held = split_of_export(export).held
    tokenizer = PairTokenizer(Path(config.encoder) / "tokenizer.json")
    assert len(held) == len([p for p in read_material(config, tokenizer).held_places if not p.startswith("dev/")])
    assert "pairs/pairs" in {unit[0].place for unit in held}
    for count in (59, 61):  # one pair less, one more: another shuffle, another split
        write_pairs(pairs, count)
        with pytest.raises(
            InputError, match=r"as train and held_out differ from those .*pairs\.jsonl or a set in VOUCH_DATA"
        ):
            split_of_export(export)
    write_pairs(pairs, 60)
    assert split_of_export(export).held == held


def test_an_export_whose_settings_name_other_sets_to_keep_apart_is_noticed(
    config: EncoderConfig, tmp_path: Path
) -> None:
    train_encoder(replace(config, max_steps=2), tmp_path / "run", report=quiet)
    manifest = tmp_path / "run/export/encoder.json"
    record = json.loads(manifest.read_text(encoding="utf-8"))
    # "train" shares every row with what is trained on: nothing is left
    record["trained"]["settings"]["disjoint_from"] = ["train"]
    manifest.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match="differ from those that its settings select now"):
        split_of_export(manifest.parent)


def test_a_run_and_an_export_without_a_record_of_the_split_are_older(config: EncoderConfig, tmp_path: Path) -> None:
    short = replace(config, max_steps=2)
    train_encoder(short, tmp_path / "run", report=quiet)
    for name in ("run.json", "export/encoder.json"):
        path = tmp_path / "run" / name
        record = json.loads(path.read_text(encoding="utf-8"))
        del record.get("trained", record)["split"]
        path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match=r"does not record .* train the encoder again, or export"):
        split_of_export(tmp_path / "run/export")
    train_encoder(short, tmp_path / "run", resume=True, report=quiet)
    digests = split_of_export(tmp_path / "run/export").digests
    assert json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))["split"] == digests


def test_a_run_is_not_gone_on_with_over_other_rows(config: EncoderConfig, pairs: Path, tmp_path: Path) -> None:
    config = replace(config, pairs=(str(pairs),), max_steps=2)
    train_encoder(config, tmp_path / "run", report=quiet)
    # As many pairs as before, but other ones: their number tells nothing.
    pairs.write_text(pairs.read_text(encoding="utf-8").replace("Bridge", "City"), encoding="utf-8")
    with pytest.raises(InputError, match=r"different data \(held_out, train\)"):
        train_encoder(config, tmp_path / "run", resume=True, report=quiet)


def test_scores_are_those_of_scikit_learn_by_set_and_of_pairs_by_count(config: EncoderConfig) -> None:
    from sklearn.metrics import roc_auc_score

    tokenizer = PairTokenizer(Path(config.encoder) / "tokenizer.json")
    material = read_material(config, tokenizer)
    model = load_model(Path(config.encoder), 0)
    answers = answers_of(model, material.held, tokenizer.pad, 512, torch.device("cpu"))
    found = scores_of(material.held_places, material.held, answers)
    rows = [
        (place, row, len(unit.rows))
        for place, unit in zip(material.held_places, material.held, strict=True)
        for row in unit.rows
    ]
    assert found["all"]["rows"] == len(rows)
    mine = [i for i, (place, _, _) in enumerate(rows) if place == "dev/three"]
    truth = [bool(rows[i][1].allowed[0]) for i in mine]
    assert found["dev/three"]["auroc"] == pytest.approx(roc_auc_score(truth, answers.support[mine]), abs=1e-4)
    paired = answers.support[[i for i, (_, _, members) in enumerate(rows) if members == 2]].reshape(-1, 2)
    assert found["all"]["pairs"] == pytest.approx(np.mean(paired[:, 0] > paired[:, 1]), abs=1e-4)
    assert 0 <= found["all"]["tokens"] <= 1


def test_bfloat16_rounds_what_the_model_says_but_keeps_what_it_means(config: EncoderConfig) -> None:
    tokenizer = PairTokenizer(Path(config.encoder) / "tokenizer.json")
    held = read_material(config, tokenizer).held[:20]
    model, cpu = load_model(Path(config.encoder), seed=3), torch.device("cpu")
    exact, rounded = (answers_of(model, held, tokenizer.pad, 512, cpu, half).support for half in (False, True))
    assert 0 < np.abs(exact - rounded).max() < 0.02  # 8 bits of mantissa: 2^-8 = .004 a product


def test_a_damaged_checkpoint_is_named(config: EncoderConfig, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train_encoder(config, tmp_path / "run", report=killed_after(10))
    (tmp_path / "run/checkpoint.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(InputError, match=r"checkpoint\.pt is damaged .*delete it to start over"):
        train_encoder(config, tmp_path / "run", resume=True, report=quiet)


def test_a_folder_of_another_run_is_refused(config: EncoderConfig, tmp_path: Path) -> None:
    train_encoder(replace(config, max_steps=2), tmp_path / "run", report=quiet)
    with pytest.raises(InputError, match="--resume"):
        train_encoder(replace(config, max_steps=2), tmp_path / "run", report=quiet)
    with pytest.raises(InputError, match=r"different settings \(seed\)"):
        train_encoder(replace(config, max_steps=2, seed=5), tmp_path / "run", resume=True, report=quiet)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.txt").write_text("a", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        train_encoder(config, tmp_path / "notes", report=quiet)


def test_an_encoder_that_is_no_bert_is_refused(config: EncoderConfig, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "tokenizer.json").write_bytes((Path(config.encoder) / "tokenizer.json").read_bytes())
    with pytest.raises(ConfigError, match="cannot load a BERT"):
        train_encoder(replace(config, encoder=str(tmp_path)), tmp_path / "run", report=quiet)


def test_windows_longer_than_the_encoder_can_read_are_refused(config: EncoderConfig, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it reads at most 64 tokens, but max_tokens is 128"):
        train_encoder(replace(config, max_tokens=128), tmp_path / "run", report=quiet)


def test_a_tokenizer_with_more_tokens_than_the_encoder_knows_is_refused(config: EncoderConfig, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(config.encoder, tmp_path / "bert"))
    record = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    record["model"]["vocab"]["more"] = len(record["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ConfigError, match="its vocabulary has 123 tokens, but its tokenizer has 124"):
        train_encoder(replace(config, encoder=str(folder)), tmp_path / "run", report=quiet)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said_so(config: EncoderConfig, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="torch finds no GPU: set device"):
        train_encoder(replace(config, device="cuda"), tmp_path / "run", report=quiet)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((NLI, "epoch=2"), "unknown setting 'epoch'; did you mean 'epochs'?"),
        ((NLI, "epochs=many"), "epochs must be a valid integer, got 'many'"),
        (("no-such-file.toml",), "cannot read no-such-file.toml"),
        ((NLI, "encoder=no-such-encoder"), "no-such-encoder is neither a folder"),
        ((NLI, "encoder=tests/data/tiny_encoder"), "is neither a folder with config.json"),
    ],
)
def test_a_wrong_setting_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()
