#!/bin/bash
# heed demo, shorter than a user sees it: what it learns, what it prints, and the commands that it recommends.
# usage: demo_test.sh <heed program>
set -euo pipefail

heed=$1
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"

run demo --epochs 4
expect '[[ $status == 0 && -s heed-demo/attention.html ]]'
# 16 intents; half the epochs are enough for nearly all of them.
accuracy=$(sed -n 's/.*step .* test  accuracy \([0-9.]*\) .*/\1/p' <<< "$output")
expect '[[ $accuracy > 0.9 ]]'
# Slots are shown as they stand in the message.
slots=$(sed -n '/^Messages that/,/^Try next/s/^    [a-z_]*: //p' <<< "$output")
expect '[[ $(wc -l <<< "$slots") -ge 4 ]]'
while read -r slot; do
    expect 'grep -qF -- "$slot" heed-demo/data/test.jsonl'
done <<< "$slots"

# What it recommends works, as it was called.
expect '[[ $(grep -c "^  $heed " <<< "$output") == 3 && $output == *"$heed classify --model heed-demo/model "* ]]'
run classify --model heed-demo/model "my parcel is late"
expect '[[ $status == 0 && $output == *\"label\"* ]]'
run tag --model heed-demo/model/slots --aggregation first "the kettle cost 30 euros"
expect '[[ $status == 0 && $output == *\"entity_group\"* ]]'
run train --init classify
expect '[[ $status == 0 ]]'

# Another demo does not touch the first.
run demo --epochs 1
expect '[[ $status == 0 && -d heed-demo-2/model ]]'
