"""A source that has a claim word for word does not have what the claim adds to it."""

import pytest

from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source

SOURCE = Source(
    "The bridge is 412 metres long. It was built from 1903 to 1908 by the Carrick company. Trains may cross it at up "
    "to 50 km/h. The restoration of 1937 took 37 weeks."
)
SENTENCES = ("The bridge is 412 metres long", "Trains may cross it at up to 50 km/h")


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("added", [" in 2050", " on 3 May 2050", " for 93 days", " for 37 people", " by 47 percent"])
def test_an_added_time_or_number_is_not_attributable(sentence: str, added: str) -> None:
    verifier = EmbeddedVerifier()
    assert verifier.judge(Claim(f"{sentence}."), [SOURCE]).attributable
    assert not verifier.judge(Claim(f"{sentence}{added}."), [SOURCE]).attributable
    assert not verifier.judge(Claim(f"{sentence}.{added}"), [SOURCE]).attributable
