#!/bin/bash
# The walks of docs/architecture.md: every step names a file and a piece of code that is in it.
# usage: walks_test.sh PROJECT
set -euo pipefail
cd "$1"

steps=0 wrong=0
while IFS= read -r line; do
    [[ $line =~ ^[0-9]+\.\ ([a-z_/]+\.cpp)\ \`([^\`]+)\` ]] || { echo "not a step: $line"; wrong=1; continue; }
    file=${BASH_REMATCH[1]} code=${BASH_REMATCH[2]}
    steps=$((steps + 1))
    [[ -f $file ]] || { echo "$file is not there: $line"; wrong=1; continue; }
    grep -qF -- "$code" "$file" || { echo "$file has no \"$code\""; wrong=1; }
done < <(sed -n '/<!-- walk: /,/^$/p' docs/architecture.md | grep -E '^[0-9]')
[[ $steps -ge 20 ]] || { echo "only $steps steps were found"; wrong=1; }
[[ $wrong == 0 ]] && echo "$steps steps: passed"
exit $wrong
