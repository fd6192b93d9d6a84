"""MARCH's game by a script: one batch by hand, line by line of Algorithm 1, blindness, and what can go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vouching.answering.prompt import read_reply
from vouching.errors import BackendError, ConfigError, InputError
from vouching.methods.base import Play, Row, ScriptedSampler
from vouching.methods.blinded.game import BlindedGame, audit_watch, read_row
from vouching.methods.blinded.prompt import propose_messages, read_pairs
from vouching.methods.blinded.reward import BlindedRules
from vouching.methods.blinded.verify import open_blinded
from vouching.models.base import Message
from vouching.types import Claim, Reward, Unverified

Said = Mapping[tuple[str, str], Sequence[str]]
"""What is said, by place and role; the completions in turn."""


def row(place: str, length: str = "5 km", year: int = 1973) -> dict[str, Any]:
    sources = [f"The {place} bridge is {length} long.", f"The {place} bridge opened in {year}."]
    return {"id": place, "question": f"Tell me of the {place} bridge.", "sources": sources}


def solved(text: str) -> str:
    return f"Response: {text}\nAnswer: so"


def asks(place: str, *pairs: tuple[str, str]) -> str:
    words = {"long": f"How long is the {place} bridge?", "opened": f"When did the {place} bridge open?"}
    return "\n".join(f"- Question: {words[name]} [Answer: {answer}]" for name, answer in pairs)


def answers(*values: str) -> str:
    return "\n".join(f'{number}. Evidence: "words" [Answer: {value}]' for number, value in enumerate(values, 1))


BATCH: Said = {
    # Both answers are supported: two of three checkers agree on each.
    ("Ada", "solver"): [solved("The Ada bridge is 5 km long and opened in 1973.")],
    ("Ada", "proposer"): [asks("Ada", ("long", "5 km"), ("opened", "1973"))],
    ("Ada", "checker"): [answers("5,000 m", "1973"), answers("5 km", "1937"), answers("Cannot answer", "1973")],
    # The year differs.
    ("Bob", "solver"): [solved("The Bob bridge is 5 km long and opened in 1937.")],
    ("Bob", "proposer"): [asks("Bob", ("long", "5 km"), ("opened", "1937"))],
    ("Bob", "checker"): [answers("5 km", "1973")] * 3,
    # A tie of three, one of which cannot be read.
    ("Cem", "solver"): [solved("The Cem bridge is 5 km long.")],
    ("Cem", "proposer"): [asks("Cem", ("long", "5 km"))],
    ("Cem", "checker"): [answers("5 km"), answers("6 km"), "It is long, I believe."],
    # Two numbers, one question: one is missing.
    ("Dee", "solver"): [solved("The Dee bridge is 5 km long and opened in 1973.")],
    ("Dee", "proposer"): [asks("Dee", ("long", "5 km"))],
    ("Dee", "checker"): [answers("5 km")] * 3,
    # No number: nothing is asked, nothing is wrong.
    ("Eve", "solver"): [solved("The Eve bridge is long.")],
}
REWARDS = {"Ada": 0.0, "Bob": -1.0, "Cem": -1.0, "Dee": -1.0, "Eve": 0.0}


def played(game: BlindedGame, said: Said, *rows: Row) -> tuple[Play, list[tuple[str, Sequence[Message]]]]:
    asked: list[tuple[str, Sequence[Message]]] = []

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        asked.append((role, prompt))
        place = next(place for place, _ in said if f"The {place} bridge" in prompt[-1].content)
        return said[place, role][number]

    return asyncio.run(game.play(ScriptedSampler(line), rows)), asked


def totals(play: Play) -> dict[str, list[float]]:
    return {group.key: [one.reward.total for one in group.rollouts if one.reward is not None] for group in play.groups}


def test_one_batch_by_hand() -> None:
    play, asked = played(BlindedGame(), BATCH, *map(row, REWARDS))
    # Steps 4 and 5: the response and one checker's sample share the terminal reward; nobody checked the last one.
    expected = {f"{at}:{name}:solver": [total] for at, (name, total) in enumerate(REWARDS.items())}
    expected |= {f"{at}:{n}:0:checker": [t] for at, (n, t) in enumerate(REWARDS.items()) if n != "Eve"}
    assert totals(play) == expected
    groups = {group.key: group for group in play.groups}
    for place, group in ((key.split(":")[1], group) for key, group in groups.items()):
        [one] = group.rollouts
        assert one.text == BATCH[place, group.role][0]  # the first of the J samples
        assert (one.estimator, one.weight, one.policy, one.advantage) == ("gae", 1.0, "default", None)
    # Steps 1 to 3: a solver each, a proposer where there is a number, three checkers where there is a question.
    roles = [role for role, _ in asked]
    assert [roles.count(role) for role in ("solver", "proposer", "checker")] == [5, 4, 4 * 3]
    parts = groups["3:Dee:solver"].rollouts[0].reward
    assert parts is not None
    assert (parts.parts["questions"], parts.parts["missing"], parts.parts["coverage"]) == (1.0, 1.0, 0.5)


def test_numbers_of_another_place_than_the_questions_are_a_fault_where_that_is_asked_for() -> None:
    # A question about Ada is answered with the number of Bob, and the checkers agree: the documents have it.
    said: Said = {
        ("Ada", "solver"): [solved("The Ada bridge: in Bob 7 km.")],
        ("Ada", "proposer"): ["- Question: How long is the bridge in Bob? [Answer: 7 km]"],
        ("Ada", "checker"): [answers("7 km")] * 3,
    }
    asked = {"id": "Ada", "question": "How long is it in Ada?", "source": "The Ada bridge. In Bob it is 7 km."}
    for on_topic, total in ((False, 0.0), (True, -1.0)):
        play, _ = played(BlindedGame(rules=BlindedRules(on_topic=on_topic)), said, asked)
        assert {total} == {one for several in totals(play).values() for one in several}


def test_proposer_and_checker_are_asked_as_the_paper_prints_it_where_that_is_set() -> None:
    _, asked = played(BlindedGame(wording="paper"), BATCH, row("Ada"))
    [proposed] = [prompt for role, prompt in asked if role == "proposer"]
    checked = [prompt for role, prompt in asked if role == "checker"]
    response = read_reply(BATCH["Ada", "solver"][0]).response
    assert tuple(proposed) == propose_messages(response, wording="paper")
    assert all(prompt[0].role == "user" and "Document 1: " in prompt[0].content for prompt in checked)


def test_what_is_watched_by_hand() -> None:
    play, _ = played(BlindedGame(), BATCH, *map(row, REWARDS))
    assert play.measures["questions/asked"] == (2.0, 2.0, 1.0, 1.0, 0.0)
    assert play.measures["questions/numbers"] == (2.0, 2.0, 1.0, 2.0, 0.0)
    # (2 + 2 + 1 + 1) questions of 3 checkers, one of which cannot be read; of the others one cannot answer.
    assert sorted(play.measures["readable"]) == [0.0] + [1.0] * 17
    assert sorted(play.measures["cannot_answer"]) == [0.0] * 16 + [1.0]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (BlindedRules("0/1"), [1.0, 0.0, 0.0, 0.0, 1.0]),
        # Faults by questions and those that are missing: 0/2, 1/2, 1/1, 1/2, none.
        (BlindedRules("error-rate"), [0.0, -0.5, -1.0, -0.5, 0.0]),
        (BlindedRules("released-error-rate"), [0.0, -0.1, -0.1, -0.1, 0.0]),
        # Without the question guard what nobody asked about is no fault.
        (BlindedRules(min_questions=0), [0.0, -1.0, -1.0, 0.0, 0.0]),
        (BlindedRules(fine_missing=False), [0.0, -1.0, -1.0, 0.0, 0.0]),
    ],
    ids=["0/1", "error rate", "released", "no guard", "prompt alone"],
)
def test_every_scale_by_hand(rules: BlindedRules, expected: list[float]) -> None:
    play, _ = played(BlindedGame(rules=rules), BATCH, *map(row, REWARDS))
    assert [total for key, [total] in totals(play).items() if key.endswith("solver")] == expected


def test_the_prompt_asks_for_as_many_questions_where_missing_ones_are_no_fault() -> None:
    for rules, least in ((BlindedRules(fine_missing=False), 3), (BlindedRules(min_questions=0), 1)):
        _, asked = played(BlindedGame(rules=rules), BATCH, row("Ada"))
        [proposed] = [prompt for role, prompt in asked if role == "proposer"]
        response = read_reply(BATCH["Ada", "solver"][0]).response
        assert tuple(proposed) == propose_messages(response, least=least)


def test_silence_is_a_fault_where_a_number_is_asked_for() -> None:
    play, _ = played(BlindedGame(rules=BlindedRules(min_numbers=2)), BATCH, *map(row, REWARDS))
    # Eve states none of two, Cem one; with the rate of errors that is 2 of 2, and 1 more of 2.
    assert [total for key, [total] in totals(play).items() if key.endswith("solver")] == [0.0, -1.0, -1.0, -1.0, -1.0]
    rates, _ = played(BlindedGame(rules=BlindedRules("error-rate", min_numbers=2)), BATCH, row("Eve"), row("Dee"))
    assert [total for key, [total] in totals(rates).items() if key.endswith("solver")] == [-1.0, -0.5]


def test_a_solver_that_learns_alone_is_still_checked() -> None:
    play, asked = played(BlindedGame(checker_learns=False), BATCH, *map(row, REWARDS))
    assert {group.role for group in play.groups} == {"solver"}
    assert sum(role == "checker" for role, _ in asked) == 12


def test_several_responses_to_a_question_are_audited_one_by_one() -> None:
    said = {**BATCH, ("Ada", "solver"): [*BATCH["Ada", "solver"], solved("The Ada bridge is old.")]}
    play, _ = played(BlindedGame(samples=2), said, row("Ada"))
    assert totals(play) == {"0:Ada:solver": [0.0, 0.0], "0:Ada:0:checker": [0.0]}


@settings(deadline=None, max_examples=60)
@given(
    length=st.integers(1, 999),
    year=st.integers(1800, 2100),
    place=st.sampled_from(["Ada", "Bob"]),
    told=st.sampled_from(["{} km", "{},000 m", "about {} km"]),
    leak=st.booleans(),
)
def test_nothing_that_reaches_a_checker_holds_the_response_or_an_answer(
    length: int, year: int, place: str, told: str, leak: bool
) -> None:
    # The documents state other values, so that every value in a checker's prompt comes from elsewhere.
    stated = told.format(length)
    response = f"The {place} bridge is {stated} long. It opened in {year}."
    questions = asks(place, ("long", stated), ("opened", str(year)))
    if leak:  # the question of the length holds the year, another holds its own answer
        questions = questions.replace(f"long is the {place} bridge", f"long was the {place} bridge in {year}")
        questions += f"\n- Question: Is the {place} bridge {length} km long? [Answer: {length} km]"
    said = {
        (place, "solver"): [solved(response)],
        (place, "proposer"): [questions],
        (place, "checker"): ["nothing that can be read"] * 3,
    }
    documents = {"id": "x", "question": "Tell me.", "sources": [f"The {place} bridge is nice."]}
    play, asked = played(BlindedGame(), said, documents)
    checked = [prompt for role, prompt in asked if role == "checker"]
    assert checked
    for prompt in checked:
        shown = " ".join(message.content for message in prompt[1:])
        assert response not in shown
        assert stated not in shown
        # The year may stand in a question about the length, but not where the year itself is asked for.
        assert str(year) not in shown or "When did" not in shown
    assert play.measures["questions/leaked"] == (float(leak),)


def test_a_checker_that_always_says_it_cannot_earns_the_least() -> None:
    said = {**BATCH, ("Ada", "checker"): [answers("Cannot answer", "Cannot answer")] * 3}
    play, _ = played(BlindedGame(), said, row("Ada"))
    assert totals(play) == {"0:Ada:solver": [-1.0], "0:Ada:0:checker": [-1.0]}
    assert play.measures["cannot_answer"] == (1.0,) * 6


def test_a_batch_without_any_question_still_teaches_the_solver() -> None:
    said = {
        ("Ada", "solver"): [""],
        ("Bob", "solver"): [solved("It is 5 km long. The Bob bridge.")],
        ("Bob", "proposer"): ["Nothing to ask."],
    }
    play, asked = played(BlindedGame(), said, row("Ada"), row("Bob"))
    # A response without a word is a fault; a number that nobody asks about is one too.
    assert totals(play) == {"0:Ada:solver": [-1.0], "1:Bob:solver": [-1.0]}
    assert "checker" not in [role for role, _ in asked]
    assert "cannot_answer" not in play.measures


def test_a_date_is_no_number_that_must_be_asked_about() -> None:
    # The proposer is told so, and does as it is told; beside "5 km" one question is wanted.
    said = {
        ("Ada", "solver"): [solved("The Ada bridge opened on 3 May 1973.")],
        ("Bob", "solver"): [solved("The Bob bridge is 5 km long and opened on 3 May 1973.")],
        ("Bob", "proposer"): [asks("Bob", ("long", "5 km"))],
        ("Bob", "checker"): [answers("5 km")] * 3,
    }
    play, _ = played(BlindedGame(), said, row("Ada"), row("Bob"))
    assert totals(play) == {"0:Ada:solver": [0.0], "1:Bob:solver": [0.0], "1:Bob:0:checker": [0.0]}
    assert play.measures["questions/numbers"] == (0.0, 1.0)


def test_a_question_that_is_repeated_counts_as_often_as_its_answer_is_stated() -> None:
    # Two numbers, one of which is asked about three times: one question is missing. Where it is stated twice, none is.
    said = {**BATCH, ("Dee", "proposer"): [asks("Dee", *[("long", "5 km")] * 3)]}
    play, _ = played(BlindedGame(), said, row("Dee"))
    assert totals(play) == {"0:Dee:solver": [-1.0], "0:Dee:0:checker": [-1.0]}
    assert play.measures["questions/asked"] == (1.0,)
    twice = {
        **said,
        ("Dee", "solver"): [solved("The Dee bridge is 5 km long. Yes, 5,000 m.")],
        ("Dee", "checker"): [answers("5 km", "5 km")] * 3,
    }
    play, _ = played(BlindedGame(), twice, row("Dee"))
    assert totals(play) == {"0:Dee:solver": [0.0], "0:Dee:0:checker": [0.0]}
    assert play.measures["questions/asked"] == (2.0,)


DAYS, MONTHS = (
    f"- Question: How many {few} has a {much}? [Answer: {number}]"
    for few, much, number in (("days", "week", 7), ("months", "year", 12))
)


@pytest.mark.parametrize(
    ("proposed", "missing", "rate"),
    [
        # Two numbers are stated, 5 km and 1973. What is asked comes out as it was proposed, every time.
        ([DAYS, MONTHS], 2, -2 / 4),  # two questions about neither, and two that are missing
        ([asks("Ada", ("long", "5 km")), DAYS, MONTHS], 1, -1 / 4),
        ([asks("Ada", ("long", "5 km"), ("opened", "1973")), DAYS], 0, 0.0),
        ([asks("Ada", ("long", "5"), ("opened", "1973"))], 0, 0.0),  # a number without its unit is the paper's own
    ],
)
def test_questions_about_what_a_response_does_not_state_count_as_not_asked(
    proposed: list[str], missing: int, rate: float
) -> None:
    listed = "\n".join(proposed)
    said = {
        **BATCH,
        ("Ada", "proposer"): [listed],
        ("Ada", "checker"): [answers(*(pair.answer for pair in read_pairs(listed)))] * 3,
    }
    for scale, expected in (("-1/0", -float(missing > 0)), ("error-rate", rate)):
        play, _ = played(BlindedGame(rules=BlindedRules(scale)), said, row("Ada"))
        assert totals(play)["0:Ada:solver"] == [expected]
        reward = play.groups[0].rollouts[0].reward
        assert reward is not None
        assert (reward.parts["missing"], reward.parts["coverage"]) == (missing, 1 - missing / 2)


def test_a_number_that_is_to_be_stated_and_is_not_counts_as_asked_once() -> None:
    # One number is stated and asked about, two are wanted: the fault is that one is not stated, and no question lacks.
    play, _ = played(
        BlindedGame(rules=BlindedRules("error-rate", min_numbers=2)),
        {**BATCH, ("Cem", "checker"): [answers("5 km")] * 3},
        row("Cem"),
    )
    assert totals(play)["0:Cem:solver"] == [-0.5]


@pytest.mark.parametrize("alone_first", [True, False])
def test_of_questions_that_are_put_apart_the_longest_list_is_trained(alone_first: bool) -> None:
    # The year's question holds the length and the count, so that it is put by itself; its checkers get it wrong.
    told = "The Ada bridge is 5 km long, has 4 towers and opened in 1973."
    year = "- Question: When did the Ada bridge of 5 km and 4 towers open? [Answer: 1973]"
    others = [asks("Ada", ("long", "5 km")), "- Question: How many towers has the Ada bridge? [Answer: 4]"]
    said = {
        ("Ada", "solver"): [solved(told)],
        ("Ada", "checker"): [answers("5 km", "4")] * 3,
        ("Ada", "proposer"): ["\n".join([year, *others] if alone_first else [*others, year])],
    }
    play, asked = played(BlindedGame(), said, {**row("Ada"), "sources": ["The Ada bridge is nice."]})
    assert [group.role for group in play.groups] == ["solver", "checker"]
    [trained] = play.groups[1].rollouts
    shown = bytes(trained.prompt_ids).decode()
    assert "How many towers" in shown
    assert "When did" not in shown
    assert sum(role == "checker" for role, _ in asked) == 2 * 3
    assert totals(play) == {"0:Ada:solver": [-1.0], "0:Ada:0:checker": [-1.0]}


@pytest.mark.parametrize(("asked_for", "least"), [(0, 1), (1, 1), (3, 3)])
def test_the_proposer_is_told_how_many_questions_the_rule_wants(asked_for: int, least: int) -> None:
    _, asked = played(BlindedGame(rules=BlindedRules(min_questions=asked_for)), BATCH, row("Ada"))
    [prompt] = [prompt for role, prompt in asked if role == "proposer"]
    assert f"Write at least {least} questions" in prompt[0].content


def test_a_preference_is_added_for_the_solver_alone_and_its_failure_is_no_reward() -> None:
    async def prefer(response: str, given: Row) -> Reward | Unverified:
        if given["id"] == "Bob":
            raise BackendError("The judge is down.")
        if given["id"] == "Dee":
            return Unverified(Claim(response), "undecided", "The judge had no answer.")
        return Reward(len(response) / 100)

    play, _ = played(BlindedGame(preference=prefer), BATCH, *map(row, REWARDS))
    found = totals(play)
    # "The Ada bridge is 5 km long and opened in 1973." has 47 characters, "The Cem bridge is 5 km long." 28.
    assert found["0:Ada:solver"] == [0.47]
    assert found["2:Cem:solver"] == [-1.0 + 0.28]
    assert found["0:Ada:0:checker"] == [0.0]
    assert "1:Bob:solver" not in found
    assert found["1:Bob:0:checker"] == [-1.0]
    assert [failure.reason for failure in play.failures] == ["backend", "undecided"]


def test_an_independent_auditor_watches_what_the_reward_does_not_promise() -> None:
    game = BlindedGame(watch=audit_watch(open_blinded()))
    # The checkers agree with a wrong year; the documents do not.
    said = {**BATCH, ("Bob", "checker"): [answers("5 km", "1937")] * 3}
    play, _ = played(game, said, row("Ada"), row("Bob"), row("Eve"))
    assert [total for key, [total] in totals(play).items() if key.endswith("solver")] == [0.0, 0.0, 0.0]
    assert play.measures["oracle/supported"] == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("short", "numbers"), [("5,000 m", 2.0), ("yes", 2.0), ("7 km", 3.0), ("5 miles", 3.0), ("1973, 5 km", 2.0)]
)
def test_a_short_answer_with_a_number_of_its_own_is_audited_too(short: str, numbers: float) -> None:
    # The response states 5 km and 1973; questions about these two are right, and one about another number is missing.
    said = {**BATCH, ("Ada", "solver"): [BATCH["Ada", "solver"][0].replace("Answer: so", f"Answer: {short}")]}
    play, _ = played(BlindedGame(), said, row("Ada"))
    assert play.measures["questions/numbers"] == (numbers,)
    assert totals(play)["0:Ada:solver"] == [-float(numbers > 2)]


def test_an_abstention_earns_what_a_fault_earns() -> None:
    said = {("Ada", "solver"): ["Response: It is not said.\nAnswer: Not in the sources."]}
    play, asked = played(BlindedGame(), said, row("Ada"))
    assert totals(play) == {"0:Ada:solver": [-1.0]}
    assert [role for role, _ in asked] == ["solver"]


def test_steps_before_the_answer_are_not_audited() -> None:
    text = "Reasoning: 7 + 8 is 15, so no.\n" + BATCH["Ada", "solver"][0]
    play, _ = played(BlindedGame(style="cot"), {**BATCH, ("Ada", "solver"): [text]}, row("Ada"))
    assert play.measures["questions/numbers"] == (2.0,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": "a", "source": "It is."}, "the question of row 'a' must be a string, got null"),
        ({"question": "What?"}, 'the row has no "sources"'),
        ({"id": "b", "question": "What?", "sources": [" "]}, "row 'b' has no documents with text"),
    ],
)
def test_a_row_that_cannot_be_played_is_named(given: Row, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_row(given)


@pytest.mark.parametrize("changed", [{"samples": 0}, {"votes": 0}])
def test_settings_out_of_range_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be at least 1, got 0"):
        BlindedGame(**changed)
