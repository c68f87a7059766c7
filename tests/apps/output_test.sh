#!/bin/bash
# Where answers go: what cannot be written is an error, files appear whole or not at all, vectors as .npy, what was left
# out is said, --quiet says nothing.
# usage: output_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"
"$make_model" model none
"$make_model" classify classify good bad fair

# A full disk: no verb says that all is well.
for i in {1..3000}; do echo "the fox"; done > lines.txt
printf 'text,label\nthe fox,good\na dog,bad\n' > labels.csv
full() {
    status=0
    "$heed" "$@" > /dev/full 2> stderr || status=$?
    output=
    expect '[[ $status == 6 ]] && grep -q "^heed: io: standard output: cannot write" stderr'
    expect '[[ $(grep -c "^heed: " stderr) == 1 ]]'
}
if [[ -c /dev/full ]]; then
    full embed --model model "the fox"
    expect 'grep -q "No space left" stderr'
    full embed --model model --input lines.txt --quiet
    full tokenize --model model "the fox"
    full tokenize --model model --input lines.txt --quiet
    full detokenize --model model 5 6 7
    full classify --model classify "the fox"
    full eval --model classify --data labels.csv
    full info model
    full look --model model "the fox"
    full why-similar --model model "the fox" "a dog"
    full data check labels.csv
    full train --init classify
    full cpu
    full --help
    full embed --help
    full --version
fi

# - is standard output; a pipe that is closed is no news.
run embed --model model "the fox"
line=$output
run embed --model model --output - "the fox"
expect '[[ $status == 0 && $output == "$line" && ! -e - ]]'

# classify: as many labels as asked for.
run classify --model classify --top-k 1 "the fox"
expect '[[ $status == 0 && $(grep -o label <<< "$output" | wc -l) == 1 ]]'
best=$output
run classify --model classify "the fox"
expect '[[ $(grep -o label <<< "$output" | wc -l) == 3 && $output == "${best%]}"* ]]'
run classify --model classify --top-k -1 "the fox"
expect '[[ $status != 0 ]]'

# Vectors as NumPy reads them: the same floats as in JSON.
run embed --model model --input lines.txt --output vectors.npy --quiet
expect '[[ $status == 0 && $(head -c 6 vectors.npy | od -An -c | tr -d " ") == "223NUMPY" ]]'
expect '[[ $(stat -c %s vectors.npy) == $((128 + 3000 * 32 * 4)) ]]'
expect 'head -c 128 vectors.npy | grep -aq "'\''descr'\'': '\''<f4'\'', '\''fortran_order'\'': False, '\''shape'\'': (3000, 32), }"'
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
    expect '[[ $(/usr/bin/python3 -c "import json, numpy, sys
a = numpy.load(\"vectors.npy\")
b = numpy.float32(json.loads(sys.argv[1])[\"embedding\"])
print(a.dtype, a.shape, bool((a == b).all()))" "$line") == "float32 (3000, 32) True" ]]'
fi
run classify --model classify --output labels.npy "the fox"
expect '[[ $status == 3 && ! -e labels.npy ]] && grep -q "only vectors" stderr'

# Texts that are longer than the model reads are answered, and counted.
long=$(for i in {1..60}; do echo -n "fox "; done)
printf 'the fox\n%s\n%s\n' "$long" "$long" > long.txt
run embed --model model --input long.txt
expect '[[ $status == 0 ]] && grep -q "heed: 2 of 3 texts were cut at 40 tokens" stderr'
run classify --model classify "$long"
expect '[[ $status == 0 ]] && grep -q "heed: 1 of 1 texts was cut at 40 tokens" stderr'
run embed --model model --input long.txt --quiet
expect '[[ $status == 0 && ! -s stderr ]]'

# An output whose folder is not there cannot be written, whichever verb it is of; nothing is scored first.
lost() {
    run "$@"
    expect '[[ $status == 6 && -z $output ]] && grep -q "^heed: io: nosuch/x[^ ]*: there is no folder nosuch to write it to$" stderr'
}
lost embed --model model --output nosuch/x "the fox"
lost embed --model model --output nosuch/x.npy "the fox"
lost eval --model classify --data labels.csv --output nosuch/x
lost look --model model --html nosuch/x.html "the fox"
lost why-similar --model model --html nosuch/x.html "the fox" "a dog"

# Stopped: exit code 8, and nothing left behind.
mkfifo texts
for signal in INT TERM; do
    # Background jobs of a script ignore SIGINT; env gives it back.
    env --default-signal=INT "$heed" embed --model model --input - --output out.jsonl < texts > /dev/null 2> stderr & pid=$!
    exec 3> texts
    echo "the fox" >&3
    for i in {1..100}; do compgen -G ".heed-*" > /dev/null && break; sleep 0.1; done
    expect 'compgen -G ".heed-*" > /dev/null'
    kill -$signal $pid
    status=0; wait $pid || status=$?
    exec 3>&-
    expect '[[ $status == 8 && ! -e out.jsonl ]] && ! compgen -G ".heed-*" && grep -q "^heed: cancelled$" stderr'
done

# On a terminal answers and progress do not share lines.
if there_is script "what is shown on a terminal"; then
    script -qec "'$heed' embed --model model --input long.txt" /dev/null > terminal < /dev/null || true
    output=$(cat terminal)
    expect '[[ $(grep -c "^{\"embedding\"" terminal) == 3 && $output != *"%"* ]]'
fi
