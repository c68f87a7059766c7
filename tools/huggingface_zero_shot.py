#!/usr/bin/env python3
"""Writes what HuggingFace's zero-shot-classification pipeline answers to tests/tasks/zero_shot_values.json, which
tests/tasks/zero_shot_test.cpp reads. Needs transformers 5 and PyTorch; the project does not.

usage: tools/huggingface_zero_shot.py <file>

The model is a small BERT whose weights are functions of their names (see huggingface_values.py).
"""
import json
import pathlib
import string
import sys
import tempfile

import torch
import transformers as hf

from huggingface_values import value_of

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"this example is the match ended in a draw text about it .".split(),
              *string.ascii_lowercase, *("##" + letter for letter in string.ascii_lowercase)]
VOCABULARY = list(dict.fromkeys(VOCABULARY))
TOKENS = 40
# In both orders the pipeline takes contradiction for contradiction: for it that is the first class, or else the last.
ORDERS = [["CONTRADICTION", "neutral", "Entailment"], ["entailment", "neutral", "contradiction"]]
LABELS = ["sports", "politics", "the draw", "zoo"]
TEXTS = ["The match ended in a draw.", "it", "a text about politics " * 20]
CASES = [dict(), dict(multi_label=True), dict(hypothesis_template="It is about {} ."), dict(candidate_labels=LABELS[:1])]


def answers_of(classes):
    config = hf.BertConfig(vocab_size=len(VOCABULARY), hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                           num_attention_heads=4, max_position_embeddings=TOKENS, id2label=dict(enumerate(classes)),
                           label2id={name: i for i, name in enumerate(classes)})
    model = hf.BertForSequenceClassification(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(value_of(name, tuple(parameter.shape)))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model.save_pretrained(folder)
        saved = json.loads((folder / "config.json").read_text())
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
        (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": TOKENS}))
        pipe = hf.pipeline("zero-shot-classification", model=model,
                           tokenizer=hf.AutoTokenizer.from_pretrained(folder, use_fast=True))
        return saved, [dict(options=case, answers=[{key: answer[key] for key in ("labels", "scores")} for answer in
                                                   pipe(TEXTS, **{"candidate_labels": LABELS, **case})]) for case in CASES]


def main(file):
    models = [dict(zip(("config", "cases"), answers_of(classes))) for classes in ORDERS]
    values = dict(source=f"transformers {hf.__version__}, torch {torch.__version__}, float32",
                  vocabulary=VOCABULARY, labels=LABELS, texts=TEXTS, models=models)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    pathlib.Path(file).write_text("{" + ",\n ".join(lines) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1])
