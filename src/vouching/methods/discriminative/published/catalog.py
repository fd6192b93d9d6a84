"""What is known of the published verifiers: where they are, what they need, and their authors' figures.

Figures are the authors' own; none was measured here. ``vouch models`` prints this table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """One kind of published verifier."""

    kind: str
    """As on the command line."""
    form: str
    """Form of its name."""
    get: tuple[str, ...]
    """Names of its weights on the Hugging Face hub, or what to read."""
    size: str
    """Number of parameters."""
    licence: str
    """Of the weights, as its authors state it."""
    speed: str
    """slow, medium or fast, for one claim with a page of text; "GPU" if a CPU is not practical."""
    gives: str
    """What it gives beside the score."""
    theirs: str
    """Its authors' figures."""
    local: bool = True
    """Whether weights run in this process."""
    served: bool = False
    """Whether a language model on a server or in this process is asked."""
    beside: str = ""
    """What it needs from another name on the hub: the name and the files."""

    @property
    def needs(self) -> str:
        """What has to be installed or running."""
        parts = ["extra train"] * self.local + ["a server (vLLM)"] * self.served
        return " or ".join(parts)

    @property
    def command(self) -> str:
        """The commands that download the first of its weights, and what they need besides."""
        return " && ".join(f"hf download {one}" for one in (self.get[0], self.beside) if one)


_MODEL = "http://HOST/v1#NAME"
CATALOG = {
    one.kind: one
    for one in (
        Published(
            "minicheck",
            f"minicheck:PATH or minicheck:{_MODEL}",
            (
                "lytang/MiniCheck-Flan-T5-Large",
                "lytang/MiniCheck-DeBERTa-v3-Large",
                "lytang/MiniCheck-RoBERTa-Large",
                "bespokelabs/Bespoke-MiniCheck-7B (served)",
            ),
            "355 M - 783 M, 7.7 B",
            "MIT; the 7B CC BY-NC 4.0",
            "medium; the 7B GPU",
            "nothing",
            "LLM-AggreFact balanced accuracy 77.4 (7B), 75.0 (Flan-T5), 74.1 (DeBERTa)",
            served=True,
        ),
        Published(
            "hhem",
            "hhem:PATH[#TOKENIZER]",
            ("vectara/hallucination_evaluation_model",),
            "110 M",
            "Apache-2.0",
            "fast",
            "nothing",
            "LLM-AggreFact 71.8; RAGTruth-QA balanced accuracy 74.3",
            beside="google/flan-t5-base tokenizer.json tokenizer_config.json",
        ),
        Published(
            "lettuce",
            "lettuce:PATH",
            ("KRLabsOrg/lettucedect-base-modernbert-en-v1", "KRLabsOrg/lettucedect-large-modernbert-en-v1"),
            "17 M - 400 M",
            "MIT",
            "fast",
            "spans of unsupported words",
            "RAGTruth response F1 79.2 (large), 76.8 (base), 68.5 - 75.0 (17 - 68 M), trained on its training part",
        ),
        Published(
            "nli",
            "nli:PATH[#LABEL]",
            ("MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli", "any cross-encoder for entailment"),
            "any",
            "that of the model",
            "fast",
            "nothing",
            "that of the model",
        ),
        Published(
            "alignscore",
            "alignscore:CHECKPOINT#ROBERTA",
            ("yzha/AlignScore AlignScore-base.ckpt",),
            "125 M, 355 M",
            "MIT",
            "fast",
            "nothing",
            "LLM-AggreFact 72.5 - 73.4; SummaC 88.6 and TRUE AUC 83.8 (large)",
            beside="FacebookAI/roberta-base config.json tokenizer.json tokenizer_config.json",
        ),
        Published(
            "factcg",
            "factcg:PATH",
            ("yaxili96/FactCG-DeBERTa-v3-Large",),
            "435 M",
            "MIT",
            "medium",
            "nothing",
            "LLM-AggreFact 77.2",
        ),
        Published(
            "granite-guardian",
            f"granite-guardian:{_MODEL}",
            ("ibm-granite/granite-guardian-3.3-8b",),
            "8 B",
            "Apache-2.0",
            "GPU",
            "nothing",
            "LLM-AggreFact 76.5",
            local=False,
            served=True,
        ),
        Published(
            "lynx",
            f"lynx:{_MODEL}",
            ("PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct",),
            "8 B, 70 B",
            "CC BY-NC 4.0; first card: llama3",
            "GPU",
            "its reason; the score is 1 or 0",
            "HaluBench accuracy 82.9 (8B)",
            local=False,
            served=True,
        ),
        Published(
            "faithlens",
            f"faithlens:{_MODEL}",
            ("ssz1111/FaithLens",),
            "8 B",
            "see its model card",
            "GPU",
            "its reason; the score is 1 or 0",
            "LLM-AggreFact and HoVer, see its paper",
            local=False,
            served=True,
        ),
    )
}
"""By kind."""
