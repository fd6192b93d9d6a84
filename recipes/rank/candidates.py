"""Answers made without a language model: the right one, and plausible wrong ones.

A wrong answer has the kind of the right one (yes or no, a date, a quantity, a name) and occurs in the paragraphs of the
question, or it is the right one with an error (``perturb``). A question with an explanation also gets long answers:
incorrect with another ending, intermediate with an error before it. Right and wrong answers are worded alike, so that
the wording gives nothing away. Not supported: answers of other kinds ("a land-grant university"); questions with
several right answers, one of which may be in the paragraphs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from recipes.rank.marking import Candidate, RankQuestion
from vouching.perturb import Strategy, perturb
from vouching.perturb.name_kinds import name_type
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.dates import find_dates
from vouching.text.entities import Entity, find_entities, name_key, same_entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.quantities import find_quantities
from vouching.text.sentences import sentence_spans

_YES_NO = {"yes": "no", "no": "yes"}
_FORMS = ("{}", "{}", "{}.", "The answer is {}.", "It is {}.")
"""Wordings of a short answer; drawn uniformly."""
_LIKE_SIZE = 20.0
"""Largest ratio of a wrong quantity to the right one, or the reverse."""
_PLACES = frozenset({"country", "the country", "state", "city", "place"})
_ASKED_FOR = tuple(
    (re.compile(pattern), frozenset(kinds))
    for pattern, kinds in (
        (r"\bnationality\b", {"nationality"}),
        (r"\b(?:what|which) country\b|\bcountry of (?:origin|citizenship)\b", {"country", "the country"}),
        (r"\b(?:what|which) (?:city|town)\b|\bplace of (?:birth|death|burial)\b|^where\b", _PLACES),
        (r"\b(?:what|which) (?:state|province|county)\b", {"state", "place", "city"}),
        (r"\b(?:what|which) (?:university|college|school)\b", {"school"}),
        (r"^(?:who|whom|whose)\b|\b(?:father|mother|wife|husband|child|son|daughter|spouse|sibling) of\b", {"person"}),
    )
)
"""What a question asks for; the first match counts."""
_ERRORS_ON_THE_WAY: tuple[Strategy, ...] = ("entity_graft", "role_swap", "date_shift", "number_change", "order_flip")
"""Errors put into an explanation; "is not" would give itself away."""
_NOTE = re.compile(r"\s*\([^()]*\)$")
"""The part that distinguishes titles of one name: "Devotion (1929 film)"."""


def made_candidates(asked: RankQuestion, limit: int, rng: random.Random) -> list[Candidate]:
    """The right answer and at most ``limit`` wrong short ones, and up to three long ones; all labelled.

    Fewer than two where no wrong answer can be made.

    >>> from vouching.types import Source
    >>> source = Source("Ada Moore was born on 3 May 1899 and died on 9 June 1971.")
    >>> asked = RankQuestion("q", "When was Ada Moore born?", ("3 May 1899",), sources=(source,))
    >>> [(one.answer, one.by, one.label) for one in made_candidates(asked, 1, random.Random(0))]
    [('The answer is 3 May 1899.', 'reference', 'correct'), ('9 June 1971.', 'passages', 'incorrect')]
    """
    wrong = [*_distinct(_in_turns(from_passages(asked, rng), perturbed(asked, rng)), limit)]
    if not wrong:
        return []
    short = [Candidate(asked.references[0], "reference", "correct"), *wrong]
    worded = [Candidate(_worded(one.answer, rng), one.by, one.label) for one in short]
    return [*worded, *long_answers(asked, wrong[0].answer, rng)]


def from_passages(asked: RankQuestion, rng: random.Random) -> list[Candidate]:
    """Wrong answers of the kind of the right one from the paragraphs, those it rests on first."""
    right = asked.references[0]
    if (other := _YES_NO.get(right.lower().strip(" ."))) is not None:
        return [Candidate(other, "opposite", "incorrect")]
    found = [one.strip(" .") for one in _options(asked) or _like(asked, right)]
    fits = [one for one in dict.fromkeys(found) if not _may_be_right(one, asked)]
    # The nearest half in chance order, then the rest: near ones are the hardest, but not always the same ones.
    near, far = fits[: (len(fits) + 1) // 2], fits[(len(fits) + 1) // 2 :]
    rng.shuffle(near)
    rng.shuffle(far)
    return [Candidate(one, "passages", "incorrect") for one in (*near, *far)]


def perturbed(asked: RankQuestion, rng: random.Random) -> list[Candidate]:
    """The right answer with an error put in."""
    right = asked.references[0]
    if right.lower().strip(" .") in _YES_NO:
        return []
    made = perturb(right, asked.sources[0].text if asked.sources else right, rng=rng)
    wrong = [one for one in made if one.error_type is not None and not _may_be_right(one.claim, asked)]
    rng.shuffle(wrong)
    return [Candidate(one.claim, f"perturb:{one.strategy}", "incorrect") for one in wrong]


def long_answers(asked: RankQuestion, wrong: str, rng: random.Random) -> list[Candidate]:
    """The explanation; the explanation with an error before its last sentence; and with a wrong answer at its end.

    >>> text = "The director of Dawn is Ada Moore, born on 3 May 1899. Therefore, the final answer is 3 May 1899."
    >>> asked = RankQuestion("q", "When was the director born?", ("3 May 1899",), explanation=text)
    >>> [(one.answer, one.label) for one in long_answers(asked, "9 June 1971", random.Random(0))][-1]
    ('The director of Dawn is Ada Moore, born on 9 June 1971. Therefore, the final answer is 9 June 1971.', 'incorrect')
    """
    text, right = asked.explanation.strip(), asked.references[0]
    if not text:
        return []
    answers = [Candidate(text, "explanation", "correct")]
    last = sentence_spans(text)[-1][0]
    kept = [(m.start(), m.end()) for m in re.finditer(re.escape(right), text)]
    source = "\n\n".join([text, *(source.text for source in asked.sources)])
    errors = [
        one
        for one in perturb(text, source, _ERRORS_ON_THE_WAY, rng=rng)
        if all(
            span.end <= last and not any(span.start < end and start < span.end for start, end in kept)
            for span in one.spans
        )
    ]
    if errors:
        made = rng.choice(errors)
        answers.append(Candidate(made.claim, f"explanation, perturb:{made.strategy}", "intermediate"))
    if kept and right.lower() not in _YES_NO and name_key(wrong) not in name_key(text):
        answers.append(Candidate(text.replace(right, wrong), "explanation, other end", "incorrect"))
    return answers if len(answers) > 1 else []


def _options(asked: RankQuestion) -> list[str]:
    """The titles that the question names, if the right answer is one of several: "Which is older, Dawn or Dusk?"."""
    titles = {name_key(title): title for source in asked.sources if (title := _bare(source.title))}
    named = [key for key in titles if _inside(key, name_key(asked.question))]
    named = [key for key in named if not any(key != other and _inside(key, other) for other in named)]
    return [titles[key] for key in named] if len(named) > 1 and name_key(asked.references[0]) in named else []


def _like(asked: RankQuestion, right: str) -> Iterator[str]:
    """What the paragraphs hold of the kind of an answer."""
    if (dates := find_dates(right)) and dates[0].end - dates[0].start >= len(right.strip(" .")):
        yield from _dates_like(asked, dates[0])
    elif quantities := find_quantities(right):
        for number in _quantities_like(asked, quantities[0]):
            yield right[: quantities[0].start] + number + right[quantities[0].end :]
    elif right[:1].isupper() or right[:4].lower() == "the ":
        yield from _names_like(asked, right)


def _dates_like(asked: RankQuestion, right: DateMention) -> Iterator[str]:
    """Dates that give what the right one gives: a year for a year, a day for a day."""
    for source in asked.sources:
        for date in find_dates(source.text):
            if _shape(date) == _shape(right) and compare_dates(date, right) == "differs":
                yield source.text[date.start : date.end]


def _quantities_like(asked: RankQuestion, right: Quantity) -> Iterator[str]:
    """Quantities of the same dimension and of a like size; years are none."""
    for source in asked.sources:
        dates = [(date.start, date.end) for date in find_dates(source.text) if date.kind != "duration"]
        for found in find_quantities(source.text):
            same = (found.kind, found.dimension) == (right.kind, right.dimension)
            near = abs(right.base_low) <= _LIKE_SIZE * abs(found.base_low) <= _LIKE_SIZE**2 * abs(right.base_low)
            dated = any(start < found.end and found.start < end for start, end in dates)
            if same and near and not dated and compare_quantities(found, right) == "differs":
                yield source.text[found.start : found.end]


def _names_like(asked: RankQuestion, right: str) -> Iterator[str]:
    """Names of the kind that the right one has, or that the question asks for; where nothing tells, titles."""
    found = [
        (source.text, entity)
        for source in asked.sources
        for entity in find_entities(source.text, [start for start, _ in sentence_spans(source.text)])
        if entity.certain
    ]
    titles = [_bare(source.title) for source in asked.sources if source.title]
    is_title = name_key(right) in map(name_key, titles)
    exact, wanted = _kinds(right, found), _asked_kinds(asked.question)
    kinds = (exact or wanted) if is_title else (wanted or exact)
    typed = [(entity.text, kind.kind) for text, entity in found if (kind := name_type(text, entity)) is not None]
    names = [name for name, kind in typed if kind in exact] + [name for name, kind in typed if kind in kinds]
    yield from names or titles


def _kinds(right: str, found: Sequence[tuple[str, Entity]]) -> frozenset[str]:
    """The kind of a name, from the name itself or its context in the paragraphs; may be empty."""
    alone = name_type(right, Entity(0, len(right), right, "name", True))
    places = [alone, *(name_type(text, one) for text, one in found if name_key(one.text) == name_key(right))]
    return frozenset({kind.kind for kind in places if kind is not None})


def _asked_kinds(question: str) -> frozenset[str]:
    """The kinds of names that a question asks for; empty if it does not say."""
    words = question.lower()
    return next((kinds for pattern, kinds in _ASKED_FOR if pattern.search(words)), frozenset[str]())


def _may_be_right(answer: str, asked: RankQuestion) -> bool:
    """Whether an answer may mean what a right one means, or is in the question without being one of its options."""
    for right in asked.references:
        dates, own = find_dates(right), find_dates(answer)
        if dates and own:
            if compare_dates(own[0], dates[0]) != "differs":
                return True
        elif not find_quantities(right) and (same_entity(answer, right) or same_entity(right, answer)):
            return True
        if name_key(answer) == name_key(right):
            return True
    return _inside(name_key(answer), name_key(asked.question)) and not _options(asked)


def _inside(key: str, other: str) -> bool:
    return bool(key) and f" {key} " in f" {other} "


def _bare(title: str) -> str:
    """A title without the note that tells it from others of its name."""
    return _NOTE.sub("", title).strip()


def _shape(date: DateMention) -> tuple[object, ...]:
    """Which fields a date has."""
    return date.kind, date.year is None, date.month is None, date.day is None


def _worded(answer: str, rng: random.Random) -> str:
    form = rng.choice(_FORMS)
    if answer.lower() in _YES_NO:
        return answer if form == "{}" else f"{answer.capitalize()}."
    return form.format(answer.rstrip(".") if form.endswith(".") else answer)


def _in_turns(one: Iterable[Candidate], other: Sequence[Candidate]) -> Iterator[Candidate]:
    """Two of the first, then one of the second, until both are at their end."""
    first = iter(one)
    for pair in zip_longest(zip_longest(first, first), other):
        yield from filter(None, (*(pair[0] or ()), pair[1]))


def _distinct(candidates: Iterable[Candidate], limit: int) -> Iterator[Candidate]:
    """At most so many, no two that mean the same."""
    seen: list[str] = []
    for one in candidates:
        if len(seen) == limit:
            return
        if name_key(one.answer) not in seen:
            seen.append(name_key(one.answer))
            yield one
