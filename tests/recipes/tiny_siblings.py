"""RoBERTa, DeBERTa-v3 and ModernBERT with random weights, as small as possible, each with a tokenizer of its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.train.tiny_bert import WORDS, write_tiny_bert

SIBLINGS = ("bert", "roberta", "deberta-v2", "modernbert")
_TEXTS = ["The bridge was built by the old city.", " ".join(WORDS), "It opened 12 years ago. 0123456789"] * 3
_BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def write_tiny(kind: str, folder: Path) -> Path:
    """A folder with config.json, weights and tokenizer.json that ``recipes/encoder/train.py`` can start from."""
    if kind == "bert":
        return write_tiny_bert(folder)
    import torch
    import transformers

    torch.manual_seed(0)
    folder.mkdir(exist_ok=True)
    tokenizer = _unigrams() if kind == "deberta-v2" else _byte_pairs(kind)
    tokenizer.save(str(folder / "tokenizer.json"))
    sizes: dict[str, Any] = {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "pad_token_id": tokenizer.token_to_id("<pad>" if kind == "roberta" else "[PAD]"),
    }
    if kind == "roberta":  # positions begin after that of padding: 64 tokens can be read
        config: Any = transformers.RobertaConfig(**sizes, max_position_embeddings=66, type_vocab_size=1)
        model: Any = transformers.RobertaModel(config, add_pooling_layer=False)
    elif kind == "deberta-v2":  # the settings of DeBERTa-v3
        config = transformers.DebertaV2Config(
            **sizes,
            max_position_embeddings=64,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=16,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
        )
        model = transformers.DebertaV2Model(config)
    else:
        config = transformers.ModernBertConfig(**sizes, max_position_embeddings=64, local_attention=8)
        model = transformers.ModernBertModel(config)
    model.save_pretrained(folder)
    return folder


def _byte_pairs(kind: str) -> Any:
    """A tokenizer like RoBERTa's, or with the same parts but BERT's names of special tokens like ModernBERT's."""
    from tokenizers import ByteLevelBPETokenizer, Tokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>"] if kind == "roberta" else _BERT_TOKENS
    made = ByteLevelBPETokenizer()
    made.train_from_iterator(_TEXTS, vocab_size=330, min_frequency=1, show_progress=False, special_tokens=special)
    return Tokenizer.from_str(made.to_str())


def _unigrams() -> Any:
    """A tokenizer like DeBERTa-v3's: Unigram, with a mark for a space before each word."""
    from tokenizers import SentencePieceUnigramTokenizer, Tokenizer

    made = SentencePieceUnigramTokenizer()
    made.train_from_iterator(_TEXTS, vocab_size=80, show_progress=False, special_tokens=_BERT_TOKENS, unk_token="[UNK]")
    return Tokenizer.from_str(made.to_str())
