#!/bin/bash
# Builds heed and runs its demonstration. Arguments are passed on to `heed demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools/install_packages.sh build
# For a first look, the preset that builds fastest; an existing release build is reused.
preset=demo
[[ -f build/release/CMakeCache.txt ]] && preset=release
cmake --preset $preset > /dev/null
nice cmake --build --preset $preset --target heed_cli -j"$(nproc)"
exec build/$preset/bin/heed demo "$@"
