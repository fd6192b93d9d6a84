"""The closed vocabularies of a verdict. The words are SEVA's (section 2.2, App. H, Table 20)."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Label: TypeAlias = Literal["Attributable", "Not Attributable"]
"""Whether the sources support the whole claim. "Attributable" does not mean "true"."""

Relation: TypeAlias = Literal["supported", "contradicted", "not_found"]
"""How the sources stand to the claim; the last two are both Not Attributable."""

Status: TypeAlias = Literal["match", "mismatch", "not_found"]
"""How one part of the claim compares with its place in a source."""

Judgment: TypeAlias = Literal["supported", "not_supported", "partially_supported"]
"""What one reasoning step concludes."""

ErrorType: TypeAlias = Literal[
    "numerical_exaggeration",
    "temporal_shift",
    "negation_flip",
    "entity_substitution",
    "scope_inflation",
    "fabrication",
]
"""What is wrong with a claim that is Not Attributable. Listed in order of precedence: where two fit, the earlier
one is reported (see ``vouching.verifiers.embedded.diagnosis`` for the reason)."""

ERROR_TYPES: tuple[ErrorType, ...] = get_args(ErrorType)
