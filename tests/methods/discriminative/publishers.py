"""The inference of publishers, written again from their code without ours; sentences end at a period and a blank.

Sources: Liyan06/MiniCheck ``minicheck/inference.py``, derenlei/FactCG ``factcg/inference.py``, yuh-zha/AlignScore
``inference.py`` (``nli_sp``), the model card of vectara/hallucination_evaluation_model, and the usage with transformers
that model cards of cross-encoders show.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.methods.discriminative.tiny_scorers import t5_config

torch: Any = import_module("torch")
transformers: Any = import_module("transformers")
load_file: Any = import_module("safetensors.torch").load_file


def split(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def loaded(folder: Path, kind: str = "AutoModelForSequenceClassification") -> tuple[Any, Any]:
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def greedy(parts: list[str], limit: int, length: Callable[[str], int], joint: str) -> list[str]:
    chunks: list[str] = []
    current: list[str] = []
    size = 0
    for part in parts:
        if size + length(part) > limit:
            chunks.append(joint.join(current))
            current, size = [], 0
        current.append(part)
        size += length(part)
    return [*chunks, joint.join(current)]


def minicheck_chunks(document: str, limit: int, length: Callable[[str], int]) -> list[str]:
    parts: list[str] = []
    for line in document.split("\n"):
        parts += [*split(line), "\n"]
    chunks = [chunk.replace(" \n ", "\n").strip() for chunk in greedy(parts[:-1], limit, length, " ")]
    return [chunk for chunk in chunks if chunk]


def factcg_chunks(document: str, limit: int, length: Callable[[str], int]) -> list[str]:
    """With an empty chunk before a first sentence that is too long, as in ``chunking_src``."""
    return greedy(split(document), limit, length, "\n")


def alignscore_chunks(document: str, limit: int) -> list[str]:
    found = split(document)
    size = max(len(found) // (len(document.strip().split()) // limit + 1), 1)
    return [" ".join(found[at : at + size]) for at in range(0, len(found), size)]


def minicheck(folder: Path, document: str, claim: str) -> float:
    is_t5 = folder.name == "t5"
    tokenizer, model = loaded(folder, "AutoModelForSeq2SeqLM" if is_t5 else "AutoModelForSequenceClassification")
    limit = 512 if folder.name == "roberta" else 2048

    def length(part: str) -> int:
        return len(part.split()) if is_t5 else len(tokenizer(part, add_special_tokens=False)["input_ids"])

    chunks = minicheck_chunks(document, 500 if is_t5 else 400, length)
    texts = [tokenizer.eos_token.join([chunk, claim]) for chunk in chunks]
    found: list[float] = []
    for text in texts:
        prefix = "predict: " if is_t5 else ""
        inputs = tokenizer(prefix + text, max_length=limit, truncation=True, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        with torch.no_grad():
            if is_t5:
                logits = model(**inputs, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits[0, 0, [3, 209]]
            else:
                logits = model(**inputs).logits[0]
        found.append(logits.softmax(0)[1].item())
    return max(found)


def factcg(folder: Path, document: str, claim: str) -> float:
    tokenizer, model = loaded(folder)
    # The words and marks of these texts are those of nltk's word_tokenize.
    chunks = factcg_chunks(document, 550, lambda part: len(re.findall(r"\w+|[^\w\s]", part)))
    found: list[float] = []
    for chunk in chunks:
        asked = f'Choose your answer: based on the paragraph above can we conclude that "{claim}"?'
        text = f"{chunk}\n\n{asked}\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "
        inputs = tokenizer(text, max_length=2048, truncation=True, return_tensors="pt")
        with torch.no_grad():
            found.append(
                model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
                .logits[0]
                .softmax(0)[1]
                .item()
            )
    return max(found)


def alignscore(checkpoint: Path, roberta: Path, document: str, claim: str) -> float:
    tokenizer = transformers.AutoTokenizer.from_pretrained(roberta)
    weights = torch.load(checkpoint, weights_only=True)["state_dict"]
    model = transformers.RobertaModel(transformers.AutoConfig.from_pretrained(roberta)).eval()
    model.load_state_dict({key[11:]: value for key, value in weights.items() if key.startswith("base_model.")})
    premises = alignscore_chunks(document, 350)
    table: list[list[float]] = []
    for premise in premises:
        table.append([])
        for sentence in split(claim):
            inputs = tokenizer(
                premise, sentence, truncation="only_first", padding="max_length", max_length=512, return_tensors="pt"
            )
            with torch.no_grad():
                pooled = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).pooler_output[0]
            logits = weights["tri_layer.weight"] @ pooled + weights["tri_layer.bias"]
            table[-1].append(logits.softmax(0)[0].item())
    return sum(max(column) for column in zip(*table, strict=True)) / len(table[0])


def nli(folder: Path, document: str, claim: str, label: int) -> float:
    tokenizer, model = loaded(folder)
    inputs = tokenizer(document, claim, truncation=True, max_length=512, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs).logits[0].softmax(0)[label].item()


def hhem(folder: Path, document: str, claim: str) -> float:
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    weights = {name.removeprefix("t5."): value for name, value in load_file(folder / "model.safetensors").items()}
    model = transformers.T5ForTokenClassification(t5_config(len(tokenizer), num_labels=2)).eval()
    told: Any = model.load_state_dict(weights, strict=False)
    assert set(told.missing_keys) <= {"transformer.encoder.embed_tokens.weight"}
    assert not told.unexpected_keys
    question = "<pad> Determine if the hypothesis is true given the premise?"
    text = f"{question}\n\nPremise: {document}\n\nHypothesis: {claim}"
    with torch.no_grad():
        return model(**tokenizer(text, return_tensors="pt")).logits[0, 0].softmax(0)[1].item()
