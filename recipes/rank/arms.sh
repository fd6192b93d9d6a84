#!/usr/bin/env bash
# The arms of cpu.toml beside its own: what a scorer learns without a search, from the whole history instead of a
# compressed one, and (ENCODER) from an encoder that knows entailment. OUT is runs/rank unless given; each run resumes.
set -euo pipefail
out=${OUT:-runs/rank}
here=$(cd "$(dirname "$0")" && pwd)
arm() { # name, settings
    local name=$1 resume=()
    shift
    if [ -e "$out/$name/run.json" ]; then resume=(--resume); fi
    OMP_NUM_THREADS=1 python "$here/train.py" "$here/cpu.toml" "$@" --out "$out/$name" "${resume[@]}"
}
if [ -n "${ENCODER:-}" ]; then arm entailment model="$ENCODER"; fi
arm no-search shown=none
arm no-compression shown=full
