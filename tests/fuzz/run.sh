#!/bin/bash
# Runs every fuzz target, from a copy of its corpus.
# usage: run.sh <build folder of the preset asan> <seconds each> [target]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
for seeds in "$here"/corpus/*/; do
    target=$(basename "$seeds")
    [[ -z ${3:-} || $3 == "$target" ]] || continue
    work=$build/fuzz/$target
    mkdir -p "$work/corpus"
    options=(-max_total_time="$2" -timeout=120 -rss_limit_mb=3000 -max_len=4096 -print_final_stats=1 -artifact_prefix="$work/")
    [[ -f $here/$target.dict ]] && options+=(-dict="$here/$target.dict")
    echo "fuzz $target, $2 s"
    if ! nice "$build/bin/fuzz_$target" "${options[@]}" "$work/corpus" "$seeds" > "$work/log" 2>&1; then
        tail -n 60 "$work/log"
        echo "fuzz $target FAILED; the input is in $work"
        exit 1
    fi
    grep -a -E 'stat::(number_of_executed_units|peak_rss_mb)|cov:' "$work/log" | tail -n 3
done
