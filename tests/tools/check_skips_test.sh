#!/bin/bash
# tools/check_skips on what ctest writes: a skip passes for an allowed reason or for the want of shared data, and fails
# for any other.
# usage: check_skips_test.sh <project folder> <ctest program>
set -euo pipefail

project=$(cd "$1" && pwd) ctest=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# skips <kind> <reason>: a tree of one test that passes and one that is skipped as scripts or as GTEST_SKIP() do.
skips() {
    local script="echo \"some_test: SKIPPED: $2\"; exit 77" property='SKIP_RETURN_CODE 77'
    if [[ $1 == gtest ]]; then
        script="printf \"[ RUN      ] A.B\\\\na_test.cpp:37: Skipped\\\\n$2\\\\n[  SKIPPED ] A.B (0 ms)\\\\n\""
        property='SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]"'
    fi
    cat > "$work/CTestTestfile.cmake" << END
add_test([=[passes]=] true)
add_test([=[skips]=] bash -c [=[$script]=])
set_tests_properties([=[skips]=] PROPERTIES $property)
END
    (cd "$work" && "$ctest" --output-junit results.xml > /dev/null)
}

# expect <status> <text the output must have>
expect() {
    local status=0 output
    output=$("$project/tools/check_skips" "$work/results.xml" "$work/shared") || status=$?
    if [[ $status != "$1" || $output != *"$2"* ]]; then
        printf 'FAILED: status %s, expected %s and "%s" in:\n%s\n' "$status" "$1" "$2" "$output"
        failures=$((failures + 1))
    fi
}

for kind in script gtest; do
    skips "$kind" 'npm could not install puppeteer-core'
    expect 0 '1 skipped for good reasons'
    skips "$kind" 'python3 has no torch'
    expect 1 'skips must not be skipped: python3 has no torch'
    skips "$kind" ''
    expect 1 'it gives no reason'
    skips "$kind" "$work/tests/../shared/weights/minilm is not there"
    expect 0 'shared/weights/minilm is not there'
    mkdir "$work/shared"
    expect 1 'skips must not be skipped'
    rmdir "$work/shared"
    skips "$kind" "$work/other/minilm is not there"
    expect 1 'skips must not be skipped'
done

[[ $failures == 0 ]] && echo "every skip was judged rightly"
exit $((failures > 0))
