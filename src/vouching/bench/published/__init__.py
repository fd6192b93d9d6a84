"""Readers of data sets in the formats that their authors publish; one module each, named after the set.

Each has one function ``rows(paths, split)`` and says in its docstring what the fields are and where that is written.
"""
