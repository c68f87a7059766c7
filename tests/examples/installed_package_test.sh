#!/bin/bash
# Installs a build of heed to a fresh place and configures, builds and runs examples/installed_package against it.
# usage: installed_package_test.sh <project folder> <build folder> <cmake> <generator> <compiler>
set -euo pipefail

project=$1 build=$2 cmake=$3 generator=$4 compiler=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" > "$work/install.log"
[[ -x $work/prefix/bin/heed ]] || { echo "the heed program is not installed"; exit 1; }
"$cmake" -S "$project/examples/installed_package" -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$work/prefix"
"$cmake" --build "$work/build"
output=$("$work/build/uses_heed")
echo "$output"
for line in "0 xor 0 = 0" "0 xor 1 = 1" "1 xor 0 = 1" "1 xor 1 = 0"; do
    [[ $output == *"$line"* ]] || { echo "missing: $line"; exit 1; }
done
