"""What a sentence asserts and what it only mentions, for every word of the lexicon and every construction."""

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT, takes_linear_time
from vouching.embedded.attitudes import commits_to, cues, is_speech
from vouching.embedded.commitment import find_mentions
from vouching.embedded.denials import denied_clause, denies_in_part

CLAUSE = "the bridge opened in 1931"
_BASES = {part: sorted({(cue.base, cue.kind) for cue in forms.values()}) for part, forms in cues().items()}
_ASSERTED = {"factive": None, "committing": None, "neutral": "reported", "counter": "denied", "supposed": "supposed"}
_UNDER_DENIAL = {**_ASSERTED, "committing": "supposed", "counter": "reported"}


def attitudes(sentence: str, clause: str = CLAUSE) -> set[str]:
    """What the sentence does with the clause where it does not assert it."""
    start = sentence.lower().index(clause.lower())
    end = start + len(clause)
    return {m.attitude for m in find_mentions(sentence) if m.start <= start and end <= m.end}


@pytest.mark.parametrize(("verb", "kind"), _BASES["verb"])
def test_every_verb_has_its_class_with_and_without_denial(verb: str, kind: str) -> None:
    assert attitudes(f"They will {verb} that {CLAUSE}.") == ({_ASSERTED[kind]} - {None})
    assert attitudes(f"They do not {verb} that {CLAUSE}.") == ({_UNDER_DENIAL[kind]} - {None})


@pytest.mark.parametrize(("noun", "kind"), _BASES["noun"])
def test_every_noun_has_its_class(noun: str, kind: str) -> None:
    assert attitudes(f"They speak of the {noun} that {CLAUSE}.") == ({_ASSERTED[kind]} - {None})


@pytest.mark.parametrize(("adjective", "kind"), _BASES["adjective"])
def test_every_adjective_has_its_class(adjective: str, kind: str) -> None:
    assert attitudes(f"It is {adjective} that {CLAUSE}.") == ({_ASSERTED[kind]} - {None})


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The mayor said the bridge opened in 1931, but the archive has 1937.", "reported"),
        ("A friend told me the bridge opened in 1931.", "reported"),
        ("The bridge opened in 1931, the mayor said.", "reported"),
        ('"The bridge opened in 1931," said Ann Berg, the mayor.', "reported"),
        ("According to a blogger, the bridge opened in 1931.", "reported"),
        ("The bridge opened in 1931, according to a blogger.", "reported"),
        ("The bridge opened in 1931, in the view of a blogger.", "reported"),
        ("Allegedly, the bridge opened in 1931.", "reported"),
        ("In some circles it is taken for granted that the bridge opened in 1931.", "reported"),
        ("Some wrongly believe that the bridge opened in 1931.", "denied"),
        ("The rumour that the bridge opened in 1931 is false.", "denied"),
        ("The headline 'The bridge opened in 1931' was retracted.", "denied"),
        ("That the bridge opened in 1931 is a common misconception.", "denied"),
        ("It is not the case that the bridge opened in 1931.", "denied"),
        ("Contrary to the belief that the bridge opened in 1931, it opened in 1937.", "denied"),
        ("If the bridge opened in 1931, it is a monument.", "supposed"),
        ("Imagine that the bridge opened in 1931.", "supposed"),
        ("Unless the bridge opened in 1931, the map is wrong.", "supposed"),
        ("In the novel, the bridge opened in 1931.", "supposed"),
        ("There is no evidence that the bridge opened in 1931.", "supposed"),
        ("It is unclear whether the bridge opened in 1931.", "supposed"),
        ("Is it known that the bridge opened in 1931?", "asked"),
    ],
)
def test_a_clause_is_mentioned(sentence: str, expected: str) -> None:
    assert expected in attitudes(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge opened in 1931, and the mayor spoke.",
        "Contrary to popular belief, the bridge opened in 1931.",
        "Despite rumours that it would never be built, the bridge opened in 1931.",
        "The council announced that the bridge opened in 1931.",
        "The rumour that the bridge opened in 1931 turned out to be true.",
        "Article 5 holds. This law states that the bridge opened in 1931.",
        "Engineers proved that the bridge opened in 1931.",
        "Visitors are not told that the bridge opened in 1931.",
        "The fact that the bridge opened in 1931 matters.",
        "He does not know that the bridge opened in 1931.",
        "The bridge opened in 1931, as the mayor said.",
        "The mayor said little; the bridge opened in 1931.",
    ],
)
def test_a_clause_is_asserted(sentence: str) -> None:
    assert not attitudes(sentence)


@pytest.mark.parametrize(
    ("sentence", "mentioned"),
    [
        ("The company plans to cut 400 jobs.", True),
        ("The mayor suggested moving the fair to the park.", True),
        ("The company cut 400 jobs.", False),
        ("The company decided to cut 400 jobs.", False),
    ],
)
def test_what_is_planned_has_not_happened(sentence: str, mentioned: bool) -> None:
    assert any(m.attitude == "supposed" for m in find_mentions(sentence)) is mentioned


@pytest.mark.parametrize(
    ("claim", "clause"),
    [
        ("It is false that the bridge opened in 1931.", CLAUSE),
        ("It is a widespread myth that the bridge opened in 1931.", CLAUSE),
        ("It isn't true that the bridge opened in 1931.", CLAUSE),
        ("The claim that the bridge opened in 1931 is wrong.", CLAUSE),
        ('The statement "The bridge opened in 1931" is incorrect.', "The bridge opened in 1931"),
        ("That the bridge opened in 1931 is a misconception.", CLAUSE),
        ("It is false that the bridge opened in 1931, but the ferry ran.", None),
        ("It is false that the bridge opened in 1931. It has two lanes.", None),
        ("The bridge did not open in 1931.", None),
        ("Ann wrongly believes that the bridge opened in 1931.", None),
        ("The alarm was false.", None),
        ("Ann's claim that the bridge opened in 1931 is wrong.", None),
    ],
)
def test_the_clause_that_a_claim_denies(claim: str, clause: str | None) -> None:
    found = denied_clause(claim)
    assert (found and claim[slice(*found)]) == clause


@pytest.mark.parametrize(
    ("claim", "partly"),
    [
        ("It is false that the bridge opened in 1931, but the ferry ran.", True),
        ("The ferry ran. It is a myth that the bridge opened in 1931.", True),
        ("It is false that the bridge opened in 1931.", False),
        ("The ferry ran. The bridge opened in 1931.", False),
    ],
)
def test_a_claim_that_denies_in_part(claim: str, partly: bool) -> None:
    assert denies_in_part(claim) is partly


@given(ANY_TEXT)
def test_mentions_lie_in_any_sentence(text: str) -> None:
    for mention in find_mentions(text):
        assert 0 <= mention.start < mention.end <= len(text)
    found = denied_clause(text)
    assert found is None or 0 <= found[0] <= found[1] <= len(text)


@pytest.mark.parametrize(
    "piece", ["said ", 'that "', "it is false that ", "if ", ", Ann said", "'a b c was' ", "is a "]
)
def test_time_grows_with_the_length_only(piece: str) -> None:
    assert takes_linear_time(find_mentions, piece, 8_000 // len(piece))


def test_the_word_before_a_clause_commits_or_not() -> None:
    assert commits_to("Tests proved once more that")
    assert not commits_to("Tests never proved that")
    assert not commits_to("In some circles it is taken for granted that")
    assert is_speech("The box says")
    assert not is_speech("The box")
