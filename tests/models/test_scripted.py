"""The model that says what it was told to say."""

from __future__ import annotations

import asyncio

import pytest

from vouching.errors import ConfigError, ModelError, ModelUnavailableError
from vouching.models import Completion, Message, Sampling, ScriptedModel, total_usage


def ask(model: ScriptedModel, text: str = "Is it?", sampling: Sampling | None = None) -> list[Completion]:
    return asyncio.run(model.generate([Message("user", text)], sampling or Sampling()))


def test_a_list_is_said_in_turn_one_for_each_completion() -> None:
    model = ScriptedModel(["a", "b", "c"])
    assert [one.text for one in ask(model)] == ["a"]
    assert [one.text for one in ask(model, sampling=Sampling(n=2))] == ["b", "c"]
    with pytest.raises(ModelError, match="the script has 3 answers, but completion 4 was requested"):
        ask(model)


def test_the_first_pattern_that_matches_the_last_message_decides() -> None:
    model = ScriptedModel({r"claim \d": "first", "claim": "second"})
    assert ask(model, "a claim 7")[0].text == "first"
    assert ask(model, "a claim")[0].text == "second"
    with pytest.raises(ModelError, match="no pattern of the script matches 'else', expected one of"):
        ask(model, "else")


def test_a_function_sees_messages_and_sampling() -> None:
    model = ScriptedModel(lambda messages, sampling: f"{messages[-1].content} {sampling.seed}")
    assert ask(model, "x", Sampling(seed=3))[0].text == "x 3"


def test_an_exception_among_the_answers_is_raised() -> None:
    model = ScriptedModel([ModelUnavailableError("busy"), "Yes."])
    with pytest.raises(ModelUnavailableError, match="busy"):
        ask(model)
    assert ask(model)[0].text == "Yes."


def test_an_answer_is_cut_off_at_max_tokens_words_with_its_layout_kept() -> None:
    [said] = ask(ScriptedModel(["one  two\nthree"]), sampling=Sampling(max_tokens=2))
    assert (said.text, said.finish_reason, said.usage.completion_tokens) == ("one  two", "length", 2)
    [said] = ask(ScriptedModel(["one two"]), sampling=Sampling(max_tokens=2))
    assert (said.text, said.finish_reason) == ("one two", "stop")


def test_an_answer_ends_before_the_first_stop_text() -> None:
    [said] = ask(ScriptedModel(["Yes. No. End"]), sampling=Sampling(stop=("End", "No")))
    assert (said.text, said.finish_reason) == ("Yes. ", "stop")


def test_a_call_is_counted_once_whatever_it_returns() -> None:
    usage = total_usage(ask(ScriptedModel(["a b", "c"]), "one two three", Sampling(n=2)))
    assert (usage.prompt_tokens, usage.completion_tokens, usage.calls) == (3, 3, 1)


def test_what_was_asked_is_remembered_even_where_it_raised() -> None:
    model = ScriptedModel([ModelUnavailableError("busy")])
    with pytest.raises(ModelUnavailableError):
        ask(model, "x", Sampling(seed=1))
    assert (model.asked[0].last, model.asked[0].sampling.seed) == ("x", 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_tokens", 0), ("n", 0), ("temperature", -0.1), ("temperature", float("nan")), ("top_p", 0.0), ("top_p", 1.1)],
)
def test_a_sampling_out_of_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"{name} must"):
        Sampling(**{name: value})  # type: ignore[arg-type]
