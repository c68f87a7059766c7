#!/bin/bash
# An example on a model folder with random weights: it runs and prints a line for each thing it found.
# usage: model_example_test.sh <make_model> <name of the example> <its program>
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $2 in
    answer) head=answer labels=() lines=3 ;;
    classify) head=classify labels=(good bad) lines=2 ;;
    embed) head=none labels=() lines=2 ;;
    fill_mask) head=fill-mask labels=() lines=5 ;;
    rerank) head=classify labels=(relevance) lines=3 ;;
    tag) head=tag labels=(B-LOC I-LOC B-PER I-PER) lines=1+ ;;
esac
"$1" "$folder" $head "${labels[@]}"
output=$("$3" "$folder")
echo "$output"
count=$(wc -l <<< "$output")
if [[ $lines == 1+ ]]; then [[ $count -ge 1 && -n $output ]]; else [[ $count == "$lines" ]]; fi
