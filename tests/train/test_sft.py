"""Supervised runs on a Qwen2 of two layers: they learn, can be killed and gone on with, and say what is wrong."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train.forked import as_group, dying_at, in_child, told_always
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError, InputError
from vouching.methods.training import LoraSettings, WatchSettings
from vouching.settings import read_settings
from vouching.train.checkpoint import best_checkpoint, last_checkpoint, step_of
from vouching.train.run_folder import read_records
from vouching.train.sft import SftConfig, train_sft

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

TOML = Path(__file__).parents[2] / "recipes/structured/tiny-sft.toml"


def chat(number: int) -> dict[str, Any]:
    """A prompt that says which of two labels to write."""
    label = ("Attributable", "Not Attributable")[number % 2]
    said = json.dumps({"label": label, "confidence": 0.9})
    asked = {"role": "user", "content": f"{number}: {'yes' if number % 2 == 0 else 'no'}"}
    return {"id": f"r{number}", "messages": [asked, {"role": "assistant", "content": said}]}


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sft")
    write(made / "sft.jsonl", [chat(number) for number in range(64)])
    write(made / "dev.jsonl", [chat(number) for number in range(64, 72)])
    labels = [
        {"claim": f"It is {n}.", "source": f"It is {n + n % 2}.", "label": ("Attributable", "Not Attributable")[n % 2]}
        for n in range(16)
    ]
    write(made / "labels.jsonl", labels)
    write_tiny_qwen(made / "qwen", [json.dumps(chat(n)) for n in range(64)] + [json.dumps(x) for x in labels], 2048)
    return made


@pytest.fixture
def config(folder: Path) -> SftConfig:
    return read_settings(
        SftConfig,
        TOML,
        [f'model="{folder}/qwen"', f'rows=["{folder}/sft.jsonl"]', f'dev=["{folder}/dev.jsonl"]', "device=cpu"],
    )


def run(config: SftConfig, out: Path, resume: bool = False, say: Callable[[str], None] | None = None) -> list[str]:
    lines: list[str] = []
    train_sft(config, out, resume, say or lines.append)
    return lines


def weights_in(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    [path] = [*folder.glob("*model.safetensors")]
    return load_file(path)


def test_a_run_learns_what_the_assistant_says_and_keeps_the_best_step(config: SftConfig, tmp_path: Path) -> None:
    lines = run(config, tmp_path / "run")
    records = read_records(tmp_path / "run")
    assert [record["step"] for record in records] == [*range(1, 13)]
    assert records[-1]["loss"] < 0.6 * records[0]["loss"]
    scored = {int(record["step"]): record["dev/loss"] for record in records if "dev/loss" in record}
    assert [*scored] == [4, 8, 12]
    best = best_checkpoint(tmp_path / "run")
    assert best is not None
    assert step_of(best) == min(scored, key=scored.__getitem__)
    assert any(f"the weights of step {step_of(best)} are in" in line for line in lines)
    # A step counts as done when its energy is known: 300 W, PUE 1.4, some milliseconds.
    assert 0 < records[-1]["energy/kg_co2e"] < 0.001
    from transformers import AutoModelForCausalLM

    assert AutoModelForCausalLM.from_pretrained(tmp_path / "run/model").num_parameters() > 100_000


def test_only_what_the_assistant_says_is_learned(folder: Path) -> None:
    from transformers import AutoTokenizer

    from vouching.train.sft import read_chats, tokens_of

    tokenizer = AutoTokenizer.from_pretrained(folder / "qwen")
    example = read_chats([str(folder / "sft.jsonl")])[0]
    ids, prompt = tokens_of(tokenizer, example)
    assert tokenizer.decode(ids[:prompt]) == "0: yes<end>"
    assert tokenizer.decode(ids[prompt:]) == example.completion + "<end>"


def test_a_finished_run_is_extended_by_more_steps_and_ends_like_one_of_that_length(
    config: SftConfig, tmp_path: Path
) -> None:
    short = replace(config, max_steps=4, schedule="constant", warmup=0.0)
    run(short, tmp_path / "grown")
    with pytest.raises(InputError, match=r"different settings \(max_steps\)"):
        run(replace(short, max_steps=3), tmp_path / "grown", resume=True)
    run(replace(short, max_steps=8), tmp_path / "grown", resume=True)
    run(replace(short, max_steps=8), tmp_path / "whole")
    assert [record["step"] for record in read_records(tmp_path / "grown")] == [*range(1, 9)]
    first, second = weights_in(tmp_path / "whole/model"), weights_in(tmp_path / "grown/model")
    assert all(torch.equal(first[name], second[name]) for name in first)
    # It is a run of eight steps now: done, and not of four any more.
    run(replace(short, max_steps=8), tmp_path / "grown", resume=True)
    assert len(read_records(tmp_path / "grown")) == 8
    with pytest.raises(InputError, match=r"different settings \(max_steps\)"):
        run(short, tmp_path / "grown", resume=True)


def test_a_run_that_was_killed_and_resumed_ends_like_one_that_was_not(
    config: SftConfig, folder: Path, tmp_path: Path
) -> None:
    lora = LoraSettings(rank=4, dropout=0.2)
    run(replace(config, lora=lora), tmp_path / "whole")
    killed = in_child(told_always(lambda: run(replace(config, lora=lora), tmp_path / "cut", say=dying_at("step 8 "))))
    assert killed == -signal.SIGKILL
    # It died between the line of step 8 and its checkpoint: step 4 is what there is, and steps 5 to 8 come again.
    last = last_checkpoint(tmp_path / "cut")
    assert last is not None
    assert step_of(last) == 4
    with (tmp_path / "cut/metrics.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"step": 9')
    run(replace(config, lora=lora), tmp_path / "cut", resume=True)
    first, second = weights_in(tmp_path / "whole/model"), weights_in(tmp_path / "cut/model")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    kept = [
        [{name: one[name] for name in one if not name.startswith(("time/", "energy/"))} for one in read_records(out)]
        for out in (tmp_path / "whole", tmp_path / "cut")
    ]
    assert kept[0] == kept[1]


def test_labels_are_learned_first_and_the_same_adapters_learn_records_then(
    config: SftConfig, folder: Path, tmp_path: Path
) -> None:
    staged = replace(
        config, binary=(str(folder / "labels.jsonl"),), max_steps=4, lora=LoraSettings(rank=4), max_tokens=1280
    )
    lines = run(staged, tmp_path / "run")
    assert "first stage: training on 16 labels" in lines
    first, second = weights_in(tmp_path / "run/binary/model"), weights_in(tmp_path / "run/model")
    assert first.keys() == second.keys()
    assert any((first[name] != second[name]).any() for name in first)
    assert json.loads((tmp_path / "run/model/adapter_config.json").read_text())["base_model_name_or_path"] == str(
        (folder / "qwen").resolve()
    )
    # Gone on with, it does nothing again.
    assert not any("first stage" in line for line in run(staged, tmp_path / "run", resume=True))


def test_two_processes_learn_both_stages(config: SftConfig, folder: Path, tmp_path: Path) -> None:
    # The second stage starts from weights that one process has written, and needs the processes of the first.
    staged = replace(
        config,
        binary=(str(folder / "labels.jsonl"),),
        dev=(),
        max_steps=2,
        max_tokens=1280,
        lora=LoraSettings(rank=4),
    )

    def both() -> None:
        records = run(staged, tmp_path / "run")
        (tmp_path / f"records-{os.environ['RANK']}").write_text("\n".join(records), encoding="utf-8")

    as_group(both)
    records = [(tmp_path / f"records-{rank}").read_text(encoding="utf-8") for rank in (0, 1)]
    assert "first stage: training on 16 labels" in records[0]
    assert "first stage" not in records[1]
    first, second = weights_in(tmp_path / "run/binary/model"), weights_in(tmp_path / "run/model")
    assert any((first[name] != second[name]).any() for name in first)
    assert [len(read_records(tmp_path / name)) for name in ("run/binary", "run")] == [2, 2]


def test_the_batch_of_an_update_is_that_of_all_processes(config: SftConfig, tmp_path: Path) -> None:
    # Sixteen chats an update: in one process two pieces of eight, in two one of eight, in four one of four.
    steady = replace(config, dev=(), max_steps=3, learning_rate=1e-3, watch=WatchSettings(checkpoint_every=3))
    run(steady, tmp_path / "1")
    for processes in (2, 4):
        as_group(lambda out=tmp_path / str(processes): run(steady, out), processes)
    alone = weights_in(tmp_path / "1/model")
    for processes in ("2", "4"):
        found = weights_in(tmp_path / processes / "model")
        assert max(float((alone[name] - found[name]).abs().max()) for name in alone) < 1e-6
        losses = [[line["loss"] for line in read_records(tmp_path / out)] for out in ("1", processes)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_a_batch_that_the_processes_cannot_share_is_an_error(
    config: SftConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match=r"batch_prompts must be a multiple of the number of processes \(3\), got 16"):
        run(config, tmp_path / "run")


def test_chats_that_are_too_long_are_left_out_and_counted(config: SftConfig, folder: Path, tmp_path: Path) -> None:
    long = chat(99)
    long["messages"][0]["content"] *= 400
    rows = write(tmp_path / "rows.jsonl", [chat(1), chat(2), long])
    one = replace(config, rows=(rows,), max_steps=1, dev=())
    with pytest.raises(InputError, match=r"1 of 3 rows \(33.3%\) would be dropped.* set allow_dropped"):
        run(one, tmp_path / "none")
    lines = run(replace(one, allow_dropped=0.4), tmp_path / "run")
    assert "chats for training: 2 of 3;" in lines[0]
    assert lines[1].startswith("dropped 1 of 3 rows (33.3%): their chats have more than ")
    with pytest.raises(InputError, match="all 64 rows would be dropped: their chats have more than 3 tokens"):
        run(replace(config, max_tokens=3), tmp_path / "none")


def test_a_loss_that_is_no_number_ends_the_run_with_the_last_good_checkpoint(config: SftConfig, tmp_path: Path) -> None:
    from vouching.errors import TrainingError

    wild = replace(
        config,
        learning_rate=1e30,
        schedule="constant",
        warmup=0.0,
        watch=WatchSettings(checkpoint_every=1, evaluate_every=1),
        dev=(),
    )
    with pytest.raises(TrainingError, match="start again with a lower learning rate"):
        run(wild, tmp_path / "run")
    last = last_checkpoint(tmp_path / "run")
    assert last is not None
    assert step_of(last) == len(read_records(tmp_path / "run"))


def filling(line: str) -> None:
    """Takes lines of progress; from step 8 on there is no room for files of more than some kilobytes."""
    if line.startswith("step 8 "):
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_a_disk_that_is_full_at_a_checkpoint_loses_nothing(config: SftConfig, folder: Path, tmp_path: Path) -> None:
    def full() -> None:
        with pytest.raises(InputError, match="free some space and continue with --resume"):
            run(config, tmp_path / "run", say=filling)

    assert in_child(told_always(full)) == 0
    assert [path.name for path in (tmp_path / "run/checkpoints").iterdir()] == ["checkpoint-4"]
    run(config, tmp_path / "run", resume=True)
    assert len(read_records(tmp_path / "run")) == 12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "no/such/model"}, "no/such/model"),
        ({"rows": ("none.jsonl",)}, "none.jsonl"),
        ({"watch": WatchSettings(evaluate_every=3, checkpoint_every=2)}, "must be a multiple"),
    ],
)
def test_what_cannot_be_used_is_said_so(
    config: SftConfig, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises((ConfigError, InputError), match=message):
        run(replace(config, **changes), tmp_path / "run")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], r"no rows in .*: expected rows with messages"),
        ([{"claim": "It rained."}], 'line 1: the row has no "messages"; its keys are claim'),
        ([{"messages": [{"role": "user", "content": "Is it?"}]}], '"messages" must end with a reply of the assistant'),
        ([{"messages": [{"role": "user"}]}], 'must have the strings "role" and "content"'),
    ],
)
def test_rows_that_cannot_be_learned_from_are_named(
    config: SftConfig, tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    path = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(InputError, match=message):
        run(replace(config, rows=(path,)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_exported_model_has_its_adapters_merged_and_says_how_it_came_to_be(
    config: SftConfig, folder: Path, tmp_path: Path
) -> None:
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from vouching.train.export import export_run
    from vouching.train.policy import load_policy

    run(replace(config, lora=LoraSettings(rank=4), max_steps=4), tmp_path / "run")
    exported = export_run(tmp_path / "run", tmp_path / "model")
    merged = AutoModelForCausalLM.from_pretrained(exported)
    adapted, _ = load_policy(str(tmp_path / "run/model"), LoraSettings(), reduced=False)
    ids = AutoTokenizer.from_pretrained(exported)("1: no", return_tensors="pt").input_ids
    with torch.no_grad():
        assert torch.allclose(merged(ids).logits, adapted.eval()(ids).logits, atol=1e-5)
    card = (exported / "README.md").read_text(encoding="utf-8")
    for words in (
        "weights are those of step 4 of 4",
        "64 used; SHA-256",
        "dev/loss",
        "lora.rank",
        "kg CO2e",
        "replies as in the chats of its training rows",
    ):
        assert words in card
    with pytest.raises(InputError, match="not an empty folder"):
        export_run(tmp_path / "run", tmp_path / "model")
    with pytest.raises(InputError, match=r"no complete checkpoint of step 3, but of \[4\]: raise watch.keep"):
        export_run(tmp_path / "run", tmp_path / "third", step=3)
    assert "of step 4 of 4" in (export_run(tmp_path / "run", tmp_path / "fourth", step=4) / "README.md").read_text(
        "utf-8"
    )
    # A run that was gone on with has a newer checkpoint than its model; that is what the card is about.
    newer = weights_in(tmp_path / "run/checkpoints/checkpoint-4")
    for path in (tmp_path / "run/model").glob("*.safetensors"):
        save_file({name: value + 1 for name, value in newer.items()}, path)
    again = AutoModelForCausalLM.from_pretrained(export_run(tmp_path / "run", tmp_path / "again"))
    assert torch.equal(again(ids).logits, merged(ids).logits)
    with pytest.raises(ConfigError, match=r"set lora\.rank=0 to continue training them"):
        load_policy(str(tmp_path / "run/model"), LoraSettings(rank=4), reduced=False)
    # Below adapters, also those of an earlier run, weights are held in bfloat16; what is trained never is.
    held, _ = load_policy(str(tmp_path / "run/model"), LoraSettings(), reduced=True)
    assert {str(one.dtype) for one in held.parameters() if one.requires_grad} == {"torch.float32"}
    assert {str(one.dtype) for one in held.parameters() if not one.requires_grad} == {"torch.bfloat16"}
    whole, _ = load_policy(str(folder / "qwen"), LoraSettings(), reduced=True)
    assert {str(one.dtype) for one in whole.parameters()} == {"torch.float32"}
