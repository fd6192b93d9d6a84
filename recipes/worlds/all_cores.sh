#!/bin/sh
# Every arm of a world with three seeds, one process per core: for a large machine, lent for minutes.
#   recipes/worlds/all_cores.sh forms                         # into runs/worlds/forms
#   ARMS="dapo costs" STEPS=150 OUT=/data/worlds recipes/worlds/all_cores.sh forms
# The models are so small that a core trains one faster than a GPU would. What is cut off continues with the same
# command. Arms of the world of instructions share the port of their judge and run one after another.
set -eu
world=${1:?which world: facts, instructions, documents, forms, answers or probes}
out=${OUT:-runs/worlds}
python=${PYTHON:-.venv/bin/python}
export OMP_NUM_THREADS=1
run() { "$python" benchmarks/worlds.py "$@" --world "$world" --out "$out"; }
run start ${ROWS:+--rows "$ROWS"}
run arms --arms initial --steps "${STEPS:-150}" --held-out "${HELD_OUT:-300}"
arms=${ARMS:-$("$python" -c "from benchmarks.worlds import WORLDS; print(*WORLDS['$world'].arms)")}
cores=$([ "$world" = instructions ] && echo 1 || nproc)
for seed in 0 1 2; do for arm in $arms; do echo "--seeds $seed --arms $arm"; done; done |
    xargs -P "$cores" -I{} sh -c '"$0" benchmarks/worlds.py arms --world "$1" --out "$2" --steps "$3" --held-out "$4" {}' \
        "$python" "$world" "$out" "${STEPS:-150}" "${HELD_OUT:-300}"
run analyse --results "$out/$world/results"
