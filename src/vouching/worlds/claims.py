"""What the papers claim, as comparisons of two arms in a small world, fixed before the arms are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from vouching.worlds.report import PaperClaim

World: TypeAlias = Literal["facts", "instructions", "documents"]

CLAIMS: Mapping[World, tuple[PaperClaim, ...]] = {
    "facts": (
        PaperClaim("binary reward does not improve labels", "SEVA Table 6: F1 64.9 to < 65",
                   "binary", "initial", "oracle/right", expects="no more"),
        PaperClaim("binary reward does not improve the format", "SEVA Table 6: 72 % to 72 %",
                   "binary", "initial", "oracle/readable", expects="no more"),
        PaperClaim("process reward improves labels more than binary", "SEVA Table 6: F1 69.0, < 65",
                   "process", "binary", "oracle/right"),
        PaperClaim("process reward improves the alignment", "SEVA Table 6: R_a .917 to .997",
                   "process", "initial", "oracle/aligned"),
        PaperClaim("process reward gains labels by more than format", "ours, against Prop. 2",
                   "process", "binary-format", "oracle/right"),
        PaperClaim("process reward gains alignment by more than format", "ours, against Prop. 2",
                   "process", "binary-format", "oracle/aligned"),
        PaperClaim("70/30 gives better labels than 90/10", "SEVA Table 21", "process", "split-90-10", "oracle/right"),
        PaperClaim("70/30 gives better labels than 30/70", "SEVA Table 21", "process", "split-30-70", "oracle/right"),
        PaperClaim("beta of .01 holds the policy back", "SEVA 3.1", "process", "kl-0.01", "oracle/right"),
        PaperClaim("R_d raises false alarms", "SEVA 4.2: 35.9 % false positives", "process", "normalised",
                   "oracle/false_alarm"),
        PaperClaim("R_cal raises false alarms", "SEVA C.5", "process", "no-calibration", "oracle/false_alarm"),
        PaperClaim("grounded reward aligns better than the paper's", "ours", "grounded", "process", "oracle/aligned"),
        PaperClaim("linear R_cal states confidence worse than Brier", "ours", "process", "brier", "oracle/brier"),
        PaperClaim("16 records per claim give better labels than 4", "SEVA 2.3: more samples do not help",
                   "g16", "g4", "oracle/right", expects="no more"),
    ),
    "instructions": (
        PaperClaim("a checklist judged by another model improves responses", "Soft-RLVR: IFEval 73.9 to 84.2",
                   "outside", "initial", "oracle/all"),
        PaperClaim("the same judge helps more item by item than on the whole", "Soft-RLVR: 84.2, holistic 80.8",
                   "outside", "holistic", "oracle/all"),
        PaperClaim("rules help more than a judge that errs", "Soft-RLVR: 88.9, judge 84.2",
                   "rules", "outside", "oracle/all"),
        PaperClaim("self-verification improves responses", "Soft-SVeRL Fig. 4: 73.9 to 76.3",
                   "full", "initial", "oracle/all"),
        PaperClaim("a policy that judges itself without learning to gets worse", "Soft-SVeRL: 73.9 to 55.1",
                   "initial", "naive", "oracle/all"),
        PaperClaim("learning to judge gives better responses than not learning to", "Soft-SVeRL: 76.3, naive 55.1",
                   "full", "naive", "oracle/all"),
        PaperClaim("a policy that does not learn to judge grows lenient", "Soft-SVeRL section 4",
                   "naive", "full", "oracle/lenient"),
        PaperClaim("learning to judge improves the judge", "Soft-SVeRL section 4", "full", "initial", "oracle/judged"),
        PaperClaim("replay gives better responses than gold alone", "Soft-SVeRL Fig. 4: 76.3, gold 75.6",
                   "full", "gold-only", "oracle/all"),
        PaperClaim("the partition term gives better responses", "Soft-SVeRL section 4.3",
                   "full", "no-partition", "oracle/all"),
        PaperClaim("too strong a partition term holds responses back", "Soft-SVeRL Fig. 4: .1 75.6, .5 74.8",
                   "full", "partition-1", "oracle/all"),
        PaperClaim("eight votes give better responses than three", "Soft-SVeRL Fig. 4: 77.0, 76.3",
                   "votes-8", "full", "oracle/all"),
    ),
    "documents": (
        PaperClaim("joint training improves answers", "MARCH: 55.2 to 74.9 on RAGTruth and FaithBench",
                   "full", "initial", "oracle/right"),
        PaperClaim("joint training lowers hallucinations", "MARCH: the same", "initial", "full", "oracle/hallucinated"),
        PaperClaim("both roles give better answers than the solver alone", "MARCH Table 6: 37.8, 31.6",
                   "full", "solver-only", "oracle/right"),
        PaperClaim("-1/0 gives better answers than 0/1", "MARCH: 59.1, 50.4", "full", "scale-01", "oracle/right"),
        PaperClaim("zero tolerance gives better answers than the error rate", "MARCH section 3.4",
                   "full", "error-rate", "oracle/right"),
        PaperClaim("without a guard of questions the solver falls silent", "MARCH App. B.4",
                   "no-guard", "full", "oracle/silent"),
        PaperClaim("many irrelevant documents hold training back", "ours; MARCH trains on .24 to .88",
                   "irrelevant-24", "irrelevant-88", "oracle/right"),
    ),
}  # fmt: skip
"""The claims that each world can test."""
