#!/usr/bin/env bash
# The pairs of cpu.toml, without a language model: the multi-hop questions, right answers against wrong ones that could
# be right, evidence from an index of all their paragraphs. VOUCH_DATA names the data; OUT is runs/rank unless given.
set -euo pipefail
: "${VOUCH_DATA:?folder with the data sets}"
out=${OUT:-runs/rank}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
if [ ! -e "$out/index" ]; then
    python "$here/corpus.py" "$out/corpus.jsonl"
    vouch index build "$out/index" "$out/corpus.jsonl"
fi
for set in 2wiki_train500 musique_train100 hotpotqa_train100 wikihop_test200 musique_test200 hotpot_test200; do
    python "$here/pairs.py" --input "$VOUCH_DATA/multihop/$set.jsonl.gz" --index "$out/index" --output "$out/$set.jsonl" --resume
done
