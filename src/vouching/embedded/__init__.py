"""The default verifier: exact comparators and a small calibrated model, offline."""
