"""The inference of publishers, written again from their code without ours; sentences end at a period and a blank.

Sources: Liyan06/MiniCheck ``minicheck/inference.py``, derenlei/FactCG ``factcg/inference.py``, yuh-zha/AlignScore
``inference.py`` (``nli_sp``), and the usage with transformers that model cards of cross-encoders show.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers


def split(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def loaded(folder: Path, kind: str = "AutoModelForSequenceClassification") -> tuple[Any, Any]:
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def greedy(parts: list[str], limit: int, length: Callable[[str], int], joint: str) -> list[str]:
    chunks, current, size = [], [], 0
    for part in parts:
        if size + length(part) > limit:
            chunks.append(joint.join(current))
            current, size = [], 0
        current.append(part)
        size += length(part)
    return [chunk for chunk in [*chunks, joint.join(current)] if chunk.strip()]


def minicheck(folder: Path, document: str, claim: str) -> float:
    is_t5 = folder.name == "t5"
    tokenizer, model = loaded(folder, "AutoModelForSeq2SeqLM" if is_t5 else "AutoModelForSequenceClassification")
    limit = 512 if folder.name == "roberta" else 2048
    parts: list[str] = []
    for line in document.split("\n"):
        parts += [*split(line), "\n"]

    def length(part: str) -> int:
        return len(part.split()) if is_t5 else len(tokenizer(part, add_special_tokens=False)["input_ids"])

    chunks = greedy(parts[:-1], 500 if is_t5 else 400, length, " ")
    chunks = [chunk.replace(" \n ", "\n").strip() for chunk in chunks]
    texts = [tokenizer.eos_token.join([chunk, claim]) for chunk in chunks if chunk]
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
    chunks = greedy(split(document), 550, lambda part: len(re.findall(r"\w+|[.,]", part)), "\n")
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
    found = split(document)
    size = max(len(found) // (len(document.strip().split()) // 350 + 1), 1)
    premises = [" ".join(found[at : at + size]) for at in range(0, len(found), size)]
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
