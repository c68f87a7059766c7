#!/bin/bash
# The one list of the Debian packages that heed needs; installs those that are missing.
# usage: install_packages.sh [build] [test] [web] [ci]      build is the default; the others do not imply it
set -euo pipefail

packages_of() {
    case $1 in
        build) echo g++ cmake ninja-build ccache libhwy-dev nlohmann-json3-dev libcli11-dev libfmt-dev libutf8proc-dev libonig-dev libxxhash-dev libcurl4-openssl-dev libedit-dev libssl-dev zlib1g-dev ;;
        test) echo libgtest-dev pkg-config python3 unzip ;;
        # Debian's npm brings some 300 packages and conflicts with a Node.js from elsewhere: only where there is none.
        web) if command -v npm > /dev/null; then echo chromium; else echo chromium nodejs npm; fi ;;
        ci) echo git zsh fish groff bsdutils clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev libbenchmark-dev libopenblas-dev libdnnl-dev python3-jinja2 python3-jsonschema python3-sklearn python3-torch ;;
        *) echo "install_packages: unknown group \"$1\", expected build, test, web or ci" >&2; return 1 ;;
    esac
}

wanted=()
for group in "${@:-build}"; do
    list=$(packages_of "$group")
    read -ra packages <<< "$list"
    wanted+=("${packages[@]}")
done

if ! command -v dpkg-query > /dev/null; then
    echo "install_packages: this is not a Debian system; continuing, but heed needs the equivalents of: ${wanted[*]}" >&2
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null || true)
    grep -qx installed <<< "$status" || missing+=("$package")
done
[[ ${#missing[@]} == 0 ]] && exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo > /dev/null; then
        echo "install_packages: need root or sudo to install: ${missing[*]}" >&2
        echo "as root: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    # Without a terminal nobody can type a password.
    if [[ -t 0 ]]; then as_root=(sudo); else as_root=(sudo -n); fi
fi

echo "install_packages: installing ${missing[*]}" >&2
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq)
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } < /dev/null >&2; then
    echo "install_packages: apt-get could not install: ${missing[*]}" >&2
    exit 1
fi
