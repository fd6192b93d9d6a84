"""Form 1040 of 2024 as a domain to check: TaxCalcBench's layout, 19 lines computed, synthetic returns, named mistakes.

Not tax advice. The engine covers the plain returns that ``docs/taxes.md`` lists and refuses all others by name.
"""

from vouching.bench.taxes.engine import compute, compute_lines
from vouching.bench.taxes.facts import OutOfScopeError, TaxFacts, facts_of
from vouching.bench.taxes.lines import LINES, Line, format_return, parse_return

__all__ = [
    "LINES",
    "Line",
    "OutOfScopeError",
    "TaxFacts",
    "compute",
    "compute_lines",
    "facts_of",
    "format_return",
    "parse_return",
]
