"""Self-evolution: verify, reflect, probe, refine, and judge what came of it. No torch is loaded with this layer."""
