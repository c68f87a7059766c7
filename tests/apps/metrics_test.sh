#!/bin/bash
# heed metrics: what is printed, JSON, several files, packed ones, mistakes. The numbers are tested beside the library.
# usage: metrics_test.sh <heed program>
set -euo pipefail

heed=$1
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"

# Alone it lists what there is, and each of them has help with an example.
run metrics
expect '[[ $status == 0 && $output == *"bleu "*"chrf "*"ter "*"rouge "*"heed help metrics NAME"* ]]'
names=$(sed -n 's/^\([a-z0-9]*\)  .*/\1/p' <<< "$output")
expect '[[ $(wc -w <<< "$names") == 10 ]]'
for name in $names; do
    run help metrics "$name"
    expect '[[ $status == 0 && $output == *"--predictions"*"--references"*"--json"*"heed metrics $name "* ]]'
done

printf 'The dog bit the man.\nIt was not surprising.\nThe man had just bitten him.\n' > out.txt
printf 'The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n' > a.txt
printf '"The dog had bit the man."\nnull\n"The man had bitten the dog."\n' > b.jsonl
run metrics bleu --predictions out.txt --references a.txt
expect '[[ $status == 0 && $output == "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = "*" hyp_len = "* ]]'
one=$output
run metrics bleu --predictions out.txt --references a.txt --references b.jsonl --short-signature
expect '[[ $status == 0 && $output == "BLEU|#:var|c:mixed|e:no|tok:13a|s:exp|v:2.6.0 = "* ]]'
gzip -k a.txt
run metrics bleu --predictions out.txt --references a.txt.gz --threads 1
expect '[[ $status == 0 && $output == "$one" ]]'
run metrics bleu --predictions out.txt --references a.txt --json
expect '[[ $status == 0 && $output == *"\"metric\": \"bleu\""*"\"precisions\""*"\"signature\": \"nrefs:1|"* ]]'
run metrics chrf --predictions out.txt --references a.txt --sentence --word-order 2
expect '[[ $status == 0 && $(wc -l <<< "$output") == 3 && $output == "chrF2++|"*" = 100.0"* ]]'
run metrics ter --predictions out.txt --references a.txt --confidence --samples 20
expect '[[ $status == 0 && $output == "TER|nrefs:1|bs:20|seed:12345|"*"(μ = "* ]]'
for test in bs ar; do
    run metrics bleu --predictions a.txt --predictions out.txt --references a.txt --paired $test --samples 50
    expect '[[ $status == 0 && $output == *"a.txt"*"baseline"*"out.txt"*"|$test:50|seed:12345|"* ]]'
done
run metrics rouge --predictions out.txt --references a.txt --types rouge1 --types rougeL --confidence
expect '[[ $status == 0 && $output == *"fmeasure"*"rouge1"*"from"*"to"*"rougeL"* ]]'

printf 'x\ny\nx\n' > found.txt
printf 'x\ny\ny\n' > labels.txt
run metrics classification --predictions found.txt --references labels.txt
expect '[[ $status == 0 && $output == *"f1-score"*"Matthews"*"accuracy "*"0.6667"* ]]'
printf 'the B-A\nfox I-A\n\ndog B-B\n' > tags.conll
printf 'B-A I-A\nB-A\n' > tags.txt
run metrics seqeval --predictions tags.txt --references tags.conll --json
expect '[[ $status == 0 && $output == *"\"f1\": 0.5,"* ]]'
printf '{"data": [{"paragraphs": [{"qas": [{"id": "1", "answers": [{"text": "the fox"}]}]}]}]}' > dev.json
printf '{"1": "Fox!"}' > answers.json
run metrics squad --predictions answers.json --references dev.json
expect '[[ $status == 0 && $output == *"exact "*"100.000"*"total 1"* ]]'
printf '1\n2\n4\n' > numbers.txt
run metrics correlation --predictions numbers.txt --references numbers.txt
expect '[[ $status == 0 && $output == "pearson  1.0000"*"spearman 1.0000" ]]'
run metrics ranking --predictions numbers.txt --references numbers.txt --k 0
expect '[[ $status == 0 && $output == *"mrr "*"ndcg 1.0000" ]]'

# Mistakes.
printf 'one\n' > short.txt
run metrics bleu --predictions out.txt --references short.txt
expect '[[ $status == 5 ]] && grep -q "out.txt: has 3 lines, and short.txt 1; expected as many" stderr'
: > empty.txt
run metrics bleu --predictions empty.txt --references a.txt
expect '[[ $status == 5 ]] && grep -q "empty.txt: is empty" stderr'
run metrics bleu --predictions nowhere.txt --references a.txt
expect '[[ $status == 4 ]] && grep -q "nowhere.txt" stderr'
run metrics bleu --predictions "$folder" --references a.txt
expect '[[ $status == 6 ]] && grep -q "$folder" stderr'
run metrics bleu --predictions out.txt
expect '[[ $status == 2 ]] && grep -q -- "--references" stderr'
run metrics blue --predictions out.txt --references a.txt
expect '[[ $status == 2 ]] && grep -q "did you mean \"heed metrics bleu\"?" stderr'
run metrics bleu --predictions out.txt --references a.txt --tokenise zh
expect '[[ $status == 2 ]] && grep -q "did you mean --tokenize?" stderr'
run metrics bleu --predictions out.txt --references a.txt --tokenize flores200
expect '[[ $status == 3 ]] && grep -q "name its .model file" stderr'
run metrics bleu --predictions out.txt --references a.txt --paired bs
expect '[[ $status == 3 ]] && grep -q "more than one file" stderr'
if [[ -c /dev/full ]]; then
    status=0
    "$heed" metrics bleu --predictions out.txt --references a.txt > /dev/full 2> stderr || status=$?
    expect '[[ $status == 6 ]]'
fi
