"""The encoder: a small cross-encoder that reads a claim beside windows of its sources. The door is ``encoder.py``."""
