"""Benchmarks: labelled rows of public data sets, scored by a verifier, with honest statistics.

    rows -> validate                     a set checks itself, without a model
    rows -> score -> figures -> report   one run, resumable
    two runs -> compare                  paired, on the same rows

``catalog.py`` names the sets. Left out: downloading data, and choosing anything by a test set.
"""
