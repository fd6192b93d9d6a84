"""A teacher's records: what is accepted, what is asked for again, what is rejected, and both rates."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.methods.scripts import CLAIM, RIGHT, SOURCE, WRONG, reply
from vouching.errors import ConfigError, ModelUnavailableError
from vouching.methods.structured.prompt import structured_prompt
from vouching.methods.structured.reply import Reply, parse_reply
from vouching.methods.structured.teacher import DEMANDS, Annotation, Teacher, example_prompt, training_reply
from vouching.models import ScriptedModel
from vouching.types import Claim, Label, Source


def annotated(
    script: list[Any], gold: Label | None = "Not Attributable", source: str = SOURCE, **settings: Any
) -> tuple[Annotation, ScriptedModel]:
    model = ScriptedModel(script)
    made = asyncio.run(Teacher(model, **settings).annotate(Claim(CLAIM), [Source(source)], gold))
    return made, model


def test_a_record_of_the_right_form_is_accepted_at_once_from_a_complete_prompt() -> None:
    made, model = annotated([reply()])
    assert (made.attempts, made.format_ok, made.gold_ok, made.faults) == (1, True, True, ())
    assert made.record == parse_reply(reply(), Reply)
    system = model.asked[0].messages[0].content
    assert system.startswith(structured_prompt().system)
    assert system.count("\nReply: {") == 2  # two examples


def test_the_examples_of_the_teacher_are_records_whose_quotes_are_real_and_its_prompt_says_nothing_else() -> None:
    from vouching.judging.windows import ScreenedSources
    from vouching.methods.structured.prompt import teacher_prompt
    from vouching.methods.structured.reading import read_reply
    from vouching.types import Unverified

    for shown in teacher_prompt().system.split("\nSource: ")[1:]:
        source, rest = shown.split("\nClaim: ")
        claim, said = rest.split("\nReply: ")
        record = parse_reply(said.split("\n")[0], Reply)
        reading = read_reply(record, Claim(claim), ScreenedSources([Source(source)]))
        assert not isinstance(reading, Unverified)
        assert (reading.grounded, reading.warnings) == (1.0, ())
        assert len(record.reasoning_chain) >= 2


def test_each_of_three_attempts_has_one_second_chance_that_names_the_fault() -> None:
    made, model = annotated(["no", reply(confidence=7), "no", "no", "no", "no"], seed=10)
    assert (made.record, made.attempts, made.format_ok) == (None, 3, False)
    assert len(made.faults) == 3
    assert [len(asked.messages) for asked in model.asked] == [2, 4, 2, 4, 2, 4]
    assert [(a.sampling.seed, a.sampling.temperature) for a in model.asked[::2]] == [(10, 0.0), (11, 0.7), (12, 0.7)]
    assert "no JSON object" in model.asked[1].last
    assert "confidence" in made.faults[0]


def test_the_form_alone_is_demanded_by_default_and_the_stricter_rate_counts_beside_it() -> None:
    made, _ = annotated([reply(RIGHT)])
    assert made.record is not None
    assert (made.format_ok, made.gold_ok) == (True, False)


def test_a_missed_gold_label_is_not_told_but_tried_anew() -> None:
    made, model = annotated([reply(RIGHT), reply()], demands=["label"])
    assert (made.attempts, made.gold_ok) == (2, True)
    assert made.faults == ("the label is Attributable, but the gold label is Not Attributable",)
    assert [len(asked.messages) for asked in model.asked] == [2, 2]
    assert not any("gold" in message.content for asked in model.asked for message in asked.messages)


@pytest.mark.parametrize(
    ("demand", "lacking"),
    [
        ("error_type", reply(error_type=None)),
        ("fix", reply(fix_suggestion="none")),
        (
            "grounded",
            reply(
                evidence_alignment=[
                    *WRONG["evidence_alignment"],
                    {"claim_span": "The bridge", "source_span": "A ferry", "status": "match"},
                ]
            ),
        ),
    ],
)
def test_other_demands_are_told_and_met_at_the_second_chance(demand: Any, lacking: str) -> None:
    assert annotated([lacking])[0].record is not None
    made, model = annotated([lacking, reply()], demands=[demand])
    assert (made.attempts, made.faults, len(model.asked)) == (1, (), 2)
    assert "cannot be used" in model.asked[1].last
    rejected, _ = annotated([lacking] * 6, demands=[demand])
    assert (rejected.record, rejected.format_ok, len(rejected.faults)) == (None, True, 3)


def test_type_and_fix_are_demanded_without_a_gold_label_too() -> None:
    made, _ = annotated([reply(error_type=None), reply()], gold=None, demands=["error_type"])
    assert (made.attempts, made.gold_ok) == (1, False)


def test_a_reply_that_was_cut_off_fails_its_attempt() -> None:
    made, model = annotated([reply(), reply(), reply()], max_tokens=5)
    assert made.faults == ("the reply was cut off at 5 tokens: raise --max-tokens",) * 3
    assert len(model.asked) == 3


def test_sources_that_fit_no_single_prompt_are_rejected_unasked() -> None:
    for source in ("", " ".join(f"This is sentence {n}." for n in range(100))):
        made, model = annotated([], source=source, window=1_000)
        assert (made.record, made.attempts, model.asked) == (None, 0, [])


def test_a_model_out_of_reach_is_raised_and_an_unknown_demand_refused() -> None:
    with pytest.raises(ModelUnavailableError):
        annotated([ModelUnavailableError("busy")])
    with pytest.raises(ConfigError, match="label, error_type, fix, grounded"):
        Teacher(ScriptedModel([]), ["gold"])  # type: ignore[list-item]
    assert len(DEMANDS) == 4


def test_a_lesson_asks_what_the_verifier_asks_and_reads_back_as_the_record() -> None:
    record = parse_reply(reply(), Reply)
    assert parse_reply(training_reply(record), Reply) == record
    assert [*json.loads(training_reply(record))][:6] == [
        "evidence_alignment",
        "reasoning_chain",
        "label",
        "confidence",
        "error_type",
        "fix_suggestion",
    ]
    asked = example_prompt(Claim(CLAIM), [Source(SOURCE)])
    assert asked is not None
    assert asked[0] == {"role": "system", "content": structured_prompt().system}
    assert CLAIM in asked[1]["content"]
