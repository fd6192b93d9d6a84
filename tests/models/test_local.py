"""A model run in this process, on a tiny one with random weights: batches, seeds, templates, adapters, tokens."""

from __future__ import annotations

import asyncio
import math
import random
import threading
from collections import Counter
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

torch: Any = pytest.importorskip("torch", reason="needs torch")
transformers: Any = pytest.importorskip("transformers", reason="needs transformers")

from tests.models.tiny_llama import (  # noqa: E402
    CONTEXT,
    TOOL_TEMPLATE,
    write_tiny_adapter,
    write_tiny_llama,
    write_tiny_recurrent,
)
from vouching.errors import ConfigError, ModelRefusedError  # noqa: E402
from vouching.models import Message, PolicyCompletion, Sampling, Tool, ToolCall, total_usage  # noqa: E402
from vouching.models.local import (  # noqa: E402
    LocalModel,
    RowState,
    choose_tokens,
    read_logprobs,
)
from vouching.models.open import open_model  # noqa: E402

T = TypeVar("T")
ASKS = [(Message("user", text),) for text in ("a", "Is it?", "The bridge opened in 1937.", "Why not", "xyz", "\u00e9")]
DRAWN = Sampling(max_tokens=12, temperature=1.0, seed=7)
GREEDY = Sampling(max_tokens=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def model(folder: Path) -> Iterator[LocalModel]:
    model = LocalModel(folder, device="cpu")
    yield model
    asyncio.run(model.aclose())


def together(*calls: Coroutine[Any, Any, T]) -> list[T]:
    async def main() -> list[T]:
        return await asyncio.gather(*calls)

    return asyncio.run(main())


def sample(model: LocalModel, sampling: Sampling, ask: tuple[Message, ...] = ASKS[1]) -> list[PolicyCompletion]:
    return together(model.sample(ask, sampling))[0]


def test_greedy_completions_are_those_of_transformers(folder: Path, model: LocalModel) -> None:
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder)
    for [said] in together(*(model.sample(ask, GREEDY) for ask in ASKS)):
        ids = torch.tensor([said.prompt_ids])
        expected = reference.generate(ids, max_new_tokens=12, do_sample=False)[0, ids.shape[1] :].tolist()
        assert list(said.completion_ids) == expected


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN], ids=["greedy", "drawn"])
def test_a_call_says_the_same_alone_and_in_a_batch(model: LocalModel, sampling: Sampling) -> None:
    batch = together(*(model.sample(ask, sampling) for ask in ASKS))
    for ask, [said] in zip(ASKS, batch, strict=True):
        [alone] = sample(model, sampling, ask)
        assert alone.completion_ids == said.completion_ids
        # Sums of floats in another order.
        assert alone.logprobs == pytest.approx(said.logprobs, abs=1e-4)


LENGTHS = (5, 12, 30, 20, 3, 9)


def lengths_together_and_alone(model: LocalModel) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The tokens of rows that end at different lengths, in one batch and one by one."""
    calls = [(ask, Sampling(length, 1.0, seed=3)) for ask, length in zip(ASKS, LENGTHS, strict=True)]
    batch = together(*(model.sample(*call) for call in calls))
    alone = [sample(model, sampling, ask) for ask, sampling in calls]
    return [said.completion_ids for [said] in batch], [said.completion_ids for [said] in alone]


def test_rows_of_different_lengths_get_the_tokens_that_they_get_alone(model: LocalModel) -> None:
    batch, alone = lengths_together_and_alone(model)
    assert batch == alone
    assert len(set(map(len, batch))) > 3


def test_complete_rows_leave_the_batch_once_they_are_half_of_it(model: LocalModel) -> None:
    widths: list[int] = []
    hook = model._engine.model.lm_head.register_forward_hook(lambda _, given, __: widths.append(len(given[0])))
    calls = [model.sample(ask, Sampling(2 if i else 30, seed=1)) for i, ask in enumerate(ASKS)]
    [long, *_] = together(*calls)
    hook.remove()
    assert widths == [6, 6] + [1] * (len(long[0].completion_ids) - 2)


@pytest.mark.parametrize("architecture", ["mamba", "qwen3_next"])
def test_models_with_a_recurrent_state_are_batched_too(tmp_path: Path, architecture: str) -> None:
    model = LocalModel(write_tiny_recurrent(tmp_path, architecture), device="cpu")
    batch, alone = lengths_together_and_alone(model)
    asyncio.run(model.aclose())
    assert batch == alone


def test_settings_that_come_with_the_weights_change_no_logits(tmp_path: Path, model: LocalModel) -> None:
    settings = transformers.GenerationConfig(repetition_penalty=5.0, min_new_tokens=40, eos_token_id=0, pad_token_id=0)
    settings.save_pretrained(write_tiny_llama(tmp_path))
    penalised = LocalModel(tmp_path, device="cpu")
    assert sample(penalised, GREEDY)[0].completion_ids == sample(model, GREEDY)[0].completion_ids
    asyncio.run(penalised.aclose())


def test_a_seed_decides_what_is_drawn_and_completions_count_on_from_it(model: LocalModel) -> None:
    three = [said.completion_ids for said in sample(model, Sampling(12, 1.0, n=3, seed=7))]
    assert len(set(three)) == 3
    assert three == [sample(model, Sampling(12, 1.0, seed=seed))[0].completion_ids for seed in (7, 8, 9)]
    assert sample(model, Sampling(12, 1.0))[0].completion_ids != sample(model, Sampling(12, 1.0))[0].completion_ids


def test_log_probabilities_are_those_of_reading_the_same_tokens(folder: Path, model: LocalModel) -> None:
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder)
    [said] = sample(model, DRAWN)
    assert read_logprobs(reference, said.prompt_ids, said.completion_ids) == pytest.approx(said.logprobs, abs=1e-4)
    logits = reference(torch.tensor([said.prompt_ids])).logits[0, -1].tolist()
    first = logits[said.completion_ids[0]] - math.log(sum(map(math.exp, logits)))
    assert said.logprobs[0] == pytest.approx(first, abs=1e-4)


def test_a_forced_text_has_its_tokens_an_end_and_what_the_model_thinks_of_them(folder: Path, model: LocalModel) -> None:
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder)
    teacher_forced, [free] = together(model.force(ASKS[0], "Yes"), model.sample(ASKS[0], GREEDY))
    assert (teacher_forced.text, teacher_forced.finish_reason, len(teacher_forced.completion_ids)) == ("Yes", "stop", 4)
    assert teacher_forced.completion_ids[-1] == 0
    assert teacher_forced.prompt_ids == free.prompt_ids
    expected = read_logprobs(reference, teacher_forced.prompt_ids, teacher_forced.completion_ids)
    assert teacher_forced.logprobs == pytest.approx(expected, abs=1e-5)


def test_the_chat_template_makes_the_prompt(folder: Path, model: LocalModel) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    [[said]] = together(model.sample((Message("system", "S"), Message("user", "Hi")), GREEDY))
    assert tokenizer.decode(said.prompt_ids) == "<s>S<end><u>Hi<end><a>"
    assert said.usage.prompt_tokens == len(said.prompt_ids) == 8  # four marks with two ends, one and two letters


def test_a_template_without_a_system_role_gets_the_system_message_from_the_user(tmp_path: Path) -> None:
    """As Gemma 2's template, which raises for a system message."""
    raises = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    template = raises + "{% for m in messages %}<u>{{ m.content }}<end>{% endfor %}<a>"
    model = LocalModel(write_tiny_llama(tmp_path, template=template), device="cpu")
    [[said]] = together(model.sample((Message("system", "S"), Message("user", "Hi")), GREEDY))
    asyncio.run(model.aclose())
    assert transformers.AutoTokenizer.from_pretrained(tmp_path).decode(said.prompt_ids).startswith("<u>S\n\nHi<end>")


def test_without_a_template_the_texts_are_read_as_they_are(tmp_path: Path) -> None:
    model = LocalModel(write_tiny_llama(tmp_path, template=None), device="cpu")
    [[said]] = together(model.sample((Message("system", "S"), Message("user", "Hi")), GREEDY))
    asyncio.run(model.aclose())
    assert transformers.AutoTokenizer.from_pretrained(tmp_path).decode(said.prompt_ids) == "S\n\nHi"


def test_a_completion_is_cut_off_at_max_tokens_and_at_the_end_of_the_context(model: LocalModel) -> None:
    def over(room: int) -> tuple[str, int]:
        # A draw that does not come to an end by itself in the room that there is.
        for seed in range(50):
            [said] = sample(model, Sampling(10**6 if room > 20 else room, 1.0, seed=seed))
            if said.finish_reason == "length":
                return said.finish_reason, len(said.completion_ids)
        raise AssertionError

    prompt = len(sample(model, GREEDY)[0].prompt_ids)
    assert over(5) == ("length", 5)
    assert over(CONTEXT) == ("length", CONTEXT - prompt)


def test_a_prompt_that_fills_the_context_is_refused(model: LocalModel) -> None:
    with pytest.raises(ModelRefusedError, match=f"expected 1 to {CONTEXT - 1}"):
        sample(model, GREEDY, (Message("user", "x" * CONTEXT),))


def test_a_completion_ends_before_a_stop_text(model: LocalModel) -> None:
    [free] = sample(model, GREEDY)
    stop = free.text[4:6]
    [said] = sample(model, Sampling(max_tokens=12, stop=("never", stop)))
    assert said.text == free.text[: free.text.index(stop)]
    assert said.finish_reason == "stop"
    assert len(said.completion_ids) < len(free.completion_ids)


def test_what_a_call_costs_stands_once(model: LocalModel) -> None:
    said = sample(model, Sampling(5, 1.0, n=3, seed=1))
    usage = total_usage(said)
    assert (usage.calls, usage.prompt_tokens) == (1, len(said[0].prompt_ids))
    assert usage.completion_tokens == sum(len(one.completion_ids) for one in said)


def test_logprobs_are_shown_by_generate_where_they_are_asked_for(model: LocalModel) -> None:
    [[without], [with_them]] = together(
        model.generate(ASKS[0], GREEDY), model.generate(ASKS[0], Sampling(max_tokens=12, logprobs=True))
    )
    assert without.logprobs is None
    assert with_them.logprobs is not None
    assert with_them.text == without.text


def test_a_cancelled_call_stops_at_its_next_token(model: LocalModel) -> None:
    steps = 0
    third, train_from = threading.Event(), threading.Event()

    def watch(*_: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            third.set()
            assert train_from.wait(60)

    async def main() -> None:
        call = asyncio.ensure_future(model.generate(ASKS[0], Sampling(max_tokens=100, seed=1, temperature=1.0)))
        await asyncio.to_thread(third.wait, 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        train_from.set()
        await model.generate(ASKS[1], Sampling(max_tokens=1))

    assert len(sample(model, Sampling(max_tokens=100, seed=1, temperature=1.0), ASKS[0])[0].completion_ids) > 4
    hook = model._engine.model.register_forward_hook(watch)
    asyncio.run(main())
    hook.remove()
    # Three steps of the cancelled call and the one of the call after it.
    assert steps == 4


def test_a_folder_without_model_or_adapter_is_refused(folder: Path, model: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="contains no model"):
        LocalModel(tmp_path)
    (tmp_path / "small.gguf").touch()
    with pytest.raises(ConfigError, match=r"contains no model .*, such as .*/small\.gguf"):
        LocalModel(tmp_path)
    (tmp_path / "run/model").mkdir(parents=True)
    (tmp_path / "run/model/config.json").touch()
    with pytest.raises(ConfigError, match=r"contains no model .*, such as .*/run/model"):
        LocalModel(tmp_path / "run")
    (tmp_path / "run/adapter_config.json").touch()
    with pytest.raises(ConfigError, match=r"contains adapters without their base: pass BASE#"):
        LocalModel(tmp_path / "run")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be loaded as a causal language model"):
        LocalModel(tmp_path)
    for make in (lambda: LocalModel(folder, tmp_path), lambda: model.with_adapter(tmp_path)):
        with pytest.raises(ConfigError, match="contains no adapter"):
            make()


def test_a_template_with_a_place_for_tools_shows_them_and_the_calls(tmp_path: Path) -> None:
    model = LocalModel(write_tiny_llama(tmp_path, TOOL_TEMPLATE, context=512), device="cpu")
    talk = (
        Message("user", "When?"),
        Message("assistant", "I look.", tool_calls=(ToolCall("c1", "look", '{"query": "bridge"}'),)),
        Message("tool", "1973", tool_call_id="c1"),
    )
    said = sample(model, Sampling(max_tokens=1, tools=(Tool("look", "Looks.", {"type": "object"}),)), talk)[0]
    read = model._engine.tokenizer.decode(said.prompt_ids)
    asyncio.run(model.aclose())
    assert read.startswith('[{"type": "function", "function": {"name": "look", "description": "Looks.", ')
    assert read.endswith("<u>When?<end><a>I look.bridge<end><t>1973<end><a>")


def test_tools_are_refused_where_the_template_has_no_place_for_them(model: LocalModel) -> None:
    with pytest.raises(ModelRefusedError, match="no chat template that supports tools"):
        sample(model, Sampling(tools=(Tool("look", "Looks.", {"type": "object"}),)))


def test_fields_for_a_server_are_refused_but_those_for_the_template(model: LocalModel) -> None:
    with pytest.raises(ConfigError, match="min_p"):
        sample(model, Sampling(extra={"min_p": 0.1}))
    [said] = sample(model, Sampling(max_tokens=1, extra={"chat_template_kwargs": {"add_vision_id": False}}))
    assert len(said.completion_ids) == 1


def test_adapters_share_the_weights_and_stay_separate(folder: Path, model: LocalModel, tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="needs peft")
    paths = [write_tiny_adapter(tmp_path / name, folder, seed) for seed, name in enumerate(("one.a", "one_a"))]
    before = sample(model, GREEDY)[0]
    adapted = [model.with_adapter(path) for path in paths]
    said = [call[0] for call in together(*(each.sample(ASKS[1], GREEDY) for each in (model, *adapted)))]
    assert said[0].completion_ids == before.completion_ids
    assert len({one.logprobs for one in said}) == 3
    alone = LocalModel(folder, paths[1], device="cpu")
    assert sample(alone, GREEDY)[0].completion_ids == said[2].completion_ids
    assert alone.name == adapted[1].name == f"local:{folder}#{paths[1]}"
    asyncio.run(alone.aclose())


def test_a_local_model_is_opened_by_its_folder(folder: Path, model: LocalModel) -> None:
    opened = open_model(f"local:{folder}", cache="")
    [[said]] = together(opened.generate(ASKS[1], GREEDY))
    asyncio.run(opened.aclose())
    assert said.text == sample(model, GREEDY)[0].text
    assert opened.name == f"local:{folder}"


def drawn(probabilities: list[float], temperature: float, top_p: float, draws: int = 4_000) -> Counter[int]:
    """How often each token comes, of as many rows with the same probabilities."""
    rows = [RowState((0,), 1, temperature, top_p, random.Random(seed), lambda said: None) for seed in range(draws)]
    logits = torch.tensor([probabilities]).log().expand(draws, -1)
    return Counter(choose_tokens(logits, rows).tolist())


def test_tokens_come_as_often_as_their_probability_says() -> None:
    probabilities = [0.1, 0.6, 0.3]
    counts = drawn(probabilities, 1.0, 1.0)
    for token, p in enumerate(probabilities):
        # Five standard deviations of a binomial.
        assert abs(counts[token] - 4_000 * p) < 5 * math.sqrt(4_000 * p * (1 - p))


def test_top_p_keeps_the_likeliest_tokens_that_make_up_the_share() -> None:
    # Before the third token 0.6 + 0.3 = 0.9 >= 0.8 is reached, so it never comes; the others keep their odds, 2 to 1.
    counts = drawn([0.1, 0.6, 0.3], 1.0, 0.8)
    assert counts.keys() == {1, 2}
    assert abs(counts[1] - 4_000 * 2 / 3) < 5 * math.sqrt(4_000 * 2 / 9)


def test_a_temperature_changes_the_odds_and_zero_takes_the_likeliest() -> None:
    # At temperature 1/2 probabilities are squared: 0.01 : 0.36 : 0.09, so the second has 0.36 / 0.46.
    counts = drawn([0.1, 0.6, 0.3], 0.5, 1.0)
    p = 0.36 / 0.46
    assert abs(counts[1] - 4_000 * p) < 5 * math.sqrt(4_000 * p * (1 - p))
    assert drawn([0.1, 0.6, 0.3], 0.0, 1.0, draws=50).keys() == {1}


def test_rows_with_and_without_a_temperature_go_side_by_side() -> None:
    rows = [RowState((0,), 1, t, 1.0, random.Random(seed), lambda said: None) for seed, t in enumerate([0.0, 1.0] * 50)]
    chosen = choose_tokens(torch.tensor([[0.4, 0.3, 0.3]]).log().expand(100, -1), rows).tolist()
    assert set(chosen[::2]) == {0}
    assert set(chosen[1::2]) == {0, 1, 2}
