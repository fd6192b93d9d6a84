"""Exact rules: the 25 requirements of IFEval, found in instructions and checked without a model."""
