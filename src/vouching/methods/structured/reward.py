"""SEVA's process reward (Algorithm 1, App. C): a verifier's written record, scored part by part.

    R = .10 R_f + .30 R_a + .30 R_c + .15 R_l + .15 R_d + R_cal

R_f: the four fields are present; R_a: completeness of the alignment (eq. 8); R_c: completeness of the reasoning chain
(eq. 9); R_l: the label is gold; R_d: the error is named and fixed, or none is claimed (eq. 10); R_cal: +.15 or -.10
times the stated confidence, for a right or wrong label (eq. 11). Unreadable replies earn 0. Labels are looked up in an
exact table; the authors' code falls back to a substring search in an unordered set, so that "Not Attributable." is
either label at random. Three sets of rules:

- ``paper``: the above. Departure: a value of the wrong type scores 0 for its test; the authors' code raises an error.
- ``released``: what the authors' code adds: .1 for an explanation of 3 to 9 characters, .2 for an error type outside
  the taxonomy, .1 for a fix of 1 to 9 characters, a confidence written as a text ("0.8"), and no total below 0.
- ``grounded``: ours. The paper's R_a, R_c and R_d check only form; here they count what occurs in the texts and agrees
  with the label (:mod:`vouching.methods.structured.reward_grounded`), a diagnosis counts only with the label Not
  Attributable, and "no error" only with Attributable.

Two baselines: ``binary``, 1 for the right label (section 2.3), and ``binary-format``, .70 R_f + .30 R_l, where the
format has the whole weight of the process: what it gains over ``binary`` is format shaping. Not supported: the truth of
an explanation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast, get_args

from vouching.errors import ConfigError, InputError
from vouching.inputs import as_sources, check_text, row_sources
from vouching.judging.ask import ReplyError
from vouching.methods.structured.reply import read_object
from vouching.methods.structured.reward_grounded import Grounds, KnownError, agrees, grounds_of
from vouching.methods.structured.reward_settings import RewardSettings
from vouching.methods.structured.reward_weights import PAPER, Calibration, Rules, Split, StructuredWeights, Variant
from vouching.methods.table import RewardLines
from vouching.types import ERROR_TYPES, ErrorType, Judgment, Label, Reward, Status
from vouching.types.visible import shown_json, value_fault

FIELDS = ("evidence_alignment", "reasoning_chain", "label", "confidence")
"""The fields of R_f."""
PAPER_SETTINGS = RewardSettings()
PARTS = ("format", "alignment", "chain", "label", "diagnosis", "calibration")
"""R_f, R_a, R_c, R_l, R_d in [0, 1], and R_cal as it is added."""
_WORD = re.compile(r"[^\W_]+")
_LONGEST_LABEL = 40
"""Characters; a longer text is not a label."""
_FORMAT = (0.2, 0.2, 0.5, 0.5, 1.0)
"""R_f by the number of fields present."""
_STATUSES: tuple[str, ...] = get_args(Status)
_JUDGMENTS: tuple[str, ...] = get_args(Judgment)
_LABELS: tuple[str, ...] = get_args(Label)


def structured_reward(
    response: str,
    gold: Label,
    *,
    claim: str | None = None,
    source: str | Sequence[str] | None = None,
    variant: Variant = "paper",
    weights: StructuredWeights = PAPER,
    known: KnownError | None = None,
) -> Reward:
    """The process reward of one reply: the total, within ``reward_bounds``, and every part by name.

    Only the grounded rules need claim and source, and only they use the ``known`` error of a perturbed row. All parts
    of an unreadable reply are 0, and only its ``format`` is.
    Raises InputError for an unknown gold label, or grounded rules without claim and source.

    >>> reply = '{"label": "Not Attributable", "confidence": 0.8, "error_type": "temporal_shift"}'
    >>> reward = structured_reward(reply, "Not Attributable")
    >>> reward.total, reward.parts["format"], reward.parts["diagnosis"]  # .1 * .5 + .15 + .15 * .6 + .15 * .8
    (0.41, 0.5, 0.6)
    """
    if gold not in _LABELS:
        raise InputError(f"the gold label must be {' or '.join(_LABELS)}, got {shown_json(gold)}")
    if variant not in get_args(Variant):
        raise ConfigError(f"unknown variant {variant!r}; expected one of {', '.join(get_args(Variant))}")
    grounds = _grounds(claim, source, known) if variant == "grounded" else None
    record = read_record(response)
    if record is None:
        return Reward(0.0, dict.fromkeys(PARTS, 0.0))
    predicted = label_of(record)
    alignment, chain = _form(record, variant) if grounds is None else _standing(record, grounds, predicted)
    parts = {
        "format": _FORMAT[sum(field in record for field in FIELDS)],
        "alignment": alignment,
        "chain": chain,
        "label": float(predicted == gold),
        "diagnosis": _diagnosis_score(record, gold, predicted, variant, weights.diagnosis_floor, grounds),
        "calibration": weights.calibration(predicted == gold, stated_confidence(record, variant)),
    }
    total = weighted_total(parts, weights)
    return Reward(max(0.0, total) if variant == "released" else total, parts)


def binary_reward(response: str, gold: Label) -> Reward:
    """1 for the right label, else 0: the baseline of the paper (section 2.3)."""
    if gold not in _LABELS:
        raise InputError(f"the gold label must be {' or '.join(_LABELS)}, got {shown_json(gold)}")
    record = read_record(response)
    right = float(record is not None and label_of(record) == gold)
    return Reward(right, {"label": right})


def read_record(response: str) -> dict[str, Any] | None:
    """The JSON object of a graded reply, read strictly; None if there is none."""
    try:
        return read_object(response, strict=True)
    except ReplyError:
        return None


LABELS: Mapping[str, Label] = {
    **dict.fromkeys(("attributable", "supported", "yes", "true", "entailment"), "Attributable"),
    **dict.fromkeys(
        ("not attributable", "not supported", "no", "false", "contradiction", "neutral"), "Not Attributable"
    ),
}
"""Accepted spellings of the labels of graded replies (SEVA Table 13), in lower case with single blanks."""


def label_of(record: Mapping[str, Any]) -> Label | None:
    """The label of a record, ignoring case and punctuation; None if it is not in :data:`LABELS`.

    >>> [label_of({"label": written}) for written in ("**Not_Attributable.**", "Supported", "unclear", True)]
    ['Not Attributable', 'Attributable', None, None]
    """
    written = record.get("label")
    if not isinstance(written, str) or len(written) > _LONGEST_LABEL:
        return None
    return LABELS.get(" ".join(_WORD.findall(written.lower())))


def stated_confidence(record: Mapping[str, Any], variant: Variant = "paper") -> float:
    """The confidence of a record, clipped to [0, 1]; .5 if it is missing or not a number."""
    value = record.get("confidence")
    if variant == "released" and isinstance(value, str | bool):
        try:
            value = float(value)
        except ValueError:
            return 0.5
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return 0.5
    return float(min(1.0, max(0.0, value)))


def reward_of_reply(reply: str, row: Mapping[str, Any], settings: RewardSettings = PAPER_SETTINGS) -> Reward:
    """The reward of a reply to a row; all callers compute rewards with this function. The settings do not normalise.

    The row has ``gold``; for the grounded rules also ``claim`` and sources, under any accepted name, and if it was
    perturbed ``error_type`` and ``original``. Raises InputError otherwise.
    """
    gold = row.get("gold")
    if not isinstance(gold, str):
        raise InputError(value_fault(row, "gold"))
    if settings.variant == "binary":
        return binary_reward(reply, cast("Label", gold))
    claim = source = known = None
    if settings.variant == "grounded":
        if row.get("claim") is None:
            raise InputError(value_fault(row, "claim"))
        claim = check_text(row["claim"], "the claim")
        source = [one.text for one in as_sources(row_sources(row))]
        if _is_one_of(error := row.get("error_type"), ERROR_TYPES) and gold == "Not Attributable":
            original = row.get("original")
            known = KnownError(cast("ErrorType", error), original if isinstance(original, str) else "")
    return structured_reward(
        reply,
        cast("Label", gold),
        claim=claim,
        source=source,
        variant=settings.rules,
        weights=settings.made,
        known=known,
    )


def reward_of_row(
    row: Mapping[str, Any],
    variant: Rules = "paper",
    split: Split = "70/30",
    calibration: Calibration = "on",
    diagnosis_floor: float = PAPER.diagnosis_floor,
    weights: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The reward of a recorded reply, ``response``: a line of ``vouch reward structured``.

    Returns ``gold``; ``predicted``, the label of the reply or None; ``total`` and ``parts``. Raises InputError for a
    row that lacks what the rules need, and ConfigError for settings that exclude each other.
    """
    settings = RewardSettings(variant, split, calibration, diagnosis_floor, weights=weights or {})
    reply = row.get("response")
    if not isinstance(reply, str):
        raise InputError(value_fault(row, "response"))
    reward = reward_of_reply(reply, row, settings)
    record = read_record(reply)
    predicted = None if record is None else label_of(record)
    return {"gold": row["gold"], "predicted": predicted, "total": reward.total, "parts": dict(reward.parts)}


REWARD_LINES = RewardLines(
    ("response",),
    lambda line: {"unreadable": int(line["parts"].get("format") == 0)},
    lambda counts: f", {counts['unreadable']:,} with an unreadable reply" if counts["unreadable"] else "",
)
"""The lines of ``vouch reward structured``."""


def weighted_total(parts: Mapping[str, float], weights: StructuredWeights = PAPER) -> float:
    """The weighted sum of the parts plus the calibration term (Algorithm 1, from line 10)."""
    total = (
        weights.format * parts["format"]
        + weights.alignment * parts["alignment"]
        + weights.chain * parts["chain"]
        + weights.label * parts["label"]
        + weights.diagnosis * parts["diagnosis"]
        + parts["calibration"]
    )
    return round(total, 9)  # removes the rounding errors of sums of tenths


def alignment_quality(entries: object) -> float:
    """How complete the alignment is: R_a (SEVA App. C.2, eq. 8), in [0, 1].

    The mean over the entries of: .3 the claim span is not empty; .3 the source span is not empty or NOT_FOUND; .2 the
    status is match, mismatch or not_found; .1 the claim span has 3 to 200 characters; .1 the source span has 3 to 500
    or is NOT_FOUND. Blanks count as characters. An entry that is not a mapping scores 0; no entries, or a value that is
    not a list, scores 0.

    >>> entry = {"claim_span": "12 countries", "source_span": "8 nations", "status": "mismatch"}
    >>> alignment_quality([entry]), alignment_quality([entry, {**entry, "status": "wrong"}])
    (1.0, 0.9)
    """
    return min(1.0, _mean([_entry_score(entry) for entry in _members(entries)]))


def chain_quality(steps: object) -> float:
    """How complete the reasoning chain is: R_c (SEVA App. C.3, eq. 9), in [0, 1].

    The mean over the steps of: .3 the judgment is supported, not_supported or partially_supported; .3 the explanation
    has at least 10 characters; .2 the source evidence at least 5; .2 the claim part is not empty; plus .2 times
    min(n / 3, 1) for n steps, capped at 1, so one complete step already earns everything. A step that is not a mapping
    scores 0 and counts in n; no steps, or a value that is not a list, scores 0.

    >>> step = {"claim_part": "12", "source_evidence": "8 nations", "judgment": "not_supported"}
    >>> step["explanation"] = "The source says 8."
    >>> chain_quality([step]), round(chain_quality([{**step, "explanation": ""}]), 3)  # .7 + .2 / 3
    (1.0, 0.767)
    """
    return _chain_score(steps, short_explanation=0.0)


def _grounds(claim: Any, source: Any, known: KnownError | None) -> Grounds:
    """The claim and the texts of its source, with their types checked."""
    if claim is None or source is None:
        raise InputError("the grounded reward requires the claim and its source: pass both")
    texts: tuple[Any, ...] = (source,)
    if isinstance(source, Iterable) and not isinstance(source, str):
        texts = tuple(cast("Iterable[Any]", source))
    others = [text for text in (claim, *texts) if not isinstance(text, str)]
    if others:
        raise InputError(f"the grounded reward requires claim and source as strings, got {shown_json(others[0], 80)}")
    return grounds_of(claim, texts, known)


def _form(record: Mapping[str, Any], variant: Variant) -> tuple[float, float]:
    """R_a and R_c by the form alone."""
    short = 0.1 if variant == "released" else 0.0
    return alignment_quality(record.get("evidence_alignment")), _chain_score(record.get("reasoning_chain"), short)


def _standing(record: Mapping[str, Any], grounds: Grounds, predicted: Label | None) -> tuple[float, float]:
    """R_a and R_c of what occurs in the texts, each 0 if it contradicts the label."""
    entries, steps = grounds.entries(record.get("evidence_alignment")), grounds.steps(record.get("reasoning_chain"))
    aligned, argued = agrees(predicted, entries, steps)
    alignment = alignment_quality(entries) * grounds.covered(entries) if aligned else 0.0
    void = sum(step is None for step in steps)
    return round(alignment, 10), _chain_score(steps, 0.0, void) if argued and void < len(steps) else 0.0


def _chain_score(steps: object, short_explanation: float, void: int = 0) -> float:
    """R_c, with the score of an explanation of 3 to 9 characters, and void steps that do not count in the length."""
    written = _members(steps)
    if not written:
        return 0.0
    scores = [_step_score(step, short_explanation) for step in written]
    return min(1.0, _mean(scores) + 0.2 * min((len(written) - void) / 3, 1.0))


def _diagnosis_score(
    record: Mapping[str, Any],
    gold: Label,
    predicted: Label | None,
    variant: Variant,
    floor: float,
    grounds: Grounds | None,
) -> float:
    """R_d (eq. 10): no error claimed if there is none, else its type and a fix."""
    named, fix_length = record.get("error_type"), _length(record.get("fix_suggestion"))
    if gold == "Attributable":
        silent = named is None or named == ""
        return 1.0 if silent and (grounds is None or predicted == gold) else floor
    known, fixed = _is_one_of(named, ERROR_TYPES), fix_length >= 10
    if grounds is not None:
        known, fixed = known and grounds.names_error(named), fixed and grounds.repairs(record.get("fix_suggestion"))
        known, fixed = known and predicted == gold, fixed and predicted == gold
    score = 0.6 * known + 0.4 * fixed
    if variant == "released":
        score += 0.2 * (isinstance(named, str) and named != "" and not known) + 0.1 * (0 < fix_length < 10)
    return score


def _entry_score(entry: object) -> float:
    if not isinstance(entry, Mapping):
        return 0.0
    record = cast("Mapping[str, object]", entry)
    claim, source = _length(record.get("claim_span")), _length(record.get("source_span"))
    return (
        0.3 * (claim > 0)
        + 0.3 * (source > 0)
        + 0.2 * _is_one_of(record.get("status"), _STATUSES)
        + 0.1 * (3 <= claim <= 200)
        + 0.1 * (3 <= source <= 500)
    )


def _step_score(step: object, short_explanation: float) -> float:
    if not isinstance(step, Mapping):
        return 0.0
    record = cast("Mapping[str, object]", step)
    explained = _length(record.get("explanation"))
    return (
        0.3 * _is_one_of(record.get("judgment"), _JUDGMENTS)
        + (0.3 if explained >= 10 else short_explanation * (explained >= 3))
        + 0.2 * (_length(record.get("source_evidence")) >= 5)
        + 0.2 * (_length(record.get("claim_part")) > 0)
    )


def _members(written: object) -> Sequence[object]:
    return cast("Sequence[object]", written) if isinstance(written, list | tuple) else ()


def _length(value: object) -> int:
    """Characters of a text; 0 for anything else."""
    return len(value) if isinstance(value, str) else 0


def _is_one_of(value: object, words: Sequence[str]) -> bool:
    return isinstance(value, str) and value in words


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 10) if values else 0.0  # .3 + .3 + .2 + .1 + .1 is not exactly 1
