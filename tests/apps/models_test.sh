#!/bin/bash
# heed embed, similarity, classify, rerank, tag, fill-mask, answer and info on folders with random weights: the shape of
# the answers, files in and out, mistakes. What the answers are is tested beside the library.
# usage: models_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
lines() { wc -l <<< "$output"; }

"$make_model" "$folder/none" none
"$make_model" "$folder/classify" classify good bad
"$make_model" "$folder/rerank" classify relevance
"$make_model" "$folder/tag" tag B-LOC I-LOC B-PER I-PER
"$make_model" "$folder/fill-mask" fill-mask
"$make_model" "$folder/answer" answer

# Texts of the command line, a file of lines and a file of JSON lines give the same.
texts=("the quick fox" "in berlin" "a dog")
for i in {1..700}; do printf '%s\n' "${texts[@]}"; done > "$folder/lines.txt"
for text in "${texts[@]}"; do printf '{"text": "%s"}\n' "$text"; done > "$folder/lines.jsonl"
for verb in embed classify tag; do
    model=$folder/${verb/embed/none}
    run $verb --model "$model" "${texts[@]}"
    expect '[[ $status == 0 && $(lines) == 3 ]]'
    given=$output
    run $verb --model "$model" --input "$folder/lines.jsonl"
    expect '[[ $status == 0 && $output == "$given" ]]'
    run $verb --model "$model" --threads 1 --input "$folder/lines.txt" --output "$folder/out.jsonl"
    expect '[[ $status == 0 && -z $output ]] && grep -q "100 %" "$folder/stderr"'
    output=$(cat "$folder/out.jsonl")
    expect '[[ $(lines) == 2100 && $(head -3 <<< "$output") == "$given" && $(tail -3 <<< "$output") == "$given" ]]'
done

run embed --model "$folder/none" "the fox"
expect '[[ $output =~ ^\{\"embedding\":\[(-?[0-9.e-]+,){31}-?[0-9.e-]+\]\}$ ]]'
run embed --model "$folder/none" --pooling cls --normalize "the fox"
expect '[[ $status == 0 && $output == "{\"embedding\":["* ]]'
run similarity --model "$folder/none" "the fox" "the fox" "a dog"
expect '[[ $output =~ ^\[(1.0|0.9999[0-9]*),-?[0-9.e-]+\]$ ]]'
cosines=$output
printf 'the fox\tthe fox\ta dog\n' | { run similarity --model "$folder/none" --input -; expect '[[ $output == "$cosines" ]]'; }

run classify --model "$folder/classify" --pair "in berlin" "the fox"
expect '[[ $output =~ ^\[\{\"label\":\"(good|bad)\",\"score\":0[.][0-9e-]+\},\{\"label\":\"(good|bad)\",\"score\":[0-9.e-]+\}\]$ ]]'
pair=$output
printf '{"text": "the fox", "text_pair": "in berlin"}\n' > "$folder/pair.jsonl"
run classify --model "$folder/classify" --input "$folder/pair.jsonl"
expect '[[ $output == "$pair" ]]'

run rerank --model "$folder/rerank" --query "fox" "the dog" "the fox"
expect '[[ $output == "[{\"index\":"*"\"score\":"*"\"text\":\"the "*"{\"index\":"* ]]'
run tag --model "$folder/tag" "The fox lives in Berlin."
expect '[[ $output == "[{\"end\":"*"\"entity_group\":\""*"\"score\":"*"\"start\":0,\"word\":\"the"* ]]'
run tag --model "$folder/tag" --aggregation none "fox"
expect '[[ $output == "[{\"end\":3,\"entity\":\""*"\"index\":1,"* ]]'
run fill-mask --model "$folder/fill-mask" --top-k 2 "the [MASK] fox"
expect '[[ $output =~ ^\[(\{\"score\":[0-9.e-]+,\"sequence\":\"the.*fox\",\"token\":[0-9]+,\"token_str\":\"[^\"]+\"\},?){2}\]$ ]]'

run answer --model "$folder/answer" --question "Where?" "The fox lives in Berlin."
expect '[[ $output =~ ^\{\"answer\":\".+\",\"end\":[0-9]+,\"score\":[0-9.e-]+,\"start\":[0-9]+\}$ ]]'
answer=$output
printf 'Where?\tThe fox lives in Berlin.\n' > "$folder/questions.txt"
printf '{"question": "Where?", "context": "The fox lives in Berlin."}\n' > "$folder/questions.jsonl"
for file in questions.txt questions.jsonl; do
    run answer --model "$folder/answer" --input "$folder/$file"
    expect '[[ $output == "$answer" ]]'
done
run answer --model "$folder/answer" --top-k 3 --null-answer --null-threshold -50 --question "Where?" "The fox lives in Berlin."
expect '[[ $output == "[{\"answer\":\"\","*"},{\"answer\":\""* ]]'

run info "$folder/tag"
expect '[[ $status == 0 && $output == *BertForTokenClassification*"operations for a text of 40 tokens"*"B-LOC, I-LOC"*"× 2 layers"* ]]'

# Mistakes: 2 for the command line, 3 for a model of another kind, 4 for what is not there, 5 for lines that are not right.
run embed --model "$folder/none"
expect '[[ $status == 2 ]]'
run answer --model "$folder/answer" "no question"
expect '[[ $status == 2 ]]'
run classify --model "$folder/tag" "text"
expect '[[ $status == 3 ]] && grep -q "no sequence classification head" "$folder/stderr"'
run fill-mask --model "$folder/fill-mask" "no mask"
expect '[[ $status == 3 ]]'
run embed --model "$folder/nothing" "text"
expect '[[ $status == 4 ]]'
printf '{"text": "a"}\n{"txt": "b"}\n' > "$folder/bad.jsonl"
run embed --model "$folder/none" --input "$folder/bad.jsonl" --output "$folder/bad.out"
expect '[[ $status == 5 && ! -e $folder/bad.out ]] && grep -q "bad.jsonl:2: text is missing" "$folder/stderr"'
printf 'a\xff\n' > "$folder/bad.txt"
run embed --model "$folder/none" --input "$folder/bad.txt"
expect '[[ $status == 5 ]] && grep -q "bad.txt:1: byte 1" "$folder/stderr"'
