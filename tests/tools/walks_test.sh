#!/bin/bash
# The walks of docs/architecture.md: every step names a file, a line and a piece of code that stands in that line and in
# no other. The steps from opening a folder to a ready model stand in at most four files of models/; what those call by
# name (registry.cpp, config_reader.cpp, the constructors of Model and Head) is not counted.
# usage: walks_test.sh PROJECT [--fix]
#   --fix writes the lines where the code stands now into the page.
set -euo pipefail
cd "$1"
fix=${2:-}
page=docs/architecture.md

steps=0 wrong=0 walk="" loading="" loading_files=""
complain() { echo "$page:$number: $*"; wrong=1; }

number=0
while IFS= read -r text; do
    number=$((number + 1))
    if [[ $text =~ ^'<!-- walk: '([a-z]+)' -->'$ ]]; then walk=${BASH_REMATCH[1]}; continue; fi
    [[ -n $walk ]] || continue
    if [[ -z $text ]]; then walk=""; continue; fi
    [[ $text =~ ^[0-9]+\.\ ([a-z_/]+\.cpp):([0-9]+)\ \`([^\`]+)\` ]] || { complain "not a step: $text"; continue; }
    file=${BASH_REMATCH[1]} line=${BASH_REMATCH[2]} code=${BASH_REMATCH[3]}
    steps=$((steps + 1))
    [[ -f $file ]] || { complain "$file is not there"; continue; }
    found=$(grep -nF -- "$code" "$file" | cut -d : -f 1) || true
    if [[ $(wc -w <<< "$found") != 1 ]]; then
        complain "$file has \"$code\" in lines ${found//$'\n'/, }, expected one line"
    elif [[ $found != "$line" && $fix == --fix ]]; then
        sed -i "${number}s|$file:$line |$file:$found |" "$page"
    elif [[ $found != "$line" ]]; then
        complain "\"$code\" is in line $found of $file (walks_test.sh PROJECT --fix corrects the lines)"
    fi
    # Steps of models/ after the one that opens the folder, up to the next step elsewhere.
    if [[ $walk == classify ]]; then
        case $loading,$file in
            ,src/heed/tasks/loaded_model.cpp) loading=begun ;;
            begun,src/heed/models/*) loading_files+="$file"$'\n' ;;
            begun,*) loading=ended ;;
        esac
    fi
done < "$page"

[[ $steps -ge 20 ]] || { echo "only $steps steps were found"; wrong=1; }
opened=$(sort -u <<< "$loading_files" | grep -c . || true)
[[ $loading == ended && $opened -ge 1 && $opened -le 4 ]] ||
    { echo "the steps from a folder to a ready model stand in $opened files of models/, expected 1 to 4"; wrong=1; }
[[ $wrong == 0 ]] && echo "$steps steps, those to a ready model in $opened files of models/: passed"
exit $wrong
