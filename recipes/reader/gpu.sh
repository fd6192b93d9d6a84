#!/usr/bin/env bash
# Packs, all stages, figures and export on one GPU. VOUCH_DATA names the data, MPNET the pretrained encoder, OUT what
# comes back. Optional: HOURS of all stages together (2), RUNS, a folder that outlives the call, so that the next call
# goes on (OUT), START, an exported folder to begin with, and PYTHON.
set -euo pipefail
: "${VOUCH_DATA:?folder with the data sets}" "${MPNET:?folder of all-mpnet-base-v2}" "${OUT:?folder for the results}"
runs=${RUNS:-$OUT} python=${PYTHON:-python3} hours=${HOURS:-2}
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$here/../../src"
mkdir -p "$runs" "$OUT"
[ -e "$runs/packs/corpus.jsonl" ] || "$python" "$here/packs.py" "$runs/packs" --tokenizer "$MPNET/tokenizer.json"
stage() { # name, share of the hours, settings
    local name=$1 part=$2
    shift 2
    "$python" "$here/train.py" "$name" --encoder "$MPNET" --packs "$runs/packs" --out "$runs/large" --device cuda \
        --tokens 16384 --hours "$(python3 -c "print($hours * $part)")" ${START:+--start "$START"} "$@"
}
stage entailment 0.2 --rate 1e-4
stage documents 0.5 --rate 1e-4
stage documents 0.3 --rate 6e-5 --anneal --ships
weights="$runs/large/weights.safetensors"
"$python" "$here/evaluate.py" "$weights" --encoder "$MPNET" --packs "$runs/packs" --claims 1000 >"$OUT/figures.json"
"$python" "$here/export.py" "$weights" --encoder "$MPNET" --out "$OUT/export"
