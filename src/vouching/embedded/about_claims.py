"""Whether a near copy of a claim is text about the claim rather than a statement about the world.

What makes the difference stands around the copy: quotation marks or a field, and a word of judgment ("the statement
'...' is accurate"); a record, a list or code that has it as a value; a tag or comment that hides it; words of another
language; disguised letters; or a clause that the author does not commit to. Not supported: a copy that stands alone as
a plain sentence, which is what the source says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from vouching.embedded.attitudes import commits_to, is_speech
from vouching.embedded.commitment import asserts
from vouching.embedded.copy_frames import is_framed, is_plain_label, is_value
from vouching.text.clauses import finite_verb

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_JUDGMENT = frozenset(
    """true false correct incorrect accurate inaccurate wrong verified unverified supported unsupported attributable
    attribution valid invalid proven disproven disproved validated authenticated substantiated corroborated undisputed
    factual truth falsehood entailed entailment entails grounded faithful trustworthy reliable credible refuted
    debunked myth judged judgment judgement verdict verdicts label labels score scores rated rating retracted misleading
    bogus hoax rumour rumor confidence probability approved rejected accepted validation factcheck""".split()
)
"""Words of judgment, anywhere near a copy."""
_MARKS = _JUDGMENT | frozenset(
    """confirmed certified established right checked pass passed passes fail failed ok okay yes no agreed endorsed
    upheld green red done valid sure certain""".split()
)
"""Words of judgment where they make a field of their own."""
_CLAIM = frozenset(
    """claim claims claimed statement statements assertion assertions hypothesis hypotheses proposition propositions
    sentence sentences allegation allegations premise quote quotes quotation headline alt keywords keyword tag tags
    placeholder prompt instruction instructions query question quiz poll survey rumours gossip misconception legend
    example exercise scenario fiction dream plot prediction forecast joke satire parody riddle input expected actual
    target search searches q bookmark bookmarks filename hashtag slug comment annotation""".split()
)
"""Words for claims, for what is no statement, and for data about pages."""
_STEMS = ("claim", "statement", "assert", "hypothes", "verdict", "verif", "attribut", "factcheck")
"""Beginnings of the names of fields such as "claimText"."""
_ADDRESS = frozenset(
    """reader readers reviewer reviewers model models assistant ai llm checker checkers verifier verifiers evaluator
    evaluators grader graders judge judges annotator annotators bot bots crawler crawlers system user users editor
    editors moderator moderators you your please ignore disregard pretend assume treat mark accept rate respond reply
    output print return conclude consider imagine suppose remember""".split()
)
_BOUNDARY = re.compile(
    r"[,;:.!?()—–\"]|\b(?:and|but|or|so|because|since|as|while|when|whenever|where|wherever|after|before|until|although"
    r"|though|whereas|which|who|that|than|if|unless|for|by|in|on|at|with|to|of|from)\b",
    re.IGNORECASE,
)
"""Separates a clause from the words before it."""
_SUBORDINATE = frozenset(
    "because since as while when whenever where wherever after before until although though".split()
)
"""Open a clause of their own, which no other clause depends on."""
_CODE = re.compile(
    r"^\s*(?://|#|/\*|--\s|%|\$ )|\b(?:assert|return|def|const|let|var|print|raise|echo|grep|SELECT|INSERT|VALUES)\b"
    r"|\w\(\s*[\"']?$|==|:=|=>|\[[xX✓✔ ]\]|[✓✔✅☑]"
)
_FIELD = re.compile(r"(?:[:：=|>→•]|——|-[->])\s*[\"'`*_(\[]*\s*$")
_OPENING = re.compile(r"[\"'`«„“‘『「\[{<|]\s*$")
_CLOSING = re.compile(r"^[^\n\"]{0,16}?[\"'`»”“’』」\]}<>|]")
_KEY = re.compile(r"[\w\"' -]{1,40}\s*[:=]\s*[\"'\[{]+\s*$|[|,;\t]\s*[\"']?$")
"""The key of a record, or the delimiter of a cell, before a value."""
_CELL = re.compile(r"[\"'.]*\s*[|;\t]|[\"']\s*[,}]|,(?=[^\s,]+$)")
_SCORED = re.compile(
    r"[\"'.]*\s*[|,;:\t(]\s*(?:0?\.\d+|1\.0+|\d{1,3} ?%)\s*[\"')]?\s*(?:$|[|,;\n])|[^\n]{0,12}[✓✔✅☑👍💯★⭐]"
)
"""A probability or a mark after a copy."""
_LEFT_OPEN = re.compile(
    r"[^.!\n]{0,60}\?|\s*[\[(](?:disputed|citation needed|unverified|unconfirmed|dubious|alleged|rumou?r)"
    r"[^)\]]{0,30}[\])]|[\"',;\s—–-]*(?:or so\b|so (?:goes|says|claims|runs|the (?:story|legend|rumou?r|myth))\b"
    r"|as (?:the )?(?:legend|myth|rumou?r|story|theory)\b|if\b|unless\b|in (?:the|this|that|a) (?:\w+ )?(?:novel|film"
    r"|movie|story|play|game|simulation|scenario|timeline|universe|dream)\b)",
    re.IGNORECASE,
)
"""Words after a copy that leave it open."""
_POINTING = re.compile(
    r"\b(?:following|above|below|(?:this|the) (?:page|document|text|passage|article|source))\b[^.:]{0,80}:\s*[\"'*]*$"
    r"|(?:^|[.!?]\s+)(?:let's |let us )?(?:suppose|imagine|assume|pretend|picture|consider)\b[^.!?]{0,80}[.!?:]"
    r"\s*[\"'*]*$"
    r"|[.!?]\s+(?:not true|false|untrue|wrong|myth|fiction)\s*[:.!]\s*[\"'*]*$"
    r"|\b(?:true or false|fact or fiction)\b[^.!]{0,10}[?:.]?\s*$"
    r"|\b(?:following|next) (?:statement|claim|sentence|paragraph)s?\b[^.]{0,40}\b(?:false|untrue|wrong|true|correct"
    r"|invented)\b[^.]{0,20}\.\s*$",
    re.IGNORECASE,
)
"""Announces a copy by speaking about the text it is in, or sets the scene for it."""
_TAKEN_BACK = re.compile(
    r"(?:th(?:is|at|ese)|it|neither|nothing of the (?:sort|kind)|all of (?:this|it|that)|the (?:claim|story|report"
    r"|statement|rumou?r|headline|assertion|sentence|idea|belief|notion)s?)(?: \w+ly| later| since| simply| now| soon"
    r"| also)? (?:is|was|are|were|isn't|wasn't|ha(?:s|ve|d) been|turned out(?: to be)?|proved(?: to be)?|never)"
    r"(?: (?:\w+ly|all|just|quite|since|later|been|of course|an?|the|pure|plain|common|popular|not))*"
    r" (?:(?<!not )(?:false|untrue|wrong|incorrect|mistaken|nonsense|myth|hoax|lie|error|mistake|debunked|retracted"
    r"|withdrawn|unfounded|baseless|made up|invented|fiction|joke|satire|fabricated|refuted|denied|happened)"
    r"|(?<=not )(?:so\b(?= ?[.,;!])|true|correct|the case)|(?<=isn't )(?:true|so\b(?= ?[.,;!]))"
    r"|(?<=wasn't )(?:true|so\b(?= ?[.,;!])))\b"
    r"|(?:there (?:is|was) )?(?:no (?:truth|basis)\b|none of (?:this|it|that|these)\b[^.!?]{0,40}\b(?:true|so|correct"
    r"|right|happened)\b)|(?:wrong|false|nonsense|not so|not true|untrue|no|rubbish|hardly|far from it)\s*[.!]"
    r"|(?:i|we) (?:was|were|am|are) (?:mistaken|wrong)\b|(?:we|i) (?:now )?(?:retract|withdraw|take) (?:this|that|it)\b"
    r"|just kidding\b|or so (?:i|we|they) (?:thought|said|believed)\b|at least that is what\b",
    re.IGNORECASE,
)
"""A sentence that takes back the one before."""
_CORRECTING = re.compile(
    r"\b(?:that|this|it|which) (?:is|was) (?:\w+ )?(?:wrong|false|incorrect|untrue|not (?:true|so)|a myth)\s*:\s*$",
    re.I,
)
"""Announces the truth by denying what stands before."""
_GAP = re.compile(r"[\"'”’»)]*\s+")
_NEXT_SENTENCE = re.compile(r"[^\n]{0,40}?[.!?][\"'”’»]?\s+|\s*[—–-]\s*")
_CONDITION = re.compile(
    r"\b(?:if|if only|unless|whether|assuming|suppose|supposing|imagine|pretend)(?: that)?\s*$", re.IGNORECASE
)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|been|being|has|have|had)(?:\s+(?:been|being|\w+ly|now|later|first|also))*\s*$", re.IGNORECASE
)
"""What a participle continues: "The firm was [founded by Ann Lee]"."""
_BEFORE_NAME = re.compile(r"[;{|]|,(?= ?[\"'])")
"""Ends what stands before the name of a field."""
_ITEM = re.compile(
    r"(?:^|\s)(?:\(\s?[xX]?\s?\)|\[[ xX✓✔]\]|[☐☑✓✔✅])\s*$|\.{4,}\s*$|@\w+:\s*$"
    r"|\b(?:to|of|as|for|with|not \w+|following)\s*:\s*$"
)
"""Opens an item of a list of claims, or announces one."""
_LEADER = re.compile(r"[\"'”’»]?\s*[.\u2026]{4,}")
_LINK = re.compile(r"(?:https?://|www\.)\S*$")
_LABEL = 4
"""Words before a colon or a bar that name a field."""
_RECORD_LINE = re.compile(
    r"\s*(?:[-*+|#>{}\[(@$\"]|//|\d+[.)\s]|[\w .-]{1,30}[:=](?:\s|$)|.{0,60}(?:\.{4,}|\s->\s|→)"
    r"|raise |return |assert |def |class )"
)
_CODE_LINE = re.compile(
    r"\braise \w|\breturn\b|\bassert\b|\bdef \w+\(|#\s*(?:TODO|NOTE|FIXME)|\.{4,}|\[[ xX]\]|\(\s?\)"
)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_ESCAPED = re.compile(
    r"(?:(?:&#x?[0-9a-f]{2,5};|\\u00[2-7][0-9a-f]|%[2-7][0-9a-f]){3}|[\uff21-\uff5a]{3})", re.IGNORECASE
)
_MIXED = re.compile(r"[A-Za-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][A-Za-z]")
_AROUND = 300
"""Characters around a copy that are read."""
_BEFORE = 120
"""Characters of the sentence before."""
_LINES = 5
"""Lines of a record on each side of a copy."""
_NEAR = 8
"""Words on each side of a copy whose language counts."""
_SHORT = re.compile(r"[^.!?\n]{0,40}[.!?]")
_MARKUP = " \t-*>|\"'`(){}[]#/.,!"


def speaks_about(text: str, start: int, end: int, first: int, is_english: Callable[[str], bool]) -> bool:
    """Whether a document speaks about the near copy of a claim that it holds.

    Args:
        text: the document as written.
        start: offset of the copy.
        end: where it ends.
        first: where its sentence starts.
        is_english: tells whether a few words look English.

    >>> text = "The ferry runs. The statement 'It rained' is accurate."
    >>> speaks_about(text, 31, 40, 16, lambda words: True)
    True
    >>> speaks_about("In May it rained.", 7, 16, 0, lambda words: True)
    False
    """
    line = max(text.rfind("\n", 0, start) + 1, start - _AROUND)
    stop = text.find("\n", end)
    stop = min(len(text) if stop < 0 else stop, end + _AROUND)
    before, after = text[max(line, min(first, start)) : start], _rest(text[end:stop])
    if not (before + after).strip(_MARKUP) or _KEY.search(before):
        lines_before = text[max(0, line - _AROUND) : line].split("\n\n")[-1].splitlines()
        lines_after = text[stop : stop + _AROUND].lstrip("\n").split("\n\n")[0].splitlines()
        if _is_record([*lines_before[-_LINES:], *lines_after[:_LINES]]):
            return True
    if (
        is_framed(text, start, end)
        or _is_hidden(text, start)
        or any(map(_is_disguised, (before, text[start:end], after)))
    ):
        return True
    following = _NEXT_SENTENCE.match(text, end)
    if _POINTING.search(text[max(line, first - _BEFORE) : start]) or (
        following and _TAKEN_BACK.match(text, following.end())
    ):
        return True
    near = (" ".join(before.split()[-_NEAR:]), " ".join(after.split()[:_NEAR]))
    sides = (*near, " ".join(near))
    is_foreign = not all(_may_be_english(words, is_english) for words in sides)
    if _is_about(before, after) or (is_foreign and _may_be_english(text[start:end], is_english)):
        return True
    copy = text[start:end]
    auxiliary = _AUXILIARY.search(before) if finite_verb(copy) and finite_verb(copy.split()[0]) else None
    return finite_verb(copy) and _is_governed(before[: auxiliary.start()] if auxiliary else before)


def is_taken_back(text: str, end: int) -> bool:
    """Whether the sentence after the one that ends at ``end`` says that it is false.

    >>> text = "Some say that it rained. That is wrong. It snowed."
    >>> is_taken_back(text, 24), is_taken_back(text, 39)
    (True, False)
    """
    following = _GAP.match(text, end)
    return following is not None and _TAKEN_BACK.match(text, following.end()) is not None


def _rest(text: str) -> str:
    """What follows to the end of the sentence, and the next sentence if it is a short one."""
    end = re.search(r"[.!?][\"']?\s+", text)
    following = _SHORT.match(text, end.end()) if end else None
    return text[: following.end() if following else end.end()] if end else text


def _may_be_english(words: str, is_english: Callable[[str], bool]) -> bool:
    small = sum(word[:1].islower() for word in words.split())
    return is_english(words) if small > 1 or not words.isascii() else True


def _is_about(before: str, after: str) -> bool:
    """Whether the words on both sides of a copy, in one line, speak about it."""
    before, after = unicodedata.normalize("NFKC", before), unicodedata.normalize("NFKC", after)
    if _CONDITION.search(before) or _ITEM.search(before) or _LINK.search(before) or _LEADER.match(after):
        return True
    if is_speech(before) or (before.lower().rstrip().endswith(" that") and not (commits_to(before) or asserts(before))):
        return True
    ours, theirs = ([word.lower() for word in _WORD.findall(side)] for side in (before, after))
    start, words = set(ours), {*ours, *theirs}
    if _CODE.search(before) or _SCORED.match(after) or _LEFT_OPEN.match(after):
        return True
    if _OPENING.search(before) and _CLOSING.search(after) and not is_value(before, after):
        return bool(re.search(r"\w", before + after))
    if _CORRECTING.search(before):
        return False
    if _FIELD.search(before) or _CELL.match(after):
        ends = bool(theirs) and len(theirs) <= _LABEL and _MARKS.issuperset(theirs)
        label = (*ours[-_LABEL:], *theirs)
        if ends or any(word in _JUDGMENT or word in _CLAIM or word.startswith(_STEMS) for word in label):
            return True
        return _FIELD.search(before) is not None and not is_plain_label(_BEFORE_NAME.split(before.rstrip())[-1])
    if before.rstrip().endswith(",") and after.lstrip().startswith(",") and words & _CLAIM:
        return True
    return bool(start & _CLAIM and words & _JUDGMENT) or bool(start & _ADDRESS and start & _JUDGMENT)


def _is_governed(before: str) -> bool:
    """Whether a clause depends on a verb right before it ("rumour has it the bridge is closed")."""
    last = next(reversed([*_BOUNDARY.finditer(before)]), None)
    if last and last[0].lower() in _SUBORDINATE:
        return False
    return finite_verb(before[last.start() if last else 0 :]) and not commits_to(f"{before.rstrip()} that")


def _is_record(lines: list[str]) -> bool:
    """Whether the lines around a copy that stands on a line of its own make a record with a judgment, or code."""
    fields = [line for line in lines if _RECORD_LINE.match(line)]
    words = {word.lower() for line in fields for word in _WORD.findall(line)}
    values = [{word.lower() for word in _WORD.findall(re.split(r"[:=|,]", line.rstrip(" |,"))[-1])} for line in fields]
    judged = bool(words & _JUDGMENT) or any(value and value <= _MARKS for value in values)
    return judged or any(_CODE_LINE.search(line) for line in fields)


def _is_hidden(text: str, start: int) -> bool:
    """Whether a place of a document is inside a comment or a tag of HTML."""
    opened = text.rfind("<", max(0, start - 2_000), start)
    if opened < 0:
        return False
    if text.startswith("<!--", opened):
        return "-->" not in text[opened:start]
    return bool(re.match(r"</?[a-zA-Z]", text[opened : opened + 3])) and ">" not in text[opened:start]


def _is_disguised(text: str) -> bool:
    """Whether words have invisible characters or letters of other alphabets inside."""
    return bool(_ESCAPED.search(text)) or (not text.isascii() and bool(_INVISIBLE.search(text) or _MIXED.search(text)))
