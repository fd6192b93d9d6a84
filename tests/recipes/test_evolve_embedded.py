"""The embedded verifier as a student: where it starts, what it learns, and that a kill changes nothing."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from recipes.evolve.embedded import (
    EmbeddedEvolveConfig,
    EmbeddedSettings,
    EmbeddedStudent,
    even_weights,
    main,
)
from tests.evolve.boats import boat, write_trial
from tests.recipes.evolve_process import run
from tests.train.tiny_bert import write_tiny_bert
from vouching.cli.app import app
from vouching.embedded.soft_reading import COMBINED, EXPORT
from vouching.embedded.verify import open_embedded
from vouching.encoder.encoder import load_encoder
from vouching.errors import ConfigError, InputError
from vouching.evolve.loop import fingerprint, read_data
from vouching.evolve.probe import ProbePlan, make_probes, typed_rows
from vouching.evolve.records import Judged, Row, read_records, write_records
from vouching.evolve.rows import disjoint_rows
from vouching.methods.discriminative.open import open_scorer
from vouching.settings import read_settings
from vouching.types import Claim, Source, Verdict

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")

from recipes.encoder.export import write_floats  # noqa: E402
from recipes.encoder.model import load_model, outputs_of  # noqa: E402
from recipes.encoder.settings import EncoderConfig  # noqa: E402
from recipes.encoder.train import train_encoder  # noqa: E402

PROCESS = Path(__file__).with_name("evolve_process.py")
HELD = [boat(number, "ferries") for number in range(100, 124)]
DEV = [
    *HELD,
    *(Row(f"{row.id}-not", row.claim, f"Nobody of {row.id} did.", "Not Attributable", "ferries") for row in HELD),
]
TRAIN = [boat(number) for number in range(40)]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the encoder on a BERT of two layers: where an evolution can start."""
    folder = tmp_path_factory.mktemp("begun")
    with gzip.open(folder / "rows.jsonl.gz", "wt", encoding="utf-8") as file:
        for row in [*TRAIN, *(Row(f"{r.id}-not", r.claim, f"Nothing of {r.id}.", "Not Attributable") for r in TRAIN)]:
            fields = {"id": row.id, "claim": row.claim, "source": row.source, "label": row.label}
            file.write(json.dumps(fields) + "\n")
    config = EncoderConfig(
        encoder=str(write_tiny_bert(folder / "bert")),
        train=(),
        dev=(),
        pairs=(str(folder / "rows.jsonl.gz"),),
        max_tokens=64,
        max_claim_tokens=24,
        max_steps=2,
        device="cpu",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VOUCH_DATA", raising=False)  # pairs alone need no data sets
        train_encoder(config, folder / "run", report=lambda _: None)
    return folder / "run"


@pytest.fixture(autouse=True)
def no_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOUCH_DATA", raising=False)


def settings(begun: Path, **changed: float) -> EmbeddedSettings:
    return EmbeddedSettings(**{"start": str(begun), "steps": 6, "checkpoint_every": 2, **changed})  # type: ignore[arg-type]


def student(begun: Path, out: Path) -> EmbeddedStudent:
    return EmbeddedStudent.start(out, DEV, settings(begun), report=lambda _: None)


def vouch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def outcomes(judged: Sequence[Judged]) -> list[tuple[float | None, str | None, str | None]]:
    return [(one.score, one.label, one.error_type) for one in judged]


def test_int8_weights_converted_to_floats_agree_with_the_export(begun: Path, tmp_path: Path) -> None:
    """A rounding of each weight by at most half of its step, of a 127th of the largest, is all that may differ."""
    write_floats(begun / "export", tmp_path / "model", heads=2)
    found, wanted = (load_model(folder, seed=0).state_dict() for folder in (tmp_path / "model", begun / "model"))
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        assert (found[name] - values).abs().max() <= 0.51 * values.abs().max() * 2 / 254, name


def test_the_shipped_encoder_can_be_trained_further(tmp_path: Path) -> None:
    """Its floats in torch and its int8 export, which rounds activations, read a pair alike, P within .15."""
    write_floats(None, tmp_path / "model")
    model, encoder = load_model(tmp_path / "model", seed=0).eval(), load_encoder()
    for claim, source in (("It opened in 1973.", "The bridge opened in 1973."), ("It was sold.", "He kept it.")):
        reading = encoder.read(claim, encoder.encode([Source(source)]))
        [tokens] = encoder._tokenizer.tokens([claim])
        ids = encoder._tokenizer.pair(tokens.ids, encoder._tokenizer.tokens([source])[0].ids)
        places = torch.arange(len(ids))
        inputs = {
            "input_ids": torch.from_numpy(ids.astype(np.int64))[None],
            "attention_mask": torch.ones(1, len(ids)),
            "token_type_ids": (places > len(tokens.ids) + 1).long()[None],
        }
        with torch.no_grad():
            relation = outputs_of(model, inputs)[0].softmax(-1)[0].tolist()
        assert relation == pytest.approx([*reading.relation.values()], abs=0.15)


def test_an_export_of_another_kind_is_refused(begun: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not an export of recipes/encoder"):
        write_floats(begun / "export", tmp_path / "model", heads=5)  # 16 dimensions are no five heads


def test_a_student_agrees_with_the_verifier_of_its_folder(begun: Path, tmp_path: Path) -> None:
    first = student(begun, tmp_path / "0")
    verifier = open_embedded(f"embedded:{tmp_path / '0'}")
    for one in first.verify(DEV[:3] + DEV[-3:]):
        verdict = verifier.judge(Claim(one.row.claim), [Source(one.row.source)])
        assert isinstance(verdict, Verdict)
        assert (one.score, one.label, one.error_type) == (verdict.score, verdict.label, verdict.error_type)


def test_a_round_is_named_by_its_folder_and_its_lines_by_its_weights(begun: Path, tmp_path: Path) -> None:
    student(begun, folder := tmp_path / "0")
    rows, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text("".join(json.dumps({"claim": row.claim, "sources": row.source}) + "\n" for row in DEV[:2]))
    arguments = ["check", "--input", rows, "--output", output, "--model", f"embedded:{folder}"]
    assert vouch(*arguments).exit_code == 0
    names = [json.loads(line)["provenance"]["model"] for line in output.read_text().splitlines()]
    assert names == [f"embedded:{folder}"] * 2
    assert vouch(*arguments, "--resume").exit_code == 0
    record = json.loads((folder / COMBINED).read_bytes())
    record["calibration"]["shift"] += 0.1
    (folder / COMBINED).write_text(json.dumps(record))
    assert "was made with weights" in vouch(*arguments, "--resume").stderr
    assert open_scorer(f"embedded:{folder}").name == f"embedded:{folder}"


def test_a_round_changes_the_encoder_and_of_the_score_only_slope_and_shift(begun: Path, tmp_path: Path) -> None:
    first = student(begun, tmp_path / "0")
    before = outcomes(first.verify(DEV))
    probes = make_probes(TRAIN, {}, ProbePlan(30, "random"), HELD).kept
    second = first.refine(1, probes, TRAIN[:10], (), tmp_path / "1")
    old, new = (json.loads((tmp_path / name / COMBINED).read_bytes()) for name in ("0", "1"))
    assert {key for key in old if old[key] != new[key]} <= {"encoder", "calibration"}
    assert old["encoder"] != new["encoder"] == load_encoder(tmp_path / "1" / EXPORT).weights.digest
    assert outcomes(second.verify(DEV)) != before
    assert outcomes(EmbeddedStudent(tmp_path / "0", DEV).verify(DEV)) == before
    again = first.refine(1, probes, TRAIN[:10], (), tmp_path / "1")  # it is there: opened, not trained
    assert outcomes(again.verify(DEV)) == outcomes(second.verify(DEV))
    assert not [*tmp_path.rglob("checkpoint.pt")]


def test_sets_and_labels_have_equal_weight_in_the_fit() -> None:
    """20 and 10 rows of a, 5 and 5 of b: the mean cell has 40 / 4 = 10. One-sided sets say nothing of a threshold."""
    yes, no = "Attributable", "Not Attributable"
    counts = [("a", yes, 20), ("a", no, 10), ("b", yes, 5), ("b", no, 5), ("typed", no, 9)]
    rows = [Row(f"{name}{label}{n}", "c", "s", label, name) for name, label, count in counts for n in range(count)]
    assert even_weights(rows) == {"a": {True: 0.5, False: 1.0}, "b": {True: 2.0, False: 2.0}}


def test_the_rows_of_the_trial_are_apart_and_have_both_labels(tmp_path: Path) -> None:
    write_trial(tmp_path)
    recipe = Path(__file__).parents[2] / "recipes/evolve/tiny.toml"
    names = [f'{name}=["{tmp_path}/{name}.jsonl"]' for name in ("train", "dev")]
    data = read_data(read_settings(EmbeddedEvolveConfig, recipe, names))
    assert len(disjoint_rows(data.train, data.dev)) == len(data.train) == 36
    assert set(even_weights(data.dev)) == {"boats"}


def test_a_wrong_setting_and_a_folder_without_an_evolution_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = Path(__file__).parents[2] / "recipes/evolve/tiny.toml"
    assert main(["run", str(recipe), "embedded.step=2", "--out", str(tmp_path / "out")]) == 2
    assert "did you mean 'embedded.steps'?" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["test", str(tmp_path), "wice"]) == 2
    assert "choose a folder written by vouch evolve run" in capsys.readouterr().err


def test_rows_of_one_label_in_every_set_are_refused(begun: Path, tmp_path: Path) -> None:
    rows = [boat(n) for n in range(4)]
    with pytest.raises(InputError, match="requires a set with rows of both labels, but dev has no such set"):
        EmbeddedStudent.start(tmp_path / "one", rows, EmbeddedSettings(start=str(begun)))


def test_a_round_that_is_killed_in_the_middle_of_a_step_and_resumed_ends_like_one_that_was_not(
    begun: Path, tmp_path: Path
) -> None:
    write_records(tmp_path / "train.jsonl", TRAIN)
    write_records(tmp_path / "dev.jsonl", [*DEV, *typed_rows(HELD, 3)])
    toml = tmp_path / "evolve.toml"
    toml.write_text(
        f'train = ["{tmp_path}/train.jsonl"]\ndev = ["{tmp_path}/dev.jsonl"]\nrounds = 1\nprobes = 24\nreplay = 6\n'
        f'resamples = 100\n[embedded]\nstart = "{begun}"\nsteps = 6\nbatch_tokens = 512\ncheckpoint_every = 2\n',
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROCESS.parents[2]), *sys.path])}
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert main(["run", str(toml), "--out", str(whole)]) == 0
    command = [sys.executable, str(PROCESS), str(toml), str(cut), "1", "6"]
    # It tells of step 6 before it keeps a checkpoint of it; that of step 4 is there.
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    assert (cut / "round-1/student/run/checkpoint.pt").exists()
    assert not (cut / "round-1/student/run/model").exists()
    run(toml, cut)
    assert fingerprint(cut, 100) == fingerprint(whole, 100)
    for name in ("student/run/export/model.onnx", "student/combined.json", "judged.jsonl", "probes.jsonl"):
        assert (whole / "round-1" / name).read_bytes() == (cut / "round-1" / name).read_bytes(), name
    before, after = (outcomes(read_records(whole / f"round-{k}/judged.jsonl", Judged)) for k in (0, 1))
    assert before != after
