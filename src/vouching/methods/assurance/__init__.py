"""DPA-GRPO: structured work challenged unit by unit by safety assurance cases; keep or revise."""
