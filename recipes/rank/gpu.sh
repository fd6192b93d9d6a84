#!/usr/bin/env bash
# The paper's arms on one machine with GPUs; never run yet. PAIRS names the file of pairs (pairs.py --model ...
# --judge ...), OUT what comes back. Optional: MODELS, a folder with the two base models where there is no hub; ARMS, a
# choice of qwen2.5-7b and qwen3-4b; RUNS, a folder that outlives the call; LIMIT, seconds per arm; PYTHON.
# All GPUs are used, or GPUS of them; with ZeRO-2 the 4B arm needs about 8 x 48 GB in all, the 7B arm with LoRA one GPU of
# 48 GB. The batch of 32 pairs is shared by the GPUs, so that their number must divide it.
set -euo pipefail
: "${PAIRS:?file of pairs}" "${OUT:?folder for the results}"
runs=${RUNS:-$OUT} python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$runs"
if ! PYTHONPATH="$here/src" "$python" -c "import torch, trl, peft, deepspeed, vouching.cli.app"; then
    "$python" -m venv --system-site-packages "$runs/venv"
    python="$runs/venv/bin/python"
    "$python" -m pip install -q deepspeed "$here[train]"
fi
bring() {
    [ "$runs" = "$OUT" ] || for run in "$runs"/qwen*/; do
        mkdir -p "$OUT/$(basename "$run")"
        cp -r "$run"/{run.json,log.jsonl,held.jsonl,model} "$OUT/$(basename "$run")/" 2>/dev/null || true
    done
}
trap bring EXIT
gpus=${GPUS:-$("$python" -c "import torch; print(torch.cuda.device_count())")}
if [ "$gpus" -lt 1 ]; then echo "torch finds no GPU: run recipes/rank/cpu.toml instead" >&2; exit 2; fi
cd "$here"
for arm in ${ARMS:-qwen2.5-7b qwen3-4b}; do
    settings=("pairs=[\"$PAIRS\"]") resume=()
    if [ -n "${MODELS:-}" ]; then settings+=("model=$MODELS/$arm"); fi
    if [ -e "$runs/$arm/run.json" ]; then resume=(--resume); fi
    PYTHONPATH="$here/src" timeout -s INT "${LIMIT:-0}" "$python" -m torch.distributed.run \
        --standalone --nproc_per_node "$gpus" recipes/rank/train.py "recipes/rank/$arm.toml" "${settings[@]}" --out "$runs/$arm" "${resume[@]}"
done
