"""Several verifiers in a row: the next is asked only where the one before is undecided."""
