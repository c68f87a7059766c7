#!/bin/bash
# tools/install_packages.sh against stand-ins for dpkg-query, apt-get, id and sudo: nothing real is installed.
# usage: install_packages_test.sh <project folder>
set -euo pipefail

script=$(cd "$1" && pwd)/tools/install_packages.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for tool in bash env grep; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done

stand_in() { printf '#!/bin/bash\n%s\n' "$2" > "$work/bin/$1"; chmod +x "$work/bin/$1"; }
# Runs the script with only the stand-ins in reach. Sets status, output, calls.
run() {
    : > "$work/calls"
    status=0
    output=$(PATH=$work/bin "$work/bin/bash" "$script" "$@" 2>&1 < /dev/null) || status=$?
    calls=$(< "$work/calls")
}
expect() { eval "$1" || { echo "FAILED: $1; status $status, output: $output, calls: $calls"; exit 1; }; }

stand_in apt-get "echo \"apt-get \$DEBIAN_FRONTEND \$*\" >> $work/calls"
stand_in id 'echo 0'
stand_in dpkg-query 'echo installed'
run build test ci
expect '[[ $status == 0 && -z $calls ]]'

stand_in dpkg-query '[[ ${!#} == libfmt-dev || ${!#} == libgtest-dev ]] && exit 1; echo installed'
run build
expect '[[ $status == 0 && $calls == *"noninteractive"*" update"*"install -y --no-install-recommends libfmt-dev" ]]'
run build test
expect '[[ $status == 0 && $calls == *"--no-install-recommends libfmt-dev libgtest-dev" ]]'

# Removed, but with its configuration files left behind.
stand_in dpkg-query 'echo config-files'
run test
expect '[[ $status == 0 && $calls == *" libgtest-dev pkg-config python3 unzip" ]]'

# A Node.js from elsewhere is used; without one Debian's is installed.
run web
expect '[[ $status == 0 && $calls == *" chromium nodejs npm" ]]'
stand_in npm 'exit 0'
run web
expect '[[ $status == 0 && $calls == *" chromium" ]]'

stand_in id 'echo 1000'
run test
expect '[[ $status == 1 && $output == *"need root or sudo"*libgtest-dev* && -z $calls ]]'
stand_in sudo "echo \"sudo \$*\" >> $work/calls; shift; exec \"\$@\""
run test
expect '[[ $status == 0 && $calls == *"sudo -n env"*"apt-get noninteractive"* ]]'

stand_in apt-get 'exit 100'
run test
expect '[[ $status == 1 && $output == *"could not install: libgtest-dev"* ]]'
run attic
expect '[[ $status == 1 && $output == *"unknown group \"attic\""* ]]'
rm "$work/bin/dpkg-query"
run test
expect '[[ $status == 0 && $output == *"not a Debian system"* ]]'
echo "install_packages.sh does what it should"
