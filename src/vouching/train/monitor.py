"""Early warnings: pure functions of a run's log that detect when training goes wrong.

A monitor reads the numbers of a whole run by name (``run_folder`` lists them) and returns in which steps something is
wrong, and what. Most use means over the last ``WINDOW`` steps, since single steps are noise; all skip numbers that a
log does not have. The thresholds are ours, chosen to be silent on healthy runs. To add a monitor:
``alarms(columns, (*MONITORS, mine))``. Whether an alarm ends the run is decided by ``on_alarm``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.train.run_folder import Columns

WINDOW = 20
"""Steps of a mean. Only what is wrong from the start is reported before two windows."""
UNITS_WINDOW = 10
"""Steps of a mean over units of work, of which a step has dozens."""
STILL_STEPS = 5
"""Steps without a gradient after which a policy stands still."""
LIMIT = 0.8
"""Share of groups that are most of them."""
Series: TypeAlias = NDArray[np.float64]
Steps: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a monitor finds in a run."""

    kind: str
    """Name of the fault, such as "advantage_collapse"."""
    about: str
    """The role or the number concerned."""
    wrong: Steps
    """In which steps it is there."""
    say: Callable[[int], str]
    """What to tell about the step at a place."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A fault that began in a step."""

    step: int
    """Where it began."""
    kind: str
    """Name of the fault."""
    about: str
    """The role or the number concerned."""
    message: str
    """What was seen, and what usually helps."""


Monitor: TypeAlias = Callable[[Columns], Iterator[Finding]]


def alarms(columns: Columns, monitors: Sequence[Monitor] | None = None) -> list[Alarm]:
    """What is wrong with a run, in the order in which it began.

    A fault that goes away and comes back within a window is reported once.

    >>> steps = np.arange(1.0, 101.0)
    >>> [alarm] = alarms({"step": steps, "kl": steps / 100})  # the mean over 20 steps exceeds .5 in step 60
    >>> alarm.step, alarm.kind
    (60, 'kl_runaway')
    """
    found: list[Alarm] = []
    steps = columns.get("step", np.zeros(0))
    for monitor in MONITORS if monitors is None else monitors:
        for finding in monitor(columns):
            places = np.flatnonzero(finding.wrong)
            for place, before in zip(places, [-WINDOW - 1, *places], strict=False):
                if place - before > WINDOW:
                    found.append(Alarm(int(steps[place]), finding.kind, finding.about, finding.say(int(place))))
    return sorted(found, key=lambda alarm: (alarm.step, alarm.kind, alarm.about))


def advantage_collapse(columns: Columns) -> Iterator[Finding]:
    """Nothing to learn from: most groups have equal rewards, or rewards or advantages vary far less than at first.

    Groups at the highest reward are learnt, not stuck, and do not count (see :func:`solved`). In SEVA's Table 18 the
    range of the advantages shrinks from .27 to .09 under a binary reward, from 4.94 to 3.65 under its process reward.
    The former cannot occur under its Eq. 2: a binary group of eight is flat, or has an advantage of at least .935. A
    binary run is therefore caught by its share of flat groups.
    """
    for role, flat in _of_roles(columns, "groups", "flat"):
        learnt = rolling(_learnt(columns, role, flat))
        stuck = rolling(columns.get(f"groups/{role}/stuck", flat)) / np.maximum(1 - learnt, 1 - LIMIT)
        yield Finding(
            "advantage_collapse",
            role,
            (stuck > LIMIT) & (learnt <= LIMIT),
            lambda at, stuck=stuck, learnt=learnt: (
                f"all rewards are equal in {stuck[at]:.0%} of the groups"
                + (
                    f" below the highest reward ({learnt[at]:.0%} of all groups are there)"
                    if learnt[at] > 0.005
                    else ""
                )
                + ": try a reward with several parts, dynamic sampling, a higher temperature or other rows"
            ),
        )
    spreads: list[tuple[str, str, Series]] = []
    for role, standard_deviation in _of_roles(columns, "reward", "std"):
        below = np.maximum(1 - _learnt(columns, role, standard_deviation), 0.5)
        spreads.append((role, "rewards within groups", standard_deviation / below))
    for role, greatest in _of_roles(columns, "advantage", "greatest"):
        least = columns.get(f"advantage/{role}/least")
        if least is not None:
            spreads.append((role, "advantages", greatest - least))
    for role, what, spread in spreads:
        # Where half is learnt, the rest nearly is, and differs little.
        spread = np.where(_learnt(columns, role, spread) > 0.5, np.nan, spread)
        mean, first = rolling(spread), _first(spread)
        yield Finding(
            "advantage_collapse",
            role,
            mean < 0.4 * first,
            lambda at, mean=mean, first=first, what=what: (
                f"the spread of {what} is {mean[at]:.3g}, "
                f"down from {first:.3g} at the start: the policy hardly learns any more"
            ),
        )


def solved(columns: Columns) -> Iterator[Finding]:
    """Most groups of every role have the highest reward, so that little is left to learn."""
    tops = dict(_of_roles(columns, "groups", "top"))
    if tops:
        least = np.min([rolling(top) for top in tops.values()], axis=0)
        yield Finding(
            "solved",
            ", ".join(tops),
            least > LIMIT,
            lambda at: (
                f"in {least[at]:.0%} of the groups, all rewards are at or near the maximum: unless this is "
                "reward hacking, little is left to learn; check an oracle metric or dev, then stop or use harder rows"
            ),
        )


def format_regress(columns: Columns) -> Iterator[Finding]:
    """The format part, or the share of readable replies, is far below its best."""
    watched = [(role, "the format reward", part) for role, part in _of_roles(columns, "reward", "format")]
    if "readable" in columns:
        watched.append(("readable", "the share of readable replies", columns["readable"]))
    for about, what, series in watched:
        mean = rolling(series)
        best = _highest_so_far(mean)
        yield Finding(
            "format_regress",
            about,
            mean < best - 0.1,
            lambda at, mean=mean, best=best, what=what: (
                f"{what} is {mean[at]:.2f}, down from {best[at]:.2f}: lower "
                "the learning rate, raise kl, or go back to an earlier checkpoint"
            ),
        )


def length_explosion(columns: Columns) -> Iterator[Finding]:
    """Completions are twice as long as at first, or most are truncated at the limit that were not at first."""
    for role, length in _of_roles(columns, "length", "mean"):
        mean, first = rolling(length), _first(length)
        yield Finding(
            "length_explosion",
            role,
            mean > 2 * first,
            lambda at, mean=mean, first=first: (
                f"completions have {mean[at]:.0f} tokens on average, up from "
                f"{first:.0f} at the start: check which part of the reward grows with length"
            ),
        )
    for role, cut in _of_roles(columns, "length", "cut"):
        mean, first = rolling(cut), _first(cut)
        yield Finding(
            "length_explosion",
            role,
            (mean > 0.5) & (mean > first + 0.25),
            lambda at, mean=mean: f"{mean[at]:.0%} of the completions are truncated at the token limit",
        )


def useless_start(columns: Columns) -> Iterator[Finding]:
    """Since the first step nearly all completions are truncated, or for five steps no reply is readable."""
    readable = columns.get("readable", np.zeros(0))
    never = (np.maximum.accumulate(readable) == 0) & (np.arange(len(readable)) >= STILL_STEPS - 1)
    for role, cut in _of_roles(columns, "length", "cut"):
        never = never & ~(always := np.minimum.accumulate(cut) > 0.9)[: len(never)]  # truncated, so not readable
        yield Finding(
            "useless_start",
            role,
            always,
            lambda at, cut=cut: (
                f"{cut[at]:.0%} of the completions are truncated at the token limit since the first "
                "step, and nothing can be learnt from them: raise sampling.completion_tokens"
            ),
        )
    say = "no reply was readable so far: train the format first (vouch train sft), or use a larger model"
    yield Finding("useless_start", "readable", never, lambda at: say)


def kl_runaway(columns: Columns) -> Iterator[Finding]:
    """The policy diverges from its start: more than half a nat per token, or three times as far as a window before."""
    if (kl := columns.get("kl")) is None:
        return
    before = np.concatenate([np.full(min(WINDOW, len(kl)), np.nan), (mean := rolling(kl))[:-WINDOW]])
    yield Finding(
        "kl_runaway",
        "kl",
        (mean > 0.5) | ((mean > 0.15) & (mean > 3 * before)),
        lambda at: (
            f"the divergence from the initial policy is {mean[at]:.3g} per token, compared with "
            f"{_first(kl):.3g} at the start: raise kl or lower the learning rate"
        ),
    )


def negative_bias(columns: Columns) -> Iterator[Finding]:
    """Not Attributable is predicted too often: SEVA's false positives (section 4.2, App. C.5)."""
    said, gold = columns.get("not_attributable/said"), columns.get("not_attributable/gold")
    if said is None or gold is None:
        return
    ours, theirs = rolling(said), rolling(gold)
    yield Finding(
        "negative_bias",
        "not_attributable",
        ours > theirs + 0.15,
        lambda at: (
            f"{ours[at]:.0%} of the replies say Not Attributable, but only {theirs[at]:.0%} of the gold labels "
            "do: run recipes/theory/rewards.py, and try the grounded variant"
        ),
    )


def always_yes(columns: Columns) -> Iterator[Finding]:
    """A policy that judges itself grows lenient: more yes where no is right, and more credit to itself.

    Soft-SVeRL's always-yes collapse (section 4.1). Where no is right is known for gold items and for items that are
    rules in words; where rows name rules, the credit beyond them must grow as well.
    """
    credit = columns.get("gap/rules")
    for name in ("yes/gold_negative", "yes/rule_negative"):
        if (yes := columns.get(name)) is None:
            continue
        mean, first = rolling(yes), _first(yes)
        wrong = mean > first + 0.15
        if credit is not None:
            wrong &= rolling(credit) > _first(credit) + 0.1
        yield Finding(
            "always_yes",
            name,
            wrong,
            lambda at, mean=mean, first=first: (
                f"{mean[at]:.0%} of the answers are 'yes' where 'no' is right, up from "
                f"{first:.0%} at the start: raise checklist.lambda_v, checklist.lambda_p or checklist.votes, or add "
                "gold negatives"
            ),
        )


def lenient_judge(columns: Columns) -> Iterator[Finding]:
    """The judge credits more beyond the rules than at first: by .1, and by four standard errors.

    This detects what :func:`always_yes` cannot: a policy that finds responses unlike any gold item, and still answers
    gold negatives with no. The rules are all it knows of the truth; a checklist may ask for more.
    """
    if (credit := columns.get("gap/rules")) is None:
        return
    mean, first = rolling(credit), _first(credit)
    yield Finding(
        "lenient_judge",
        "gap/rules",
        (mean > first + 0.1) & (mean > first + 4 * _standard_error(credit)),
        lambda at: (
            f"the judge gives {mean[at]:+.2f} more credit than the rules do, up from {first:+.2f} at the "
            "start: read the responses that pass, and add similar gold items labelled no"
        ),
    )


def reward_against_oracle(columns: Columns) -> Iterator[Finding]:
    """Reward hacking: since its best the oracle fell, significantly and by .07 or more, while the reward rose.

    Whether a case or a choice was right is not used: both answer drafts, and the better those are, the harder the
    remaining mistakes. :func:`challenge_collapse` and :func:`case_drift` cover them.
    """
    for name, oracle in columns.items():
        if not name.startswith("oracle/") or name in ("oracle/challenge", "oracle/choice"):
            continue
        truth, error = rolling(oracle), _standard_error(oracle)
        best = _place_of_highest(truth)
        fallen = (truth < truth[best] - 0.07) & (truth < truth[best] - 4 * np.hypot(error, error[best]))
        for role, reward in _of_roles(columns, "reward", "total"):
            mean, spread = rolling(reward), _standard_error(reward)
            yield Finding(
                "reward_against_oracle",
                name,
                fallen & (mean > mean[best] + 2 * np.hypot(spread, spread[best])),
                lambda at, role=role, name=name, truth=truth, mean=mean, best=best: (
                    f"the reward of the {role} rose "
                    f"from {mean[best[at]]:.3g} to {mean[at]:.3g} while {name} fell from {truth[best[at]]:.3g} to "
                    f"{truth[at]:.3g}: read the transcripts; the policy exploits a gap in the reward"
                ),
            )


def question_shrinkage(columns: Columns) -> Iterator[Finding]:
    """Answers that state less are asked less (MARCH, App. B.4): half as many questions, or numbers, as at first."""
    for name, what in (("questions/asked", "questions"), ("questions/numbers", "numbers")):
        if (series := columns.get(name)) is None:
            continue
        mean, first = rolling(series), _first(series)
        yield Finding(
            "question_shrinkage",
            name,
            mean < 0.5 * first,
            lambda at, mean=mean, first=first, what=what: (
                f"{mean[at]:.2g} {what} per answer, down from {first:.2g} at "
                "the start: the policy avoids statements that can be checked; set game.min_numbers, raise kl, or "
                "choose questions about numbers"
            ),
        )


def cannot_answer_drift(columns: Columns) -> Iterator[Finding]:
    """Checkers learn to give up: "cannot answer" is more frequent than at first, by .2 or more."""
    if (said := columns.get("cannot_answer")) is None:
        return
    mean, first = rolling(said), _first(said)
    yield Finding(
        "cannot_answer_drift",
        "cannot_answer",
        mean > first + 0.2,
        lambda at: (
            f"{mean[at]:.0%} of the checkers' answers are 'cannot answer', up from {first:.0%} at the start: "
            "read the transcripts to see whether the questions have become unanswerable or the checkers give up"
        ),
    )


def policy_still(columns: Columns) -> Iterator[Finding]:
    """One of several policies has no gradient for five steps while another has: it is frozen or gets no signal."""
    norms = {name.removeprefix("gradient/"): norm for name, norm in columns.items() if name.startswith("gradient/")}
    for policy, norm in norms.items():
        others = sum(_window_sum(np.nan_to_num(other), STILL_STEPS) for name, other in norms.items() if name != policy)
        still = (_window_sum(np.nan_to_num(norm), STILL_STEPS) == 0) & (np.arange(len(norm)) >= STILL_STEPS - 1)
        yield Finding(
            "policy_still",
            policy,
            still & (np.asarray(others) > 0),
            lambda at, policy=policy: (
                f"the policy {policy} has had no gradient for five steps: check whether its "
                "adapter is trained, and whether all rewards within its groups are equal"
            ),
        )


def challenge_collapse(columns: Columns) -> Iterator[Finding]:
    """A verifier that nearly always challenges, or never, while a fifth of the proposals call for the other."""
    said, right = columns.get("said/SAC"), columns.get("oracle/draft")
    if said is None or right is None:
        return
    share, sound = rolling(said, UNITS_WINDOW), rolling(right, UNITS_WINDOW)
    for about, wrong in (("silence", (share < 0.05) & (sound < 0.8)), ("noise", (share > 0.95) & (sound > 0.2))):
        yield Finding(
            "challenge_collapse",
            about,
            wrong,
            lambda at: (
                f"the verifier raises a case against {share[at]:.0%} of the proposals, but "
                f"{1 - sound[at]:.0%} of the proposals are wrong: read its transcripts, and check the cost of a case"
            ),
        )


def case_drift(columns: Columns) -> Iterator[Finding]:
    """The cases of DPA-GRPO shift (a quarter of the units) while no more of what is submitted is right."""
    shares = {name: rolling(found, UNITS_WINDOW) for name, found in columns.items() if name.startswith("case/")}
    submitted = columns.get("oracle/submitted")
    if not shares or submitted is None:
        return
    first = {name: _first(columns[name], UNITS_WINDOW) for name in shares}
    moved = sum((np.abs(share - first[name]) for name, share in shares.items()), np.zeros(len(submitted))) / 2
    gain = rolling(submitted, UNITS_WINDOW) - _first(submitted, UNITS_WINDOW)

    def limit(at: int) -> str:
        name = max(shares, key=lambda name: abs(shares[name][at] - first[name]))
        return f"{name.removeprefix('case/')} from {first[name]:.0%} to {shares[name][at]:.0%}"

    yield Finding(
        "case_drift",
        "case",
        (moved > 0.25) & (gain < 0.02),
        lambda at: (
            f"{moved[at]:.0%} of the units are in a different case than at the start (case {limit(at)}), while "
            f"the share of correct submitted values changed by {gain[at]:+.0%}: the roles play against each other "
            "instead of solving the task"
        ),
    )


MONITORS: tuple[Monitor, ...] = (
    advantage_collapse,
    solved,
    format_regress,
    length_explosion,
    useless_start,
    kl_runaway,
    negative_bias,
    always_yes,
    lenient_judge,
    reward_against_oracle,
    policy_still,
    challenge_collapse,
    case_drift,
    question_shrinkage,
    cannot_answer_drift,
)
"""The default monitors."""


def rolling(series: Series, window: int = WINDOW) -> Series:
    """Mean of the last ``window`` steps that have a number; NaN before there are two windows.

    >>> rolling(np.array([1.0, 2.0, np.nan, 4.0, 5.0]), window=2)
    array([nan, nan, nan, 4. , 4.5])
    """
    there = np.isfinite(series)
    total, count = _window_sum(np.where(there, series, 0.0), window), _window_sum(there.astype(float), window)
    mean = np.divide(total, count, out=np.full(len(series), np.nan), where=count > 0.5)
    mean[: 2 * window - 1] = np.nan
    return mean


def _learnt(columns: Columns, role: str, like: Series) -> Series:
    """Share of a role's groups at the highest reward; 0 where a log does not have it."""
    return columns.get(f"groups/{role}/top", np.zeros(len(like)))


def _standard_error(series: Series) -> Series:
    """Of the rolling mean, as if steps were independent."""
    # Around their mean, so that squares of large numbers do not drown small differences.
    centred = series - np.nanmean(series) if np.isfinite(series).any() else series
    mean, square = rolling(centred), rolling(centred**2)
    return np.sqrt(np.maximum(square - mean**2, 0) / WINDOW)


def _window_sum(series: Series, window: int) -> Series:
    total = np.cumsum(series)
    return total - np.concatenate([np.zeros(min(window, len(total))), total[:-window]])


def _first(series: Series, window: int = WINDOW) -> float:
    """Mean of the first window; NaN if it has no number."""
    start = series[:window][np.isfinite(series[:window])]
    return float(start.mean()) if len(start) else float("nan")


def _highest_so_far(series: Series) -> Series:
    return np.maximum.accumulate(np.where(np.isfinite(series), series, -np.inf))


def _place_of_highest(series: Series) -> NDArray[np.intp]:
    """Place of the highest number up to each place."""
    highest = _highest_so_far(series)
    fresh = np.concatenate([[True], highest[1:] > highest[:-1]]) if len(series) else np.zeros(0, bool)
    return np.maximum.accumulate(np.where(fresh, np.arange(len(series)), 0))


def _of_roles(columns: Columns, table: str, name: str) -> Iterator[tuple[str, Series]]:
    """A number, for each role that has it."""
    for key, series in columns.items():
        if found := re.fullmatch(rf"{table}/([^/]+)/{name}", key):
            yield found[1], series
