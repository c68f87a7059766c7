#!/bin/bash
# Every line of C++ on a page of documentation stands in a program that is built and run.
# usage: docs_snippet_test.sh <page> <source>
set -euo pipefail

lines=$(awk '/^```cpp/ { inside = 1; next } /^```/ { inside = 0 } inside && NF' "$1")
[[ -n $lines ]] || { echo "$1 has no C++"; exit 1; }
while IFS= read -r line; do
    grep -qF -- "$(sed 's/^ *//' <<< "$line")" "$2" || { echo "not in $2: $line"; exit 1; }
done <<< "$lines"
