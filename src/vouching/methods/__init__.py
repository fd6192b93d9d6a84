"""One folder per method: how it verifies, what it rewards, the game it trains by."""
