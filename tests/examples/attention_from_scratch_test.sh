#!/bin/bash
# The example's tables have the right names and shapes, and the printed rows of weights sum to 1.
# usage: attention_from_scratch_test.sh <program>
set -euo pipefail

output=$("$1") || { echo "it failed"; exit 1; }
expected="x [10, 3]
q = x W_Q [10, 3]
k = x W_K [10, 3]
v = x W_V [10, 3]
S = q k^T [10, 10]
S / sqrt(3) [10, 10]
A = softmax(S / sqrt(3)) [10, 10]
Z = A v [10, 3]
Z W_O [10, 3]
y = x + Z W_O [10, 3]"
titles=$(grep -E '\[[0-9]+, [0-9]+\]$' <<< "$output" | sed 's/  \[/ [/')
[[ $titles == "$expected" ]] || { echo "tables and shapes:"; diff <(echo "$expected") <(echo "$titles"); exit 1; }

# Every table has the rows and columns it says; rows of A as printed (3 digits) sum to 1 within their rounding.
awk '
  match($0, /\[[0-9]+, [0-9]+\]$/) {
    if (title && rows != want_rows) { print title ": " rows " rows"; bad = 1 }
    title = $0; rows = 0
    split(substr($0, RSTART + 1), size, /[], ]+/); want_rows = size[1]; want_columns = size[2]; next
  }
  title && NF && $1 ~ /^-?[0-9.]+$/ {
    ++rows
    if (NF != want_columns) { print title ": " NF " columns"; bad = 1 }
    if (title ~ /^A =/) { sum = 0; for (i = 1; i <= NF; ++i) sum += $i
                          if (sum < 0.995 || sum > 1.005) { print "row of A sums to " sum; bad = 1 } ++checked }
  }
  END { exit bad || checked != 10 || rows != want_rows }' <<< "$output" || { echo "$output"; exit 1; }
[[ $(grep '^rows sum to' <<< "$output" | tr ' ' '\n' | grep -Ec '^(1\.00000[01]|0\.999999)$') == 10 ]] ||
    { echo "rows do not sum to 1"; exit 1; }
