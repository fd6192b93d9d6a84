"""DiVA: search, compress, score; answers ranked by fine-grained factuality."""
