#!/bin/bash
# heed tokenizer train, tokenize and detokenize: a tokenizer trained, used and used backwards.
# usage: tokenize_test.sh <heed program>
set -euo pipefail

heed=$1
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

for i in {1..50}; do echo "The quick brown fox number $i jumps over the lazy dog."; done > "$folder/text.txt"
for type in bpe wordpiece unigram wordlevel; do
    run tokenizer train --type $type --vocab-size 330 --input "$folder/text.txt" --output "$folder/$type"
    expect '[[ $status == 0 && -s $folder/$type/tokenizer.json ]] && grep -q "100 %\|tokens" "$folder/stderr"'
    run tokenize --model "$folder/$type" "the lazy fox"
    expect '[[ $status == 0 && $output == "{\"ids\":["*"\"offsets\":["*"\"tokens\":["*"\"type_ids\":["*"\"word_ids\":["* ]]'
    echo "$output" > "$folder/ids.jsonl"
    run detokenize --model "$folder/$type" --input "$folder/ids.jsonl"
    expect '[[ $status == 0 && $output == "the lazy fox" ]]'
done

# A tokenizer.json that is there is not replaced, unless that is asked for; what cannot be written is no fault of heed's.
cp "$folder/bpe/tokenizer.json" "$folder/kept.json"
train="tokenizer train --type wordpiece --vocab-size 330 --input $folder/text.txt --output"
run $train "$folder/bpe"
expect '[[ $status == 3 ]] && cmp "$folder/kept.json" "$folder/bpe/tokenizer.json"'
expect 'grep -q "bpe/tokenizer.json: is there already.*--overwrite" "$folder/stderr"'
run $train "$folder/bpe" --overwrite
expect '[[ $status == 0 ]] && cmp "$folder/wordpiece/tokenizer.json" "$folder/bpe/tokenizer.json"'
run $train "$folder/text.txt/x"
expect '[[ $status == 6 ]] && grep -q "heed: io: .*text.txt/x" "$folder/stderr"'

# One text per line, JSON lines, pairs and the special tokens.
printf 'the lazy\n{"text"\n' > "$folder/lines.txt"
run tokenize --model "$folder/wordpiece" --input "$folder/lines.txt"
expect '[[ $status == 0 && $(wc -l <<< "$output") == 2 ]]'
printf '{"text":"the fox"}\n{"id":3,"text":"lazy"}\n' > "$folder/lines.jsonl"
run tokenize --model "$folder/wordpiece" --no-special --input "$folder/lines.jsonl"
expect '[[ $status == 0 && $(head -1 <<< "$output") == *"\"offsets\":[[0,3],[4,7]]"*"\"tokens\":[\"the\",\"fox\"]"* ]]'
run tokenize --model "$folder/wordpiece" --pair "dog" "fox"
expect '[[ $status == 0 && $output == *"[\"[CLS]\",\"fox\",\"[SEP]\",\"dog\",\"[SEP]\"]"*"\"type_ids\":[0,0,0,1,1]"*"[null,0,null,0,null]"* ]]'

# Mistakes: 2 for the command line, 4 for what is not there, 3 for a type that is none.
run tokenize --model "$folder/wordpiece"
expect '[[ $status == 2 ]]'
run tokenize --model "$folder/none" text
expect '[[ $status == 4 ]]'
run tokenizer train --type letters --vocab-size 10 --input "$folder/text.txt" --output "$folder/x"
expect '[[ $status == 3 ]]'
