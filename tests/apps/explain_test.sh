#!/bin/bash
# heed look and heed why-similar on folders with random weights: summaries, pages, mistakes. What the numbers are is tested
# beside the library, what the pages do in tests/web.
# usage: explain_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

"$make_model" "$folder/classify" classify good bad
"$make_model" "$folder/none" none

run look --model "$folder/classify" "the foxgang jumps over the dog"
expect '[[ $status == 0 && $output == *"layer  2 "*"->"*"rests on"*foxgang*"completeness gap"*"not why a model decides."* ]]'
run look --model "$folder/none" --pair "in berlin" "the fox"
expect '[[ $status == 0 && $output == *"layer  2 "* && $output != *"rests on"* ]]'

# A page that carries the text as text; the old page stays when something goes wrong.
run look --model "$folder/classify" "fox </script><script>alert(1)" --html "$folder/page.html"
expect '[[ $status == 0 ]] && ! grep -q "alert(1)" <(grep -v "^<script type=\"application/json\"" "$folder/page.html")'
expect '! grep -q "</script><script>alert" "$folder/page.html" && grep -q "id=\"map-1-3\"" "$folder/page.html"'
# Nothing is fetched. What it saves as a picture has a namespace, clips and pixels of its own.
grep -Ev 'xmlns="http://www.w3.org/2000/svg"|clip-path="url\(#clip|href="\$\{canvas|ObjectURL\(' "$folder/page.html" \
    > "$folder/others.html"
expect '! grep -Eiq "https?://|src=|href=|@import|url\(" "$folder/others.html"'
run look --model "$folder/classify" --full 3.1 "fox" --html "$folder/page.html"
expect '[[ $status == 3 ]] && grep -q "head 1 of layer 3" "$folder/stderr" && [[ -s $folder/page.html ]]'
run look --model "$folder/classify" --full here "fox" --html "$folder/page.html"
expect '[[ $status == 2 ]]'

# A language model: what it expected, and what it writes itself.
"$make_model" "$folder/generate" generate
run look --model "$folder/generate" "the quick fox"
expect '[[ $status == 0 && $output == *"layer  3 "*"What was expected in each place"*quick*fox* ]]'
run look --model "$folder/generate" "the quick fox" --max-new-tokens 5
expect '[[ $status == 0 && $(grep -c "^> " <<< "$output") == 5 ]]'
run look --model "$folder/generate" "the quick fox" --max-new-tokens 5 --html "$folder/next.html"
expect '[[ $status == 0 ]] && grep -q "\"writtenFrom\":3" "$folder/next.html"'
run look --model "$folder/classify" "the quick fox" --max-new-tokens 5
expect '[[ $status == 3 ]] && grep -q "does not write texts" "$folder/stderr"'

run why-similar --model "$folder/none" "the quick fox" "a lazy dog"
expect '[[ $status == 0 && $output =~ ([+-][0-9.]+)"  sum of all 25 pairs".*"cosine "(-?[0-9.]+)$ ]]'
sum=${BASH_REMATCH[1]} cosine=${BASH_REMATCH[2]}
expect '[[ ${sum#+} == "$cosine" ]]'
run similarity --model "$folder/none" "the quick fox" "a lazy dog"
expect '[[ $(printf %.4f "${output:1:-1}") == "$cosine" ]]'
run why-similar --model "$folder/none" --pooling cls "the quick fox" "a lazy dog"
expect '[[ $status == 0 && $output == *"completeness gap"*cosine* ]]'
run why-similar --model "$folder/none" "the quick fox" "a lazy dog" --html "$folder/similar.html"
expect '[[ $status == 0 ]] && grep -q "\"kind\":\"similarity\"" "$folder/similar.html"'
run why-similar --model "$folder/none" "the quick fox"
expect '[[ $status == 2 ]]'

# What was cut is said, in the terminal and on the page.
printf -v long 'fox %.0s' {1..100}
for model in classify none generate; do
    run look --model "$folder/$model" "$long" --html "$folder/cut.html"
    expect '[[ $status == 0 ]] && grep -Eq "heed: the text was cut at [0-9]+ tokens" "$folder/stderr"'
    expect 'grep -q "\"cut\":true" "$folder/cut.html"'
    run look --model "$folder/$model" "the quick fox" --html "$folder/whole.html"
    expect '[[ ! -s $folder/stderr ]] && grep -q "\"cut\":false" "$folder/whole.html"'
done
run why-similar --model "$folder/none" "the quick fox" "$long"
expect '[[ $status == 0 && $(cat "$folder/stderr") == "heed: the second text was cut at 40 tokens"* ]]'
run why-similar --model "$folder/none" "$long" "the quick fox" --html "$folder/cut.html"
expect '[[ $status == 0 ]] && grep -q "the first text was cut" "$folder/stderr" && grep -q "\"cut\":true" "$folder/cut.html"'
run why-similar --model "$folder/none" "the quick fox" "the dog" --quiet
expect '[[ $status == 0 && ! -s $folder/stderr ]]'
