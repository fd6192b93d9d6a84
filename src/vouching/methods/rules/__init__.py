"""Exact rules: the 25 requirements of IFEval, checked without a model, and found in instructions."""
