"""The verifier that ships: exact comparators and a small calibrated model, offline."""
