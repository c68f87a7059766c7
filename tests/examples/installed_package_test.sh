#!/bin/bash
# Installs a build of heed to a fresh place and configures, builds and runs examples/installed_package against it; then
# compiles the public headers and the examples with the flags of pkg-config.
# usage: installed_package_test.sh <project folder> <build folder> <cmake> <generator> <compiler> <make_model>
set -euo pipefail

project=$1 build=$2 cmake=$3 generator=$4 compiler=$5 make_model=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" > "$work/install.log"
[[ -x $work/prefix/bin/heed ]] || { echo "the heed program is not installed"; exit 1; }
share=$work/prefix/share
"$work/prefix/bin/heed" man | cmp - "$share/man/man1/heed.1"
"$work/prefix/bin/heed" completion bash | cmp - "$share/bash-completion/completions/heed"
"$work/prefix/bin/heed" completion zsh | cmp - "$share/zsh/site-functions/_heed"
"$work/prefix/bin/heed" completion fish | cmp - "$share/fish/vendor_completions.d/heed.fish"
# Users of the package need no JSON library.
"$cmake" -S "$project/examples/installed_package" -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
"$cmake" --build "$work/build"
output=$("$work/build/uses_heed")
echo "$output"
for line in "0 xor 0 = 0" "0 xor 1 = 1" "1 xor 0 = 1" "1 xor 1 = 0"; do
    [[ $output == *"$line"* ]] || { echo "missing: $line"; exit 1; }
done

# No public header needs one that is not installed, JSON, or more of the kernels than the rules for scores.
include=$work/prefix/include
cd "$include"
find heed -name '*.h' -printf '%p\n' | sort > "$work/installed"
grep -rhoE '#include "heed/[^"]+"' heed | cut -d'"' -f2 | sort -u | comm -23 - "$work/installed" > "$work/missing"
[[ ! -s $work/missing ]] || { echo "public headers include what is not installed:"; cat "$work/missing"; exit 1; }
if grep -rlE 'nlohmann|hwy/' heed; then echo "public headers have JSON or Highway in them"; exit 1; fi
sed 's/.*/#include "&"/' "$work/installed" > "$work/all.cpp"

# Errors are caught in every example.
if grep -L 'catch (const heed::Error' "$project"/examples/*/main.cpp | grep .; then echo "these catch no error"; exit 1; fi

command -v pkg-config > /dev/null || { echo "there is no pkg-config; the rest is left out"; exit 0; }
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name heed.pc)")
export PKG_CONFIG_PATH
read -ra cflags <<< "$(pkg-config --cflags heed)"
read -ra libs <<< "$(pkg-config --libs heed)"
# Each alone takes half a minute of a CPU: only if it is asked for.
if [[ ${HEED_HEADERS:-} == alone ]]; then
    xargs -P "$(nproc)" -I{} sh -c 'echo "#include \"{}\"" | "$@" -fsyntax-only -x c++ -' sh \
        "$compiler" -std=c++20 -Wall -Werror "${cflags[@]}" < "$work/installed"
fi
# The examples of tasks, as one would compile them: those linked here run on random weights, the build runs all of them.
linked=(embed generate)
for source in "$work/all.cpp" $(grep -l heed/heed.h "$project"/examples/*/main.cpp); do
    [[ " ${linked[*]} " == *" $(basename "$(dirname "$source")") "* ]] ||
        "$compiler" -std=c++20 -Wall -Werror -fsyntax-only "${cflags[@]}" "$source"
done
"$make_model" "$work/model" generate
"$make_model" "$work/encoder" none
for example in "${linked[@]}"; do
    "$compiler" -std=c++20 -Wall -Werror "${cflags[@]}" "$project/examples/$example/main.cpp" "${libs[@]}" -o "$work/$example"
    if message=$("$work/$example" "$work/nowhere" 2>&1); then echo "a folder that is not there was taken"; exit 1; fi
    [[ $message == *nowhere* ]] || { echo "the error does not name the folder: $message"; exit 1; }
done
[[ $("$work/embed" "$work/encoder") == "2 vectors of 32 numbers"* ]] || { echo "embed fails"; exit 1; }
[[ $("$work/generate" "$work/model") == *" tokens, ended by "* ]] || { echo "generate fails"; exit 1; }

# The program of the README, as it stands there.
awk '/^```cpp/ { inside = 1; next } /^```/ { inside = 0 } inside' "$project/README.md" > "$work/readme.cpp"
"$compiler" -std=c++20 -Wall -Werror "${cflags[@]}" "$work/readme.cpp" "${libs[@]}" -o "$work/readme"
mkdir -p "$work/path/to"
cd "$work"
if message=$(./readme 2>&1); then echo "the program of the README takes a folder that is not there"; exit 1; fi
[[ $message == *path/to/folder* ]] || { echo "the error does not name the folder: $message"; exit 1; }
"$make_model" path/to/folder classify good bad
[[ $(./readme | grep -cE '^(good|bad) [01]\.[0-9]{4}$') == 2 ]] || { echo "the program of the README fails"; exit 1; }

# Attention alone links neither libcurl nor JSON.
cat > "$work/attention.cpp" << 'END'
#include <heed/attention/attend.h>
int main() {
  const auto x = heed::Tensor::full({3, 1, 8}, 1);
  return heed::attend({.q = x, .k = x, .v = x, .queries = heed::Offsets({3}), .keys = heed::Offsets({3})}).size(0) - 3;
}
END
mkdir "$work/alone"
cat > "$work/alone/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.25)
project(alone LANGUAGES CXX)
find_package(heed REQUIRED)
add_executable(alone $work/attention.cpp)
target_link_libraries(alone PRIVATE heed::attention)
END
"$cmake" -S "$work/alone" -B "$work/alone/build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON > /dev/null
"$cmake" --build "$work/alone/build" > /dev/null
"$work/alone/build/alone"
if ldd "$work/alone/build/alone" | grep -E 'curl|crypto|onig'; then echo "attention alone links these"; exit 1; fi

# What every user compiles is not to grow unseen.
most=95000
lines=$(echo '#include "heed/heed.h"' | "$compiler" -std=c++20 "${cflags[@]}" -E -x c++ - | wc -l)
echo "$(wc -l < "$work/installed") public headers; heed/heed.h is $lines lines preprocessed, at most $most"
((lines <= most)) || { echo "that is too many: what does a public header include now?"; exit 1; }
