# Sourced by the tests of the heed program, $heed: a folder of their own, run and expect.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Leaves the exit code in $status, what was printed in $output, and messages in $folder/stderr.
run() {
    status=0
    output=$("$heed" "$@" 2> "$folder/stderr") || status=$?
}
expect() { eval "$1" || { echo "FAILED: $1; status $status, output:"; echo "$output"; cat "$folder/stderr"; exit 1; }; }
