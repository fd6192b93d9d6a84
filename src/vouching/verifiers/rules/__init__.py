"""Exact rules: requirements of an instruction that can be checked without a model, and their 25 checkers."""
