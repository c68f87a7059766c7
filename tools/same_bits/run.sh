#!/bin/bash
# The same text, the same bits: a thousand sentences alone, in batches, shuffled, on one thread and on two. heed's vectors
# must be the same byte for byte; for comparison, how many change with PyTorch and ONNX Runtime, which pad.
# usage: run.sh <build folder> <shared data> [sentences, 1000]      exit 77: the model or the sentences are not there
# With HEED_PEERS=no only heed is run. A folder in ONNX_MODULES has node_modules/onnxruntime-node; else npm installs it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) shared=${HEED_SHARED:-$2} count=${3:-1000}
model=$shared/weights/minilm data=$shared/data/sst2/stsa.binary.train
for needed in "$model" "$data"; do
    [[ -e $needed ]] || { echo "same_bits: SKIPPED: $needed is not there"; exit 77; }
done
"$build/bin/heed_same_bits" "$model" "$data" "$count"
[[ ${HEED_PEERS:-yes} == yes ]] || exit 0

work=$build/same_bits
export OMP_WAIT_POLICY=passive  # the peers' threads, on a machine that has other work
mkdir -p "$work"
if ! /usr/bin/python3 -c 'import torch' 2> /dev/null; then
    echo "same_bits: without PyTorch (Debian package python3-torch) there is nothing to compare with"
    exit 0
fi
head -n "$count" "$data" | cut -c3- > "$work/sentences.txt"
"$build/bin/heed" tokenize --model "$model" --input "$work/sentences.txt" > "$work/sentences.jsonl"
/usr/bin/python3 -B "$here/torch_half.py" "$model" "$work/sentences.jsonl" "$work/model.onnx" 2> "$work/torch.log"

modules=${ONNX_MODULES:-$work}
if [[ ! -d $modules/node_modules/onnxruntime-node ]]; then
    cp "$here/package.json" "$work/"
    if ! (cd "$work" && npm install --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 60000 > npm.log 2>&1); then
        echo "same_bits: without ONNX Runtime: npm could not install it, $work/npm.log says why"
        exit 0
    fi
fi
node "$here/onnx_half.js" "$modules" "$work/sentences.jsonl" "$work/model.onnx"
