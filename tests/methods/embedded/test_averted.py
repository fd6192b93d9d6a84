"""What almost happened did not happen; with a number, "almost" is "about"."""

import pytest

from vouching.methods.embedded.verify import open_embedded
from vouching.types import Claim, Source

VERIFIER = open_embedded("embedded:rules")


def supported(claim: str, source: str) -> bool:
    return VERIFIER.judge(Claim(claim), [Source(source)]).attributable


@pytest.mark.parametrize(
    ("happened", "nearly"),
    [
        ("The climber died.", "The climber nearly died."),
        ("The ferry sank.", "The ferry almost sank."),
        ("The school was closed.", "The school was almost closed."),
        ("The mine was abandoned.", "The mine was all but abandoned."),
        ("The tank was empty.", "The tank was almost empty."),
        ("The fire reached the farm.", "The fire nearly reached the farm."),
        ("The dam collapsed.", "The dam came within an inch of collapsing."),
        ("The driver crashed.", "The driver came very close to crashing."),
        ("The bank failed.", "The bank was on the brink of failing."),
        ("The bank went bankrupt.", "The bank narrowly avoided bankruptcy."),
    ],
)
def test_what_nearly_happened_did_not_happen(happened: str, nearly: str) -> None:
    assert not supported(happened, nearly)
    assert not supported(nearly, happened)
    assert supported(nearly, nearly)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The hall holds 500 people.", "The hall holds nearly 500 people."),
        ("People died.", "Almost 200 people died."),
        ("The team won the match.", "The team won the match after it had almost lost the lead."),
        ("The ferry sank.", "The ferry almost sank in May. The ferry sank in June."),
    ],
)
def test_almost_beside_a_number_or_another_event_denies_nothing(claim: str, source: str) -> None:
    assert supported(claim, source)
