#!/bin/bash
# Builds heed with its tests and runs them. Arguments are passed on to ctest: ./test.sh -R Utf8
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

started=$SECONDS
tools/install_packages.sh build test
cmake --preset release -DHEED_TESTS=ON > /dev/null
nice cmake --build --preset release -j"$(nproc)"
built=$SECONDS
status=0
ctest --preset release -j"$(nproc)" "$@" || status=$?
echo "test.sh: built in $((built - started)) s, tested in $((SECONDS - built)) s"
exit $status
