#!/bin/bash
# heed cpu, and HEED_TARGET: the instruction set is what it says, and results are its own.
# usage: cpu_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
"$make_model" "$folder/model" none
export HEED_TARGET=

embed() {
    HEED_TARGET=$1 "$heed" embed --model "$folder/model" "the quick brown fox jumps over the lazy dog" > "$folder/$2"
}

run cpu
expect '[[ $status == 0 && $output == *"kernels use  "*"threads "* && $output != *"HEED_TARGET="* ]]'
available=${output#*"available: "}
available=${available%%;*}
embed "" best
embed "" again
cmp "$folder/best" "$folder/again"

for target in ${available//,/ } $(tr A-Z a-z <<< "${available//,/ }"); do
    HEED_TARGET=$target run cpu
    expect '[[ $status == 0 && $output == *"kernels use  ${target^^}, as HEED_TARGET=$target says (available: $available;"* ]]'
    embed "$target" one
    embed "$target" two
    cmp "$folder/one" "$folder/two"
    # The best is the first, and what there is without a word.
    [[ ${target^^} != "${available%%,*}" ]] || cmp "$folder/one" "$folder/best"
done

HEED_TARGET=z80 run cpu
expect '[[ $status == 3 && $(< "$folder/stderr") == *"HEED_TARGET is \"z80\""*"expected one of $available"* ]]'
echo "HEED_TARGET chooses the instruction set"
