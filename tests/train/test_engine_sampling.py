"""Sampling by TRL's generation: each process gets the completions of its own prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import config, stop_often, texts, trainer_of
from tests.train.forked import as_group
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError, TrainingError
from vouching.methods.base import Play
from vouching.models.base import Message
from vouching.train.engine_table import figures, observe, without_cut_thoughts
from vouching.types import Group, Reward, Rollout

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from tests.train.vllm_offline import Client, reply_to, use_vllm  # noqa: E402  (needs trl)
from vouching.train.engine_sampling import PolicySampler, encoded  # noqa: E402

COUNTS = ((3, 2), (1, 4), (0, 2), (2, 0), (2, 2))
"""Prompts of the two processes."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


def one_of_two(model: Path, out: Path) -> None:
    from vouching.train.engine import end_training

    trainer = trainer_of(config(model), out)
    sampler, index = PolicySampler(trainer), trainer.accelerator.process_index
    for mode in ("server", "colocate"):
        use_vllm(trainer, mode)
        for counts in COUNTS:
            prompts = [[Message("user", f"Is the tower {index} {place} old?")] for place in range(counts[index])]
            groups = asyncio.run(sampler.sample(prompts, "verifier", 2))
            assert len(groups) == len(prompts)
            for ids, group in zip(encoded(trainer.processing_class, prompts), groups, strict=True):
                assert len(group) == 2
                for one in group:
                    assert [*one.prompt_ids] == ids
                    assert [*one.completion_ids] == reply_to(ids), (mode, counts)
                    assert one.sampling_logprobs == tuple(-float(token) for token in reply_to(ids))
        # TRL alone, with 3 and 2 prompts, gives the second process what belongs to the first.
        prompts = [[index, place] for place in range(3 - index)]
        answered, *_ = trainer.vllm_generation.generate(prompts, None, 1)
        assert (answered == prompts) == (index == 0)
    end_training(trainer)


def test_each_of_two_processes_gets_the_completions_of_its_own_prompts_from_vllm(model: Path, tmp_path: Path) -> None:
    as_group(lambda: one_of_two(model, tmp_path))


def test_completions_of_other_prompts_end_the_run(model: Path, tmp_path: Path) -> None:
    class Shifted(Client):
        def generate(self, prompts, **settings):
            return super().generate([*prompts[1:], prompts[0]], **settings)

    trainer = trainer_of(config(model), tmp_path)
    use_vllm(trainer, "server")
    trainer.vllm_generation.vllm_client = Shifted()
    prompts = [[Message("user", text)] for text in ("Is it old?", "Is it new?")]
    with pytest.raises(TrainingError, match="completions of other prompts"):
        asyncio.run(PolicySampler(trainer).sample(prompts, "verifier", 1))


THINKS = """{% for message in messages %}{{ message['content'] + '<end>' }}{% endfor %}\
{% if add_generation_prompt and enable_thinking is defined and enable_thinking is false %}\
{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{# a template that knows <think> and </think> #}"""
"""Qwen3's way: a model thinks unless its prompt closes an empty thought."""
BEGINS = "{% for message in messages %}{{ message['content'] + '<end>' }}{% endfor %}{{ '<think>\\n' }}{# </think> #}"
"""The way of models that always think."""


class Saying(Client):
    """A server that answers in turn; a text without <end> was cut off."""

    def __init__(self, tokenizer: Any, texts: Sequence[str]) -> None:
        self._replies = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]

    def generate(self, prompts: Sequence[Sequence[int]], **_: Any) -> dict[str, Any]:
        said = self._replies[: len(prompts)]
        logprobs = [[[0.0] for _ in ids] for ids in said]
        return {"prompt_ids": [[*ids] for ids in prompts], "completion_ids": said, "logprobs": logprobs}


def thinking(model: Path, out: Path, template: str, thinking: str, texts: Sequence[str]) -> tuple[Any, list[Rollout]]:
    """A sampler of a model with a template, and the completions of a prompt."""
    trainer = trainer_of(config(model, sampling={"prompt_tokens": 60}), out)
    trainer.processing_class.chat_template, trainer.thinking = template, thinking
    trainer.eos_token_ids = [trainer.processing_class.eos_token_id]
    use_vllm(trainer, "server")
    trainer.vllm_generation.vllm_client = Saying(trainer.processing_class, texts)
    sampler = PolicySampler(trainer)
    [group] = asyncio.run(sampler.sample([[Message("user", "Is it old?")]], "verifier", len(texts)))
    return sampler, group


def test_a_thought_is_no_part_of_the_reply_and_one_that_was_cut_off_is_named(model: Path, tmp_path: Path) -> None:
    texts = ["<think>no or yes</think>yes<end>", "<think>no or", "<think>no<end>", "yes<end>", "<think>no</think>ye"]
    _, group = thinking(model, tmp_path / "a", THINKS, "on", texts)
    found = [(one.text, one.finish_reason) for one in group]
    assert found == [("yes", "stop"), ("", "thought"), ("", "stop"), ("yes", "stop"), ("ye", "length")]
    _, group = thinking(model, tmp_path / "b", BEGINS, "default", ["no or yes</think>yes<end>", "no or"])
    assert [(one.text, one.finish_reason) for one in group] == [("yes", "stop"), ("", "thought")]
    _, group = thinking(model, tmp_path / "c", THINKS, "off", ["yes<end>", "ye"])
    assert [(one.text, one.finish_reason) for one in group] == [("yes", "stop"), ("ye", "length")]


@pytest.mark.parametrize(
    ("template", "switch", "before", "thought"),
    [
        (THINKS, "on", "old?<end>", "<think>\n\n</think>\n\n"),
        (THINKS, "default", "old?<end>", "<think>\n\n</think>\n\n"),
        (THINKS, "off", "old?<end><think>\n\n</think>\n\n", ""),
        (BEGINS, "default", "old?<end><think>\n", "\n</think>\n\n"),
    ],
)
def test_a_forced_reply_has_the_shape_of_a_sampled_one(
    model: Path, tmp_path: Path, template: str, switch: str, before: str, thought: str
) -> None:
    sampler, [sampled] = thinking(model, tmp_path, template, switch, ["yes<end>"])
    forced = asyncio.run(sampler.teacher_forced([Message("user", "Is it old?")], "yes", "verifier"))
    decode = sampler._trainer.processing_class.decode
    assert forced.prompt_ids == sampled.prompt_ids
    assert decode(forced.prompt_ids).endswith(before)
    assert decode(forced.completion_ids) == thought + "yes<end>"
    trained = [token for token, kept in zip(forced.completion_ids, forced.completion_mask, strict=True) if kept]
    assert decode(trained) == "yes<end>"  # nobody chose the empty thought


def test_a_template_without_the_switch_is_an_error(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the chat template has no enable_thinking"):
        trainer_of(config(model, sampling={"thinking": "off"}), tmp_path)


def test_a_cut_thought_is_not_compared_and_counted_apart() -> None:
    def said(reason: str, reward: float, estimator: str = "group") -> Rollout:
        return Rollout(
            "verifier", (1,), (2,), (1,), None, reason, reward=Reward(reward), group="g", estimator=estimator
        )

    def group(*members: Rollout) -> Group:
        return Group("g", "verifier", members[0].estimator, members)

    three = group(said("stop", 1.0), said("thought", 0.0), said("length", 0.0))
    one = group(said("stop", 1.0), said("thought", 0.0))
    pair = group(said("thought", 1.0, "pair"), said("teacher_forced", 0.0, "pair"))
    kept, lost = without_cut_thoughts([three, one, pair])
    assert ([len(one.rollouts) for one in kept], lost) == ([2], 2)
    seen = figures([observe([Play((three,))], ())])
    # One of three was cut in its thought; the mean of the two others is 1/2, that of all three would be 1/3.
    assert seen["length/verifier/thought"] == pytest.approx(1 / 3)
    assert seen["length/verifier/cut"] == pytest.approx(1 / 3)
    assert seen["reward/verifier/total"] == 0.5
