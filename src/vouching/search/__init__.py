"""Finding evidence: indexes of own documents, web engines, agents that ask them, and what is left of it all."""
