"""Verifiers that others have published, run as their authors run them, without code from folders of weights."""
