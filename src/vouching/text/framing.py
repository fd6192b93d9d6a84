"""What stands around a statement without being part of it: "Yes,", "According to the policy,", "In short:", "[1]".

An editor's addition in square brackets belongs to the statement: "It [the lease] ends in May" states that the lease
ends in May. Not supported: frames in other languages than English; a named authority ("According to Reuters, ...") is
no frame, since it can be wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from heapq import merge

from vouching.text.number_forms import WORKS

_DOCUMENT = r"""(?:polic(?:y|ies)|documents?|documentation|docs|contexts?|texts?|passages?|articles?|sources?|rules?|
    rulebook|lease|contract|agreement|(?:data\ ?)?sheet|leaflet|brochure|reports?|notes?|manual|handbook|
    guide(?:lines?)?|faqs?|readme|changelog|notice|minutes|menu|summary|synopsis|obituary|letter|(?:web\ ?)?pages?|
    websites?|
    tables?|records?|data|file|terms|regulations?|by-?laws|protocol|reference|specification|materials?|information|
    excerpts?|snippets?|paper|post(?:-?mortem)?|e-?mail|transcript|schedule|bulletin|overview|provisions?|results?|sections?|
    clauses?|paragraphs?|chapter|appendix|lists?|instructions?)"""
_PART = r"""(?:sections?|articles?|clauses?|paragraphs?|pages?|pp?\.|chapters?|appendix|tables?|figures?|charts?|
    documents?|sources?|passages?|contexts?|footnotes?|lines?|rows?|sentences?|steps?|points?|items?|
    bullets?(?:\s+points?)?|entry|§)"""
_NUMBER = r"\s?(?:\d+(?:\.\d+)*|(?-i:[A-Z])|[ivx]+)\b(?:\(\w{1,4}\))*"
_RANK = r"(?:\w{1,12}(?:st|nd|rd|th))"
DOCUMENT_NAMED = rf"""(?:(?:the|this|that|these|those|your|our|its)\s+(?:(?-i:[a-z]+|API|FAQ)\s+){{0,2}}?{_DOCUMENT}\b
    (?:{_NUMBER})?(?:\s+(?:provided|given|above|supplied|you\s+(?:provided|gave|shared|sent|uploaded)))?
    | (?:{_PART}{_NUMBER}|the\s+{_RANK}\s+{_PART}(?!\w))(?:\s+(?:above|below))?)"""
"""A text, or a place of one: "the lease", "section 3", "the second bullet point"."""
_PLACE_NAMED = rf"(?:{DOCUMENT_NAMED}(?:,?\s+(?:of|in|on|from)\s+{DOCUMENT_NAMED}){{0,2}})"
_REFERRING = r"""(?:according\s+to|based\s+on|as\s+per|per|going\s+by|judging\s+(?:by|from)|
    as\s+(?:stated|mentioned|described|noted|outlined|specified|explained|shown|set\s+out|said|written|given)\s+(?:in|by))"""
_TELLS = r"""(?:(?:also|clearly|explicitly)\s+)?
    (?:says?|states?|mentions?|notes?|indicates?|specif(?:y|ies)|explains?|confirms?|shows?|illustrates?)"""
_FRAME = re.compile(
    rf"""\s*(?:
      (?:yes|no|yeah|nope|correct|right|exactly|indeed|sure|certainly|of\s+course|absolutely|definitely|gladly)
        \s*(?:[,.:;!]|[–—-](?=\s))+(?=\s)
    | (?:in\s+(?:short|brief|summary|conclusion|a\s+nutshell|other\s+words|essence)|overall|briefly|simply\s+put|
        to\s+(?:sum\s+up|summari[sz]e|conclude|be\s+(?:clear|precise|exact)|clarify|answer\s+your\s+question)|
        put\s+(?:simply|differently)|long\s+story\s+short|basically|essentially|as\s+a\s+(?:reminder|summary)|
        (?:short\s+)?answer|as\s+(?:mentioned|noted|stated)(?:\s+(?:above|earlier|before))?|
        as\s+far\s+as\s+i\s+(?:can\s+(?:tell|see)|know)|to\s+my\s+knowledge)\s*[,:]
    | {_REFERRING}\s+{_PLACE_NAMED}\s*[,:]
    | as\s+{_PLACE_NAMED}\s+{_TELLS}\s*,
    | {_PLACE_NAMED}\s+{_TELLS}\s+(?:that\b|(?=(?:he|she|it|they|there)\s+\S*\w))
    | i(?:['’]d|\s+would)\s+(?:say|think|guess)(?:\s+that\b|(?=\s))\s*,?
    | i\s+(?:think|believe|can\s+confirm|can\s+tell\s+you|found)\s+that\b
    | (?:please\s+|also\s+)?(?:note|keep\s+in\s+mind)\s+(?:also\s+)?that\b
    | it(?:['’]s|\s+is)\s+(?:important|(?:also\s+)?worth)\s+(?:to\s+note|noting|mentioning)\s+that\b
    | it\s+should\s+be\s+noted\s+that\b
    )\s*(?=\S*\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_FRAME_AFTER = re.compile(
    rf"(?:(?:,|(?<!\s))\s+{_REFERRING}\s+{_PLACE_NAMED}|\s*\((?:see\s+|(?=[^()]*\d)){_PLACE_NAMED}\))(?=\W*$)",
    re.VERBOSE | re.IGNORECASE,
)
_MAX_FRAMES = 3
_MAX_ANAPHOR = 40
"""Characters of the longest words that an addition stands for."""

CITATION = re.compile(
    r"""\[\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\](?!\(|\w)
    | 【\s*\d{1,3}[^【】]{0,40}】
    | [(\[](?:(?:sources?|docs?|documents?|passages?|refs?|references?)\s*[:#]\s*|(?:source|doc|document|passage|ref)
        s?\s+(?=\d))[^()\[\]]{1,120}[)\]]
    | \(\[[^\[\]\n]{1,120}\]\(https?://[^\s()]{1,500}\)\)
    | \[[\w-]+(?:[./][\w-]+)*\.[a-z]{2,5}(?:\#[^\[\]\n]{1,60})?\](?!\()""",
    re.VERBOSE | re.IGNORECASE,
)
"""A reference to a source: "[1]", "[1, 3]", "【1】", "(source: policy.md)", "[policy.md]", "([a.org](https://a.org))"."""

AUTHOR_YEAR = re.compile(rf"\[{WORKS}\](?!\()|\({WORKS}\)")
"""A citation by author and year: "[Miller, 2019]", "(Miller et al., 2019; Chen 2020)"."""
_SEVERAL_AUTHORS = re.compile(r" et al| & |;")
_BEFORE_WORK = re.compile(r"(?:^|[^\w\s]|(?:^|\s)[a-z][\w'’-]*|\d)\s*$")
_AFTER_WORK = re.compile(r"\s*(?:[.,;:!?…)]|$|(?:and|but|or|while)\b)")

ADDED = re.compile(r"\[(?:[^\W\d_]|:|\d{4}\b)[^\[\]\n]*\](?!\()")
_STANDS_FOR = re.compile(
    r"\b(?:he|she|it|they|him|them|his|her|hers|its|theirs?|th(?:is|at|ese|ose)(?:\s+(?:same\s+)?year)?|there|"
    r"(?:the\s+)?same\s+year|the\s+(?:former|latter)(?:['’]s)?|both)\s+$",
    re.IGNORECASE,
)


_PLACE = re.compile(
    r"(?:\b(?:tables?|figures?|figs?\.?|(?:on|see) pages?|pp?\.|steps?|footnotes?|exhibits?|charts?|slides?|"
    r"equations?|eqs?\.)|(?:\b(?:see|cf\.|refer to)|\(|\b(?:described|shown|explained|listed|given|set out|stated|"
    r"noted|mentioned|discussed|detailed|defined|specified) (?:in|by))[ ]?(?:in )?"
    r"(?:sections?|secs?\.|chapters?|appendix|articles?|clauses?|paragraphs?|annex|§))[ \u00a0]?\Z",
    re.IGNORECASE,
)


def names_a_place(text: str, number: int) -> bool:
    """Whether the number at an offset names a place of a document: "as Table 2 shows", "(p. 12)", "see section 3".

    "Section 8 requires" states something about a section, whose number is part of it.

    >>> names_a_place("As Table 2 shows", 9), names_a_place("Section 8 requires a deposit", 8)
    (True, False)
    """
    return _PLACE.search(text, max(0, number - _MAX_ANAPHOR), number) is not None


_FIELD = re.compile(
    r"\s*\[(?P<heads>[^\[\]\n]+):\]\s*(?:(?P<key>[^\W\d_][^\[\]:|\n]{0,40}):\s+)?(?P<value>[^\[\]\n]*)\s*"
)
_CELL = re.compile(r"\|\s*\[(?P<key>[^\[\]\n]+):\]\s*(?P<value>[^|\n]*)")


def field_labels(text: str) -> list[tuple[int, int, str]]:
    """The labels of a field of a structured answer, each with its value: keys, heads of columns, and keys above them.

    A key above another has no value. What the field is about is no label: the first cell of a row, and the words above
    a key unless they are in lower case.

    >>> text = "[trains, Day train:] departure: 9:05"
    >>> [(text[start:end], value) for start, end, value in field_labels(text)]
    [('departure', '9:05'), ('trains', '')]
    >>> [value for _, _, value in field_labels("| Basic | [Price:] 12 euros |")]
    ['12 euros']
    """
    if "[" not in text or ":]" not in text:
        return []
    if text.lstrip().startswith("|"):
        return [(*cell.span("key"), cell["value"].strip()) for cell in _CELL.finditer(text)]
    field = _FIELD.fullmatch(text)
    if field is None:
        return []
    heads = [found.span() for found in re.finditer(r"[^,\s][^,]*", field["heads"])]
    at, value = field.start("heads"), field["value"].strip()
    if field["key"] is None:
        return [(at + heads[-1][0], at + heads[-1][1], value)] if len(heads) > 1 else []
    above = [(at + first, at + last, "") for first, last in heads if field["heads"][first:last].islower()]
    return [(*field.span("key"), value), *above]


def statement_of(text: str) -> str:
    """``text`` with everything that is no part of its statement replaced by blanks, so that offsets stay.

    >>> " ".join(statement_of("Yes, according to the policy, It [the fee] is due in May [2].").split())
    'the fee is due in May .'
    >>> statement_of("In short: it rained.").index("it rained")
    10
    """
    stated = list(text)
    for start, end in (*_frames(text), *_brackets(text)):
        stated[start:end] = (" " if not character.isspace() else character for character in text[start:end])
    return "".join(stated)


def citation_matches(text: str) -> Iterator[re.Match[str]]:
    """The citations of a text, except in code between backticks."""
    ticks = [found.start() for found in re.finditer("`", text)]
    works = (found for found in AUTHOR_YEAR.finditer(text) if _cites(text, found))
    found_in_order = merge(CITATION.finditer(text), works, key=re.Match[str].start)
    return (found for found in found_in_order if bisect_left(ticks, found.start()) % 2 == 0)


def without_citations(text: str) -> str:
    """``text`` without its citations.

    >>> without_citations("It rose [1] (Miller et al., 2019).")
    'It rose  .'
    """
    for found in reversed(list(citation_matches(text))):
        text = text[: found.start()] + text[found.end() :]
    return text


def _cites(text: str, found: re.Match[str]) -> bool:
    """Whether brackets with a name and a year are a citation, not a fact: "the Games (Tokyo 2020) were" is none.

    A single name in round brackets is one only behind an ordinary word, at the end of a clause.
    """
    if text[found.start()] == "[":
        return not _STANDS_FOR.search(text, max(0, found.start() - _MAX_ANAPHOR), found.start())
    if _SEVERAL_AUTHORS.search(found.group()):
        return True
    before = text[max(0, found.start() - _MAX_ANAPHOR) : found.start()]
    return bool(_BEFORE_WORK.search(before) and _AFTER_WORK.match(text, found.end()))


def without_additions(text: str, written: str) -> str:
    """``text`` without the words in square brackets that ``written`` does not have.

    >>> without_additions("[Ann Lee had] four [sons].", "Four.")
    'four.'
    >>> without_additions("It [the fee] rose [2].", "It rose [2].")
    'It rose [2].'
    """
    for added in reversed(list(ADDED.finditer(text))):
        if added.group() not in written:
            start, end = added.span()
            text = text[:start].rstrip(" ") + text[end:] if start else text[end:].lstrip(" ")
    return text


def _frames(text: str) -> Iterator[tuple[int, int]]:
    """The frames before and after the statement."""
    at = 0
    for _ in range(_MAX_FRAMES):
        frame = _FRAME.match(text, at)
        if frame is None:
            break
        yield frame.span()
        at = frame.end()
    after = _FRAME_AFTER.search(text, at)
    if after and after.start() > at:
        yield after.span()


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Citations, and the brackets of additions with the pronouns that these stand for."""
    if "[" not in text and "【" not in text and "(" not in text:
        return
    cited = [citation.span() for citation in citation_matches(text)]
    yield from cited
    ticks = [found.start() for found in re.finditer("`", text)]
    for added in ADDED.finditer(text):
        if added.span() in cited or bisect_left(ticks, added.start()) % 2:
            continue
        is_whole = added.group().startswith("[:")  # "Yes, it is [: the pass is valid]": the addition says it all
        yield 0 if is_whole else added.start(), added.start() + 1 + is_whole
        yield added.end() - 1, added.end()
        replaced = _STANDS_FOR.search(text, max(0, added.start() - _MAX_ANAPHOR), added.start())
        if replaced:
            yield replaced.span()
