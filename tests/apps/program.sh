# Sourced by the tests of the heed program, $heed: a folder of their own, run and expect.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Leaves the exit code in $status, what was printed in $output, and messages in $folder/stderr.
run() {
    status=0
    output=$("$heed" "$@" 2> "$folder/stderr") || status=$?
}
# Whether a program is there that a part of the test needs; where it must be, on CI, its absence fails.
there_is() {
    command -v "$1" > /dev/null && return
    echo "$(basename "$0"): there is no $1: $2 is not checked"
    [[ -z ${CI:-} ]] || exit 1
    return 1
}
expect() { eval "$1" || { echo "FAILED: $1; status $status, output:"; echo "$output"; cat "$folder/stderr"; exit 1; }; }
