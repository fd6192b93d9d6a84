"""Rewards: pure functions from what a policy wrote to numbers. No model, no file, no clock."""
