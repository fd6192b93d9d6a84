#!/usr/bin/env bash
# The evolution of the embedded verifier and its controls, one after the other; called again, it goes on.
#   VOUCH_DATA=... bash recipes/evolve/arms.sh runs/evolve
# All arms have the same budgets of probes, replay and steps; "gated" is the weakness arm with a gate.
set -euo pipefail
out=${1:?where to}
config=$(dirname "$0")/embedded.toml
vouch=${VOUCH:-vouch}
[ -f runs/evolve-rows/dev.jsonl ] || ${PYTHON:-python} "$(dirname "$0")/rows.py" --out runs/evolve-rows
for arm in weakness random mixed; do
    $vouch evolve run "$config" source=$arm --out "$out/$arm" --resume
done
$vouch evolve run "$config" gate=harm --out "$out/gated" --resume
