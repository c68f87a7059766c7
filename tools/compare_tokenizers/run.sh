#!/bin/bash
# Compares heed with HuggingFace's own tokenizers, text by text; see compare.js.
# usage: run.sh <build folder> <shared data> [texts per vocabulary, 5000]      exit 77: npm could not install the oracle
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
work=$build/compare_tokenizers
mkdir -p "$work"

if [[ ! -d $work/node_modules/tokenizers ]]; then
    if ! command -v npm > /dev/null; then
        echo "compare_tokenizers: SKIPPED: there is no npm to install HuggingFace's tokenizers with"
        exit 77
    fi
    cp "$here/package.json" "$work/"
    if ! (cd "$work" && npm install --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 60000 > npm.log 2>&1); then
        echo "compare_tokenizers: SKIPPED: npm could not install HuggingFace's tokenizers:"
        tail -n 5 "$work/npm.log"
        exit 77
    fi
fi
exec node "$here/compare.js" "$build/bin" "${HEED_SHARED:-$2}" "$work" "${3:-5000}"
