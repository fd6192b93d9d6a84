from __future__ import annotations

import pytest

from vouching.claims import decompose


def last(response: str, question: str | None = None) -> str:
    return decompose(response, question).claims[-1].text


@pytest.mark.parametrize(
    ("response", "claim"),
    [
        ("Albert Einstein was a physicist. He was born in 1867.", "He [Albert Einstein] was born in 1867."),
        ("Peter Brice has signed. His liability ends.", "His [Peter Brice's] liability ends."),
        ("The Ness Viaduct is the second. It was opened in 1931.", "It [the Ness Viaduct] was opened in 1931."),
        ("The cheapest tariff is Sprat S. It costs €9.", "It [Sprat S] costs €9."),
        ("Ann Lee and Bo Ray are partners. Their firm is old.", "Their [Ann Lee and Bo Ray's] firm is old."),
        ("The bridge is red. In 1941, it was closed.", "In 1941, it [the bridge] was closed."),
        ("Dover High and Quarry High differ. The latter is small.", "The latter [Quarry High] is small."),
        ("The Velm Grant is small. The Osei Prize is large. The former is new.", "The former [the Velm Grant] is new."),
        ("It closed in 1976. In that year, sales fell.", "In that year [1976], sales fell."),
        ("The Velm Fund is small. The fund pays 5 %.", "The fund [The Velm Fund] pays 5 %."),
        ("Verrick Digital is an exception. There the limit is €25.", "There [Verrick Digital] the limit is €25."),
        ("Mr Haas met Ms Lind. She was ill.", "She [Ms Lind] was ill."),
        ("`dump()` is gone; its successor is new.", "its [`dump()`'s] successor is new."),
    ],
)
def test_the_one_antecedent_that_fits_is_added(response: str, claim: str) -> None:
    assert last(response) == claim


@pytest.mark.parametrize(
    "response",
    [
        "Ute Sandvik met Rana Lund. She was ill.",  # two people
        "Ann Lee was a poet. He was ill.",  # another gender
        "The bridge is red. They were ill.",  # another number
        "Ann Lee was a poet. It was red.",  # a person is no thing
        "Ann Lee was a poet. It is clear that she was ill.",  # "it" stands for nothing
        "The bridge is red. It takes an hour to cross.",
        "The bridge is red. There are two towers.",
        "Adding salt helps. Then pepper. It is hot.",  # the clause before is unclear
        "It closed in 1976 and 1977. In that year, sales fell.",  # two years
        "The company is old. The fund pays 5 %.",  # no name ends in "fund"
        "Dover High and Quarry High differ. The latter school is small.",  # a noun of its own
    ],
)
def test_in_doubt_nothing_is_added(response: str) -> None:
    assert "[" not in last(response)


def test_an_antecedent_reaches_over_several_pronouns() -> None:
    response = "Ann Lee was a poet. She was born in 1912. She died in 1990. Her house is in Rome."
    assert last(response) == "Her [Ann Lee's] house is in Rome."


def test_the_only_name_of_the_question_is_an_antecedent() -> None:
    assert last("He was born in 1879.", "When was Albert Einstein born?") == "He [Albert Einstein] was born in 1879."
    assert last("His first day is in May.", "When does school start in Larkfield?") == "His first day is in May."
    assert last("He was born in 1879.", "Were Albert Einstein and Niels Bohr friends?") == "He was born in 1879."
