#!/bin/bash
# tools/check_layers passes on the tree and fails, with file and line, on each kind of planted violation.
# usage: check_layers_test.sh <project folder>
set -euo pipefail

project=$(cd "$1" && pwd)
"$project/tools/check_layers" "$project"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fresh_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/tools" "$work/tree/src/heed/base" "$work/tree/src/heed/kernels" "$work/tree/src/heed/tensor"
    cp "$project/tools/layers.txt" "$work/tree/tools/"
    printf '#include <vector>\n#include "heed/base/b.h"\n' > "$work/tree/src/heed/base/a.cpp"
    printf '#include "heed/kernels/k.h"\n' > "$work/tree/src/heed/tensor/t.h"
    printf 'heed_room(kernels SOURCES k.cpp DEPENDS heed_base)\n' > "$work/tree/src/heed/kernels/CMakeLists.txt"
}

# expect_violation <text the output must have>
expect_violation() {
    local output
    if output=$("$project/tools/check_layers" "$work/tree"); then
        echo "FAILED: accepted what should give: $1"
        failures=$((failures + 1))
    elif [[ $output != *"$1"* ]]; then
        printf 'FAILED: expected "%s" in:\n%s\n' "$1" "$output"
        failures=$((failures + 1))
    fi
}

fresh_tree
"$project/tools/check_layers" "$work/tree"

printf '#include <string>\n#include "heed/tensor/t.h"\n' > "$work/tree/src/heed/kernels/k.cpp"
expect_violation 'src/heed/kernels/k.cpp:2: room "kernels" may not use "tensor"; tools/layers.txt allows: base'

fresh_tree
printf '  #  include <heed/tensor/t.h>\n' > "$work/tree/src/heed/base/spaced.h"
expect_violation 'src/heed/base/spaced.h:1: room "base" may not use "tensor"; tools/layers.txt allows: nothing'

fresh_tree
printf '#include "heed/cellar/c.h"\n' > "$work/tree/src/heed/tensor/t.cpp"
expect_violation 'src/heed/tensor/t.cpp:1: unknown room "cellar"'

fresh_tree
mkdir "$work/tree/src/heed/cellar"
touch "$work/tree/src/heed/cellar/c.h"
expect_violation 'src/heed/cellar: unknown room "cellar"'

fresh_tree
printf '#include "../tensor/t.h"\n' > "$work/tree/src/heed/base/relative.cpp"
expect_violation 'src/heed/base/relative.cpp:1: quoted includes name the whole path'

for name in heed_tensor heed::tensor; do
    fresh_tree
    printf 'heed_room(kernels\n  SOURCES k.cpp\n  DEPENDS heed_base %s)\n' $name > "$work/tree/src/heed/kernels/CMakeLists.txt"
    expect_violation 'src/heed/kernels/CMakeLists.txt:3: room "kernels" may not use "tensor"'
done

fresh_tree
printf 'base: kernels\nkernels: base\ntensor: kernels\n' > "$work/tree/tools/layers.txt"
expect_violation 'tools/layers.txt:1: "base" names "kernels", which is not above it'

[[ $failures == 0 ]] || exit 1
echo "every planted violation was found"
