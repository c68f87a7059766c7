#!/bin/bash
# Builds heed and runs its demonstration. Arguments are passed on to `heed demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools/install_packages.sh build
# A folder that is configured already keeps its options.
options=()
[[ -f build/release/CMakeCache.txt ]] || options=(-DHEED_TESTS=OFF -DHEED_BENCH=OFF)
cmake --preset release "${options[@]}" > /dev/null
nice cmake --build --preset release --target heed_cli -j"$(nproc)"
exec build/release/bin/heed demo "$@"
