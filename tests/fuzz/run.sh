#!/bin/bash
# Runs every fuzz target, from a copy of its corpus, as many at once as there are cores.
# usage: run.sh <build folder of the preset asan> <seconds each> [target]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
export here build seconds=$2

fuzz() {
    target=$1
    work=$build/fuzz/$target
    mkdir -p "$work/corpus"
    options=(-max_total_time="$seconds" -timeout=120 -rss_limit_mb=3000 -max_len=4096 -print_final_stats=1 -artifact_prefix="$work/")
    [[ -f $here/$target.dict ]] && options+=(-dict="$here/$target.dict")
    if ! nice "$build/bin/fuzz_$target" "${options[@]}" "$work/corpus" "$here/corpus/$target" > "$work/log" 2>&1; then
        tail -n 60 "$work/log"
        echo "fuzz $target FAILED; the input is in $work"
        return 1
    fi
    echo "fuzz $target, $seconds s: $(grep -a -E 'cov:' "$work/log" | tail -n 1)"
}
export -f fuzz

targets=${3:-$(ls "$here/corpus")}
xargs -P "$(nproc)" -I{} bash -c 'fuzz {}' <<< "$targets"
