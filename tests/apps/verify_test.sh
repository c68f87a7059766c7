#!/bin/bash
# heed verify on a folder and a dump that PyTorch made: the table, the first difference, exit codes.
# usage: verify_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/program.sh"
/usr/bin/python3 -c 'import torch' 2> /dev/null || { echo "skipped: no PyTorch (Debian package python3-torch)"; exit 77; }

text="the lazy dog"
"$make_model" "$folder/words" none
"$heed" tokenize --model "$folder/words" "$text" > "$folder/tokens.json"
/usr/bin/python3 - "$folder" "$text" << 'END'
import json, pathlib, sys
folder, text = pathlib.Path(sys.argv[1]), sys.argv[2]
tokens = json.loads((folder / "tokens.json").read_text())
config = json.loads((folder / "words/config.json").read_text())
config.update(type_vocab_size=2, hidden_act="gelu", layer_norm_eps=1e-12, architectures=["BertForTokenClassification"])
question = dict(name="model", config=config, architecture="ForTokenClassification", ids=tokens["ids"],
                types=tokens["type_ids"], lengths=[len(tokens["ids"])], metadata={"text": text})
(folder / "questions.json").write_text(json.dumps([question]))
END
/usr/bin/python3 -B "$here/../models/models_torch.py" "$folder/questions.json" "$folder"
cp "$folder/words/vocab.txt" "$folder/model/"

run verify "$folder/model" --against "$folder/model/dump.safetensors"
expect '[[ $status == 0 && $output == *"All 9 tensors agree."* ]]'
expect '[[ $(grep -Ec "^(input_ids|token_type_ids) +same +pass +5 tokens$" <<< "$output") == 2 ]]'
expect '[[ $(grep -Ec "^(hidden_states|attentions).[0-9]( +[0-9.]+e-[0-9]+){3}  pass +" <<< "$output") == 5 ]]'
run verify "$folder/model" --against "$folder/model/dump.safetensors" --tolerance 0
expect '[[ $status == 1 && $output == *"The first tensor that differs is hidden_states.0, most at token "*", column "* ]]'

# Mistakes: 2 for the command line, 4 for what is not there, 5 for a file that is no dump.
run verify "$folder/model"
expect '[[ $status == 2 ]]'
run verify "$folder/model" --against "$folder/none"
expect '[[ $status == 4 ]]'
run verify "$folder/model" --against "$folder/model/model.safetensors"
expect '[[ $status == 5 ]] && grep -q "has no tensor input_ids" "$folder/stderr"'
