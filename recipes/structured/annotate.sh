#!/usr/bin/env bash
# What the recipes learn from, by a teacher: rows of ANLI with claim, source and label, annotated (SEVA, App. B.1).
# PAIRS names the rows, VOUCH_MODEL the teacher (the paper's: openai/gpt-4o-mini); OUT defaults to runs/structured; WORDING is
# that of the student's prompt: short by default, since the paper's limit is 768 tokens; or paper, or ours.
set -euo pipefail
: "${PAIRS:?file of rows with claim, source and label}" "${VOUCH_MODEL:?the teacher}"
out=${OUT:-runs/structured}
mkdir -p "$out"
cp "$PAIRS" "$out/pairs.jsonl"
vouch data annotate --input "$out/pairs.jsonl" --output "$out/sft.jsonl" --prompts "$out/prompts.jsonl" \
    --demand label,error_type,fix --wording "${WORDING:-short}"
