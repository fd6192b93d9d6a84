"""An environment of PrimeIntellect's verifiers: judge whether a source supports a claim."""

from vouch_claims.taskset import ClaimsTaskset, load_environment

__all__ = ["ClaimsTaskset", "load_environment"]
