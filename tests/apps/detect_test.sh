#!/bin/bash
# heed detect: the language of texts of the command line, of lines and of fields.
# usage: detect_test.sh <heed program>
set -euo pipefail

heed=$1
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

run detect "The man is in front of the house." "Der Mann steht vor dem Haus." "Это книга."
expect '[[ $status == 0 && $(wc -l <<< "$output") == 3 ]]'
expect '[[ $(sed -n 1p <<< "$output") == "{\"alternatives\":["*"\"confidence\":"*"\"language\":\"en\",\"script\":\"Latn\"}" ]]'
expect '[[ $(sed -n 2p <<< "$output") == *"\"language\":\"de\""* && $(sed -n 3p <<< "$output") == *"\"und\""*Cyrl* ]]'

printf '%s\n' '{"id": 7, "body": "Le chien est dans la maison."}' > "$folder/texts.jsonl"
run detect --input "$folder/texts.jsonl" --text body
expect '[[ $status == 0 && $output == "{\"id\":7,\"result\":{"*"\"language\":\"fr\""* ]]'
run detect --input - <<< "これは本です"
expect '[[ $status == 0 && $output == *"\"ja\""* ]]'
run detect
expect '[[ $status == 2 ]] && grep -q "TEXT or --input is required" "$folder/stderr"'
run detect --input "$folder/none.txt"
expect '[[ $status == 4 ]]'
