"""A Qwen2 of two layers with random weights and its own tokenizer: what training of language models is tested on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

CONTEXT = 128
TEMPLATE = "{% for message in messages %}{{ message['content'] + '<end>' }}{% endfor %}"


def write_tiny_qwen(
    folder: Path,
    texts: Iterable[str],
    context: int = CONTEXT,
    vocabulary: int = 512,
    width: int = 64,
    layers: int = 2,
    pieces: Sequence[str] = (),
    closed: bool = False,
) -> Path:
    """A folder that transformers can load: about 107,000 weights, with 512 tokens, which are trained on ``texts``.

    ``pieces`` are texts that are one token each, beside the vocabulary. A ``closed`` vocabulary has only bytes that the
    texts have, and weights start with a deviation of 1 over the root of the width. With 500 tokens that never occur, or
    with the deviation of .02 that suits large models, a policy had not learned to copy after 1,000 steps.
    """
    import torch
    from tokenizers import ByteLevelBPETokenizer, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, logging

    logging.disable_progress_bar()
    folder.mkdir(parents=True, exist_ok=True)
    special = ["<end>", "<pad>"]
    if closed:
        trained = Tokenizer(models.BPE())
        trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trained.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False)
        trained.train_from_iterator(_without(texts, pieces), trainer)
    else:
        trained = ByteLevelBPETokenizer()
        trained.train_from_iterator(texts, vocab_size=vocabulary, special_tokens=special, show_progress=False)
    trained.add_tokens([*pieces])
    trained.save(str(folder / "tokenizer.json"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), eos_token="<end>", pad_token="<pad>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer) if closed else vocabulary + len(pieces),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=None,
        tie_word_embeddings=True,
        initializer_range=width**-0.5 if closed else 0.02,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


def _without(texts: Iterable[str], pieces: Sequence[str]) -> Iterator[str]:
    """Texts without the pieces, which the vocabulary need not have."""
    longest = re.compile("|".join(map(re.escape, sorted(pieces, key=len, reverse=True))) or r"(?!)")
    return (rest for text in texts for rest in longest.split(text) if rest)


def imitate(model: Any, tokenizer: Any, optimizer: Any, chosen: Sequence[tuple[str, str]]) -> None:
    """A step towards saying the second text of each pair after the first."""
    batch = tokenizer([asked + said for asked, said in chosen], return_tensors="pt", padding=True)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    for row, (asked, _) in enumerate(chosen):
        labels[row, : len(tokenizer(asked)["input_ids"])] = -100
    model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
