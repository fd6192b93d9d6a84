"""A Llama of two layers with random weights that reads and writes bytes: what models in this process are tested on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

END = "<end>"
TEMPLATE = (
    "{% for message in messages %}{{ '<' + message['role'][0] + '>' + message['content'] + '<end>' }}{% endfor %}"
    "{% if add_generation_prompt %}<a>{% endif %}"
)
TOOL_TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% for message in messages %}{{ '<' + message['role'][0] + '>' + message['content'] }}"
    "{% for call in message['tool_calls'] or () %}{{ call['function']['arguments']['query'] }}{% endfor %}"
    "{{ '<end>' }}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
)
CONTEXT = 128


def write_tiny_llama(folder: Path, template: str | None = TEMPLATE, context: int = CONTEXT) -> Path:
    """A folder that transformers can load, with a chat template or without."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    specials = [END, "<s>", "<u>", "<a>"]
    vocabulary = {token: i for i, token in enumerate([*specials, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    bytewise = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytewise, eos_token=END, pad_token=END, additional_special_tokens=specials[1:]
    )
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
        initializer_range=0.3,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def write_tiny_recurrent(folder: Path, architecture: str) -> Path:
    """The same tokenizer with a tiny "mamba" or "qwen3_next", whose layers keep a state instead of keys and values."""
    import torch
    import transformers

    write_tiny_llama(folder)
    (folder / "generation_config.json").unlink()
    size: dict[str, Any] = {"vocab_size": 260, "hidden_size": 32, "num_hidden_layers": 4, "initializer_range": 0.3}
    tokens = {"bos_token_id": None, "eos_token_id": 0, "pad_token_id": 0}
    torch.manual_seed(0)
    if architecture == "mamba":
        transformers.MambaForCausalLM(transformers.MambaConfig(**size, **tokens, state_size=8)).save_pretrained(folder)
        return folder
    config = transformers.Qwen3NextConfig(
        **size,
        **tokens,
        intermediate_size=64,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=CONTEXT,
        linear_num_key_heads=2,
        linear_num_value_heads=2,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    )
    transformers.Qwen3NextForCausalLM(config).save_pretrained(folder)
    return folder


def write_tiny_adapter(folder: Path, model: Path, seed: int) -> Path:
    """A LoRA adapter for it that changes what it says; needs peft."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM

    torch.manual_seed(seed)
    # By default a new adapter changes nothing; this one begins at random.
    config = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    get_peft_model(LlamaForCausalLM.from_pretrained(model), config).save_pretrained(folder)
    return folder
