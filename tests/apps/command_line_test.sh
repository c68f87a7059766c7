#!/bin/bash
# Words that heed does not know, models by their names on the hub, help, completion, the manual page.
# usage: command_line_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"
"$make_model" model none
"$make_model" classify classify good bad
"$make_model" tag tag O B-LOC

# A slip of the finger.
run clasify --model model text
expect '[[ $status == 2 ]] && grep -q "did you mean \"heed classify\"" stderr'
run data chek x.csv
expect '[[ $status == 2 ]] && grep -q "did you mean \"heed data check\"" stderr'
run embed --modle model text
expect '[[ $status == 2 ]] && grep -q "no option --modle; did you mean --model?" stderr'
run embed --model model --inptu=a.txt
expect '[[ $status == 2 ]] && grep -q "no option --inptu; did you mean --input?" stderr'
run embed text
expect '[[ $status == 2 ]] && grep -q -- "--model is required" stderr'
# A text may be called like a verb.
run embed --model model help info
expect '[[ $status == 0 && $(wc -l <<< "$output") == 2 ]]'

# What a model cannot do, and what it can.
run classify --model model text
expect '[[ $status == 3 ]] && grep -q "model has no sequence classification head.*good for: embed, similarity" stderr'
run tag --model classify text
expect '[[ $status == 3 ]] && grep -q "has no token classification head.*good for: classify, embed, similarity" stderr'
run rerank --model classify --query x text
expect '[[ $status == 3 ]] && grep -q "has no head for rerank.*2 labels" stderr'

# Models that were pulled go by their names.
export HEED_CACHE=$folder/cache
run embed --model owner/name text
expect '[[ $status == 4 ]] && grep -q "heed pull owner/name$" stderr'
commit=c0ffee0000000000000000000000000000000000
mkdir -p cache/hub/owner--name/{refs,snapshots}
cp -r model cache/hub/owner--name/snapshots/$commit
echo "{\"commit\": \"$commit\", \"files\": [\"config.json\"]}" > cache/hub/owner--name/refs/main
run embed --model model text
expect '[[ $status == 0 ]]'
line=$output
for name in owner/name owner/name@main; do
    run embed --model $name text
    expect '[[ $status == 0 && $output == "$line" ]]'
done
run embed --model owner/name@v2 text
expect '[[ $status == 4 ]] && grep -q "heed pull owner/name@v2$" stderr'
run tokenize --model owner/name text
expect '[[ $status == 0 ]]'
run info owner/name
expect '[[ $status == 0 ]]'
run embed --model /no/such/folder text
expect '[[ $status == 4 ]] && grep -q "/no/such/folder: there is no such folder$" stderr'
env -u HEED_CACHE -u HOME -u XDG_CACHE_HOME "$heed" embed --model owner/name text 2> stderr && status=0 || status=$?
expect '[[ $status == 4 ]] && grep -q "heed pull owner/name$" stderr'

# Help.
run --help
help=$output
run help
expect '[[ $status == 0 && $output == "$help" ]]'
for verb in classify "data check"; do
    run $verb --help
    help=$output
    run help $verb
    expect '[[ $status == 0 && $output == "$help" && $output == *"heed $verb"* ]]'
done
run
expect '[[ $status == 2 && -z $output ]] && grep -q "heed demo" stderr'
run embed
expect '[[ $status == 2 ]] && grep -q "^heed: --model is required; see heed embed --help$" stderr'
run help clasify
expect '[[ $status == 2 ]] && grep -q "did you mean \"heed classify\"" stderr'

# Completion: verbs, verbs of verbs, options, values of options; else files.
run completion bash
expect '[[ $status == 0 ]]'
echo "$output" > completion
complete() {
    bash -c 'source completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heed; echo "${COMPREPLY[*]}"' - heed "$@"
}
output=$(complete cl)
expect '[[ $output == "classify" ]]'
output=$(complete data c)
expect '[[ $output == "check" ]]'
output=$(complete embed --model model --in)
expect '[[ $output == "--input" ]]'
output=$(complete embed --format "")
expect '[[ $output == "lines jsonl csv tsv" ]]'
output=$(complete embed --input long)
expect '[[ -z $output ]]'
output=$(complete help da)
expect '[[ $output == "data" ]]'
expect 'bash -c "source completion; complete -p heed" | grep -q -- "-F _heed heed"'
run completion zsh
expect '[[ $status == 0 && $output == "#compdef heed"* && $output == *"--model:folder of"* ]]'
run completion fish
expect '[[ $status == 0 && $output == *"complete -c heed -n '\''__fish_seen_subcommand_from embed'\'' -l model -r -d"* ]]'
# Whether a program that judges what heed writes is there; where it is not, that is said.
there_is() { command -v "$1" > /dev/null || { echo "command_line_test: there is no $1: $2 is not checked by it"; return 1; }; }
if there_is zsh "its completion"; then "$heed" completion zsh | zsh -n; fi
if there_is fish "its completion"; then "$heed" completion fish | fish --no-execute; fi
run completion tcsh
expect '[[ $status == 2 ]]'

# The manual page has every verb and option, and roff has no complaint.
run man
expect '[[ $status == 0 && $output == ".TH HEED 1 "* ]]'
echo "$output" > heed.1
for word in NAME SYNOPSIS VERBS "EXIT STATUS" ENVIRONMENT; do expect 'grep -q "^.SH $word$" heed.1'; done
for verb in embed classify "data check" pull; do expect 'grep -q "^.SS heed $verb$" heed.1'; done
expect 'grep -qF "\\fB\\-\\-model TEXT\\fR" heed.1'
if there_is groff "the manual page"; then
    output=$(groff -man -Tutf8 -ww -K utf8 heed.1 2>&1 > heed.txt)
    expect '[[ -z $output && $(wc -l < heed.txt) -gt 100 ]]'
fi

# Short flags of generation.
run generate --help
expect '[[ $status == 0 ]] && grep -q -- "--num-return-sequences,--n " <<< "$output" && grep -q -- "--stop-strings,--stop " <<< "$output"'

# Help lines are whole phrases: those of options, by the manual page, and those of config fields, by their schema.
lines=$(awk '/^\.TP$/ { getline; getline; print }' heed.1
        "$heed" train --schema | sed -n 's/^ *"description": "\(.*\)",\?$/\1/p')
output=$(awk 'NF < 3 || /^(of|for|not) /' <<< "$lines")
expect '[[ $(wc -l <<< "$lines") -gt 300 && -z $output ]]'
