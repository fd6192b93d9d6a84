"""Soft-RLVR and Soft-SVeRL: a response judged item by item, and the share of items as a soft reward."""
