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
# What is like nothing was no slip.
run xyzzy
expect '[[ $status == 2 ]] && ! grep -q "did you mean" stderr && grep -q "no \"heed xyzzy\"\. All verbs: heed --help" stderr'
run embed --xyzzy text
expect '[[ $status == 2 ]] && ! grep -q "did you mean" stderr && grep -q "no option --xyzzy\. All options: heed embed --help" stderr'
run embed text
expect '[[ $status == 2 ]] && grep -q -- "--model is required" stderr'
run -v
expect '[[ $status == 2 ]] && grep -q "^heed: there is no option -v. All options: heed --help$" stderr'
run data
expect '[[ $status == 2 ]] && grep -q "^heed: a verb is missing, one of check, make; see heed data --help$" stderr'
run train run.json --epochs 3
expect '[[ $status == 2 ]] && grep -q "there is no option --epochs. Fields of the config are given as name=value. All" stderr'
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
expect '[[ $status == 2 ]] && grep -q "did you mean \"heed classify\"? All verbs: heed --help$" stderr'

# Completion: verbs, verbs of verbs, options, values of options; else files. The scripts are run by the shells
# themselves, where they are; where one is not, that is said.
for shell in bash zsh fish; do
    run completion $shell
    expect '[[ $status == 0 ]]'
    echo "$output" > completion.$shell
done
mv completion.zsh _heed
expect 'grep -q "^#compdef heed" _heed && grep -qF -- "--model:folder of" _heed'
expect 'bash -c "source completion.bash; complete -p heed" | grep -q -- "-F _heed heed"'
shells=(bash)
there_is zsh "its completion" && shells+=(zsh)
there_is fish "its completion" && shells+=(fish)
# complete SHELL words...: what the shell offers for the last of them, the rest of the line being there.
complete() {
    case $1 in
        bash) bash -c 'source completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heed
                       printf "%s\n" "${COMPREPLY[@]}"' bash heed "${@:2}" ;;
        # Loaded as from $fpath, with what zsh's own functions would do with the list: names without descriptions.
        zsh) zsh -fc 'compdef() { }; _files() { }
                      _describe() { for entry in "${(@P)2}"; do [[ $entry == $PREFIX* ]] && print -r -- "${entry%%:*}"; done }
                      fpath=(. $fpath); autoload -U _heed
                      words=("$@"); CURRENT=$#; PREFIX=${words[-1]}; _heed; true' zsh heed "${@:2}" ;;
        fish) fish --no-config -c 'source completion.fish; complete -C "$argv"' "heed ${*:2}" | cut -f1 ;;
    esac | tr '\n' ' ' | sed 's/ *$//'
}
for shell in "${shells[@]}"; do
    output=$(complete $shell cl)
    expect '[[ $output == "classify" ]]'
    output=$(complete $shell data c)
    expect '[[ $output == "check" ]]'
    output=$(complete $shell embed --model model --in)
    expect '[[ $output == "--input" ]]'
    output=$(complete $shell embed --format "")
    expect '[[ $(tr " " "\n" <<< "$output" | sort | tr "\n" " ") == "csv jsonl lines tsv " ]]'
    output=$(complete $shell train --init cl)
    expect '[[ $output == "classify" ]]'
    output=$(complete $shell completion ba)
    expect '[[ $output == "bash" ]]'
    output=$(complete $shell help da)
    expect '[[ $output == "data" ]]'
    output=$(complete $shell help data ch)
    expect '[[ $output == "check" ]]'
    output=$(complete $shell help data make s)
    expect '[[ $output == "support" ]]'
    output=$(complete $shell help classify em)
    expect '[[ -z $output ]]'
    output=$(complete $shell embed --input long)
    expect '[[ -z $output ]]'
done
run completion tcsh
expect '[[ $status == 2 ]]'

# The manual page has every verb and option, and roff has no complaint.
run man
expect '[[ $status == 0 && $output == ".TH HEED 1 "* ]]'
echo "$output" > heed.1
for word in NAME SYNOPSIS VERBS "EXIT STATUS" ENVIRONMENT; do expect 'grep -q "^.SH $word$" heed.1'; done
for verb in embed classify "data check" pull; do expect 'grep -q "^.SS heed $verb$" heed.1'; done
expect 'grep -qF "\\fB\\-\\-model TEXT\\fR" heed.1'
if there_is groff "the layout of the manual page"; then
    output=$(groff -man -Tutf8 -ww -K utf8 heed.1 2>&1 > heed.txt)
    expect '[[ -z $output && $(wc -l < heed.txt) -gt 100 ]]'
fi

# Values of options too.
run train --init clasify
expect '[[ $status == 2 && -z $output ]] && grep -q "^heed: --init: there is no \"clasify\"; did you mean classify? There are classify, .*; see heed train --help$" stderr'
run train --init xyzzy
expect '[[ $status == 2 ]] && ! grep -q "did you mean" stderr && grep -q "there is no \"xyzzy\". There are classify, " stderr'
run embed --model model --format jsnl text
expect '[[ $status == 2 ]] && grep -q "^heed: --format: .*did you mean jsonl?" stderr'
run tag --model tag --aggregation frist text
expect '[[ $status == 2 ]] && grep -q "did you mean first?" stderr'
run data check --rows txt,label x.csv
expect '[[ $status == 2 ]] && grep -q "did you mean text?" stderr'
run completion bsh
expect '[[ $status == 2 ]] && grep -q "^heed: SHELL: .*did you mean bash?" stderr'
run eval --model classify --data x.csv --task clasify
expect '[[ $status == 2 ]] && grep -q "^heed: --task: .*did you mean classify?" stderr'

# Short flags of generation.
run generate --help
expect '[[ $status == 0 ]] && grep -q -- "--num-return-sequences,--n " <<< "$output" && grep -q -- "--stop-strings,--stop " <<< "$output"'

# Help lines are whole phrases: those of options, by the manual page, and those of config fields, by their schema.
lines=$(awk '/^\.TP$/ { getline; getline; print }' heed.1
        "$heed" train --schema | sed -n 's/^ *"description": "\(.*\)",\?$/\1/p')
output=$(awk 'NF < 3 || /^(of|for|not) /' <<< "$lines")
expect '[[ $(wc -l <<< "$lines") -gt 300 && -z $output ]]'
