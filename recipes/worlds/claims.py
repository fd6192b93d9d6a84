"""What the papers claim, as comparisons of two arms in a small world, written before the arms are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from recipes.worlds.report import PaperClaim

World: TypeAlias = Literal["facts", "instructions", "documents", "forms", "answers", "probes"]

CLAIMS: Mapping[World, tuple[PaperClaim, ...]] = {
    "facts": (
        PaperClaim(
            "binary reward does not improve labels",
            "SEVA Table 6: F1 64.9 to < 65",
            "binary",
            "initial",
            "oracle/label",
            expects="no more",
        ),
        PaperClaim(
            "binary reward does not improve the format",
            "SEVA Table 6: 72 % to 72 %",
            "binary",
            "initial",
            "oracle/readable",
            expects="no more",
        ),
        PaperClaim(
            "process reward improves labels more than binary",
            "SEVA Table 6: F1 69.0, < 65",
            "process",
            "binary",
            "oracle/label",
        ),
        PaperClaim(
            "process reward raises R_a of readable records",
            "SEVA Table 6: R_a .917 to .997",
            "process",
            "initial",
            "reward/alignment",
            among="oracle/readable",
        ),
        PaperClaim(
            "process reward gives readable records a higher R_a than binary",
            "SEVA Table 6: .997, < .92",
            "process",
            "binary",
            "reward/alignment",
            among="oracle/readable",
        ),
        PaperClaim(
            "process reward makes alignments right",
            "ours: R_a is blind to content",
            "process",
            "initial",
            "oracle/aligned",
        ),
        PaperClaim(
            "process reward gains labels by more than format",
            "ours, against Prop. 2",
            "process",
            "binary-format",
            "oracle/label",
        ),
        PaperClaim(
            "process reward gains right alignments by more than format",
            "ours, against Prop. 2",
            "process",
            "binary-format",
            "oracle/aligned",
        ),
        PaperClaim("70/30 gives better labels than 90/10", "SEVA Table 21", "process", "split-90-10", "oracle/label"),
        PaperClaim("70/30 gives better labels than 30/70", "SEVA Table 21", "process", "split-30-70", "oracle/label"),
        PaperClaim("beta of .01 holds the policy back", "SEVA 2.4", "process", "kl-0.01", "oracle/label"),
        PaperClaim(
            "R_d raises false alarms", "SEVA 4.2: 35.9 % false positives", "process", "normalised", "oracle/false_alarm"
        ),
        PaperClaim("R_cal raises false alarms", "SEVA C.5", "process", "no-calibration", "oracle/false_alarm"),
        PaperClaim("grounded reward aligns better than the paper's", "ours", "grounded", "process", "oracle/aligned"),
        PaperClaim("linear R_cal states confidence worse than Brier", "ours", "process", "brier", "oracle/brier"),
        PaperClaim(
            "with binary reward, 16 records per claim give no better labels than 4",
            "SEVA 2.3: larger groups do not help",
            "binary-g16",
            "binary-g4",
            "oracle/label",
            expects="no more",
        ),
    ),
    "instructions": (
        PaperClaim(
            "a checklist judged by another model improves responses",
            "Soft-RLVR: IFEval 73.9 to 84.2",
            "outside",
            "initial",
            "oracle/all",
        ),
        PaperClaim(
            "the same judge helps more item by item than on the whole",
            "Soft-RLVR: 84.2, holistic 80.8",
            "outside",
            "holistic",
            "oracle/all",
            built_in="both judges err at rates of the paper's Table 2",
        ),
        PaperClaim(
            "rules help more than a judge that errs",
            "Soft-RLVR: 88.9, judge 84.2",
            "rules",
            "outside",
            "oracle/all",
            built_in="the judge errs at rates of the paper's Table 2",
        ),
        PaperClaim(
            "self-verification improves responses", "Soft-SVeRL Fig. 4: 73.9 to 76.3", "full", "initial", "oracle/all"
        ),
        PaperClaim(
            "a policy that judges itself without learning to gets worse",
            "Soft-SVeRL: 73.9 to 55.1",
            "initial",
            "naive",
            "oracle/all",
        ),
        PaperClaim(
            "learning to judge gives better responses than not learning to",
            "Soft-SVeRL: 76.3, naive 55.1",
            "full",
            "naive",
            "oracle/all",
        ),
        PaperClaim(
            "a policy that does not learn to judge overrates itself more than before",
            "Soft-SVeRL section 4",
            "naive",
            "initial",
            "oracle/overrates",
        ),
        PaperClaim(
            "learning to judge lowers how much a policy overrates itself",
            "Soft-SVeRL section 4",
            "initial",
            "full",
            "oracle/overrates",
        ),
        PaperClaim(
            "learning to judge improves judgments of responses like the labelled ones",
            "ours",
            "full",
            "initial",
            "oracle/judged",
        ),
        PaperClaim(
            "replay gives better responses than gold alone",
            "Soft-SVeRL Fig. 4: 76.3, gold 75.6",
            "full",
            "gold-only",
            "oracle/all",
        ),
        PaperClaim(
            "the partition term gives better responses", "Soft-SVeRL section 4.2", "full", "no-partition", "oracle/all"
        ),
        PaperClaim(
            "a partition term of .5 is worse than one of .1, with gold alone",
            "Soft-SVeRL Fig. 4: .1 75.6, .5 74.8",
            "gold-only",
            "gold-only-0.5",
            "oracle/all",
        ),
        PaperClaim(
            "exact labels of rules on its own responses anchor a policy that judges itself",
            "ours: Soft-SVeRL needs gold labels",
            "anchor-ruled",
            "naive-ruled",
            "oracle/all",
        ),
        PaperClaim("they anchor it better than gold labels", "ours", "anchor-ruled", "gold-ruled", "oracle/all"),
        PaperClaim(
            "eight votes give better responses than three",
            "Soft-SVeRL Fig. 4: 77.0, 76.3",
            "votes-8",
            "full",
            "oracle/all",
        ),
    ),
    "documents": (
        PaperClaim(
            "joint training improves answers",
            "MARCH: 55.2 to 74.9 on RAGTruth and FaithBench",
            "full",
            "initial",
            "oracle/right",
        ),
        PaperClaim("joint training lowers hallucinations", "MARCH: the same", "initial", "full", "oracle/hallucinated"),
        PaperClaim(
            "both roles give better answers than the solver alone",
            "MARCH Table 5: 37.8, 31.6",
            "full",
            "solver-only",
            "oracle/right",
        ),
        PaperClaim(
            "-1/0 gives better answers than 0/1",
            "MARCH: 59.1, 50.4; ours: a constant apart, with gamma 1",
            "full",
            "scale-01",
            "oracle/right",
        ),
        PaperClaim(
            "zero tolerance gives better answers than the error rate",
            "MARCH Table 6: 61.3, 55.5",
            "full",
            "error-rate",
            "oracle/right",
        ),
        PaperClaim(
            "a least number of questions gives better answers",
            "MARCH App. B.4: fewer and fewer",
            "full",
            "no-question-guard",
            "oracle/right",
        ),
        PaperClaim(
            "a fault for numbers of other places than the question's gives better answers",
            "ours: MARCH's reward compares numbers alone",
            "on-topic",
            "full",
            "oracle/right",
        ),
        PaperClaim(
            "a solver that may state no number falls silent", "ours", "silence-allowed", "full", "oracle/silent"
        ),
        PaperClaim(
            "a solver trained on few irrelevant documents errs more where there are many",
            "ours; MARCH trains on .24 to .88",
            "irrelevant-88",
            "irrelevant-24",
            "oracle/right-many",
        ),
    ),
    "forms": (
        PaperClaim(
            "the paired game improves what is submitted",
            "DPA-GRPO Table 1: .41 to .53",
            "paired",
            "initial",
            "oracle/lines",
        ),
        PaperClaim(
            "GRPO on the generator alone improves what is submitted",
            "DPA-GRPO Table 1: .41 to .52",
            "grpo",
            "initial",
            "oracle/lines",
        ),
        PaperClaim(
            "the paired game gives more than GRPO alone", "DPA-GRPO Table 1: .53, .52", "paired", "grpo", "oracle/lines"
        ),
        PaperClaim(
            "the paired game gives more than DAPO alone", "DPA-GRPO Table 1: .53, .47", "paired", "dapo", "oracle/lines"
        ),
        PaperClaim(
            "the paired game gives more than GSPO alone", "DPA-GRPO Table 1: .53, .46", "paired", "gspo", "oracle/lines"
        ),
        PaperClaim(
            "the paired game improves what is submitted after a review",
            "ours; Table 1 starts without one",
            "paired",
            "initial",
            "oracle/reviewed",
        ),
        PaperClaim(
            "the gain is better drafts", "DPA-GRPO: case 1 27.4 to 42.4 %", "paired", "initial", "oracle/drafts"
        ),
        PaperClaim("the gain is better repairs", "DPA-GRPO section 5", "paired", "initial", "oracle/repaired"),
        PaperClaim("the verifier learns whom to challenge", "DPA-GRPO Lemma 1", "paired", "initial", "oracle/caught"),
        PaperClaim(
            "drafts learn more with the update of proposals",
            "DPA-GRPO Algorithm 1, line 19",
            "paired",
            "pairs-only",
            "oracle/drafts",
        ),
        PaperClaim(
            "costs make sound lines pass unchallenged", "DPA-GRPO: case 1 needs costs", "costs", "paired", "case/1"
        ),
        PaperClaim(
            "a margin that stops pairs leaves more right",
            "ours; the gradient of a pair never vanishes",
            "margin",
            "paired",
            "oracle/lines",
        ),
        PaperClaim(
            "an oracle that errs in a tenth holds training back", "ours", "paired", "noisy-oracle", "oracle/lines"
        ),
    ),
    "answers": (
        PaperClaim(
            "a ranking head finds the best answer more often than generative ranking after the same search",
            "DiVA Table 2: P@1 88.4, 80.0",
            "full",
            "agentic",
            "oracle/first",
            built_in="the control has not learned the task",
        ),
        PaperClaim(
            "a ranking head orders answers better than generative ranking after the same search",
            "DiVA Table 2: tau 85.6, 74.1",
            "full",
            "agentic",
            "oracle/tau",
            built_in="the control has not learned the task",
        ),
        PaperClaim(
            "a ranking head finds the best answer more often than generative scoring",
            "DiVA Table 2: P@1 88.4, 79.9",
            "full",
            "points",
            "oracle/first",
            built_in="the control has not learned the task",
        ),
        PaperClaim("compression helps a ranking head", "DiVA: P@1 88.4, without 82.9", "diva", "full", "oracle/first"),
        PaperClaim(
            "a search helps a ranking head",
            "DiVA Table 2: P@1 88.4, without 72.2",
            "diva",
            "no-search",
            "oracle/first",
            built_in="without a search nothing can be known",
        ),
        PaperClaim(
            "a search helps generative ranking",
            "DiVA Table 2: P@1 80.0, without 71.0",
            "agentic",
            "generative",
            "oracle/first",
            built_in="neither arm has learned the task",
        ),
        PaperClaim(
            "the score chooses the best of four answers",
            "DiVA Table 6: F1 23.8 to 24.4 and more",
            "diva",
            "initial",
            "oracle/chosen",
        ),
    ),
    "probes": (
        PaperClaim(
            "self-evolution improves the errors that the start is weak on",
            "SEVA Table 2: HaluEval +14.3",
            "weakness",
            "initial",
            "oracle/weak",
        ),
        PaperClaim(
            "self-evolution harms what the start is good at",
            "SEVA Table 2: TruthfulQA -13.8",
            "initial",
            "weakness",
            "oracle/strong",
        ),
        PaperClaim(
            "self-evolution leaves the average as it is",
            "SEVA Table 22: 70.5 to 71.4",
            "weakness",
            "initial",
            "oracle/right",
            expects="the same",
        ),
        PaperClaim(
            "probes by weakness improve weak errors more than random ones",
            "SEVA 2.5 allots by weakness; this control is asked for, not reported",
            "weakness",
            "random",
            "oracle/weak",
        ),
        PaperClaim(
            "probes by weakness give better labels than random ones", "the same", "weakness", "random", "oracle/right"
        ),
        PaperClaim(
            "probes from both sets harm less than probes from one",
            "SEVA 2.5: one source of probes makes specialists",
            "mixed",
            "weakness",
            "oracle/strong",
        ),
        PaperClaim(
            "probes from both sets give better labels in the set that the others leave out",
            "the same",
            "mixed",
            "weakness",
            "oracle/late",
        ),
    ),
}
"""The claims that each world can test."""
