"""What the arms and measures of docs/reproductions.md are, in words."""

from __future__ import annotations

from collections.abc import Mapping

ARMS_SAY: Mapping[str, Mapping[str, str]] = {
    "facts": {
        "process": "SEVA's process reward",
        "binary": "1 for the right label, else 0",
        "binary-format": "binary, and the format",
        "grounded": "process, with evidence that must be in the source",
        "normalised": "process, the diagnosis normalised across labels",
        "no-calibration": "process without R_cal",
        "symmetric": "process with a symmetric R_cal",
        "brier": "process with a Brier score as R_cal",
        "binary-g4": "binary, 4 records per claim",
        "binary-g16": "binary, 16 records per claim",
    },
    "instructions": {
        "rules": "a judge of items without errors",
        "outside": "a judge of items with the paper's rates of errors",
        "holistic": "a judge of the whole response, with the paper's rates",
        "naive": "the policy judges itself and does not learn to",
        "full": "Soft-SVeRL: it learns to judge from labelled items and from replay, with a partition term of .1",
        "no-partition": "full, without that term",
        "gold-only": "full, without replay",
        "gold-only-0.5": "gold-only, with a term of .5",
        "votes-1": "full, one vote per item",
        "votes-8": "full, eight votes per item (three in full)",
        "naive-ruled": "naive, where a rule decides every second item",
        "gold-ruled": "full, where a rule decides every second item",
        "anchor-ruled": "gold-ruled, with the labels of these rules instead of gold",
    },
    "documents": {
        "full": "MARCH: solver and checker learn, -1 for any wrong number",
        "solver-only": "the checker does not learn",
        "scale-01": "0 or 1 instead of -1 or 0",
        "error-rate": "the share of wrong numbers instead of any",
        "no-question-guard": "no least number of questions",
        "silence-allowed": "no least number of stated numbers",
        "on-topic": "full, and a question about another place than the user's is a fault",
        "irrelevant-24": "trained on .24 irrelevant documents",
        "irrelevant-88": "trained on .88",
    },
    "forms": {
        "paired": "the paired game: drafts in groups, and pairs of actions of verifier and approver",
        "grpo": "GRPO on drafts alone, no verifier",
        "dapo": "DAPO on drafts alone, two updates of a batch",
        "gspo": "GSPO on drafts alone, two updates of a batch",
        "grpo-2": "grpo, two updates of a batch",
        "pairs-only": "paired, without the update of drafts",
        "costs": "paired, .1 for a case and for a revision",
        "margin": "paired; pairs stop at a margin of 3 nats",
        "samples-2": "paired, 2 forms per step (4 in paired)",
        "samples-8": "paired, 8 forms per step",
        "noisy-oracle": "paired, a tenth of the right values is wrong",
    },
    "answers": {
        "diva": "a ranking head that sees the compressed search",
        "full": "one that sees the whole search",
        "no-search": "one that sees none",
        "agentic": "the language model ranks in words after the search",
        "generative": "it ranks in words from memory",
        "points": "it gives each answer points after the search",
    },
    "probes": {
        "weakness": "probes of the error types that the verifier misses most, from one set of claims",
        "random": "probes at random, from the same set",
        "mixed": "probes by weakness, from both sets",
    },
}
"""Arms by world; ``split-X-Y`` and ``kl-X``, which name their setting, are left out."""
MEASURES_SAY: Mapping[str, Mapping[str, str]] = {
    "facts": {
        "label": "the label is right (of a record that cannot be read it is Not Attributable)",
        "readable": "the record can be read",
        "reward/alignment": "the paper's R_a (eq. 8), 0 of a record that cannot be read",
        "aligned": "every entry of the alignment names the right words",
        "false_alarm": "of true claims, those refused",
        "brier": "squared error of the confidence",
    },
    "instructions": {
        "all": "responses that follow every constraint",
        "overrates": "the policy's yes to an item of its own response, less whether it holds",
        "judged": "judgments of made responses that are right",
    },
    "documents": {
        "right": "every number that is asked for, and no other",
        "hallucinated": "stated numbers that no document has",
        "silent": "responses without a number",
        "right-many": "right, with seven to eight documents",
    },
    "forms": {
        "lines": "lines that are right as submitted; the start submits its drafts",
        "drafts": "drafts that are right",
        "reviewed": "lines right after a review",
        "repaired": "made wrong drafts that are submitted right",
        "caught": "of one wrong and one right made draft, reviews that are right; .5 if always silent",
        "case/1": "sound drafts that pass without a case",
    },
    "answers": {
        "first": "P@1, by chance .333",
        "tau": "Kendall's tau-b, by chance 0",
        "chosen": "right numbers in the best of four answers of the start, as the arm ranks them",
    },
    "probes": {
        "weak": "right labels of errors whose types the start has never seen",
        "strong": "of all other claims",
        "right": "of all claims",
        "late": "of claims that name their place late, a set of their own",
    },
}
"""Measures by world, without ``oracle/``; each is a mean over held-out prompts, those to which it applies."""


def in_words(say: Mapping[str, str], names: list[str]) -> str:
    """Names with what they are.

    >>> in_words({"weak": "errors"}, ["weak", "kl-0"])
    '`weak`: errors'
    """
    return "; ".join(f"`{name}`: {say[name]}" for name in names if name in say)
