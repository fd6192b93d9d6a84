"""TRL: two steps of GRPO on a model of some thousand parameters, rewarded for records of evidence.

Needs trl (pip install 'vouching[train]'). Prints:
    [1, 2] ['structured/chain', 'structured/label', 'structured/unverified']
"""

import tempfile
from pathlib import Path

from datasets import Dataset
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging
from trl import GRPOConfig, GRPOTrainer

from vouching.integrations.trl import trl_reward

rows = [
    {"claim": "It opened in 1937.", "source": "The bridge opened in 1973.", "gold": "Not Attributable"},
    {"claim": "It opened in 1973.", "source": "The bridge opened in 1973.", "gold": "Attributable"},
]
for row in rows:
    row["prompt"] = f"{row['source']} {row['claim']}"


def tiny_model(folder: str) -> tuple[Qwen2ForCausalLM, PreTrainedTokenizerFast]:
    """Random weights; take your own model instead."""
    trained = ByteLevelBPETokenizer()
    texts = [row["prompt"] for row in rows]
    trained.train_from_iterator(texts, vocab_size=300, special_tokens=["<eos>", "<pad>"], show_progress=False)
    trained.save(str(Path(folder) / "tokenizer.json"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(Path(folder) / "tokenizer.json"), eos_token="<eos>", pad_token="<pad>"
    )
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=0,
    )
    return Qwen2ForCausalLM(config), tokenizer


logging.set_verbosity_error()
with tempfile.TemporaryDirectory() as folder:
    model, tokenizer = tiny_model(folder)
    settings = GRPOConfig(
        output_dir=folder,
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=4,
        logging_steps=1,
        report_to="none",
        use_cpu=True,
        bf16=False,
        save_strategy="no",
        disable_tqdm=True,
    )
    reward = trl_reward("structured", variant="grounded")
    trainer = GRPOTrainer(model, reward, settings, Dataset.from_list(rows), processing_class=tokenizer)
    trainer.train()

logged = [entry for entry in trainer.state.log_history if "reward" in entry]
parts = ("structured/chain", "structured/label", "structured/unverified")
print([entry["step"] for entry in logged], [part for part in parts if part in logged[-1]])
