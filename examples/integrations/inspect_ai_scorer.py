"""Inspect AI: a task whose answers are scored by the sources of their samples, here with the package's mock model.

Needs inspect-ai. Prints:
    0.0
"""

import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from vouching.integrations.inspect_ai import attributable

sample = Sample(input="When did it open?", metadata={"sources": ["The bridge opened in 1973."]})
task = Task(dataset=[sample], solver=generate(), scorer=attributable())

said = ModelOutput.from_content("mockllm/model", "The bridge opened in 1937.")
said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
model = get_model("mockllm/model", custom_outputs=[said])  # or "openai/gpt-4o-mini"
with tempfile.TemporaryDirectory() as folder:
    [log] = eval(task, model=model, log_dir=folder, display="none")
print(log.results.scores[0].metrics["mean"].value)
