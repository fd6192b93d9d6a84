"""Scorers and peers with random weights, some thousand of them: what running them is tested on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.train.tiny_qwen import write_tiny_qwen

TEXTS = [
    "Question: When did the bridge open? Answer: In 1973. Useful facts: The bridge opened to traffic in 1973.",
    "Reasoning: The year agrees; predict: It has two towers. Premise: Hypothesis: a river, an old city of 1937",
]


def write_tiny_scorer(folder: Path, labels: int = 1) -> Path:
    """A Qwen2 with a head of so many outputs."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    write_tiny_qwen(folder, TEXTS)
    torch.manual_seed(1)
    config = AutoConfig.from_pretrained(folder, num_labels=labels)
    model = AutoModelForSequenceClassification.from_config(config)
    torch.nn.init.normal_(model.score.weight)
    model.save_pretrained(folder)
    return folder


def write_tiny_adapter(folder: Path, base: Path, head: bool = True) -> Path:
    """LoRA adapters for a Qwen2, with or without a trained head."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForSequenceClassification

    torch.manual_seed(2)
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
    torch.nn.init.normal_(model.score.weight)
    kind = "SEQ_CLS" if head else None
    config = LoraConfig(task_type=kind, r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    get_peft_model(model, config).save_pretrained(folder)
    return folder


def write_t5_tokenizer(folder: Path) -> Any:
    """A tokenizer with T5's special tokens, and more than 209 others: bytes and what training adds."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=300, special_tokens=["<pad>", "</s>", "<unk>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    tokenizer.save_pretrained(folder)
    return tokenizer


def t5_config(words: int, **more: Any) -> Any:
    """The shape of flan-t5, small."""
    from transformers import T5Config

    return T5Config(
        vocab_size=words,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        **more,
    )


def write_tiny_minicheck(folder: Path, kind: str) -> Path:
    """MiniCheck in one of its architectures: "t5", "roberta" or "deberta-v2"."""
    import torch
    import transformers as tf

    folder.mkdir(parents=True)
    torch.manual_seed(3)
    words = len(write_t5_tokenizer(folder))
    size: dict[str, Any] = {
        "vocab_size": words,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "pad_token_id": 0,
        "num_labels": 2,
    }
    model: Any
    if kind == "t5":
        model = tf.T5ForConditionalGeneration(t5_config(words, tie_word_embeddings=False))
    elif kind == "roberta":
        model = tf.RobertaForSequenceClassification(tf.RobertaConfig(max_position_embeddings=520, **size))
    else:
        config = tf.DebertaV2Config(
            max_position_embeddings=512,
            relative_attention=True,
            position_buckets=16,
            pos_att_type=["p2c", "c2p"],
            type_vocab_size=0,
            position_biased_input=False,
            **size,
        )
        model = tf.DebertaV2ForSequenceClassification(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    model.save_pretrained(folder)
    return folder


def write_tiny_hhem(folder: Path, tokenizer: bool = True) -> Path:
    """HHEM as it is published: weights under their names, a config that names code of its own, no tokenizer."""
    import json

    import torch
    from safetensors.torch import save_file
    from transformers import T5ForTokenClassification

    folder.mkdir(parents=True)
    torch.manual_seed(4)
    words = 320
    if tokenizer:
        words = len(write_t5_tokenizer(folder))
    model = T5ForTokenClassification(t5_config(words, num_labels=2))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    weights = {
        f"t5.{name}": tensor.clone() for name, tensor in model.state_dict().items() if "embed_tokens" not in name
    }
    save_file(weights, str(folder / "model.safetensors"))
    code = {"AutoConfig": "configuration_hhem_v2.HHEMv2Config"}
    (folder / "config.json").write_text(json.dumps({"model_type": "HHEMv2Config", "auto_map": code}), encoding="utf-8")
    (folder / "configuration_hhem_v2.py").write_text("raise SystemExit('this code was run')\n", encoding="utf-8")
    return folder


def write_pair_tokenizer(folder: Path, kind: str, limit: int = 512) -> Any:
    """A tokenizer for pairs of texts as BERT, RoBERTa, DeBERTa or ModernBERT have it, of bytes and a few words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    first, last, pad, unknown = (
        ("<s>", "</s>", "<pad>", "<unk>")
        if kind == "roberta"
        else (
            "[CLS]",
            "[SEP]",
            "[PAD]",
            "[UNK]",
        )
    )
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=[pad, first, last, unknown],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator(TEXTS, trainer)
    middle = f"{last} {last}" if kind == "roberta" else last
    types = ("", ":1") if kind == "bert" else ("", "")
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {middle} $B{types[1]} {last}{types[1]}",
        special_tokens=[(first, 1), (last, 2)],
    )
    inputs = ["input_ids", "attention_mask"] + ["token_type_ids"] * (kind == "bert")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token=pad,
        cls_token=first,
        sep_token=last,
        unk_token=unknown,
        bos_token=first,
        eos_token=last,
        model_max_length=limit,
        model_input_names=inputs,
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_tiny_pair_model(folder: Path, kind: str, labels: dict[int, str] | None = None) -> Path:
    """A cross-encoder ("bert", "roberta", "deberta-v2") with these labels, or a token classifier ("modernbert")."""
    import torch
    import transformers as tf

    folder.mkdir(parents=True)
    torch.manual_seed(5)
    words = len(write_pair_tokenizer(folder, kind))
    labels = labels or {0: "LABEL_0", 1: "LABEL_1"}
    size: dict[str, Any] = {
        "vocab_size": words,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "pad_token_id": 0,
        "id2label": labels,
        "label2id": {name: number for number, name in labels.items()},
    }
    model: Any
    if kind == "bert":
        model = tf.BertForSequenceClassification(tf.BertConfig(max_position_embeddings=512, **size))
    elif kind == "roberta":
        model = tf.RobertaForSequenceClassification(tf.RobertaConfig(max_position_embeddings=514, **size))
    elif kind == "deberta-v2":
        config = tf.DebertaV2Config(
            max_position_embeddings=512,
            relative_attention=True,
            position_buckets=16,
            pos_att_type=["p2c", "c2p"],
            type_vocab_size=0,
            position_biased_input=False,
            **size,
        )
        model = tf.DebertaV2ForSequenceClassification(config)
    else:
        config = tf.ModernBertConfig(
            max_position_embeddings=4096,
            cls_token_id=1,
            sep_token_id=2,
            bos_token_id=1,
            eos_token_id=2,
            reference_compile=False,
            attn_implementation="eager",
            **size,
        )
        model = tf.ModernBertForTokenClassification(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    model.save_pretrained(folder)
    return folder


def write_tiny_alignscore(folder: Path) -> tuple[Path, Path]:
    """A checkpoint as Lightning writes it, with all heads, and the folder of the RoBERTa it was trained from."""
    import torch
    import transformers as tf

    roberta = write_tiny_pair_model(folder / "roberta", "roberta")
    torch.manual_seed(6)
    base = tf.RobertaModel(tf.AutoConfig.from_pretrained(roberta))
    for parameter in base.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    weights = {f"base_model.{name}": value for name, value in base.state_dict().items()}
    for name, outputs in (("bin", 2), ("tri", 3), ("reg", 1)):
        weights |= {f"{name}_layer.weight": torch.randn(outputs, 32), f"{name}_layer.bias": torch.randn(outputs)}
    path = folder / "AlignScore.ckpt"
    torch.save({"state_dict": weights, "hyper_parameters": {"model": "roberta-base"}, "epoch": 2}, path)
    return path, roberta
