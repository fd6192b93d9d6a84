"""Wrong answers are of the kind of the right one and do not mean the same; long ones err where they should."""

from __future__ import annotations

import random

import pytest

from recipes.rank.candidates import from_passages, long_answers, made_candidates, perturbed
from recipes.rank.marking import RankQuestion
from vouching.types import Source

FILMS = (
    Source("Dawn is a film by Ada Moore, who died on 3 May 1899.", "a", "Dawn (1890 film)"),
    Source("Dusk is a film by John Hill, who was born on 9 June 1871 in Rome.", "b", "Dusk"),
    Source("John Hill met George Reed in Paris in 1880. They sold 40 prints, then 4,000.", "c", "John Hill"),
)


def wrong(question: str, *references: str) -> set[str]:
    asked = RankQuestion("q", question, references, sources=FILMS)
    return {one.answer for one in from_passages(asked, random.Random(0))}


def test_the_other_of_yes_and_no() -> None:
    assert wrong("Are both films old?", "yes") == {"no"}


def test_another_day_for_a_day_and_another_year_for_a_year() -> None:
    assert wrong("When did Ada Moore die?", "3 May 1899") == {"9 June 1871"}
    assert wrong("When did they meet?", "1881") == {"1880"}


def test_a_day_that_agrees_with_the_right_one_is_no_wrong_answer() -> None:
    assert wrong("When did Ada Moore die?", "May 3, 1899", "3 May") == {"9 June 1871"}


def test_another_number_of_like_size_that_is_no_year() -> None:
    # 4,000 is a hundred times as much, 1880 a year.
    assert wrong("How many prints were there?", "50 prints") == {"40 prints"}


def test_the_other_option_of_a_question_that_names_them() -> None:
    assert wrong("Which film is older, Dawn or Dusk?", "Dawn") == {"Dusk"}


def test_people_for_a_person_and_cities_for_a_city() -> None:
    assert wrong("Who made Dusk?", "John Hill") == {"Ada Moore", "George Reed"}
    assert wrong("Where was the director born?", "Rome") == {"Paris"}


def test_another_way_to_put_the_right_answer_is_no_wrong_one() -> None:
    assert wrong("Who met John Hill?", "Mr. Reed", "George Reed") == {"Ada Moore"}


def test_an_error_in_the_right_answer_is_not_the_same_in_other_words() -> None:
    asked = RankQuestion("q", "When?", ("October 5, 1987",))
    made = perturbed(asked, random.Random(0))
    assert {one.by for one in made} == {"perturb:date_shift"}
    assert "5 October 1987" not in {one.answer for one in made}  # what perturb calls date_format means the same


def test_long_answers_err_on_the_way_or_at_the_end() -> None:
    text = "Dusk was made by John Hill, born on 9 June 1871. Therefore, the final answer is Rome."
    asked = RankQuestion("q", "Where was the director of Dusk born?", ("Rome",), sources=FILMS, explanation=text)
    right, middle, other = long_answers(asked, "Paris", random.Random(0))
    assert (right.answer, right.label) == (text, "correct")
    assert middle.label == "intermediate"
    assert middle.answer.endswith("Therefore, the final answer is Rome.")
    assert middle.answer != text
    assert (other.answer, other.label) == (text.replace("Rome", "Paris"), "incorrect")


def test_without_a_wrong_answer_there_is_none_at_all() -> None:
    asked = RankQuestion("q", "What did they die of?", ("heart failure",), sources=FILMS)
    assert made_candidates(asked, 4, random.Random(0)) == []


@pytest.mark.parametrize("seed", range(20))
def test_right_and_wrong_answers_are_worded_alike(seed: int) -> None:
    asked = RankQuestion("q", "When did Ada Moore die?", ("3 May 1899",), sources=FILMS)
    made = made_candidates(asked, 4, random.Random(seed))
    assert [one.label for one in made] == ["correct", *["incorrect"] * (len(made) - 1)]
    assert len({one.answer for one in made}) == len(made) == 5
    again = made_candidates(asked, 4, random.Random(seed))
    assert again == made


def test_every_wording_comes_with_right_and_with_wrong_answers() -> None:
    asked = RankQuestion("q", "When did Ada Moore die?", ("3 May 1899",), sources=FILMS)
    made = [one for seed in range(60) for one in made_candidates(asked, 4, random.Random(seed))]

    def form(answer: str) -> str:
        return next(
            (start for start in ("The answer", "It is") if answer.startswith(start)), "." * answer.endswith(".")
        )

    for label in ("correct", "incorrect"):
        assert {form(one.answer) for one in made if one.label == label} == {"The answer", "It is", ".", ""}
