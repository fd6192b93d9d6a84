#!/usr/bin/env bash
# The evolution of the embedded verifier and its controls, one after the other; called again, it resumes.
#   VOUCH_DATA=... bash recipes/evolve/arms.sh runs/evolve
# weakness, random and mixed differ in where probes come from; budgets of probes, replay and steps are the same. "bare"
# has probes instead of replay and a higher learning rate: rounds without any restraint. "gated" is random with a gate.
set -euo pipefail
out=${1:?name the output folder}
config=$(dirname "$0")/embedded.toml
evolve="${PYTHON:-python} $(dirname "$0")/embedded.py"
[ -f runs/evolve-rows/dev.jsonl ] || ${PYTHON:-python} "$(dirname "$0")/rows.py" --out runs/evolve-rows
for arm in weakness random mixed; do
    $evolve run "$config" source=$arm --out "$out/$arm" --resume
done
$evolve run "$config" rounds=2 probes=600 replay=0 embedded.learning_rate=2.5e-4 --out "$out/bare" --resume
$evolve run "$config" source=random gate=harm --out "$out/gated" --resume
