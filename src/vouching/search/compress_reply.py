"""Reading a compression that a language model wrote: facts, reasoning, and the verdict that must not stay with them.

Models bend the form: marks around the headings, another order, a verdict in the middle of the reasoning, lists instead
of semicolons. What is read is what can be told apart; a verdict is taken out wherever it is announced or stands alone.
Left out: JSON, and judgements in the words of the reasoning ("so this answer is wrong"), which the paper keeps as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vouching.text.sentences import sentence_spans
from vouching.text.thoughts import spoken

Verdict: TypeAlias = Literal["Correct", "Incorrect", "Intermediate"]

_MARKS = r"[\s#>*_`~\"'\[\]()•\-–—.\d]*"
_ENDS = r"[*_`\"'\s]*(?:[:：=]|[-–—](?=\s)|$)[*_`]*"
_HEADING = re.compile(
    rf"^{_MARKS}(?:(?P<facts>(?i:(?:(?:useful|key|relevant)\s+)?facts?))|(?P<reasoning>(?i:reasoning|explanation|analysis))"
    rf"|(?P<verdict>(?i:(?:(?:final|my|overall)[\s_-]+)?(?:verdict|conclusion|judge?ment|assessment)))){_ENDS}"
    # In the middle of a line only as the prompt has them.
    r"|(?<=[\s.;])[*_`]*(?:(?P<facts_>Useful Facts)|(?P<reasoning_>Reasoning)|(?P<verdict_>Final Verdict))"
    r"[*_`]*:[*_`]*",
    re.MULTILINE,
)
_ANNOUNCED = re.compile(
    r"(?<![^\W_])verdict\b[*_`\"'\s]*(?:[:：=]|[-–—]\s|(?:is|remains|would\s+be|should\s+be)\b)", re.IGNORECASE
)
_SPOKEN_OF = re.compile(r"(?<![^\W_])verdict\b", re.IGNORECASE)
_ALONE = re.compile(
    r"(?:[^:：=→,{]{0,60}[:：=→,{])?[\W_]*"
    r"(?:(?:not|part(?:ial)?ly|mostly|(?:not\s+)?(?:entirely|fully|completely))\s+)?(?:(?:in)?correct|intermediate)[\W_]*",
    re.IGNORECASE,
)
"""Nothing but a word of the verdict, perhaps after a heading: "Correct.", "Overall: Incorrect"."""
_PARTLY = re.compile(
    r"\b(?:intermediate|part(?:ial)?ly|mixed|not\s+(?:entirely|fully|completely|quite|wholly))\b", re.IGNORECASE
)
_WRONG = re.compile(r"\b(?:incorrect|wrong|false|not\s+correct)\b", re.IGNORECASE)
_RIGHT = re.compile(r"\bcorrect\b", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*•–—>\s]|\(?\d{1,2}[.)](?=\s))+")
_NOTHING = re.compile(r"(?:none|n/?a|nothing|no(?: useful| relevant)? facts?)(?: found| were found)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model made of a trajectory."""

    facts: tuple[str, ...]
    """Its facts."""
    reasoning: str
    """Its reasoning, in one line, without a verdict."""
    verdict: Verdict | None
    """Its verdict; None if it gives none, or more than one."""


def read_reply(text: str) -> Reply | None:
    r"""The parts of a reply; None if it has neither facts nor reasoning.

    >>> read_reply("**Final Verdict:** Incorrect\n**Useful Facts:** [It opened in 1937]\n**Reasoning:** Another year.")
    Reply(facts=('It opened in 1937',), reasoning='Another year.', verdict='Incorrect')
    >>> read_reply("It is correct.") is None
    True
    """
    text = spoken(text)
    headings = [*_HEADING.finditer(text)]
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    parts: dict[str, list[str]] = {"facts": [], "reasoning": [], "verdict": []}
    for heading, end in zip(headings, ends, strict=bool(headings)):
        parts[(heading.lastgroup or "").rstrip("_")].append(text[heading.end() : end])
    if not parts["facts"] and not parts["reasoning"]:
        return None
    facts, said = _without_verdict(parts["facts"])
    reasoning, more = _without_verdict(parts["reasoning"])
    return Reply(
        facts=tuple(fact for line in facts for fact in _facts(line)),
        reasoning=" ".join(" ".join(reasoning).split()).strip("*_` "),
        verdict=_verdict([*parts["verdict"], *said, *more]),
    )


def _without_verdict(parts: list[str]) -> tuple[list[str], list[str]]:
    """Lines without the sentences that give a verdict, and these sentences."""
    lines: list[str] = []
    said: list[str] = []
    awaited = False
    for line in "\n".join(parts).splitlines():
        kept: list[str] = []
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            names = any(pattern.search(sentence) for pattern in (_PARTLY, _WRONG, _RIGHT))
            announced = _ANNOUNCED.search(sentence) is not None
            alone = _ALONE.fullmatch(sentence) is not None
            if awaited or announced or alone or (names and _SPOKEN_OF.search(sentence)):
                said.append(sentence)
                awaited = announced and not names  # "My verdict is:", and the word comes next.
            else:
                kept.append(sentence)
        lines.append(" ".join(kept))
    return lines, said


def _facts(line: str) -> list[str]:
    pieces = (_BULLET.sub("", piece.strip()).strip(" \t\"'`*_,[]") for piece in re.split("[;；]", line))
    return [
        piece
        for piece in pieces
        if re.search(r"\w", piece) and not _NOTHING.fullmatch(piece.rstrip(".")) and not _ALONE.fullmatch(piece)
    ]


def _verdict(texts: list[str]) -> Verdict | None:
    """What the texts agree on."""
    found: set[Verdict] = set()
    for text in texts:
        wrong = _WRONG.search(text) is not None
        if _PARTLY.search(text):
            found.add("Intermediate")
        elif _RIGHT.search(_WRONG.sub("", text)):
            found.add("Correct")
        if wrong:
            found.add("Incorrect")
    return found.pop() if len(found) == 1 else None
