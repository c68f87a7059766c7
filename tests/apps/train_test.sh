#!/bin/bash
# heed train and what a new user does with it: folders that are in use, labels that training lacks, rows that are held
# out, numbers for labels, checkpoints that are damaged. Numbers are tested beside the library.
# usage: train_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"
said() { grep -qF -- "$1" "$folder/stderr"; }

"$make_model" start none
rows() {
    printf 'text\tlabel\n'
    for ((i = 0; i < $1; ++i)); do printf 'the fox jumps %s\tgood\na lazy dog in berlin %s\tbad\n' "$i" "$i"; done
}
rows 30 > train.tsv
rows 5 > dev.tsv
cat > run.json << 'JSON'
{"task": "classify", "output": "run", "model": {"from": "start"}, "data": {"train": "train.tsv", "dev": "dev.tsv"},
 "epochs": 2, "batch": {"tokens": 200}, "optimizer": {"learning_rate": 1e-3}}
JSON

# Folders. The one to start from is never written over, by whatever name; another one only if it is asked for.
before=$(cat start/* | sha256sum)
ln -s start link
for same in start ./start/../start "$folder/start" link; do
    run train run.json output="$same"
    expect '[[ $status == 3 ]] && said "is the folder that the run starts from"'
    run train --overwrite run.json output="$same"
    expect '[[ $status == 3 ]] && said "is the folder that the run starts from"'
done
expect '[[ $(cat start/* | sha256sum) == "$before" ]]'
mkdir notes
echo mine > notes/diary.txt
run train run.json output=notes
expect '[[ $status == 3 ]] && said "notes: is not empty" && said "--overwrite" && [[ $(ls notes) == diary.txt ]]'
run train --overwrite run.json output=notes
expect '[[ $status == 0 && -s notes/model.safetensors && $(cat notes/diary.txt) == mine ]]'
run train run.json
expect '[[ $status == 0 && $output == *"The model of step "*", the best on dev, is in run."* ]]'
finished=$(sha256sum < run/model.safetensors)
run train run.json epochs=1
expect '[[ $status == 3 ]] && said "run: has a finished run" && said "--resume run" && said "--overwrite"'
expect '[[ $(sha256sum < run/model.safetensors) == "$finished" ]]'
run train --overwrite run.json epochs=1
expect '[[ $status == 0 && $(sha256sum < run/model.safetensors) != "$finished" ]]'
run train --resume run output=elsewhere
expect '[[ $status == 3 && ! -e elsewhere ]]'
touch file
run train run.json output=file/run
expect '[[ $status == 6 ]] && said "file/run"'

# Labels that training lacks are said before the first step, with the word's own line, and count as wrong.
for ((i = 0; i < 30; ++i)); do printf 'the O\nfox B-A\nin O\nberlin B-P\n\n'; done > train.conll
printf 'the O\nfox B-A\n\nthe O\nlazy O\ndog B-LST\njumps I-LST\n\n' | tee dev.conll > test.conll
run train run.json task=tag output=tags data.train=train.conll data.dev=dev.conll data.test=test.conll
expect '[[ $status == 0 && -s tags/model.safetensors ]]'
expect 'said "2 words of dev have labels that training lacks (B-LST, I-LST), first at dev.conll:6; they count as wrong"'
expect 'said "2 words of test have labels that training lacks (B-LST, I-LST), first at test.conll:6"'
run eval --model tags --data test.conll
expect '[[ $status == 0 ]] && said "2 words of the data have labels that the model lacks (B-LST, I-LST), first at test.conll:6"'
printf 'text\tlabel\nthe fox\tgood\na dog\tugly\nin berlin\tbad\n' > odd.tsv
run train run.json output=odd data.dev=odd.tsv data.test=odd.tsv
expect '[[ $status == 0 ]] && said "1 row of test has a label that training lacks (ugly), first at odd.tsv:3; it counts as wrong"'
run eval --model odd --data odd.tsv
expect '[[ $status == 0 && $output == *"ugly"* ]]'

# What cannot be learned from.
sed 's/bad$/good/' train.tsv > one.tsv
run train run.json output=one data.train=one.tsv
expect '[[ $status == 5 && ! -e one/model.safetensors ]] && said "a single label, \"good\""'
sed '1s/label/score/; 2,$s/[a-z]*$/3/' train.tsv > constant.tsv
run train run.json output=constant data.train=constant.tsv data.dev= classify.kind=number
expect '[[ $status == 5 ]] && said "scores of data.train are 3"'

# Without dev, rows are held out; a column may be a number, labels have names, columns another separator.
{ echo 'text;label'; for ((i = 0; i < 60; ++i)); do echo "the fox $i;1"; echo "a dog $i;0"; done; } > numbers.csv
run train run.json output=split data.train=numbers.csv data.dev= data.separator=';' data.text=0 data.label=1 \
    'data.label_names=["negative","positive"]'
expect '[[ $status == 0 && $output == *"dev  accuracy"* ]] && said "12 of 120 rows of data.train are held out for evaluation"'
expect 'grep -q "\"negative\"" split/config.json && [[ $output == "108 samples"* ]]'
run eval --model split --data numbers.csv --separator ';'
expect '[[ $status == 0 && $output == *negative*positive* ]]'
run train run.json output=nosplit data.dev= data.dev_share=0
expect '[[ $status == 0 && $output == *"The model of step "*", the last, is in nosplit."* ]]'
expect '! grep -q "\"best_step\": 0" nosplit/results.json'
run train run.json output=semicolons data.train=numbers.csv data.dev=
expect '[[ $status == 3 ]] && said "data.separator"'

# Messages that say what to do.
printf 'good the fox\nbad a dog\n' > first.txt
run train run.json output=first data.train=first.txt data.dev=
expect '[[ $status == 5 ]] && said "0 labels, expected one" && said "data.label_first" && said "data.label,"'
run train run.json output=words task=tag data.train=first.txt data.dev=
expect '[[ $status == 3 ]] && said "data.format" && said "conll"'

# Cut texts and malformed rows are counted before the first step.
{ cat train.tsv; echo broken; printf 'the fox %s\tgood\n' "$(yes the | head -50 | tr '\n' ' ')"; } > rough.tsv
run train run.json output=rough data.train=rough.tsv data.max_bad_rows=2
expect '[[ $status == 0 ]] && said "1 malformed row of train is skipped; the first: rough.tsv:62: has 1 columns"'
expect 'said "1 of 61 texts of train is cut at 40 tokens"'

# Weights of labels.
run train run.json output=weighted classify.class_weights=balanced
expect '[[ $status == 0 ]]'
run train run.json output=weighted2 'classify.class_weights={"goood": 2}'
expect '[[ $status == 3 ]] && said "did you mean \"good\"?"'
run train run.json output=weighted3 classify.class_weights=heavy
expect '[[ $status == 5 ]]'

# Pairs that are wrong are not trained as right ones.
printf 'text\ttext_pair\tlabel\nthe fox\ta fox\t1\nthe fox\ta dog\t0\n' > pairs.tsv
run train run.json output=pairs task=embed data.train=pairs.tsv data.dev=
expect '[[ $status == 5 ]] && said "pairs.tsv:3: has the label 0, but the contrastive loss takes every pair for a right one"'
for no in 0.0 -0 +0 0e0 -1 False FALSE; do
    printf 'text\ttext_pair\tlabel\nthe fox\ta fox\t1.0\nthe fox\ta dog\t%s\n' "$no" > pairs.tsv
    run train run.json output=pairs task=embed data.train=pairs.tsv data.dev=
    expect '[[ $status == 5 ]] && said "pairs.tsv:3: has the label $no, but the contrastive loss"'
done
printf 'text\ttext_pair\tlabel\nthe fox\ta fox\t1.0\nthe dog\ta dog\tTrue\nberlin\tin berlin\t0.5x\n' > pairs.tsv
run train run.json output=pairs task=embed data.train=pairs.tsv data.dev=
expect '[[ $status == 0 ]]'
printf 'text\ttext_pair\tscore\nthe fox\ta fox\t1\nthe fox\ta dog\t0\n' > scored.tsv
run train run.json output=scored task=embed data.train=scored.tsv data.dev= embed.loss=contrastive
expect '[[ $status == 5 ]] && said "scored.tsv:2: has a score"'

# One score everywhere: no correlation is defined. That is said first, and the latest model is kept.
rows 6 | sed '1s/label/score/; s/good$/2/; s/bad$/1/' > numbers.tsv
sed '2,$s/[0-9.]*$/3/' numbers.tsv > same.tsv
run train run.json output=same data.train=numbers.tsv data.dev=same.tsv classify.kind=number epochs=3
expect '[[ $status == 0 ]] && said "all scores of dev are 3.0: no correlation with them is defined"'
expect '[[ $output == *" spearman nan"* && $output != *-nan* && $output != *"best so far"* ]]'
expect 'said "spearman on dev was not a finite number at any evaluation; the model of step"'
expect '[[ $output == *", the last, is in same."* ]]'
run eval --model same --data same.tsv
expect '[[ $status == 0 && $output == *"spearman nan"* ]] && said "all scores of the data are 3.0"'

# A metric that there is not is found before the first step.
run train run.json output=metric evaluate.metric=acc
expect '[[ $status == 3 && -z $output && ! -e metric/checkpoints ]] && said "did you mean accuracy?"'

# Quiet is quiet.
run train --quiet run.json output=quiet data.dev=odd.tsv
expect '[[ $status == 0 && ! -s stderr ]]'
run eval --quiet --model quiet --data odd.tsv
expect '[[ $status == 0 && ! -s stderr && $output == *accuracy* ]]'
run eval --model quiet --data odd.tsv
expect 'said "heed: 1 row of the data has a label"'
# The metrics as JSON, alone.
run eval --model quiet --data odd.tsv --output -
expect '[[ $status == 0 && ! -e - && $output == "{"* && $output == *"\"metrics\":"* && $output == *"}" ]]'
run eval --model quiet --data odd.tsv --output metrics.json
expect '[[ $status == 0 && $output == *accuracy* ]] && grep -q "\"metrics\":" metrics.json'

# A model that was pulled goes by its name, and the run stays with it whatever is pulled later.
export HEED_CACHE=$folder/cache
run train run.json output=hub model.from=owner/name
expect '[[ $status == 4 ]] && said "model.from (the folder of a model, or owner/name of one that was pulled): owner/name: there is no such folder" && said "heed pull owner/name" && [[ ! -e hub ]]'
# A starter whose paths are not filled in.
run train run.json output=hub model.from=path/to/model
expect '[[ $status == 4 ]] && said "model.from (the folder of a model, or owner/name of one that was pulled): path/to/model: there is no such folder" && [[ ! -e hub ]]'
mkdir -p cache/hub/owner--name/{refs,snapshots}
cp -r start cache/hub/owner--name/snapshots/c0ffee
echo '{"commit": "c0ffee", "files": ["config.json"]}' > cache/hub/owner--name/refs/main
short=(model.from=owner/name tokenizer.from=owner/name lora.rank=2 lora.merge=false max_steps=2)
run train run.json output=hub "${short[@]}"
expect '[[ $status == 0 ]] && grep -q "\"from\": \"$folder/cache/hub/owner--name/snapshots/c0ffee\"" hub/train.json'
expect 'grep -q "\"base_model_name_or_path\": *\"owner/name\"" hub/adapter_config.json'
run classify --model hub "the fox"
expect '[[ $status == 0 ]]'
adapter=$(sha256sum hub/adapter_{config.json,model.safetensors})
rm hub/adapter_* hub/results.json
mkdir cache/hub/owner--name/snapshots/beef
echo '{"commit": "beef", "files": []}' > cache/hub/owner--name/refs/next
run train --resume hub
expect '[[ $status == 0 && $(sha256sum hub/adapter_{config.json,model.safetensors}) == "$adapter" ]]'
run train run.json output=hub_tuned "${short[@]}" --tune 2
expect '[[ $status == 0 ]]'
# The name now means another model: the run and the search go on with theirs, and the adapter says which.
cp cache/hub/owner--name/refs/{next,main}
run train --resume hub
expect '[[ $status == 0 ]] && grep -q "\"base_model_name_or_path\": *\"$folder/cache/hub/owner--name/snapshots/c0ffee\"" hub/adapter_config.json'
run train run.json output=hub_tuned "${short[@]}" --tune 3
expect '[[ $status == 0 && $output == *"(best)"* ]]'

# Ctrl-C while the tokenizer is trained: obeyed soon, and no copy of the data stays.
for ((i = 0; i < 3000; ++i)); do
    line=
    for ((w = 0; w < 40; ++w)); do printf -v word '%x' $((RANDOM * 32768 + RANDOM)); line+="$word "; done
    echo "$line"
done > words.txt
for type in wordpiece unigram; do
    cat > scratch.json << JSON
{"task": "mlm", "output": "scratch-$type", "tokenizer": {"train": "$type", "vocab_size": 30000},
 "model": {"architecture": {"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}},
 "data": {"train": "words.txt"}}
JSON
    "$heed" train scratch.json > stdout 2> stderr &
    process=$!
    while kill -0 $process 2> /dev/null && [[ ! -s scratch-$type/tokenizer-texts.txt ]]; do sleep 0.01; done
    begun=$(date +%s%N) status=0
    kill -INT $process
    wait $process || status=$?
    expect '[[ $status == 130 && $(($(date +%s%N) - begun)) -lt 2000000000 ]] && grep -q "Stopped before the first step" stdout'
    expect '[[ ! -e scratch-$type/tokenizer.json && $(ls scratch-$type) == train.json ]]'
done

# Vectors are pooled as the folder says.
cp -r start cls
mkdir cls/1_Pooling
echo '{"word_embedding_dimension": 32, "pooling_mode_cls_token": true}' > cls/1_Pooling/config.json
cat > cls/modules.json << 'JSON'
[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
JSON
run train run.json output=pooled model.from=cls task=embed data.train=scored.tsv data.dev= embed.score_range=1
expect '[[ $status == 0 ]] && grep -q "\"pooling_mode_cls_token\": true" pooled/1_Pooling/config.json'
# Sequences are as long as the tokenizer's settings allow.
cp -r start short
echo '{"tokenizer_class": "BertTokenizer", "model_max_length": 6}' > short/tokenizer_config.json
run train run.json output=short_run model.from=short
expect '[[ $status == 0 ]] && said "texts of train are cut at 6 tokens"'

# The answer task takes what is asked for, or says that it cannot.
echo '{"data": [{"paragraphs": [{"context": "the fox", "qas": [{"id": "1", "question": "who?", "answers": [{"text": "the fox", "answer_start": 0}]}]}]}]}' > qa.json
run train run.json output=qa task=answer data.train=qa.json data.dev= answer.max_tokens=384
expect '[[ $status == 3 ]] && said "max_tokens is 384, but sequences have at most 40"'
run train run.json output=qa task=answer data.train=qa.json data.dev= answer.stride=30
expect '[[ $status == 3 ]] && said "stride is 30"'
run train run.json output=qa task=answer data.train=qa.json data.dev=
expect '[[ $status == 0 ]]'

# A damaged checkpoint is passed over, and said to be.
run train run.json output=damaged save.every=2 max_steps=6 evaluate.every=100
rm damaged/results.json damaged/model.safetensors
newest=$(ls damaged/checkpoints/step-*.safetensors | tail -1)
truncate -s -100 "$newest"
run train --resume damaged
expect '[[ $status == 0 ]] && said "a checkpoint is passed over: $newest" && said "goes on from step 4"'
expect 'grep -q "\"note\":\"a checkpoint is passed over" damaged/log.jsonl'

# A starter with its paths filled in: what it leaves open is chosen, said, saved, and the same when resumed.
run train --init classify
expect '[[ $status == 0 && $output == *"\"learning_rate\": 0.0"* && $output == *"0: chosen by"* ]]'
echo "$output" > starter.json
run train starter.json model.from=start output=chosen
expect '[[ $status == 0 ]] && said "heed: chosen for 60 samples of " && said "optimizer.learning_rate 0.0004, epochs " && said "give them to override"'
expect 'grep -q "\"learning_rate\": 0.0004" chosen/train.json && ! grep -q "\"epochs\": 0" chosen/train.json'
run train starter.json model.from=start output=chosen2 epochs=2 optimizer.learning_rate=1e-3 batch.tokens=100
expect '[[ $status == 0 ]] && ! said "chosen for" && grep -q "\"patience\": 0" chosen2/train.json'

# Too few rows to hold any out: that is said, and there is no patience with what is never judged.
run train starter.json model.from=start output=undivided data.dev= epochs=0 max_steps=2
expect '[[ $status == 0 ]] && said "no rows are held out for evaluation: the 60 rows of data.train are too few" && ! said patience'
expect '[[ $output == *"step 2"* ]] && grep -q "\"patience\": 0" undivided/train.json'

# A search is killed again and again; the same command goes on, and ends with what an undisturbed one ends with.
run train --help
expect '[[ $output == *"--tune"* ]]'
run train run.json output=tuned --tune 3 data.test=dev.tsv
expect '[[ $status == 0 && $output == *"trial  learning rate  epochs  accuracy on dev"* && $output == *"(best)"* ]]'
expect '[[ $output == *"is in tuned; the trials are in tuned/tune"* && -s tuned/results.json ]]'
kills=0
for pause in 0.05 0.1 0.15 0.2 0.3 0.4; do
    "$heed" train run.json output=killed --tune 3 data.test=dev.tsv > killed.txt 2>&1 &
    search=$!
    sleep "$pause"
    if kill -9 "$search" 2> /dev/null; then kills=$((kills + 1)); fi
    wait "$search" 2> /dev/null || true
done
run train run.json output=killed --tune 3 data.test=dev.tsv
expect '[[ $status == 0 && $kills -gt 0 ]] && cmp tuned/model.safetensors killed/model.safetensors'
expect '[[ $(grep -c . killed/tune/3/log.jsonl) == $(grep -c . tuned/tune/3/log.jsonl) ]]'
run train run.json output=killed --tune 3 seed=9
expect '[[ $status == 3 ]] && said "another config"'
run train --resume tuned --tune 3
expect '[[ $status == 2 ]]'
run train run.json output=tuned2 --tune 99
expect '[[ $status == 2 ]]'

# The schema is JSON, and knows the fields of tasks.
run train --schema
expect '[[ $status == 0 && $output == *"\"class_weights\""* && $output == *"\"learning_rate\""* ]]'

# Labels that no training named.
"$make_model" inference classify CONTRADICTION neutral entailment
run zero-shot --model inference --labels fox,dog "the fox jumps" "in berlin"
expect '[[ $status == 0 && $(wc -l <<< "$output") == 2 && $output == *"\"labels\":[\""*"\"sequence\":\"the fox jumps\""* ]]'
run zero-shot --model inference --labels fox,dog --multi-label --template "a {} ." "the fox"
expect '[[ $status == 0 ]]'
run zero-shot --model odd --labels fox "the fox"
expect '[[ $status == 3 ]]'
echo "train: passed"
