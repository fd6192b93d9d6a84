"""Small closed worlds: rows whose right answers are known by construction, and oracles beside the rewards.

They show whether a reward or a game does what its paper says, with models small enough to train on a CPU. What holds
in them need not hold in natural text.
"""
