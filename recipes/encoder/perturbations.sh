#!/usr/bin/env bash
# Writes the perturbations that stage 2 learns from, of Attributable rows with short sources:
#   VOUCH_DATA=... bash recipes/encoder/perturbations.sh runs/perturbations.jsonl
# One strategy of each error type stays out, for held_out_strategies.py to test with:
#   unit_change order_flip opposite entity_graft intensifier_added presupposition
set -euo pipefail
out=${1:?where to}
sets="train/fever_symmetric train/fool_me_twice train/faithdial train/factcheck_gpt train/wice train/begin
      nli/fever_nli_dev nli/sam_nli nli/scitail_dev_test nli/mnli_dev_matched nli/evidence_inference_v2"
rows=$(mktemp --suffix .jsonl)
trap 'rm -f "$rows"' EXIT
for set in $sets; do zcat "$VOUCH_DATA/attribution/$set.jsonl.gz"; done | grep '"label": "Attributable"' \
    | shuf --random-source=<(yes) >"$rows"
vouch data perturb --input "$rows" --output "$out" --per-row 2 --limit 9000 --strategies "$(tr -s ' \n' ',' <<<'number_change
    bound_change date_shift negation_added negation_removed entity_swap role_swap qualifier_strengthened hedge_dropped
    exclusivity_added fact_graft detail_added number_format number_rounded unit_converted date_format synonym
    qualifier_weakened time_moved voice_changed sentences_joined sentence_split detail_dropped' | sed 's/,$//')"
