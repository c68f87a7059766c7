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
# The published first block of Philox 4x32-10 for key 0, counter 0.
[[ $output == *"philox 6627e8d5 e169c58d bc57ac4c 9b00dbd8"* ]]
