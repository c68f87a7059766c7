#!/bin/bash
# heed train is killed at random moments, half of them while a checkpoint is being written, and resumed until it is
# done: model and log must be those of an undisturbed run, byte for byte. Then signals that ask politely, and
# disks that are full.
# usage: train_kill_test.sh <heed program> <make_model program> [kills of each variant, default 6]
set -euo pipefail

heed=$1 make_model=$2 kills=${3:-6}
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
RANDOM=7

# The label says whether a fox comes before a dog.
words=(the quick brown fox jumps over lazy dog in berlin a b c d)
rows() {
    printf 'text\tlabel\n'
    for ((i = 0; i < $1; ++i)); do
        text=
        for ((w = RANDOM % 8; w < 14; ++w)); do text+="${words[RANDOM % ${#words[@]}]} "; done
        if [[ $text == *fox*dog* ]]; then label=yes; else label=no; fi
        printf '%s\t%s\n' "$text" $label
    done
}
rows 600 > "$folder/train.tsv"
rows 60 > "$folder/dev.tsv"
"$make_model" "$folder/start" none
cat > "$folder/config.json" << END
{"task": "classify", "output": "unset", "model": {"from": "$folder/start"},
 "data": {"train": "$folder/train.tsv", "dev": "$folder/dev.tsv", "text": "text", "label": "label"},
 "epochs": 4, "batch": {"tokens": 256}, "evaluate": {"every": 45}, "save": {"every": 10}, "log": {"every": 5},
 "optimizer": {"learning_rate": 1e-3}}
END
# A language model learns the texts' characters, in windows.
cut -f 1 "$folder/train.tsv" > "$folder/train.txt"
cut -f 1 "$folder/dev.tsv" > "$folder/dev.txt"
cat > "$folder/language.json" << END
{"task": "lm", "output": "unset", "tokenizer": {"train": "character"},
 "model": {"architecture": {"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 32}},
 "data": {"train": "$folder/train.txt", "dev": "$folder/dev.txt", "format": "document"},
 "epochs": 1, "batch": {"tokens": 256}, "evaluate": {"every": 45}, "save": {"every": 10}, "log": {"every": 5},
 "optimizer": {"learning_rate": 1e-3}}
END
plain=()
averaged_lora=(ema=0.95 lora.rank=4 model.recompute=true)
language=()

# What must not depend on how often the run was killed.
sums() { (cd "$1" && sha256sum model.safetensors config.json tokenizer.json results.json log.jsonl); }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# start OUTPUT OVERRIDE...: begins the run, or goes on with it; $process is its id.
start() {
    local arguments=(--resume "$1")
    [[ -e $1/checkpoints ]] || arguments=("$config" "output=$1" "${@:2}")
    "$heed" train "${arguments[@]}" > "$folder/attempt" 2>&1 &
    process=$!
}
is_running() { kill -0 "$process" 2> /dev/null; }
# A random moment of a run as long as the undisturbed one.
sleep_somewhere() {
    local moment=$((RANDOM % 1000 * whole_run / 1000))
    sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
}
# Until a checkpoint is being written: a temporary file is there.
await_save() {
    while is_running && ! compgen -G "$1/checkpoints/.heed-$process-*.tmp" > /dev/null; do :; done
}

count_resumed() {
    if grep -q "of them done" "$folder/attempt"; then resumed=$((resumed + 1)); fi
}

# disturb OUTPUT SIGNAL OVERRIDE...: one attempt that is sent the signal; $status is its exit code.
disturb() {
    start "$1" "${@:3}"
    if ((attempts++ % 2)); then
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
        await_save "$1"
    else
        sleep_somewhere
    fi
    kill "-$2" "$process" 2> /dev/null || true
    status=0
    wait "$process" 2> /dev/null || status=$?
    count_resumed
    if compgen -G "$1/checkpoints/.heed-$process-*.tmp" > /dev/null; then torn=$((torn + 1)); fi
}

finish() {
    start "$@"
    wait "$process" || { echo "FAILED: $1 does not finish:"; cat "$folder/attempt"; exit 1; }
}

expect_same() {
    if ! diff <(sums "$1") <(sums "$2"); then
        echo "FAILED: $1 differs from $2"
        exit 1
    fi
}

for variant in plain averaged_lora language; do
    declare -n overrides=$variant
    config=$folder/config.json
    if [[ $variant == language ]]; then config=$folder/language.json kills=$(((kills + 2) / 3)); fi
    undisturbed=$folder/$variant
    begun=$(milliseconds)
    finish "$undisturbed" threads=1 "${overrides[@]}"
    whole_run=$(($(milliseconds) - begun))
    for threads in 1 2; do
        output=$folder/$variant-$threads delivered=0 attempts=0 resumed=0 torn=0 runs=1
        # More kills where a slow machine was hit before every first checkpoint.
        while ((delivered < kills || resumed == 0 && delivered < 10 * kills)); do
            disturb "$output" KILL threads=$threads "${overrides[@]}"
            case $status in
                137) delivered=$((delivered + 1)) ;;
                0) # It was faster: compare, and begin another one.
                    expect_same "$undisturbed" "$output"
                    rm -r "$output"
                    runs=$((runs + 1))
                    ;;
                *)
                    echo "FAILED: exit code $status:"
                    cat "$folder/attempt"
                    exit 1
                    ;;
            esac
        done
        finish "$output" threads=$threads "${overrides[@]}"
        count_resumed
        expect_same "$undisturbed" "$output"
        if compgen -G "$output/**/.heed-*.tmp" || compgen -G "$output/.heed-*.tmp"; then
            echo "FAILED: temporary files of killed runs are still there"
            exit 1
        fi
        echo "$variant, threads=$threads: $delivered kills ($torn while a checkpoint was written) in $runs runs of" \
            "$whole_run ms, $resumed resumed from a checkpoint: same bytes"
        ((resumed > 0)) || { echo "FAILED: nothing was ever resumed"; exit 1; }
    done
done

config=$folder/config.json

# stop_at OUTPUT STEP: begins the run, or goes on with it, and sends SIGTERM once STEP's checkpoint is there; $status is
# the exit code. A run that was done before the signal came is begun again.
stop_at() {
    local checkpoint tries
    checkpoint=$1/checkpoints/step-$(printf %08d "$2").safetensors
    for ((tries = 0; tries < 10; ++tries)); do
        start "$1" threads=1
        while is_running && [[ ! -e $checkpoint ]]; do :; done
        kill -TERM "$process" 2> /dev/null || true
        status=0
        wait "$process" || status=$?
        ((status == 0)) || return 0
        rm -r "$1"
    done
    echo "FAILED: SIGTERM after step $2 stops nothing"
    exit 1
}

# SIGTERM asks for a checkpoint: exit code 130, how to go on, and no step lost.
output=$folder/polite
for step in 10 60; do
    stop_at "$output" $step
    stopped=$(sed -n 's/^Stopped at step \([0-9]*\) of .*/\1/p' "$folder/attempt")
    if [[ $status != 130 || -z $stopped || ! -e $output/checkpoints/step-$(printf %08d "$stopped").safetensors ]] ||
        ! grep -q "heed train --resume $output" "$folder/attempt"; then
        echo "FAILED: SIGTERM: exit code $status:"
        cat "$folder/attempt"
        exit 1
    fi
done
finish "$output"
expect_same "$folder/plain" "$output"
echo "SIGTERM: exit code 130, same bytes"

# refused OUTPUT FILE: the last attempt could not write FILE, says so, and has left its newest checkpoint as it was.
newest() { ls "$1"/checkpoints/step-*.safetensors | tail -1; }
refused() {
    if [[ $status != 6 ]] || ! grep -q "heed: io: $1/$2.*: cannot write: $3" "$folder/attempt" ||
        [[ $(sha256sum "$(newest "$1")") != "$checkpoint" ]] || compgen -G "$1/checkpoints/.heed-*.tmp"; then
        echo "FAILED: a write that fails: exit code $status, expected 6 and $1/$2:"
        cat "$folder/attempt"
        exit 1
    fi
}
# Stops a new run in OUTPUT after its first checkpoints.
stop_early() {
    stop_at "$1" 10
    checkpoint=$(sha256sum "$(newest "$1")")
}
attempt() { "$heed" train --resume "$1" > "$folder/attempt" 2>&1 || status=$?; }

# Files may not grow beyond 100 kB: small ones are written, checkpoints are not.
output=$folder/limited status=0
stop_early "$output"
(trap '' XFSZ && ulimit -f 100 && attempt "$output" && exit $status) || status=$?
refused "$output" checkpoints "File too large"
finish "$output"
expect_same "$folder/plain" "$output"
echo "file size limit: same bytes"

# A disk with room for two checkpoints and not for a third one.
disk=$folder/disk
mkdir "$disk"
if mount -t tmpfs -o size=8m heed-test "$disk" 2> /dev/null; then
    trap 'umount "$disk"; rm -rf "$folder"' EXIT
    output=$disk/run
    stop_early "$output"
    dd if=/dev/zero of="$disk/filler" bs=1k 2> /dev/null || true
    status=0
    attempt "$output"
    refused "$output" train.json "No space left on device"
    truncate -s -100k "$disk/filler"
    status=0
    attempt "$output"
    refused "$output" checkpoints "No space left on device"
    rm "$disk/filler"
    finish "$output"
    expect_same "$folder/plain" "$output"
    echo "full disk: same bytes"
else
    echo "SKIPPED: full disk: mounting a small tmpfs needs root"
fi
