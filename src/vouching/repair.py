"""Repair a response: apply the verified fixes, check the result again, and mark, remove or keep the rest.

Only fixes that passed a re-check are applied; for a blinded audit, the fix is the single value in the documents, and
the result is audited again. Not supported: rewriting with a language model.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from vouching.errors import InputError
from vouching.judging.values import find_values
from vouching.text.framing import without_additions
from vouching.text.sentences import LABEL, LIST_MARKER, sentence_spans
from vouching.types import Claim, Finding, PairResult, Report, Span
from vouching.types.visible import shown_json

Rest: TypeAlias = Literal["mark", "remove", "keep"]
"""What to do with claims that cannot be repaired."""
Replacement: TypeAlias = tuple[int, int, str]
"""Start, end and new text of a stretch of the response."""

MARK = " [not supported by the sources]"
"""What "mark" appends to an unsupported claim."""
UNVERIFIED_MARKS = {"undecided": " [undecided]"}
"""What "mark" and "remove" append to a claim without a verdict, by the reason; " [not verified]" for other reasons."""
_JOINT = re.compile(r"\s*(?:[,;]\s*)?(?:(?:and|but|while|whereas|although|(?:even\s+)?though)\s+)?", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_CLOSING = re.compile(r"[.!?…。]*[\"'”’»)\]]*$")


def check_rest(repair_rest: object) -> None:
    """Raise InputError unless this is None or a ``Rest``."""
    if repair_rest not in (None, *get_args(Rest)):
        raise InputError(
            f"repair_rest must be None or one of {', '.join(get_args(Rest))}, got {shown_json(repair_rest)}"
        )


async def repair(report: Report, check_again: Callable[[str], Awaitable[Report]], rest: Rest = "mark") -> Report:
    """Apply the verified fixes of ``report``, check the result again, and treat the remaining claims as ``rest`` says.

    Args:
        report: the findings on the original response.
        check_again: checks a response against the same sources.
        rest: "mark" appends a note to each claim that is still Not Attributable, "remove" removes it, "keep" keeps it.
            A claim that could not be verified, or is undecided, gets a note by both "mark" and "remove".

    Returns:
        ``report`` with ``revised_response``, without thoughts, and ``unrepaired`` filled in. The spans of
        ``unrepaired`` refer to the response with its fixes applied, before anything was marked or removed.
    """
    thoughts = [(one.span.start, one.span.end, "") for one in report.non_claims if one.reason == "thought"]
    fixed = _replace_spans(report.response, [*_fixes(report.findings), *thoughts])
    again = await check_again(fixed)
    unrepaired = tuple(f for f in again.findings if f.passed is False or f.kind == "unverified")
    revised = _replace_spans(fixed, _treat(fixed, again.findings, unrepaired, rest))
    return replace(report, revised_response=revised, unrepaired=unrepaired)


def _fixes(findings: Sequence[Finding]) -> list[Replacement]:
    fixes: list[Replacement] = []
    for finding in findings:
        if finding.kind == "pair":
            fixes += _blind_fixes(finding)
        elif finding.kind == "verdict" and finding.revised_claim is not None and finding.span is not None:
            span, lead = finding.span, _lead(finding.claim)
            if not _is_stated(finding.claim):
                fixes += _edit_in_place(finding.claim, span, finding.revised_claim)
                continue
            revised = _without_additions(finding.claim, span, finding.revised_claim)
            if revised is not None and revised.startswith(lead):
                fixes.append((span.start, span.end, _as_in(span, revised[len(lead) :])))
    return fixes


def _is_stated(claim: Claim) -> bool:
    """Whether the response has the words of a claim as they are: without tags, and not shared by "respectively"."""
    span = claim.span
    return span is None or without_additions(claim.text, span.text).casefold().endswith(span.text.casefold())


def _edit_in_place(claim: Claim, span: Span, revised: str) -> Iterator[Replacement]:
    """The words that a fix changes, replaced where the response has them, if it has them once."""
    edits = [
        edit for edit in SequenceMatcher(None, claim.text.split(), revised.split()).get_opcodes() if edit[0] != "equal"
    ]
    if len(edits) == 1:
        _, first, last, start, end = edits[0]
        old, new = (
            " ".join(text.split()[a:b]).strip(".,;")
            for text, a, b in ((claim.text, first, last), (revised, start, end))
        )
        places = [*re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", span.text)] if old and new else []
        if len(places) == 1:
            yield span.start + places[0].start(), span.start + places[0].end(), new


def _without_additions(claim: Claim, span: Span, revised: str) -> str | None:
    """The revised claim without the words added to the claim; None if the fix changes one."""
    stated = without_additions(claim.text, span.text)
    if stated == claim.text:
        return revised
    before, after = (sorted(_IN_BRACKETS.findall(text)) for text in (claim.text, revised))
    fixed = without_additions(revised, span.text)
    capital = fixed[:1].upper() if span.text[:1].isupper() else fixed[:1]
    return capital + fixed[1:] if before == after else None


def _blind_fixes(finding: PairResult) -> Iterator[Replacement]:
    """The documents' value in place of one that differs, if they give a single value and nothing else."""
    if finding.outcome != "different" or finding.span is None or len(finding.found) != 1:
        return
    [found], values = finding.found, find_values(finding.found[0])
    if not values or (len(values) == 1 and values[0].text == found):
        yield finding.span.start, finding.span.end, found


def _claim_of(finding: Finding, text: str) -> Claim | None:
    """The claim of a finding; for a question, the sentence that contains its answer."""
    if finding.kind == "verdict" or finding.kind == "unverified":
        return finding.claim
    if finding.span is None:
        return None
    at = finding.span.start
    home = next(((start, end) for start, end in sentence_spans(text) if start <= at < end), None)
    return Claim(text[slice(*home)], span=Span(text[slice(*home)], *home)) if home else None


def _lead(claim: Claim) -> str:
    """The subject that was added to the second half of a split sentence; the response does not have it there."""
    if claim.span is None:
        return ""
    stated = without_additions(claim.text, claim.span.text)
    return stated.removesuffix(claim.span.text) if stated.endswith(claim.span.text) else ""


def _as_in(span: Span, text: str) -> str:
    """``text`` without the capital that its first word got at the start of the claim."""
    first = re.match(r"\w*", text)
    lowered = first.group().lower() if first else ""
    moved = span.text[:1].islower() and re.search(rf"\b{re.escape(lowered)}\b", span.text) if lowered else None
    return text[:1].lower() + text[1:] if moved else text


def _treat(text: str, findings: Sequence[Finding], unrepaired: Sequence[Finding], rest: Rest) -> list[Replacement]:
    """Replacements in ``text`` for the claims that cannot be repaired."""
    if rest == "keep":
        return []
    wrong = dict.fromkeys(_spans_of((f for f in unrepaired if f.kind != "unverified"), text))
    marks = [
        _mark(f.claim.span, UNVERIFIED_MARKS.get(f.reason, " [not verified]"))
        for f in unrepaired
        if f.kind == "unverified" and f.claim.span is not None
    ]
    if rest == "mark":
        return [*marks, *(_mark(span, MARK) for span in wrong)]
    found = dict.fromkeys(claim for finding in findings if (claim := _claim_of(finding, text)))
    claims = [claim for claim in found if claim.span is not None]
    return [*marks, *(cut for sentence in _sentences(text, claims) for cut in _cuts(text, sentence, wrong))]


def _mark(span: Span, words: str) -> Replacement:
    """The mark after a claim; in a table row, inside its last cell, since text after the row is not shown."""
    in_row = span.text.startswith("|") and span.text.endswith("|") and len(span.text) > 1
    end = span.start + len(span.text[:-1].rstrip()) if in_row else span.end
    return end, end, words


def _spans_of(findings: Iterable[Finding], text: str) -> Iterator[Span]:
    """The places of the claims of findings."""
    for finding in findings:
        claim = _claim_of(finding, text)
        if claim is not None and claim.span is not None:
            yield claim.span


def _sentences(text: str, claims: Sequence[Claim]) -> Iterator[list[Claim]]:
    """The claims, grouped by the sentence they were split from."""
    sentence = [*claims[:1]]
    for before, claim in pairwise(claims):
        assert before.span is not None
        assert claim.span is not None
        gap = text[before.span.end : claim.span.start]
        if not (gap.strip() and "\n" not in gap and _JOINT.fullmatch(gap)):
            yield sentence
            sentence = []
        sentence.append(claim)
    if sentence:
        yield sentence


def _cuts(text: str, sentence: Sequence[Claim], removed: Container[Span | None]) -> Iterator[Replacement]:
    """Remove clauses from a sentence so that the rest is a sentence: with its subject, a capital and a full stop."""
    spans = [claim.span for claim in sentence if claim.span is not None]
    kept = [position for position, span in enumerate(spans) if span not in removed]
    if not kept:
        yield spans[0].start, spans[-1].end, ""
        return
    if len(kept) < len(spans) and not all(map(_is_stated, sentence)):
        yield spans[0].start, spans[-1].end, " ".join(sentence[position].text for position in kept)
        return
    first, last = kept[0], kept[-1]
    if first:
        opening = _lead(sentence[first]) or spans[first].text[:1].upper()
        skipped = 0 if _lead(sentence[first]) else 1
        yield spans[0].start, spans[first].start + skipped, opening
    for before, after in pairwise(kept):
        if after - before > 1:
            yield spans[before].end, spans[after - 1].end, ""
    closing = _CLOSING.search(text[spans[-1].start : spans[-1].end])
    if last < len(spans) - 1:
        yield spans[last].end, spans[-1].end, closing.group() if closing else ""


def _replace_spans(text: str, replacements: Sequence[Replacement]) -> str:
    """``text`` with the replacements made, last first; one that overlaps a later one is skipped."""
    untouched = len(text)
    for start, end, new in sorted(replacements, reverse=True):
        if end > untouched:
            continue
        if not new and (start == 0 or text[start - 1].isspace()):
            start, end = _with_blanks(text, start, end)
        text = text[:start] + new + text[end:]
        untouched = start
    return text


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """The range of a removed sentence with the blanks around it; if its line has nothing else, the whole line."""
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    if end < len(text) and text[end] not in "\r\n":
        return start, end
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if not _is_marker_only(text[line:start]):
        while start > line and text[start - 1] in " \t":
            start -= 1
        return start, end
    end = _next_line(text, end)
    while not text[:line].strip() or _is_blank_line_before(text, line):
        following = _next_line(text, end)
        if following == end or text[end:following].strip():
            break
        end = following
    return line, end


def _is_marker_only(before: str) -> bool:
    """Whether the line up to a removed claim holds only a list marker and a label."""
    at = len(before) - len(before.lstrip(" \t"))
    probe = f"{before}x"  # the patterns require some text after them
    for pattern in (LIST_MARKER, LABEL):
        found = pattern.match(probe, at)
        at = found.end() if found else at
    return at == len(before)


def _next_line(text: str, at: int) -> int:
    """The offset after the line break of the line at ``at``, or the end of the text."""
    found = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)?").match(text, at)
    return found.end() if found else at


def _is_blank_line_before(text: str, line: int) -> bool:
    before = text[:line].removesuffix("\n").removesuffix("\r")
    return before != text[:line] and not before[max(before.rfind("\n"), before.rfind("\r")) + 1 :].strip()
