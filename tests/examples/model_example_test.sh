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
    generate) head=generate labels=() lines=2 ;;
    rerank) head=classify labels=(relevance) lines=3 ;;
    score) head=generate labels=() lines=2 ;;
    similarity) head=none labels=() lines=3 ;;
    summarize) head=none labels=() lines=2 ;;
    train_classifier) head=none labels=() lines=1+ ;;
    tag) head=tag labels=(B-LOC I-LOC B-PER I-PER) lines=1+ ;;
    translate) head=translate labels=() lines=2 ;;
    zero_shot) head=classify labels=(contradiction neutral entailment) lines=2 ;;
esac
"$1" "$folder/model" $head "${labels[@]}"
arguments=("$folder/model")
[[ $2 == train_classifier ]] && arguments+=("$folder/trained")
output=$("$3" "${arguments[@]}")
echo "$output"
count=$(wc -l <<< "$output")
if [[ $lines == 1+ ]]; then [[ $count -ge 1 && -n $output ]]; else [[ $count == "$lines" ]]; fi
[[ $2 != train_classifier || $output == *"what a lovely day: good"*"what a dreadful day: bad"* ]]
# An error is caught and tells what to do.
arguments[0]=$folder/nowhere
[[ ${#arguments[@]} == 2 ]] && arguments[1]=$folder/other
if message=$("$3" "${arguments[@]}" 2>&1); then echo "a folder that is not there was taken"; exit 1; fi
[[ $message == *nowhere* ]] || { echo "the error does not name the folder: $message"; exit 1; }
