"""Vouch inside other tools. Each module adapts one; none imports its tool before it is called by it."""
