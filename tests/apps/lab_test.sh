#!/bin/bash
# heed lab: exit codes and the shape of what it prints.
# usage: lab_test.sh <heed program>
set -euo pipefail

heed=$1
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
# Whether a line matches.
line() { grep -Eq -- "$1" <<< "$output"; }

run lab positions
expect '[[ $status == 0 ]]'
for criterion in unique "consistent distance" bounded deterministic; do
    expect 'line "^$criterion +pass "'
done
expect '[[ $(grep -c "│" <<< "$output") == 24 ]]'
expect '(( $(LC_ALL=C.UTF-8 wc -L <<< "$output") <= 100 ))'
run lab positions --encoding integer --length 16 --width 200
expect '[[ $status == 0 && $(grep -c "FAIL" <<< "$output") == 1 ]] && line "^bounded +FAIL +8 "'
run lab positions --encoding fraction
expect '[[ $status == 0 && $(grep -c "FAIL" <<< "$output") == 1 ]] && line "^consistent distance +FAIL"'
run lab positions --encoding random
expect '[[ $status == 0 ]] && line "^deterministic +FAIL"'

run lab attention
expect '[[ $status == 0 ]] && line "^scaled dot product( +[0-9]+){8}  softmax_j" && line "^Transformer-XL "'
expect 'line "^causal( +[0-9]+){5}(  \.){3}  keys"'
# Rows sum to 100 apart from rounding.
expect '[[ $(awk "/ [a-z_]+\\.h\$/ { s = 0; line = substr(\$0, 19, 24); n = split(line, p, / +/)
    for (i = 1; i <= n; ++i) s += p[i]; ++rows; if (s < 96 || s > 104) bad = 1 } END { print (rows >= 15), bad + 0 }" \
    <<< "$output") == "1 0" ]]'
expect '(( $(LC_ALL=C.UTF-8 wc -L <<< "$output") <= 110 ))'

run lab long-range --distances 4,2 --steps 4 --seed 3
expect '[[ $status == 0 ]] && line "d=2 +d=4$"'
expect 'line "^RNN +[0-9]+ +[0-9.]+ s +[0-9.]+ +[0-9.]+$"'
# Equal parameter counts: within 5 % of the attention model.
expect '[[ $(awk "\$1 ~ /^(RNN|GRU|attention)$/ && NF == 6 { n[\$1] = \$2 }
    END { for (m in n) if (n[m] / n[\"attention\"] > 1.05 || n[m] / n[\"attention\"] < 0.95) bad = 1
          print length(n), bad + 0 }" <<< "$output") == "3 0" ]]'
expect '[[ $(grep -c " % │" <<< "$output") == 11 ]] && line "r = RNN  g = GRU  a = attention"'
accuracies=$(grep -E "^(RNN|GRU|attention) " <<< "$output" | awk '{ $4 = ""; $3 = ""; print }')
run lab long-range --distances 2,4 --steps 4 --seed 3
expect '[[ $accuracies == "$(grep -E "^(RNN|GRU|attention) " <<< "$output" | awk "{ \$4 = \"\"; \$3 = \"\"; print }")" ]]'

# Mistakes on the command line.
for mistake in "lab" "lab positions --encoding none" "lab positions --length 1" "lab long-range --distances 0" \
    "lab long-range --steps 0" "lab unknown"; do
    read -ra words <<< "$mistake"
    run "${words[@]}"
    expect '[[ $status == 2 ]]'
done
