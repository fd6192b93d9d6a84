"""Guardrails: a guard that fixes what its sources do not support.

Needs guardrails-ai. Prints:
    The bridge opened in 1973.
"""

from guardrails import Guard

from vouching.integrations.guardrails import Attributable

guard = Guard().use(Attributable(on_fail="fix"))
outcome = guard.validate("The bridge opened in 1937.", metadata={"sources": ["The bridge opened in 1973."]})
print(outcome.validated_output)
