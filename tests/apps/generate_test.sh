#!/bin/bash
# heed generate and heed score as users meet them: prompts from everywhere, several answers, stop strings, constraints,
# seeds, limits. What is printed as it comes is what --output says.
# usage: generate_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/program.sh"
cd "$folder"
"$make_model" model generate
# texts FILE: what --output wrote, answer by answer.
texts() { python3 -c 'import json, sys
for line in open(sys.argv[1]):
    found = json.loads(line)
    if "result" in found: found = found["result"]
    for each in found if isinstance(found, list) else [found]: print(each["text"])' "$1"; }
generate() { run generate --model model --max-new-tokens 12 "$@"; }
# Prints what --output writes for the same flags.
written() {
    "$heed" generate --model model --max-new-tokens 12 "$@" --output written.jsonl 2> stderr
    texts written.jsonl
}

generate "the quick brown fox"
expect '[[ $status == 0 && -n $output && $output == "$(written "the quick brown fox")" ]]'
one=$output
generate "the lazy dog"
two=$output
expect '[[ $status == 0 && $one != "$two" ]]'

# Prompts from the command line, a file, a pipe; one answer after the other.
printf 'the quick brown fox\nthe lazy dog\n' > prompts.txt
generate "the quick brown fox" "the lazy dog"
expect '[[ $status == 0 && $output == "$one"$'"'\n'"'"$two" ]]'
generate --input prompts.txt
expect '[[ $status == 0 && $output == "$one"$'"'\n'"'"$two" ]]'
generate --input - < prompts.txt
expect '[[ $status == 0 && $output == "$one"$'"'\n'"'"$two" ]]'
# They are written together and end at different times, and stay in order all the same, also where each has several.
some=("the fox" "quick brown" "the lazy dog" "over" "a berlin in the" "jumps over the quick fox" "x")
for more in "--stop a" "--do-sample --n 2 --stop e" "--num-beams 2 --n 2"; do
    expected=
    for prompt in "${some[@]}"; do generate "$prompt" $more && expected+=$output$'\n'; done
    generate "${some[@]}" $more
    expect '[[ $status == 0 && $output$'"'\n'"' == "$expected" ]]'
    generate --input <(printf '%s\n' "${some[@]}") $more
    expect '[[ $status == 0 && $output$'"'\n'"' == "$expected" ]]'
done
printf '{"prompt": "the lazy dog", "id": 7}\n' > prompts.jsonl
generate --input prompts.jsonl --output answers.jsonl
expect '[[ $status == 0 ]] && [[ $(texts answers.jsonl) == "$two" && $(wc -l < answers.jsonl) == 1 ]]'
generate --input prompts.txt --output answers.jsonl
expect '[[ $(texts answers.jsonl) == "$one"$'"'\n'"'"$two" && $(wc -l < answers.jsonl) == 2 ]]'

# Several answers are numbered, one below the other; --output has a list of them.
generate "the fox" --do-sample --n 3 --seed 4
expect '[[ $status == 0 && $(grep -c "^\[[123]\] " <<< "$output") == 3 && $(wc -l <<< "$output") == 3 ]]'
expect '[[ $(sed "s/^\[.\] //" <<< "$output") == "$(written "the fox" --do-sample --n 3 --seed 4)" ]]'
expect '[[ $(sort -u <<< "$(sed "s/^\[.\] //" <<< "$output")" | wc -l) == 3 ]]'
sampled=$output
generate "the fox" --do-sample --n 3 --seed 4
expect '[[ $output == "$sampled" ]]'
generate "the fox" --do-sample --n 3 --seed 5
expect '[[ $output != "$sampled" ]]'
generate "the fox" --num-beams 3
expect '[[ $status == 0 && -n $output && $output == "$(written "the fox" --num-beams 3)" ]]'
best=$output
generate "the fox" --num-beams 3 --n 2
expect '[[ $(head -1 <<< "$output") == "[1] $best" && $(tail -1 <<< "$output") == "[2] "* ]]'

# A stop string ends the text; its beginning, if no more comes, is text.
last=${one: -1}
generate "the quick brown fox" --stop "$last never"
expect '[[ $status == 0 && $output == "$one" ]]'
middle=${one:4:5}
generate "the quick brown fox" --stop "$middle"
expect '[[ $output == "${one%%"$middle"*}" && $output == "$(written "the quick brown fox" --stop "$middle")" ]]'

# Constraints, given or from files.
cat > schema.json << 'END'
{"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"], "additionalProperties": false}
END
printf 'root ::= "fox" (" dog" | " fox")\n' > rule.gbnf
for grammar in "$(cat rule.gbnf)" @rule.gbnf; do
    generate "the fox" --grammar "$grammar"
    # A piece of a word that stands first keeps its mark.
    expect '[[ $status == 0 && ${output//##} =~ ^fox\ (dog|fox)$ ]]'
done
generate "the fox" --grammar @nowhere.gbnf
expect '[[ $status == 4 ]] && grep -q nowhere.gbnf stderr'
printf 'root ::= "fox\n' > broken.gbnf
generate "the fox" --grammar @broken.gbnf
expect '[[ $status == 3 || $status == 5 ]]'
expect '"$heed" generate --help | grep -A1 -e --json-schema | grep -q @FILE'

# A text that is to be whole within few tokens is, and one that cannot be is said not to be.
printf 'root ::= word " fox" | word " " root\nword ::= "the" | "quick" | "brown"\n' > long.gbnf
for count in 4 5 6 9 30; do
    run generate --model model "the fox" --grammar @long.gbnf --do-sample --seed "$count" --max-new-tokens "$count"
    expect '[[ $status == 0 && ! -s stderr && ${output//##} == *" fox" ]]'
done
run generate --model model "the fox" --grammar @long.gbnf --max-new-tokens 1
expect '[[ $status == 0 && $output != *fox ]] && grep -q "1 text ended before following the constraint" stderr'
run generate --model model "the fox" "a dog" --grammar @long.gbnf --max-new-tokens 1 --output cut.jsonl
expect '[[ $status == 0 ]] && grep -q "2 texts ended before following the constraint" stderr'
expect '[[ $(grep -c "\"finish_reason\":\"length\".*\"whole\":false" cut.jsonl) == 2 ]]'
run generate --model model "the fox" --grammar @rule.gbnf --output whole.jsonl
expect '[[ $status == 0 && ! -s stderr ]] && grep -q "\"whole\":true" whole.jsonl'

# generation_config.json counts, and flags count more.
cp -r model configured
printf '{"do_sample": true, "temperature": 0.7, "top_k": 5, "repetition_penalty": 1.3, "max_new_tokens": 9,
    "no_repeat_ngram_size": 2, "eos_token_id": 9, "transformers_version": "4.50.0"}' > configured/generation_config.json
flags=(--do-sample --temperature 0.7 --top-k 5 --repetition-penalty 1.3 --no-repeat-ngram-size 2 --eos-token-id 9)
run generate --model model "the fox" --seed 3 "${flags[@]}" --max-new-tokens 9
one=$output
expect '[[ $status == 0 && -n $one ]]'
run generate --model configured "the fox" --seed 3
expect '[[ $status == 0 && $output == "$one" ]]'
run generate --model model "the fox" --seed 3 "${flags[@]}" --max-new-tokens 4 --temperature 1.5
two=$output
run generate --model configured "the fox" --seed 3 --max-new-tokens 4 --temperature 1.5
expect '[[ $status == 0 && $output == "$two" && $two != "$one" ]]'
printf '{"guidance_scale": 2.0}' > configured/generation_config.json
run generate --model configured "the fox"
expect '[[ $status == 5 ]] && grep -q "configured/generation_config.json.*guidance_scale" stderr'

# Weights in several files.
cp -r model sharded
expect 'python3 - << "END"
import json, os, struct
whole = open("sharded/model.safetensors", "rb").read()
size = struct.unpack("<Q", whole[:8])[0]
header, data = json.loads(whole[8:8 + size]), whole[8 + size:]
header.pop("__metadata__", None)
names, index = sorted(header), {}
for number in range(3):
    part, body = {}, b""
    for name in names[number::3]:
        begin, end = header[name]["data_offsets"]
        part[name] = {**header[name], "data_offsets": [len(body), len(body) + end - begin]}
        body += data[begin:end]
        index[name] = f"model-{number + 1:05}-of-00003.safetensors"
    text = json.dumps(part).encode()
    open("sharded/" + index[name], "wb").write(struct.pack("<Q", len(text)) + text + body)
json.dump({"metadata": {"total_size": len(data)}, "weight_map": index}, open("sharded/model.safetensors.index.json", "w"))
os.remove("sharded/model.safetensors")
END'
for verb in generate score; do
    run "$verb" --model model "the quick brown fox"
    one=$output
    run "$verb" --model sharded "the quick brown fox"
    expect '[[ $status == 0 && -n $one && $output == "$one" ]]'
done
rm sharded/model-00002-of-00003.safetensors
run generate --model sharded "the fox"
expect '[[ $status == 4 ]] && grep -q model-00002-of-00003.safetensors stderr'

# A prompt beyond the limit of the model, which takes 64 tokens; of one that fills it a token follows.
printf 'fox %.0s' $(seq 64) > full.txt
generate "$(cat full.txt)"
expect '[[ $status == 0 && -n $output ]]'
generate "$(cat full.txt) fox"
expect '[[ $status == 3 ]] && grep -q "has 65 tokens, the model takes 64" stderr'

# The prompt's own scores are those of heed score, and what follows a prompt counts alone.
"$heed" generate --model model "the quick fox" --max-new-tokens 1 --score-prompt --output scores.jsonl
"$heed" score --model model "the quick fox" --tokens --output text.jsonl
"$heed" score --model model --prompt "the" " quick fox" --tokens --output pair.jsonl
printf '{"prompt": "the", "completion": " quick fox"}\n' > pair_in.jsonl
"$heed" score --model model --input pair_in.jsonl --tokens --output same.jsonl
expect 'python3 - << "END"
import json
read = lambda name: json.loads(open(name).readline())
near = lambda a, b: abs(a - b) < 1e-4
prompt, text, pair, same = read("scores.jsonl")["prompt_scores"], read("text.jsonl"), read("pair.jsonl"), read("same.jsonl")
assert len(prompt) == text["tokens"] == 2, prompt
assert all(near(a["log_probability"], b["log_probability"]) for a, b in zip(prompt, text["token_scores"]))
assert pair["tokens"] == 2 and near(pair["log_probability"], text["log_probability"]), (pair, text)
assert same["log_probability"] == pair["log_probability"]
END'

# A published model, where it is there.
stories=${HEED_SHARED:-$here/../../../shared}/weights/stories260K
if [[ ! -d $stories ]]; then
    echo "generate: $stories is not there; its part is left out"
    exit 0
fi
story() { run generate --model "$stories" "Once upon a time" "$@"; }
story --max-new-tokens 3 --stop " was a zebra"
expect '[[ $status == 0 && $output == ", there was" ]]'
for schema in "$(cat schema.json)" @schema.json; do
    story --json-schema "$schema"
    expect '[[ $status == 0 ]] && python3 -c "import json, sys; assert json.loads(sys.argv[1])[\"a\"] in \"xy\"" "$output"'
done
story --num-beams 3 --max-new-tokens 8
expect '[[ $status == 0 && $output == *"little"* ]]'
echo "generate: passed"
