"""The version of vouching, in one place."""

__version__ = "0.1.0"
