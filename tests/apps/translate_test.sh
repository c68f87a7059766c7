#!/bin/bash
# heed translate as users meet it: texts of the command line, files whose blank lines stay, several translations; then
# a model from nothing on two files of lines, killed and resumed, scored and asked.
# usage: translate_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"
"$make_model" model translate

run translate --model model "the fox" "lazy dog" --max-new-tokens 6
expect '[[ $status == 0 && $(wc -l <<< "$output") == 2 ]]'
two=$output
printf 'the fox\n\n \nlazy dog\n' > texts
run translate --model model --input texts --max-new-tokens 6
expect '[[ $status == 0 && $(wc -l <<< "$output") == 4 && $(grep . <<< "$output") == "$two" ]]'
expect '[[ $(sed -n 2,3p <<< "$output") == "" ]] && ! grep -q blank stderr'
printf '\n%s' "$(cat texts)" > more
run translate --model model --input - --max-new-tokens 6 < more
expect '[[ $status == 0 && $(wc -l <<< "$output") == 5 && $(grep . <<< "$output") == "$two" ]]'
run translate --model model --input texts --max-new-tokens 6 --output answers.jsonl
expect '[[ $status == 0 && $(wc -l < answers.jsonl) == 4 && $(grep -c "\"translation_text\":\"\"" answers.jsonl) == 2 ]]'
run translate --model model "the fox" --num-beams 3 --num-return-sequences 2
expect '[[ $status == 0 && $(grep -c "^\[[12]\] " <<< "$output") == 2 ]]'
for i in {1..10000}; do printf 'fox '; done > long
run translate --model model --input long --max-new-tokens 3
expect '[[ $status == 0 ]] && grep -q "1 of 1 texts was cut at 64 tokens" stderr'
run translate --model model "the fox" --to de
expect '[[ $status == 3 || $status == 2 ]] && grep -q "has no languages to choose from" stderr'

# Every word has one translation.
german=(der hund fuchs rennt schnell heute) english=(the dog fox runs quickly today)
RANDOM=5
for ((i = 0; i < 120; ++i)); do
    a=$((RANDOM % 6)) b=$((RANDOM % 6))
    echo "${german[a]} ${german[b]}" >&3
    echo "${english[a]} ${english[b]}" >&4
done 3> train.de 4> train.en
head -n 20 train.de > dev.de
head -n 20 train.en > dev.en
cat > config.json << END
{"task": "translate", "output": "run", "epochs": 40, "evaluate": {"every": 100}, "save": {"every": 5}, "batch": {"tokens": 300},
 "model": {"architecture": {"model_type": "bart", "d_model": 32, "encoder_layers": 1, "decoder_layers": 1,
                            "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 64,
                            "decoder_ffn_dim": 64, "max_position_embeddings": 40}},
 "tokenizer": {"train": "bpe", "vocab_size": 300}, "optimizer": {"learning_rate": 5e-3},
 "data": {"train": "train.de", "dev": "dev.de", "format": "lines", "text": "de", "pair": "en"}}
END
run train config.json save.every=10
expect '[[ $status == 0 ]]'
run eval --model run --data dev.de --format lines --text de --pair en --output eval.json
expect '[[ $status == 0 ]] && grep -q "\"bleu\"" eval.json'
for metric in bleu chrf accuracy loss; do
    value() { grep -m 1 "\"$metric\":" "$1" | tr -d ' ,'; }
    expect '[[ -n $(value eval.json) && $(value eval.json) == "$(value run/results.json)" ]]'
done
# Killed after its first checkpoint, and resumed: the same bytes.
sums() { (cd "$1" && sha256sum model.safetensors config.json tokenizer.json generation_config.json results.json); }
"$heed" train config.json output=stopped save.every=10 > /dev/null 2>&1 &
process=$!
while kill -0 $process 2> /dev/null && ! compgen -G "stopped/checkpoints/step-*" > /dev/null; do :; done
kill -KILL $process 2> /dev/null || true
wait $process 2> /dev/null || true
run train --resume stopped
expect '[[ $status == 0 ]]'
expect '[[ $(sums run) == "$(sums stopped)" ]]'
run translate --model run "der hund"
expect '[[ $status == 0 && $output == "the dog" ]]'

# Files that do not belong together.
echo more >> dev.en
run eval --model run --data dev.de --format lines --text de --pair en
expect '[[ $status == 5 ]] && grep -q "dev.de has 20 lines and dev.en has 21" stderr'
run eval --model run --data dev.de --format lines --text fr --pair en
expect '[[ $status != 0 ]] && grep -q "does not end with .fr" stderr'
