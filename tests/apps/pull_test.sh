#!/bin/bash
# heed pull against a hub of our own (hub_server.py) on which all that can go wrong does: bytes, requests, messages.
# usage: pull_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/program.sh"
[[ -x /usr/bin/python3 ]] || { echo "skipped: the hub of this test needs /usr/bin/python3"; exit 77; }

model=$folder/model state=$folder/state
mkdir "$state"
"$make_model" "$model" none
mkdir "$model/1_Pooling"
echo '{"pooling_mode_mean_tokens": true}' > "$model/1_Pooling/config.json"
echo '[{"type": "sentence_transformers.models.Transformer", "path": ""},
       {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]' > "$model/modules.json"
/usr/bin/python3 -B "$here/hub_server.py" "$model" "$state" 2> "$state/errors" & server=$!
trap 'kill $server 2> /dev/null || true; rm -rf "$folder"' EXIT
for i in {1..100}; do [[ -e $state/ports ]] && break; sleep 0.1; done
read -r port _ < "$state/ports"

unset HF_TOKEN XDG_CACHE_HOME
export HEED_CACHE=$folder/cache HF_ENDPOINT=http://127.0.0.1:$port/ no_proxy=127.0.0.1
# What was asked since the last call, a line each: host, status and, of a continued file, the range.
requests() {
    /usr/bin/python3 -c 'import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    print(r["host"], r["status"], r["path"].rsplit("/", 1)[1], r["range"] or "", r["token"] or "")' "$state/log"
    : > "$state/log"
}
: > "$state/log"
same_folder() { diff -r "$model" "$1" > "$folder/diff" || { cat "$folder/diff"; return 1; }; }
snapshot() { echo "$HEED_CACHE/hub/test--$1/snapshots/c0ffee0000000000000000000000000000000000"; }

# A model as it is on the hub, without what is no part of it; it works.
run pull test/good
expect '[[ $status == 0 && $output == "$(snapshot good)" ]] && same_folder "$output"'
expect 'grep -q "heed info" "$folder/stderr" && grep -q "model.safetensors .*100 %.*MB/s" "$folder/stderr"'
asked=$(requests)
expect '[[ $(wc -l <<< "$asked") == 7 && $asked != *.bin* && $asked != *onnx* && $asked != *README* ]]'
run embed --model "$(snapshot good)" "the fox"
expect '[[ $status == 0 ]]'

# A model is called by its owner too; who leaves it out is told what there is, or what names are like.
run embed --model test/good "the fox"
expect '[[ $status == 0 ]]'
run embed --model good "the fox"
expect '[[ $status == 4 ]] && grep -q "good: .*there is test/good: name it with its owner" "$folder/stderr"'
run embed --model goo "the fox"
expect '[[ $status == 4 ]] && grep -q "models of the hub are called owner/name: heed pull owner/goo" "$folder/stderr"'
run embed --model test/goo "the fox"
expect '[[ $status == 4 ]] && grep -q "if it is one of the hub: heed pull test/goo$" "$folder/stderr"'

# The second time only the list is asked for; with --output there is a copy; --offline asks for nothing.
run pull test/good@main --output "$folder/copy"
expect '[[ $status == 0 && $output == "$folder/copy" && $(requests | wc -l) == 1 ]] && same_folder "$folder/copy"'
run pull test/good --offline
expect '[[ $status == 0 && $output == "$(snapshot good)" && -z $(requests) ]]'
run pull test/good@c0ffee0000000000000000000000000000000000
expect '[[ $status == 0 && $output == "$(snapshot good)" && $(requests | wc -l) == 1 ]]'
run pull test/flaky --offline
expect '[[ $status == 4 && -z $(requests) ]] && grep -q "without --offline" "$folder/stderr"'

# Without an answer from the hub the cache is used, and says so; without a copy there it is an error.
run pull test/good --endpoint http://127.0.0.1:1
expect '[[ $status == 0 && $output == "$(snapshot good)" ]] && grep -q "pulled before" "$folder/stderr"'

# 500 twice, then storage that gives a third of the file at a time: continued, not begun anew.
run pull test/flaky
expect '[[ $status == 0 ]] && same_folder "$output"'
asked=$(requests)
expect '[[ $(grep -c "hub 500" <<< "$asked") == 2 && $(grep -c "storage 200" <<< "$asked") == 1 ]]'
expect '(( $(grep -c "storage 206 model.safetensors bytes=[1-9]" <<< "$asked") >= 2 ))'

# Killed in the middle: no file, a part; the next pull continues it.
"$heed" pull test/slow > /dev/null 2>&1 & pull=$!
part=$HEED_CACHE/hub/test--slow/parts/c0ffee0000000000000000000000000000000000/model.safetensors.part
for i in {1..100}; do [[ -s $part ]] && break; sleep 0.1; done
sleep 0.5
kill -9 $pull
wait $pull 2> /dev/null || true
size=$(stat -c %s "$part") whole=$(stat -c %s "$model/model.safetensors")
expect '(( size > 0 && size < whole )) && [[ ! -e $(snapshot slow)/model.safetensors ]]'
run pull test/slow --offline
expect '[[ $status == 4 ]]'
requests > /dev/null
run pull test/slow
expect '[[ $status == 0 ]] && same_folder "$output" && [[ ! -e $part ]]'
expect 'requests | grep -q "storage 206 model.safetensors bytes=$size-"'

# Two at once: the second says why it does not.
rm -rf "$HEED_CACHE/hub/test--slow"
"$heed" pull test/slow > /dev/null 2>&1 & pull=$!
for i in {1..100}; do [[ -s $part ]] && break; sleep 0.1; done
run pull test/slow
expect '[[ $status == 6 ]] && grep -q "another process" "$folder/stderr"'
wait $pull
expect 'same_folder "$(snapshot slow)"'
requests > /dev/null

# Another ETag at the next attempt: the file begins anew.
run pull test/changed
expect '[[ $status == 0 ]] && same_folder "$output"'
expect '[[ $(requests | grep -c "storage 200 model.safetensors bytes=[1-9]") == 1 ]]'

# Bytes that are not those of the hub never become a file.
for repository in corrupt long corrupt-small; do
    run pull test/$repository
    expect '[[ $status == 5 && -z $output && ! -e $(snapshot $repository)/model.safetensors ]]'
    expect '[[ -z $(find "$HEED_CACHE/hub/test--$repository" -path "*refs*" -type f) ]]'
done
expect 'grep -q "SHA-1 of the git blob is" "$folder/stderr"'
run pull test/corrupt
expect 'grep -q "SHA-256 is .*, expected" "$folder/stderr"'
requests > /dev/null

# The token goes to the hub and to nobody else.
run pull test/private
expect '[[ $status == 4 ]] && grep -q "HF_TOKEN" "$folder/stderr"'
requests > /dev/null
HF_TOKEN=secret run pull test/private
expect '[[ $status == 0 ]] && same_folder "$output"'
asked=$(requests)
expect '[[ $(grep -c "^hub .*Bearer secret" <<< "$asked") == 6 ]] && ! grep -q "^storage.*Bearer" <<< "$asked"'

# What is not there, not allowed, or hostile.
run pull test/good@v9
expect '[[ $status == 4 ]] && grep -q "404" "$folder/stderr"'
run pull test/pickle
expect '[[ $status == 4 ]] && grep -q "pickle" "$folder/stderr"'
run pull test/escape
expect '[[ $status == 5 && ! -e $HEED_CACHE/evil.safetensors ]] && grep -q "evil.safetensors" "$folder/stderr"'
run pull test/endless
expect '[[ $status == 5 ]] && grep -q "more than 16000000 bytes" "$folder/stderr"'
for name in ../good test/good/more "test/a b" test/good@../x ""; do
    run pull "$name"
    expect '[[ $status == 3 || $status == 2 ]]'
done
run pull test/good --endpoint file:///etc
expect '[[ $status == 3 ]]'
touch "$folder/no_folder"
HEED_CACHE=$folder/no_folder run pull test/good
expect '[[ $status == 6 ]] && grep -q "no_folder" "$folder/stderr"'
