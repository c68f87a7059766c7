#!/bin/bash
# Small runs on real data, of the kind that docs/results.md reports: without training, and after a minute of it.
# usage: results_test.sh <heed program> <shared data> <examples/train>
set -euo pipefail

heed=$1 shared=${HEED_SHARED:-$2} configs=$3
data=$shared/data model=$shared/weights/minilm
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
[[ -d $data && -d $model ]] || { echo "skipped: no $data and $model"; exit 77; }
cd "$folder"

# at_least NAME LEAST FILE: a number in the JSON of a file.
at_least() {
    local found
    found=$(sed -nE "s/^ *\"$1\": ([0-9.]+),?$/\1/p" "$3" | tail -n 1)
    echo "$1 $found, expected at least $2"
    [[ -n $found ]] && awk "BEGIN { exit !($found >= $2) }"
}

run eval --model "$model" --data "$data/stsb/stsb-en-test.csv" --no-header --text 0 --pair 1 --score 2 --output sts.json
expect '[[ $status == 0 ]]'
at_least spearman 0.82 sts.json

head -n 400 "$data/sst2/stsa.binary.test" > test
run train "$configs/sst2.json" model.from="$model" data.train="$data/sst2/stsa.binary.train" data.dev= data.test=test \
    output=sst2 max_steps=60
expect '[[ $status == 0 ]]'
at_least accuracy 0.8 sst2/results.json
