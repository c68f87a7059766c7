#!/bin/bash
# The heed program with a model and a task of tests/toy linked into it: neither is known to any file of src/ or apps/,
# and both have help, training, evaluation, JSON and info.
# usage: toy_test.sh HEED_WITH_TOYS
set -euo pipefail
heed=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

has() { grep -qF -- "$2" <<< "$1" || { echo "expected \"$2\" in:"; echo "$1"; exit 1; }; }

has "$("$heed" --help)" "find tokens that occur in a text twice"
has "$("$heed" twice --help)" "--least"
has "$("$heed" train --init twice)" '// how often a token must occur in the text'
has "$("$heed" eval --help)" "twice"

for i in $(seq 60); do
    echo '{"seen": ["the", "dog", "and", "the", "fox", "number", '$i']}'
    echo '{"seen": ["a", "fox", "and", "a", "dog"]}'
done > train.jsonl
cat > run.json << 'END'
{"task": "twice", "output": "run", "epochs": 3,
 "model": {"architecture": {"model_type": "toy", "hidden_size": 16}},
 "tokenizer": {"train": "wordpiece", "vocab_size": 60},
 "data": {"train": "train.jsonl", "dev": "train.jsonl", "items": "seen"},
 "twice": {"least": 2}, "optimizer": {"learning_rate": 0.05}}
END
out=$("$heed" train run.json 2> /dev/null)
has "$out" "accuracy"
"$heed" eval --model run --data train.jsonl --items seen --output scores.json > /dev/null 2>&1
python3 - << 'END'
import json
trained, evaluated = json.load(open("run/results.json"))["dev"], json.load(open("scores.json"))["metrics"]
assert trained["accuracy"] > 0.8, trained
assert trained["accuracy"] == evaluated["accuracy"] and trained["loss"] == evaluated["loss"], (trained, evaluated)
END
has "$("$heed" info run)" "ToyForTokenClassification"
has "$("$heed" info run)" "twice"
answer=$("$heed" twice --model run "the dog and the fox")
has "$answer" '{"marked":['
echo "toys: passed"
