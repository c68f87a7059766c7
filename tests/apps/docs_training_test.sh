#!/bin/bash
# Every command of docs/training.md that begins with heed is run, in order, with the configs of the page beside it; and
# every field that the page names is one.
# usage: docs_training_test.sh <page> <heed program> <make_model program>
set -euo pipefail

page=$1 heed=$2 make_model=$3
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"
heed() { "$heed" "$@"; }

"$make_model" models/all-MiniLM-L6-v2 none
for i in {1..20}; do printf 'the fox jumps over\tgood\na lazy dog in berlin\tbad\n'; done > rows
(printf 'text\tlabel\n'; cat rows) | tee train.tsv > dev.tsv
cut -f 1 rows | tee texts.txt > more_texts.txt

for i in {1..20}; do
    echo '{"messages": [{"role": "user", "content": "fox?"}, {"role": "assistant", "content": "jumps"}]}'
    echo '{"instruction": "dog?", "output": "lazy"}'
done > conversations.jsonl
# A model with a chat template, as small as they come.
printf '%s' '{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}' \
    '{% if add_generation_prompt %}assistant: {% endif %}' > chat.jinja
echo '{"task": "lm", "output": "models/MiniMind2-Small", "tokenizer": {"train": "character", "chat_template": "chat.jinja"}, "max_steps": 2,
       "model": {"architecture": {"model_type": "gpt2", "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64}},
       "data": {"train": "conversations.jsonl"}}' > minimind.json
heed train minimind.json > output 2>&1 || { echo "FAILED"; cat output; exit 1; }

# Blocks of JSON that begin with // and a name become files.
awk '/^```json/ { inside = 1; next } /^```/ { inside = 0; file = "" }
     inside && /^\/\/ [a-z]+\.json$/ { file = $2 }
     inside && file { print > file }' "$page"
[[ -s pretrain.json ]] || { echo "FAILED: no config in $page"; exit 1; }

commands=$(awk '/^```sh/ { inside = 1; next } /^```/ { inside = 0 } inside && /^heed /' "$page")
[[ $(wc -l <<< "$commands") -ge 8 ]] || { echo "FAILED: $page has few commands"; exit 1; }
while IFS= read -r command; do
    echo "$command"
    eval "$command" > output 2> stderr < /dev/null || { echo "FAILED"; cat output stderr; exit 1; }
done <<< "$commands"
for folder_made in classify small small-reviews tuned chat lora head lean; do
    [[ -s runs/$folder_made/model.safetensors ]] || { echo "FAILED: no model in runs/$folder_made"; exit 1; }
done
[[ -s runs/adapter/adapter_model.safetensors ]] || { echo "FAILED: no adapter in runs/adapter"; exit 1; }

# group.field in backticks: a config with one that is not known is refused for it, with another task otherwise.
fields=$(grep -o '`[a-z]*\.[a-z_]*`' "$page" | tr -d '`' | sort -u | grep -v -E '\.(json|jsonl|tsv|safetensors)$|^encoder\.')
[[ $(wc -l <<< "$fields") -ge 20 ]] || { echo "FAILED: $page names few fields"; exit 1; }
for field in $fields; do
    run train reviews.json "$field=0" task=none
    expect '[[ $status == 5 ]] && ! grep -q "there is no field" "$folder/stderr"'
done
