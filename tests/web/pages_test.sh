#!/bin/bash
# The pages of heed look and heed why-similar in a headless browser without a network; see pages_test.js.
# usage: pages_test.sh <heed program> <make_model program> <work folder>      exit 77: there is no browser to drive
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
heed=$1 make_model=$2
mkdir -p "$3"
work=$(cd "$3" && pwd)

skip() { echo "pages_test: SKIPPED: $*"; exit 77; }
browser=$(command -v chromium || true)
[[ -n $browser ]] || skip "there is no chromium (tools/install_packages.sh web)"
if [[ ! -d $work/node_modules/puppeteer-core ]]; then
    command -v npm > /dev/null || skip "there is no npm to install puppeteer-core with"
    cp "$here/package.json" "$work/"
    if ! (cd "$work" && npm install --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 60000 > npm.log 2>&1); then
        tail -n 5 "$work/npm.log"
        skip "npm could not install puppeteer-core"
    fi
fi

# Words of a text with $1 tokens, [CLS] and [SEP] among them.
words=(the quick brown fox jumps over the lazy dog in berlin)
text_of() { for ((i = 0; i < $1 - 2; ++i)); do printf '%s ' "${words[$((i * i % 11))]}"; done; }

rm -rf "$work/classify" "$work/generate" "$work/model" "$work/long"
"$make_model" "$work/classify" classify num_hidden_layers=6 num_attention_heads=12 hidden_size=48 good bad \
    fair dull odd keen calm
"$make_model" "$work/model" none max_position_embeddings=512 num_hidden_layers=6 num_attention_heads=12 hidden_size=48
"$make_model" "$work/long" none max_position_embeddings=4096 num_hidden_layers=2 num_attention_heads=4 hidden_size=32
"$heed" look --model "$work/classify" "The foxgang </script><!-- <b>jumps</b> over \"berlin\"" --html "$work/short.html"
"$heed" look --model "$work/model" "$(text_of 512)" --html "$work/512.html"
"$heed" look --model "$work/long" "$(text_of 4096)" --full 2.3 --html "$work/4096.html"
"$make_model" "$work/generate" generate
"$heed" look --model "$work/generate" "the quick fox" --max-new-tokens 8 --html "$work/next.html"
"$heed" why-similar --model "$work/long" "the quick foxgang </script>" "a lazy dog" --html "$work/similar.html"
"$heed" why-similar --model "$work/long" --pooling cls "the quick fox" "a lazy dog" --html "$work/similar_cls.html"
NODE_PATH=$work/node_modules exec node "$here/pages_test.js" "$browser" "$work"
