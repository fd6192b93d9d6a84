"""Claims beside sentences that hold for some things and not for others: conditions, exceptions, days, subjects."""

import pytest

from vouching.methods.embedded.verify import open_embedded
from vouching.types import Claim, Source

VERIFIER = open_embedded("embedded:rules")


def supported(claim: str, source: str) -> bool:
    return VERIFIER.judge(Claim(claim), [Source(source)]).attributable


REFUND = "Refunds are not given unless the flight is cancelled."
ENTRY = "Entry is not allowed until the alarm has stopped."
SHARED = "Data is not shared with third parties unless you agree."
DOGS = "Dogs are not allowed except guide dogs."
MUSEUM = "The museum is open every day except Monday."
POOL = "The pool is open from Tuesday to Saturday."


@pytest.mark.parametrize(
    ("claim", "source", "right"),
    [
        ("Refunds are given if the flight is cancelled.", REFUND, True),
        ("Refunds are given.", REFUND, False),
        ("Refunds are not given if the flight is cancelled.", REFUND, False),
        ("Entry is allowed once the alarm has stopped.", ENTRY, True),
        ("Entry is allowed.", ENTRY, False),
        ("Data is shared with third parties if you agree.", SHARED, True),
        ("Data is shared with third parties.", SHARED, False),
        ("You can cancel if you give 30 days' notice.", "You cannot cancel unless you give 30 days' notice.", True),
        ("You can cancel.", "You cannot cancel unless you give 30 days' notice.", False),
        ("Guide dogs are allowed.", DOGS, True),
        ("Dogs are allowed.", DOGS, False),
        ("Dogs are not allowed except guide dogs.", DOGS, True),
        ("The museum is open on Tuesday.", MUSEUM, True),
        ("The museum is closed on Mondays.", MUSEUM, True),
        ("The museum is not open on Mondays.", MUSEUM, True),
        ("The museum is open on Monday.", MUSEUM, False),
        ("The museum is closed on Tuesdays.", MUSEUM, False),
        ("The pool is open on Friday.", POOL, True),
        ("The pool is open on Sunday.", POOL, False),
        ("The pool is closed on Sunday.", POOL, True),
        ("The shop is open on Wednesdays.", "The shop is open Monday to Friday.", True),
        ("The shop is open on Saturdays.", "The shop is open Monday to Friday.", False),
        # The day is one of many in the month: the rest of the sentence decides.
        ("Entry is free on the last Sunday of a month.", "Entry is free on the first Sunday of a month.", False),
    ],
)
def test_what_is_reserved_is_told_from_what_is_not(claim: str, source: str, right: bool) -> None:
    assert supported(claim, source) is right


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("Guests can use the sauna; members cannot.", "Guests can use the sauna.", "Members can use the sauna."),
        ("Staff may park here, visitors may not.", "Visitors may not park here.", "Staff may not park here."),
        ("Adults pay an entrance fee, but children do not.", "Adults pay an entrance fee.",
         "Children pay an entrance fee."),
        ("The south gate is locked at night; the north gate is not.", "The north gate is not locked at night.",
         "The north gate is locked at night."),
        ("Managers get a bonus and interns don't.", "Interns don't get a bonus.", "Interns get a bonus."),
        ("The lift is not in use, but the stairs are.", "The stairs are in use.", "The lift is in use."),
    ],
)  # fmt: skip
def test_a_second_subject_with_nothing_but_an_auxiliary_has_the_verb_of_the_first(
    source: str, right: str, wrong: str
) -> None:
    assert supported(right, source)
    assert not supported(wrong, source)
