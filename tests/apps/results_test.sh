#!/bin/bash
# Small runs on real data, of the kind that docs/results.md reports: without training, and after a minute of it.
# usage: results_test.sh <heed program> <shared data> <examples/train>
set -euo pipefail

heed=$1 shared=${HEED_SHARED:-$2} configs=$3
data=$shared/data model=$shared/weights/minilm
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
[[ -d $data && -d $model ]] || { echo "skipped: no $data and $model"; exit 77; }
cd "$folder"

# number NAME FILE: the last of this name in the JSON of a file.
number() { sed -nE "s/^ *\"$1\": ([0-9.]+),?$/\1/p" "$2" | tail -n 1; }
at_least() { # NAME LEAST FILE
    echo "$1 $(number "$1" "$3"), expected at least $2"
    awk "BEGIN { exit !($(number "$1" "$3") >= $2) }"
}
at_most() { # NAME MOST FILE
    echo "$1 $(number "$1" "$3"), expected at most $2"
    awk "BEGIN { exit !($(number "$1" "$3") <= $2) }"
}

run eval --model "$model" --data "$data/stsb/stsb-en-test.csv" --no-header --text 0 --pair 1 --score 2 --output sts.json
expect '[[ $status == 0 ]]'
at_least spearman 0.82 sts.json

head -n 400 "$data/sst2/stsa.binary.test" > test
run train "$configs/sst2.json" model.from="$model" data.train="$data/sst2/stsa.binary.train" data.dev= data.test=test \
    output=sst2 max_steps=60
expect '[[ $status == 0 ]]'
at_least accuracy 0.8 sst2/results.json

# Characters: 4.17 is guessing among 65 of them, 3.3 knowing how frequent each is.
plays=$data/tinyshakespeare/input.txt
head -c 1003854 "$plays" > train.txt
tail -c 20000 "$plays" > val.txt
run train "$configs/shakespeare.json" data.train=train.txt data.dev=val.txt output=plays max_steps=200 schedule.warmup=10
expect '[[ $status == 0 ]]'
at_most loss 2.8 plays/results.json
