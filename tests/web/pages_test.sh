#!/bin/bash
# The pages of heed look and heed why-similar in a headless browser without a network; see pages_test.js.
# usage: pages_test.sh <heed program> <make_model program> <shared data> <work folder>
# exit 77: there is no browser to drive
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
heed=$1 make_model=$2 minilm=${HEED_SHARED:-$3}/weights/minilm
mkdir -p "$4"
work=$(cd "$4" && pwd)
skip() { echo "pages_test: SKIPPED: $*"; exit 77; }
source "$here/browser.sh"

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
# The sentences of README.md and docs/tutorial.md, in the model that is used there.
rm -f "$work"/real_*.html
if [[ -d $minilm ]]; then
    "$heed" look --model "$minilm" "The cat sat on the mat because it was tired." --html "$work/real_mat.html"
    "$heed" look --model "$minilm" "The cat was tired because it had run" --html "$work/real_run.html"
else
    echo "pages_test: no page of a real model, for there is no $minilm"
fi
exec node "$here/pages_test.js" "$browser" "$work"
