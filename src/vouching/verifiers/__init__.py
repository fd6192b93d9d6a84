"""Verifiers: claims and sources in, verdicts or honest failures out."""
