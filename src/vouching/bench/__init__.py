"""Benchmarks: labelled rows of public data sets, scored and compared with sound statistics.

    rows -> validate                     a set checks itself, without a model
    rows -> score -> figures -> report   one run, resumable
    two runs -> compare                  paired, on the same rows

``catalog.py`` lists the sets. Not supported: downloading data.
"""
