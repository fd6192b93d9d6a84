"""What a prompt holds besides what it asks for: a context, or instructions alone.

Not supported: instructions in other languages than English, and contexts without a label, a tag or quotes around them;
the one counts as more than instructions, the other is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vouching.text.sentences import sentence_spans

_NAMES = (
    r"(?:(?:retrieved|relevant|given|provided|following|source|reference|search|knowledge|supporting)[ _-]?)?"
    r"(?:contexts?|documents?|docs?|sources?|passages?|articles?|excerpts?|background|references?|results?|texts?|"
    r"evidence|information|knowledge|chunks?|snippets?)"
)
_ASKS = r"(?:(?:user(?:'s)?[ _-])?(?:question|query|request|prompt|input)|task|instructions?|answer|claim|q|a)"
_MARK = r"^[ \t]*(?:#+[ \t]*|\*\*|\[)?"
_AFTER = r"(?:[ \t]+\d+)?[\])]?(?:\*\*)?[ \t]*(?::(?:\*\*)?[ \t]*|(?<=\S)[ \t]*\n)"
_TAG = re.compile(rf"<(?P<close>/?)(?P<name>{_NAMES})\b[^<>]*>", re.IGNORECASE)
_BLOCK = re.compile(
    r"(?P<fence>\"{3}|'{3})(?P<quoted>.*?)(?P=fence)"
    rf"|{_MARK}{_NAMES}{_AFTER}(?P<labelled>.*?)(?={_MARK}{_ASKS}{_AFTER}|\Z)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_QUESTION = re.compile(rf"{_MARK}{_ASKS}{_AFTER}", re.IGNORECASE | re.MULTILINE)
_FEWEST_WORDS = 3

_VERBS = (
    r"(?:act|add|adopt|answer|ask|assist|avoid|base|be|cite|decline|do|don't|end|ensure|explain|extract|follow|format|"
    r"give|help|ignore|include|keep|limit|list|make|mention|output|prefer|provide|quote|refer|refuse|rely|remain|"
    r"remember|reply|respond|return|say|show|speak|start|state|stay|stick|summari[sz]e|take care|tell|think|translate|"
    r"treat|use|write)"
)
_INSTRUCTION = re.compile(
    r"(?:[-*•]|\d+[.)])?\s*(?:(?:if|when|where|unless|for)\b[^,]*,\s*)?(?:please,?\s+|then\s+|also\s+)?(?:"
    rf"(?:always\s+|never\s+|only\s+|just\s+|do not\s+|don't\s+|must\s+)*{_VERBS}\b"
    rf"|you\s+(?:(?:must|should|will|can|may|need to|have to|only|always|never|not|cannot|can't)\s+)+{_VERBS}\b"
    r"|(?:you are|you're|act as)\b"
    r"|your\s+(?:task|role|job|goal|aim|name|tone|style|answers?|responses?|repl(?:y|ies)|output)\b"
    r"|(?:the |all |each )?(?:answers?|responses?|repl(?:y|ies)|output)\s+(?:must|should|has to|have to|will)\b)",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"(?<!\d)\d{1,5}(?: ?(?:-|–|to|or|and) ?\d{1,5})? (?:short )?"
    r"(?:word|sentence|line|paragraph|bullet|character|token|point)"
)
_STATED = re.compile(r"\d|:\s{0,9}\S{1,60}\s{1,9}\S{1,60}\s{1,9}\S|\b(?:which|who|whose|because|since)\b")


def given_context(prompt: str) -> tuple[str, str]:
    r"""The context that a prompt holds in tags, after a label or in triple quotes, and the rest: what it asks.

    Blocks of several are joined by an empty line. Without one, the context is "".

    >>> given_context("Context:\nThe bridge opened in 1973.\n\nQuestion: When did it open?")
    ('The bridge opened in 1973.', 'When did it open?')
    >>> given_context("What is the context of this poem?")
    ('', 'What is the context of this poem?')
    """
    held = list[str]()
    rest = _cut(prompt, _tagged(prompt), held)
    blocks = [(*one.span(), one["quoted"] or one["labelled"] or "") for one in _BLOCK.finditer(rest)]
    rest = _cut(rest, blocks, held)
    if not held:
        return "", prompt
    return "\n\n".join(held), re.sub(r"\n\s*\n", "\n", _QUESTION.sub("", rest)).strip()


def _tagged(prompt: str) -> Iterator[tuple[int, int, str]]:
    """Where the outermost tags of a context are, and what is between them."""
    first: re.Match[str] | None = None
    for tag in _TAG.finditer(prompt):
        if not tag["close"]:
            first = first or tag
        elif first and first["name"].lower() == tag["name"].lower():
            yield first.start(), tag.end(), _TAG.sub("", prompt[first.end() : tag.start()])
            first = None


def _cut(prompt: str, blocks: Iterable[tuple[int, int, str]], held: list[str]) -> str:
    """The prompt without its blocks; their texts are added to ``held``."""
    rest, done = list[str](), 0
    for start, end, text in blocks:
        if len(text.split()) >= _FEWEST_WORDS:
            held.append(text.strip())
            rest += [prompt[done:start], "\n"]
            done = end
    return "".join([*rest, prompt[done:]])


def only_instructs(prompt: str) -> bool:
    """Whether each sentence of a prompt tells the model what to do, so that none could support an answer.

    In doubt, a sentence is more than an instruction.

    >>> only_instructs("You are a helpful assistant. Answer in at most 100 words.")
    True
    >>> only_instructs("You are the bot of a shop. Parcels arrive within 3 days.")
    False
    """
    return all(_instructs(prompt[start:end].strip(" *\t\n")) for start, end in sentence_spans(prompt))


def _instructs(sentence: str) -> bool:
    if (sentence.startswith("#") or sentence.endswith(":")) and len(sentence.split()) <= _FEWEST_WORDS:
        return True
    return bool(_INSTRUCTION.match(sentence)) and not _STATED.search(_LENGTH.sub("", sentence))
