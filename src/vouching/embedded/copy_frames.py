"""The layout around a near copy of a claim: who or what the line, the list or the table says it for.

A document speaks in its own voice in plain sentences, and under labels such as "Note:", "Results:" or "Article 5:". A
copy in a quotation, in a line of dialogue, under another label, among the answers to a question, in an attribute of
code or in a table whose head does not say what its cells are is text that somebody else may have said.
"""

from __future__ import annotations

import re

from vouching.embedded.attitudes import is_speech
from vouching.text.clauses import finite_verb

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_PLAIN_LABELS = frozenset(
    """a answer note notes notice warning caution danger important attention tip hint remark reminder update correction
    edit result results finding findings conclusion conclusions summary abstract overview background introduction
    method methods discussion description details detail definition explanation reason cause effect consequence history
    location address place date day time hours opening price prices fee fees cost costs tax policy rule rules article
    section clause paragraph chapter part item step stage phase point annex appendix schedule table figure number no
    version release fixed added changed removed deprecated security improved new feature features changes change fix
    terms conditions requirements requirement eligibility scope purpose limits limit exceptions exception exemption
    facts fact information info data status progress decision decided agreed resolved resolution action actions motion
    minutes agenda member members staff residents guests visitors passengers students parents drivers owners tenants
    employees customers patients pregnancy dosage dose storage use usage warnings interactions ingredients allergens
    delivery returns refunds payment payments cancellation cancellations booking bookings tickets admission access
    parking pets children safety maintenance cleaning warranty support contact licence license text content body
    message title heading subject namely general entry event task tasks milestone milestones timeline transport
    construction early later key point points photo picture caption lesson lessons short good bad news bottom line
    upshot weather sports breaking takeaway takeaways highlight highlights place name names owner what when where why
    who how it matters topic topics output function parameter parameters field fields default usage returns raises
    see also feat chore docs human agent customer client interviewer interviewee host guest speaker doctor patient
    teacher student caller operator moderator chair""".split()
)
"""Words of the labels under which a document, or somebody who speaks in it, says something."""
_SPEAKER_OR_LABEL = 4
"""Words of a label at most; more announce what follows, in a clause or with one of the plain labels."""
_LINE_LABEL = re.compile(r"[\s>*#-]*(?P<label>[^:.!?|\"“„«]{1,40}?)(?<!\d)(?::(?=\s|$)|：)\s*\S")
_NICK = re.compile(r"@?(?=\S*[a-z0-9_])[^\sA-Z]{2,30}")
"""The name of somebody who writes in a chat."""
_SENTENCE_END = re.compile(r"[.!?]\s")
_SUPPOSING = re.compile(r"\W*(?:if|unless|should|suppose|supposing|imagine|in case|whether)\b", re.IGNORECASE)
_TIMED = re.compile(r"\d\d:\d\d\S* --> ")
_ATTRIBUTE = re.compile(r"\w=[\"']$|[\"'»”」』)]\s*(?:→|=>|->)\s*[«\"'“„「『]?$")
_ELEMENT = re.compile(r"<(?P<name>[A-Za-z][\w:-]*)(?:\s[^<>]*)?>\s*$")
_PROSE_TAGS = frozenset(
    """a abbr address article aside b body br caption cite center code dd details div dl dt em figcaption font footer h1
    h2 h3 h4 h5 h6 header hr html i label li main mark nav ol p pre section small span strong sub summary sup table
    tbody td th thead time title tr tt u ul wbr""".split()
)
"""Elements of HTML in which a page says something itself."""
_BOX = re.compile(r"[▢□◻◽☐○◯⬜]\s*$")
_OPTION = re.compile(r"\s*(?:\(?[A-Ea-e1-6][).]|[▢□◻◽☐○◯⬜])\s+\S")
_DIALOGUE = re.compile(r"\s*[—–]\s*\S")
_QUOTES = {"«": "»", "„": "“”", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》"}
_VALUE = re.compile(r"[\w\"' -]{1,40}[:=,;|\t\[{(]\s*[\"']$|^\s*[\"']$")
_ENDS_VALUE = re.compile(r"[.!]?[\"']\s*(?:[,;|\t}\])]|$)")
_DELIMITER = re.compile(r"([|;\t])")


def is_plain_label(label: str) -> bool:
    """Whether a document says something itself under a label, or a speaker has the label as a name.

    >>> is_plain_label("Opening hours"), is_plain_label("Helene Brandt"), is_plain_label("Rumour mill")
    (True, True, False)
    """
    words = _WORD.findall(label)
    known = [word.lower() in _PLAIN_LABELS for word in words if len(word) > 1]
    if len(words) > _SPEAKER_OR_LABEL:
        return (any(known) or finite_verb(label)) and not (_SUPPOSING.match(label) or any(map(is_speech, words)))
    return (all(known) and label.isascii()) or (len(words) > 1 and all(word.istitle() for word in words))


def is_framed(text: str, start: int, end: int) -> bool:
    """Whether the layout around a copy shows that somebody else may say it.

    Args:
        text: the document.
        start: where the copy starts.
        end: where it ends.

    >>> is_framed("She wrote: «Oh no. It rained.»", 18, 28), is_framed("Oh no. It rained.", 7, 17)
    (True, False)
    """
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    before, after = text[line:start], text[end:stop]
    if _ATTRIBUTE.search(before) or _BOX.search(before) or _is_quoted(before, after):
        return True
    element = _ELEMENT.search(before)
    if element and element["name"].lower() not in _PROSE_TAGS and not is_plain_label(element["name"]):
        return True
    label = _LINE_LABEL.match(text, line, end)
    if label and label.end() <= start + 1 and not is_plain_label(label["label"]):
        nick = _NICK.fullmatch(label["label"].strip())
        if nick or not _SENTENCE_END.search(text, label.end(), start):
            return True
    above, below = text[:line].rstrip("\n").rsplit("\n", 1)[-1], text[stop:].lstrip("\n").split("\n", 1)[0]
    neighbours = (above, below)
    if _TIMED.search(above):
        return True
    if _DIALOGUE.match(text, line, start) and any(map(_DIALOGUE.match, neighbours)):
        return True
    if _OPTION.match(text, line, end) and any(map(_OPTION.match, neighbours)):
        return "?" in text[max(0, line - 200) : line].rsplit("\n\n", 1)[-1]
    return not _has_plain_head(text[:line], before, after)


def _is_quoted(before: str, after: str) -> bool:
    """Whether a quotation that opens before the copy in its line closes after it."""
    for opening, closing in _QUOTES.items():
        opened = before.rfind(opening)
        if opened >= 0 and not any(c in before[opened:] for c in closing) and any(c in after for c in closing):
            return True
    return before.count('"') % 2 == 1 and '"' in after and not is_value(before, after)


def is_value(before: str, after: str) -> bool:
    """Whether a copy is the whole value of a field in quotation marks.

    >>> is_value('{"history": "', '", "id": 3}'), is_value('Headline of today: "', '" and more')
    (True, False)
    """
    return _VALUE.search(before) is not None and _ENDS_VALUE.match(after) is not None


def _has_plain_head(above: str, before: str, after: str) -> bool:
    """Whether a copy is in no cell, or the column of its table has a head that names what a document says itself."""
    found = _DELIMITER.search(before) or _DELIMITER.search(after)
    if found is None:
        return True
    delimiter = found[1]
    rows = [row.strip().strip("|") for row in above.rstrip("\n").split("\n\n")[-1].splitlines() if delimiter in row]
    cells = rows[0].split(delimiter) if rows else []
    if delimiter == ";" and (not cells or any(_SENTENCE_END.search(f"{cell} ") for cell in cells[1:])):
        return True
    column = before.strip().removeprefix("|").count(delimiter)
    return not cells or (column < len(cells) and is_plain_label(cells[column].strip()))
