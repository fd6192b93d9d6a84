"""Names with the titles that a source gives them, in prose and in lists, both ways."""

import pytest

from vouching.methods.embedded.titles import find_titles
from vouching.methods.embedded.verify import open_embedded
from vouching.reading.parsed import read
from vouching.types import Claim, Source

VERIFIER = open_embedded("embedded:rules")


def supported(claim: str, source: str) -> bool:
    return VERIFIER.judge(Claim(claim), [Source(source)]).attributable


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("Chair: Mrs Isolde Greave.", "Mrs Isolde Greave", {"chair"}),
        ("The letter is by Mara Voss (treasurer).", "Mara Voss", {"treasur"}),
        ("Complaints go to the ombudsman, Tilde Aakre.", "Tilde Aakre", {"ombudsman"}),
        ("Kalle Brandvold, the head of travel, agreed.", "Kalle Brandvold", {"head", "travel"}),
        ("The chef is called Renzo Albescu.", "Renzo Albescu", {"chef"}),
        ("Renzo Albescu is the chef.", "Renzo Albescu", {"chef"}),
    ],
)
def test_title_of_a_name_is_found(text: str, name: str, title: set[str]) -> None:
    assert [(found.name.text, found.stems) for found in find_titles(read(text))] == [(name, title)]


def test_what_is_said_according_to_a_text_is_no_title() -> None:
    assert list(find_titles(read("According to the leaflet, Kin Basic costs 4 euros."))) == []


BOARD = "Chair: Mrs Isolde Greave. Treasurer: Mr Tobias Nkemelu. The observer, Winifred Zajac, left at noon."


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The chair is Isolde Greave.", "The chair is Tobias Nkemelu."),
        ("Tobias Nkemelu is the treasurer.", "Isolde Greave is the treasurer."),
        ("The observer is called Winifred Zajac.", "The observer is called Isolde Greave."),
    ],
)
def test_name_with_the_title_of_another_differs(right: str, wrong: str) -> None:
    assert supported(right, BOARD)
    assert not supported(wrong, BOARD)


def test_former_holder_is_not_the_holder() -> None:
    source = "Head of claims: Matthias Odukoya (until March 2025: Celeste Farrugia). Deputy: Jorunn Aspelund."
    assert supported("Matthias Odukoya is the head of claims.", source)
    assert not supported("Celeste Farrugia is the head of claims.", source)


def test_name_that_a_list_gives_another_task_is_not_the_one_for_this_task() -> None:
    source = "Attendance questions: Rosa Whitcombe, 555-0142. Buses: Dennis Aldana, 555-0167."
    assert supported("Attendance questions are answered by Rosa Whitcombe.", source)
    assert not supported("Attendance questions are answered by Dennis Aldana.", source)
