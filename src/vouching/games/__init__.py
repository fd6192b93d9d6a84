"""Games: who speaks when, who sees what, and what each completion earns. No torch, and no trainer."""
