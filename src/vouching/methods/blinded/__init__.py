"""MARCH: what a response states is asked for again, blind, and answered from the documents alone."""
