"""Subjects, objects and other arguments of verbs, and the roles that they have in a relation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.arguments import find_frames
from vouching.text.verbs import is_participle, is_past, noun_valency, verb_key


def roles(text: str, relation: str) -> dict[str, str]:
    found = next(frame for frame in find_frames(text) if frame.relation in (relation, verb_key(relation)))
    return {role: text[argument.start : argument.end] for role, argument in found.roles.items()}


@pytest.mark.parametrize(
    "text",
    [
        "Marlow Ltd acquired the mill from Ann Lee.",
        "The mill was acquired by Marlow Ltd from Ann Lee.",
        "The mill was bought from Ann Lee by Marlow Ltd.",
        "Ann Lee sold the mill to Marlow Ltd.",
        "Ann Lee, who founded the firm, has since sold the mill to Marlow Ltd.",
    ],
)
def test_converse_verbs_and_both_voices_have_the_same_roles(text: str) -> None:
    found = roles(text, "sell")
    assert {role: found[role] for role in ("giver", "thing", "receiver")} in (
        {"giver": "Ann Lee", "thing": "the mill", "receiver": "Marlow Ltd"},
        {"giver": "Ann Lee", "thing": "The mill", "receiver": "Marlow Ltd"},
    )


@pytest.mark.parametrize(
    ("text", "relation", "expected"),
    [
        ("Orr gave the council a report.", "give", {"giver": "Orr", "thing": "a report", "receiver": "the council"}),
        ("Orr was given a report.", "give", {"receiver": "Orr", "thing": "a report"}),
        ("Ann Lee works for Marlow.", "employ", {"employee": "Ann Lee", "employer": "Marlow"}),
        ("Marlow employs Ann Lee.", "employ", {"employee": "Ann Lee", "employer": "Marlow"}),
        ("Orr took over from Lee.", "succeed", {"later": "Orr", "earlier": "Lee"}),
        ("Lee was replaced by Orr.", "succeed", {"later": "Orr", "earlier": "Lee"}),
        ("Orr was the successor of Lee.", "succeed", {"later": "Orr", "earlier": "Lee"}),
        ("Lee preceded Orr.", "succeed", {"later": "Orr", "earlier": "Lee"}),
        ("Lee was Orr's teacher.", "teach", {"teacher": "Lee", "pupil": "Orr's"}),
        ("Orr was a pupil of Lee.", "teach", {"teacher": "Lee", "pupil": "Orr"}),
        ("The fire led to a strike.", "cause", {"cause": "The fire", "effect": "a strike"}),
        ("The tower belongs to the city.", "own", {"owner": "the city", "thing": "The tower"}),
    ],
)
def test_who_is_who_in_a_relation(text: str, relation: str, expected: dict[str, str]) -> None:
    assert roles(text, relation) == expected


@pytest.mark.parametrize(
    ("text", "verb", "expected"),
    [
        # The subject is shared by the verbs that "and" joins.
        ("The plan was proposed by Orr, but was rejected.", "reject", {"patient": "The plan"}),
        # A participle after its noun; a relative clause belongs to the noun right before it.
        ("A study by Lee, commissioned by Orr, is late.", "commission", {"agent": "Orr", "patient": "A study by Lee"}),
        ("It came from Lee, who leads the team.", "lead", {"agent": "Lee", "patient": "the team"}),
        # An opening phrase is not the subject.
        ("In 1936 Lee designed the bridge.", "design", {"agent": "Lee", "patient": "the bridge"}),
        ("After Lee had designed the bridge, Orr left.", "design", {"agent": "Lee", "patient": "the bridge"}),
    ],
)
def test_subject_of_a_verb_is_found(text: str, verb: str, expected: dict[str, str]) -> None:
    assert roles(text, verb) == expected


@pytest.mark.parametrize("text", ["Prices rose by 10 % in May.", "It must be done by the end of May."])
def test_amounts_and_times_after_by_are_no_agents(text: str) -> None:
    assert all("agent" not in frame.roles or not frame.passive for frame in find_frames(text))


def test_apposition_and_list_belong_to_the_argument() -> None:
    text = "The prize was won by Ann Lee, the mayor, on Monday."
    (frame,) = find_frames(text)
    assert [text.split()[at].strip(",") for at in frame.roles["winner"].described] == ["the", "mayor"]


def test_forms_of_a_verb_share_a_key() -> None:
    assert len({verb_key(word) for word in ("donate", "donates", "donated", "donating")}) == 1
    assert verb_key("wrote") == verb_key("written") == verb_key("write")
    assert [is_past(word) for word in ("wrote", "written", "speed")] == [True, False, False]
    assert [is_participle(word) for word in ("wrote", "written", "speed")] == [False, True, False]
    assert noun_valency("teachers") == noun_valency("teacher") is not None


@given(st.text(max_size=80), st.sampled_from(["was sold by", "gave", "has to", "who", ", and", "'s teacher"]))
def test_arguments_lie_inside_the_sentence(text: str, middle: str) -> None:
    sentence = f"{text} {middle} {text[::-1]}"
    for frame in find_frames(sentence):
        for argument in frame.roles.values():
            assert 0 <= argument.start < argument.core_end <= argument.end <= len(sentence)
            assert argument.words == tuple(range(argument.words[0], argument.words[-1] + 1))
