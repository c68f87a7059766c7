#!/bin/bash
# heed data make, heed data check and heed eval, on made data and folders with random weights: what is printed, files in
# and out, mistakes. The numbers are tested beside the library.
# usage: data_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

# The same seed makes the same files.
run data make support --output "$folder/a" --size 300
expect '[[ $status == 0 && $(cat "$folder"/a/{train,dev,test}.jsonl | wc -l) == 300 && $(wc -l < "$folder/a/test.jsonl") == 30 ]]'
run data make support --output "$folder/b" --size 300 --seed 1
expect '[[ $status == 0 ]] && diff -r "$folder/a" "$folder/b"'
run data make support --output "$folder/c" --size 300 --seed 2
expect '[[ $status == 0 ]] && ! diff -q "$folder/a/train.jsonl" "$folder/c/train.jsonl" > /dev/null'
run data make support --output "$folder/d" --size 5
expect '[[ $status == 3 && ! -e $folder/d ]] && grep -q -- "--size, is 5, expected 100 to 1000000" "$folder/stderr"'

# Files that are there are not replaced, unless that is asked for; what cannot be written is no fault of heed's.
echo mine > "$folder/c/dev.jsonl"
rm "$folder/c/train.jsonl"
run data make support --output "$folder/c" --size 300
expect '[[ $status == 3 && $(cat "$folder/c/dev.jsonl") == mine && ! -e $folder/c/train.jsonl ]]'
expect 'grep -q "dev.jsonl: is there already.*--overwrite" "$folder/stderr"'
run data make support --output "$folder/c" --size 300 --overwrite
expect '[[ $status == 0 ]] && diff -r "$folder/a" "$folder/c"'
run data make support --output "$folder/a/train.jsonl/x"
expect '[[ $status == 6 ]] && grep -q "heed: io: .*train.jsonl/x" "$folder/stderr"'
run demo --output "$folder/a/train.jsonl/x"
expect '[[ $status == 6 ]] && grep -q "heed: io: .*train.jsonl/x" "$folder/stderr"'

"$make_model" "$folder/none" none
"$make_model" "$folder/classify" classify refund_status order_status
"$make_model" "$folder/tag" tag O B-product I-product
"$make_model" "$folder/fill-mask" fill-mask
"$make_model" "$folder/answer" answer

# check: splits of one seed share nothing; a file shares everything with itself.
run data check "$folder"/a/{train,dev,test}.jsonl --label intent --json "$folder/check.json"
expect '[[ $status == 0 && $output == *"train.jsonl: 240 rows"*"16 labels"*"words per row: mean"* && $output != *"has rows of"* ]]'
expect 'grep -q "\"clean\": true" "$folder/check.json"'
run data check "$folder"/a/{dev,dev}.jsonl --rows words
expect '[[ $status == 1 && $output == *"B-product"*"has rows of"*"rows: 30"* ]] && grep -q "not clean: 30 in two files" "$folder/stderr"'
# The config of a run names files, columns and the model.
cat > "$folder/config.json" << END
{"task": "classify", "output": "$folder/run", "model": {"from": "$folder/none"}, // comments are fine
 "data": {"train": "$folder/a/train.jsonl", "dev": "$folder/a/dev.jsonl", "label": "intent"}}
END
run data check "$folder/config.json"
expect '[[ $status == 0 && $output == *"train.jsonl: "*"16 labels"*"tokens per row"*"dev.jsonl: "* ]]'
run data check "$folder/a/train.jsonl" --model "$folder/none"
expect '[[ $status == 0 && $output == *"tokens per row"*"longer than the model'\''s 40 tokens:"* ]]'
printf 'text,label\na,x\nA,y\nbroken\n' > "$folder/bad.csv"
run data check "$folder/bad.csv"
expect '[[ $status == 1 && $output == *"malformed rows: 1"*"bad.csv:4: has 1 columns"*"duplicates: 1"*"with other labels: 1"* ]]'
printf 'text,label\na,x\nb,x\n' > "$folder/one.csv"
run data check "$folder/one.csv"
expect '[[ $status == 1 && $output == *"one.csv has a single label, x"* ]] && grep -q "not clean: a single label" "$folder/stderr"'
run data check "$folder/bad.csv" --label intent
expect '[[ $status == 3 ]] && grep -q "has no column \"intent\" among its 2: text, label; set data.label, --label, to a name or a number from 0; if the first row is no header: data.header=false, --no-header$" "$folder/stderr"'
run data check "$folder/missing.csv"
expect '[[ $status == 4 ]]'
run data check "$folder/bad.csv" --rows sentences
expect '[[ $status == 2 ]]'

# eval: each head has its report.
printf 'text,label\nwhere is it,order_status\nmy money,refund_status\nhello,1\n' > "$folder/labels.csv"
run eval --model "$folder/classify" --data "$folder/labels.csv" --output "$folder/report.json"
expect '[[ $status == 0 && $output == *"precision    recall  f1-score   support"*"accuracy"*"Matthews"* ]]'
expect 'grep -q "\"rows\": 3" "$folder/report.json" && grep -q "\"confusion\"" "$folder/report.json"'
run eval --model "$folder/classify" --data "$folder/labels.csv" --threads 1 --output "$folder/again.json"
expect '[[ $status == 0 ]] && cmp "$folder/report.json" "$folder/again.json"'
run eval --model "$folder/tag" --data "$folder/a/test.jsonl" --digits 2
expect '[[ $status == 0 && $output == *"     product "*"weighted avg"*"accuracy of words 0."* ]]'
run eval --model "$folder/tag" --data "$folder/a/test.jsonl" --scheme iobes
expect '[[ $status == 0 ]]'
printf '{"data": [{"paragraphs": [{"context": "the fox", "qas": [{"id": "1", "question": "who?", "answers": [{"text": "the fox", "answer_start": 0}]}]}]}]}' > "$folder/qa.json"
run eval --model "$folder/answer" --data "$folder/qa.json"
expect '[[ $status == 0 && $output == "exact "*"f1    "*"loss  "* ]]'
printf 'the fox,a dog,1\nthe dog,a dog,4\nthe fox,in berlin,0\n' > "$folder/pairs.csv"
run eval --model "$folder/none" --data "$folder/pairs.csv" --no-header --pair 1 --score 2
expect '[[ $status == 0 && $output == *"pearson  "*"spearman "* ]]'
printf 'the quick fox\nin berlin\n' > "$folder/lines.txt"
run eval --model "$folder/fill-mask" --data "$folder/lines.txt"
expect '[[ $status == 0 && $output == "accuracy "*"loss "*"perplexity "* ]]'

# Mistakes.
printf 'text,label\nwhere is it,unheard_of\n' > "$folder/other.csv"
run eval --model "$folder/classify" --data "$folder/other.csv"
expect '[[ $status == 5 ]] && grep -q "other.csv:2: the label \"unheard_of\" is not one that the model has" "$folder/stderr"'
run eval --model "$folder/classify" --data "$folder/bad.csv"
expect '[[ $status == 5 ]]'
run eval --model "$folder/none" --data "$folder/labels.csv"
expect '[[ $status == 5 ]] && grep -q "has no second text" "$folder/stderr"'
run eval --model "$folder/none" --task tag --data "$folder/a/test.jsonl"
expect '[[ $status == 3 ]]'
: > "$folder/empty.csv"
run eval --model "$folder/classify" --data "$folder/empty.csv"
expect '[[ $status == 5 ]] && grep -q "has no rows" "$folder/stderr"'
