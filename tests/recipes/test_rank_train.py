"""A whole run on a Qwen2 of two layers: it learns to rank, can be killed and gone on with, and others can open it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recipes.rank.model import load_scorer, lora_of, make_trainer, margin_loss, training_arguments
from recipes.rank.rows import RatedAnswer, RatedQuestion, input_of, questions_of
from recipes.rank.settings import RankConfig
from recipes.rank.train import encoded, read_material, scores_of, train_rank, values_of
from tests.train.pair_rows import rows
from tests.train.tiny_bert import write_tiny_bert
from tests.train.tiny_qwen import CONTEXT, write_tiny_qwen
from vouching.errors import ConfigError, InputError
from vouching.methods.discriminative.model import ScorerNote, TrainedScorer
from vouching.methods.discriminative.scorer import Candidate, Scored
from vouching.metrics import kendall_tau_b, precision_at_1
from vouching.settings import read_settings
from vouching.types import Claim

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")

TOML = Path(__file__).parents[2] / "recipes/rank/tiny.toml"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(40, 1)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_qwen(tmp_path_factory.mktemp("qwen"), (json.dumps(row) for row in rows(40, 1)))


@pytest.fixture
def config(pairs: Path, qwen: Path) -> RankConfig:
    return read_settings(RankConfig, TOML, [f'model="{qwen}"', f'pairs=["{pairs}"]', "device=cpu"])


def quiet(line: str) -> None:
    """Progress that nobody reads."""


def killed_after(steps: int) -> Callable[[str], None]:
    """Progress that ends the run as a signal would, at the first line that tells of so many steps or more."""

    def say(line: str) -> None:
        if line.startswith("step ") and int(line.split()[1].rstrip(":")) >= steps:
            raise KeyboardInterrupt

    return say


def weights_in(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    [path] = [*folder.glob("*model.safetensors")]
    return load_file(path)


def test_a_run_learns_to_rank_and_the_scorer_of_rankings_opens_what_it_wrote(
    config: RankConfig, tmp_path: Path
) -> None:
    scores = train_rank(replace(config, epochs=5, evaluate_every=1000), tmp_path / "run", report=quiet)
    assert scores["set/1"]["p_at_1"] > 0.9
    assert scores["all"]["tau"] > 0.8
    folder = tmp_path / "run/model"
    scorer = TrainedScorer(folder)
    assert scorer.note == ScorerNote("compressed", 64)
    asked = [(one, answer) for one in read_material(config).held for answer in one.answers]
    read = [input_of(one.question, answer, one.history, "compressed") for one, answer in asked]
    candidates = [
        Candidate(one.question, answer.answer, Claim(answer.answer), shown, ())
        for (one, answer), shown in zip(asked, read, strict=True)
    ]
    again = asyncio.run(scorer.score(candidates))
    written = [json.loads(line) for line in (tmp_path / "run/held.jsonl").read_text(encoding="utf-8").splitlines()]
    values = [outcome.value for outcome in again if isinstance(outcome, Scored)]
    assert [score for line in written for score in line["scores"]] == pytest.approx(values, abs=1e-5)


def test_a_run_that_was_killed_and_resumed_ends_like_one_that_was_not(config: RankConfig, tmp_path: Path) -> None:
    whole, cut, noisy = tmp_path / "whole", tmp_path / "cut", replace(config, lora_rank=4, dropout=0.3)
    train_rank(noisy, whole, report=quiet)
    with pytest.raises(KeyboardInterrupt):
        train_rank(noisy, cut, report=killed_after(10))
    assert not (cut / "model").exists()
    # What a kill may leave behind: a later checkpoint without its end, half a line of the log.
    half = cut / "checkpoints/checkpoint-9"
    half.mkdir()
    (half / "trainer_state.json").write_text('{"global_step": 9', encoding="utf-8")
    with (cut / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"step": 9')
    train_rank(noisy, cut, resume=True, report=quiet)
    assert (cut / "log.jsonl").read_bytes() == (whole / "log.jsonl").read_bytes()
    first, second = weights_in(whole / "model"), weights_in(cut / "model")
    assert first.keys() == second.keys()
    assert all((first[name] == second[name]).all() for name in first)


def test_a_finished_run_is_only_scored_and_written_again(config: RankConfig, tmp_path: Path) -> None:
    short = replace(config, max_steps=4)
    scores = train_rank(short, tmp_path / "run", report=quiet)
    log = (tmp_path / "run/log.jsonl").read_bytes()
    (tmp_path / "run/held.jsonl").unlink()
    assert train_rank(short, tmp_path / "run", resume=True, report=quiet) == scores
    assert (tmp_path / "run/log.jsonl").read_bytes() == log
    assert (tmp_path / "run/held.jsonl").exists()


def test_adapters_and_head_are_trained_and_the_base_is_not(config: RankConfig, tmp_path: Path) -> None:
    adapted = replace(config, lora_rank=4, max_steps=6, shown="full")
    train_rank(adapted, tmp_path / "run", report=quiet)
    names = weights_in(tmp_path / "run/model").keys()
    assert {name.rpartition("lora_")[2].partition(".")[0] for name in names if "lora_" in name} == {"A", "B"}
    assert any("score" in name for name in names)
    assert not any("embed" in name for name in names)
    assert TrainedScorer(tmp_path / "run/model").note == ScorerNote("full", 64)  # opened with its base


def test_an_encoder_is_trained_like_a_causal_model(config: RankConfig, tmp_path: Path) -> None:
    bert = write_tiny_bert(tmp_path / "bert")
    scores = train_rank(replace(config, model=str(bert), epochs=4), tmp_path / "run", report=quiet)
    assert scores["all"]["p_at_1"] > 0.9


def test_adapters_of_an_encoder_take_its_new_pooler_along(config: RankConfig, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, DebertaV2Config, DebertaV2Model

    tokenizer = AutoTokenizer.from_pretrained(config.model)
    tokenizer.save_pretrained(tmp_path / "base")
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    base = DebertaV2Config(vocab_size=len(tokenizer), max_position_embeddings=CONTEXT, type_vocab_size=0, **shape)
    DebertaV2Model(base).save_pretrained(tmp_path / "base")  # which has no pooler, as the published ones
    run = tmp_path / "run"
    train_rank(replace(config, model=str(tmp_path / "base"), lora_rank=4, max_steps=2), run, report=quiet)
    one = read_material(config).held[0]
    read = [input_of(one.question, answer, one.history, "compressed") for answer in one.answers]
    candidates = [Candidate("", "", Claim("x"), shown, ()) for shown in read]
    again = asyncio.run(TrainedScorer(run / "model").score(candidates))
    written = json.loads((run / "held.jsonl").read_text(encoding="utf-8").splitlines()[0])["scores"]
    assert [outcome.value for outcome in again if isinstance(outcome, Scored)] == pytest.approx(written, abs=1e-5)


def test_batches_of_one_step_weigh_as_one_large_batch(config: RankConfig, tmp_path: Path) -> None:
    # With the margin far above all gaps every pair has the slope 1, so that equal parts have equal weight.
    whole = replace(config, max_steps=2, dropout=0.0, lora_rank=0, margin=9.0, batch_pairs=8)
    train_rank(whole, tmp_path / "whole", report=quiet)
    train_rank(replace(whole, micro_batch=2), tmp_path / "parts", report=quiet)
    first, second = weights_in(tmp_path / "whole/model"), weights_in(tmp_path / "parts/model")
    assert all(torch.allclose(first[name], second[name], atol=1e-4) for name in first)


def test_the_dropout_of_adapters_stays_on_and_nothing_is_reported(config: RankConfig, tmp_path: Path) -> None:
    from trl import RewardTrainer

    noisy = replace(config, lora_rank=4, dropout=0.25)
    model, tokenizer, _ = load_scorer(noisy, reduced=False)
    trainer = make_trainer(noisy, training_arguments(noisy, tmp_path), model, tokenizer, read_material(noisy).train)
    drops = {m.p for name, m in trainer.model.named_modules() if "lora_dropout" in name and hasattr(m, "p")}
    assert drops == {0.25}
    # TRL tells a server of every trainer that is made; the method that does it is replaced.
    assert type(trainer)._send_telemetry is not RewardTrainer._send_telemetry
    assert trainer._send_telemetry() is None


def test_the_loss_of_a_step_is_the_hinge_over_its_pairs(config: RankConfig, tmp_path: Path) -> None:
    model, tokenizer, _ = load_scorer(config, reduced=False)
    material = read_material(config)
    trainer = make_trainer(config, training_arguments(config, tmp_path), model, tokenizer, material.train)
    batch = trainer.data_collator([trainer.train_dataset[i] for i in range(8)])
    with torch.no_grad():
        loss = float(trainer.compute_loss(trainer.model, dict(batch)))
    first = questions_of(material.train[:8])
    values = dict(
        zip(
            ((one.group, answer.answer) for one in first for answer in one.answers),
            values_of(trainer.model, encoded(first, tokenizer, config), tokenizer.pad_token_id, 64),
            strict=True,
        )
    )
    gaps = [values[p.group, p.better.answer] - values[p.group, p.worse.answer] for p in material.train[:8]]
    assert loss == pytest.approx(sum(max(0.0, 0.1 - gap) for gap in gaps) / 8, abs=1e-6)


def test_the_hinge_is_that_of_torch() -> None:
    better, worse = torch.randn(50), torch.randn(50)
    theirs = torch.nn.MarginRankingLoss(margin=0.1)(better, worse, torch.ones(50))
    assert float(margin_loss(better, worse, 0.1)) == pytest.approx(float(theirs), abs=1e-7)


def test_what_cannot_be_trained_is_said_so(config: RankConfig, pairs: Path, tmp_path: Path) -> None:
    config = replace(config, pairs=(str(shutil.copy(pairs, tmp_path)),))
    with pytest.raises(ConfigError, match=f"reads at most {CONTEXT} tokens"):
        train_rank(replace(config, max_tokens=CONTEXT + 1), tmp_path / "run", report=quiet)
    (tmp_path / "none").mkdir()
    with pytest.raises(ConfigError, match="cannot load the model"):
        train_rank(replace(config, model=str(tmp_path / "none")), tmp_path / "run", report=quiet)
    with pytest.raises(ConfigError, match="neither a folder"):
        train_rank(replace(config, model="no-such-model"), tmp_path / "run", report=quiet)
    with pytest.raises(ConfigError, match="dev has questions that are also in the training pairs"):
        train_rank(replace(config, dev=config.pairs), tmp_path / "run", report=quiet)
    train_rank(replace(config, max_steps=1), tmp_path / "run", report=quiet)
    with pytest.raises(InputError, match=r"different settings \(margin\)"):
        train_rank(replace(config, max_steps=1, margin=0.2), tmp_path / "run", resume=True, report=quiet)
    other = Path(config.pairs[0])  # as many pairs of the same questions, with other evidence
    other.write_text(other.read_text(encoding="utf-8").replace("was built", "stood"), encoding="utf-8")
    with pytest.raises(InputError, match=r"different data \(held_out, train\)"):
        train_rank(replace(config, max_steps=1), tmp_path / "run", resume=True, report=quiet)


def test_the_paper_s_adapters_are_on_every_linear_layer(config: RankConfig) -> None:
    settings = lora_of(RankConfig(pairs=("pairs.jsonl",)))
    assert (settings.r, settings.lora_alpha, settings.lora_dropout, settings.target_modules) == (
        8,
        32,
        0.05,
        "all-linear",
    )
    assert lora_of(config) is None


def test_figures_are_the_means_over_questions() -> None:
    three = tuple(
        RatedAnswer(name, label) for name, label in (("a", "correct"), ("b", "irrelevant"), ("c", "incorrect"))
    )
    questions = [RatedQuestion("one", "1", "?", three), RatedQuestion("two", "2", "?", three[::2])]
    # One: a 1, b 3, c 2: of the pairs ab, ac, bc only bc is in order, tau (1 - 2) / 3. Two: all scores equal, tau is
    # undefined and counts 0, the top is shared by two, one of them the best.
    found = scores_of(questions, [1.0, 3.0, 2.0, 5.0, 5.0])
    assert found["one"] == {"questions": 1, "p_at_1": 0.0, "tau": -0.3333, "chance": 0.3333}
    assert found["two"] == {"questions": 1, "p_at_1": 0.5, "tau": 0.0, "chance": 0.5}
    assert found["all"] == {"questions": 2, "p_at_1": 0.25, "tau": -0.1667, "chance": 0.4167}
    assert float(kendall_tau_b([2, 1, 0], [1.0, 3.0, 2.0])) == pytest.approx(-1 / 3)
    assert float(precision_at_1([2, 0], [5.0, 5.0])) == 0.5
