"""Find the faults of a checklist (Soft-RLVR, Table 4) with rules and, optionally, the shipped encoder.

    form              an item that is not a question, or one that cannot be answered yes or no
    under-decomposed  one item asks for several things
    over-decomposed   two items ask for the same
    spurious          an item asks for what the instruction does not
    missing           the instruction asks for what no item does

The rules compare words, numbers and quotations, and know common words of praise ("engaging") that an instruction may
not contain. The encoder detects items whose words have no counterpart in the instruction. Words are English: for a
checklist in another language only form, numbers and quotations are checked; for an instruction in another language only
form and quotations.

Not supported: items that contradict the instruction, and faults that take knowledge to see; a language model may be
asked for these, see :func:`~vouching.methods.checklist.make.lint_by_model`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias

from vouching.methods.checklist.reply import MAX_ITEMS, is_question
from vouching.reading.language import looks_english
from vouching.rules.find import find_rules
from vouching.text.numerals import find_numerals
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words, lower_words, stem
from vouching.types import Checklist, ChecklistItem

FaultKind: TypeAlias = Literal["form", "under-decomposed", "over-decomposed", "spurious", "missing"]
Similarity: TypeAlias = Callable[[str, str], float]
"""How much of the first text's meaning the second has, in [0, 1]."""

_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|(?<!\w)'([^'\n]{1,80})'(?!\w)")
_OPEN_QUESTION = re.compile(r"\W*(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
_VERBS = """add|address|answer|appear|apply|avoid|begin|cite|come|contain|consist|cover|describe|discuss|display|end|\
ensure|exclude|exist|explain|fit|follow|give|have|highlight|include|keep|lack|list|maintain|match|mention|name|offer|\
omit|present|provide|refer|refrain|remain|repeat|respect|show|specify|start|state|stay|stick|summarize|use|write"""
_SECOND = re.compile(
    r"(?<!begin )(?<!start )(?:\band\b|\bas well as\b|\bwhile\b|\bbut\b)\s+(?:also\s+|it\s+|does\s+it\s+)?(?:not\s+)?"
    rf"(?:{_VERBS}|is|are|does|do|has|free\s+of|under|over|exactly|at\s+(?:least|most)|(?:no|fewer|less|more)\s+"
    r"(?:more|fewer|less|longer|shorter|than)|(?:shorter|longer)\s+than|written|limited)\b",
    re.IGNORECASE,
)
_PRAISE = frozenset(
    stem(word)
    for word in """appealing appropriate captivating clear coherent compelling comprehensive concise creative
    effective elegant engaging enjoyable entertaining error-free exciting fluent friendly grammatically grammar helpful
    high-quality informative insightful interesting natural organized original persuasive pleasant polite polished
    professional readable respectful spelling thorough thoughtful tone typos useful well-organized well-structured
    well-written""".replace("-", " ").split()
) - {stem(word) for word in ("error", "free", "high", "quality", "well", "written", "structured")}
_STOCK = frozenset(
    stem(word)
    for word in """response answer assistant ai text output reply contain include use write provide mention avoid have
    give user instruction prompt request required following meet entire whole please make sure ensure must should
    need""".split()
)
_DEMAND = re.compile(
    r"\b(?:must|should|shall|need(?:s)? to|do not|don['’]t|never|avoid|without|refrain|exclude|include|contain|use|add|"
    r"at least|at most|exactly|no (?:more|fewer|less)|(?:less|more|fewer) than|limit|only|make sure|ensure|end|finish|"
    r"begin|start|wrap|put|mark|highlight|format|entire|all (?:in )?(?:lower|upper|capital))\b",
    re.IGNORECASE,
)
_SMALL = frozenset((0.0, 1.0, 2.0))
"""Numbers that come with ordinary wording: "no more than one", "both", a list that begins with 1."""
_SAME = 0.8
"""Share of common words from which two items ask for the same, and similarity from which an item asks for a rule."""
_COVERED = 0.5
"""Share of a demand's words that the items must have."""
_NEAR = 0.5
"""Similarity below which an item is not about the instruction, or no item makes a demand."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a checklist."""

    kind: FaultKind
    message: str
    """The end of "item 3 is spurious: ..."; the text is also sent to the model that revises the list."""
    item: int | None = None
    """Number of the item, from 1; None for a fault of the whole list."""

    def __str__(self) -> str:
        where = "the list" if self.item is None else f"item {self.item}"
        kind = {"form": "has the wrong form", "missing": "misses a requirement"}.get(self.kind, f"is {self.kind}")
        return f"{where} {kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class _Content:
    stems: frozenset[str]
    numbers: frozenset[float]
    quotes: frozenset[str]
    words: frozenset[str]


def lint(checklist: Checklist, similarity: Similarity | None = None) -> tuple[Fault, ...]:
    """The faults of a checklist that rules and, if ``similarity`` is given, the encoder can see.

    >>> items = [ChecklistItem("Does it mention Paris and use three bullet points?"), ChecklistItem("Is it engaging?")]
    >>> found = lint(Checklist('Write exactly three bullet points about Paris. Do not use "travel".', tuple(items)))
    >>> [(fault.kind, fault.item) for fault in found]
    [('under-decomposed', 1), ('spurious', 2), ('missing', None)]
    """
    if not checklist.items:
        return (Fault("form", "it has no items"),)
    english = looks_english(checklist.instruction)
    similarity = similarity if english else None
    asked, items = _content(checklist.instruction), [_content(item.text) for item in checklist.items]
    found: list[Fault] = []
    for number, (item, content) in enumerate(zip(checklist.items, items, strict=True), 1):
        if item.rule is None:
            found += (Fault(kind, why, number) for kind, why in _faults_of(item.text, content, asked, english))
            if similarity is not None and not any(f.item == number and f.kind == "spurious" for f in found):
                found += _far(item, number, checklist.instruction, similarity)
        twin = next((n for n, other in enumerate(items[: number - 1], 1) if _same(content, other)), None)
        if twin is not None:
            found.append(Fault("over-decomposed", f"it asks for the same thing as item {twin}", number))
    if len(items) > MAX_ITEMS:
        found.append(Fault("over-decomposed", f"it has {len(items)} items, expected at most {MAX_ITEMS}"))
    return (*found, *_missing(checklist, items, similarity))


def encoder_similarity() -> Similarity:
    """Similarity by the shipped encoder: the best match of each token of the first text in the second, on average."""
    from vouching.encoder.encoder import load_encoder

    encoder = load_encoder()
    states = cache(encoder.states)

    def similarity(first: str, second: str) -> float:
        ours, theirs = states(first), states(second)
        if not len(ours) or not len(theirs):
            return 0.0
        return float((ours @ theirs.T).max(axis=1).mean())

    return similarity


def _content(text: str) -> _Content:
    quotes = {" ".join(lower_words("".join(found.groups(default="")))) for found in _QUOTED.finditer(text)}
    stems = {word.stem for word in find_words(_QUOTED.sub(" ", text)) if word.is_content} - _STOCK
    numbers = {one.value for one in find_numerals(text)}
    words = frozenset(map(stem, lower_words(text)))
    return _Content(frozenset(stems), frozenset(numbers), frozenset(filter(None, quotes)), words)


def _faults_of(text: str, item: _Content, asked: _Content, english: bool) -> Iterator[tuple[FaultKind, str]]:
    """The faults of a single item; words of praise and numbers are only checked in English."""
    if not is_question(text):
        yield "form", f"it is not a question: {text[:80]!r}"
    elif _OPEN_QUESTION.match(text):
        yield "form", f"it cannot be answered with yes or no: {text[:80]!r}"
    bare = _QUOTED.sub('""', text)
    joined = _SECOND.search(bare)
    if joined or bare.count("?") > 1:
        yield "under-decomposed", f"it asks for several things ({joined[0] if joined else 'two questions'}): split it"
    praised = sorted((item.stems & _PRAISE) - asked.stems) if english else []
    if praised:
        word = next(word for word in lower_words(text) if stem(word) in praised)
        yield "spurious", f"the instruction does not ask for {word!r}"
        return
    # "Less than 46" says the same as "at most 45".
    unasked = [n for n in sorted(item.numbers - _SMALL) if english and not {n - 1, n, n + 1} & asked.numbers]
    if unasked:
        yield "spurious", f"the instruction does not contain the number {unasked[0]:g}"
    foreign = [quote for quote in sorted(item.quotes) if not {*map(stem, quote.split())} & asked.words]
    if foreign:
        yield "spurious", f"the instruction does not contain the words {foreign[0]!r}"


def _far(item: ChecklistItem, number: int, instruction: str, similarity: Similarity) -> Iterator[Fault]:
    if not re.search(r"[a-z]{3}", item.text, re.IGNORECASE):
        return
    near = similarity(item.text, instruction)
    if near < _NEAR:
        yield Fault("spurious", f"nothing in the instruction has a similar meaning (similarity {near:.2f})", number)


def _same(one: _Content, other: _Content) -> bool:
    """Whether two items ask for the same; different numbers or quotations make them different."""
    if (one.numbers, one.quotes) != (other.numbers, other.quotes) or not one.stems | other.stems:
        return one == other
    return len(one.stems & other.stems) / len(one.stems | other.stems) >= _SAME


def bind_rules(checklist: Checklist) -> Checklist:
    """Bind each item that asks for an exact rule of the instruction to that rule.

    >>> asked = "Write about Paris in at least 300 words."
    >>> bound = bind_rules(Checklist(asked, (ChecklistItem("Has it at least 300 words?"),)))
    >>> bound.items[0].rule, bound.items[0].text
    ('length_constraints:number_words', 'Has it at least 300 words?')
    """
    free = [*find_rules(checklist.instruction)]
    items: list[ChecklistItem] = []
    for item in checklist.items:
        content = _content(item.text)
        rule = next((one for one in free if _asks(content, _content(one.text))), None) if item.rule is None else None
        if rule is not None:
            free.remove(rule)
        items.append(item if rule is None else replace(rule, text=item.text))
    return replace(checklist, items=tuple(items))


def _asks(item: _Content, rule: _Content) -> bool:
    """Whether an item asks for what a rule does: the same numbers and quotations, and a common word."""
    numbers = all({n - 1, n, n + 1} & item.numbers for n in rule.numbers)
    quoted = all({*map(stem, quote.split())} <= item.words for quote in rule.quotes)
    return numbers and quoted and bool(item.stems & rule.stems or rule.quotes & item.quotes)


def _missing(checklist: Checklist, items: Sequence[_Content], similarity: Similarity | None) -> Iterator[Fault]:
    """Rules and other demands of the instruction that no item covers."""
    whole = _content("\n".join(item.text for item in checklist.items))
    rules = find_rules(checklist.instruction)

    def near(demand: str, at_least: float) -> bool:
        return similarity is not None and max(similarity(demand, item.text) for item in checklist.items) >= at_least

    for rule in rules:
        content = _content(rule.text)
        # Words that a rule lists may each have an item.
        asked = any(item.rule == rule.rule for item in checklist.items) or (content.quotes and _asks(whole, content))
        if not asked and not any(_asks(item, content) for item in items) and not near(rule.text, _SAME):
            yield Fault("missing", f"no item corresponds to {rule.text!r}")
    for start, end in sentence_spans(checklist.instruction):
        sentence = checklist.instruction[start:end]
        ruled = any(rule.span is not None and start <= rule.span.start < end for rule in rules)
        if ruled or not _DEMAND.search(sentence):
            continue
        demand = _content(sentence)
        lost = [n for n in sorted(demand.numbers - _SMALL) if not {n - 1, n, n + 1} & whole.numbers]
        unquoted = [quote for quote in sorted(demand.quotes) if not {*map(stem, quote.split())} <= whole.words]
        if lost:
            yield Fault("missing", f"no item contains the number {lost[0]:g} of {sentence[:80]!r}")
        elif unquoted:
            yield Fault("missing", f"no item contains the words {unquoted[0]!r}")
        elif demand.numbers or demand.quotes or not demand.stems:
            continue
        elif len(demand.stems & whole.stems) / len(demand.stems) < _COVERED and not near(sentence, _NEAR):
            yield Fault("missing", f"no item asks for {sentence[:80]!r}")
