"""The adapter for TRL, inside a real ``GRPOTrainer`` with a policy of some thousand parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.methods.structured.replies import CLAIM, SOURCE, reply, supported
from vouching.errors import ConfigError, InputError, ModelUnavailableError
from vouching.integrations.trl import trl_blinded_reward, trl_checklist_reward, trl_ranking_reward, trl_reward
from vouching.integrations.verifiers import trace_reward
from vouching.methods import METHODS
from vouching.methods.blinded.model import ModelChecker, ModelProposer
from vouching.methods.blinded.reward import BlindedRules
from vouching.methods.blinded.verify import BlindedVerifier, open_blinded
from vouching.methods.checklist.reward import ChecklistRules
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
from vouching.methods.discriminative.generative import GenerativeRanker
from vouching.methods.discriminative.input import given
from vouching.methods.discriminative.open import open_scorer
from vouching.methods.discriminative.rank import ScoringRanker
from vouching.methods.structured.reward import PARTS
from vouching.models import ScriptedModel
from vouching.types import Claim, Reward, Source, Trajectory, Unverified


def test_columns_become_arguments_and_parts_become_metrics() -> None:
    logged: dict[str, float] = {}
    reward = trl_reward("structured", variant="grounded")
    totals = reward(
        prompts=["..."] * 2,
        completions=[reply(), [{"role": "assistant", "content": supported()}]],
        completion_ids=[[1], [2]],
        gold=["Not Attributable"] * 2,
        claim=[CLAIM] * 2,
        source=[SOURCE] * 2,
        trainer_state=object(),
        log_metric=logged.__setitem__,
    )
    # Perfect: 1 + .15 * .8; perfect but for the label: .70 - .10 * .8
    assert totals == [1.12, 0.62]
    assert logged == {
        "structured/unverified": 0.0,
        "structured/format": 1.0,
        "structured/alignment": 1.0,
        "structured/chain": 1.0,
        "structured/label": 0.5,
        "structured/diagnosis": 0.5,
        "structured/calibration": pytest.approx((0.12 - 0.08) / 2),
    }


def judged(response: str, row: Mapping[str, Any]) -> Reward | Unverified:
    """Stands for a judge that is out of order for every odd row."""
    if (number := row["number"]) % 2:
        return Unverified(Claim(response), "backend", "The endpoint gave no answer.")
    return Reward(1.0 + number, {"number": float(number)})


def test_a_failed_judge_gives_no_reward_and_no_part() -> None:
    logged: dict[str, float] = {}
    totals = trl_reward(judged)(completions=["a"] * 3, number=[0, 1, 2], log_metric=logged.__setitem__)
    assert totals == [1.0, None, 3.0]
    assert logged == {"judged/unverified": pytest.approx(1 / 3), "judged/number": 1.0}
    assert trl_reward(judged)(completions=["a"], number=[1]) == [None]


def test_answers_of_a_question_are_ranked_together_with_one_search_for_all() -> None:
    searched: list[tuple[str, int]] = []

    async def find(question: str, answers: Sequence[str]) -> Trajectory:
        searched.append((question, len(answers)))
        return given(question, answers, [Source("The bridge opened in 1973.")])

    logged: dict[str, float] = {}
    reward = trl_ranking_reward(ScoringRanker(open_scorer("embedded:rules"), find=find))
    totals = reward(
        prompts=["..."] * 5,
        completions=["In 1937.", [{"role": "assistant", "content": "In 1973."}], "In 1973.", "", "In 1937."],
        question=["When?", "When?", "What year?", "What year?", "What year?"],
        log_metric=logged.__setitem__,
    )
    assert totals == [0.0, 1.0, 1.0, 0.0, 0.0]  # to say nothing is no way around a bad place
    assert searched == [("When?", 2), ("What year?", 2)]
    assert logged["ranking/unverified"] == 0
    assert logged["ranking/place"] == pytest.approx(0.4)  # (0 + 1 + 1 + 0 + 0) / 5
    with pytest.raises(ConfigError, match='requires the column "question", got none'):
        reward(completions=["In 1973."])


def test_an_unavailable_judge_gives_no_reward_and_does_not_end_training(caplog: pytest.LogCaptureFixture) -> None:
    ranker = GenerativeRanker(ScriptedModel([ModelUnavailableError("503")]), "generative")
    assert trl_ranking_reward(ranker)(completions=["a", ""], question=["When?"] * 2) == [None, None]
    assert "no reward for 2 answers: 503" in caplog.text


def test_an_invalid_ranking_gives_no_reward() -> None:
    ranker = GenerativeRanker(ScriptedModel(["<verdict>Answer 1</verdict>"]), "generative")
    assert trl_ranking_reward(ranker)(completions=["a", "b"], question=["When?"] * 2) == [None, None]


def test_a_missing_column_a_wrong_setting_and_no_text_are_named() -> None:
    with pytest.raises(InputError, match='has no "gold"'):
        trl_reward("structured")(completions=["{}"], label=["Attributable"])
    with pytest.raises(ConfigError, match="no setting 'varient'; did you mean 'variant'"):
        trl_reward("structured", varient="paper")
    with pytest.raises(InputError, match="must be a string, or messages"):
        trl_reward("structured")(completions=[[]], gold=["Attributable"])


@pytest.mark.parametrize(
    ("method", "adapter"),
    [
        ("checklist", "trl:trl_checklist_reward"),
        ("blinded", "trl:trl_blinded_reward"),
        ("discriminative", "trl:trl_ranking_reward"),
    ],
)
def test_a_method_that_does_not_reward_a_reply_alone_is_refused_by_every_adapter(method: str, adapter: str) -> None:
    for make in (trl_reward, trace_reward, lambda name: METHODS[name].scorer()):
        with pytest.raises(ConfigError, match=f"the method {method} cannot reward a reply alone.*{adapter}"):
            make(method)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_rewards_a_reply_or_names_existing_adapters(name: str) -> None:
    method = METHODS[name]
    assert (method.reward_reply is not None) + bool(method.adapters) == (method.reward_row is not None)
    for place in method.adapters:
        module, _, attribute = place.partition(":")
        assert callable(getattr(import_module(module), attribute))
    if method.reward_row is None:
        with pytest.raises(ConfigError, match=f"the method {name} does not provide reward_reply"):
            method.scorer()


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A Qwen2 with random weights and a tokenizer that was trained on two sentences."""
    pytest.importorskip("trl", reason="needs the extra train")
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator([CLAIM, SOURCE], vocab_size=300, special_tokens=["<eos>", "<pad>"], show_progress=False)
    folder = tmp_path_factory.mktemp("tokenizer")
    trained.save(str(folder / "tokenizer.json"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), eos_token="<eos>", pad_token="<pad>"
    )
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=0,
    )
    return Qwen2ForCausalLM(config), tokenizer


def one_step(policy: tuple[Any, Any], reward: Any, folder: Path, **columns: Any) -> Any:
    """Train for one step on two prompts with two replies each; the trainer, and what it logged last."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = policy
    rows = [{"prompt": CLAIM, **{name: values[at] for name, values in columns.items()}} for at in range(2)]
    config = GRPOConfig(
        output_dir=str(folder),
        max_steps=1,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=4,
        logging_steps=1,
        report_to="none",
        use_cpu=True,
        bf16=False,
        save_strategy="no",
        beta=0.0,
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[reward],
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    return trainer


def test_a_real_trainer_logs_every_part(policy: tuple[Any, Any], tmp_path: Path) -> None:
    trainer = one_step(policy, trl_reward("structured"), tmp_path, gold=["Attributable", "Not Attributable"])
    logged = trainer.state.log_history[0]
    # A policy of random weights writes no JSON.
    assert logged["rewards/structured/mean"] == 0.0
    assert {name: logged[f"structured/{name}"] for name in PARTS} == dict.fromkeys(PARTS, 0.0)
    assert logged["structured/unverified"] == 0.0


def test_a_real_trainer_excludes_replies_whose_judge_failed(policy: tuple[Any, Any], tmp_path: Path) -> None:
    trainer = one_step(policy, trl_reward(judged), tmp_path, number=[1, 2])
    logged = trainer.state.log_history[0]
    assert logged["judged/unverified"] == 0.5
    # The mean of what was judged, 3, and not of that and 0.
    assert logged["reward"] == 3.0
    rewards = trainer._logs["rewards"]["judged"]
    assert sorted(map(math.isnan, rewards)) == [False, False, True, True]
    assert all(math.isfinite(advantage) for advantage in trainer._logs["advantages"])


def test_replies_are_judged_by_the_checklist_of_their_row_and_a_failed_judge_gives_none() -> None:
    judge = ScriptedModel({"Is it short": "yes", "Is it red": "no", "Is it odd": "Hm.", "cannot be used": "Hm."})
    logged: dict[str, float] = {}
    reward = trl_checklist_reward(ChecklistVerifier(judge), ChecklistRules(beta=0.5))
    totals = reward(
        prompts=["Ask.", [{"role": "user", "content": "Ask."}], "Ask.", "Ask."],
        completions=["Why?", [{"role": "assistant", "content": "Why?"}], "Why?", " "],
        checklist=[["Is it short?"], ["Is it short?", "Is it red?"], ["Is it odd?"], ["Is it short?"]],
        log_metric=logged.__setitem__,
    )
    # All of one; half of two, and beta; no judgment; nothing said.
    assert totals == [1.0, 0.25, None, 0.0]
    assert (logged["checklist/unverified"], logged["checklist/s"]) == (0.25, 0.5)  # (1 + .5 + 0) / 3


def test_the_same_replies_may_be_judged_as_a_whole() -> None:
    judge = ChecklistVerifier(ScriptedModel(["yes", "no", "yes"]), ChecklistConfig(holistic=True, votes=3))
    assert trl_checklist_reward(judge, ChecklistRules(tau=0.6))(prompts=["Ask."], completions=["Why?"]) == [1.0]


def test_replies_are_audited_blind_against_their_documents() -> None:
    logged: dict[str, float] = {}
    sources = ["The Sarn bridge has three towers and opened in 1973."] * 3
    replies = ["It has three towers and opened in 1973.", "It has 2 towers and opened in 1973.", "  "]
    reward = trl_blinded_reward(open_blinded(), BlindedRules("error-rate"))
    # Both numbers are right; one of two is wrong; nothing was said, which counts as one fault of one.
    assert reward(completions=replies, sources=sources, log_metric=logged.__setitem__) == [0.0, -0.5, -1.0]
    assert logged["blinded/questions"] == pytest.approx((2 + 2 + 1) / 3)
    assert logged["blinded/unverified"] == 0.0


def test_an_audit_whose_model_fails_gives_no_reward() -> None:
    from vouching.errors import ModelRefusedError

    broken = ModelProposer(ScriptedModel([ModelRefusedError("too long")]))
    reward = trl_blinded_reward(BlindedVerifier(broken, ModelChecker(ScriptedModel([]))))
    assert reward(completions=["It has 2 towers."], sources=["It has three towers."]) == [None]


def test_an_audit_without_documents_is_refused() -> None:
    with pytest.raises(ConfigError, match='requires the column "sources", got question'):
        trl_blinded_reward(open_blinded())(completions=["It has 2 towers."], question=["How many?"])
